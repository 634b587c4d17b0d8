// A CUDA driver over host memory: libfake_cuda.so stands in for libcuda.so.1, so that all of the
// CUDA storage runs on a machine without a device.
//
// Device addresses are host addresses, streams do their work at once, memory without an address is
// a file without a name. Of kernels it knows the one that the storage copies with. What a program
// must not do with a driver (another context current, half a mapping unmapped, something freed
// twice or not at all) ends the process with a sentence.
//
// A program that links it, or finds `fake_cuda` with dlsym, can turn its knobs and look inside.
#ifndef ACRE_TESTS_FAKE_CUDA_H
#define ACRE_TESTS_FAKE_CUDA_H

#include <stdbool.h>
#include <stdint.h>

typedef struct fake_cuda_knobs {
    int init_result;    // what cuInit says; 0
    int version;        // 13000
    int devices;        // 2
    uint64_t memory;    // bytes of each device; 64 GiB, of which only what is touched exists
    bool no_mapping;    // the devices lack virtual memory management,
    bool no_pools;      // memory pools,
    bool no_export;     // or sharing by file descriptors
    bool no_kernels;    // no module can be loaded
    const char *hidden; // a function that this driver does not have; NULL = none

    uint64_t fail_at; // the number of the call from now that fails, 1 = the next; 0 = none
    bool and_after;   // and every later one
    int fail_code;
    bool failed; // one did

    bool hold_events;  // the events recorded from now on are not passed until this ends
    bool allow_leaks;  // a context may end with objects left in it
    uint64_t captured; // things that were taken into a capture
} fake_cuda_knobs;

fake_cuda_knobs *fake_cuda(void);

// Everything as at the start: no objects, no contexts, no counts. This thread has no context.
void fake_cuda_reset(void);

// How often a function was called, failed calls included; NULL = all of them together.
uint64_t fake_cuda_calls(const char *name);
// Objects of every kind that are alive, retained contexts among them, and the bytes of device
// memory behind them.
uint64_t fake_cuda_live(void);
uint64_t fake_cuda_bytes(void);

// A context beside the primary ones, and the current one of this thread (NULL = none).
void *fake_cuda_context_create(void);
void fake_cuda_set_current(void *context);
void *fake_cuda_current(void);
// The capture mode of this thread: 0 global, 1 thread-local, 2 relaxed.
int fake_cuda_capture_mode(void);

// A stream of the test's own; `context` NULL = the primary one of device 0, retained or not.
void *fake_cuda_stream_create(void *context);
void fake_cuda_stream_destroy(void *stream);
// Records what the stream is given, in global mode: no thread that is not relaxed may allocate,
// free or wait. => the capture is still good.
void fake_cuda_capture_begin(void *stream);
bool fake_cuda_capture_end(void *stream);

#endif
