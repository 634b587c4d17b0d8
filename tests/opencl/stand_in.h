// A loader that stands in for libOpenCL.so.1: it hands every call on to the real one, counts the
// objects that live, and can lie or fail on order.
#ifndef ACRE_TESTS_OPENCL_STAND_IN_H
#define ACRE_TESTS_OPENCL_STAND_IN_H

#include <stdbool.h>
#include <stdint.h>

typedef struct stand_in {
    uint64_t calls;
    uint64_t finishes; // calls of clFinish
    int64_t live;      // references to contexts, queues, buffers, shared memory and events

    uint64_t fail_at; // number of the call that fails; 0 = none
    bool and_after;
    const char *failing; // every call of this function fails; NULL = none
    int32_t code;        // with this

    bool no_platforms;      // none at all, which it says with the loader's error,
    bool says_zero;         // or without one
    uint32_t empty;         // platforms without devices in front of the real ones
    bool empty_only;        // and no real ones
    const char *version;    // of every device; NULL = its own
    bool no_svm;            // devices deny it
    uint32_t alignment;     // CL_DEVICE_MEM_BASE_ADDR_ALIGN; 0 = the device's
    uint64_t memory;        // CL_DEVICE_GLOBAL_MEM_SIZE; 0 = the device's
    uint64_t largest;       // CL_DEVICE_MAX_MEM_ALLOC_SIZE; 0 = the device's
    uint32_t svm_alignment; // what memory was last asked with
    int32_t event_status;   // of every event; 0 = its own
} stand_in;

// The only one of the process; the library exports it under this name.
extern stand_in acre_stand_in;

#endif
