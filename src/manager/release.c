// Letting go of allocations.
#include "manager/manager.h"

// Ends what others know of an allocation: listeners, the log, failures.
static __attribute__((noinline)) void forget(acre_manager *manager, uint32_t name, uint64_t size) {
    if (manager->told) {
        acre_manager_tell(manager,
                          &(acre_event){.struct_size = sizeof(acre_event),
                                        .kind = ACRE_EVENT_FREE,
                                        .allocation = name,
                                        .size = size},
                          NULL);
    }
    if (manager->tainted.count != 0) {
        acre_manager_clear_claims(manager, name);
    }
}

// Frees the allocation in a live slice.
static inline __attribute__((always_inline)) void free_slice(acre_manager *manager, uint32_t name) {
    acre_heap *heap = &manager->heap;
    acre_slice *slice = acre_heap_slice(heap, name);
    uint64_t size = slice->live.requested;
    if (acre_unlikely(manager->told || manager->tainted.count != 0)) {
        forget(manager, name, size);
    }
    acre_pool *pool;
    if (acre_likely(size != 0)) {
        acre_page *page = acre_page_at(heap, acre_slice_page(slice));
        pool = page->pool;
        pool->usage.in_use -= size;
        pool->usage.padding -= acre_heap_padded(heap, size) - size;
        acre_pool_release(pool, page, (acre_run){slice, name});
    } else {
        pool = acre_manager_pool(manager, slice->before);
        pool->zero_sized--;
        acre_slab_give(&heap->slices, name);
    }
    pool->usage.allocations--;
}

static __attribute__((noinline)) void free_slice_elsewhere(acre_manager *manager, uint32_t name) {
    free_slice(manager, name);
}

// Frees a record, and its allocation when it has one.
static void free_handle(acre_manager *manager, acre_handle *handle) {
    while (handle != NULL) {
        acre_handle *next = acre_handle_end_hold(handle);
        uint32_t slice = handle->slice;
        handle->slice = 0;
        if ((slice & ACRE_HANDLE_MARK) == 0) {
            if (slice != 0) {
                free_slice_elsewhere(manager, slice);
            }
        } else if ((slice & ACRE_HANDLE_HOLD) == ACRE_HANDLE_GUARD) {
            acre_manager_unguard(manager, slice & ACRE_HANDLE_NAME);
        }
        acre_slab_give_record(&manager->home->handles, acre_handle_name(handle), handle);
        handle = next;
    }
}

void acre_manager_take_in(acre_manager *manager) {
    acre_home *home = manager->home;
    uint32_t name = acre_home_take_pending(home);
    while (name != 0) {
        acre_handle *handle = acre_handle_at(home, name);
        uint32_t next = handle->link;
        free_handle(manager, handle);
        name = next;
    }
}

static __attribute__((noinline)) void release_slow(acre_manager *manager, acre_handle *handle) {
    acre_manager_take_pending(manager);
    if (handle == NULL) {
        return;
    }
    if (acre_handle_is_loose(handle) || acre_slab_chunk_of(handle)->owner != manager->home) {
        acre_handle_release(handle);
        acre_manager_take_pending(manager);
    } else if (atomic_fetch_sub_explicit(&handle->counts, ACRE_OWNER, memory_order_acq_rel) ==
               ACRE_OWNER) {
        free_handle(manager, handle);
    }
}

void acre_manager_release(acre_manager *manager, acre_handle *handle) {
    acre_home *home = manager->home;
    if (acre_likely(handle != NULL && !acre_handle_is_loose(handle) &&
                    acre_slab_chunk_of(handle)->owner == home && !acre_home_has_pending(home) &&
                    // Whoever holds the only reference is alone with it: no other thread can add
                    // one, so the locked decrement is spared. Acquire, since the others may have
                    // let go on other threads.
                    atomic_load_explicit(&handle->counts, memory_order_acquire) == ACRE_OWNER)) {
        uint32_t slice = handle->slice;
        if (acre_likely(slice - 1 < ACRE_HANDLE_MARK - 1)) { // there is one, and no mark
            atomic_store_explicit(&handle->counts, 0, memory_order_relaxed);
            handle->slice = 0;
            free_slice(manager, slice);
            acre_slab_give_record(&home->handles, acre_handle_name(handle), handle);
            return;
        }
    }
    release_slow(manager, handle);
}
