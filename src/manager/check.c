// The validator: states every invariant of a manager's books and checks it.
#include "base/error.h"
#include "manager/manager.h"

// What a pass over one pool's pages counts.
typedef struct tally {
    uint64_t live;
    uint64_t in_use;
    uint64_t padding;
    uint64_t reserved;
    uint64_t pages;
    uint64_t idle_pages;
    uint64_t guarded_pages;
    uint64_t unmapped_pages;
    uint64_t free_runs; // those in the index
    uint64_t free_bytes;
    uint64_t recent;
    uint64_t records;
} tally;

// => what is wrong with a run of a page, NULL when nothing is.
static const char *check_slice(const acre_manager *manager, const acre_pool *pool,
                               const acre_slice *slice, uint32_t name, tally *sum) {
    const acre_heap *heap = &manager->heap;
    if (slice->size == 0 || slice->size % heap->alignment != 0 ||
        slice->offset % heap->alignment != 0) {
        return "a run is empty or off the alignment";
    }
    if (acre_slice_state_of(slice) == ACRE_SLICE_LIVE) {
        const acre_handle *handle = acre_handle_at(manager->home, slice->handle);
        uint64_t padded = acre_heap_padded(heap, slice->live.requested);
        if (handle->slice != name) {
            return "a live run and its handle do not name each other";
        }
        if (padded > slice->size || (pool->page_size != ACRE_UNSET && padded != slice->size)) {
            return "a live run is not of its request's padded size";
        }
        sum->live++;
        sum->in_use += slice->live.requested;
        sum->padding += padded - slice->live.requested;
        return NULL;
    }
    if (acre_slice_state_of(slice) == ACRE_SLICE_WITHHELD) {
        return acre_page_at(heap, acre_slice_page(slice))->guards > 0
                   ? NULL
                   : "a run is withheld for no guard";
    }
    if (acre_page_at(heap, acre_slice_page(slice))->guards > 0) {
        return "room of a guarded page is on offer";
    }
    if (acre_slice_state_of(slice) == ACRE_SLICE_RECENT) {
        sum->recent++;
        return NULL;
    }
    sum->free_runs++;
    sum->free_bytes += slice->size;
    const acre_slice *after = slice->after == 0 ? NULL : acre_heap_slice(heap, slice->after);
    return after != NULL && acre_slice_state_of(after) == ACRE_SLICE_FREE ? "two free runs touch"
                                                                          : NULL;
}

static const char *check_page(const acre_manager *manager, const acre_pool *pool, uint32_t name,
                              tally *sum) {
    const acre_heap *heap = &manager->heap;
    const acre_page *page = acre_page_at(heap, name);
    uint64_t live = sum->live;
    uint64_t offset = 0;
    uint32_t before = 0;
    for (uint32_t at = page->first; at != 0;) {
        const acre_slice *slice = acre_heap_slice(heap, at);
        if (acre_slice_page(slice) != name || slice->before != before || slice->offset != offset) {
            return "the runs of a page do not tile it";
        }
        const char *wrong = check_slice(manager, pool, slice, at, sum);
        if (wrong != NULL) {
            return wrong;
        }
        sum->records++;
        offset += slice->size;
        before = at;
        at = slice->after;
    }
    if (offset != page->size || page->pool != pool) {
        return "the runs of a page do not cover it";
    }
    if (page->live != sum->live - live ||
        (page->live == 0 && page->guards == 0 && !page->listed_idle)) {
        return "a page's count of live runs is off";
    }
    sum->pages++;
    sum->idle_pages += page->live == 0;
    sum->guarded_pages += page->guards > 0;
    sum->unmapped_pages += !page->mapped;
    sum->reserved += page->size;
    return NULL;
}

static const char *check_pool(const acre_manager *manager, const acre_pool *pool,
                              uint64_t *records) {
    tally sum = {0};
    for (uint32_t page = pool->held.first; page != 0;
         page = acre_page_at(&manager->heap, page)->held.next) {
        const char *wrong = check_page(manager, pool, page, &sum);
        if (wrong != NULL) {
            return wrong;
        }
    }
    *records += sum.records + pool->zero_sized;
    if (pool->zero_sized > pool->usage.allocations ||
        sum.live + pool->zero_sized != pool->usage.allocations ||
        sum.in_use != pool->usage.in_use || sum.padding != pool->usage.padding ||
        sum.reserved != pool->usage.reserved) {
        return "a usage counter differs from what it counts";
    }
    if (sum.pages != pool->pages || sum.idle_pages != pool->idle_pages ||
        sum.guarded_pages != pool->guarded_pages || sum.unmapped_pages != pool->unmapped_pages ||
        pool->pages > pool->pages_peak || pool->usage.reserved > pool->bytes_peak) {
        return "a page counter differs from what it counts";
    }
    if (!acre_carve_check(&pool->carve, sum.free_runs, sum.free_bytes, sum.recent)) {
        return "the free index differs from the free runs";
    }
    uint64_t cap = pool->options.max_pool_size;
    return cap != ACRE_UNSET && pool->usage.reserved > cap ? "a pool is above its cap" : NULL;
}

static acre_status check(acre_manager *manager, acre_error *error) {
    uint64_t records = 0;
    uint64_t pages = 0;
    uint64_t reserved = 0;
    acre_pool_walk walk = {.manager = manager};
    for (const acre_pool *pool; (pool = acre_pool_walk_next(&walk)) != NULL;) {
        const char *wrong = check_pool(manager, pool, &records);
        if (wrong != NULL) {
            return acre_error_set(error, ACRE_INVALID_ARGUMENT, "pool %s %d: %s",
                                  acre_pool_kind_name(pool->kind), (int)pool->index, wrong);
        }
        pages += pool->pages;
        reserved += pool->usage.reserved;
    }
    const acre_heap *heap = &manager->heap;
    if (records != acre_slab_live(&heap->slices) || pages != acre_slab_live(&heap->pages) ||
        pages != heap->pages_held || reserved != heap->reserved) {
        return acre_error_set(error, ACRE_INVALID_ARGUMENT,
                              "records are held that no pool knows, or the reverse");
    }
    const char *wrong = acre_manager_check_claims(manager);
    return wrong == NULL ? ACRE_OK : acre_error_set(error, ACRE_INVALID_ARGUMENT, "%s", wrong);
}

acre_status acre_manager_check(acre_manager *manager, acre_error *error) {
    acre_error local;
    acre_error *detail = acre_error_open(error, &local);
    acre_manager_take_pending(manager);
    return acre_error_close(error, detail, check(manager, detail));
}
