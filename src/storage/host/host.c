// Storage of host bytes: every page is a mapping of its own, so that giving one back frees it.
#include "storage/storage.h"

#include <acre/storage_host.h>

#include "base/bits.h"
#include "base/error.h"
#include "base/os.h"
#include "base/structs.h"
#include "storage/backend.h"
#include "storage/host/bytes.h"

#include <errno.h>
#include <string.h>

typedef struct host_page {
    void *base;           // what the system gave
    uint64_t mapped;      // bytes it gave
    uint64_t size;        // bytes the page was asked with
    unsigned char *bytes; // first aligned byte
} host_page;

typedef struct host_storage {
    acre_host host;
    acre_host_storage_params params;
    uint64_t bytes;
    acre_script script;
} host_storage;

static acre_status host_alloc(void *context, uint64_t size, uint64_t *id, acre_error *error) {
    host_storage *own = context;
    uint64_t total = own->params.total_memory;
    if (size > own->params.largest_allocation || own->bytes > total || size > total - own->bytes) {
        acre_error_native(error, ACRE_OUT_OF_MEMORY, size, 0, "");
        error->capacity =
            size > own->params.largest_allocation ? own->params.largest_allocation : total;
        return ACRE_OUT_OF_MEMORY;
    }
    host_page *page = acre_host_alloc(&own->host, sizeof *page, _Alignof(host_page));
    if (page == NULL) {
        return acre_error_refuse(error, ACRE_OUT_OF_HOST_MEMORY, sizeof *page);
    }
    // The system aligns to its own page; a larger alignment is found inside a larger mapping.
    uint64_t slack = own->params.alignment > acre_os_page_size() ? own->params.alignment : 0;
    page->size = size;
    page->mapped = acre_add_saturating(size, slack);
    bool fails = acre_script_fails(&own->script);
    page->base = fails ? NULL : acre_os_map(page->mapped);
    if (page->base == NULL) {
        int code = fails ? acre_host_scripted(&own->script) : errno;
        acre_host_free(&own->host, page, sizeof *page, _Alignof(host_page));
        return acre_host_refused(error, size, code);
    }
    uintptr_t start = (uintptr_t)page->base;
    uint64_t skip = slack == 0 ? 0 : (slack - start % slack) % slack;
    page->bytes = (unsigned char *)page->base + skip;
    own->bytes += size;
    *id = (uint64_t)(uintptr_t)page;
    return ACRE_OK;
}

static void host_dealloc(void *context, uint64_t id) {
    host_storage *own = context;
    host_page *page = (host_page *)(uintptr_t)id;
    own->bytes -= page->size;
    acre_os_unmap(page->base, page->mapped);
    acre_host_free(&own->host, page, sizeof *page, _Alignof(host_page));
}

static void host_flush(void *context) {
    (void)context; // frees are immediate
}

static acre_status host_resource(void *context, uint64_t id, uint64_t offset, uint64_t size,
                                 acre_resource *resource, acre_error *error) {
    (void)context;
    (void)error;
    resource->kind = ACRE_RESOURCE_HOST;
    resource->size = size;
    resource->as.host = ((const host_page *)(uintptr_t)id)->bytes + offset;
    return ACRE_OK;
}

static uint64_t host_alignment(void *context) {
    return ((const host_storage *)context)->params.alignment;
}

static uint64_t host_bytes_allocated(void *context) {
    return ((const host_storage *)context)->bytes;
}

static void host_limits(void *context, acre_storage_limits *limits) {
    const host_storage *own = context;
    limits->total_memory = own->params.total_memory;
    limits->largest_allocation = own->params.largest_allocation;
    limits->slice_alignment = acre_min(own->params.alignment, 256);
}

static void host_destroy(void *context) {
    host_storage *own = context;
    acre_host host = own->host;
    acre_host_free(&host, own, sizeof *own, _Alignof(host_storage));
}

static acre_status create(const acre_host_storage_params *params, const acre_host_hooks *hooks,
                          acre_storage **storage, acre_error *error) {
    acre_host_storage_params own = ACRE_HOST_STORAGE_PARAMS_INIT;
    if (params != NULL && !acre_struct_read(&own, sizeof own, params)) {
        return acre_error_set(error, ACRE_UNSUPPORTED,
                              "the host storage has parameters this version does not know");
    }
    own.alignment = own.alignment == 0 ? 4096 : own.alignment;
    if (!acre_is_power_of_two(own.alignment)) {
        return acre_error_set(error, ACRE_INVALID_ARGUMENT,
                              "the host storage's alignment is not a power of two");
    }
    if (own.total_memory == 0) {
        uint64_t physical = acre_os_physical_memory();
        own.total_memory = physical == 0 ? UINT64_MAX : physical;
    }
    if (own.largest_allocation == 0 || own.largest_allocation > own.total_memory) {
        own.largest_allocation = own.total_memory;
    }
    acre_host host;
    acre_status status = acre_host_init(&host, hooks, error);
    if (status != ACRE_OK) {
        return status;
    }
    host_storage *made = acre_host_alloc_zeroed(&host, sizeof *made, _Alignof(host_storage));
    if (made == NULL) {
        return acre_error_refuse(error, ACRE_OUT_OF_HOST_MEMORY, sizeof *made);
    }
    made->host = host;
    made->params = own;
    acre_storage_ops ops = ACRE_STORAGE_OPS_INIT;
    ops.alloc = host_alloc;
    ops.dealloc = host_dealloc;
    ops.flush = host_flush;
    ops.resource = host_resource;
    ops.alignment = host_alignment;
    ops.bytes_allocated = host_bytes_allocated;
    ops.limits = host_limits;
    ops.destroy = host_destroy;
    ops.copy = acre_host_copy;
    ops.write = acre_host_write;
    ops.read = acre_host_read;
    return acre_storage_make("host", &ops, made, hooks, &made->script, ACRE_RESOURCE_HOST, storage,
                             error);
}

acre_status acre_storage_host_create(const acre_host_storage_params *params,
                                     const acre_host_hooks *hooks, acre_storage **storage,
                                     acre_error *error) {
    acre_error local;
    acre_error *detail = acre_error_open(error, &local);
    return acre_error_close(error, detail, create(params, hooks, storage, detail));
}

acre_status acre_host_device(acre_device_info *info, acre_error *error) {
    (void)error;
    acre_host_describe(info);
    return ACRE_OK;
}
