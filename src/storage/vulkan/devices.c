// The Vulkan devices of this machine, in the loader's order.
#include "storage/backend.h"
#include "storage/vulkan/device.h"
#include "storage/vulkan/memory_type.h"

#include "base/bits.h"
#include "base/error.h"

#include <stdio.h>

static acre_status open_instance(acre_vulkan_context *device, acre_host *host, acre_error *error) {
    acre_status status = acre_host_init(host, NULL, error);
    *device = (acre_vulkan_context){.host = host, .owned = true};
    return status != ACRE_OK ? status : acre_vulkan_instance_open(device, NULL, error);
}

acre_status acre_vulkan_devices(uint32_t *count, acre_error *error) {
    acre_vulkan_context device;
    acre_host host;
    acre_status status = open_instance(&device, &host, error);
    status = status != ACRE_OK ? status : acre_vulkan_physical_count(&device, count, error);
    acre_vulkan_close(&device);
    return status;
}

static void describe(const acre_vulkan_facts *facts, acre_device_info *info) {
    acre_vulkan_memory_type type;
    uint32_t version = facts->properties.properties.api_version;
    snprintf(info->name, sizeof info->name, "%.127s", facts->properties.properties.name);
    snprintf(info->driver, sizeof info->driver, "Vulkan %u.%u, %.24s %.40s",
             (unsigned)(version >> 22), (unsigned)(version >> 12 & 0x3ff), facts->driver.name,
             facts->driver.info);
    if (acre_vulkan_memory_type_find(&facts->memory, UINT32_MAX, 0, 0, &type)) {
        info->total_memory = type.heap_size;
        info->largest_allocation = acre_min(facts->largest_allocation, type.heap_size);
    }
}

acre_status acre_vulkan_device(uint32_t index, acre_device_info *info, acre_error *error) {
    acre_vulkan_context device;
    acre_host host;
    acre_status status = open_instance(&device, &host, error);
    status = status != ACRE_OK ? status : acre_vulkan_physical_take(&device, index, error);
    status = status != ACRE_OK ? status : acre_vulkan_facts_read(&device, error);
    if (status == ACRE_OK) {
        describe(&device.facts, info);
    }
    acre_vulkan_close(&device);
    return status;
}
