// From a handle to its allocation: bind, cursor, place, resolve.
#include "base/error.h"
#include "base/structs.h"
#include "manager/manager.h"

uint32_t acre_manager_find(const acre_manager *manager, const acre_handle *handle) {
    if (handle == NULL || atomic_load_explicit(&handle->counts, memory_order_relaxed) == 0) {
        return 0;
    }
    const acre_handle *record = acre_handle_record(manager->home, handle);
    return record == NULL || (record->slice & ACRE_HANDLE_MARK) != 0 ? 0 : record->slice;
}

static acre_status not_found(acre_error *error) {
    return acre_error_refuse(error, ACRE_NOT_FOUND, 0);
}

// ---- bind ----------------------------------------------------------------------------------

// Whether a handle is known to belong to another manager.
static bool is_foreign(const acre_manager *manager, const acre_handle *handle) {
    if (acre_handle_is_loose(handle)) {
        return acre_loose_handle_is_bound(handle) && handle->slice != ACRE_HANDLE_STALE &&
               acre_handle_record(manager->home, handle) == NULL;
    }
    return acre_slab_chunk_of(handle)->owner != manager->home;
}

static acre_status check_bind(const acre_manager *manager, const acre_handle *reserved,
                              const acre_handle *assigned, acre_error *error) {
    if (reserved == NULL || assigned == NULL) {
        return acre_error_set(error, ACRE_INVALID_ARGUMENT, "a bind needs two handles");
    }
    if (is_foreign(manager, reserved) || is_foreign(manager, assigned)) {
        return acre_error_set(error, ACRE_INVALID_ARGUMENT, "the %s handle is of another manager",
                              is_foreign(manager, reserved) ? "reserved" : "assigned");
    }
    if (acre_manager_find(manager, reserved) == 0) {
        return not_found(error);
    }
    // Uninitialised means slice 0 for records and loose handles alike.
    if (assigned->slice != 0) {
        return acre_error_set(error, ACRE_INVALID_ARGUMENT,
                              "the assigned handle was bound or reserved before");
    }
    return ACRE_OK;
}

static bool has_bindings(const acre_handle *handle) {
    return atomic_load_explicit(&handle->counts, memory_order_acquire) >= ACRE_BINDING;
}

// The handle loses its allocation to the record `to`. Bindings on it that are in flight go on
// keeping the allocation: until they are gone the handle holds a binding on `to` for them. So do
// holds of handles that were bound to it; those of a loose handle are on its record.
static void make_stale(acre_manager *manager, acre_handle *handle, acre_handle *record,
                       acre_handle *to) {
    bool in_flight = has_bindings(handle) || has_bindings(record);
    if (in_flight) {
        acre_handle_hold(record, to);
    } else {
        record->slice = ACRE_HANDLE_STALE;
    }
    if (acre_handle_is_loose(handle)) {
        acre_loose_handle_unbind(handle, in_flight);
        if (!in_flight) {
            acre_slab_give(&manager->home->handles, acre_handle_name(record));
        }
    }
}

acre_status acre_manager_bind(acre_manager *manager, acre_handle *reserved, acre_handle *assigned,
                              uint64_t cursor, acre_error *error) {
    acre_error local;
    acre_error *detail = acre_error_open(error, &local);
    acre_manager_take_pending(manager);
    acre_status status = check_bind(manager, reserved, assigned, detail);
    if (status == ACRE_OK &&
        (!acre_slab_prepare(&manager->home->handles, 1) ||
         (acre_handle_is_loose(assigned) && !acre_loose_handle_prepare(manager->home)))) {
        status = acre_error_refuse(detail, ACRE_OUT_OF_HOST_MEMORY, sizeof(acre_handle));
    }
    if (status != ACRE_OK) {
        return acre_error_close(error, detail, status);
    }
    acre_handle *from = acre_handle_record(manager->home, reserved);
    uint32_t slice = from->slice;
    acre_handle *to = assigned;
    if (acre_handle_is_loose(assigned)) {
        uint32_t name;
        to = acre_handle_take(manager->home, &name, 0);
        acre_loose_handle_bind(assigned, manager->home, to);
    }
    to->slice = slice;
    make_stale(manager, reserved, from, to);
    acre_slice *record = acre_heap_slice(&manager->heap, slice);
    record->handle = acre_handle_name(to);
    record->live.cursor = cursor;
    if (acre_unlikely(manager->tainted.count != 0)) {
        acre_manager_clear_claims(manager, slice);
    }
    return ACRE_OK;
}

// ---- look-ups ------------------------------------------------------------------------------

acre_status acre_manager_handle_create(acre_manager *manager, acre_handle **handle,
                                       acre_error *error) {
    acre_error local;
    acre_error *detail = acre_error_open(error, &local);
    acre_manager_take_pending(manager);
    if (!acre_slab_prepare(&manager->home->handles, 1)) {
        return acre_error_close(
            error, detail, acre_error_refuse(detail, ACRE_OUT_OF_HOST_MEMORY, sizeof(acre_handle)));
    }
    uint32_t name;
    *handle = acre_handle_take(manager->home, &name, 0);
    return ACRE_OK;
}

acre_status acre_manager_get_cursor(acre_manager *manager, const acre_handle *handle,
                                    uint64_t *cursor, acre_error *error) {
    acre_error local;
    acre_error *detail = acre_error_open(error, &local);
    acre_manager_take_pending(manager);
    uint32_t slice = acre_manager_find(manager, handle);
    if (slice == 0) {
        return acre_error_close(error, detail, not_found(detail));
    }
    *cursor = acre_heap_slice(&manager->heap, slice)->live.cursor;
    return ACRE_OK;
}

acre_status acre_manager_get_place(acre_manager *manager, const acre_handle *handle,
                                   acre_place *place, acre_error *error) {
    acre_error local;
    acre_error *detail = acre_error_open(error, &local);
    acre_manager_take_pending(manager);
    uint32_t name = acre_manager_find(manager, handle);
    if (name == 0) {
        return acre_error_close(error, detail, not_found(detail));
    }
    const acre_heap *heap = &manager->heap;
    const acre_slice *slice = acre_heap_slice(heap, name);
    uint64_t size = slice->live.requested;
    acre_place own = ACRE_PLACE_INIT;
    own.pool_index =
        size == 0 ? slice->before : acre_page_at(heap, acre_slice_page(slice))->pool->index;
    own.page = acre_slice_page(slice);
    own.offset = slice->offset;
    own.size = size;
    own.padding = acre_heap_padded(heap, size) - size;
    acre_struct_write(place, &own, sizeof own);
    return ACRE_OK;
}

static acre_status resolve(acre_manager *manager, const acre_handle *handle, uint64_t offset_start,
                           uint64_t offset_end, acre_resource *resource, acre_error *error) {
    uint32_t name = acre_manager_find(manager, handle);
    if (name == 0) {
        return not_found(error);
    }
    const acre_heap *heap = &manager->heap;
    const acre_slice *slice = acre_heap_slice(heap, name);
    uint64_t size = slice->live.requested;
    if (offset_start > size || offset_end > size - offset_start) {
        acre_error_describe(error, ACRE_INVALID_ARGUMENT,
                            "offset_start and offset_end cut off more than the allocation has");
        error->size = acre_add_saturating(offset_start, offset_end);
        error->capacity = size;
        return ACRE_INVALID_ARGUMENT;
    }
    size -= offset_start + offset_end;
    acre_resource own = ACRE_RESOURCE_INIT;
    if (size != 0) {
        acre_page *page = acre_page_at(heap, acre_slice_page(slice));
        acre_status status = page->mapped ? ACRE_OK : acre_pool_map_page(page->pool, page, error);
        if (status == ACRE_OK) {
            status = acre_storage_resource(heap->storage, page->id, slice->offset + offset_start,
                                           size, &own, error);
        }
        if (status != ACRE_OK) {
            return status;
        }
    }
    acre_struct_write(resource, &own, sizeof own);
    return ACRE_OK;
}

acre_status acre_manager_resolve(acre_manager *manager, const acre_handle *handle,
                                 uint64_t offset_start, uint64_t offset_end,
                                 acre_resource *resource, acre_error *error) {
    acre_error local;
    acre_error *detail = acre_error_open(error, &local);
    acre_manager_take_pending(manager);
    return acre_error_close(error, detail,
                            resolve(manager, handle, offset_start, offset_end, resource, detail));
}

acre_status acre_manager_resolve_managed(acre_manager *manager, acre_handle *handle,
                                         uint64_t offset_start, uint64_t offset_end,
                                         acre_managed_resource *resource, acre_error *error) {
    acre_resource own = ACRE_RESOURCE_INIT;
    acre_status status =
        acre_manager_resolve(manager, handle, offset_start, offset_end, &own, error);
    if (status == ACRE_OK) {
        resource->resource = own;
        resource->binding = acre_handle_binding(handle);
    }
    return status;
}

void acre_managed_resource_release(acre_managed_resource *resource) {
    if (resource == NULL) {
        return;
    }
    acre_binding_release(resource->binding);
    resource->binding = NULL;
    resource->resource = ACRE_RESOURCE_INIT;
}
