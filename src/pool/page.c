// Pages of a pool: how they come, idle and go, whatever the pool's policy.
#include <acre/dry_run.h>

#include "base/error.h"
#include "pool/pool.h"

#include <string.h>

// ---- idling --------------------------------------------------------------------------------

static void append_idle(acre_pool *pool, acre_page *page, uint32_t name) {
    page->listed_idle = true;
    page->idle_since = pool->checks;
    acre_page_list_append(&pool->idle, pool->heap, name, ACRE_PAGE_IDLE);
}

static void unlink_idle(acre_pool *pool, acre_page *page, uint32_t name) {
    page->listed_idle = false;
    acre_page_list_unlink(&pool->idle, pool->heap, name, ACRE_PAGE_IDLE);
}

// A page used and emptied between two checks was idle at both: it keeps its place. One that a
// check would have found in use begins anew.
void acre_pool_page_idles(acre_pool *pool, uint32_t name) {
    acre_page *page = acre_page_at(pool->heap, name);
    pool->idle_pages++;
    if (pool->idle_pages == pool->pages) { // what follows begins on whole pages
        acre_carve_settle_stacks(&pool->carve);
    }
    if (pool->returns_at_once) {
        acre_heap_want_cleanup(pool->heap);
    }
    if (page->listed_idle) {
        if (page->busy_at == pool->checks) {
            return;
        }
        unlink_idle(pool, page, name);
    }
    append_idle(pool, page, name);
}

// ---- pages ---------------------------------------------------------------------------------

static void tell_page(const acre_heap *heap, acre_event_kind kind, uint64_t size) {
    if (heap->event != NULL && (heap->event_mask & (uint32_t)kind) != 0) {
        acre_event event = {.struct_size = sizeof event, .kind = kind, .size = size};
        heap->event(heap->event_context, &event);
    }
}

// => OK when the heap may hold `size` more bytes.
static acre_status check_limit(const acre_heap *heap, uint64_t size, acre_error *error) {
    if (size <= heap->hard_limit && heap->reserved <= heap->hard_limit - size) {
        return ACRE_OK;
    }
    acre_error_refuse(error, ACRE_OUT_OF_MEMORY, size);
    error->capacity = heap->hard_limit;
    return ACRE_OUT_OF_MEMORY;
}

acre_status acre_pool_add_page(acre_pool *pool, uint64_t size, uint64_t smallest, uint32_t *page,
                               acre_error *error) {
    acre_heap *heap = pool->heap;
    acre_status status = check_limit(heap, size, error);
    if (status != ACRE_OK) {
        return status;
    }
    if (heap->pages.chunk_count > ACRE_MAX_PAGES >> 12 || !acre_slab_prepare(&heap->pages, 1) ||
        !acre_carve_prepare(&pool->carve, smallest, size) ||
        !acre_slab_prepare(&heap->slices, ACRE_POOL_RECORDS) ||
        (pool->sizes != NULL && !acre_size_counts_prepare(pool->sizes))) {
        return acre_error_refuse(error, ACRE_OUT_OF_HOST_MEMORY, size);
    }
    uint64_t id = 0;
    bool mapped = !acre_dry_run_is_open();
    if (mapped) {
        status = acre_storage_alloc(heap->storage, size, &id, error);
        if (status != ACRE_OK) {
            return status;
        }
    }
    uint32_t name = acre_slab_take(&heap->pages);
    acre_page *made = acre_page_at(heap, name);
    memset(made, 0, sizeof *made);
    made->pool = pool;
    made->id = id;
    made->size = size;
    made->mapped = mapped;
    pool->unmapped_pages += !mapped;
    made->sequence = heap->page_sequence++;
    made->first = acre_carve_add_page(&pool->carve, name, size);
    acre_page_list_append(&pool->held, heap, name, ACRE_PAGE_HELD);
    append_idle(pool, made, name);
    if (pool->sizes != NULL) {
        acre_size_counts_add(pool->sizes, size);
    }
    pool->idle_pages++;
    pool->pages++;
    pool->usage.reserved += size;
    heap->pages_held++;
    heap->reserved += size;
    heap->reserved_most = acre_max(heap->reserved_most, heap->reserved);
    pool->pages_peak = acre_max(pool->pages_peak, pool->pages);
    pool->bytes_peak = acre_max(pool->bytes_peak, pool->usage.reserved);
    tell_page(heap, ACRE_EVENT_PAGE_ADD, size);
    *page = name;
    return ACRE_OK;
}

void acre_pool_return_page(acre_pool *pool, uint32_t name) {
    acre_heap *heap = pool->heap;
    acre_page *page = acre_page_at(heap, name);
    uint64_t size = page->size;
    acre_carve_remove_page(&pool->carve, page->first);
    pool->unmapped_pages -= !page->mapped;
    if (page->mapped) {
        acre_storage_dealloc(heap->storage, page->id);
    }
    acre_page_list_unlink(&pool->held, heap, name, ACRE_PAGE_HELD);
    if (page->listed_idle) {
        unlink_idle(pool, page, name);
    }
    if (pool->sizes != NULL) {
        acre_size_counts_remove(pool->sizes, size);
    }
    pool->idle_pages--;
    pool->pages--;
    pool->usage.reserved -= size;
    heap->pages_held--;
    heap->reserved -= size;
    acre_slab_give(&heap->pages, name);
    tell_page(heap, ACRE_EVENT_PAGE_RETURN, size);
}

void acre_pool_drop_pages(acre_pool *pool) {
    acre_heap *heap = pool->heap;
    for (uint32_t name = pool->held.first; name != 0;) {
        acre_page *page = acre_page_at(heap, name);
        uint32_t next = page->held.next;
        for (uint32_t slice = page->first; slice != 0;) {
            uint32_t after = acre_heap_slice(heap, slice)->after;
            acre_slab_give(&heap->slices, slice);
            slice = after;
        }
        if (page->mapped) {
            acre_storage_dealloc(heap->storage, page->id);
        }
        heap->pages_held--;
        heap->reserved -= page->size;
        tell_page(heap, ACRE_EVENT_PAGE_RETURN, page->size);
        acre_slab_give(&heap->pages, name);
        name = next;
    }
}

acre_run acre_pool_occupy(acre_pool *pool, uint32_t slice) {
    if (slice == 0) {
        return (acre_run){NULL, 0};
    }
    acre_slice *record = acre_heap_slice(pool->heap, slice);
    acre_free_index_remove(&pool->carve.whole, slice);
    acre_slice_set_live(record);
    acre_pool_hold(pool, acre_page_at(pool->heap, acre_slice_page(record)));
    return (acre_run){record, slice};
}

void acre_pool_free_page(acre_pool *pool, const acre_page *page, acre_run run) {
    if (page->guards > 0) {
        acre_carve_withhold(run);
    } else {
        acre_free_index_add(&pool->carve.whole, run.name);
    }
}

// Takes the first listed page off the list. => 1 when it was idle and went back, else 0. One that
// is guarded is listed again when its last guard goes.
static uint64_t take_first_idle(acre_pool *pool) {
    uint32_t name = pool->idle.first;
    acre_page *page = acre_page_at(pool->heap, name);
    if (page->live == 0 && page->guards == 0) {
        acre_pool_return_page(pool, name);
        return 1;
    }
    unlink_idle(pool, page, name);
    return 0;
}

uint64_t acre_pool_cleanup(acre_pool *pool, bool explicit_cleanup) {
    uint64_t returned = 0;
    if (explicit_cleanup) {
        while (pool->order_count > 0) {
            pool->order_count--;
            acre_page_at(pool->heap, pool->order[pool->order_count])->in_order = false;
        }
        while (pool->idle.first != 0) {
            returned += take_first_idle(pool);
        }
        return returned;
    }
    if (pool->heap->reservations < pool->next_check) {
        return 0;
    }
    pool->checks++;
    pool->next_check = acre_add_saturating(pool->heap->reservations,
                                           pool->options.dealloc_period / ACRE_IDLE_CHECKS);
    while (pool->idle.first != 0 &&
           acre_page_at(pool->heap, pool->idle.first)->idle_since + ACRE_IDLE_CHECKS <=
               pool->checks) {
        returned += take_first_idle(pool);
    }
    return returned;
}

void acre_pool_guard_page(acre_pool *pool, acre_page *page) {
    if (page->guards++ == 0) {
        pool->guarded_pages++;
        acre_carve_withhold_page(&pool->carve, page->first);
    }
}

void acre_pool_unguard_page(acre_pool *pool, acre_page *page, uint32_t name) {
    if (--page->guards > 0) {
        return;
    }
    pool->guarded_pages--;
    acre_carve_restore_page(&pool->carve, page->first);
    if (page->live == 0) {
        if (!page->listed_idle) {
            append_idle(pool, page, name);
        }
        acre_exact_page_idles(pool, page, name);
        if (pool->returns_at_once) {
            acre_heap_want_cleanup(pool->heap);
        }
    }
}

acre_status acre_pool_map_page(acre_pool *pool, acre_page *page, acre_error *error) {
    acre_status status = acre_storage_alloc(pool->heap->storage, page->size, &page->id, error);
    if (status != ACRE_OK) {
        error->cause = status;
        error->cause_capacity = error->capacity;
        error->capacity = 0;
        error->status = ACRE_STORAGE_MAPPING_FAILED;
        return ACRE_STORAGE_MAPPING_FAILED;
    }
    page->mapped = true;
    pool->unmapped_pages--;
    return ACRE_OK;
}
