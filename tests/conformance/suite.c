#include "suite.h"

acre_storage *suite_storage(const subject *about, uint64_t total, uint64_t largest) {
    acre_error error = ACRE_ERROR_INIT;
    acre_storage *storage = about->create(total, largest, &error);
    if (storage == NULL) {
        char text[512];
        (void)acre_error_format(&error, text, sizeof text);
        fail_msg("%s: %s", about->name, text);
    }
    return storage;
}

rig suite_rig(const subject *about) {
    acre_pool_options pools[] = {sliced_pool(PAGE, PAGE / 4, ACRE_UNSET), direct_pool(ACRE_UNSET)};
    return rig_pools_on(suite_storage(about, TOTAL, LARGEST), 0, 0, pools, COUNT_OF(pools));
}

uint64_t page_bytes(const subject *about, acre_storage *storage, uint64_t size) {
    uint64_t rounding = about->rounding == NULL ? 1 : about->rounding(storage);
    return round_up(size, rounding);
}

acre_resource resolve(acre_manager *manager, const acre_handle *handle) {
    acre_resource resource = ACRE_RESOURCE_INIT;
    assert_ok(acre_manager_resolve(manager, handle, 0, 0, &resource, NULL));
    return resource;
}

uint32_t pattern_word(uint32_t seed, uint64_t at) {
    uint32_t word = seed * 0x9e3779b9u + (uint32_t)at * 0x85ebca6bu;
    return word ^ word >> 15;
}

// The whole pattern, for `size` bytes and up to a word more.
static uint32_t *make_pattern(uint64_t size, uint32_t seed, uint32_t added) {
    uint64_t words = size / 4 + 1;
    uint32_t *pattern = malloc(words * 4);
    assert_non_null(pattern);
    for (uint64_t i = 0; i < words; i++) {
        pattern[i] = pattern_word(seed, i) + (i < size / 4 ? added : 0);
    }
    return pattern;
}

void fill_resource(const subject *about, acre_storage *storage, const acre_resource *resource,
                   uint32_t seed) {
    if (about->no_bytes) {
        return;
    }
    uint32_t *pattern = make_pattern(resource->size, seed, 0);
    assert_ok(acre_storage_write(storage, resource, pattern, NULL));
    free(pattern);
}

void check_resource(const subject *about, acre_storage *storage, const acre_resource *resource,
                    uint32_t seed, uint32_t added) {
    if (about->no_bytes) {
        return;
    }
    uint32_t *pattern = make_pattern(resource->size, seed, added);
    unsigned char *bytes = malloc(resource->size + 1);
    assert_non_null(bytes);
    assert_ok(acre_storage_read(storage, resource, bytes, NULL));
    assert_memory_equal(bytes, pattern, resource->size);
    free(bytes);
    free(pattern);
}

filled take_filled(const subject *about, rig *r, uint64_t size, uint32_t seed) {
    filled made = {take(r->manager, size), size, seed};
    acre_resource resource = resolve(r->manager, made.handle);
    assert_int_equal(resource.size, size);
    fill_resource(about, r->storage, &resource, seed);
    return made;
}

void check_filled(const subject *about, rig *r, const filled *allocation) {
    acre_resource resource = resolve(r->manager, allocation->handle);
    assert_int_equal(resource.size, allocation->size);
    check_resource(about, r->storage, &resource, allocation->seed, 0);
}
