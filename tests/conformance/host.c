#include "subject.h"

static acre_storage *create_host(uint64_t total, uint64_t largest, acre_error *error) {
    acre_host_storage_params params = ACRE_HOST_STORAGE_PARAMS_INIT;
    params.total_memory = total;
    params.largest_allocation = largest;
    acre_storage *storage = NULL;
    return acre_storage_host_create(&params, NULL, &storage, error) == ACRE_OK ? storage : NULL;
}

// The host is its own device: its kernels are loops.
static void add_on_host(acre_storage *storage, const acre_resource *resource, uint32_t value,
                        bool wait) {
    (void)storage;
    (void)wait;
    assert_int_equal(resource->kind, ACRE_RESOURCE_HOST);
    uint32_t *words = resource->as.host;
    for (uint64_t i = 0; i < resource->size / 4; i++) {
        words[i] += value;
    }
}

static const subject host[] = {
    {.name = "host", .create = create_host, .add = add_on_host, .lost_code = 5},
};

const subject_list host_subjects = {"host", host, COUNT_OF(host)};

static acre_storage *create_virtual(uint64_t total, uint64_t largest, acre_error *error) {
    acre_host_virtual_storage_params params = ACRE_HOST_VIRTUAL_STORAGE_PARAMS_INIT;
    params.total_memory = total;
    params.largest_allocation = largest;
    acre_storage *storage = NULL;
    return acre_storage_host_virtual_create(&params, NULL, &storage, error) == ACRE_OK ? storage
                                                                                       : NULL;
}

static acre_storage *create_fine(uint64_t total, uint64_t largest, acre_error *error) {
    acre_host_virtual_storage_params params = ACRE_HOST_VIRTUAL_STORAGE_PARAMS_INIT;
    params.total_memory = total;
    params.largest_allocation = largest;
    params.granularity = 3 * 4096; // no power of two
    acre_storage *storage = NULL;
    return acre_storage_host_virtual_create(&params, NULL, &storage, error) == ACRE_OK ? storage
                                                                                       : NULL;
}

static uint64_t rounding(acre_storage *storage) {
    (void)storage;
    return 4096;
}

static const subject host_virtual[] = {
    {.name = "host-virtual",
     .create = create_virtual,
     .add = add_on_host,
     .rounding = rounding,
     .maps = true,
     .lost_code = 5},
    {.name = "host-virtual, granules of three pages",
     .create = create_fine,
     .add = add_on_host,
     .rounding = rounding,
     .maps = true,
     .lost_code = 5},
};

const subject_list host_virtual_subjects = {"host-virtual", host_virtual, COUNT_OF(host_virtual)};
