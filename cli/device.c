#define _DEFAULT_SOURCE // _SC_PHYS_PAGES

#include "device.h"

#include <acre/storage_host.h>
#include <acre/storage_simulated.h>

#include <string.h>
#include <unistd.h>

#include "size.h"

enum {
    DEFAULT_ALIGNMENT = 256,
    HOST_PAGE = 4096,
};

static const uint64_t largest_alignment = UINT64_C(1) << 30;

static uint64_t simulated_memory(void) {
    return UINT64_C(80) << 30;
}

static acre_status create_simulated(const device_limits *limits, acre_storage **storage,
                                    acre_error *error) {
    const uint64_t page_alignment = UINT64_C(2) << 20; // the storage's default
    acre_simulated_storage_params params = ACRE_SIMULATED_STORAGE_PARAMS_INIT;
    params.total_memory = limits->memory;
    params.largest_allocation = limits->max_page;
    params.slice_alignment = limits->alignment;
    if (limits->alignment > page_alignment)
        params.alignment = limits->alignment;
    return acre_storage_simulated_create(&params, NULL, storage, error);
}

// Half the physical memory: the other half is for everyone else.
static uint64_t host_memory(void) {
    long pages = sysconf(_SC_PHYS_PAGES);
    long page = sysconf(_SC_PAGESIZE);
    return pages > 0 && page > 0 ? (uint64_t)pages * (uint64_t)page / 2 : 0;
}

static acre_status create_host(const device_limits *limits, acre_storage **storage,
                               acre_error *error) {
    acre_host_storage_params params = ACRE_HOST_STORAGE_PARAMS_INIT;
    params.total_memory = limits->memory;
    params.largest_allocation = limits->max_page;
    params.alignment = HOST_PAGE;
    while (params.alignment < limits->alignment)
        params.alignment *= 2;
    return acre_storage_host_create(&params, NULL, storage, error);
}

const device_choice device_choices[] = {
    {"simulated", "bookkeeping only, 80 GiB", simulated_memory, create_simulated},
    {"host", "bytes of this machine, half its physical memory", host_memory, create_host},
};
const unsigned device_choice_count = sizeof(device_choices) / sizeof(device_choices[0]);

const device_choice *device_find(const char *name) {
    for (unsigned i = 0; i < device_choice_count; i++) {
        if (strcmp(device_choices[i].name, name) == 0)
            return &device_choices[i];
    }
    complain("--device: '%s' is no device, they are simulated and host", name);
    return NULL;
}

outcome device_limits_settle(const device_choice *device, device_limits *limits) {
    if (limits->memory == 0)
        limits->memory = device->default_memory();
    if (limits->memory == 0) {
        complain("the physical memory is not to be found out, --device-memory can say how much");
        return OUTCOME_FAILED;
    }
    if (limits->max_page == 0)
        limits->max_page = limits->memory / 4;
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
