#include "storage/vulkan/memory_type.h"

// Memory for buffers of no ordinary kind: a plain buffer may not have it, or only with features
// that are off.
#define SPECIAL                                                                                    \
    ((uint32_t)ACRE_VK_LAZILY_ALLOCATED | ACRE_VK_PROTECTED | ACRE_VK_DEVICE_COHERENT_AMD |        \
     ACRE_VK_DEVICE_UNCACHED_AMD)

bool acre_vulkan_memory_type_find(const acre_vk_memory_properties *properties, uint32_t allowed,
                                  uint32_t required, uint32_t preferred,
                                  acre_vulkan_memory_type *type) {
    if (required == 0 && preferred == 0) {
        preferred = ACRE_VK_DEVICE_LOCAL;
    }
    int most = -1;
    for (uint32_t i = 0; i < properties->memory.type_count; i++) {
        uint32_t flags = properties->memory.types[i].flags;
        uint32_t heap = properties->memory.types[i].heap;
        int count = __builtin_popcount(flags & preferred);
        if ((allowed >> i & 1) == 0 || (flags & required) != required ||
            (flags & SPECIAL & ~required) != 0 || count <= most) {
            continue;
        }
        most = count;
        *type = (acre_vulkan_memory_type){i, flags, heap, properties->memory.heaps[heap].size};
    }
    return most >= 0;
}
