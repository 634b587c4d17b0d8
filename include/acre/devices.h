// The devices of this machine: which there are, and why others are missing.
#ifndef ACRE_DEVICES_H
#define ACRE_DEVICES_H

#include <acre/status.h>

typedef enum acre_backend {
    ACRE_BACKEND_SIMULATED = 0,
    ACRE_BACKEND_HOST = 1,
    ACRE_BACKEND_HOST_VIRTUAL = 2,
    ACRE_BACKEND_CUDA = 3,
    ACRE_BACKEND_OPENCL = 4,
    ACRE_BACKEND_VULKAN = 5,
} acre_backend;

#define ACRE_BACKEND_COUNT 6

typedef struct acre_device_info {
    size_t struct_size;          // set by ACRE_DEVICE_INFO_INIT
    char name[128];              // the device's own
    char driver[96];             // the driver and its version
    uint64_t total_memory;       // bytes; 0 = no limit
    uint64_t largest_allocation; // bytes of one page; 0 = total_memory
    uint64_t granularity;        // bytes of what can be mapped apart from addresses; 0 = it cannot
} acre_device_info;

#if defined(__cplusplus)
#define ACRE_DEVICE_INFO_INIT (acre_device_info{sizeof(acre_device_info), {0}, {0}, 0, 0, 0})
#else
#define ACRE_DEVICE_INFO_INIT ((acre_device_info){.struct_size = sizeof(acre_device_info)})
#endif

ACRE_BEGIN_DECLS

// The name of a back end, as `acre replay --device` takes it: "cuda"; NULL when there is no such
// one. Any thread; static.
ACRE_API const char *acre_backend_name(acre_backend backend);

// How many devices a back end has here, at least 1. They are numbered from 0 in the back end's own
// order. UNSUPPORTED, with what is missing and what to install, when it has none. Any thread.
ACRE_API ACRE_CHECKED acre_status acre_backend_devices(acre_backend backend, uint32_t *count,
                                                       acre_error *error);

// What is known of one of them. INVALID_ARGUMENT past the last one; else the errors of
// acre_backend_devices. Any thread.
ACRE_API ACRE_CHECKED acre_status acre_backend_device(acre_backend backend, uint32_t index,
                                                      acre_device_info *info, acre_error *error);

ACRE_END_DECLS

#endif
