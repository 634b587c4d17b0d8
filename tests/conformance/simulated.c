#include "subject.h"

static acre_storage *create(uint64_t total, uint64_t largest, bool deferred, acre_error *error) {
    acre_simulated_storage_params params = ACRE_SIMULATED_STORAGE_PARAMS_INIT;
    params.total_memory = total;
    params.largest_allocation = largest;
    params.deferred_frees = deferred;
    acre_storage *storage = NULL;
    return acre_storage_simulated_create(&params, NULL, &storage, error) == ACRE_OK ? storage
                                                                                    : NULL;
}

static acre_storage *create_plain(uint64_t total, uint64_t largest, acre_error *error) {
    return create(total, largest, false, error);
}

static acre_storage *create_deferred(uint64_t total, uint64_t largest, acre_error *error) {
    return create(total, largest, true, error);
}

static const subject simulated[] = {
    {.name = "simulated", .create = create_plain, .no_bytes = true, .maps = true, .lost_code = -7},
    {.name = "simulated, deferred frees",
     .create = create_deferred,
     .no_bytes = true,
     .maps = true,
     .lost_code = -7},
};

const subject_list simulated_subjects = {"simulated", simulated, COUNT_OF(simulated)};
