#include "storage/vulkan/copies.h"

#include "base/error.h"

acre_status acre_vulkan_copies_begin(acre_vulkan_copies *copies, acre_vulkan_streams *streams,
                                     acre_error *error) {
    acre_vulkan_context *device = streams->device;
    *copies = (acre_vulkan_copies){.device = device, .streams = streams};
    acre_vk_pool_info pool = {.type = ACRE_VK_POOL_INFO,
                              .flags = ACRE_VK_POOL_RESET_COMMAND_BUFFER,
                              .family = device->family};
    acre_vk_handle made = 0;
    acre_vk_result result =
        ACRE_VK_CALL(&device->script, device->api.create_pool(device->handle, &pool, NULL, &made));
    if (result != ACRE_VK_SUCCESS) {
        return acre_vk_refused(error, 0, result);
    }
    copies->pool = made;
    void *buffers[ACRE_VULKAN_COPIES_UNDER_WAY];
    acre_vk_commands_info info = {
        .type = ACRE_VK_COMMANDS_INFO, .pool = made, .count = ACRE_VULKAN_COPIES_UNDER_WAY};
    result = ACRE_VK_CALL(&device->script,
                          device->api.allocate_commands(device->handle, &info, buffers));
    if (result != ACRE_VK_SUCCESS) {
        return acre_vk_refused(error, 0, result);
    }
    for (uint32_t i = 0; i < ACRE_VULKAN_COPIES_UNDER_WAY; i++) {
        copies->ring[i].buffer = buffers[i];
    }
    return ACRE_OK;
}

void acre_vulkan_copies_end(acre_vulkan_copies *copies) {
    if (copies->pool != 0) {
        copies->device->api.destroy_pool(copies->device->handle, copies->pool, NULL);
    }
    copies->pool = 0;
}

static void add_barrier(const acre_vulkan_context *device, void *commands, uint32_t source_stages,
                        uint32_t source_access, uint32_t target_stages, uint32_t target_access) {
    acre_vk_memory_barrier barrier = {.type = ACRE_VK_MEMORY_BARRIER,
                                      .source_access = source_access,
                                      .target_access = target_access};
    device->api.barrier(commands, source_stages, target_stages, 0, 1, &barrier, 0, NULL, 0, NULL);
}

// A copy stands between two barriers, so that nobody else needs one because of it.
static void record_copy(const acre_vulkan_context *device, void *commands,
                        const acre_vulkan_copy *copy) {
    if (copy != NULL) {
        add_barrier(device, commands, ACRE_VK_STAGE_ALL_COMMANDS, ACRE_VK_ACCESS_MEMORY_WRITE,
                    ACRE_VK_STAGE_TRANSFER,
                    ACRE_VK_ACCESS_TRANSFER_READ | ACRE_VK_ACCESS_TRANSFER_WRITE);
        device->api.copy_buffer(commands, copy->source, copy->target, 1, &copy->bytes);
    }
    add_barrier(device, commands, ACRE_VK_STAGE_ALL_COMMANDS, ACRE_VK_ACCESS_MEMORY_WRITE,
                ACRE_VK_STAGE_ALL_COMMANDS | ACRE_VK_STAGE_HOST,
                ACRE_VK_ACCESS_MEMORY_READ | ACRE_VK_ACCESS_MEMORY_WRITE |
                    ACRE_VK_ACCESS_HOST_READ);
}

static acre_vk_result record(acre_vulkan_context *device, acre_vulkan_commands *commands,
                             const acre_vulkan_copy *copy) {
    acre_vk_result result = ACRE_VK_SUCCESS;
    if (commands->open) { // its end failed the last time
        result = ACRE_VK_CALL(&device->script, device->api.reset_commands(commands->buffer, 0));
    }
    if (result != ACRE_VK_SUCCESS) {
        return result;
    }
    commands->open = false;
    acre_vk_begin_info info = {.type = ACRE_VK_BEGIN_INFO, .flags = ACRE_VK_ONE_TIME_SUBMIT};
    result = ACRE_VK_CALL(&device->script, device->api.begin_commands(commands->buffer, &info));
    if (result != ACRE_VK_SUCCESS) {
        return result;
    }
    commands->open = true;
    record_copy(device, commands->buffer, copy);
    result = ACRE_VK_CALL(&device->script, device->api.end_commands(commands->buffer));
    commands->open = result != ACRE_VK_SUCCESS;
    return result;
}

acre_status acre_vulkan_copies_submit(acre_vulkan_copies *copies, const acre_vulkan_copy *copy,
                                      uint64_t *value, acre_error *error) {
    acre_vulkan_commands *commands = &copies->ring[copies->next];
    acre_status status = acre_vulkan_wait(copies->streams, commands->used, error);
    if (status != ACRE_OK) {
        return status;
    }
    acre_vk_result result = record(copies->device, commands, copy);
    if (result != ACRE_VK_SUCCESS) {
        return acre_vk_refused(error, copy == NULL ? 0 : copy->bytes.size, result);
    }
    status = acre_vulkan_submit(copies->streams, commands->buffer, &commands->used, error);
    if (status != ACRE_OK) {
        return status;
    }
    *value = commands->used;
    copies->next = (copies->next + 1) % ACRE_VULKAN_COPIES_UNDER_WAY;
    return ACRE_OK;
}
