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

// ---- stream-ordered ------------------------------------------------------------------------

// Frees what was put off while the stream was captured. Between enter and leave.
static void free_put_off(acre_cuda *own) {
    while (own->put_off != NULL && acre_cuda_check_capture(own, own->stream) == ACRE_CUDA_SUCCESS) {
        acre_cuda_range *page = own->put_off;
        own->put_off = page->next;
        (void)acre_cuda_call(own, pool_free(page->base, own->stream));
        own->bytes -= page->size;
        acre_host_free(&own->host, page, sizeof *page, _Alignof(acre_cuda_range));
    }
}

// Waited for, so that every stream may use the page. A free in another stream comes first: the
// pool gives its memory only behind it.
static acre_cuda_result alloc_ordered(acre_cuda *own, acre_cuda_range *page, uint64_t size) {
    free_put_off(own);
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
    if (size > own->params.largest_allocation) {
        return refuse(error, size, own->params.largest_allocation);
    }
    if (size >= no_such_size) {
        return refuse(error, size, no_such_size);
    }
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

// => false when the free is put off. A driver that fails to free has nothing to offer instead.
static bool free_page(acre_cuda *own, acre_cuda_range *page) {
    if (own->params.memory == ACRE_CUDA_VIRTUAL) {
        acre_cuda_page_unmap(own, page);
        return true;
    }
    if (own->params.memory == ACRE_CUDA_PLAIN) {
        (void)acre_cuda_call(own, memory_free(page->base));
        return true;
    }
    free_put_off(own);
    if (acre_cuda_check_capture(own, own->stream) == ACRE_CUDA_STREAM_CAPTURE_UNSUPPORTED) {
        page->next = own->put_off;
        own->put_off = page;
        return false;
    }
    (void)acre_cuda_call(own, pool_free(page->base, own->stream));
    return true;
}

void acre_cuda_dealloc(void *context, uint64_t id) {
    acre_cuda *own = context;
    acre_cuda_range *page = (acre_cuda_range *)(uintptr_t)id;
    int mode;
    bool freed = true;
    if (acre_cuda_enter(own, &mode) == ACRE_CUDA_SUCCESS) {
        freed = free_page(own, page);
        acre_cuda_leave(own, &mode);
    }
    if (own->params.memory == ACRE_CUDA_VIRTUAL) {
        acre_cuda_forget(own, &page->page);
    }
    if (freed) {
        own->bytes -= page->size;
        acre_host_free(&own->host, page, sizeof *page, _Alignof(acre_cuda_range));
    }
}

// At the end of the storage: nothing is put off any more.
void acre_cuda_pages_end(acre_cuda *own, bool reachable) {
    while (own->put_off != NULL) {
        acre_cuda_range *page = own->put_off;
        own->put_off = page->next;
        if (reachable) {
            (void)acre_cuda_call(own, pool_free(page->base, own->own_stream));
        }
        acre_host_free(&own->host, page, sizeof *page, _Alignof(acre_cuda_range));
    }
}

void acre_cuda_flush(void *context) {
    acre_cuda *own = context;
    int mode;
    if (own->pool == NULL || acre_cuda_enter(own, &mode) != ACRE_CUDA_SUCCESS) {
        return; // other frees are immediate
    }
    free_put_off(own);
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
