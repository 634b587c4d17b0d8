// CUDA under the suite, on the machine's driver and first device.
#include "subject.h"

#include "cuda_kernel.h"
#include "storage/cuda/api.h"

// What a driver says when a kernel touched an address that is none: the context is lost then.
enum {
    LOST = 700
};

static uint64_t granularity(acre_storage *storage) {
    acre_device_info info = ACRE_DEVICE_INFO_INIT;
    (void)storage;
    assert_ok(acre_backend_device(ACRE_BACKEND_CUDA, 0, &info, NULL));
    return info.granularity;
}

static acre_cuda_api driver;
static void *kernel;
static int (*load_module)(void **module, const void *image);
static int (*get_function)(void **function, void *module, const char *name);
static int (*launch)(void *function, unsigned grid_x, unsigned grid_y, unsigned grid_z,
                     unsigned block_x, unsigned block_y, unsigned block_z, unsigned shared_bytes,
                     void *stream, void **parameters, void **extra);

static void find(const char *name, void *function) {
    void *address = NULL;
    int found = 0;
    assert_int_equal(driver.function(name, &address, ACRE_CUDA_VERSION, 0, &found), 0);
    assert_non_null(address);
    memcpy(function, &address, sizeof address);
}

// Keeps the primary context for the rest of the process: making it anew for each storage takes a
// good part of a second.
static void keep_context(void) {
    static bool kept;
    acre_error error = ACRE_ERROR_INIT;
    acre_cuda_ordinal device = 0;
    acre_cuda_context context = NULL;
    if (kept || acre_cuda_open(NULL, &driver, &error) != ACRE_OK ||
        driver.device_get(&device, 0) != 0 || driver.primary_retain(&context, device) != 0) {
        return;
    }
    kept = true;
}

static acre_storage *create(acre_cuda_memory memory, uint64_t total, uint64_t largest,
                            acre_error *error) {
    keep_context();
    acre_cuda_storage_params params = ACRE_CUDA_STORAGE_PARAMS_INIT;
    params.memory = memory;
    params.total_memory = total;
    params.largest_allocation = largest;
    acre_storage *storage = NULL;
    return acre_storage_cuda_create(&params, NULL, &storage, error) == ACRE_OK ? storage : NULL;
}

static acre_storage *create_plain(uint64_t total, uint64_t largest, acre_error *error) {
    return create(ACRE_CUDA_PLAIN, total, largest, error);
}

static acre_storage *create_ordered(uint64_t total, uint64_t largest, acre_error *error) {
    return create(ACRE_CUDA_STREAM_ORDERED, total, largest, error);
}

static acre_storage *create_virtual(uint64_t total, uint64_t largest, acre_error *error) {
    return create(ACRE_CUDA_VIRTUAL, total, largest, error);
}

static acre_cuda_objects enter(acre_storage *storage) {
    acre_cuda_objects objects = ACRE_CUDA_OBJECTS_INIT;
    assert_ok(acre_storage_cuda_objects(storage, &objects, NULL));
    assert_int_equal(driver.context_push(objects.context), 0);
    return objects;
}

static void leave(void) {
    acre_cuda_context left = NULL;
    assert_int_equal(driver.context_pop(&left), 0);
}

static void load_kernel(void) {
    void *module = NULL;
    find("cuModuleLoadData", &load_module);
    find("cuModuleGetFunction", &get_function);
    find("cuLaunchKernel", &launch);
    assert_int_equal(load_module(&module, cuda_add_kernel), 0);
    assert_int_equal(get_function(&kernel, module, "add"), 0);
}

// On the default stream, which the events of the suite are recorded on.
static void add_on_device(acre_storage *storage, const acre_resource *resource, uint32_t value,
                          bool wait) {
    enum {
        THREADS = 256
    };
    assert_int_equal(resource->kind, ACRE_RESOURCE_CUDA);
    (void)enter(storage);
    if (kernel == NULL) {
        load_kernel();
    }
    uint64_t words = resource->as.cuda;
    uint64_t count = resource->size / 4;
    void *parameters[] = {&words, &count, &value};
    if (count > 0) {
        assert_int_equal(launch(kernel, (unsigned)((count + THREADS - 1) / THREADS), 1, 1, THREADS,
                                1, 1, 0, NULL, parameters, NULL),
                         0);
    }
    if (wait) {
        assert_int_equal(driver.context_synchronize(), 0);
    }
    leave();
}

static uint64_t stream_create(acre_storage *storage) {
    acre_cuda_stream stream = NULL;
    (void)enter(storage);
    assert_int_equal(driver.stream_create(&stream, ACRE_CUDA_STREAM_NON_BLOCKING), 0);
    leave();
    return (uint64_t)(uintptr_t)stream;
}

static void stream_destroy(acre_storage *storage, uint64_t stream) {
    (void)enter(storage);
    assert_int_equal(driver.stream_destroy((acre_cuda_stream)(uintptr_t)stream), 0);
    leave();
}

#define CUDA_SUBJECT(text, creation, rounds)                                                       \
    {                                                                                              \
        .name = (text), .create = (creation), .maps = true, .events = true, .lost_code = LOST,     \
        .rounding = (rounds), .add = add_on_device, .stream_create = stream_create,                \
        .stream_destroy = stream_destroy                                                           \
    }

static const subject real[] = {
    CUDA_SUBJECT("cuda", create_plain, NULL),
    CUDA_SUBJECT("cuda, stream-ordered", create_ordered, NULL),
    CUDA_SUBJECT("cuda, virtual", create_virtual, granularity),
};

const subject_list cuda_subjects = {"cuda", real, COUNT_OF(real)};
