#include "storage/vulkan/events.h"

#include "base/error.h"

// An event's number: the stream's above, the value below. Devices have a few dozen queues, and a
// queue that takes a million submissions a second reaches the last value after nine years.
#define VALUE_BITS   48
#define STREAMS_MOST (UINT32_C(1) << 16)

static uint64_t value_of(uint64_t event) {
    return event & ((UINT64_C(1) << VALUE_BITS) - 1);
}

static acre_vulkan_stream *stream_of(acre_vulkan_streams *streams, uint64_t event) {
    return &streams->list[event >> VALUE_BITS];
}

static void *queue_of(const acre_vulkan_streams *streams, uint64_t stream) {
    return stream == 0 ? streams->device->queue : (void *)(uintptr_t)stream;
}

// ---- streams -------------------------------------------------------------------------------

static acre_status add_stream(acre_vulkan_streams *streams, void *queue, acre_error *error) {
    acre_vulkan_context *device = streams->device;
    if (streams->count == STREAMS_MOST) {
        return acre_error_set(error, ACRE_BACKEND_ERROR, "there are too many queues");
    }
    if (!acre_host_grow(device->host, &streams->list, sizeof *streams->list, streams->count,
                        streams->count + 1, &streams->capacity)) {
        return acre_error_refuse(error, ACRE_OUT_OF_HOST_MEMORY, sizeof *streams->list);
    }
    acre_vk_semaphore_type type = {.type = ACRE_VK_SEMAPHORE_TYPE,
                                   .semaphore_type = ACRE_VK_SEMAPHORE_TIMELINE};
    acre_vk_semaphore_info info = {.type = ACRE_VK_SEMAPHORE_INFO, .next = &type};
    acre_vk_handle semaphore = 0;
    acre_vk_result result = ACRE_VK_CALL(
        &device->script, device->api.create_semaphore(device->handle, &info, NULL, &semaphore));
    if (result != ACRE_VK_SUCCESS) {
        return acre_vk_refused(error, 0, result);
    }
    streams->list[streams->count++] = (acre_vulkan_stream){queue, semaphore, 0, 0};
    return ACRE_OK;
}

acre_status acre_vulkan_streams_begin(acre_vulkan_streams *streams, acre_vulkan_context *device,
                                      acre_error *error) {
    *streams = (acre_vulkan_streams){.device = device};
    return add_stream(streams, device->queue, error);
}

void acre_vulkan_streams_end(acre_vulkan_streams *streams) {
    acre_vulkan_context *device = streams->device;
    for (uint32_t i = 0; i < streams->count; i++) {
        device->api.destroy_semaphore(device->handle, streams->list[i].semaphore, NULL);
    }
    if (streams->capacity > 0) {
        acre_host_free(device->host, streams->list, streams->capacity * sizeof *streams->list,
                       _Alignof(max_align_t));
    }
    *streams = (acre_vulkan_streams){.device = device};
}

// The number of a queue's record, which is made when there is none yet.
static acre_status find_stream(acre_vulkan_streams *streams, void *queue, uint32_t *index,
                               acre_error *error) {
    for (*index = 0; *index < streams->count; ++*index) {
        if (streams->list[*index].queue == queue) {
            return ACRE_OK;
        }
    }
    return add_stream(streams, queue, error);
}

uint64_t acre_vulkan_stream_id(const acre_vulkan_streams *streams, uint64_t stream) {
    return (uint64_t)(uintptr_t)queue_of(streams, stream);
}

// ---- submissions and waits -----------------------------------------------------------------

// Submits to `stream` what raises its timeline by one.
static acre_status signal_next(acre_vulkan_streams *streams, acre_vulkan_stream *stream,
                               void *commands, acre_error *error) {
    acre_vulkan_context *device = streams->device;
    uint64_t value = stream->submitted + 1;
    acre_vk_timeline_submit timeline = {
        .type = ACRE_VK_TIMELINE_SUBMIT, .signal_count = 1, .signals = &value};
    acre_vk_submit submit = {.type = ACRE_VK_SUBMIT,
                             .next = &timeline,
                             .command_count = commands == NULL ? 0 : 1,
                             .commands = &commands,
                             .signal_count = 1,
                             .signals = &stream->semaphore};
    acre_vk_result result =
        ACRE_VK_CALL(&device->script, device->api.submit(stream->queue, 1, &submit, 0));
    if (result != ACRE_VK_SUCCESS) {
        return acre_vk_refused(error, 0, result);
    }
    stream->submitted = value;
    return ACRE_OK;
}

static acre_status wait_for(acre_vulkan_streams *streams, acre_vulkan_stream *stream,
                            uint64_t value, acre_error *error) {
    acre_vulkan_context *device = streams->device;
    if (value <= stream->reached) {
        return ACRE_OK;
    }
    acre_vk_semaphore_wait wait = {.type = ACRE_VK_SEMAPHORE_WAIT,
                                   .count = 1,
                                   .semaphores = &stream->semaphore,
                                   .values = &value};
    acre_vk_result result = ACRE_VK_CALL(
        &device->script, device->api.wait_semaphores(device->handle, &wait, UINT64_MAX));
    if (result != ACRE_VK_SUCCESS) {
        return acre_vk_refused(error, 0, result);
    }
    stream->reached = value;
    return ACRE_OK;
}

static acre_status look(acre_vulkan_streams *streams, acre_vulkan_stream *stream,
                        acre_error *error) {
    acre_vulkan_context *device = streams->device;
    uint64_t reached = 0;
    acre_vk_result result =
        ACRE_VK_CALL(&device->script,
                     device->api.get_semaphore_value(device->handle, stream->semaphore, &reached));
    if (result != ACRE_VK_SUCCESS) {
        return acre_vk_refused(error, 0, result);
    }
    stream->reached = acre_max(reached, stream->reached);
    return ACRE_OK;
}

acre_status acre_vulkan_submit(acre_vulkan_streams *streams, void *commands, uint64_t *value,
                               acre_error *error) {
    acre_status status = signal_next(streams, &streams->list[0], commands, error);
    if (status == ACRE_OK) {
        *value = streams->list[0].submitted;
    }
    return status;
}

acre_status acre_vulkan_wait(acre_vulkan_streams *streams, uint64_t value, acre_error *error) {
    return wait_for(streams, &streams->list[0], value, error);
}

acre_status acre_vulkan_wait_idle(acre_vulkan_streams *streams, acre_error *error) {
    acre_vulkan_context *device = streams->device;
    acre_vk_result result = ACRE_VK_CALL(&device->script, device->api.wait_idle(device->handle));
    if (result != ACRE_VK_SUCCESS) {
        return acre_vk_refused(error, 0, result);
    }
    for (uint32_t i = 0; i < streams->count; i++) {
        streams->list[i].reached = streams->list[i].submitted;
    }
    return ACRE_OK;
}

acre_status acre_vulkan_drain(acre_vulkan_streams *streams, acre_error *error) {
    acre_status status = ACRE_OK;
    for (uint32_t i = 0; i < streams->count && status == ACRE_OK; i++) {
        acre_vulkan_stream *stream = &streams->list[i];
        status = signal_next(streams, stream, NULL, error);
        if (status == ACRE_OK) {
            status = wait_for(streams, stream, stream->submitted, error);
        }
    }
    return status;
}

// ---- events --------------------------------------------------------------------------------

acre_status acre_vulkan_event_record(acre_vulkan_streams *streams, uint64_t stream, uint64_t *event,
                                     acre_error *error) {
    uint32_t index;
    acre_status status = find_stream(streams, queue_of(streams, stream), &index, error);
    if (status != ACRE_OK) {
        return status;
    }
    // A submission without commands signals when all before it on the queue is done.
    status = signal_next(streams, &streams->list[index], NULL, error);
    if (status == ACRE_OK) {
        *event = (uint64_t)index << VALUE_BITS | streams->list[index].submitted;
    }
    return status;
}

acre_status acre_vulkan_event_done(acre_vulkan_streams *streams, uint64_t event, bool *done,
                                   acre_error *error) {
    acre_vulkan_stream *stream = stream_of(streams, event);
    if (value_of(event) > stream->reached) {
        acre_status status = look(streams, stream, error);
        if (status != ACRE_OK) {
            return status;
        }
    }
    *done = value_of(event) <= stream->reached;
    return ACRE_OK;
}

acre_status acre_vulkan_event_wait(acre_vulkan_streams *streams, uint64_t event, uint64_t stream,
                                   acre_error *error) {
    acre_vulkan_context *device = streams->device;
    const acre_vulkan_stream *of = stream_of(streams, event);
    uint64_t value = value_of(event);
    // Also for an event that is done: its queue's bytes must come into view of this one.
    const uint32_t stages = ACRE_VK_STAGE_ALL_COMMANDS;
    acre_vk_timeline_submit timeline = {
        .type = ACRE_VK_TIMELINE_SUBMIT, .wait_count = 1, .waits = &value};
    acre_vk_submit submit = {.type = ACRE_VK_SUBMIT,
                             .next = &timeline,
                             .wait_count = 1,
                             .waits = &of->semaphore,
                             .wait_stages = &stages};
    // A wait holds back also what is submitted later.
    acre_vk_result result =
        ACRE_VK_CALL(&device->script, device->api.submit(queue_of(streams, stream), 1, &submit, 0));
    return result == ACRE_VK_SUCCESS ? ACRE_OK : acre_vk_refused(error, 0, result);
}

acre_status acre_vulkan_event_sync(acre_vulkan_streams *streams, uint64_t event,
                                   acre_error *error) {
    return wait_for(streams, stream_of(streams, event), value_of(event), error);
}
