// A storage of the caller's own, with malloc behind it and nothing that is optional but copies.
#include "suite.h"

typedef struct own_page {
    void *bytes;
    uint64_t size;
} own_page;

typedef struct own_heap {
    own_page pages[4096];
    uint64_t held;
    uint64_t total;
    uint64_t largest;
} own_heap;

static acre_status own_alloc(void *context, uint64_t size, uint64_t *id, acre_error *error) {
    own_heap *heap = context;
    if (size > heap->largest || size > heap->total - heap->held) {
        error->native_code = 2;
        error->capacity = size > heap->largest ? heap->largest : heap->total;
        snprintf(error->native_text, sizeof(error->native_text), "heap is full");
        return ACRE_OUT_OF_MEMORY;
    }
    for (uint64_t i = 0; i < COUNT_OF(heap->pages); i++) {
        own_page *page = &heap->pages[i];
        if (page->bytes == NULL) {
            if (posix_memalign(&page->bytes, 4096, size) != 0) {
                page->bytes = NULL;
                return ACRE_BACKEND_ERROR;
            }
            page->size = size;
            heap->held += size;
            *id = i;
            return ACRE_OK;
        }
    }
    return ACRE_BACKEND_ERROR;
}

static void own_dealloc(void *context, uint64_t id) {
    own_heap *heap = context;
    assert_non_null(heap->pages[id].bytes);
    heap->held -= heap->pages[id].size;
    free(heap->pages[id].bytes);
    heap->pages[id].bytes = NULL;
}

static void own_flush(void *context) {
    (void)context;
}

static acre_status own_resource(void *context, uint64_t id, uint64_t offset, uint64_t size,
                                acre_resource *resource, acre_error *error) {
    (void)error;
    own_heap *heap = context;
    assert_true(size > 0 && offset + size <= heap->pages[id].size);
    resource->kind = ACRE_RESOURCE_HOST;
    resource->size = size;
    resource->as.host = (char *)heap->pages[id].bytes + offset;
    return ACRE_OK;
}

static uint64_t own_alignment(void *context) {
    (void)context;
    return 4096;
}

static uint64_t own_bytes(void *context) {
    own_heap *heap = context;
    return heap->held;
}

static void own_limits(void *context, acre_storage_limits *limits) {
    const own_heap *heap = context;
    limits->total_memory = heap->total;
    limits->largest_allocation = heap->largest;
    limits->slice_alignment = 64;
}

static void own_destroy(void *context) {
    own_heap *heap = context;
    assert_int_equal(heap->held, 0);
    free(heap);
}

static acre_status own_copy(void *context, const acre_resource *source, const acre_resource *target,
                            acre_error *error) {
    (void)context;
    (void)error;
    memcpy(target->as.host, source->as.host, source->size);
    return ACRE_OK;
}

static acre_status own_write(void *context, const acre_resource *target, const void *bytes,
                             acre_error *error) {
    (void)context;
    (void)error;
    memcpy(target->as.host, bytes, target->size);
    return ACRE_OK;
}

static acre_status own_read(void *context, const acre_resource *source, void *bytes,
                            acre_error *error) {
    (void)context;
    (void)error;
    memcpy(bytes, source->as.host, source->size);
    return ACRE_OK;
}

static acre_storage *create_own(uint64_t total, uint64_t largest, acre_error *error) {
    acre_storage_ops ops = ACRE_STORAGE_OPS_INIT;
    ops.alloc = own_alloc;
    ops.dealloc = own_dealloc;
    ops.flush = own_flush;
    ops.resource = own_resource;
    ops.alignment = own_alignment;
    ops.bytes_allocated = own_bytes;
    ops.limits = own_limits;
    ops.destroy = own_destroy;
    ops.copy = own_copy;
    ops.write = own_write;
    ops.read = own_read;
    own_heap *heap = calloc(1, sizeof(*heap));
    assert_non_null(heap);
    heap->total = total != 0 ? total : GIB;
    heap->largest = largest != 0 ? largest : heap->total;
    acre_storage *storage = NULL;
    return acre_storage_create("own", &ops, heap, NULL, &storage, error) == ACRE_OK ? storage
                                                                                    : NULL;
}

static const subject own[] = {{.name = "the caller's own", .create = create_own}};

const subject_list own_subjects = {"own", own, COUNT_OF(own)};
