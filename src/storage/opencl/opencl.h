// The storage of OpenCL, as its files share it. Each file has the operations of one idea.
#ifndef ACRE_STORAGE_OPENCL_OPENCL_H
#define ACRE_STORAGE_OPENCL_OPENCL_H

#include <acre/storage_opencl.h>

#include "base/host.h"
#include "storage/opencl/api.h"
#include "storage/opencl/devices.h"

// The queues that were named to the storage: a set, by open addressing.
typedef struct opencl_streams {
    opencl_queue *slots; // NULL = free
    uint32_t capacity;   // 0 or a power of two, more than `count`
    uint32_t count;
} opencl_streams;

typedef struct opencl_storage {
    acre_host host;
    opencl_driver driver;
    opencl_platform platform;
    opencl_device device;
    opencl_context context;
    opencl_queue queue; // in order: copies, and page allocations
    opencl_facts facts;
    uint64_t total_memory; // UINT64_MAX = unknown
    uint64_t largest_allocation;
    uint64_t alignment; // of pages
    uint64_t bytes;     // of all pages
    opencl_streams streams;
} opencl_storage;

// One page; its address is its id.
typedef struct opencl_page {
    union {
        opencl_buffer buffer;
        char *svm;
    } memory;
    uint64_t size;
} opencl_page;

static inline opencl_page *acre_opencl_page(uint64_t id) {
    return (opencl_page *)(uintptr_t)id;
}

// ---- context.c: the context and the queue --------------------------------------------------

// The caller's when the parameters have them, else new ones; also fills in `facts`. After an error
// there is nothing to close.
acre_status acre_opencl_context_open(opencl_storage *own, const acre_opencl_storage_params *params,
                                     acre_error *error);
void acre_opencl_context_close(opencl_storage *own);

// ---- pages.c: buffers, and what both kinds of page share -------------------------------------

// A record for a page of `size` bytes that the limits allow; NULL with the error's status set.
opencl_page *acre_opencl_page_admit(opencl_storage *own, uint64_t size, acre_error *error);
// Counts a page that has its memory, or ends the record of one that has none.
void acre_opencl_page_keep(opencl_storage *own, opencl_page *page, uint64_t *id);
void acre_opencl_page_drop(opencl_storage *own, opencl_page *page);

acre_status acre_opencl_alloc(void *context, uint64_t size, uint64_t *id, acre_error *error);
void acre_opencl_dealloc(void *context, uint64_t id);
acre_status acre_opencl_resource(void *context, uint64_t id, uint64_t offset, uint64_t size,
                                 acre_resource *resource, acre_error *error);
acre_status acre_opencl_sub_buffer(opencl_storage *own, const acre_resource *resource,
                                   void **buffer, acre_error *error);

// ---- svm.c: shared virtual memory ------------------------------------------------------------

// What every page starts on a multiple of.
uint64_t acre_opencl_svm_alignment(const opencl_facts *facts);

acre_status acre_opencl_svm_alloc(void *context, uint64_t size, uint64_t *id, acre_error *error);
void acre_opencl_svm_dealloc(void *context, uint64_t id);
acre_status acre_opencl_svm_resource(void *context, uint64_t id, uint64_t offset, uint64_t size,
                                     acre_resource *resource, acre_error *error);

// ---- copies.c ------------------------------------------------------------------------------

acre_status acre_opencl_copy(void *context, const acre_resource *source,
                             const acre_resource *target, acre_error *error);
acre_status acre_opencl_write(void *context, const acre_resource *target, const void *bytes,
                              acre_error *error);
acre_status acre_opencl_read(void *context, const acre_resource *source, void *bytes,
                             acre_error *error);
acre_status acre_opencl_svm_copy(void *context, const acre_resource *source,
                                 const acre_resource *target, acre_error *error);
acre_status acre_opencl_svm_write(void *context, const acre_resource *target, const void *bytes,
                                  acre_error *error);
acre_status acre_opencl_svm_read(void *context, const acre_resource *source, void *bytes,
                                 acre_error *error);
acre_status acre_opencl_wait(void *context, acre_error *error);

// ---- streams.c: queues that are named to the storage -----------------------------------------

acre_status acre_opencl_stream_id(void *context, uint64_t stream, uint64_t *id, acre_error *error);
// Lets all of them go.
void acre_opencl_streams_close(opencl_storage *own);

// The queue that a stream is.
static inline opencl_queue acre_opencl_queue(const opencl_storage *own, uint64_t stream) {
    return stream == 0 ? own->queue : (opencl_queue)(uintptr_t)stream;
}

// ---- events.c ------------------------------------------------------------------------------

acre_status acre_opencl_event_record(void *context, uint64_t stream, uint64_t *event,
                                     acre_error *error);
acre_status acre_opencl_event_done(void *context, uint64_t event, bool *done, acre_error *error);
acre_status acre_opencl_event_wait(void *context, uint64_t event, uint64_t stream,
                                   acre_error *error);
acre_status acre_opencl_event_sync(void *context, uint64_t event, acre_error *error);
void acre_opencl_event_destroy(void *context, uint64_t event);

#endif
