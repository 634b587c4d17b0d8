// The adaptive pool of the model: one page size after another, what it grew out of drains.
#include "model/reference.h"

#include <string.h>

#define MIB (UINT64_C(1) << 20)

static uint64_t at_most(uint64_t size, uint64_t most) {
    return size < most ? size : most;
}

void reference_arena_init(const reference *ref, model_pool *pool) {
    uint64_t smallest = pool->options.page_size == ACRE_UNSET ? 2 * MIB : pool->options.page_size;
    pool->smallest_page = at_most(model_round_up(smallest, ref->alignment), ref->largest_page);
    pool->page_size = pool->smallest_page;
}

uint64_t reference_arena_page(const reference *ref, const model_pool *pool, uint64_t size) {
    uint64_t page = model_round_up(model_round_up(size + MIB, MIB), ref->alignment);
    page = page < pool->smallest_page ? pool->smallest_page : page;
    return at_most(page, ref->largest_page);
}

static bool is_outdated(const reference *ref, uint32_t pool) {
    for (uint32_t i = 0; i < ref->outdated_count; i++) {
        if (ref->outdated[i] == pool) {
            return true;
        }
    }
    return false;
}

// Pages, what lives on them and the marks stay behind; zero-sized allocations have no page.
static void leave_behind(reference *ref, uint32_t pool) {
    uint32_t left = MODEL_OUTDATED;
    while (is_outdated(ref, left)) {
        left++;
    }
    ref->outdated[ref->outdated_count++] = left;
    model_pool *old = &ref->pools[left];
    *old = ref->pools[pool];
    old->options.kind = ACRE_POOL_SLICED;
    for (int i = 0; i < ref->page_end; i++) {
        if (ref->pages[i].used && ref->pages[i].pool == pool) {
            ref->pages[i].pool = left;
        }
    }
    model_pool *now = &ref->pools[pool];
    *now = model_plain_pool(ACRE_POOL_ADAPTIVE);
    now->options = old->options;
    now->options.kind = ACRE_POOL_ADAPTIVE;
    now->smallest_page = old->smallest_page;
    for (int i = 0; i < ref->allocation_end; i++) {
        model_allocation *allocation = &ref->allocations[i];
        if (allocation->used && allocation->pool == pool && allocation->page < 0) {
            now->usage.allocations++;
            old->usage.allocations--;
        } else if (allocation->used && allocation->pool == pool) {
            allocation->pool = left;
        }
    }
    ref->recent.valid = false;
}

acre_status reference_arena_grow(reference *ref, uint32_t pool, uint64_t size, int *added) {
    if (ref->outdated_count + 1 == MODEL_PAGE_SIZES) {
        return ACRE_PAGE_SIZES_EXHAUSTED;
    }
    if (!reference_page_is_given(ref, size)) {
        return ACRE_OUT_OF_MEMORY;
    }
    leave_behind(ref, pool);
    ref->pools[pool].page_size = size;
    *added = reference_hold_page(ref, pool, size);
    return ACRE_OK;
}

uint64_t reference_arena_drain(reference *ref) {
    uint64_t returned = 0;
    uint32_t kept = 0;
    for (uint32_t i = 0; i < ref->outdated_count; i++) {
        uint32_t pool = ref->outdated[i];
        returned += reference_return_free(ref, pool);
        if (ref->pools[pool].pages > 0) {
            ref->outdated[kept++] = pool;
        } else {
            memset(&ref->pools[pool], 0, sizeof ref->pools[pool]);
        }
    }
    ref->outdated_count = kept;
    return returned;
}
