#include "pool/pool.h"
#include "pool/arena.h"

#include <acre/dry_run.h>

#include "base/error.h"

#include <string.h>

// A page found idle this often in a row goes back.
#define IDLE_CHECKS 5

// ---- lists ---------------------------------------------------------------------------------

static void append_held(acre_pool *pool, uint32_t name) {
    acre_page *page = acre_page_at(pool->heap, name);
    page->next = 0;
    page->prev = pool->held_last;
    if (pool->held_last != 0) {
        acre_page_at(pool->heap, pool->held_last)->next = name;
    } else {
        pool->held_first = name;
    }
    pool->held_last = name;
}

static void unlink_held(acre_pool *pool, const acre_page *page) {
    if (page->prev != 0) {
        acre_page_at(pool->heap, page->prev)->next = page->next;
    } else {
        pool->held_first = page->next;
    }
    if (page->next != 0) {
        acre_page_at(pool->heap, page->next)->prev = page->prev;
    } else {
        pool->held_last = page->prev;
    }
}

static void append_idle(acre_pool *pool, uint32_t name) {
    acre_page *page = acre_page_at(pool->heap, name);
    page->listed_idle = true;
    page->idle_since = pool->checks;
    page->idle_next = 0;
    page->idle_prev = pool->idle_last;
    if (pool->idle_last != 0) {
        acre_page_at(pool->heap, pool->idle_last)->idle_next = name;
    } else {
        pool->idle_first = name;
    }
    pool->idle_last = name;
}

static void unlink_idle(acre_pool *pool, acre_page *page) {
    page->listed_idle = false;
    if (page->idle_prev != 0) {
        acre_page_at(pool->heap, page->idle_prev)->idle_next = page->idle_next;
    } else {
        pool->idle_first = page->idle_next;
    }
    if (page->idle_next != 0) {
        acre_page_at(pool->heap, page->idle_next)->idle_prev = page->idle_prev;
    } else {
        pool->idle_last = page->idle_prev;
    }
}

// A page used and emptied between two checks was idle at both: it keeps its place. One that a
// check would have found in use begins anew.
void acre_pool_page_idles(acre_pool *pool, uint32_t name) {
    acre_page *page = acre_page_at(pool->heap, name);
    pool->idle_pages++;
    if (pool->returns_at_once) {
        pool->heap->cleanup_wanted = true;
    }
    if (page->listed_idle) {
        if (page->busy_at == pool->checks) {
            return;
        }
        unlink_idle(pool, page);
    }
    append_idle(pool, name);
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
        !acre_free_index_prepare(&pool->carve.index, smallest, size) ||
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
    append_held(pool, name);
    append_idle(pool, name);
    if (pool->sizes != NULL) {
        acre_size_counts_add(pool->sizes, size);
    }
    pool->idle_pages++;
    pool->pages++;
    pool->usage.reserved += size;
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
    unlink_held(pool, page);
    if (page->listed_idle) {
        unlink_idle(pool, page);
    }
    if (pool->sizes != NULL) {
        acre_size_counts_remove(pool->sizes, size);
    }
    pool->idle_pages--;
    pool->pages--;
    pool->usage.reserved -= size;
    heap->reserved -= size;
    acre_slab_give(&heap->pages, name);
    tell_page(heap, ACRE_EVENT_PAGE_RETURN, size);
}

acre_run acre_pool_occupy(acre_pool *pool, uint32_t slice) {
    if (slice == 0) {
        return (acre_run){NULL, 0};
    }
    acre_slice *record = acre_heap_slice(pool->heap, slice);
    acre_free_index_remove(&pool->carve.index, slice);
    record->state = ACRE_SLICE_LIVE;
    acre_pool_hold(pool, acre_page_at(pool->heap, record->page));
    return (acre_run){record, slice};
}

void acre_pool_free_page(acre_pool *pool, const acre_page *page, acre_run run) {
    if (page->guards > 0) {
        acre_carve_withhold(run);
    } else {
        acre_free_index_add(&pool->carve.index, run.name);
    }
}

// Takes the first listed page off the list. => 1 when it was idle and went back, else 0. One that
// is guarded is listed again when its last guard goes.
static uint64_t take_first_idle(acre_pool *pool) {
    uint32_t name = pool->idle_first;
    acre_page *page = acre_page_at(pool->heap, name);
    if (page->live == 0 && page->guards == 0) {
        acre_pool_return_page(pool, name);
        return 1;
    }
    unlink_idle(pool, page);
    return 0;
}

uint64_t acre_pool_cleanup(acre_pool *pool, bool explicit_cleanup) {
    uint64_t returned = 0;
    if (explicit_cleanup) {
        while (pool->order_count > 0) {
            pool->order_count--;
            acre_page_at(pool->heap, pool->order[pool->order_count])->in_order = false;
        }
        while (pool->idle_first != 0) {
            returned += take_first_idle(pool);
        }
        return returned;
    }
    if (pool->heap->reservations < pool->next_check) {
        return 0;
    }
    pool->checks++;
    pool->next_check =
        acre_add_saturating(pool->heap->reservations, pool->options.dealloc_period / IDLE_CHECKS);
    while (pool->idle_first != 0 &&
           acre_page_at(pool->heap, pool->idle_first)->idle_since + IDLE_CHECKS <= pool->checks) {
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
            append_idle(pool, name);
        }
        acre_exact_page_idles(pool, page, name);
        pool->heap->cleanup_wanted = pool->heap->cleanup_wanted || pool->returns_at_once;
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

// ---- pools ---------------------------------------------------------------------------------

static const acre_pool_ops *ops_of(acre_pool_kind kind) {
    switch (kind) {
    case ACRE_POOL_SLICED:
        return &acre_sliced_pool_ops;
    case ACRE_POOL_EXCLUSIVE:
        return &acre_exclusive_pool_ops;
    default:
        return &acre_exact_pool_ops;
    }
}

const char *acre_pool_foreign_option(const acre_pool_options *options) {
    bool sliced = options->kind == ACRE_POOL_SLICED;
    bool exclusive = options->kind == ACRE_POOL_EXCLUSIVE;
    bool adaptive = options->kind == ACRE_POOL_ADAPTIVE;
    if (!sliced && !adaptive && options->page_size != ACRE_UNSET) {
        return "page_size";
    }
    if (!sliced && options->max_slice_size != ACRE_UNSET) {
        return "max_slice_size";
    }
    if (!sliced && (options->strict || options->exact_large_slices)) {
        return options->strict ? "strict" : "exact_large_slices";
    }
    if (!exclusive && options->max_alloc_size != ACRE_UNSET) {
        return "max_alloc_size";
    }
    if (!sliced && !exclusive && options->max_pool_size != ACRE_UNSET) {
        return "max_pool_size";
    }
    if (!sliced && !exclusive && options->dealloc_period != ACRE_UNSET) {
        return "dealloc_period";
    }
    return options->kind != ACRE_POOL_DIRECT && options->reclaim_at != ACRE_UNSET ? "reclaim_at"
                                                                                  : NULL;
}

// What a sliced pool accepts and carves. The cap shrinks the page that is carved; a size that the
// pool accepts but the cap has no room for is a matter of capacity, so that it spills.
static acre_status shape_sliced(acre_pool *pool, acre_error *error) {
    acre_pool_options *options = &pool->options;
    acre_heap *heap = pool->heap;
    if (options->page_size == ACRE_UNSET || options->page_size == 0) {
        return acre_error_set(error, ACRE_INVALID_ARGUMENT,
                              "pool %u: a sliced pool needs a page_size", (unsigned)pool->index);
    }
    uint64_t page = acre_round_up(options->page_size, heap->alignment);
    if (page > heap->largest_page) {
        acre_error_describe(error, ACRE_INVALID_ARGUMENT,
                            "pool %u: page_size is above the largest page", (unsigned)pool->index);
        error->size = page;
        error->capacity = heap->largest_page;
        return ACRE_INVALID_ARGUMENT;
    }
    options->page_size = page;
    options->max_slice_size = acre_min(options->max_slice_size, page);
    pool->accept_max = options->max_slice_size;
    pool->page_size = page;
    bool capped = options->max_pool_size != ACRE_UNSET;
    if (capped) {
        pool->page_size = acre_min(page, acre_round_down(options->max_pool_size, heap->alignment));
    }
    if (!options->strict && (!capped || options->measured)) {
        pool->near_low = page - (page - 1) / 5; // (page - size) * 5 < page
        pool->near_high = page;
    }
    return ACRE_OK;
}

acre_status acre_pool_init(acre_pool *pool, acre_heap *heap, uint32_t index,
                           const acre_pool_options *options, acre_error *error) {
    memset(pool, 0, sizeof *pool);
    pool->heap = heap;
    pool->index = index;
    pool->kind = options->kind;
    pool->ops = ops_of(options->kind);
    pool->options = *options;
    pool->near_low = 1; // none
    pool->page_size = ACRE_UNSET;
    pool->next_check = ACRE_UNSET;
    const char *foreign = acre_pool_foreign_option(options);
    if (foreign != NULL) {
        return acre_error_set(error, ACRE_INVALID_ARGUMENT, "pool %u: its kind has no %s",
                              (unsigned)index, foreign);
    }
    if (options->kind == ACRE_POOL_SLICED) {
        acre_status status = shape_sliced(pool, error);
        if (status != ACRE_OK) {
            return status;
        }
    } else if (options->kind == ACRE_POOL_EXCLUSIVE) {
        pool->accept_max = acre_min(options->max_alloc_size, heap->largest_page);
    } else {
        pool->accept_max = heap->largest_page;
    }
    if (options->dealloc_period != ACRE_UNSET) {
        pool->next_check =
            acre_add_saturating(heap->reservations, options->dealloc_period / IDLE_CHECKS);
    }
    acre_carve_init(&pool->carve, heap->host, &heap->slices, heap->alignment);
    return ACRE_OK;
}

void acre_pool_destroy(acre_pool *pool) {
    acre_heap *heap = pool->heap;
    for (uint32_t name = pool->held_first; name != 0;) {
        acre_page *page = acre_page_at(heap, name);
        uint32_t next = page->next;
        for (uint32_t slice = page->first; slice != 0;) {
            uint32_t after = acre_heap_slice(heap, slice)->after;
            acre_slab_give(&heap->slices, slice);
            slice = after;
        }
        if (page->mapped) {
            acre_storage_dealloc(heap->storage, page->id);
        }
        heap->reserved -= page->size;
        tell_page(heap, ACRE_EVENT_PAGE_RETURN, page->size);
        acre_slab_give(&heap->pages, name);
        name = next;
    }
    acre_carve_destroy(&pool->carve);
    acre_host_free(heap->host, pool->order, pool->order_capacity * sizeof *pool->order,
                   _Alignof(max_align_t));
    memset(pool, 0, sizeof *pool);
}

bool acre_pool_is_full_for(const acre_pool *pool, const acre_need *need) {
    return need->padded > pool->page_size ||
           acre_pool_over_cap(pool, pool->ops->growth(pool, need));
}

acre_status acre_pool_refuse_capacity(const acre_pool *pool, uint64_t padded, acre_error *error) {
    acre_error_refuse(error, ACRE_POOL_CAPACITY_EXCEEDED, padded);
    error->capacity = pool->options.max_pool_size;
    error->in_use = pool->usage.in_use;
    return ACRE_POOL_CAPACITY_EXCEEDED;
}

void acre_pool_report_fill(const acre_pool *pool, acre_pool_report *report) {
    acre_carve_free free_room = acre_carve_get_free(&pool->carve);
    *report = ACRE_POOL_REPORT_INIT;
    report->kind = pool->kind;
    report->page_size = pool->page_size;
    report->max_slice_size = pool->accept_max;
    report->max_pool_size = pool->options.max_pool_size;
    report->dealloc_period = pool->options.dealloc_period;
    report->reclaim_at = pool->options.reclaim_at;
    report->usage = pool->usage;
    report->pages = pool->pages;
    report->pages_peak = pool->pages_peak;
    report->bytes_peak = pool->bytes_peak;
    report->pages_unmapped = pool->unmapped_pages;
    report->outdated_pages =
        pool->kind == ACRE_POOL_ADAPTIVE ? acre_arena_outdated_pages(pool->arena) : 0;
    report->largest_alloc = pool->largest_alloc;
    report->free_slices = free_room.runs;
    report->largest_free = free_room.largest;
}
