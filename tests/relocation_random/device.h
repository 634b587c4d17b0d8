// A device of allocated host bytes that refuses when it is told to, and keeps counts of its own.
#ifndef ACRE_TESTS_RELOCATION_RANDOM_DEVICE_H
#define ACRE_TESTS_RELOCATION_RANDOM_DEVICE_H

#include <acre/storage.h>

typedef struct device_block device_block;

typedef enum device_call {
    DEVICE_ALLOC,
    DEVICE_RESOURCE,
    DEVICE_COPY,
    DEVICE_WAIT,
    DEVICE_CALLS
} device_call;

// Refuses the `nth` call from now (0 = none), and with `after` all later ones.
typedef struct device_fuse {
    uint64_t nth;
    bool after;
} device_fuse;

typedef struct device {
    uint64_t total; // bytes; 0 = no end
    bool deferred;  // frees are put off until the flush
    uint64_t bytes;
    uint64_t allocs, refused, deallocs, copies;
    device_block *dead; // put off
    device_fuse fuses[DEVICE_CALLS];
    uint64_t blown; // refusals on purpose since the fuses were set
} device;

acre_storage *device_storage(device *d);
void device_disarm(device *d);
// The counts of both sides agree.
void device_compare(const device *d, const acre_storage *storage);

#endif
