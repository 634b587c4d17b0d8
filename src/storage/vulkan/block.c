#include "storage/vulkan/block.h"

#include "base/error.h"

#include <stdio.h>

static acre_vk_result create_buffer(acre_vulkan_context *device, uint64_t size, uint32_t usage,
                                    acre_vk_handle *buffer) {
    acre_vk_buffer_info info = {.type = ACRE_VK_BUFFER_INFO, .size = size, .usage = usage};
    return ACRE_VK_CALL(&device->script,
                        device->api.create_buffer(device->handle, &info, NULL, buffer));
}

acre_status acre_vulkan_block_needs(acre_vulkan_context *device, uint64_t size, uint32_t usage,
                                    acre_vk_requirements *needs, acre_error *error) {
    acre_vk_handle buffer = 0;
    acre_vk_result result = create_buffer(device, size, usage, &buffer);
    if (result != ACRE_VK_SUCCESS) {
        return acre_vk_refused(error, size, result);
    }
    device->api.get_requirements(device->handle, buffer, needs);
    device->api.destroy_buffer(device->handle, buffer, NULL);
    return ACRE_OK;
}

// The driver would say so, too, or fail later and elsewhere.
static acre_status check_count(const acre_vulkan_context *device, uint64_t size,
                               acre_error *error) {
    uint32_t most = device->facts.properties.properties.limits.max_memory_allocation_count;
    if (device->allocations < most) {
        return ACRE_OK;
    }
    acre_error_refuse(error, ACRE_OUT_OF_MEMORY, size);
    snprintf(error->detail, sizeof error->detail,
             "the device takes no more than %u allocations: use larger pages", (unsigned)most);
    return ACRE_OUT_OF_MEMORY;
}

static acre_vk_result allocate(acre_vulkan_context *device, uint32_t usage, uint32_t memory_type,
                               acre_vulkan_block *block) {
    acre_vk_memory_flags flags = {.type = ACRE_VK_MEMORY_FLAGS,
                                  .flags = ACRE_VK_ALLOCATE_DEVICE_ADDRESS};
    acre_vk_memory_info info = {.type = ACRE_VK_MEMORY_INFO,
                                .next =
                                    (usage & ACRE_VK_BUFFER_DEVICE_ADDRESS) != 0 ? &flags : NULL,
                                .size = block->held,
                                .memory_type = memory_type};
    acre_vk_handle memory = 0;
    acre_vk_result result = ACRE_VK_CALL(
        &device->script, device->api.allocate_memory(device->handle, &info, NULL, &memory));
    if (result == ACRE_VK_SUCCESS) {
        block->memory = memory;
        device->allocations++;
    }
    return result;
}

static acre_status back(acre_vulkan_context *device, uint64_t room, uint32_t usage,
                        uint32_t memory_type, acre_vulkan_block *block, acre_error *error) {
    acre_vk_requirements needs = {0};
    device->api.get_requirements(device->handle, block->buffer, &needs);
    if (needs.size > room) {
        return acre_error_refuse(error, ACRE_OUT_OF_MEMORY, block->size);
    }
    block->held = needs.size;
    acre_vk_result result = allocate(device, usage, memory_type, block);
    if (result == ACRE_VK_SUCCESS) {
        result =
            ACRE_VK_CALL(&device->script,
                         device->api.bind_memory(device->handle, block->buffer, block->memory, 0));
    }
    return result == ACRE_VK_SUCCESS ? ACRE_OK : acre_vk_refused(error, block->size, result);
}

acre_status acre_vulkan_block_make(acre_vulkan_context *device, uint64_t size, uint64_t room,
                                   uint32_t usage, uint32_t memory_type, acre_vulkan_block *block,
                                   acre_error *error) {
    *block = (acre_vulkan_block){.size = size};
    acre_status status = check_count(device, size, error);
    if (status != ACRE_OK) {
        return status;
    }
    acre_vk_handle buffer = 0;
    acre_vk_result result = create_buffer(device, size, usage, &buffer);
    if (result != ACRE_VK_SUCCESS) {
        return acre_vk_refused(error, size, result);
    }
    block->buffer = buffer;
    status = back(device, room, usage, memory_type, block, error);
    if (status != ACRE_OK) {
        acre_vulkan_block_end(device, block);
        return status;
    }
    if ((usage & ACRE_VK_BUFFER_DEVICE_ADDRESS) != 0) {
        acre_vk_buffer_address info = {.type = ACRE_VK_BUFFER_ADDRESS, .buffer = buffer};
        block->address = device->api.get_address(device->handle, &info);
    }
    return ACRE_OK;
}

void acre_vulkan_block_end(acre_vulkan_context *device, acre_vulkan_block *block) {
    if (block->buffer != 0) {
        device->api.destroy_buffer(device->handle, block->buffer, NULL);
    }
    if (block->memory != 0) {
        device->api.free_memory(device->handle, block->memory, NULL); // unmaps, too
        device->allocations--;
    }
    *block = (acre_vulkan_block){0};
}

acre_status acre_vulkan_block_map(acre_vulkan_context *device, acre_vulkan_block *block,
                                  acre_error *error) {
    if (block->bytes != NULL) {
        return ACRE_OK;
    }
    void *bytes = NULL;
    acre_vk_result result =
        ACRE_VK_CALL(&device->script, device->api.map_memory(device->handle, block->memory, 0,
                                                             ACRE_VK_WHOLE_SIZE, 0, &bytes));
    if (result != ACRE_VK_SUCCESS) {
        return acre_vk_refused(error, block->size, result);
    }
    block->bytes = bytes;
    return ACRE_OK;
}
