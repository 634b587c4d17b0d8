// Direct, persistent and dedicated pools: one device allocation per request, reused only for the
// same padded size, the one freed last first. They differ in who asks them and in when free ones
// go back:
//
//   direct      above its watermark, oldest first, just enough; or at an explicit cleanup
//   persistent  at an explicit cleanup
//   dedicated   at the manager's next operation that may return pages (the manager sees to it)
//
// Pages to reclaim are found oldest first through a binary heap of page names (`order`). A page
// that is used again stays in it, since its age does not change; it is skipped when met.
#include "base/error.h"
#include "pool/pool.h"

static uint64_t age_of(const acre_pool *pool, uint32_t page) {
    return acre_page_at(pool->heap, page)->sequence;
}

static void order_push(acre_pool *pool, uint32_t page) {
    uint32_t at = pool->order_count++;
    uint64_t age = age_of(pool, page);
    while (at > 0 && age_of(pool, pool->order[(at - 1) / 2]) > age) {
        pool->order[at] = pool->order[(at - 1) / 2];
        at = (at - 1) / 2;
    }
    pool->order[at] = page;
    acre_page_at(pool->heap, page)->in_order = true;
}

static uint32_t order_pop(acre_pool *pool) {
    uint32_t oldest = pool->order[0];
    uint32_t moved = pool->order[--pool->order_count];
    uint64_t age = age_of(pool, moved);
    uint32_t at = 0;
    for (;;) {
        uint32_t child = 2 * at + 1;
        if (child >= pool->order_count) {
            break;
        }
        if (child + 1 < pool->order_count &&
            age_of(pool, pool->order[child + 1]) < age_of(pool, pool->order[child])) {
            child++;
        }
        if (age_of(pool, pool->order[child]) >= age) {
            break;
        }
        pool->order[at] = pool->order[child];
        at = child;
    }
    pool->order[at] = moved;
    acre_page_at(pool->heap, oldest)->in_order = false;
    return oldest;
}

void acre_exact_page_idles(acre_pool *pool, acre_page *page, uint32_t name) {
    if (pool->options.reclaim_at != ACRE_UNSET && !page->in_order) {
        order_push(pool, name);
    }
}

static acre_run exact_reserve(acre_pool *pool, uint64_t padded, uint64_t step) {
    (void)step; // offset 0 is a multiple of anything
    return acre_pool_occupy(pool, acre_free_index_find_exact(&pool->carve.whole, padded));
}

static void exact_release(acre_pool *pool, acre_page *page, acre_run run) {
    acre_pool_free_page(pool, page, run);
    acre_pool_let_go(pool, page, acre_slice_page(run.slice));
    acre_exact_page_idles(pool, page, acre_slice_page(run.slice));
}

static uint64_t exact_growth(const acre_pool *pool, const acre_need *need) {
    (void)pool;
    return need->padded;
}

// Gives free pages back, oldest first, until `padded` more bytes stay within the watermark or none
// is left. The storage is flushed, so that the device has the room when it is asked next.
static void reclaim(acre_pool *pool, uint64_t padded) {
    bool returned = false;
    while (pool->order_count > 0 &&
           acre_add_saturating(pool->usage.reserved, padded) > pool->options.reclaim_at) {
        uint32_t page = order_pop(pool);
        const acre_page *oldest = acre_page_at(pool->heap, page);
        if (oldest->live == 0 && oldest->guards == 0) {
            acre_pool_return_page(pool, page);
            returned = true;
        }
    }
    if (returned) {
        acre_storage_flush(pool->heap->storage);
    }
}

static acre_status exact_grow(acre_pool *pool, const acre_need *need, bool may_return,
                              acre_run *run, acre_error *error) {
    if (pool->options.reclaim_at != ACRE_UNSET) {
        if (may_return) {
            reclaim(pool, need->padded);
        }
        // Releasing must not fail, so the order gets its room with the page.
        if (!acre_host_grow(pool->heap->host, &pool->order, sizeof *pool->order, pool->order_count,
                            (uint32_t)pool->pages + 1, &pool->order_capacity)) {
            return acre_error_refuse(error, ACRE_OUT_OF_HOST_MEMORY, need->padded);
        }
    }
    uint32_t page;
    acre_status status = acre_pool_add_page(pool, need->padded, need->padded, &page, error);
    if (status == ACRE_OK) {
        *run = acre_pool_occupy(pool, acre_page_at(pool->heap, page)->first);
    }
    return status;
}

const acre_pool_ops acre_exact_pool_ops = {exact_reserve, exact_grow, exact_release, exact_growth};
