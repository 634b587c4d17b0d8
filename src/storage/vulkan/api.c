#include "storage/vulkan/api.h"

#include "base/error.h"

#include <string.h>

typedef struct entry {
    const char *name;
    size_t offset; // of its pointer in the table
} entry;

#define ENTRY(field, function)                                                                     \
    { #function, offsetof(acre_vk_api, field) }

static const entry instance_entries[] = {
    ENTRY(get_device_proc_addr, vkGetDeviceProcAddr),
    ENTRY(destroy_instance, vkDestroyInstance),
    ENTRY(enumerate_physical_devices, vkEnumeratePhysicalDevices),
    ENTRY(get_properties, vkGetPhysicalDeviceProperties2),
    ENTRY(get_features, vkGetPhysicalDeviceFeatures2),
    ENTRY(get_memory_properties, vkGetPhysicalDeviceMemoryProperties2),
    ENTRY(get_queue_families, vkGetPhysicalDeviceQueueFamilyProperties),
    ENTRY(enumerate_device_extensions, vkEnumerateDeviceExtensionProperties),
    ENTRY(create_device, vkCreateDevice),
};

static const entry device_entries[] = {
    ENTRY(destroy_device, vkDestroyDevice),
    ENTRY(get_queue, vkGetDeviceQueue),
    ENTRY(wait_idle, vkDeviceWaitIdle),
    ENTRY(create_buffer, vkCreateBuffer),
    ENTRY(destroy_buffer, vkDestroyBuffer),
    ENTRY(get_requirements, vkGetBufferMemoryRequirements),
    ENTRY(allocate_memory, vkAllocateMemory),
    ENTRY(free_memory, vkFreeMemory),
    ENTRY(bind_memory, vkBindBufferMemory),
    ENTRY(get_address, vkGetBufferDeviceAddress),
    ENTRY(map_memory, vkMapMemory),
    ENTRY(flush_ranges, vkFlushMappedMemoryRanges),
    ENTRY(invalidate_ranges, vkInvalidateMappedMemoryRanges),
    ENTRY(create_pool, vkCreateCommandPool),
    ENTRY(destroy_pool, vkDestroyCommandPool),
    ENTRY(allocate_commands, vkAllocateCommandBuffers),
    ENTRY(begin_commands, vkBeginCommandBuffer),
    ENTRY(end_commands, vkEndCommandBuffer),
    ENTRY(reset_commands, vkResetCommandBuffer),
    ENTRY(copy_buffer, vkCmdCopyBuffer),
    ENTRY(barrier, vkCmdPipelineBarrier),
    ENTRY(submit, vkQueueSubmit),
    ENTRY(create_semaphore, vkCreateSemaphore),
    ENTRY(destroy_semaphore, vkDestroySemaphore),
    ENTRY(get_semaphore_value, vkGetSemaphoreCounterValue),
    ENTRY(wait_semaphores, vkWaitSemaphores),
};

static acre_status load(acre_vk_api *api, acre_vk_lookup lookup, void *object, const entry *entries,
                        size_t count, acre_error *error) {
    for (size_t i = 0; i < count; i++) {
        acre_vk_function found = lookup(object, entries[i].name);
        if (found == NULL) {
            return acre_error_set(error, ACRE_UNSUPPORTED,
                                  "the Vulkan driver lacks %s: install one of Vulkan 1.2 or later",
                                  entries[i].name);
        }
        memcpy((char *)api + entries[i].offset, &found, sizeof found);
    }
    return ACRE_OK;
}

acre_status acre_vk_load_global(acre_vk_api *api, acre_error *error) {
    static const entry create[] = {ENTRY(create_instance, vkCreateInstance)};
    acre_vk_function version = api->get_instance_proc_addr(NULL, "vkEnumerateInstanceVersion");
    memcpy(&api->enumerate_instance_version, &version, sizeof version);
    return load(api, api->get_instance_proc_addr, NULL, create, 1, error);
}

acre_status acre_vk_load_instance(acre_vk_api *api, void *instance, acre_error *error) {
    return load(api, api->get_instance_proc_addr, instance, instance_entries,
                sizeof instance_entries / sizeof instance_entries[0], error);
}

acre_status acre_vk_load_device(acre_vk_api *api, void *device, acre_error *error) {
    return load(api, api->get_device_proc_addr, device, device_entries,
                sizeof device_entries / sizeof device_entries[0], error);
}

// ---- results -------------------------------------------------------------------------------

static const char *name_of(acre_vk_result result) {
    static const struct {
        acre_vk_result result;
        const char *name;
    } names[] = {
        {1, "VK_NOT_READY"},
        {2, "VK_TIMEOUT"},
        {5, "VK_INCOMPLETE"},
        {-1, "VK_ERROR_OUT_OF_HOST_MEMORY"},
        {-2, "VK_ERROR_OUT_OF_DEVICE_MEMORY"},
        {-3, "VK_ERROR_INITIALIZATION_FAILED"},
        {-4, "VK_ERROR_DEVICE_LOST"},
        {-5, "VK_ERROR_MEMORY_MAP_FAILED"},
        {-6, "VK_ERROR_LAYER_NOT_PRESENT"},
        {-7, "VK_ERROR_EXTENSION_NOT_PRESENT"},
        {-8, "VK_ERROR_FEATURE_NOT_PRESENT"},
        {-9, "VK_ERROR_INCOMPATIBLE_DRIVER"},
        {-10, "VK_ERROR_TOO_MANY_OBJECTS"},
        {-12, "VK_ERROR_FRAGMENTED_POOL"},
        {-13, "VK_ERROR_UNKNOWN"},
        {-1000011001, "VK_ERROR_VALIDATION_FAILED_EXT"},
        {-1000069000, "VK_ERROR_OUT_OF_POOL_MEMORY"},
        {-1000072003, "VK_ERROR_INVALID_EXTERNAL_HANDLE"},
        {-1000161000, "VK_ERROR_FRAGMENTATION"},
        {-1000174001, "VK_ERROR_NOT_PERMITTED_KHR"},
        {-1000257000, "VK_ERROR_INVALID_OPAQUE_CAPTURE_ADDRESS"},
    };
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        if (names[i].result == result) {
            return names[i].name;
        }
    }
    return "a VkResult of another version";
}

acre_status acre_vk_refused(acre_error *error, uint64_t size, acre_vk_result result) {
    acre_status status = ACRE_BACKEND_ERROR;
    if (result == ACRE_VK_OUT_OF_DEVICE_MEMORY || result == ACRE_VK_TOO_MANY_OBJECTS) {
        status = ACRE_OUT_OF_MEMORY;
    } else if (result == ACRE_VK_OUT_OF_HOST_MEMORY) {
        status = ACRE_OUT_OF_HOST_MEMORY;
    }
    return acre_error_native(error, status, size, result, name_of(result));
}
