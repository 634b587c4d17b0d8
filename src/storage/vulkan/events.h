// Streams are queues. Each has a timeline semaphore that counts what was submitted behind it, so
// that an event is two numbers: the stream's and a value of its timeline.
//
//   queue      | copy | caller's work | record | copy |
//   timeline   0      1                        2      3      event {stream, 2} is done when the
//                                                            semaphore has come to 2
#ifndef ACRE_STORAGE_VULKAN_EVENTS_H
#define ACRE_STORAGE_VULKAN_EVENTS_H

#include "storage/vulkan/device.h"

typedef struct acre_vulkan_stream {
    void *queue;
    acre_vk_handle semaphore;
    uint64_t submitted; // value of the last submission
    uint64_t reached;   // value known to be behind us
} acre_vulkan_stream;

typedef struct acre_vulkan_streams {
    acre_vulkan_context *device;
    acre_vulkan_stream *list; // the first is the storage's own queue
    uint32_t count;
    uint32_t capacity;
} acre_vulkan_streams;

acre_status acre_vulkan_streams_begin(acre_vulkan_streams *streams, acre_vulkan_context *device,
                                      acre_error *error);
// The device is idle.
void acre_vulkan_streams_end(acre_vulkan_streams *streams);

// Submits a command buffer, or NULL for none, to the storage's own queue. `*value` is what the
// timeline comes to behind it.
acre_status acre_vulkan_submit(acre_vulkan_streams *streams, void *commands, uint64_t *value,
                               acre_error *error);
// Makes the host wait until the own queue's timeline has come to `value`.
acre_status acre_vulkan_wait(acre_vulkan_streams *streams, uint64_t value, acre_error *error);
// Makes the host wait for all queues of the device.
acre_status acre_vulkan_wait_idle(acre_vulkan_streams *streams, acre_error *error);
// Makes the host wait for what the own queue, and each that an event was recorded on, was given so
// far. Unlike the above it does not touch the other queues of a caller's device.
acre_status acre_vulkan_drain(acre_vulkan_streams *streams, acre_error *error);

// The operations of acre_storage_ops.
uint64_t acre_vulkan_stream_id(const acre_vulkan_streams *streams, uint64_t stream);
acre_status acre_vulkan_event_record(acre_vulkan_streams *streams, uint64_t stream, uint64_t *event,
                                     acre_error *error);
acre_status acre_vulkan_event_done(acre_vulkan_streams *streams, uint64_t event, bool *done,
                                   acre_error *error);
acre_status acre_vulkan_event_wait(acre_vulkan_streams *streams, uint64_t event, uint64_t stream,
                                   acre_error *error);
acre_status acre_vulkan_event_sync(acre_vulkan_streams *streams, uint64_t event, acre_error *error);

#endif
