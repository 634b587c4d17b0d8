#include "opencl_rig.h"

#include "base/os.h"
#include "storage/library.h"

int opencl_missing(void) {
    uint32_t count = 0;
    acre_error error = ACRE_ERROR_INIT;
    if (acre_backend_devices(ACRE_BACKEND_OPENCL, &count, &error) == ACRE_OK) {
        return 0;
    }
    char text[512];
    (void)acre_error_format(&error, text, sizeof text);
    fprintf(stderr, "opencl: %s\n", text);
    const char *required = getenv("ACRE_REQUIRE_DEVICES");
    return required != NULL && strstr(required, "opencl") != NULL ? 1 : 77;
}

#define FUNCTION(name, field)                                                                      \
    { name, offsetof(opencl_functions, field) }

static const acre_library_function names[] = {
    FUNCTION("clCreateProgramWithSource", create_program),
    FUNCTION("clBuildProgram", build_program),
    FUNCTION("clReleaseProgram", release_program),
    FUNCTION("clCreateKernel", create_kernel),
    FUNCTION("clReleaseKernel", release_kernel),
    FUNCTION("clSetKernelArg", set_argument),
    FUNCTION("clSetKernelArgSVMPointer", set_svm),
    FUNCTION("clEnqueueNDRangeKernel", enqueue),
    FUNCTION("clCreateContext", create_context),
    FUNCTION("clReleaseContext", release_context),
    FUNCTION("clGetContextInfo", context_info),
    FUNCTION("clCreateCommandQueue", create_queue),
    FUNCTION("clReleaseCommandQueue", release_queue),
    FUNCTION("clGetCommandQueueInfo", queue_info),
    FUNCTION("clReleaseMemObject", release_buffer),
    FUNCTION("clGetMemObjectInfo", buffer_info),
    FUNCTION("clCreateUserEvent", create_user_event),
    FUNCTION("clSetUserEventStatus", set_user_event),
    FUNCTION("clEnqueueBarrierWithWaitList", barrier),
    FUNCTION("clReleaseEvent", release_event),
};

const opencl_functions *opencl(void) {
    static opencl_functions table;
    if (table.create_program == NULL) {
        void *library = NULL;
        acre_error error = ACRE_ERROR_INIT;
        assert_ok(acre_library_open("libOpenCL.so.1", "", &library, &error));
        assert_ok(acre_library_functions(library, names, COUNT_OF(names), &table, "", &error));
    }
    return &table;
}

stand_in *opencl_stand_in(const char *path) {
    void *library = NULL;
    acre_error error = ACRE_ERROR_INIT;
    assert_ok(acre_library_open(path, "", &library, &error));
    stand_in *found = acre_os_symbol(library, "acre_stand_in");
    assert_non_null(found);
    *found = (stand_in){0};
    return found;
}

acre_storage *opencl_storage(const char *library, bool svm) {
    acre_opencl_storage_params params = ACRE_OPENCL_STORAGE_PARAMS_INIT;
    params.library = library;
    params.svm = svm;
    acre_storage *storage = NULL;
    acre_error error = ACRE_ERROR_INIT;
    acre_status status = acre_storage_opencl_create(&params, NULL, &storage, &error);
    if (status != ACRE_OK) {
        char text[512];
        (void)acre_error_format(&error, text, sizeof text);
        fail_msg("%s", text);
    }
    return storage;
}

bool opencl_has_svm(void) {
    acre_opencl_storage_params params = ACRE_OPENCL_STORAGE_PARAMS_INIT;
    params.svm = true;
    acre_storage *storage = NULL;
    bool has = acre_storage_opencl_create(&params, NULL, &storage, NULL) == ACRE_OK;
    acre_storage_destroy(storage);
    return has;
}

acre_opencl_objects opencl_objects_of(const acre_storage *storage) {
    acre_opencl_objects objects = ACRE_OPENCL_OBJECTS_INIT;
    assert_ok(acre_storage_opencl_objects(storage, &objects, NULL));
    return objects;
}

// ---- a kernel ------------------------------------------------------------------------------

#define KERNEL                                                                                     \
    "kernel void add(global uint *words, ulong first, ulong count, uint value) {"                  \
    "    if (get_global_id(0) < count) words[first + get_global_id(0)] += value;"                  \
    "}"

enum {
    GROUP = 64
};

// The kernel for the context that was used last: building it takes longer than most tests. The
// program keeps the context, so that no other one can have its address.
static struct {
    void *context;
    void *program;
    void *kernel;
    bool through_sub_buffer;
} built;

static void *kernel_for(const acre_opencl_objects *objects) {
    if (built.context == objects->context) {
        return built.kernel;
    }
    if (built.context != NULL) {
        assert_int_equal(opencl()->release_kernel(built.kernel), 0);
        assert_int_equal(opencl()->release_program(built.program), 0);
    }
    const char *source = KERNEL;
    int32_t code;
    built.program = opencl()->create_program(objects->context, 1, &source, NULL, &code);
    assert_int_equal(code, 0);
    assert_int_equal(opencl()->build_program(built.program, 1, &objects->device, "", NULL, NULL),
                     0);
    built.kernel = opencl()->create_kernel(built.program, "add", &code);
    assert_int_equal(code, 0);
    built.context = objects->context;
    return built.kernel;
}

static void set_number(void *kernel, uint32_t index, size_t size, const void *value) {
    assert_int_equal(opencl()->set_argument(kernel, index, size, value), 0);
}

// Gives the kernel the resource's memory. => the word it starts at; `*buffer` is to be released.
static uint64_t set_memory(acre_storage *storage, void *kernel, const acre_resource *resource,
                           void **buffer) {
    *buffer = NULL;
    built.through_sub_buffer = false;
    if (resource->kind == ACRE_RESOURCE_OPENCL_SVM) {
        assert_int_equal(opencl()->set_svm(kernel, 0, resource->as.host), 0);
        return 0;
    }
    assert_int_equal(resource->kind, ACRE_RESOURCE_OPENCL);
    built.through_sub_buffer =
        acre_storage_opencl_sub_buffer(storage, resource, buffer, NULL) == ACRE_OK;
    if (built.through_sub_buffer) {
        set_number(kernel, 0, sizeof *buffer, buffer);
        return 0;
    }
    set_number(kernel, 0, sizeof resource->as.opencl.buffer, &resource->as.opencl.buffer);
    assert_int_equal(resource->as.opencl.offset % 4, 0);
    return resource->as.opencl.offset / 4;
}

void opencl_add_on(acre_storage *storage, uint64_t stream, const acre_resource *resource,
                   uint32_t value) {
    acre_opencl_objects objects = opencl_objects_of(storage);
    uint64_t count = resource->size / 4;
    if (count == 0) {
        return;
    }
    void *kernel = kernel_for(&objects);
    void *buffer;
    uint64_t first = set_memory(storage, kernel, resource, &buffer);
    set_number(kernel, 1, sizeof first, &first);
    set_number(kernel, 2, sizeof count, &count);
    set_number(kernel, 3, sizeof value, &value);
    const size_t group = GROUP;
    const size_t all = (size_t)round_up(count, GROUP);
    void *queue = stream == 0 ? objects.queue : (void *)(uintptr_t)stream;
    assert_int_equal(opencl()->enqueue(queue, kernel, 1, NULL, &all, &group, 0, NULL, NULL), 0);
    if (buffer != NULL) {
        // The kernel that was enqueued keeps it.
        assert_int_equal(opencl()->release_buffer(buffer), 0);
    }
}

void opencl_add(acre_storage *storage, const acre_resource *resource, uint32_t value, bool wait) {
    opencl_add_on(storage, 0, resource, value);
    if (wait) {
        assert_ok(acre_storage_wait(storage, NULL));
    }
}

bool opencl_added_through_sub_buffer(void) {
    return built.through_sub_buffer;
}

// ---- queues --------------------------------------------------------------------------------

uint64_t opencl_stream_create(acre_storage *storage) {
    acre_opencl_objects objects = opencl_objects_of(storage);
    int32_t code;
    void *queue = opencl()->create_queue(objects.context, objects.device, 0, &code);
    assert_int_equal(code, 0);
    return (uint64_t)(uintptr_t)queue;
}

void opencl_stream_destroy(acre_storage *storage, uint64_t stream) {
    (void)storage;
    assert_int_equal(opencl()->release_queue((void *)(uintptr_t)stream), 0);
}
