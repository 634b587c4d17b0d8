// Sliced pools: pages of one size carved into slices.
//
// A page is added when no free slice fits. Exact pages (exact_large_slices) are for requests that
// would strand most of a full page, and for devices that have no room for a full one.
#include "base/error.h"
#include "pool/pool.h"

static acre_run sliced_reserve(acre_pool *pool, uint64_t padded, uint64_t step) {
    acre_run run = acre_carve_take(&pool->carve, padded, step);
    if (run.slice != NULL) {
        acre_pool_hold_taken(pool, run);
    }
    return run;
}

static void sliced_release(acre_pool *pool, acre_page *page, acre_run run) {
    if (acre_unlikely(page->guards > 0)) {
        acre_carve_withhold(run);
    } else {
        uint32_t retired = acre_carve_give(&pool->carve, run);
        if (retired != 0) {
            acre_carve_retire(&pool->carve, retired);
        }
    }
    acre_pool_let_go(pool, page, acre_slice_page(run.slice));
}

static uint64_t sliced_growth(const acre_pool *pool, const acre_need *need) {
    bool exact = pool->options.exact_large_slices && need->padded > pool->page_size / 4;
    return exact ? need->padded : pool->page_size;
}

static acre_status sliced_grow(acre_pool *pool, const acre_need *need, bool may_return,
                               acre_run *run, acre_error *error) {
    (void)may_return;
    uint64_t size = sliced_growth(pool, need);
    if (acre_pool_is_full_for(pool, need)) {
        return acre_pool_refuse_capacity(pool, need->padded, error);
    }
    uint32_t page;
    acre_status status = acre_pool_add_page(pool, size, pool->heap->alignment, &page, error);
    if (status == ACRE_OUT_OF_MEMORY && pool->options.exact_large_slices && size != need->padded) {
        status = acre_pool_add_page(pool, need->padded, pool->heap->alignment, &page, error);
    }
    if (status == ACRE_OK) {
        *run =
            sliced_reserve(pool, need->padded, need->step); // the new page holds it, at its start
    }
    return status;
}

const acre_pool_ops acre_sliced_pool_ops = {sliced_reserve, sliced_grow, sliced_release,
                                            sliced_growth};
