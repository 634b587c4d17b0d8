// Which memory type buffers get their memory from.
#ifndef ACRE_STORAGE_VULKAN_MEMORY_TYPE_H
#define ACRE_STORAGE_VULKAN_MEMORY_TYPE_H

#include <stdbool.h>

#include "storage/vulkan/api.h"

typedef struct acre_vulkan_memory_type {
    uint32_t index;
    uint32_t flags;     // VkMemoryPropertyFlags
    uint32_t heap;      // its number
    uint64_t heap_size; // bytes
} acre_vulkan_memory_type;

// The first of the types in the bit set `allowed` with all of `required` that has the most of
// `preferred`; 0 and 0 = device-local preferred. Types for special uses only when required.
// => false when there is none.
bool acre_vulkan_memory_type_find(const acre_vk_memory_properties *properties, uint32_t allowed,
                                  uint32_t required, uint32_t preferred,
                                  acre_vulkan_memory_type *type);

#endif
