#include <acre/devices.h>

#include "base/error.h"
#include "base/structs.h"
#include "storage/backend.h"

typedef struct backend {
    const char *name;
    acre_status (*devices)(uint32_t *count, acre_error *error); // NULL = there is one
    acre_status (*device)(uint32_t index, acre_device_info *info, acre_error *error);
    acre_status (*only)(acre_device_info *info, acre_error *error); // where there is one
} backend;

// In the order of acre_backend.
static const backend backends[ACRE_BACKEND_COUNT] = {
    {"simulated", NULL, NULL, acre_simulated_device},
    {"host", NULL, NULL, acre_host_device},
    {"host-virtual", NULL, NULL, acre_host_virtual_device},
    {"cuda", acre_cuda_devices, acre_cuda_device, NULL},
    {"opencl", acre_opencl_devices, acre_opencl_device, NULL},
    {"vulkan", acre_vulkan_devices, acre_vulkan_device, NULL},
};

static const backend *find(acre_backend which) {
    return (unsigned)which < ACRE_BACKEND_COUNT ? &backends[which] : NULL;
}

const char *acre_backend_name(acre_backend which) {
    const backend *found = find(which);
    return found == NULL ? NULL : found->name;
}

static acre_status count_devices(acre_backend which, uint32_t *count, acre_error *error) {
    const backend *found = find(which);
    if (found == NULL) {
        return acre_error_set(error, ACRE_INVALID_ARGUMENT, "there is no back end %d", (int)which);
    }
    *count = 1;
    if (found->devices == NULL) {
        acre_device_info info = ACRE_DEVICE_INFO_INIT;
        return found->only(&info, error);
    }
    acre_error_refuse(error, ACRE_OK, 0);
    return found->devices(count, error);
}

static acre_status describe(acre_backend which, uint32_t index, acre_device_info *info,
                            acre_error *error) {
    uint32_t count = 0;
    acre_status status = count_devices(which, &count, error);
    if (status != ACRE_OK) {
        return status;
    }
    if (index >= count) {
        return acre_error_set(error, ACRE_INVALID_ARGUMENT,
                              "there is no device %s:%u, the last one is %s:%u", find(which)->name,
                              (unsigned)index, find(which)->name, (unsigned)count - 1);
    }
    const backend *found = find(which);
    return found->device == NULL ? found->only(info, error) : found->device(index, info, error);
}

acre_status acre_backend_devices(acre_backend which, uint32_t *count, acre_error *error) {
    acre_error local;
    acre_error *detail = acre_error_open(error, &local);
    uint32_t found = 0;
    acre_status status = count_devices(which, &found, detail);
    if (status == ACRE_OK) {
        *count = found;
    }
    return acre_error_close(error, detail, status);
}

acre_status acre_backend_device(acre_backend which, uint32_t index, acre_device_info *info,
                                acre_error *error) {
    acre_error local;
    acre_error *detail = acre_error_open(error, &local);
    acre_device_info own = ACRE_DEVICE_INFO_INIT;
    acre_status status = describe(which, index, &own, detail);
    if (status == ACRE_OK) {
        acre_struct_write(info, &own, sizeof own);
    }
    return acre_error_close(error, detail, status);
}
