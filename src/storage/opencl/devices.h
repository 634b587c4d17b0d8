// The devices of all platforms, numbered in one row: platform by platform, as the loader lists
// them.
#ifndef ACRE_STORAGE_OPENCL_DEVICES_H
#define ACRE_STORAGE_OPENCL_DEVICES_H

#include "base/host.h"
#include "storage/opencl/api.h"

typedef struct opencl_place {
    opencl_platform platform;
    opencl_device device;
} opencl_place;

// What a storage must know of a device.
typedef struct opencl_facts {
    uint32_t version; // 10 times the major plus the minor
    uint64_t total_memory;
    uint64_t largest_allocation;
    uint64_t base_alignment; // bytes; sub-buffers start on multiples of it
    bool svm;                // coarse-grained buffers
} opencl_facts;

// Finds device `index`; `*count` receives how many there are. => INVALID_ARGUMENT past the last
// one, UNSUPPORTED when there is none at all.
acre_status acre_opencl_find(opencl_driver *driver, acre_host *host, uint32_t index,
                             opencl_place *place, uint32_t *count, acre_error *error);

acre_status acre_opencl_learn(opencl_driver *driver, opencl_device device, opencl_facts *facts,
                              acre_error *error);

#endif
