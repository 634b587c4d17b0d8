// A back end of one's own: the table of operations that stands between Acre and a device. Here the
// "device" is malloc with a limit; with CUDA, alloc would call cuMemAlloc and resource would name a
// CUdeviceptr.
#include <acre/acre.h>
#include <stdio.h>
#include <stdlib.h>

// Whatever the operations need to know. One per storage; the library only passes it on.
typedef struct heap {
    uint64_t limit;
    uint64_t used;
} heap;

// A page. Its address is its id.
typedef struct page {
    uint64_t size;
    void *bytes;
} page;

static acre_status heap_alloc(void *context, uint64_t size, uint64_t *id, acre_error *error) {
    heap *own = context;
    page *made = malloc(sizeof *made);
    void *bytes =
        size <= own->limit - own->used ? aligned_alloc(256, (size + 255) / 256 * 256) : NULL;
    if (made == NULL || bytes == NULL) {
        free(made);
        free(bytes);
        error->native_code = -2; // the driver's own code and text reach the caller
        snprintf(error->native_text, sizeof error->native_text, "the heap is full");
        return ACRE_OUT_OF_MEMORY;
    }
    made->size = size;
    made->bytes = bytes;
    own->used += size;
    *id = (uint64_t)(uintptr_t)made;
    return ACRE_OK;
}

static void heap_dealloc(void *context, uint64_t id) {
    heap *own = context;
    page *gone = (page *)(uintptr_t)id;
    own->used -= gone->size;
    free(gone->bytes);
    free(gone);
}

static void heap_flush(void *context) {
    (void)context; // nothing is put off
}

static acre_status heap_resource(void *context, uint64_t id, uint64_t offset, uint64_t size,
                                 acre_resource *resource, acre_error *error) {
    (void)context;
    (void)error;
    resource->kind = ACRE_RESOURCE_HOST;
    resource->size = size;
    resource->as.host = (char *)((page *)(uintptr_t)id)->bytes + offset;
    return ACRE_OK;
}

static uint64_t heap_alignment(void *context) {
    (void)context;
    return 256;
}

static uint64_t heap_bytes(void *context) {
    return ((const heap *)context)->used;
}

static void heap_limits(void *context, acre_storage_limits *limits) {
    limits->total_memory = ((const heap *)context)->limit;
}

static int fail(const acre_error *error) {
    char text[512];
    acre_error_format(error, text, sizeof text);
    fprintf(stderr, "own_storage: %s\n", text);
    return 1;
}

static int use(acre_manager *manager, acre_error *error) {
    acre_handle *weights = NULL;
    acre_handle *too_much = NULL;
    if (acre_manager_reserve(manager, 3000000, &weights, error) != ACRE_OK) {
        return fail(error);
    }
    // A request that the device refuses is an error, and the manager goes on.
    if (acre_manager_reserve(manager, 8000000, &too_much, error) != ACRE_OUT_OF_MEMORY) {
        fprintf(stderr, "own_storage: the heap gave more than it has\n");
        return 1;
    }
    char text[4096];
    acre_error_format(error, text, sizeof text);
    printf("refused, as it should be: %s\n", text);
    acre_resource resource = ACRE_RESOURCE_INIT;
    if (acre_manager_resolve(manager, weights, 0, 0, &resource, error) != ACRE_OK) {
        return fail(error);
    }
    ((char *)resource.as.host)[2999999] = 1; // bytes 0 to 2,999,999 are ours
    acre_manager_report_write(manager, ACRE_REPORT_TEXT, text, sizeof text);
    fputs(text, stdout);
    acre_manager_release(manager, weights);
    return 0;
}

int main(void) {
    acre_error error = ACRE_ERROR_INIT;
    acre_storage_ops ops = ACRE_STORAGE_OPS_INIT;
    ops.alloc = heap_alloc;
    ops.dealloc = heap_dealloc;
    ops.flush = heap_flush;
    ops.resource = heap_resource;
    ops.alignment = heap_alignment;
    ops.bytes_allocated = heap_bytes;
    ops.limits = heap_limits;
    heap own = {.limit = UINT64_C(10000000), .used = 0};
    acre_storage *storage = NULL;
    acre_manager *manager = NULL;
    if (acre_storage_create("heap", &ops, &own, NULL, &storage, &error) != ACRE_OK) {
        return fail(&error);
    }
    int outcome = acre_manager_create(storage, NULL, &manager, &error) == ACRE_OK
                      ? use(manager, &error)
                      : fail(&error);
    acre_manager_destroy(manager);
    acre_storage_destroy(storage);
    return outcome;
}
