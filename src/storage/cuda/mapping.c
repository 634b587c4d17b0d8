// Addresses apart from memory. The driver takes one memory a call, but gives access to, and unmaps,
// a whole run of them at a time:
//
//   range     |    | m1 |  m2   | m0 |        | m3 |        granules, each knows its memory
//                  <--- a run ------->        <---->        one cuMemSetAccess, one cuMemUnmap each
#include "storage/cuda/cuda.h"

#include "base/bits.h"
#include "base/error.h"

static acre_cuda_range *range_of(uint64_t range) {
    return (acre_cuda_range *)(uintptr_t)range;
}

static acre_cuda_backing *backing_of(uint64_t memory) {
    return (acre_cuda_backing *)(uintptr_t)memory;
}

static acre_status wrong(acre_error *error, uint64_t size, const char *what) {
    return acre_error_native(error, ACRE_BACKEND_ERROR, size, 0, what);
}

// ---- memory --------------------------------------------------------------------------------

static acre_cuda_result create_backing(acre_cuda *own, acre_cuda_backing *backing, uint64_t size) {
    acre_cuda_memory_properties properties = acre_cuda_properties(own);
    acre_cuda_result code =
        acre_cuda_call(own, handle_create(&backing->handle, size, &properties, 0));
    if (code != ACRE_CUDA_SUCCESS) {
        return code;
    }
    backing->size = size;
    backing->previous = NULL;
    backing->next = own->backings;
    if (own->backings != NULL) {
        own->backings->previous = backing;
    }
    own->backings = backing;
    return ACRE_CUDA_SUCCESS;
}

void acre_cuda_forget(acre_cuda *own, acre_cuda_backing *backing) {
    if (backing->previous != NULL) {
        backing->previous->next = backing->next;
    } else {
        own->backings = backing->next;
    }
    if (backing->next != NULL) {
        backing->next->previous = backing->previous;
    }
}

acre_status acre_cuda_memory_create(void *context, uint64_t size, uint64_t *memory,
                                    acre_error *error) {
    acre_cuda *own = context;
    if (size == 0 || size % own->granularity != 0) {
        return wrong(error, size, "memory is a multiple of the granularity");
    }
    acre_status status = acre_cuda_check_room(own, size, size, error);
    if (status != ACRE_OK) {
        return status;
    }
    acre_cuda_backing *made =
        acre_host_alloc_zeroed(&own->host, sizeof *made, _Alignof(acre_cuda_backing));
    if (made == NULL) {
        return acre_error_refuse(error, ACRE_OUT_OF_HOST_MEMORY, sizeof *made);
    }
    int mode;
    acre_cuda_result code = acre_cuda_enter(own, &mode);
    if (code == ACRE_CUDA_SUCCESS) {
        code = create_backing(own, made, size);
        acre_cuda_leave(own, &mode);
    }
    if (code != ACRE_CUDA_SUCCESS) {
        acre_host_free(&own->host, made, sizeof *made, _Alignof(acre_cuda_backing));
        return acre_cuda_refused(&own->api, size, code, error);
    }
    own->bytes += size;
    *memory = (uint64_t)(uintptr_t)made;
    return ACRE_OK;
}

void acre_cuda_memory_destroy(void *context, uint64_t memory) {
    acre_cuda *own = context;
    acre_cuda_backing *backing = backing_of(memory);
    int mode;
    if (acre_cuda_enter(own, &mode) == ACRE_CUDA_SUCCESS) {
        (void)acre_cuda_call(own, handle_release(backing->handle));
        acre_cuda_leave(own, &mode);
    }
    own->bytes -= backing->size;
    acre_cuda_forget(own, backing);
    acre_host_free(&own->host, backing, sizeof *backing, _Alignof(acre_cuda_backing));
}

// ---- ranges --------------------------------------------------------------------------------

static acre_cuda_result reserve(acre_cuda *own, acre_cuda_range *range) {
    int mode;
    acre_cuda_result code = acre_cuda_enter(own, &mode);
    if (code == ACRE_CUDA_SUCCESS) {
        code = acre_cuda_call(own, range_reserve(&range->base, range->size, 0, 0, 0));
        acre_cuda_leave(own, &mode);
    }
    return code;
}

static void free_range(acre_cuda *own, acre_cuda_range *range) {
    acre_host_free(&own->host, range->granules,
                   (size_t)(range->size / own->granularity) * sizeof(acre_cuda_backing *),
                   _Alignof(acre_cuda_backing *));
    acre_host_free(&own->host, range, sizeof *range, _Alignof(acre_cuda_range));
}

acre_status acre_cuda_range_reserve(void *context, uint64_t size, uint64_t *range,
                                    acre_error *error) {
    acre_cuda *own = context;
    if (size == 0 || size % own->granularity != 0) {
        return wrong(error, size, "a range is a multiple of the granularity");
    }
    uint64_t count = size / own->granularity;
    if (count > SIZE_MAX / sizeof(acre_cuda_backing *)) {
        return wrong(error, size, "a range beyond all addresses");
    }
    acre_cuda_range *made =
        acre_host_alloc_zeroed(&own->host, sizeof *made, _Alignof(acre_cuda_range));
    if (made == NULL) {
        return acre_error_refuse(error, ACRE_OUT_OF_HOST_MEMORY, sizeof *made);
    }
    size_t bytes = (size_t)count * sizeof *made->granules;
    made->size = size;
    made->granules = acre_host_alloc_zeroed(&own->host, bytes, _Alignof(acre_cuda_backing *));
    if (made->granules == NULL) {
        acre_host_free(&own->host, made, sizeof *made, _Alignof(acre_cuda_range));
        return acre_error_refuse(error, ACRE_OUT_OF_HOST_MEMORY, bytes);
    }
    acre_cuda_result code = reserve(own, made);
    if (code != ACRE_CUDA_SUCCESS) {
        free_range(own, made);
        return acre_cuda_refused(&own->api, size, code, error);
    }
    *range = (uint64_t)(uintptr_t)made;
    return ACRE_OK;
}

void acre_cuda_range_release(void *context, uint64_t range) {
    acre_cuda *own = context;
    acre_cuda_range *made = range_of(range);
    int mode;
    if (acre_cuda_enter(own, &mode) == ACRE_CUDA_SUCCESS) {
        (void)acre_cuda_call(own, range_free(made->base, made->size));
        acre_cuda_leave(own, &mode);
    }
    free_range(own, made);
}

// ---- what is mapped where ------------------------------------------------------------------

static acre_cuda_result give_access(acre_cuda *own, uint64_t address, uint64_t size) {
    acre_cuda_access access = {{ACRE_CUDA_LOCATION_DEVICE, own->device},
                               ACRE_CUDA_ACCESS_READ_WRITE};
    return acre_cuda_call(own, set_access(address, size, &access, 1));
}

// Maps what the granules of [start, end) say, without a hole; all or, after an error, nothing.
static acre_cuda_result map_run(acre_cuda *own, const acre_cuda_range *range, uint64_t start,
                                uint64_t end) {
    acre_cuda_result code = ACRE_CUDA_SUCCESS;
    uint64_t at = start;
    while (at < end && code == ACRE_CUDA_SUCCESS) {
        const acre_cuda_backing *backing = range->granules[at / own->granularity];
        code = acre_cuda_call(own, map(range->base + at, backing->size, 0, backing->handle, 0));
        at += code == ACRE_CUDA_SUCCESS ? backing->size : 0;
    }
    if (code == ACRE_CUDA_SUCCESS) {
        code = give_access(own, range->base + start, end - start);
    }
    if (code != ACRE_CUDA_SUCCESS && at > start) {
        (void)acre_cuda_call(own, unmap(range->base + start, at - start));
    }
    return code;
}

static void note_mapped(const acre_cuda *own, acre_cuda_range *range, uint64_t offset,
                        acre_cuda_backing *backing) {
    backing->range = range;
    backing->offset = offset;
    for (uint64_t at = offset; at < offset + backing->size; at += own->granularity) {
        range->granules[at / own->granularity] = backing;
    }
}

static void note_unmapped(const acre_cuda *own, acre_cuda_range *range, uint64_t start,
                          uint64_t end) {
    for (uint64_t at = start; at < end; at += own->granularity) {
        acre_cuda_backing **granule = &range->granules[at / own->granularity];
        if (*granule != NULL) {
            (*granule)->range = NULL;
            *granule = NULL;
        }
    }
}

// Notes the memories in the granules. => NULL, or what is wrong, with nothing noted.
static const char *place(const acre_cuda *own, acre_cuda_range *range, uint64_t offset,
                         const uint64_t *memories, uint64_t count, uint64_t *end) {
    const char *why = offset % own->granularity == 0 && offset <= range->size
                          ? NULL
                          : "an offset that is no multiple of the granularity in the range";
    uint64_t at = offset;
    for (uint64_t i = 0; i < count && why == NULL; i++) {
        acre_cuda_backing *backing = backing_of(memories[i]);
        if (backing->range != NULL) {
            why = "memory that is mapped already";
        } else if (backing->size > range->size - at) {
            why = "bytes beyond the range";
        }
        for (uint64_t k = 0; why == NULL && k < backing->size; k += own->granularity) {
            if (range->granules[(at + k) / own->granularity] != NULL) {
                why = "addresses where something is mapped";
            }
        }
        if (why == NULL) {
            note_mapped(own, range, at, backing);
            at += backing->size;
        }
    }
    if (why != NULL) {
        note_unmapped(own, range, offset, at);
    }
    *end = at;
    return why;
}

acre_status acre_cuda_map(void *context, uint64_t range, uint64_t offset, const uint64_t *memories,
                          uint64_t count, acre_error *error) {
    acre_cuda *own = context;
    acre_cuda_range *into = range_of(range);
    uint64_t end = offset;
    const char *why = place(own, into, offset, memories, count, &end);
    if (why != NULL) {
        return wrong(error, 0, why);
    }
    int mode;
    acre_cuda_result code = acre_cuda_enter(own, &mode);
    if (code == ACRE_CUDA_SUCCESS) {
        code = map_run(own, into, offset, end);
        acre_cuda_leave(own, &mode);
    }
    if (code != ACRE_CUDA_SUCCESS) {
        note_unmapped(own, into, offset, end);
    }
    return acre_cuda_status(own, end - offset, code, error);
}

// The first run of mapped granules in [*start, end). => false when there is none.
static bool next_run(const acre_cuda *own, const acre_cuda_range *range, uint64_t *start,
                     uint64_t *run_end, uint64_t end) {
    while (*start < end && range->granules[*start / own->granularity] == NULL) {
        *start += own->granularity;
    }
    *run_end = *start;
    while (*run_end < end && range->granules[*run_end / own->granularity] != NULL) {
        *run_end += own->granularity;
    }
    return *run_end > *start;
}

// Maps the runs of [start, end) again. What the driver does not take back is unmapped for good.
static void restore_runs(acre_cuda *own, acre_cuda_range *range, uint64_t start, uint64_t end) {
    uint64_t run_end;
    for (uint64_t at = start; next_run(own, range, &at, &run_end, end); at = run_end) {
        if (map_run(own, range, at, run_end) != ACRE_CUDA_SUCCESS) {
            note_unmapped(own, range, at, run_end);
        }
    }
}

static acre_cuda_result unmap_runs(acre_cuda *own, acre_cuda_range *range, uint64_t start,
                                   uint64_t end) {
    uint64_t run_end;
    for (uint64_t at = start; next_run(own, range, &at, &run_end, end); at = run_end) {
        acre_cuda_result code = acre_cuda_call(own, unmap(range->base + at, run_end - at));
        if (code != ACRE_CUDA_SUCCESS) {
            restore_runs(own, range, start, at);
            return code;
        }
    }
    note_unmapped(own, range, start, end);
    return ACRE_CUDA_SUCCESS;
}

// => NULL when [offset, offset + size) cuts nothing in two, else what is wrong.
static const char *refuse_unmap(const acre_cuda *own, const acre_cuda_range *range, uint64_t offset,
                                uint64_t size) {
    if (offset % own->granularity != 0 || size % own->granularity != 0) {
        return "bytes that are no multiple of the granularity";
    }
    if (offset > range->size || size > range->size - offset) {
        return "bytes beyond the range";
    }
    if (size == 0) {
        return NULL;
    }
    const acre_cuda_backing *first = range->granules[offset / own->granularity];
    const acre_cuda_backing *last = range->granules[(offset + size) / own->granularity - 1];
    bool cut = (first != NULL && first->offset < offset) ||
               (last != NULL && last->offset + last->size > offset + size);
    return cut ? "memory that would be cut in two" : NULL;
}

acre_status acre_cuda_unmap(void *context, uint64_t range, uint64_t offset, uint64_t size,
                            acre_error *error) {
    acre_cuda *own = context;
    const char *why = refuse_unmap(own, range_of(range), offset, size);
    if (why != NULL) {
        return wrong(error, size, why);
    }
    int mode;
    acre_cuda_result code = acre_cuda_enter(own, &mode);
    if (code == ACRE_CUDA_SUCCESS) {
        (void)acre_cuda_gather_end(own);
        code = unmap_runs(own, range_of(range), offset, offset + size);
        acre_cuda_leave(own, &mode);
    }
    return acre_cuda_status(own, size, code, error);
}

// ---- pages that are mapped -----------------------------------------------------------------

// Memory at the addresses of the page. => other than SUCCESS: nothing is mapped.
static acre_cuda_result fill_page(acre_cuda *own, acre_cuda_range *page) {
    acre_cuda_result code =
        acre_cuda_call(own, map(page->base, page->size, 0, page->page.handle, 0));
    if (code != ACRE_CUDA_SUCCESS) {
        return code;
    }
    code = give_access(own, page->base, page->size);
    if (code != ACRE_CUDA_SUCCESS) {
        (void)acre_cuda_call(own, unmap(page->base, page->size));
    }
    return code;
}

acre_cuda_result acre_cuda_page_map(acre_cuda *own, acre_cuda_range *page, uint64_t size) {
    acre_cuda_result code = acre_cuda_call(own, range_reserve(&page->base, size, 0, 0, 0));
    if (code != ACRE_CUDA_SUCCESS) {
        return code;
    }
    code = create_backing(own, &page->page, size);
    if (code == ACRE_CUDA_SUCCESS) {
        code = fill_page(own, page);
        if (code == ACRE_CUDA_SUCCESS) {
            page->page.range = page;
            return code;
        }
        (void)acre_cuda_call(own, handle_release(page->page.handle));
        acre_cuda_forget(own, &page->page);
    }
    (void)acre_cuda_call(own, range_free(page->base, size));
    return code;
}

void acre_cuda_page_unmap(acre_cuda *own, acre_cuda_range *page) {
    acre_cuda_result code = acre_cuda_call(own, unmap(page->base, page->size));
    (void)acre_cuda_call(own, handle_release(page->page.handle));
    if (code == ACRE_CUDA_SUCCESS) { // else something is behind the addresses: they stay taken
        (void)acre_cuda_call(own, range_free(page->base, page->size));
    }
}
