// The storage's own declarations of Vulkan against the real header: every number, the size of every
// struct and the place of every field that is used. It holds when it compiles.
#include "support.h"

#if __has_include(<vulkan/vulkan.h>)

#define VK_NO_PROTOTYPES
#include <vulkan/vulkan.h>

#include "storage/vulkan/api.h"

#define SAME(ours, theirs) _Static_assert((int64_t)(ours) == (int64_t)(theirs), #theirs)
#define SIZE(ours, theirs)                                                                         \
    _Static_assert(sizeof(ours) == sizeof(theirs) && _Alignof(ours) == _Alignof(theirs), #theirs)
#define FIELD(ours, field, theirs, member)                                                         \
    _Static_assert(offsetof(ours, field) == offsetof(theirs, member) &&                            \
                       sizeof(((ours *)0)->field) == sizeof(((theirs *)0)->member),                \
                   #theirs "." #member)
// A struct that begins with its type and the next of its chain.
#define CHAINED(ours, theirs)                                                                      \
    SIZE(ours, theirs);                                                                            \
    FIELD(ours, type, theirs, sType);                                                              \
    FIELD(ours, next, theirs, pNext)

// ---- numbers -------------------------------------------------------------------------------

SAME(ACRE_VK_SUCCESS, VK_SUCCESS);
SAME(ACRE_VK_INCOMPLETE, VK_INCOMPLETE);
SAME(ACRE_VK_OUT_OF_HOST_MEMORY, VK_ERROR_OUT_OF_HOST_MEMORY);
SAME(ACRE_VK_OUT_OF_DEVICE_MEMORY, VK_ERROR_OUT_OF_DEVICE_MEMORY);
SAME(ACRE_VK_INCOMPATIBLE_DRIVER, VK_ERROR_INCOMPATIBLE_DRIVER);
SAME(ACRE_VK_TOO_MANY_OBJECTS, VK_ERROR_TOO_MANY_OBJECTS);
SAME(ACRE_VK_VERSION(1, 2), VK_API_VERSION_1_2);
SAME(ACRE_VK_VERSION(1, 3), VK_API_VERSION_1_3);
SAME(ACRE_VK_MAX_MEMORY_TYPES, VK_MAX_MEMORY_TYPES);
SAME(ACRE_VK_MAX_MEMORY_HEAPS, VK_MAX_MEMORY_HEAPS);
SAME(ACRE_VK_MAX_EXTENSION_NAME, VK_MAX_EXTENSION_NAME_SIZE);
SAME(ACRE_VK_MAX_DEVICE_NAME, VK_MAX_PHYSICAL_DEVICE_NAME_SIZE);
SAME(ACRE_VK_MAX_DRIVER_NAME, VK_MAX_DRIVER_NAME_SIZE);
SAME(ACRE_VK_MAX_DRIVER_NAME, VK_MAX_DRIVER_INFO_SIZE);
SAME(ACRE_VK_QUEUE_COMPUTE, VK_QUEUE_COMPUTE_BIT);
SAME(ACRE_VK_DEVICE_LOCAL, VK_MEMORY_PROPERTY_DEVICE_LOCAL_BIT);
SAME(ACRE_VK_HOST_VISIBLE, VK_MEMORY_PROPERTY_HOST_VISIBLE_BIT);
SAME(ACRE_VK_HOST_COHERENT, VK_MEMORY_PROPERTY_HOST_COHERENT_BIT);
SAME(ACRE_VK_HOST_CACHED, VK_MEMORY_PROPERTY_HOST_CACHED_BIT);
SAME(ACRE_VK_LAZILY_ALLOCATED, VK_MEMORY_PROPERTY_LAZILY_ALLOCATED_BIT);
SAME(ACRE_VK_PROTECTED, VK_MEMORY_PROPERTY_PROTECTED_BIT);
SAME(ACRE_VK_DEVICE_COHERENT_AMD, VK_MEMORY_PROPERTY_DEVICE_COHERENT_BIT_AMD);
SAME(ACRE_VK_DEVICE_UNCACHED_AMD, VK_MEMORY_PROPERTY_DEVICE_UNCACHED_BIT_AMD);
SAME(ACRE_VK_BUFFER_TRANSFER_SRC, VK_BUFFER_USAGE_TRANSFER_SRC_BIT);
SAME(ACRE_VK_BUFFER_TRANSFER_DST, VK_BUFFER_USAGE_TRANSFER_DST_BIT);
SAME(ACRE_VK_BUFFER_STORAGE, VK_BUFFER_USAGE_STORAGE_BUFFER_BIT);
SAME(ACRE_VK_BUFFER_DEVICE_ADDRESS, VK_BUFFER_USAGE_SHADER_DEVICE_ADDRESS_BIT);
SAME(ACRE_VK_ALLOCATE_DEVICE_ADDRESS, VK_MEMORY_ALLOCATE_DEVICE_ADDRESS_BIT);
SAME(ACRE_VK_POOL_RESET_COMMAND_BUFFER, VK_COMMAND_POOL_CREATE_RESET_COMMAND_BUFFER_BIT);
SAME(ACRE_VK_ONE_TIME_SUBMIT, VK_COMMAND_BUFFER_USAGE_ONE_TIME_SUBMIT_BIT);
SAME(ACRE_VK_STAGE_TRANSFER, VK_PIPELINE_STAGE_TRANSFER_BIT);
SAME(ACRE_VK_STAGE_HOST, VK_PIPELINE_STAGE_HOST_BIT);
SAME(ACRE_VK_STAGE_ALL_COMMANDS, VK_PIPELINE_STAGE_ALL_COMMANDS_BIT);
SAME(ACRE_VK_ACCESS_TRANSFER_READ, VK_ACCESS_TRANSFER_READ_BIT);
SAME(ACRE_VK_ACCESS_TRANSFER_WRITE, VK_ACCESS_TRANSFER_WRITE_BIT);
SAME(ACRE_VK_ACCESS_HOST_READ, VK_ACCESS_HOST_READ_BIT);
SAME(ACRE_VK_ACCESS_MEMORY_READ, VK_ACCESS_MEMORY_READ_BIT);
SAME(ACRE_VK_ACCESS_MEMORY_WRITE, VK_ACCESS_MEMORY_WRITE_BIT);
SAME(ACRE_VK_SEMAPHORE_TIMELINE, VK_SEMAPHORE_TYPE_TIMELINE);
_Static_assert(ACRE_VK_WHOLE_SIZE == VK_WHOLE_SIZE, "VK_WHOLE_SIZE");
// Not set where it is 0, as in structs whose other fields are named.
SAME(0, VK_COMMAND_BUFFER_LEVEL_PRIMARY);
SAME(0, VK_SHARING_MODE_EXCLUSIVE);

SAME(ACRE_VK_APPLICATION, VK_STRUCTURE_TYPE_APPLICATION_INFO);
SAME(ACRE_VK_INSTANCE_INFO, VK_STRUCTURE_TYPE_INSTANCE_CREATE_INFO);
SAME(ACRE_VK_QUEUE_INFO, VK_STRUCTURE_TYPE_DEVICE_QUEUE_CREATE_INFO);
SAME(ACRE_VK_DEVICE_INFO, VK_STRUCTURE_TYPE_DEVICE_CREATE_INFO);
SAME(ACRE_VK_SUBMIT, VK_STRUCTURE_TYPE_SUBMIT_INFO);
SAME(ACRE_VK_MEMORY_INFO, VK_STRUCTURE_TYPE_MEMORY_ALLOCATE_INFO);
SAME(ACRE_VK_MAPPED_RANGE, VK_STRUCTURE_TYPE_MAPPED_MEMORY_RANGE);
SAME(ACRE_VK_SEMAPHORE_INFO, VK_STRUCTURE_TYPE_SEMAPHORE_CREATE_INFO);
SAME(ACRE_VK_BUFFER_INFO, VK_STRUCTURE_TYPE_BUFFER_CREATE_INFO);
SAME(ACRE_VK_POOL_INFO, VK_STRUCTURE_TYPE_COMMAND_POOL_CREATE_INFO);
SAME(ACRE_VK_COMMANDS_INFO, VK_STRUCTURE_TYPE_COMMAND_BUFFER_ALLOCATE_INFO);
SAME(ACRE_VK_BEGIN_INFO, VK_STRUCTURE_TYPE_COMMAND_BUFFER_BEGIN_INFO);
SAME(ACRE_VK_MEMORY_BARRIER, VK_STRUCTURE_TYPE_MEMORY_BARRIER);
SAME(ACRE_VK_FEATURES, VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_FEATURES_2);
SAME(ACRE_VK_PROPERTIES, VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_PROPERTIES_2);
SAME(ACRE_VK_MEMORY_PROPERTIES, VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_MEMORY_PROPERTIES_2);
SAME(ACRE_VK_MEMORY_FLAGS, VK_STRUCTURE_TYPE_MEMORY_ALLOCATE_FLAGS_INFO);
SAME(ACRE_VK_MAINTENANCE3, VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_MAINTENANCE_3_PROPERTIES);
SAME(ACRE_VK_MAINTENANCE4, VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_MAINTENANCE_4_PROPERTIES);
SAME(ACRE_VK_DRIVER, VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_DRIVER_PROPERTIES);
SAME(ACRE_VK_TIMELINE_FEATURE, VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_TIMELINE_SEMAPHORE_FEATURES);
SAME(ACRE_VK_SEMAPHORE_TYPE, VK_STRUCTURE_TYPE_SEMAPHORE_TYPE_CREATE_INFO);
SAME(ACRE_VK_TIMELINE_SUBMIT, VK_STRUCTURE_TYPE_TIMELINE_SEMAPHORE_SUBMIT_INFO);
SAME(ACRE_VK_SEMAPHORE_WAIT, VK_STRUCTURE_TYPE_SEMAPHORE_WAIT_INFO);
SAME(ACRE_VK_BUDGET, VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_MEMORY_BUDGET_PROPERTIES_EXT);
SAME(ACRE_VK_BUFFER_ADDRESS, VK_STRUCTURE_TYPE_BUFFER_DEVICE_ADDRESS_INFO);
SAME(ACRE_VK_ADDRESS_FEATURE, VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_BUFFER_DEVICE_ADDRESS_FEATURES);

// ---- structs -------------------------------------------------------------------------------

CHAINED(acre_vk_application, VkApplicationInfo);
FIELD(acre_vk_application, name, VkApplicationInfo, pApplicationName);
FIELD(acre_vk_application, api_version, VkApplicationInfo, apiVersion);

CHAINED(acre_vk_instance_info, VkInstanceCreateInfo);
FIELD(acre_vk_instance_info, application, VkInstanceCreateInfo, pApplicationInfo);
FIELD(acre_vk_instance_info, layer_count, VkInstanceCreateInfo, enabledLayerCount);
FIELD(acre_vk_instance_info, layers, VkInstanceCreateInfo, ppEnabledLayerNames);
FIELD(acre_vk_instance_info, extension_count, VkInstanceCreateInfo, enabledExtensionCount);
FIELD(acre_vk_instance_info, extensions, VkInstanceCreateInfo, ppEnabledExtensionNames);

CHAINED(acre_vk_queue_info, VkDeviceQueueCreateInfo);
FIELD(acre_vk_queue_info, family, VkDeviceQueueCreateInfo, queueFamilyIndex);
FIELD(acre_vk_queue_info, count, VkDeviceQueueCreateInfo, queueCount);
FIELD(acre_vk_queue_info, priorities, VkDeviceQueueCreateInfo, pQueuePriorities);

CHAINED(acre_vk_device_info, VkDeviceCreateInfo);
FIELD(acre_vk_device_info, queue_info_count, VkDeviceCreateInfo, queueCreateInfoCount);
FIELD(acre_vk_device_info, queue_infos, VkDeviceCreateInfo, pQueueCreateInfos);
FIELD(acre_vk_device_info, extension_count, VkDeviceCreateInfo, enabledExtensionCount);
FIELD(acre_vk_device_info, extensions, VkDeviceCreateInfo, ppEnabledExtensionNames);

SIZE(acre_vk_extension, VkExtensionProperties);
FIELD(acre_vk_extension, name, VkExtensionProperties, extensionName);
SIZE(acre_vk_queue_family, VkQueueFamilyProperties);
FIELD(acre_vk_queue_family, flags, VkQueueFamilyProperties, queueFlags);
FIELD(acre_vk_queue_family, count, VkQueueFamilyProperties, queueCount);

SIZE(acre_vk_limits, VkPhysicalDeviceLimits);
FIELD(acre_vk_limits, max_memory_allocation_count, VkPhysicalDeviceLimits,
      maxMemoryAllocationCount);
FIELD(acre_vk_limits, min_memory_map_alignment, VkPhysicalDeviceLimits, minMemoryMapAlignment);
FIELD(acre_vk_limits, min_storage_buffer_offset_alignment, VkPhysicalDeviceLimits,
      minStorageBufferOffsetAlignment);
FIELD(acre_vk_limits, non_coherent_atom_size, VkPhysicalDeviceLimits, nonCoherentAtomSize);

CHAINED(acre_vk_properties, VkPhysicalDeviceProperties2);
FIELD(acre_vk_properties, properties, VkPhysicalDeviceProperties2, properties);
FIELD(acre_vk_properties, properties.api_version, VkPhysicalDeviceProperties2,
      properties.apiVersion);
FIELD(acre_vk_properties, properties.name, VkPhysicalDeviceProperties2, properties.deviceName);
FIELD(acre_vk_properties, properties.limits, VkPhysicalDeviceProperties2, properties.limits);

CHAINED(acre_vk_maintenance3, VkPhysicalDeviceMaintenance3Properties);
FIELD(acre_vk_maintenance3, max_memory_allocation_size, VkPhysicalDeviceMaintenance3Properties,
      maxMemoryAllocationSize);
CHAINED(acre_vk_maintenance4, VkPhysicalDeviceMaintenance4Properties);
FIELD(acre_vk_maintenance4, max_buffer_size, VkPhysicalDeviceMaintenance4Properties, maxBufferSize);
CHAINED(acre_vk_driver, VkPhysicalDeviceDriverProperties);
FIELD(acre_vk_driver, name, VkPhysicalDeviceDriverProperties, driverName);
FIELD(acre_vk_driver, info, VkPhysicalDeviceDriverProperties, driverInfo);
CHAINED(acre_vk_features, VkPhysicalDeviceFeatures2);
FIELD(acre_vk_features, features, VkPhysicalDeviceFeatures2, features);
CHAINED(acre_vk_timeline_feature, VkPhysicalDeviceTimelineSemaphoreFeatures);
FIELD(acre_vk_timeline_feature, timeline_semaphore, VkPhysicalDeviceTimelineSemaphoreFeatures,
      timelineSemaphore);
CHAINED(acre_vk_address_feature, VkPhysicalDeviceBufferDeviceAddressFeatures);
FIELD(acre_vk_address_feature, buffer_device_address, VkPhysicalDeviceBufferDeviceAddressFeatures,
      bufferDeviceAddress);

CHAINED(acre_vk_memory_properties, VkPhysicalDeviceMemoryProperties2);
FIELD(acre_vk_memory_properties, memory, VkPhysicalDeviceMemoryProperties2, memoryProperties);
FIELD(acre_vk_memory_properties, memory.types, VkPhysicalDeviceMemoryProperties2,
      memoryProperties.memoryTypes);
FIELD(acre_vk_memory_properties, memory.types[1].heap, VkPhysicalDeviceMemoryProperties2,
      memoryProperties.memoryTypes[1].heapIndex);
FIELD(acre_vk_memory_properties, memory.heap_count, VkPhysicalDeviceMemoryProperties2,
      memoryProperties.memoryHeapCount);
FIELD(acre_vk_memory_properties, memory.heaps[1].size, VkPhysicalDeviceMemoryProperties2,
      memoryProperties.memoryHeaps[1].size);
CHAINED(acre_vk_budget, VkPhysicalDeviceMemoryBudgetPropertiesEXT);
FIELD(acre_vk_budget, budget, VkPhysicalDeviceMemoryBudgetPropertiesEXT, heapBudget);
FIELD(acre_vk_budget, usage, VkPhysicalDeviceMemoryBudgetPropertiesEXT, heapUsage);

CHAINED(acre_vk_buffer_info, VkBufferCreateInfo);
FIELD(acre_vk_buffer_info, size, VkBufferCreateInfo, size);
FIELD(acre_vk_buffer_info, usage, VkBufferCreateInfo, usage);
SIZE(acre_vk_requirements, VkMemoryRequirements);
FIELD(acre_vk_requirements, size, VkMemoryRequirements, size);
FIELD(acre_vk_requirements, alignment, VkMemoryRequirements, alignment);
FIELD(acre_vk_requirements, types, VkMemoryRequirements, memoryTypeBits);
CHAINED(acre_vk_memory_info, VkMemoryAllocateInfo);
FIELD(acre_vk_memory_info, size, VkMemoryAllocateInfo, allocationSize);
FIELD(acre_vk_memory_info, memory_type, VkMemoryAllocateInfo, memoryTypeIndex);
CHAINED(acre_vk_memory_flags, VkMemoryAllocateFlagsInfo);
FIELD(acre_vk_memory_flags, flags, VkMemoryAllocateFlagsInfo, flags);
CHAINED(acre_vk_mapped_range, VkMappedMemoryRange);
FIELD(acre_vk_mapped_range, memory, VkMappedMemoryRange, memory);
FIELD(acre_vk_mapped_range, offset, VkMappedMemoryRange, offset);
FIELD(acre_vk_mapped_range, size, VkMappedMemoryRange, size);
CHAINED(acre_vk_buffer_address, VkBufferDeviceAddressInfo);
FIELD(acre_vk_buffer_address, buffer, VkBufferDeviceAddressInfo, buffer);

CHAINED(acre_vk_pool_info, VkCommandPoolCreateInfo);
FIELD(acre_vk_pool_info, flags, VkCommandPoolCreateInfo, flags);
FIELD(acre_vk_pool_info, family, VkCommandPoolCreateInfo, queueFamilyIndex);
CHAINED(acre_vk_commands_info, VkCommandBufferAllocateInfo);
FIELD(acre_vk_commands_info, pool, VkCommandBufferAllocateInfo, commandPool);
FIELD(acre_vk_commands_info, count, VkCommandBufferAllocateInfo, commandBufferCount);
CHAINED(acre_vk_begin_info, VkCommandBufferBeginInfo);
FIELD(acre_vk_begin_info, flags, VkCommandBufferBeginInfo, flags);
CHAINED(acre_vk_memory_barrier, VkMemoryBarrier);
FIELD(acre_vk_memory_barrier, source_access, VkMemoryBarrier, srcAccessMask);
FIELD(acre_vk_memory_barrier, target_access, VkMemoryBarrier, dstAccessMask);
SIZE(acre_vk_buffer_copy, VkBufferCopy);
FIELD(acre_vk_buffer_copy, source, VkBufferCopy, srcOffset);
FIELD(acre_vk_buffer_copy, target, VkBufferCopy, dstOffset);
FIELD(acre_vk_buffer_copy, size, VkBufferCopy, size);
CHAINED(acre_vk_submit, VkSubmitInfo);
FIELD(acre_vk_submit, wait_count, VkSubmitInfo, waitSemaphoreCount);
FIELD(acre_vk_submit, waits, VkSubmitInfo, pWaitSemaphores);
FIELD(acre_vk_submit, wait_stages, VkSubmitInfo, pWaitDstStageMask);
FIELD(acre_vk_submit, command_count, VkSubmitInfo, commandBufferCount);
FIELD(acre_vk_submit, commands, VkSubmitInfo, pCommandBuffers);
FIELD(acre_vk_submit, signal_count, VkSubmitInfo, signalSemaphoreCount);
FIELD(acre_vk_submit, signals, VkSubmitInfo, pSignalSemaphores);
CHAINED(acre_vk_timeline_submit, VkTimelineSemaphoreSubmitInfo);
FIELD(acre_vk_timeline_submit, wait_count, VkTimelineSemaphoreSubmitInfo, waitSemaphoreValueCount);
FIELD(acre_vk_timeline_submit, waits, VkTimelineSemaphoreSubmitInfo, pWaitSemaphoreValues);
FIELD(acre_vk_timeline_submit, signal_count, VkTimelineSemaphoreSubmitInfo,
      signalSemaphoreValueCount);
FIELD(acre_vk_timeline_submit, signals, VkTimelineSemaphoreSubmitInfo, pSignalSemaphoreValues);
CHAINED(acre_vk_semaphore_type, VkSemaphoreTypeCreateInfo);
FIELD(acre_vk_semaphore_type, semaphore_type, VkSemaphoreTypeCreateInfo, semaphoreType);
FIELD(acre_vk_semaphore_type, initial, VkSemaphoreTypeCreateInfo, initialValue);
CHAINED(acre_vk_semaphore_info, VkSemaphoreCreateInfo);
CHAINED(acre_vk_semaphore_wait, VkSemaphoreWaitInfo);
FIELD(acre_vk_semaphore_wait, count, VkSemaphoreWaitInfo, semaphoreCount);
FIELD(acre_vk_semaphore_wait, semaphores, VkSemaphoreWaitInfo, pSemaphores);
FIELD(acre_vk_semaphore_wait, values, VkSemaphoreWaitInfo, pValues);

// ---- names ---------------------------------------------------------------------------------

static void the_extension_has_the_name_of_the_header(void **state) {
    (void)state;
    assert_string_equal(ACRE_VK_MEMORY_BUDGET, VK_EXT_MEMORY_BUDGET_EXTENSION_NAME);
}

static void results_have_the_names_of_the_header(void **state) {
    (void)state;
#define NAMED(result)                                                                              \
    {                                                                                              \
        acre_error error = ACRE_ERROR_INIT;                                                        \
        (void)acre_vk_refused(&error, 0, (acre_vk_result)(result));                                \
        assert_string_equal(error.native_text, #result);                                           \
    }
    NAMED(VK_NOT_READY)
    NAMED(VK_TIMEOUT)
    NAMED(VK_INCOMPLETE)
    NAMED(VK_ERROR_OUT_OF_HOST_MEMORY)
    NAMED(VK_ERROR_OUT_OF_DEVICE_MEMORY)
    NAMED(VK_ERROR_INITIALIZATION_FAILED)
    NAMED(VK_ERROR_DEVICE_LOST)
    NAMED(VK_ERROR_MEMORY_MAP_FAILED)
    NAMED(VK_ERROR_LAYER_NOT_PRESENT)
    NAMED(VK_ERROR_EXTENSION_NOT_PRESENT)
    NAMED(VK_ERROR_FEATURE_NOT_PRESENT)
    NAMED(VK_ERROR_INCOMPATIBLE_DRIVER)
    NAMED(VK_ERROR_TOO_MANY_OBJECTS)
    NAMED(VK_ERROR_FRAGMENTED_POOL)
    NAMED(VK_ERROR_UNKNOWN)
    NAMED(VK_ERROR_VALIDATION_FAILED_EXT)
    NAMED(VK_ERROR_OUT_OF_POOL_MEMORY)
    NAMED(VK_ERROR_INVALID_EXTERNAL_HANDLE)
    NAMED(VK_ERROR_FRAGMENTATION)
    NAMED(VK_ERROR_NOT_PERMITTED_KHR)
    NAMED(VK_ERROR_INVALID_OPAQUE_CAPTURE_ADDRESS)
#undef NAMED
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_extension_has_the_name_of_the_header),
        cmocka_unit_test(results_have_the_names_of_the_header),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

#else

int main(void) {
    fprintf(stderr, "vulkan_abi: built without Vulkan's headers (Debian: libvulkan-dev)\n");
    return 77;
}

#endif
