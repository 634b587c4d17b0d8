// Which devices the driver has, and what they can do.
#include "storage/cuda/cuda.h"

#include "base/error.h"
#include "storage/backend.h"

#include <stdio.h>

static acre_status count_devices(acre_cuda *own, uint32_t *count, acre_error *error) {
    int found = 0;
    acre_cuda_result code = acre_cuda_call(own, device_get_count(&found));
    if (code != ACRE_CUDA_SUCCESS) {
        return acre_cuda_refused(&own->api, 0, code, error);
    }
    if (found <= 0) {
        return acre_error_set(error, ACRE_UNSUPPORTED,
                              "the CUDA driver has no device: look at nvidia-smi and at "
                              "CUDA_VISIBLE_DEVICES");
    }
    *count = (uint32_t)found;
    return ACRE_OK;
}

static acre_cuda_result read_attribute(acre_cuda *own, int attribute, bool *value) {
    int said = 0;
    acre_cuda_result code =
        acre_cuda_call(own, device_get_attribute(&said, attribute, own->device));
    *value = said != 0;
    return code;
}

acre_status acre_cuda_find_device(acre_cuda *own, uint32_t index, acre_error *error) {
    uint32_t count = 0;
    acre_status status = count_devices(own, &count, error);
    if (status != ACRE_OK) {
        return status;
    }
    if (index >= count) {
        return acre_error_set(error, ACRE_INVALID_ARGUMENT,
                              "there is no CUDA device %u, the last one is %u", (unsigned)index,
                              (unsigned)count - 1);
    }
    acre_cuda_result code = acre_cuda_call(own, device_get(&own->device, (int)index));
    if (code == ACRE_CUDA_SUCCESS) {
        code = read_attribute(own, ACRE_CUDA_ATTRIBUTE_VIRTUAL_MEMORY, &own->can_map);
    }
    if (code == ACRE_CUDA_SUCCESS) {
        code = read_attribute(own, ACRE_CUDA_ATTRIBUTE_MEMORY_POOLS, &own->can_pool);
    }
    if (code == ACRE_CUDA_SUCCESS) {
        code = read_attribute(own, ACRE_CUDA_ATTRIBUTE_EXPORT_DESCRIPTOR, &own->can_export);
    }
    size_t total = 0;
    if (code == ACRE_CUDA_SUCCESS) {
        code = acre_cuda_call(own, device_total_memory(&total, own->device));
    }
    own->device_memory = total;
    return acre_cuda_status(own, 0, code, error);
}

acre_cuda_memory_properties acre_cuda_properties(const acre_cuda *own) {
    acre_cuda_memory_properties properties = {
        .type = ACRE_CUDA_ALLOCATION_PINNED,
        .handle_types =
            own->params.exportable ? ACRE_CUDA_HANDLE_DESCRIPTOR : ACRE_CUDA_HANDLE_NONE,
        .location = {ACRE_CUDA_LOCATION_DEVICE, own->device},
    };
    return properties;
}

acre_cuda_result acre_cuda_find_granularity(acre_cuda *own) {
    if (!own->can_map) {
        return ACRE_CUDA_SUCCESS;
    }
    acre_cuda_memory_properties properties = acre_cuda_properties(own);
    size_t granularity = 0;
    acre_cuda_result code = acre_cuda_call(
        own, granularity(&granularity, &properties, ACRE_CUDA_GRANULARITY_RECOMMENDED));
    own->granularity = granularity;
    return code;
}

// ---- acre/devices.h ------------------------------------------------------------------------

acre_status acre_cuda_devices(uint32_t *count, acre_error *error) {
    acre_cuda probe = {.params = ACRE_CUDA_STORAGE_PARAMS_INIT};
    acre_status status = acre_cuda_open(NULL, &probe.api, error);
    return status == ACRE_OK ? count_devices(&probe, count, error) : status;
}

acre_status acre_cuda_device(uint32_t index, acre_device_info *info, acre_error *error) {
    acre_cuda probe = {.params = ACRE_CUDA_STORAGE_PARAMS_INIT};
    acre_status status = acre_cuda_open(NULL, &probe.api, error);
    if (status == ACRE_OK) {
        status = acre_cuda_find_device(&probe, index, error);
    }
    if (status != ACRE_OK) {
        return status;
    }
    int version = 0;
    acre_cuda_result code =
        acre_cuda_call(&probe, device_get_name(info->name, (int)sizeof info->name, probe.device));
    if (code == ACRE_CUDA_SUCCESS) {
        code = acre_cuda_call(&probe, driver_version(&version));
    }
    if (code == ACRE_CUDA_SUCCESS) {
        code = acre_cuda_find_granularity(&probe);
    }
    if (code != ACRE_CUDA_SUCCESS) {
        return acre_cuda_refused(&probe.api, 0, code, error);
    }
    snprintf(info->driver, sizeof info->driver, "CUDA %d.%d", version / 1000, version % 1000 / 10);
    info->total_memory = probe.device_memory;
    info->largest_allocation = probe.device_memory;
    info->granularity = probe.granularity;
    return ACRE_OK;
}
