// Simulated storage: a device that is only bookkeeping. Pages are counted, limits enforced, and
// failures scripted; no byte exists.
#include "storage/storage.h"

#include <acre/storage_simulated.h>

#include "base/bits.h"
#include "base/error.h"
#include "base/slab.h"
#include "base/structs.h"
#include "storage/backend.h"
#include "storage/simulated/mapping.h"

#include <stdio.h>
#include <string.h>

#define CALL_KINDS (ACRE_SIMULATED_UNMAP + 1)

typedef struct simulated_page {
    uint64_t size;
    uint32_t unused;
    uint32_t next; // of the frees put off
} simulated_page;

typedef struct simulated_storage {
    acre_host host;
    acre_simulated_storage_params params;
    acre_slab pages;
    uint32_t deferred; // frees put off until flush
    uint64_t bytes;
    acre_simulated_mapping mapping;
    acre_script script;              // over all calls
    acre_script scripts[CALL_KINDS]; // by kind
} simulated_storage;

static simulated_page *page_at(const simulated_storage *own, uint32_t name) {
    return acre_slab_at(&own->pages, name);
}

// Counts a call. => whether it fails on order; the error says so then.
static bool fails(simulated_storage *own, acre_simulated_call call, uint64_t size,
                  acre_error *error) {
    bool all = acre_script_fails(&own->script);
    bool kind = acre_script_fails(&own->scripts[call]);
    if (acre_likely(!all && !kind)) {
        return false;
    }
    bool memory = call == ACRE_SIMULATED_ALLOC || call == ACRE_SIMULATED_MEMORY_CREATE;
    int64_t code = all && own->script.code != 0 ? own->script.code : -1;
    acre_error_native(error, memory ? ACRE_OUT_OF_MEMORY : ACRE_BACKEND_ERROR, size, code,
                      "scripted failure");
    return true;
}

// => whether the device has no room for another `size` bytes; the error says what its limit is.
static bool is_full(const simulated_storage *own, uint64_t size, acre_error *error) {
    uint64_t largest = own->params.largest_allocation;
    uint64_t total = own->params.total_memory;
    bool too_large = largest != 0 && size > largest;
    if (!too_large && (total == 0 || size <= total - acre_min(own->bytes, total)) &&
        size <= UINT64_MAX - own->bytes) {
        return false;
    }
    acre_error_native(error, ACRE_OUT_OF_MEMORY, size, 0, "");
    error->capacity = too_large ? largest : total;
    return true;
}

static acre_status simulated_alloc(void *context, uint64_t size, uint64_t *id, acre_error *error) {
    simulated_storage *own = context;
    if (fails(own, ACRE_SIMULATED_ALLOC, size, error)) {
        return error->status;
    }
    if (is_full(own, size, error)) {
        return ACRE_OUT_OF_MEMORY;
    }
    if (!acre_slab_prepare(&own->pages, 1)) {
        return acre_error_refuse(error, ACRE_OUT_OF_HOST_MEMORY, sizeof(simulated_page));
    }
    uint32_t name = acre_slab_take(&own->pages);
    page_at(own, name)->size = size;
    own->bytes += size;
    *id = name;
    return ACRE_OK;
}

static void free_page(simulated_storage *own, uint32_t name) {
    own->bytes -= page_at(own, name)->size;
    acre_slab_give(&own->pages, name);
}

static void simulated_dealloc(void *context, uint64_t id) {
    simulated_storage *own = context;
    uint32_t name = (uint32_t)id;
    if (own->params.deferred_frees) {
        page_at(own, name)->next = own->deferred;
        own->deferred = name;
    } else {
        free_page(own, name);
    }
}

static void simulated_flush(void *context) {
    simulated_storage *own = context;
    while (own->deferred != 0) {
        uint32_t name = own->deferred;
        own->deferred = page_at(own, name)->next;
        free_page(own, name);
    }
}

static acre_status simulated_resource(void *context, uint64_t id, uint64_t offset, uint64_t size,
                                      acre_resource *resource, acre_error *error) {
    simulated_storage *own = context;
    if (fails(own, ACRE_SIMULATED_RESOURCE, size, error)) {
        return error->status;
    }
    if (acre_simulated_is_range(id) && !acre_simulated_is_mapped(&own->mapping, id, offset, size)) {
        return acre_error_native(error, ACRE_BACKEND_ERROR, size, 0, "bytes that are not mapped");
    }
    resource->kind = ACRE_RESOURCE_SIMULATED;
    resource->size = size;
    resource->as.simulated.page = id;
    resource->as.simulated.offset = offset;
    return ACRE_OK;
}

static acre_status simulated_copy(void *context, const acre_resource *source,
                                  const acre_resource *target, acre_error *error) {
    simulated_storage *own = context;
    (void)target;
    return fails(own, ACRE_SIMULATED_COPY, source->size, error) ? error->status : ACRE_OK;
}

// ---- address ranges apart from memory ------------------------------------------------------

static uint64_t simulated_granularity(void *context) {
    return ((const simulated_storage *)context)->params.granularity;
}

static acre_status simulated_range_reserve(void *context, uint64_t size, uint64_t *range,
                                           acre_error *error) {
    simulated_storage *own = context;
    return fails(own, ACRE_SIMULATED_RANGE_RESERVE, size, error)
               ? error->status
               : acre_simulated_reserve(&own->mapping, size, range, error);
}

static void simulated_range_release(void *context, uint64_t range) {
    acre_simulated_release(&((simulated_storage *)context)->mapping, range);
}

static acre_status simulated_memory_create(void *context, uint64_t size, uint64_t *memory,
                                           acre_error *error) {
    simulated_storage *own = context;
    if (fails(own, ACRE_SIMULATED_MEMORY_CREATE, size, error)) {
        return error->status;
    }
    if (is_full(own, size, error)) {
        return ACRE_OUT_OF_MEMORY;
    }
    acre_status status = acre_simulated_create(&own->mapping, size, memory, error);
    own->bytes += status == ACRE_OK ? size : 0;
    return status;
}

static void simulated_memory_destroy(void *context, uint64_t memory) {
    simulated_storage *own = context;
    own->bytes -= acre_simulated_destroy(&own->mapping, memory);
}

static acre_status simulated_map(void *context, uint64_t range, uint64_t offset,
                                 const uint64_t *memories, uint64_t count, acre_error *error) {
    simulated_storage *own = context;
    return fails(own, ACRE_SIMULATED_MAP, 0, error)
               ? error->status
               : acre_simulated_map(&own->mapping, range, offset, memories, count, error);
}

static acre_status simulated_unmap(void *context, uint64_t range, uint64_t offset, uint64_t size,
                                   acre_error *error) {
    simulated_storage *own = context;
    return fails(own, ACRE_SIMULATED_UNMAP, size, error)
               ? error->status
               : acre_simulated_unmap(&own->mapping, range, offset, size, error);
}

// ---- the table -----------------------------------------------------------------------------

static uint64_t simulated_alignment(void *context) {
    return ((const simulated_storage *)context)->params.alignment;
}

static uint64_t simulated_bytes_allocated(void *context) {
    return ((const simulated_storage *)context)->bytes;
}

static void simulated_limits(void *context, acre_storage_limits *limits) {
    const simulated_storage *own = context;
    limits->total_memory = own->params.total_memory;
    limits->largest_allocation = own->params.largest_allocation;
    limits->slice_alignment = own->params.slice_alignment;
    limits->no_sub_slices = own->params.no_sub_slices;
}

static void simulated_destroy(void *context) {
    simulated_storage *own = context;
    acre_slab_destroy(&own->pages);
    acre_simulated_mapping_destroy(&own->mapping);
    acre_host host = own->host;
    acre_host_free(&host, own, sizeof *own, _Alignof(simulated_storage));
}

static acre_status create(const acre_simulated_storage_params *params, const acre_host_hooks *hooks,
                          acre_storage **storage, acre_error *error) {
    acre_simulated_storage_params own = ACRE_SIMULATED_STORAGE_PARAMS_INIT;
    if (params != NULL && !acre_struct_read(&own, sizeof own, params)) {
        return acre_error_set(error, ACRE_UNSUPPORTED,
                              "the simulated storage has parameters this version does not know");
    }
    own.alignment = own.alignment == 0 ? UINT64_C(2) << 20 : own.alignment;
    own.slice_alignment = own.slice_alignment == 0 ? 256 : own.slice_alignment;
    own.granularity = own.granularity == 0 ? UINT64_C(2) << 20 : own.granularity;
    acre_host host;
    acre_status status = acre_host_init(&host, hooks, error);
    if (status != ACRE_OK) {
        return status;
    }
    simulated_storage *made =
        acre_host_alloc_zeroed(&host, sizeof *made, _Alignof(simulated_storage));
    if (made == NULL) {
        return acre_error_refuse(error, ACRE_OUT_OF_HOST_MEMORY, sizeof *made);
    }
    made->host = host;
    made->params = own;
    acre_slab_init(&made->pages, &made->host, made, sizeof(simulated_page));
    acre_simulated_mapping_init(&made->mapping, &made->host, own.granularity);
    acre_storage_ops ops = ACRE_STORAGE_OPS_INIT;
    ops.alloc = simulated_alloc;
    ops.dealloc = simulated_dealloc;
    ops.flush = simulated_flush;
    ops.resource = simulated_resource;
    ops.alignment = simulated_alignment;
    ops.bytes_allocated = simulated_bytes_allocated;
    ops.limits = simulated_limits;
    ops.destroy = simulated_destroy;
    ops.copy = simulated_copy;
    ops.granularity = simulated_granularity;
    ops.range_reserve = simulated_range_reserve;
    ops.range_release = simulated_range_release;
    ops.memory_create = simulated_memory_create;
    ops.memory_destroy = simulated_memory_destroy;
    ops.map = simulated_map;
    ops.unmap = simulated_unmap;
    return acre_storage_make("simulated", &ops, made, hooks, &made->script, ACRE_RESOURCE_SIMULATED,
                             storage, error);
}

acre_status acre_storage_simulated_create(const acre_simulated_storage_params *params,
                                          const acre_host_hooks *hooks, acre_storage **storage,
                                          acre_error *error) {
    acre_error local;
    acre_error *detail = acre_error_open(error, &local);
    return acre_error_close(error, detail, create(params, hooks, storage, detail));
}

// => the simulated device behind a storage, NULL when it is of another kind.
static simulated_storage *simulated_of(const acre_storage *storage) {
    return storage->ops.alloc == simulated_alloc ? storage->context : NULL;
}

uint64_t acre_storage_simulated_calls(const acre_storage *storage, acre_simulated_call call) {
    const simulated_storage *own = simulated_of(storage);
    return own == NULL || (unsigned)call >= CALL_KINDS ? 0 : own->scripts[call].calls;
}

acre_status acre_storage_simulated_fail(acre_storage *storage, acre_simulated_call call,
                                        uint64_t nth, bool and_after, acre_error *error) {
    acre_error local;
    acre_error *detail = acre_error_open(error, &local);
    simulated_storage *own = simulated_of(storage);
    if (own == NULL || (unsigned)call >= CALL_KINDS) {
        return acre_error_close(
            error, detail,
            acre_error_set(detail, ACRE_INVALID_ARGUMENT, "%s",
                           own == NULL ? "failures are scripted on simulated storages only"
                                       : "no such simulated call"));
    }
    acre_script_order(&own->scripts[call], nth, and_after, 0);
    return ACRE_OK;
}

acre_status acre_simulated_device(acre_device_info *info, acre_error *error) {
    (void)error;
    snprintf(info->name, sizeof info->name, "a simulated device");
    snprintf(info->driver, sizeof info->driver, "bookkeeping alone");
    info->granularity = UINT64_C(2) << 20;
    return ACRE_OK;
}
