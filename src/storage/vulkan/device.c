// The logical device and its queue.
#include "storage/vulkan/device.h"

#include "base/error.h"

// The caller's families are as many as the device has; more than this many nobody makes.
#define FAMILIES_MOST 64

// => UNSUPPORTED for a device that lacks what the storage is built on.
static acre_status check_device(const acre_vulkan_context *device, acre_error *error) {
    const acre_vulkan_facts *facts = &device->facts;
    uint32_t version = facts->properties.properties.api_version;
    if (version < ACRE_VK_VERSION(1, 2)) {
        return acre_error_set(error, ACRE_UNSUPPORTED,
                              "%.60s has Vulkan %u.%u, 1.2 is needed: install a newer driver",
                              facts->properties.properties.name, (unsigned)(version >> 22),
                              (unsigned)(version >> 12 & 0x3ff));
    }
    if (!facts->has_timeline) {
        return acre_error_set(error, ACRE_UNSUPPORTED,
                              "%.60s lacks timeline semaphores: install a newer driver",
                              facts->properties.properties.name);
    }
    return ACRE_OK;
}

// The first family that can compute, `wanted` or any (UINT32_MAX). What can compute can copy.
static bool find_family(const acre_vulkan_context *device, uint32_t wanted, uint32_t *family) {
    acre_vk_queue_family families[FAMILIES_MOST];
    uint32_t count = FAMILIES_MOST;
    device->api.get_queue_families(device->physical, &count, families);
    for (uint32_t i = 0; i < count; i++) {
        if ((families[i].flags & ACRE_VK_QUEUE_COMPUTE) != 0 && families[i].count > 0 &&
            (wanted == UINT32_MAX || wanted == i)) {
            *family = i;
            return true;
        }
    }
    return false;
}

static acre_status create_device(acre_vulkan_context *device, acre_error *error) {
    const float priority = 1;
    const char *budget = ACRE_VK_MEMORY_BUDGET;
    acre_vk_queue_info queue = {
        .type = ACRE_VK_QUEUE_INFO, .family = device->family, .count = 1, .priorities = &priority};
    acre_vk_address_feature address = {.type = ACRE_VK_ADDRESS_FEATURE, .buffer_device_address = 1};
    acre_vk_timeline_feature timeline = {.type = ACRE_VK_TIMELINE_FEATURE,
                                         .next = device->address ? &address : NULL,
                                         .timeline_semaphore = 1};
    acre_vk_device_info info = {.type = ACRE_VK_DEVICE_INFO,
                                .next = &timeline,
                                .queue_info_count = 1,
                                .queue_infos = &queue,
                                .extension_count = device->budget ? 1 : 0,
                                .extensions = &budget};
    acre_vk_result result = ACRE_VK_CALL(
        &device->script, device->api.create_device(device->physical, &info, NULL, &device->handle));
    if (result != ACRE_VK_SUCCESS) {
        device->handle = NULL;
        return acre_vk_refused(error, 0, result);
    }
    acre_status status = acre_vk_load_device(&device->api, device->handle, error);
    if (status != ACRE_OK && device->api.destroy_device == NULL) {
        device->handle = NULL; // nothing is there to end it with
    }
    return status;
}

acre_status acre_vulkan_device_make(acre_vulkan_context *device, const char *library,
                                    uint32_t index, acre_error *error) {
    device->owned = true;
    acre_status status = acre_vulkan_instance_open(device, library, error);
    status = status != ACRE_OK ? status : acre_vulkan_physical_take(device, index, error);
    status = status != ACRE_OK ? status : acre_vulkan_facts_read(device, error);
    status = status != ACRE_OK ? status : check_device(device, error);
    if (status != ACRE_OK) {
        return status;
    }
    if (!find_family(device, UINT32_MAX, &device->family)) {
        return acre_error_set(error, ACRE_UNSUPPORTED,
                              "%.60s has no queue that computes: choose another device",
                              device->facts.properties.properties.name);
    }
    device->address = device->facts.has_address;
    device->budget = device->facts.has_budget;
    status = create_device(device, error);
    if (status == ACRE_OK) {
        device->api.get_queue(device->handle, device->family, 0, &device->queue);
    }
    return status;
}

// ---- the caller's device -------------------------------------------------------------------

static const char *missing_object(const acre_vulkan_objects *objects) {
    if (objects->instance == NULL) {
        return "instance";
    }
    if (objects->physical == NULL) {
        return "physical";
    }
    if (objects->device == NULL) {
        return "device";
    }
    return objects->queue == NULL ? "queue" : NULL;
}

// What the caller says is on must be what the device has.
static acre_status check_claims(const acre_vulkan_context *device, acre_error *error) {
    uint32_t family;
    if (!find_family(device, device->family, &family)) {
        return acre_error_set(error, ACRE_INVALID_ARGUMENT,
                              "the caller's queue_family %u is none that computes",
                              (unsigned)device->family);
    }
    const char *claim = device->address && !device->facts.has_address ? "device_address"
                        : device->budget && !device->facts.has_budget ? "memory_budget"
                                                                      : NULL;
    if (claim != NULL) {
        return acre_error_set(error, ACRE_INVALID_ARGUMENT,
                              "the caller's %s cannot be on: the device does not have it", claim);
    }
    return ACRE_OK;
}

acre_status acre_vulkan_device_adopt(acre_vulkan_context *device, const char *library,
                                     const acre_vulkan_objects *objects, acre_error *error) {
    const char *missing = missing_object(objects);
    if (missing != NULL) {
        return acre_error_set(error, ACRE_INVALID_ARGUMENT,
                              "the caller's Vulkan objects lack the %s", missing);
    }
    device->instance = objects->instance;
    device->physical = objects->physical;
    device->queue = objects->queue;
    device->family = objects->queue_family;
    device->address = objects->device_address;
    device->budget = objects->memory_budget;
    device->api.get_instance_proc_addr = objects->get_instance_proc_addr;
    acre_status status = acre_vulkan_instance_open(device, library, error);
    status = status != ACRE_OK ? status : acre_vulkan_facts_read(device, error);
    status = status != ACRE_OK ? status : check_device(device, error);
    status = status != ACRE_OK ? status : check_claims(device, error);
    if (status != ACRE_OK) {
        return status;
    }
    device->handle = objects->device;
    return acre_vk_load_device(&device->api, device->handle, error);
}
