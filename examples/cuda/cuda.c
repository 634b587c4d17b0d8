// Where a runtime for NVIDIA devices can start from: memory from Acre, a kernel on it, relocation
// while buffers live. Of CUDA it needs the driver alone, which it finds when it starts.
// Exits with 77 where there is no device.
#include <acre/acre.h>

#include <dlfcn.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// Adds `value` to each of `count` words. A runtime would load what its compiler made.
static const char kernel_text[] =
    ".version 6.0\n.target sm_50\n.address_size 64\n"
    ".visible .entry add(.param .u64 words, .param .u64 count, .param .u32 value)\n"
    "{\n"
    "    .reg .pred %p<2>;\n    .reg .b32 %r<6>;\n    .reg .b64 %rd<6>;\n"
    "    ld.param.u64 %rd1, [words];\n"
    "    ld.param.u64 %rd2, [count];\n"
    "    ld.param.u32 %r5, [value];\n"
    "    mov.u32 %r1, %ctaid.x;\n    mov.u32 %r2, %ntid.x;\n    mov.u32 %r3, %tid.x;\n"
    "    mul.wide.u32 %rd3, %r1, %r2;\n"
    "    cvt.u64.u32 %rd4, %r3;\n    add.u64 %rd3, %rd3, %rd4;\n"
    "    setp.ge.u64 %p1, %rd3, %rd2;\n    @%p1 bra done;\n"
    "    cvta.to.global.u64 %rd1, %rd1;\n"
    "    shl.b64 %rd5, %rd3, 2;\n    add.u64 %rd1, %rd1, %rd5;\n"
    "    ld.global.u32 %r4, [%rd1];\n    add.u32 %r4, %r4, %r5;\n    st.global.u32 [%rd1], %r4;\n"
    "done:\n    ret;\n}\n";

// What the program itself calls of the driver.
typedef struct driver {
    int (*push)(void *context);
    int (*pop)(void **context);
    int (*load)(void **module, const void *image);
    int (*find)(void **function, void *module, const char *name);
    int (*launch)(void *function, unsigned grid_x, unsigned grid_y, unsigned grid_z,
                  unsigned block_x, unsigned block_y, unsigned block_z, unsigned shared_bytes,
                  void *stream, void **parameters, void **extra);
} driver;

// ---- errors: say what happened and end -------------------------------------------------------

static void need(acre_status status, const acre_error *error) {
    if (status != ACRE_OK) {
        char text[512];
        acre_error_format(error, text, sizeof text);
        fprintf(stderr, "%s\n", text);
        exit(status == ACRE_UNSUPPORTED ? 77 : 1);
    }
}

static void need_driver(int code, const char *what) {
    if (code != 0) {
        fprintf(stderr, "%s: the driver says %d\n", what, code);
        exit(1);
    }
}

static void find_function(void *library, const char *name, void *pointer) {
    void *address = dlsym(library, name);
    if (address == NULL) {
        fprintf(stderr, "the driver lacks %s\n", name);
        exit(1);
    }
    memcpy(pointer, &address, sizeof address);
}

static driver open_driver(void) {
    driver found;
    void *library = dlopen("libcuda.so.1", RTLD_NOW);
    if (library == NULL) { // the storage was made with it
        fprintf(stderr, "%s\n", dlerror());
        exit(1);
    }
    find_function(library, "cuCtxPushCurrent_v2", &found.push);
    find_function(library, "cuCtxPopCurrent_v2", &found.pop);
    find_function(library, "cuModuleLoadData", &found.load);
    find_function(library, "cuModuleGetFunction", &found.find);
    find_function(library, "cuLaunchKernel", &found.launch);
    return found;
}

// ---- a runtime in small ----------------------------------------------------------------------

enum {
    BUFFERS = 8,
    BYTES = 700 << 10,
    THREADS = 256
};

// A resource is where a buffer is now: it is asked for before each use, since buffers move.
static acre_resource where(acre_manager *manager, const acre_handle *buffer) {
    acre_error error = ACRE_ERROR_INIT;
    acre_resource resource = ACRE_RESOURCE_INIT;
    need(acre_manager_resolve(manager, buffer, 0, 0, &resource, &error), &error);
    return resource;
}

static void add(const driver *calls, void *kernel, void *stream, const acre_resource *resource,
                uint32_t value) {
    uint64_t words = resource->as.cuda;
    uint64_t count = resource->size / 4;
    void *parameters[] = {&words, &count, &value};
    need_driver(calls->launch(kernel, (unsigned)((count + THREADS - 1) / THREADS), 1, 1, THREADS, 1,
                              1, 0, stream, parameters, NULL),
                "cuLaunchKernel");
}

static void expect(acre_storage *storage, acre_manager *manager, const acre_handle *buffer,
                   uint32_t value) {
    static uint32_t words[BYTES / 4];
    acre_error error = ACRE_ERROR_INIT;
    acre_resource resource = where(manager, buffer);
    need(acre_storage_read(storage, &resource, words, &error), &error);
    for (size_t i = 0; i < BYTES / 4; i++) {
        if (words[i] != value) {
            fprintf(stderr, "word %zu is %" PRIu32 ", not %" PRIu32 "\n", i, words[i], value);
            exit(1);
        }
    }
}

int main(void) {
    acre_error error = ACRE_ERROR_INIT;
    acre_storage *storage = NULL;
    acre_manager *manager = NULL;
    need(acre_storage_cuda_create(NULL, NULL, &storage, &error), &error);
    need(acre_manager_create(storage, NULL, &manager, &error), &error);

    acre_cuda_objects objects = ACRE_CUDA_OBJECTS_INIT;
    need(acre_storage_cuda_objects(storage, &objects, &error), &error);
    driver calls = open_driver();
    void *module = NULL;
    void *kernel = NULL;
    need_driver(calls.push(objects.context), "cuCtxPushCurrent"); // ours for the whole program
    need_driver(calls.load(&module, kernel_text), "cuModuleLoadData");
    need_driver(calls.find(&kernel, module, "add"), "cuModuleGetFunction");

    // Buffers of a first phase, each with a number in all of its words.
    acre_handle *buffers[BUFFERS];
    static uint32_t words[BYTES / 4];
    for (uint32_t i = 0; i < BUFFERS; i++) {
        need(acre_manager_reserve(manager, BYTES, &buffers[i], &error), &error);
        for (size_t k = 0; k < BYTES / 4; k++) {
            words[k] = i;
        }
        acre_resource resource = where(manager, buffers[i]);
        need(acre_storage_write(storage, &resource, words, &error), &error);
        add(&calls, kernel, objects.stream, &resource, 100);
    }

    // A larger one comes: the pages grow, and the small pages of before are outdated. Every second
    // buffer goes, the others move, once the device is done with them.
    acre_handle *large = NULL;
    need(acre_manager_reserve(manager, 9 << 20, &large, &error), &error);
    for (size_t i = 0; i < BUFFERS; i += 2) {
        acre_manager_release(manager, buffers[i]);
    }
    acre_relocation_options options = ACRE_RELOCATION_OPTIONS_INIT;
    acre_relocation_report moved = ACRE_RELOCATION_REPORT_INIT;
    options.room = ACRE_RELOCATION_ROOM_MAY_ADD;
    need(acre_manager_relocate(manager, &options, &moved, &error), &error);
    printf("%" PRIu64 " buffers moved, %" PRIu64 " bytes; %" PRIu64 " pages went back\n",
           moved.moves, moved.bytes, moved.pages_returned);

    for (uint32_t i = 1; i < BUFFERS; i += 2) {
        acre_resource resource = where(manager, buffers[i]);
        add(&calls, kernel, objects.stream, &resource, 1000);
        expect(storage, manager, buffers[i], i + 1100); // reads come behind the kernel, same stream
        acre_manager_release(manager, buffers[i]);
    }
    acre_manager_release(manager, large);

    char report[4096];
    acre_manager_report_write(manager, ACRE_REPORT_TEXT, report, sizeof report);
    printf("%s\n", report);
    void *left = NULL;
    need_driver(calls.pop(&left), "cuCtxPopCurrent");
    acre_manager_destroy(manager);
    acre_storage_destroy(storage);
    return 0;
}
