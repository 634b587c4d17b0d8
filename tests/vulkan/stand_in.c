#include "vulkan/stand_in.h"

#include "storage/vulkan/api.h"

#include <dlfcn.h>
#include <string.h>

#define EXPORT __attribute__((visibility("default")))

EXPORT vulkan_stand_in acre_vulkan_stand_in;
#define own acre_vulkan_stand_in

static acre_vk_api real; // of the instance and the device made last: tests have one at a time

static bool fails(void) {
    own.calls++;
    return own.fail_at != 0 &&
           (own.calls == own.fail_at || (own.and_after && own.calls > own.fail_at));
}

#define FAIL_ON_ORDER                                                                              \
    if (fails())                                                                                   \
    return own.code

// => result, after counting an object that was made.
static acre_vk_result made(acre_vk_result result) {
    own.live += result == ACRE_VK_SUCCESS;
    return result;
}

static void open_real(void) {
    if (real.get_instance_proc_addr == NULL) {
        void *library = dlopen("libvulkan.so.1", RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);
        void *entry = library == NULL ? NULL : dlsym(library, "vkGetInstanceProcAddr");
        memcpy(&real.get_instance_proc_addr, &entry, sizeof entry);
    }
}

// ---- instances and devices -----------------------------------------------------------------

static acre_vk_result enumerate_instance_version(uint32_t *version) {
    FAIL_ON_ORDER;
    *version = own.version != 0 ? own.version : ACRE_VK_VERSION(1, 3);
    return ACRE_VK_SUCCESS;
}

static acre_vk_result create_instance(const acre_vk_instance_info *info, const void *hooks,
                                      void **instance) {
    FAIL_ON_ORDER;
    if (own.no_driver) {
        return ACRE_VK_INCOMPATIBLE_DRIVER;
    }
    open_real();
    acre_error error = ACRE_ERROR_INIT;
    if (real.get_instance_proc_addr == NULL || acre_vk_load_global(&real, &error) != ACRE_OK) {
        return ACRE_VK_INCOMPATIBLE_DRIVER;
    }
    acre_vk_result result = real.create_instance(info, hooks, instance);
    if (result == ACRE_VK_SUCCESS) {
        (void)acre_vk_load_instance(&real, *instance, &error);
    }
    return made(result);
}

static void destroy_instance(void *instance, const void *hooks) {
    own.live--;
    real.destroy_instance(instance, hooks);
}

static acre_vk_result enumerate_physical_devices(void *instance, uint32_t *count, void **devices) {
    FAIL_ON_ORDER;
    if (own.no_devices) {
        *count = 0;
        return ACRE_VK_SUCCESS;
    }
    return real.enumerate_physical_devices(instance, count, devices);
}

static void get_properties(void *physical, acre_vk_properties *properties) {
    real.get_properties(physical, properties);
    acre_vk_limits *limits = &properties->properties.limits;
    if (own.device_version != 0) {
        properties->properties.api_version = own.device_version;
    }
    if (own.max_count != 0) {
        limits->max_memory_allocation_count = own.max_count;
    }
    for (acre_vk_properties *next = properties->next; next != NULL; next = next->next) {
        if (next->type == ACRE_VK_MAINTENANCE3 && own.max_size != 0) {
            ((acre_vk_maintenance3 *)(void *)next)->max_memory_allocation_size = own.max_size;
        } else if (next->type == ACRE_VK_MAINTENANCE4 && own.max_buffer != 0) {
            ((acre_vk_maintenance4 *)(void *)next)->max_buffer_size = own.max_buffer;
        }
    }
}

static void get_features(void *physical, acre_vk_features *features) {
    real.get_features(physical, features);
    for (acre_vk_features *next = features->next; next != NULL; next = next->next) {
        if (next->type == ACRE_VK_TIMELINE_FEATURE && own.no_timeline) {
            ((acre_vk_timeline_feature *)(void *)next)->timeline_semaphore = 0;
        } else if (next->type == ACRE_VK_ADDRESS_FEATURE && own.no_address) {
            ((acre_vk_address_feature *)(void *)next)->buffer_device_address = 0;
        }
    }
}

static void get_memory_properties(void *physical, acre_vk_memory_properties *properties) {
    acre_vk_budget *budget = properties->next;
    if (own.has_budget) { // the real device may not know the struct
        properties->next = NULL;
    }
    real.get_memory_properties(physical, properties);
    if (own.type_count != 0) {
        properties->memory.type_count = own.type_count;
        properties->memory.heap_count = own.type_count;
        for (uint32_t i = 0; i < own.type_count; i++) {
            properties->memory.types[i].flags = own.type_flags[i];
            properties->memory.types[i].heap = i;
            properties->memory.heaps[i].size = own.heap_size;
        }
    }
    if (own.has_budget && budget != NULL) {
        properties->next = budget;
        for (uint32_t i = 0; i < ACRE_VK_MAX_MEMORY_HEAPS; i++) {
            budget->budget[i] = own.budget;
            budget->usage[i] = own.usage;
        }
    }
}

static void get_queue_families(void *physical, uint32_t *count, acre_vk_queue_family *families) {
    real.get_queue_families(physical, count, families);
    for (uint32_t i = 0; i < *count && families != NULL; i++) {
        if (own.no_compute) {
            families[i].flags &= ~(uint32_t)ACRE_VK_QUEUE_COMPUTE;
        }
        if (own.second_queue) {
            families[i].count = 2;
        }
    }
}

static acre_vk_result enumerate_device_extensions(void *physical, const char *layer,
                                                  uint32_t *count, acre_vk_extension *extensions) {
    FAIL_ON_ORDER;
    if (!own.has_budget) {
        return real.enumerate_device_extensions(physical, layer, count, extensions);
    }
    if (extensions != NULL) {
        *extensions = (acre_vk_extension){ACRE_VK_MEMORY_BUDGET, 1};
    }
    *count = 1;
    return ACRE_VK_SUCCESS;
}

static acre_vk_result create_device(void *physical, const acre_vk_device_info *info,
                                    const void *hooks, void **device) {
    FAIL_ON_ORDER;
    acre_vk_device_info given = *info;
    acre_vk_queue_info queue = *info->queue_infos;
    if (own.has_budget) {
        given.extension_count = 0;
    }
    if (own.second_queue) {
        queue.count = 1;
        given.queue_infos = &queue;
    }
    acre_vk_result result = real.create_device(physical, &given, hooks, device);
    if (result == ACRE_VK_SUCCESS) {
        acre_error error = ACRE_ERROR_INIT;
        (void)acre_vk_load_device(&real, *device, &error);
    }
    return made(result);
}

static void destroy_device(void *device, const void *hooks) {
    own.live--;
    real.destroy_device(device, hooks);
}

// ---- queues --------------------------------------------------------------------------------

static void *first_queue;
static char second_queue; // whose address is its handle

static void get_queue(void *device, uint32_t family, uint32_t index, void **queue) {
    if (own.second_queue && index == 1) {
        *queue = &second_queue;
        return;
    }
    real.get_queue(device, family, index, queue);
    first_queue = *queue;
}

static acre_vk_result submit(void *queue, uint32_t count, const acre_vk_submit *submits,
                             acre_vk_handle fence) {
    FAIL_ON_ORDER;
    return real.submit(queue == &second_queue ? first_queue : queue, count, submits, fence);
}

static acre_vk_result wait_idle(void *device) {
    FAIL_ON_ORDER;
    return real.wait_idle(device);
}

// ---- memory --------------------------------------------------------------------------------

enum {
    REMEMBERED = 4096
};

static struct {
    acre_vk_handle memory;
    uint32_t type;
    uint64_t size;
} remembered[REMEMBERED];

static uint32_t slot_of(acre_vk_handle memory) {
    uint32_t i = 0;
    while (i < REMEMBERED - 1 && remembered[i].memory != memory) {
        i++;
    }
    return i;
}

static uint32_t flags_of(acre_vk_handle memory) {
    return own.type_count == 0 ? UINT32_MAX : own.type_flags[remembered[slot_of(memory)].type];
}

static acre_vk_result create_buffer(void *device, const acre_vk_buffer_info *info,
                                    const void *hooks, acre_vk_handle *buffer) {
    FAIL_ON_ORDER;
    return made(real.create_buffer(device, info, hooks, buffer));
}

static void destroy_buffer(void *device, acre_vk_handle buffer, const void *hooks) {
    own.live--;
    real.destroy_buffer(device, buffer, hooks);
}

static void get_requirements(void *device, acre_vk_handle buffer, acre_vk_requirements *needs) {
    real.get_requirements(device, buffer, needs);
    needs->size += own.extra;
    if (own.type_count != 0) {
        needs->types = (UINT32_C(1) << own.type_count) - 1;
    }
    if (own.buffer_types != 0) {
        needs->types &= own.buffer_types;
    }
}

static acre_vk_result allocate_memory(void *device, const acre_vk_memory_info *info,
                                      const void *hooks, acre_vk_handle *memory) {
    FAIL_ON_ORDER;
    acre_vk_memory_info given = *info;
    given.memory_type = own.type_count != 0 ? 0 : info->memory_type;
    own.last_memory_type = (int32_t)info->memory_type;
    own.faults += own.max_size != 0 && info->size > own.max_size;
    own.faults += own.max_count != 0 && own.memories >= own.max_count;
    acre_vk_result result = real.allocate_memory(device, &given, hooks, memory);
    if (result == ACRE_VK_SUCCESS) {
        uint32_t slot = slot_of(0);
        remembered[slot].memory = *memory;
        remembered[slot].type = info->memory_type;
        remembered[slot].size = info->size;
        own.memories++;
    }
    return made(result);
}

static void free_memory(void *device, acre_vk_handle memory, const void *hooks) {
    own.live--;
    own.memories--;
    remembered[slot_of(memory)].memory = 0;
    real.free_memory(device, memory, hooks);
}

static acre_vk_result bind_memory(void *device, acre_vk_handle buffer, acre_vk_handle memory,
                                  uint64_t offset) {
    FAIL_ON_ORDER;
    return real.bind_memory(device, buffer, memory, offset);
}

static acre_vk_result map_memory(void *device, acre_vk_handle memory, uint64_t offset,
                                 uint64_t size, uint32_t flags, void **bytes) {
    FAIL_ON_ORDER;
    own.faults += (flags_of(memory) & ACRE_VK_HOST_VISIBLE) == 0;
    return real.map_memory(device, memory, offset, size, flags, bytes);
}

// Ranges are whole atoms, or reach to the end.
static void judge_range(const acre_vk_mapped_range *range) {
    uint64_t size = remembered[slot_of(range->memory)].size;
    own.faults += range->offset % 64 != 0;
    own.faults += range->size % 64 != 0 && range->offset + range->size != size;
    own.faults += range->offset + range->size > size;
}

static acre_vk_result flush_ranges(void *device, uint32_t count,
                                   const acre_vk_mapped_range *ranges) {
    FAIL_ON_ORDER;
    own.flushes++;
    judge_range(ranges);
    return real.flush_ranges(device, count, ranges);
}

static acre_vk_result invalidate_ranges(void *device, uint32_t count,
                                        const acre_vk_mapped_range *ranges) {
    FAIL_ON_ORDER;
    own.invalidations++;
    judge_range(ranges);
    return real.invalidate_ranges(device, count, ranges);
}

// ---- work ----------------------------------------------------------------------------------

static acre_vk_result create_pool(void *device, const acre_vk_pool_info *info, const void *hooks,
                                  acre_vk_handle *pool) {
    FAIL_ON_ORDER;
    return made(real.create_pool(device, info, hooks, pool));
}

static void destroy_pool(void *device, acre_vk_handle pool, const void *hooks) {
    own.live--;
    real.destroy_pool(device, pool, hooks);
}

static acre_vk_result allocate_commands(void *device, const acre_vk_commands_info *info,
                                        void **commands) {
    FAIL_ON_ORDER;
    return real.allocate_commands(device, info, commands);
}

static acre_vk_result begin_commands(void *commands, const acre_vk_begin_info *info) {
    FAIL_ON_ORDER;
    return real.begin_commands(commands, info);
}

static acre_vk_result end_commands(void *commands) {
    FAIL_ON_ORDER;
    return real.end_commands(commands);
}

static acre_vk_result reset_commands(void *commands, uint32_t flags) {
    FAIL_ON_ORDER;
    return real.reset_commands(commands, flags);
}

static acre_vk_result create_semaphore(void *device, const acre_vk_semaphore_info *info,
                                       const void *hooks, acre_vk_handle *semaphore) {
    FAIL_ON_ORDER;
    return made(real.create_semaphore(device, info, hooks, semaphore));
}

static void destroy_semaphore(void *device, acre_vk_handle semaphore, const void *hooks) {
    own.live--;
    real.destroy_semaphore(device, semaphore, hooks);
}

static acre_vk_result get_semaphore_value(void *device, acre_vk_handle semaphore, uint64_t *value) {
    FAIL_ON_ORDER;
    return real.get_semaphore_value(device, semaphore, value);
}

static acre_vk_result wait_semaphores(void *device, const acre_vk_semaphore_wait *info,
                                      uint64_t timeout) {
    FAIL_ON_ORDER;
    return real.wait_semaphores(device, info, timeout);
}

// ---- by name -------------------------------------------------------------------------------

static acre_vk_function device_lookup(void *device, const char *name);

#define FUNCTION(function, vulkan)                                                                 \
    { #vulkan, (acre_vk_function)function }

static const struct {
    const char *name;
    acre_vk_function function;
} functions[] = {
    FUNCTION(device_lookup, vkGetDeviceProcAddr),
    FUNCTION(enumerate_instance_version, vkEnumerateInstanceVersion),
    FUNCTION(create_instance, vkCreateInstance),
    FUNCTION(destroy_instance, vkDestroyInstance),
    FUNCTION(enumerate_physical_devices, vkEnumeratePhysicalDevices),
    FUNCTION(get_properties, vkGetPhysicalDeviceProperties2),
    FUNCTION(get_features, vkGetPhysicalDeviceFeatures2),
    FUNCTION(get_memory_properties, vkGetPhysicalDeviceMemoryProperties2),
    FUNCTION(get_queue_families, vkGetPhysicalDeviceQueueFamilyProperties),
    FUNCTION(enumerate_device_extensions, vkEnumerateDeviceExtensionProperties),
    FUNCTION(create_device, vkCreateDevice),
    FUNCTION(destroy_device, vkDestroyDevice),
    FUNCTION(get_queue, vkGetDeviceQueue),
    FUNCTION(submit, vkQueueSubmit),
    FUNCTION(wait_idle, vkDeviceWaitIdle),
    FUNCTION(create_buffer, vkCreateBuffer),
    FUNCTION(destroy_buffer, vkDestroyBuffer),
    FUNCTION(get_requirements, vkGetBufferMemoryRequirements),
    FUNCTION(allocate_memory, vkAllocateMemory),
    FUNCTION(free_memory, vkFreeMemory),
    FUNCTION(bind_memory, vkBindBufferMemory),
    FUNCTION(map_memory, vkMapMemory),
    FUNCTION(flush_ranges, vkFlushMappedMemoryRanges),
    FUNCTION(invalidate_ranges, vkInvalidateMappedMemoryRanges),
    FUNCTION(create_pool, vkCreateCommandPool),
    FUNCTION(destroy_pool, vkDestroyCommandPool),
    FUNCTION(allocate_commands, vkAllocateCommandBuffers),
    FUNCTION(begin_commands, vkBeginCommandBuffer),
    FUNCTION(end_commands, vkEndCommandBuffer),
    FUNCTION(reset_commands, vkResetCommandBuffer),
    FUNCTION(create_semaphore, vkCreateSemaphore),
    FUNCTION(destroy_semaphore, vkDestroySemaphore),
    FUNCTION(get_semaphore_value, vkGetSemaphoreCounterValue),
    FUNCTION(wait_semaphores, vkWaitSemaphores),
};

static acre_vk_function find(const char *name, bool *hidden) {
    *hidden = (own.lacking != NULL && strcmp(name, own.lacking) == 0) ||
              (own.version_1_0 && strcmp(name, "vkEnumerateInstanceVersion") == 0);
    for (size_t i = 0; i < sizeof functions / sizeof functions[0]; i++) {
        if (strcmp(functions[i].name, name) == 0) {
            return functions[i].function;
        }
    }
    return NULL;
}

static acre_vk_function device_lookup(void *device, const char *name) {
    bool hidden;
    acre_vk_function found = find(name, &hidden);
    return hidden ? NULL : found != NULL ? found : real.get_device_proc_addr(device, name);
}

EXPORT acre_vk_function vkGetInstanceProcAddr(void *instance, const char *name);

acre_vk_function vkGetInstanceProcAddr(void *instance, const char *name) {
    bool hidden;
    acre_vk_function found = find(name, &hidden);
    if (hidden || found != NULL) {
        return hidden ? NULL : found;
    }
    open_real();
    return real.get_instance_proc_addr == NULL ? NULL : real.get_instance_proc_addr(instance, name);
}
