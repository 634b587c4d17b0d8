// Address ranges and memory of the simulated device, as a driver keeps them: what is mapped where,
// and a refusal of what no driver allows.
#ifndef ACRE_STORAGE_SIMULATED_MAPPING_H
#define ACRE_STORAGE_SIMULATED_MAPPING_H

#include "base/slab.h"

typedef struct acre_simulated_mapping {
    acre_slab ranges;
    acre_slab memories;
    uint64_t granularity;
} acre_simulated_mapping;

void acre_simulated_mapping_init(acre_simulated_mapping *mapping, acre_host *host,
                                 uint64_t granularity);
void acre_simulated_mapping_destroy(acre_simulated_mapping *mapping);

// Ids of ranges are told from those of pages, which are below 2^32.
static inline bool acre_simulated_is_range(uint64_t id) {
    return id >> 32 != 0;
}

// Whether the first and the last of those bytes are mapped.
bool acre_simulated_is_mapped(const acre_simulated_mapping *mapping, uint64_t range,
                              uint64_t offset, uint64_t size);

// As the operations of acre_storage_ops. BACKEND_ERROR says what is wrong with the call.
acre_status acre_simulated_reserve(acre_simulated_mapping *mapping, uint64_t size, uint64_t *range,
                                   acre_error *error);
void acre_simulated_release(acre_simulated_mapping *mapping, uint64_t range);
acre_status acre_simulated_create(acre_simulated_mapping *mapping, uint64_t size, uint64_t *memory,
                                  acre_error *error);
// => its size.
uint64_t acre_simulated_destroy(acre_simulated_mapping *mapping, uint64_t memory);
acre_status acre_simulated_map(acre_simulated_mapping *mapping, uint64_t range, uint64_t offset,
                               const uint64_t *memories, uint64_t count, acre_error *error);
acre_status acre_simulated_unmap(acre_simulated_mapping *mapping, uint64_t range, uint64_t offset,
                                 uint64_t size, acre_error *error);

#endif
