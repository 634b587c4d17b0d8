// Copies on the storage's own queue, in command buffers of its own.
#ifndef ACRE_STORAGE_VULKAN_COPIES_H
#define ACRE_STORAGE_VULKAN_COPIES_H

#include "storage/vulkan/pages.h"

// Command buffers that may be under way at a time.
#define ACRE_VULKAN_COPIES_UNDER_WAY 32

typedef struct acre_vulkan_commands {
    void *buffer;
    uint64_t used; // the timeline behind its last submission
    bool open;     // recording was begun and has no end yet
} acre_vulkan_commands;

typedef struct acre_vulkan_copies {
    acre_vulkan_context *device;
    acre_vulkan_streams *streams;
    acre_vk_handle pool;
    acre_vulkan_commands ring[ACRE_VULKAN_COPIES_UNDER_WAY];
    uint32_t next; // of the ring
} acre_vulkan_copies;

typedef struct acre_vulkan_copy {
    acre_vk_handle source;
    acre_vk_handle target;
    acre_vk_buffer_copy bytes;
} acre_vulkan_copy;

acre_status acre_vulkan_copies_begin(acre_vulkan_copies *copies, acre_vulkan_streams *streams,
                                     acre_error *error);
// The device is idle.
void acre_vulkan_copies_end(acre_vulkan_copies *copies);

// Submits a copy, after all the queue was given before and before all it is given later; the host
// sees the bytes, too, once the timeline has come to `*value`. NULL: no copy, only that order and
// what the queue wrote brought into the host's view.
acre_status acre_vulkan_copies_submit(acre_vulkan_copies *copies, const acre_vulkan_copy *copy,
                                      uint64_t *value, acre_error *error);

#endif
