// Storages on the fake driver (fake_cuda/fake_cuda.h), for the tests of the CUDA storage.
#ifndef ACRE_TESTS_CUDA_RIG_H
#define ACRE_TESTS_CUDA_RIG_H

#include "fake_cuda/fake_cuda.h"
#include "storage/storage.h"
#include "support.h"

static const acre_cuda_memory all_memories[] = {ACRE_CUDA_PLAIN, ACRE_CUDA_STREAM_ORDERED,
                                                ACRE_CUDA_VIRTUAL};

static inline acre_cuda_storage_params fake_params(acre_cuda_memory memory) {
    acre_cuda_storage_params params = ACRE_CUDA_STORAGE_PARAMS_INIT;
    params.library = ACRE_FAKE_CUDA;
    params.memory = memory;
    return params;
}

static inline acre_storage *storage_with(const acre_cuda_storage_params *params) {
    acre_storage *storage = NULL;
    acre_error error = ACRE_ERROR_INIT;
    if (acre_storage_cuda_create(params, NULL, &storage, &error) != ACRE_OK) {
        fail_msg("%s %s", error.detail, error.native_text);
    }
    return storage;
}

static inline acre_storage *storage_of(acre_cuda_memory memory) {
    acre_cuda_storage_params params = fake_params(memory);
    return storage_with(&params);
}

// Ends the storage; nothing may be left of it.
static inline void close_storage(acre_storage *storage) {
    assert_int_equal(acre_storage_bytes(storage), 0);
    acre_storage_destroy(storage);
    assert_int_equal(fake_cuda_live(), 0);
    assert_null(fake_cuda_current());
    assert_int_equal(fake_cuda_capture_mode(), 0);
}

static inline uint64_t page_of(acre_storage *storage, uint64_t size) {
    acre_error error = ACRE_ERROR_INIT;
    uint64_t page = 0;
    assert_ok(acre_storage_alloc(storage, size, &page, &error));
    return page;
}

static inline acre_resource resource_of(acre_storage *storage, uint64_t page, uint64_t offset,
                                        uint64_t size) {
    acre_error error = ACRE_ERROR_INIT;
    acre_resource resource = ACRE_RESOURCE_INIT;
    assert_ok(acre_storage_resource(storage, page, offset, size, &resource, &error));
    return resource;
}

static inline uint64_t range_of(acre_storage *storage, uint64_t size) {
    acre_error error = ACRE_ERROR_INIT;
    uint64_t range = 0;
    assert_ok(acre_storage_range_reserve(storage, size, &range, &error));
    return range;
}

static inline uint64_t memory_of(acre_storage *storage, uint64_t size) {
    acre_error error = ACRE_ERROR_INIT;
    uint64_t memory = 0;
    assert_ok(acre_storage_memory_create(storage, size, &memory, &error));
    return memory;
}

static inline void fill(acre_storage *storage, const acre_resource *resource, unsigned char byte) {
    unsigned char *bytes = malloc((size_t)resource->size);
    assert_non_null(bytes);
    memset(bytes, byte, (size_t)resource->size);
    assert_ok(acre_storage_write(storage, resource, bytes, NULL));
    free(bytes);
}

static inline void expect_bytes(acre_storage *storage, const acre_resource *resource,
                                unsigned char byte) {
    unsigned char *bytes = malloc((size_t)resource->size);
    assert_non_null(bytes);
    assert_ok(acre_storage_read(storage, resource, bytes, NULL));
    for (uint64_t i = 0; i < resource->size; i++) {
        assert_int_equal(bytes[i], byte);
    }
    free(bytes);
}

static inline int reset_driver(void **state) {
    (void)state;
    fake_cuda_reset();
    return 0;
}

#endif
