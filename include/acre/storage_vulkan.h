// Vulkan: memory of one device through libvulkan.so.1, which is opened when a storage is made.
// Nothing of Vulkan is needed to build against this header or to start a program.
#ifndef ACRE_STORAGE_VULKAN_H
#define ACRE_STORAGE_VULKAN_H

#include <acre/storage.h>

// A device that the caller made, with Vulkan 1.2 or later and the feature timelineSemaphore. All of
// it outlives the storage.
typedef struct acre_vulkan_objects {
    size_t struct_size; // set by ACRE_VULKAN_OBJECTS_INIT
    void *instance;     // VkInstance
    void *physical;     // VkPhysicalDevice
    void *device;       // VkDevice
    // VkQueue, which can copy and compute. The storage submits to it on its thread; a caller that
    // submits elsewhere keeps the two apart.
    void *queue;
    uint32_t queue_family;
    bool device_address; // the feature bufferDeviceAddress is on
    bool memory_budget;  // the extension VK_EXT_memory_budget is on
    // PFN_vkGetInstanceProcAddr that the device was made through; NULL = the library's
    void (*(*get_instance_proc_addr)(void *instance, const char *name))(void);
} acre_vulkan_objects;

#if defined(__cplusplus)
#define ACRE_VULKAN_OBJECTS_INIT                                                                   \
    (acre_vulkan_objects{sizeof(acre_vulkan_objects), nullptr, nullptr, nullptr, nullptr, 0,       \
                         false, false, nullptr})
#else
#define ACRE_VULKAN_OBJECTS_INIT ((acre_vulkan_objects){.struct_size = sizeof(acre_vulkan_objects)})
#endif

typedef struct acre_vulkan_storage_params {
    size_t struct_size;                 // set by ACRE_VULKAN_STORAGE_PARAMS_INIT
    uint32_t device;                    // its number, as acre_device_info counts them
    const acre_vulkan_objects *objects; // the caller's own device; `device` is not looked at then
    // VkMemoryPropertyFlags: pages come from the first memory type with all of `required` that has
    // the most of `preferred`. 0 and 0 = DEVICE_LOCAL preferred.
    uint32_t required;
    uint32_t preferred;
    uint32_t buffer_usage;       // VkBufferUsageFlags beside storage and transfers
    uint64_t total_memory;       // bytes it will hold at most; 0, or more than that = the heap's
    uint64_t largest_allocation; // bytes of one page; 0 = the device's largest
    const char *library;         // path of the loader; NULL = libvulkan.so.1
} acre_vulkan_storage_params;

#if defined(__cplusplus)
#define ACRE_VULKAN_STORAGE_PARAMS_INIT                                                            \
    (acre_vulkan_storage_params{sizeof(acre_vulkan_storage_params), 0, nullptr, 0, 0, 0, 0, 0,     \
                                nullptr})
#else
#define ACRE_VULKAN_STORAGE_PARAMS_INIT                                                            \
    ((acre_vulkan_storage_params){.struct_size = sizeof(acre_vulkan_storage_params)})
#endif

ACRE_BEGIN_DECLS

// A storage of one memory type of one device. Each page is a VkDeviceMemory with one VkBuffer over
// all of it; resources are ACRE_RESOURCE_VULKAN. Slices start where a storage buffer may be bound
// (minStorageBufferOffsetAlignment; on memory that the host caches without coherence on multiples
// of nonCoherentAtomSize, too), unless a manager is given a smaller alignment. It takes no more
// allocations than maxMemoryAllocationCount, none larger than maxMemoryAllocationSize, and, where
// the device tells its budget, nothing beyond that: all OUT_OF_MEMORY. `params` and `hooks` may be
// NULL.
//
// UNSUPPORTED: no loader, no device, one without Vulkan 1.2 and timeline semaphores; the text says
// which and what to install. INVALID_ARGUMENT: no such device, no memory type with all of
// `required`, or objects that lack one. BACKEND_ERROR: what the driver said.
ACRE_API ACRE_CHECKED acre_status
acre_storage_vulkan_create(const acre_vulkan_storage_params *params, const acre_host_hooks *hooks,
                           acre_storage **storage, acre_error *error);

// What a program needs to submit work to the same device; they live as long as the storage.
// INVALID_ARGUMENT for a storage of another kind.
ACRE_API ACRE_CHECKED acre_status acre_storage_vulkan_objects(const acre_storage *storage,
                                                              acre_vulkan_objects *objects,
                                                              acre_error *error);

ACRE_END_DECLS

#endif
