// The storage of CUDA under the suite, on a driver over host memory. It has no kernels.
#include "subject.h"

#include <assert.h>

#include "base/os.h"
#include "fake_cuda/fake_cuda.h"

typedef struct fake_driver {
    void (*reset)(void);
    fake_cuda_knobs *(*knobs)(void);
    void *(*stream_create)(void *context);
    void (*stream_destroy)(void *stream);
} fake_driver;

static void *find(void *library, const char *name) {
    void *found = acre_os_symbol(library, name);
    assert_non_null(found);
    return found;
}

static fake_driver open_driver(void) {
    char why[200] = "";
    void *library = acre_os_library(ACRE_FAKE_CUDA, why, sizeof why);
    if (library == NULL) {
        fail_msg("%s", why);
    }
    void *found[] = {find(library, "fake_cuda_reset"), find(library, "fake_cuda"),
                     find(library, "fake_cuda_stream_create"),
                     find(library, "fake_cuda_stream_destroy")};
    fake_driver driver;
    static_assert(sizeof driver == sizeof found, "function pointers, in this order");
    memcpy(&driver, found, sizeof driver);
    return driver;
}

// The suite has one storage at a time, so that each begins with a driver in which nothing is. What
// a driver does not free, since it was made to fail, is left to it.
static acre_storage *create(acre_cuda_memory memory, uint64_t total, uint64_t largest,
                            acre_error *error) {
    fake_driver driver = open_driver();
    driver.reset();
    driver.knobs()->allow_leaks = true;
    acre_cuda_storage_params params = ACRE_CUDA_STORAGE_PARAMS_INIT;
    params.library = ACRE_FAKE_CUDA;
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

static uint64_t granularity(acre_storage *storage) {
    (void)storage;
    return 2 * MIB;
}

static uint64_t stream_create(acre_storage *storage) {
    (void)storage;
    return (uint64_t)(uintptr_t)open_driver().stream_create(NULL);
}

static void stream_destroy(acre_storage *storage, uint64_t stream) {
    (void)storage;
    open_driver().stream_destroy((void *)(uintptr_t)stream);
}

#define FAKE_SUBJECT(text, creation, rounds)                                                       \
    {                                                                                              \
        .name = (text), .create = (creation), .maps = true, .alone = true, .events = true,         \
        .lost_code = 700, .rounding = (rounds), .stream_create = stream_create,                    \
        .stream_destroy = stream_destroy                                                           \
    }

static const subject fake[] = {
    FAKE_SUBJECT("cuda-fake", create_plain, NULL),
    FAKE_SUBJECT("cuda-fake, stream-ordered", create_ordered, NULL),
    FAKE_SUBJECT("cuda-fake, virtual", create_virtual, granularity),
};

const subject_list fake_cuda_subjects = {"cuda-fake", fake, COUNT_OF(fake)};
