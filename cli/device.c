#include "device.h"

#include <acre/storage_cuda.h>
#include <acre/storage_host.h>
#include <acre/storage_opencl.h>
#include <acre/storage_simulated.h>
#include <acre/storage_vulkan.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "size.h"

enum {
    DEFAULT_ALIGNMENT = 256,
    HOST_PAGE = 4096,
    INDEX_MOST = 9999,
};

static const uint64_t largest_alignment = UINT64_C(1) << 30;

// ---- making them ---------------------------------------------------------------------------

static acre_status create_simulated(uint32_t index, const device_limits *limits,
                                    acre_storage **storage, acre_error *error) {
    (void)index;
    const uint64_t page_alignment = UINT64_C(2) << 20; // the storage's default
    acre_simulated_storage_params params = ACRE_SIMULATED_STORAGE_PARAMS_INIT;
    params.total_memory = limits->memory;
    params.largest_allocation = limits->max_page;
    params.slice_alignment = limits->alignment;
    if (limits->alignment > page_alignment)
        params.alignment = limits->alignment;
    return acre_storage_simulated_create(&params, NULL, storage, error);
}

static acre_status create_host(uint32_t index, const device_limits *limits, acre_storage **storage,
                               acre_error *error) {
    (void)index;
    acre_host_storage_params params = ACRE_HOST_STORAGE_PARAMS_INIT;
    params.total_memory = limits->memory;
    params.largest_allocation = limits->max_page;
    params.alignment = HOST_PAGE;
    while (params.alignment < limits->alignment)
        params.alignment *= 2;
    return acre_storage_host_create(&params, NULL, storage, error);
}

static acre_status create_host_virtual(uint32_t index, const device_limits *limits,
                                       acre_storage **storage, acre_error *error) {
    (void)index;
    acre_host_virtual_storage_params params = ACRE_HOST_VIRTUAL_STORAGE_PARAMS_INIT;
    params.total_memory = limits->memory;
    params.largest_allocation = limits->max_page;
    return acre_storage_host_virtual_create(&params, NULL, storage, error);
}

static acre_status create_cuda(uint32_t index, const device_limits *limits, acre_storage **storage,
                               acre_error *error) {
    acre_cuda_storage_params params = ACRE_CUDA_STORAGE_PARAMS_INIT;
    params.device = (int32_t)index;
    params.total_memory = limits->memory;
    params.largest_allocation = limits->max_page;
    return acre_storage_cuda_create(&params, NULL, storage, error);
}

static acre_status create_opencl(uint32_t index, const device_limits *limits,
                                 acre_storage **storage, acre_error *error) {
    acre_opencl_storage_params params = ACRE_OPENCL_STORAGE_PARAMS_INIT;
    params.device = index;
    params.total_memory = limits->memory;
    params.largest_allocation = limits->max_page;
    return acre_storage_opencl_create(&params, NULL, storage, error);
}

static acre_status create_vulkan(uint32_t index, const device_limits *limits,
                                 acre_storage **storage, acre_error *error) {
    acre_vulkan_storage_params params = ACRE_VULKAN_STORAGE_PARAMS_INIT;
    params.device = index;
    params.total_memory = limits->memory;
    params.largest_allocation = limits->max_page;
    return acre_storage_vulkan_create(&params, NULL, storage, error);
}

// The order of the help and of `acre info`.
const device_kind device_kinds[] = {
    {ACRE_BACKEND_SIMULATED, "bookkeeping only, 80 GiB", create_simulated, true},
    {ACRE_BACKEND_HOST, "bytes of this machine, half its physical memory", create_host, true},
    {ACRE_BACKEND_HOST_VIRTUAL, "the same, mapped into reserved addresses", create_host_virtual,
     true},
    {ACRE_BACKEND_CUDA, "cuda:N, an NVIDIA device", create_cuda, false},
    {ACRE_BACKEND_OPENCL, "opencl:N, an OpenCL device", create_opencl, false},
    {ACRE_BACKEND_VULKAN, "vulkan:N, a Vulkan device", create_vulkan, false},
};
const unsigned device_kind_count = sizeof(device_kinds) / sizeof(device_kinds[0]);

acre_status device_create(const device_choice *device, const device_limits *limits,
                          acre_storage **storage, acre_error *error) {
    return device->kind->create(device->index, limits, storage, error);
}

// ---- naming them ---------------------------------------------------------------------------

device_choice device_choose(const device_kind *kind, uint32_t index) {
    device_choice device = {.kind = kind, .index = index};
    const char *name = acre_backend_name(kind->backend);
    if (kind->one)
        (void)snprintf(device.name, sizeof(device.name), "%s", name);
    else
        (void)snprintf(device.name, sizeof(device.name), "%s:%u", name, (unsigned)index);
    return device;
}

// The number behind a colon, nothing being 0. => False when it is none.
static bool parse_index(const char *text, uint32_t *index) {
    *index = 0;
    if (*text == '\0')
        return true;
    if (*text++ != ':' || *text == '\0')
        return false;
    for (; *text >= '0' && *text <= '9' && *index <= INDEX_MOST; text++)
        *index = *index * 10 + (uint32_t)(*text - '0');
    return *text == '\0' && *index <= INDEX_MOST;
}

bool device_parse(const char *text, device_choice *device) {
    for (unsigned i = 0; i < device_kind_count; i++) {
        const char *name = acre_backend_name(device_kinds[i].backend);
        size_t length = strlen(name);
        uint32_t index;
        if (strncmp(text, name, length) != 0 || !parse_index(text + length, &index) ||
            (device_kinds[i].one && text[length] != '\0'))
            continue;
        *device = device_choose(&device_kinds[i], index);
        return true;
    }
    complain("--device: '%s' is no device, they are simulated, host, host-virtual, cuda:N, "
             "opencl:N and vulkan:N",
             text);
    return false;
}

// ---- their limits --------------------------------------------------------------------------

// What a device has by itself.
static acre_status find_memory(const device_choice *device, uint64_t *memory, uint64_t *largest,
                               acre_error *error) {
    acre_device_info info = ACRE_DEVICE_INFO_INIT;
    acre_status status = acre_backend_device(device->kind->backend, device->index, &info, error);
    *memory = info.total_memory;
    *largest = info.largest_allocation;
    if (device->kind->backend == ACRE_BACKEND_SIMULATED)
        *memory = UINT64_C(80) << 30;
    if (device->kind->backend == ACRE_BACKEND_HOST ||
        device->kind->backend == ACRE_BACKEND_HOST_VIRTUAL)
        *memory /= 2; // the other half is for everyone else
    return status;
}

static outcome settle_memory(const device_choice *device, device_limits *limits) {
    acre_error error = ACRE_ERROR_INIT;
    uint64_t memory = 0;
    uint64_t largest = 0;
    if (find_memory(device, &memory, &largest, &error) != ACRE_OK)
        return complain_error(device->name, &error);
    if (limits->memory == 0)
        limits->memory = memory;
    if (limits->memory == 0) {
        complain("the physical memory is not to be found out, --device-memory can say how much");
        return OUTCOME_FAILED;
    }
    bool has_largest = device->kind->backend >= ACRE_BACKEND_CUDA && largest > 0;
    if (limits->max_page == 0) {
        limits->max_page = limits->memory < 4 ? 1 : limits->memory / 4;
        if (has_largest && limits->max_page > largest)
            limits->max_page = largest;
    }
    return OUTCOME_FINE;
}

outcome device_limits_settle(const device_choice *device, device_limits *limits) {
    outcome result = settle_memory(device, limits);
    if (result != OUTCOME_FINE)
        return result;
    if (limits->alignment == 0)
        limits->alignment = DEFAULT_ALIGNMENT;
    if (limits->alignment > largest_alignment) {
        complain("--alignment: %s is over the most, 1 GiB", size_format(limits->alignment).text);
        return OUTCOME_USAGE;
    }
    if (limits->alignment > limits->max_page) {
        complain("the alignment, %s, is over the largest page, %s: --max-page and "
                 "--device-memory change that",
                 size_format(limits->alignment).text, size_format(limits->max_page).text);
        return OUTCOME_USAGE;
    }
    return OUTCOME_FINE;
}
