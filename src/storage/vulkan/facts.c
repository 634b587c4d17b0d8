// What a physical device says of itself.
#include "storage/vulkan/device.h"

#include "base/bits.h"
#include "base/error.h"

#include <string.h>

static uint32_t version_of(const acre_vulkan_context *device) {
    return device->facts.properties.properties.api_version;
}

static bool names_budget(const acre_vk_extension *extensions, uint32_t count) {
    for (uint32_t i = 0; i < count; i++) {
        if (strncmp(extensions[i].name, ACRE_VK_MEMORY_BUDGET, sizeof extensions[i].name) == 0) {
            return true;
        }
    }
    return false;
}

static acre_status look_for_budget(acre_vulkan_context *device, acre_error *error) {
    uint32_t count = 0;
    acre_vk_result result =
        ACRE_VK_CALL(&device->script,
                     device->api.enumerate_device_extensions(device->physical, NULL, &count, NULL));
    if (result != ACRE_VK_SUCCESS) {
        return acre_vk_refused(error, 0, result);
    }
    if (count == 0) {
        return ACRE_OK;
    }
    size_t size = count * sizeof(acre_vk_extension);
    acre_vk_extension *all = acre_host_alloc(device->host, size, _Alignof(acre_vk_extension));
    if (all == NULL) {
        return acre_error_refuse(error, ACRE_OUT_OF_HOST_MEMORY, size);
    }
    uint32_t given = count;
    result =
        ACRE_VK_CALL(&device->script,
                     device->api.enumerate_device_extensions(device->physical, NULL, &given, all));
    bool whole = result == ACRE_VK_SUCCESS || result == ACRE_VK_INCOMPLETE;
    device->facts.has_budget = whole && names_budget(all, given < count ? given : count);
    acre_host_free(device->host, all, size, _Alignof(acre_vk_extension));
    return whole ? ACRE_OK : acre_vk_refused(error, 0, result);
}

// Structs of Vulkan 1.2 and, where the instance is known to have been made for it, of 1.3.
static void read_properties(acre_vulkan_context *device) {
    acre_vulkan_facts *facts = &device->facts;
    facts->properties = (acre_vk_properties){.type = ACRE_VK_PROPERTIES};
    device->api.get_properties(device->physical, &facts->properties);
    uint32_t version = version_of(device);
    if (version < ACRE_VK_VERSION(1, 2)) {
        return;
    }
    acre_vk_maintenance4 maintenance4 = {.type = ACRE_VK_MAINTENANCE4};
    acre_vk_maintenance3 maintenance3 = {.type = ACRE_VK_MAINTENANCE3};
    if (device->owned && version >= ACRE_VK_VERSION(1, 3)) {
        maintenance3.next = &maintenance4;
    }
    facts->driver = (acre_vk_driver){.type = ACRE_VK_DRIVER, .next = &maintenance3};
    facts->properties.next = &facts->driver;
    device->api.get_properties(device->physical, &facts->properties);
    facts->properties.next = NULL;
    facts->driver.next = NULL;
    facts->largest_allocation = maintenance3.max_memory_allocation_size;
    if (maintenance4.max_buffer_size != 0) {
        facts->largest_allocation =
            acre_min(facts->largest_allocation, maintenance4.max_buffer_size);
    }
}

static void read_features(acre_vulkan_context *device) {
    if (version_of(device) < ACRE_VK_VERSION(1, 2)) {
        return;
    }
    acre_vk_address_feature address = {.type = ACRE_VK_ADDRESS_FEATURE};
    acre_vk_timeline_feature timeline = {.type = ACRE_VK_TIMELINE_FEATURE, .next = &address};
    acre_vk_features features = {.type = ACRE_VK_FEATURES, .next = &timeline};
    device->api.get_features(device->physical, &features);
    device->facts.has_timeline = timeline.timeline_semaphore != 0;
    device->facts.has_address = address.buffer_device_address != 0;
}

acre_status acre_vulkan_facts_read(acre_vulkan_context *device, acre_error *error) {
    memset(&device->facts, 0, sizeof device->facts);
    read_properties(device);
    read_features(device);
    device->facts.memory = (acre_vk_memory_properties){.type = ACRE_VK_MEMORY_PROPERTIES};
    device->api.get_memory_properties(device->physical, &device->facts.memory);
    return look_for_budget(device, error);
}
