// A loader that stands in for libvulkan.so.1: it hands every call on to the real one, counts what
// lives, and can lie or fail on order.
#ifndef ACRE_TESTS_VULKAN_STAND_IN_H
#define ACRE_TESTS_VULKAN_STAND_IN_H

#include <stdbool.h>
#include <stdint.h>

typedef struct vulkan_stand_in {
    uint64_t calls;   // of functions that can fail
    uint64_t flushes; // of host caches
    uint64_t invalidations;
    int64_t live;     // instances, devices, buffers, memories, pools and semaphores
    int64_t memories; // of those
    uint64_t faults;  // calls that Vulkan does not allow
    int32_t last_memory_type;

    uint64_t fail_at; // number of the call that fails; 0 = none
    bool and_after;
    int32_t code;        // with this
    const char *lacking; // there is no function of this name; NULL = all are there

    bool version_1_0;        // a loader from before there were versions,
    uint32_t version;        // or of this one; 0 = its own
    bool no_driver;          // instances cannot be made
    bool no_devices;         // or have no devices
    bool no_timeline;        // every device lacks these
    bool no_address;         // .
    bool no_compute;         // .
    uint32_t device_version; // 0 = its own

    // Memory types with these flags, all of them the real device's first; 0 = its own. Type `i` is
    // of heap `i`, which has heap_size bytes.
    uint32_t type_count;
    uint32_t type_flags[4];
    uint64_t heap_size;
    uint32_t buffer_types; // that buffers may have; 0 = all
    uint32_t extra;        // bytes that each buffer needs beyond its size
    uint32_t max_count;    // of memories; 0 = the device's
    uint64_t max_size;     // of a memory; 0 = the device's
    uint64_t max_buffer;   // of a buffer; 0 = the device's

    bool has_budget; // the device tells:
    uint64_t budget; // of every heap
    uint64_t usage;
    bool second_queue; // the first family has two
} vulkan_stand_in;

// The only one of the process; the library exports it under this name.
extern vulkan_stand_in acre_vulkan_stand_in;

#endif
