// A storage under the conformance suite: how it is made, and how the device touches its bytes.
#ifndef ACRE_TESTS_CONFORMANCE_SUBJECT_H
#define ACRE_TESTS_CONFORMANCE_SUBJECT_H

#include "support.h"

typedef struct subject {
    const char *name; // "cuda, stream-ordered"

    // A fresh storage that holds at most `total` bytes and `largest` of one page; 0 = the device's
    // own. NULL with an error when it cannot be made.
    acre_storage *(*create)(uint64_t total, uint64_t largest, acre_error *error);

    bool no_bytes;     // there are none to look at
    bool maps;         // it has address ranges apart from memory
    bool events;       // and points on streams
    int64_t lost_code; // what the driver says when the device is lost; 0 = no failures on order

    // Pages count in multiples of this many bytes; 0 = as they are asked for.
    uint64_t (*rounding)(acre_storage *storage);

    // Runs a kernel that adds `value` to each of the resource's 32-bit words and waits for it;
    // NULL = the back end has no kernels. `wait` false: it may still run when the call returns.
    void (*add)(acre_storage *storage, const acre_resource *resource, uint32_t value, bool wait);

    bool alone; // it cannot have two storages at a time

    // A second stream of the same device, to order work with, and its end; NULL = none.
    uint64_t (*stream_create)(acre_storage *storage);
    void (*stream_destroy)(acre_storage *storage, uint64_t stream);
} subject;

// The subjects of one back end: one for each way it has to make pages.
typedef struct subject_list {
    const char *name; // "cuda"
    const subject *subjects;
    size_t count;
} subject_list;

extern const subject_list host_subjects;
extern const subject_list host_virtual_subjects;
extern const subject_list simulated_subjects;
extern const subject_list opencl_subjects;
extern const subject_list vulkan_subjects;
extern const subject_list own_subjects;
extern const subject_list cuda_subjects;
extern const subject_list fake_cuda_subjects; // on the driver of tests/fake_cuda

#endif
