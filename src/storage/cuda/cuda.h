// The storage of CUDA: its state, and how it calls the driver.
//
//   cuda.c     creation, the table of operations      mapping.c  ranges, memories, what is where
//   visit.c    to the driver and back                 copies.c   copies, bytes in and out, waiting
//   pages.c    pages, in three ways                   events.c   points on the timelines of streams
//   gather.c   many copies in one launch              export.c   memory for other processes
//   devices.c  which devices there are
#ifndef ACRE_STORAGE_CUDA_CUDA_H
#define ACRE_STORAGE_CUDA_CUDA_H

#include <acre/storage_cuda.h>

#include "base/host.h"
#include "storage/cuda/api.h"
#include "storage/script.h"

struct acre_cuda_range;

// Memory without an address (cuMemCreate).
typedef struct acre_cuda_backing {
    uint64_t handle;
    uint64_t size;
    struct acre_cuda_range *range; // where it is mapped, NULL = nowhere; at which byte of it:
    uint64_t offset;
    struct acre_cuda_backing *previous; // all of the storage, for the search of an export
    struct acre_cuda_backing *next;
} acre_cuda_backing;

// Addresses: a page, or a range of the caller's. Its own address is its id.
typedef struct acre_cuda_range {
    uint64_t base; // device address of the first byte
    uint64_t size;
    acre_cuda_backing **granules; // of a range: what is mapped at each, NULL = nothing
    acre_cuda_backing page;       // of a page that is virtual: the memory in it
    struct acre_cuda_range *next; // of a page whose free was put off
} acre_cuda_range;

// An event of the driver; its own address is its id.
typedef struct acre_cuda_point {
    acre_cuda_event event;
    struct acre_cuda_point *next; // while it waits to be used again
} acre_cuda_point;

// What one launch of the copying kernel takes: its parameter (copy_kernel.cu).
#define ACRE_CUDA_PIECES 120
#define ACRE_CUDA_CHUNK  32768u

typedef struct acre_cuda_pieces {
    uint32_t count;
    uint32_t first[ACRE_CUDA_PIECES + 1]; // chunk of each piece, and behind the last all chunks
    struct {
        uint64_t target, source, size;
    } list[ACRE_CUDA_PIECES];
} acre_cuda_pieces;

typedef enum acre_cuda_kernel_state {
    ACRE_CUDA_KERNEL_UNTRIED = 0,
    ACRE_CUDA_KERNEL_READY = 1,
    ACRE_CUDA_KERNEL_NONE = 2, // the device does not take it: copies are the driver's
} acre_cuda_kernel_state;

typedef struct acre_cuda {
    acre_host host;
    acre_cuda_api api;
    acre_script script;
    acre_cuda_storage_params params;
    acre_cuda_ordinal device;
    acre_cuda_context context; // the primary one, retained
    acre_cuda_stream stream;   // of copies and frees
    // NULL = `stream` is the caller's and stream-ordered pages are not asked for. They come from
    // here, never from a stream of the caller's: that one may be recorded into a graph.
    acre_cuda_stream own_stream;
    acre_cuda_pool pool;
    uint64_t granularity; // 0 = the device cannot map
    uint64_t bytes;
    acre_cuda_range *put_off; // pages to be freed when `stream` is not captured any more
    acre_cuda_backing *backings;
    acre_cuda_point *idle;
    acre_cuda_kernel_state kernel_state;
    acre_cuda_module module;
    acre_cuda_function copy_kernel;
    acre_cuda_pieces pieces; // copies that were asked for and not begun yet
    acre_cuda_result lost;   // why gathered copies were not made, until who waits is told
    uint64_t device_memory;
    bool can_map;
    bool can_pool;
    bool can_export;
} acre_cuda;

// ---- calling the driver --------------------------------------------------------------------

// Every call of the driver for a storage: acre_cuda_call(own, unmap(address, size)). It is counted,
// and fails without reaching the driver when the script says so.
#define acre_cuda_call(own, call)                                                                  \
    (acre_script_fails(&(own)->script) ? acre_cuda_scripted(&(own)->script) : (own)->api.call)

static inline acre_cuda_result acre_cuda_scripted(const acre_script *script) {
    return script->code == 0 ? ACRE_CUDA_OUT_OF_MEMORY : (acre_cuda_result)script->code;
}

// Makes the storage's context current and lets this thread allocate, free and wait while streams
// are captured. => other than SUCCESS when the driver refuses: nothing is changed then.
acre_cuda_result acre_cuda_enter(acre_cuda *own, int *capture_mode);
// Puts the thread back to what it was. Its two calls are no part of the script: a failure on order
// is not to leave the caller's thread changed.
void acre_cuda_leave(acre_cuda *own, int *capture_mode);

static inline acre_status acre_cuda_status(const acre_cuda *own, uint64_t size,
                                           acre_cuda_result code, acre_error *error) {
    return code == ACRE_CUDA_SUCCESS ? ACRE_OK : acre_cuda_refused(&own->api, size, code, error);
}

// Whether `stream` is recorded into a graph now: what is given to it then would become a part of
// the graph, and waiting for it would end the recording. Between enter and leave.
// => STREAM_CAPTURE_UNSUPPORTED when it is.
acre_cuda_result acre_cuda_check_capture(acre_cuda *own, acre_cuda_stream stream);

// ---- parts of the table --------------------------------------------------------------------

// => OUT_OF_MEMORY when `size` bytes are more than one page or memory may have, or what they are
// rounded up to would pass `total_memory`.
acre_status acre_cuda_check_room(const acre_cuda *own, uint64_t size, uint64_t rounded,
                                 acre_error *error);

acre_status acre_cuda_alloc(void *context, uint64_t size, uint64_t *id, acre_error *error);
void acre_cuda_dealloc(void *context, uint64_t id);
void acre_cuda_flush(void *context);
// Ends pages whose free was put off. Between enter and leave, or with `reachable` false.
void acre_cuda_pages_end(acre_cuda *own, bool reachable);
acre_status acre_cuda_resource(void *context, uint64_t id, uint64_t offset, uint64_t size,
                               acre_resource *resource, acre_error *error);

acre_status acre_cuda_range_reserve(void *context, uint64_t size, uint64_t *range,
                                    acre_error *error);
void acre_cuda_range_release(void *context, uint64_t range);
acre_status acre_cuda_memory_create(void *context, uint64_t size, uint64_t *memory,
                                    acre_error *error);
void acre_cuda_memory_destroy(void *context, uint64_t memory);
acre_status acre_cuda_map(void *context, uint64_t range, uint64_t offset, const uint64_t *memories,
                          uint64_t count, acre_error *error);
acre_status acre_cuda_unmap(void *context, uint64_t range, uint64_t offset, uint64_t size,
                            acre_error *error);

// A virtual page: addresses of its own with one memory in them, all or, after an error, nothing.
// Between enter and leave. The memory is to be forgotten afterwards, whether or not the driver
// could be reached.
acre_cuda_result acre_cuda_page_map(acre_cuda *own, acre_cuda_range *page, uint64_t size);
void acre_cuda_page_unmap(acre_cuda *own, acre_cuda_range *page);
void acre_cuda_forget(acre_cuda *own, acre_cuda_backing *backing);

// Copies on the storage's stream, mostly later: acre_cuda_gather_end begins what is left.
//
// Without a call of the driver, which a few hundred copies would wait for before the first of them
// begins. => false when it needs one: then acre_cuda_gather_or_copy, between enter and leave.
bool acre_cuda_gather(acre_cuda *own, uint64_t target, uint64_t source, uint64_t size);
acre_cuda_result acre_cuda_gather_or_copy(acre_cuda *own, uint64_t target, uint64_t source,
                                          uint64_t size);
// Between enter and leave. => STREAM_CAPTURE_UNSUPPORTED, and what the driver says: then those that
// were left are not made.
acre_cuda_result acre_cuda_gather_end(acre_cuda *own);

acre_status acre_cuda_copy(void *context, const acre_resource *source, const acre_resource *target,
                           acre_error *error);
acre_status acre_cuda_wait(void *context, acre_error *error);
acre_status acre_cuda_write(void *context, const acre_resource *target, const void *bytes,
                            acre_error *error);
acre_status acre_cuda_read(void *context, const acre_resource *source, void *bytes,
                           acre_error *error);

acre_status acre_cuda_stream_id(void *context, uint64_t stream, uint64_t *id, acre_error *error);
acre_status acre_cuda_event_record(void *context, uint64_t stream, uint64_t *event,
                                   acre_error *error);
acre_status acre_cuda_event_done(void *context, uint64_t event, bool *done, acre_error *error);
acre_status acre_cuda_event_wait(void *context, uint64_t event, uint64_t stream, acre_error *error);
acre_status acre_cuda_event_sync(void *context, uint64_t event, acre_error *error);
void acre_cuda_event_destroy(void *context, uint64_t event);
// The events that wait to be used again. Between enter and leave, or with `reachable` false.
void acre_cuda_events_end(acre_cuda *own, bool reachable);

// ---- devices -------------------------------------------------------------------------------

// Device `index` and what it can do. => INVALID_ARGUMENT past the last one; UNSUPPORTED, there is
// none.
acre_status acre_cuda_find_device(acre_cuda *own, uint32_t index, acre_error *error);
acre_cuda_memory_properties acre_cuda_properties(const acre_cuda *own);
acre_cuda_result acre_cuda_find_granularity(acre_cuda *own);

// NULL = a storage of another kind.
acre_cuda *acre_cuda_of(const acre_storage *storage);

#endif
