// A block: one VkDeviceMemory with one VkBuffer over all of it.
#ifndef ACRE_STORAGE_VULKAN_BLOCK_H
#define ACRE_STORAGE_VULKAN_BLOCK_H

#include "storage/vulkan/device.h"
#include "storage/vulkan/memory_type.h"

typedef struct acre_vulkan_block {
    acre_vk_handle buffer;
    acre_vk_handle memory;
    uint64_t size;    // bytes of the buffer
    uint64_t held;    // bytes of the memory
    uint64_t address; // VkDeviceAddress; 0 = none
    char *bytes;      // where the host sees it; NULL = it was not mapped yet
} acre_vulkan_block;

// What a buffer of that usage would need; makes one for the time of the call.
acre_status acre_vulkan_block_needs(acre_vulkan_context *device, uint64_t size, uint32_t usage,
                                    acre_vk_requirements *needs, acre_error *error);

// => OUT_OF_MEMORY also when it would hold more than `room` bytes (the error's capacity is for the
// caller to fill in), or be one memory more than the device takes.
acre_status acre_vulkan_block_make(acre_vulkan_context *device, uint64_t size, uint64_t room,
                                   uint32_t usage, uint32_t memory_type, acre_vulkan_block *block,
                                   acre_error *error);
// Also one that was never made.
void acre_vulkan_block_end(acre_vulkan_context *device, acre_vulkan_block *block);

// Makes the host see it, from now on. Its memory is host-visible.
acre_status acre_vulkan_block_map(acre_vulkan_context *device, acre_vulkan_block *block,
                                  acre_error *error);

#endif
