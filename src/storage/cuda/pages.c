// Pages, in the way the storage was made for. Plain and stream-ordered ones count what they were
// asked with; virtual ones are rounded up to the granularity.
#include "storage/cuda/cuda.h"

#include "base/bits.h"
#include "base/error.h"

// Device memory has no addresses beyond this, and what is rounded up stays below 2^64.
static const uint64_t no_such_size = UINT64_C(1) << 63;

static acre_status refuse(acre_error *error, uint64_t size, uint64_t capacity) {
    (void)acre_error_refuse(error, ACRE_OUT_OF_MEMORY, size);
    error->capacity = capacity;
    return ACRE_OUT_OF_MEMORY;
}

acre_status acre_cuda_check_room(const acre_cuda *own, uint64_t size, uint64_t rounded,
                                 acre_error *error) {
    uint64_t total = own->params.total_memory;
    if (size > own->params.largest_allocation) {
        return refuse(error, size, own->params.largest_allocation);
    }
    if (size >= no_such_size) {
        return refuse(error, size, no_such_size);
    }
    return own->bytes > total || rounded > total - own->bytes ? refuse(error, size, total)
                                                              : ACRE_OK;
}

// ---- giving back ---------------------------------------------------------------------------

// What the device was given before may still touch a page. cuMemFree waits for all of it; a free in
// the order of a stream, or an unmapping, does not: behind the storage's stream it is safe when the
// caller named the one that its work runs on. Else the whole device is waited for, which no capture
// in the process survives.
// => false: nobody may wait for the stream now, since it is captured.
static bool settle_work(acre_cuda *own) {
    if (own->params.memory == ACRE_CUDA_PLAIN) {
        return true;
    }
    if (own->params.stream == NULL) {
        (void)acre_cuda_call(own, context_synchronize());
        return true;
    }
    if (acre_cuda_check_capture(own, own->stream) == ACRE_CUDA_STREAM_CAPTURE_UNSUPPORTED) {
        return false;
    }
    if (own->params.memory == ACRE_CUDA_VIRTUAL) {
        (void)acre_cuda_call(own, stream_synchronize(own->stream));
    }
    return true;
}

// A driver that fails to free has nothing to offer instead.
static void free_page(acre_cuda *own, acre_cuda_range *page, acre_cuda_stream stream) {
    if (own->params.memory == ACRE_CUDA_PLAIN) {
        (void)acre_cuda_call(own, memory_free(page->base));
    } else if (own->params.memory == ACRE_CUDA_STREAM_ORDERED) {
        (void)acre_cuda_call(own, pool_free(page->base, stream));
    } else {
        acre_cuda_page_unmap(own, page);
    }
}

// Takes a page off the books; it was freed, or the driver could not be reached.
static void drop_page(acre_cuda *own, acre_cuda_range *page) {
    if (own->params.memory == ACRE_CUDA_VIRTUAL) {
        acre_cuda_forget(own, &page->page);
    }
    own->bytes -= page->size;
    acre_host_free(&own->host, page, sizeof *page, _Alignof(acre_cuda_range));
}

// Frees what was put off while the stream was captured. Between enter and leave.
static void free_put_off(acre_cuda *own) {
    while (own->put_off != NULL && settle_work(own)) {
        acre_cuda_range *page = own->put_off;
        own->put_off = page->next;
        free_page(own, page, own->stream);
        drop_page(own, page);
    }
}

void acre_cuda_dealloc(void *context, uint64_t id) {
    acre_cuda *own = context;
    acre_cuda_range *page = (acre_cuda_range *)(uintptr_t)id;
    int mode;
    acre_cuda_result code = acre_cuda_enter(own, &mode);
    if (code != ACRE_CUDA_SUCCESS) {
        own->lost = own->pieces.count > 0 ? code : own->lost;
        own->pieces.count = 0;
        drop_page(own, page);
        return;
    }
    (void)acre_cuda_gather_end(own); // none is left to be made after the page is gone
    free_put_off(own);
    if (settle_work(own)) {
        free_page(own, page, own->stream);
        drop_page(own, page);
    } else {
        page->next = own->put_off;
        own->put_off = page;
    }
    acre_cuda_leave(own, &mode);
}

// ---- taking ----------------------------------------------------------------------------

// Waited for, so that every stream may use the page. A free in another stream comes first: the
// pool gives its memory only behind it.
static acre_cuda_result alloc_ordered(acre_cuda *own, acre_cuda_range *page, uint64_t size) {
    acre_cuda_result code =
        acre_cuda_call(own, pool_alloc(&page->base, size, own->pool, own->own_stream));
    if (code != ACRE_CUDA_SUCCESS) {
        return code;
    }
    code = acre_cuda_call(own, stream_synchronize(own->own_stream));
    if (code != ACRE_CUDA_SUCCESS) {
        (void)acre_cuda_call(own, pool_free(page->base, own->own_stream));
    }
    return code;
}

// ---- all three -----------------------------------------------------------------------------

static acre_cuda_result alloc_page(acre_cuda *own, acre_cuda_range *page, uint64_t size) {
    int mode;
    acre_cuda_result code = acre_cuda_enter(own, &mode);
    if (code != ACRE_CUDA_SUCCESS) {
        return code;
    }
    free_put_off(own);
    if (own->params.memory == ACRE_CUDA_PLAIN) {
        code = acre_cuda_call(own, memory_alloc(&page->base, size));
    } else if (own->params.memory == ACRE_CUDA_STREAM_ORDERED) {
        code = alloc_ordered(own, page, size);
    } else {
        code = acre_cuda_page_map(own, page, size);
    }
    acre_cuda_leave(own, &mode);
    return code;
}

acre_status acre_cuda_alloc(void *context, uint64_t size, uint64_t *id, acre_error *error) {
    acre_cuda *own = context;
    uint64_t rounded =
        own->params.memory == ACRE_CUDA_VIRTUAL ? acre_round_up(size, own->granularity) : size;
    acre_status status = acre_cuda_check_room(own, size, rounded, error);
    if (status != ACRE_OK) {
        return status;
    }
    acre_cuda_range *page =
        acre_host_alloc_zeroed(&own->host, sizeof *page, _Alignof(acre_cuda_range));
    if (page == NULL) {
        return acre_error_refuse(error, ACRE_OUT_OF_HOST_MEMORY, sizeof *page);
    }
    page->size = rounded;
    acre_cuda_result code = alloc_page(own, page, rounded);
    if (code != ACRE_CUDA_SUCCESS) {
        acre_host_free(&own->host, page, sizeof *page, _Alignof(acre_cuda_range));
        return acre_cuda_refused(&own->api, size, code, error);
    }
    own->bytes += rounded;
    *id = (uint64_t)(uintptr_t)page;
    return ACRE_OK;
}

// At the end of the storage nothing is put off any more: no work is in flight then, and the own
// stream is never captured.
void acre_cuda_pages_end(acre_cuda *own, bool reachable) {
    while (own->put_off != NULL) {
        acre_cuda_range *page = own->put_off;
        own->put_off = page->next;
        if (reachable) {
            free_page(own, page, own->own_stream);
        }
        drop_page(own, page);
    }
}

void acre_cuda_flush(void *context) {
    acre_cuda *own = context;
    int mode;
    if (own->params.memory == ACRE_CUDA_PLAIN || acre_cuda_enter(own, &mode) != ACRE_CUDA_SUCCESS) {
        return; // plain frees are immediate
    }
    free_put_off(own);
    if (own->pool == NULL) {
        acre_cuda_leave(own, &mode);
        return;
    }
    if (acre_cuda_check_capture(own, own->stream) == ACRE_CUDA_SUCCESS) {
        (void)acre_cuda_call(own, stream_synchronize(own->stream));
    }
    (void)acre_cuda_call(own, pool_trim(own->pool, 0));
    acre_cuda_leave(own, &mode);
}

acre_status acre_cuda_resource(void *context, uint64_t id, uint64_t offset, uint64_t size,
                               acre_resource *resource, acre_error *error) {
    (void)context;
    (void)error;
    resource->kind = ACRE_RESOURCE_CUDA;
    resource->size = size;
    resource->as.cuda = ((const acre_cuda_range *)(uintptr_t)id)->base + offset;
    return ACRE_OK;
}
