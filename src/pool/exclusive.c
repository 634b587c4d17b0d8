// Exclusive pools: one page per allocation, of exactly its padded size; reuse takes the smallest
// free page that fits, the one freed last among equals.
#include "base/error.h"
#include "pool/pool.h"

static acre_run exclusive_reserve(acre_pool *pool, uint64_t padded, uint64_t step) {
    (void)step; // offset 0 is a multiple of anything
    return acre_pool_occupy(pool, acre_free_index_find(&pool->carve.whole, padded));
}

static void exclusive_release(acre_pool *pool, acre_page *page, acre_run run) {
    acre_pool_free_page(pool, page, run);
    acre_pool_let_go(pool, page, acre_slice_page(run.slice));
}

static uint64_t exclusive_growth(const acre_pool *pool, const acre_need *need) {
    (void)pool;
    return need->padded;
}

static acre_status exclusive_grow(acre_pool *pool, const acre_need *need, bool may_return,
                                  acre_run *run, acre_error *error) {
    (void)may_return;
    if (acre_pool_is_full_for(pool, need)) {
        return acre_pool_refuse_capacity(pool, need->padded, error);
    }
    uint32_t page;
    acre_status status = acre_pool_add_page(pool, need->padded, need->padded, &page, error);
    if (status == ACRE_OK) {
        *run = acre_pool_occupy(pool, acre_page_at(pool->heap, page)->first);
    }
    return status;
}

const acre_pool_ops acre_exclusive_pool_ops = {exclusive_reserve, exclusive_grow, exclusive_release,
                                               exclusive_growth};
