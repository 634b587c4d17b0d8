// Letting go of allocations.
#include "manager/manager.h"

// Ends what others know of an allocation: listeners, the log, failures.
static void forget(acre_manager *manager, uint32_t name, uint64_t size) {
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

// Frees the allocation in a live slice, which may be of any kind.
static void free_slice(acre_manager *manager, uint32_t name) {
    acre_heap *heap = &manager->heap;
    acre_slice *slice = acre_heap_slice(heap, name);
    uint64_t size = slice->live.requested;
    forget(manager, name, size);
    acre_pool *pool;
    if (acre_likely(size != 0)) {
        acre_page *page = acre_page_at(heap, acre_slice_page(slice));
        pool = page->pool;
        pool->usage.in_use -= size;
        pool->usage.padding -= acre_heap_padded(heap, size) - size;
        pool->ops->release(pool, page, (acre_run){slice, name});
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
    acre_handle_give(manager->home, handle);
    return next;
}

// Frees a record that nothing holds, whatever it is, and its allocation when it has one.
static __attribute__((noinline)) void free_any(acre_manager *manager, acre_handle *handle) {
    while (handle != NULL) {
        uint32_t slice = handle->slice;
        if (slice - 1 >= ACRE_HANDLE_MARK - 1) { // none, or a mark
            handle = free_special(manager, handle);
        } else {
            free_slice(manager, slice);
            acre_handle_give(manager->home, handle);
            handle = NULL;
        }
    }
}

// What is left of a release: a run freed earlier merges, and the page may be empty now.
static __attribute__((noinline)) void finish_release(acre_pool *pool, uint32_t page,
                                                     uint32_t retired) {
    if (retired != 0) {
        acre_carve_retire(&pool->carve, retired);
    }
    if (acre_page_at(pool->heap, page)->live == 0) {
        acre_pool_page_idles(pool, page);
    }
}

// Frees a record that nothing holds, and its allocation. It calls nothing but at its very end, so
// that no register is saved; what would need more goes to free_any.
static inline __attribute__((always_inline)) void free_handle(acre_manager *manager,
                                                              acre_handle *handle) {
    acre_heap *heap = &manager->heap;
    uint32_t name = handle->slice;
    if (acre_unlikely(name - 1 >= ACRE_HANDLE_MARK - 1 || manager->told ||
                      manager->tainted.count != 0)) {
        free_any(manager, handle);
        return;
    }
    acre_slice *slice = acre_heap_slice(heap, name);
    uint64_t size = slice->live.requested;
    uint32_t page_name = acre_slice_page(slice);
    acre_page *page;
    acre_pool *pool;
    if (acre_unlikely(size == 0 || (page = acre_page_at(heap, page_name))->guards != 0 ||
                      !(pool = page->pool)->carve.cuts)) {
        free_any(manager, handle);
        return;
    }
    acre_subtract_pair(&pool->usage, 1, size); // allocations, in_use
    pool->usage.padding -= slice->size - size;
    acre_handle_give(manager->home, handle);
    uint32_t retired = acre_carve_give(&pool->carve, (acre_run){slice, name});
    if (acre_unlikely((--page->live == 0) | (retired != 0))) {
        finish_release(pool, page_name, retired);
    }
}

void acre_manager_take_in(acre_manager *manager) {
    acre_home *home = manager->home;
    uint32_t name = acre_home_take_pending(home);
    while (name != 0) {
        acre_handle *handle = acre_handle_at(home, name);
        name = handle->link;
        if (acre_likely(acre_handle_end_pending(handle))) {
            free_handle(manager, handle);
        }
    }
}

static __attribute__((noinline)) void release_any(acre_manager *manager, acre_handle *handle) {
    acre_manager_take_pending(manager);
    if (handle == NULL) {
        return;
    }
    if (acre_handle_is_loose(handle) || acre_slab_chunk_of(handle)->owner != manager->home) {
        acre_handle_release(handle);
        acre_manager_take_pending(manager);
    } else if (atomic_fetch_sub_explicit(&handle->counts, ACRE_OWNER, memory_order_acq_rel) ==
               ACRE_OWNER) {
        free_any(manager, handle);
    }
}

void acre_manager_release(acre_manager *manager, acre_handle *handle) {
    if (acre_unlikely(handle == NULL || acre_handle_is_loose(handle) ||
                      acre_slab_chunk_of(handle)->owner != manager->home ||
                      acre_home_has_pending(manager->home) ||
                      // Whoever holds the only reference is alone with it: no other thread can add
                      // one, and what pins records is this thread, so the locked decrement is
                      // spared. Acquire, since the others may have let go on other threads.
                      atomic_load_explicit(&handle->counts, memory_order_acquire) != ACRE_OWNER)) {
        release_any(manager, handle);
        return;
    }
    atomic_store_explicit(&handle->counts, 0, memory_order_relaxed);
    free_handle(manager, handle);
}
