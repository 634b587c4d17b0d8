// Pools: what their options make of them, and what is common to all policies but the pages.
#include "pool/pool.h"

#include "base/error.h"
#include "pool/arena.h"

#include <string.h>

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
    bool cuts = options->kind == ACRE_POOL_SLICED;
    if (cuts) {
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
            acre_add_saturating(heap->reservations, options->dealloc_period / ACRE_IDLE_CHECKS);
    }
    acre_carve_init(&pool->carve, heap->host, &heap->slices, heap->alignment, cuts);
    return ACRE_OK;
}

void acre_pool_destroy(acre_pool *pool) {
    acre_heap *heap = pool->heap;
    acre_pool_drop_pages(pool);
    acre_carve_destroy(&pool->carve);
    acre_host_free(heap->host, pool->order, pool->order_capacity * sizeof *pool->order,
                   _Alignof(max_align_t));
    memset(pool, 0, sizeof *pool);
}

bool acre_pool_is_full_for(const acre_pool *pool, const acre_need *need) {
    return need->padded > pool->page_size ||
           (acre_pool_is_capped(pool) && acre_pool_over_cap(pool, pool->ops->growth(pool, need)));
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
