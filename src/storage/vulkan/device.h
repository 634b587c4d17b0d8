// The device that a storage works on: the library, an instance, what a physical device says of
// itself, and the logical device with its queue; the storage's own or the caller's.
#ifndef ACRE_STORAGE_VULKAN_DEVICE_H
#define ACRE_STORAGE_VULKAN_DEVICE_H

#include <acre/storage_vulkan.h>

#include "base/host.h"
#include "storage/vulkan/api.h"

// What a physical device says.
typedef struct acre_vulkan_facts {
    acre_vk_properties properties;
    acre_vk_memory_properties memory;
    acre_vk_driver driver;       // empty before Vulkan 1.2
    uint64_t largest_allocation; // bytes of one memory, and of one buffer where that is known
    bool has_timeline;
    bool has_address;
    bool has_budget;
} acre_vulkan_facts;

typedef struct acre_vulkan_context {
    acre_host *host;
    acre_script script;
    acre_vk_api api;
    acre_vulkan_facts facts;
    bool owned; // instance and device are the storage's own
    void *instance;
    void *physical;
    void *handle; // VkDevice
    void *queue;
    uint32_t family;
    bool address;         // the feature bufferDeviceAddress is on
    bool budget;          // VK_EXT_memory_budget is on
    uint32_t allocations; // memories held now
} acre_vulkan_context;

// Opens the loader and makes an instance. => UNSUPPORTED with what is missing and what to install.
acre_status acre_vulkan_instance_open(acre_vulkan_context *device, const char *library,
                                      acre_error *error);
// Ends what is there of the device and the instance, when they are the storage's own.
void acre_vulkan_close(acre_vulkan_context *device);

// How many physical devices the instance has. => UNSUPPORTED when there is none.
acre_status acre_vulkan_physical_count(acre_vulkan_context *device, uint32_t *count,
                                       acre_error *error);
// Takes the physical device of a number. => INVALID_ARGUMENT past the last one.
acre_status acre_vulkan_physical_take(acre_vulkan_context *device, uint32_t index,
                                      acre_error *error);

// Asks the physical device.
acre_status acre_vulkan_facts_read(acre_vulkan_context *device, acre_error *error);

// An instance and a device of the storage's own, or the caller's objects after a look at them.
acre_status acre_vulkan_device_make(acre_vulkan_context *device, const char *library,
                                    uint32_t index, acre_error *error);
acre_status acre_vulkan_device_adopt(acre_vulkan_context *device, const char *library,
                                     const acre_vulkan_objects *objects, acre_error *error);

#endif
