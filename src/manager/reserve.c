// Reserving: routing a request to a pool, growing, and what happens before a request fails.
//
//   room held?  --- yes ------------------------------------------------> served
//      | no
//   forbidden --------------------------------------------------------> PAGE_UPDATE_FORBIDDEN
//      | may add
//   soft limit passed by the new page: idle pages of all pools go back
//   new page  --- the device gives it ----------------------------------> served
//      | over the pool's cap: the same from the next pool that accepts the size
//      | out of memory: idle pages of all pools go back; if any did, once more from the top
//      | still: the caller's callback may free something and ask for one more try
//      v
//   the error
#include "manager/reserve.h"
#include "base/error.h"
#include "base/structs.h"
#include "manager/capture.h"

static bool may_add(const acre_request *wanted) {
    return wanted->update != ACRE_PAGES_FORBIDDEN;
}

void acre_reserve_tell(const acre_manager *manager, const acre_request *wanted, uint32_t slice,
                       const acre_pool *pool) {
    acre_manager_tell(manager,
                      &(acre_event){.struct_size = sizeof(acre_event),
                                    .kind = slice != 0 ? ACRE_EVENT_RESERVE : ACRE_EVENT_REFUSE,
                                    .allocation = slice,
                                    .tag = wanted->tag,
                                    .size = wanted->size,
                                    .stream = wanted->stream},
                      pool);
}

// ---- serving -------------------------------------------------------------------------------

// A zero-sized allocation has a slice record without a page, which names its pool instead.
static acre_run make_nothing(acre_manager *manager, acre_pool *pool) {
    uint32_t name = acre_slab_take(&manager->heap.slices);
    acre_slice *slice = acre_heap_slice(&manager->heap, name);
    *slice = (acre_slice){.before = pool->index};
    pool->zero_sized++;
    return (acre_run){slice, name};
}

// All records that serving a request may need.
static bool prepare(acre_manager *manager) {
    return acre_slab_prepare(&manager->heap.slices, ACRE_POOL_RECORDS) &&
           acre_slab_prepare(&manager->home->handles, 1);
}

// A new page for the request in one pool.
static acre_status grow(acre_manager *manager, acre_pool *pool, const acre_request *wanted,
                        const acre_need *need, acre_run *run, acre_error *error) {
    acre_heap *heap = &manager->heap;
    bool may_return = wanted->update == ACRE_PAGES_ALLOW;
    bool can_grow = pool->arena != NULL || !acre_pool_is_full_for(pool, need);
    if (may_return && can_grow &&
        acre_add_saturating(heap->reserved, pool->ops->growth(pool, need)) > manager->soft_limit) {
        acre_manager_give_back(manager);
    }
    return pool->ops->grow(pool, need, may_return, run, error);
}

static acre_need need_of(const acre_manager *manager, const acre_request *wanted) {
    return (acre_need){wanted->size, acre_heap_padded(&manager->heap, wanted->size), wanted->step};
}

// From one pool alone: persistent or dedicated memory.
static acre_status serve_from(acre_manager *manager, acre_pool *pool, const acre_request *wanted,
                              acre_run *run, acre_error *error) {
    if (wanted->size > manager->heap.largest_page) {
        return acre_error_refuse(error,
                                 may_add(wanted) ? ACRE_BUFFER_TOO_BIG : ACRE_PAGE_UPDATE_FORBIDDEN,
                                 wanted->size);
    }
    acre_need need = need_of(manager, wanted);
    // Dedicated memory is new for each request, unless no page may be added.
    if (pool->kind != ACRE_POOL_DEDICATED || !may_add(wanted)) {
        *run = pool->ops->reserve(pool, need.padded, need.step);
        if (run->slice != NULL) {
            return ACRE_OK;
        }
    }
    if (!may_add(wanted)) {
        return acre_error_refuse(error, ACRE_PAGE_UPDATE_FORBIDDEN, wanted->size);
    }
    acre_status status = grow(manager, pool, wanted, &need, run, error);
    if (status == ACRE_OK) {
        acre_manager_log_page(manager, pool);
    }
    return status;
}

// Whether a page for the request is not added before the policy of relocations had its say.
static bool relocates(const acre_manager *manager, const acre_pool *pool,
                      const acre_request *wanted) {
    return manager->relocation_policy != ACRE_RELOCATION_NONE && pool->arena != NULL &&
           wanted->update == ACRE_PAGES_ALLOW;
}

// Room held may do once things moved. => OUT_OF_HOST_MEMORY; `run` is none when it does not.
static acre_status relocate_and_reserve(acre_manager *manager, uint32_t index,
                                        const acre_need *need, acre_run *run, acre_error *error) {
    bool moved = acre_relocate_before_page(manager, need);
    if (!prepare(manager)) { // what was planned took records
        return acre_error_refuse(error, ACRE_OUT_OF_HOST_MEMORY, 0);
    }
    if (moved) {
        acre_pool *pool = manager->layout.pools[index];
        *run = pool->ops->reserve(pool, need->padded, need->step);
    }
    return ACRE_OK;
}

// From a layout's pools: the first that accepts the size; a full capped pool spills to the next.
// `searched` is a pool whose held room was found too small just now, or NULL.
static acre_status serve_from_set(acre_manager *manager, acre_pool_set *set,
                                  const acre_request *wanted, const acre_pool *searched,
                                  acre_pool **served, acre_run *run, acre_error *error) {
    uint32_t refusals = 0;
    uint64_t first_capacity = 0; // of the first refusal
    uint64_t first_in_use = 0;
    acre_status status = ACRE_OK;
    for (uint32_t i = set->route[acre_log2(wanted->size)];
         (i = acre_pool_set_accepts(set, i, wanted->size)) < set->count; i++) {
        acre_pool *pool = set->pools[i];
        acre_need need = need_of(manager, wanted);
        *served = pool;
        if (searched == NULL || pool != searched) {
            *run = pool->ops->reserve(pool, need.padded, need.step);
            if (run->slice != NULL) {
                return ACRE_OK;
            }
        }
        if (!may_add(wanted)) { // look on only where an allowed request would spill
            if (acre_pool_is_full_for(pool, &need)) {
                continue;
            }
            break;
        }
        if (relocates(manager, pool, wanted)) {
            status = relocate_and_reserve(manager, i, &need, run, error);
            pool = *served = set->pools[i]; // it may have gone over to larger pages
            if (status != ACRE_OK || run->slice != NULL) {
                return status;
            }
        }
        if (refusals == 1) {
            first_capacity = error->capacity;
            first_in_use = error->in_use;
        }
        status = grow(manager, pool, wanted, &need, run, error);
        if (status == ACRE_OK) {
            *served = acre_manager_route_arena(manager, set, i);
            acre_manager_log_page(manager, *served);
            return ACRE_OK;
        }
        refusals++;
        if (status != ACRE_POOL_CAPACITY_EXCEEDED) {
            break;
        }
    }
    if (!may_add(wanted)) {
        return acre_error_refuse(error, ACRE_PAGE_UPDATE_FORBIDDEN, wanted->size);
    }
    if (refusals == 0) {
        return acre_error_refuse(error, ACRE_BUFFER_TOO_BIG, wanted->size);
    }
    if (refusals > 1) { // all but the last were at their caps: the first, because of the last
        error->cause = status;
        error->cause_capacity = error->capacity;
        error->capacity = first_capacity;
        error->in_use = first_in_use;
        error->status = status = ACRE_POOL_CAPACITY_EXCEEDED;
    }
    return status;
}

// Once through the pools that the mode allows.
static acre_status serve(acre_manager *manager, const acre_request *wanted,
                         const acre_pool *searched, acre_pool **served, acre_run *run,
                         acre_error *error) {
    acre_pool *persistent = &manager->persistent;
    *served = manager->mode == ACRE_MODE_DEDICATED ? &manager->dedicated : persistent;
    if (wanted->size == 0) {
        if (manager->mode == ACRE_MODE_AUTO) {
            *served = manager->layout.pools[0]; // every pool accepts nothing
        }
        *run = make_nothing(manager, *served);
        return ACRE_OK;
    }
    acre_capture *capture = manager->capturing;
    if (manager->mode != ACRE_MODE_AUTO) {
        *served = capture != NULL ? &capture->exact : *served;
        return serve_from(manager, *served, wanted, run, error);
    }
    if (capture != NULL) {
        return serve_from_set(manager, &capture->pools, wanted, NULL, served, run, error);
    }
    if (manager->config.persistent_memory == ACRE_PERSISTENT_SIZE_MATCH &&
        wanted->size <= manager->heap.largest_page &&
        acre_size_counts_has(persistent->sizes, acre_heap_padded(&manager->heap, wanted->size))) {
        acre_status status = serve_from(manager, persistent, wanted, run, error);
        if (status != ACRE_PAGE_UPDATE_FORBIDDEN) {
            return status;
        }
    }
    return serve_from_set(manager, &manager->layout, wanted, searched, served, run, error);
}

// ---- before failing ------------------------------------------------------------------------

static bool out_of_memory(acre_status status, const acre_error *error) {
    return status == ACRE_OUT_OF_MEMORY ||
           (status == ACRE_POOL_CAPACITY_EXCEEDED && error->cause == ACRE_OUT_OF_MEMORY);
}

// In an open scope pages are only added.
static void obey_scope(const acre_manager *manager, acre_request *wanted) {
    if (manager->capturing != NULL && wanted->update == ACRE_PAGES_ALLOW) {
        wanted->update = ACRE_PAGES_ADD_ONLY;
    }
}

// The numbers of an out-of-memory error: what is live, reserved, free and in how large a piece.
static void describe_memory(acre_manager *manager, acre_error *error) {
    acre_usage usage = acre_manager_usage(manager);
    acre_carve_free free_room = acre_manager_free_room(manager);
    if (error->status == ACRE_OUT_OF_MEMORY) {
        error->in_use = usage.in_use;
    }
    error->reserved = usage.reserved;
    error->free = free_room.bytes;
    error->largest_free = free_room.largest;
}

// Everything but the hit in the first pool: growth, other modes, failing.
static acre_status reserve_slow(acre_manager *manager, acre_request *wanted,
                                const acre_pool *searched, acre_handle **handle,
                                acre_error *error) {
    acre_pool *pool = NULL;
    acre_run run = {NULL, 0};
    acre_status status = serve(manager, wanted, searched, &pool, &run, error);
    if (acre_unlikely(status != ACRE_OK && out_of_memory(status, error))) {
        if (wanted->update == ACRE_PAGES_ALLOW && acre_manager_give_back(manager) > 0) {
            status = serve(manager, wanted, NULL, &pool, &run, error);
        }
        if (out_of_memory(status, error) && manager->out_of_memory != NULL &&
            manager->out_of_memory(manager->out_of_memory_context, manager, wanted->size)) {
            acre_manager_take_pending(manager);
            obey_scope(manager, wanted); // the callback may have opened one
            if (wanted->update == ACRE_PAGES_ALLOW) {
                acre_manager_give_back(manager);
            }
            status = prepare(manager) ? serve(manager, wanted, NULL, &pool, &run, error)
                                      : acre_error_refuse(error, ACRE_OUT_OF_HOST_MEMORY, 0);
        }
        if (out_of_memory(status, error)) {
            describe_memory(manager, error);
        }
    }
    if (manager->before_growth != NULL) {
        acre_relocate_after_request(manager, status == ACRE_OK);
    }
    if (status == ACRE_OK) {
        uint64_t padding = acre_heap_padded(&manager->heap, wanted->size) - wanted->size;
        *handle = acre_hand_out(manager, pool, wanted->size, padding, wanted->tag, run);
        if (manager->told) {
            acre_reserve_tell(manager, wanted, run.name, pool);
        }
        return ACRE_OK;
    }
    error->size = status == ACRE_OUT_OF_HOST_MEMORY ? 0 : wanted->size; // of the device's bytes
    return status;
}

acre_status acre_reserve(acre_manager *manager, acre_request *wanted, const acre_pool *searched,
                         acre_handle **handle, acre_error *error) {
    obey_scope(manager, wanted);
    // All records the request may need, so that nothing fails half-way.
    if (!prepare(manager)) {
        return acre_error_refuse(error, ACRE_OUT_OF_HOST_MEMORY, 0);
    }
    if (wanted->update == ACRE_PAGES_ALLOW) {
        acre_manager_cleanup_due(manager);
    }
    if (may_add(wanted)) {
        manager->heap.reservations++;
    }
    return reserve_slow(manager, wanted, searched, handle, error);
}
