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

// Frees a record without an allocation: uninitialised, stale, or a guard's.
static __attribute__((noinline)) acre_handle *free_special(acre_manager *manager,
                                                           acre_handle *handle) {
    acre_handle *next = acre_handle_end_hold(handle);
    uint32_t slice = handle->slice;
    if (slice != 0 && (slice & ACRE_HANDLE_HOLD) == ACRE_HANDLE_GUARD) {
        acre_manager_unguard(manager, slice & ACRE_HANDLE_NAME);
    }
    handle->slice = 0;
    acre_slab_give_record(&manager->home->handles, acre_handle_name(handle), handle);
    return next;
}

// Frees a record that nothing holds, and its allocation when it has one. => another that nothing
// holds any more, or NULL
static inline __attribute__((always_inline)) acre_handle *free_handle(acre_manager *manager,
                                                                      acre_handle *handle) {
    uint32_t slice = handle->slice;
    if (acre_unlikely(slice - 1 >= ACRE_HANDLE_MARK - 1)) { // none, or a mark
        return free_special(manager, handle);
    }
    handle->slice = 0;
    free_slice(manager, slice);
    acre_slab_give_record(&manager->home->handles, acre_handle_name(handle), handle);
    return NULL;
}

void acre_manager_take_in(acre_manager *manager) {
    acre_home *home = manager->home;
    uint32_t name = acre_home_take_pending(home);
    while (name != 0) {
        acre_handle *handle = acre_handle_at(home, name);
        name = handle->link;
        while (acre_unlikely((handle = free_handle(manager, handle)) != NULL)) {
        }
    }
}

static __attribute__((noinline)) void release_slow(acre_manager *manager, acre_handle *handle) {
    if (handle == NULL) {
        return;
    }
    if (acre_handle_is_loose(handle) || acre_slab_chunk_of(handle)->owner != manager->home) {
        acre_handle_release(handle);
        acre_manager_take_pending(manager);
    } else if (atomic_fetch_sub_explicit(&handle->counts, ACRE_OWNER, memory_order_acq_rel) ==
               ACRE_OWNER) {
        while (handle != NULL) {
            handle = free_handle(manager, handle);
        }
    }
}

void acre_manager_release(acre_manager *manager, acre_handle *handle) {
    acre_manager_take_pending(manager);
    if (acre_likely(handle != NULL && !acre_handle_is_loose(handle) &&
                    acre_slab_chunk_of(handle)->owner == manager->home &&
                    // Whoever holds the only reference is alone with it: no other thread can add
                    // one, so the locked decrement is spared. Acquire, since the others may have
                    // let go on other threads.
                    atomic_load_explicit(&handle->counts, memory_order_acquire) == ACRE_OWNER &&
                    handle->slice - 1 < ACRE_HANDLE_MARK - 1)) {
        atomic_store_explicit(&handle->counts, 0, memory_order_relaxed);
        (void)free_handle(manager, handle);
    } else {
        release_slow(manager, handle);
    }
}
