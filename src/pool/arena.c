#include "pool/arena.h"

#include "base/error.h"

#define MIB (UINT64_C(1) << 20)

uint64_t acre_arena_page_for(const acre_arena *arena, uint64_t size) {
    const acre_heap *heap = arena->heap;
    uint64_t page = acre_round_up(acre_add_saturating(size, MIB), MIB);
    page = acre_round_up(page, heap->alignment);
    return acre_min(acre_max(page, arena->smallest_page), heap->largest_page);
}

// => a pool of `page_size` pages, without a page yet; NULL when the hooks have no memory.
static acre_pool *make_pool(acre_arena *arena, uint32_t index, uint64_t page_size,
                            acre_error *error) {
    acre_heap *heap = arena->heap;
    acre_pool *pool = acre_host_alloc(heap->host, sizeof *pool, _Alignof(acre_pool));
    if (pool == NULL) {
        acre_error_refuse(error, ACRE_OUT_OF_HOST_MEMORY, sizeof *pool);
        return NULL;
    }
    acre_pool_options options = ACRE_SLICED_POOL(page_size);
    if (acre_pool_init(pool, heap, index, &options, error) != ACRE_OK) {
        acre_host_free(heap->host, pool, sizeof *pool, _Alignof(acre_pool));
        return NULL;
    }
    pool->kind = ACRE_POOL_ADAPTIVE;
    pool->ops = &acre_arena_pool_ops;
    pool->arena = arena;
    pool->accept_max = heap->largest_page; // what outgrows its pages makes it grow
    pool->near_low = 1;                    // nothing is near
    pool->near_high = 0;
    return pool;
}

static void end_pool(acre_arena *arena, acre_pool *pool) {
    acre_pool_destroy(pool);
    acre_host_free(arena->heap->host, pool, sizeof *pool, _Alignof(acre_pool));
}

acre_status acre_arena_create(acre_heap *heap, uint32_t index, uint32_t first_outdated,
                              const acre_pool_options *options, acre_arena **arena,
                              acre_error *error) {
    acre_arena *made = acre_host_alloc_zeroed(heap->host, sizeof *made, _Alignof(acre_arena));
    if (made == NULL) {
        return acre_error_refuse(error, ACRE_OUT_OF_HOST_MEMORY, sizeof *made);
    }
    made->heap = heap;
    made->first_outdated = first_outdated;
    made->options = *options;
    uint64_t smallest = options->page_size == ACRE_UNSET ? 2 * MIB : options->page_size;
    made->smallest_page =
        acre_min(acre_round_up(acre_max(smallest, 1), heap->alignment), heap->largest_page);
    made->current = make_pool(made, index, made->smallest_page, error);
    if (made->current == NULL) {
        acre_host_free(heap->host, made, sizeof *made, _Alignof(acre_arena));
        return error->status;
    }
    *arena = made;
    return ACRE_OK;
}

void acre_arena_destroy(acre_arena *arena) {
    if (arena == NULL) {
        return;
    }
    for (uint32_t i = 0; i < arena->outdated_count; i++) {
        end_pool(arena, arena->outdated[i]);
    }
    end_pool(arena, arena->current);
    acre_host_free(arena->heap->host, arena, sizeof *arena, _Alignof(acre_arena));
}

uint64_t acre_arena_drain(acre_arena *arena) {
    uint64_t returned = 0;
    uint32_t kept = 0;
    for (uint32_t i = 0; i < arena->outdated_count; i++) {
        acre_pool *pool = arena->outdated[i];
        returned += acre_pool_cleanup(pool, true);
        if (pool->pages == 0) {
            end_pool(arena, pool);
        } else {
            pool->index = arena->first_outdated + kept;
            arena->outdated[kept++] = pool;
        }
    }
    arena->outdated_count = kept;
    return returned;
}

uint64_t acre_arena_outdated_pages(const acre_arena *arena) {
    uint64_t pages = 0;
    for (uint32_t i = 0; i < arena->outdated_count; i++) {
        pages += arena->outdated[i]->pages;
    }
    return pages;
}

// ---- the current pool ----------------------------------------------------------------------

static acre_run arena_reserve(acre_pool *pool, uint64_t padded, uint64_t step) {
    return padded <= pool->page_size ? acre_sliced_pool_ops.reserve(pool, padded, step)
                                     : (acre_run){NULL, 0};
}

static void arena_release(acre_pool *pool, acre_page *page, acre_run run) {
    acre_sliced_pool_ops.release(pool, page, run);
}

static uint64_t arena_growth(const acre_pool *pool, const acre_need *need) {
    return need->padded <= pool->page_size ? pool->page_size
                                           : acre_arena_page_for(pool->arena, need->size);
}

// `next`, which has its first page, takes over from the current pool.
static void take_over(acre_arena *arena, acre_pool *next) {
    acre_pool *old = arena->current;
    // Zero-sized allocations have no page to stay behind on.
    next->zero_sized = old->zero_sized;
    next->usage.allocations += old->zero_sized;
    old->usage.allocations -= old->zero_sized;
    old->zero_sized = 0;
    old->kind = ACRE_POOL_SLICED;
    old->returns_at_once = true;
    old->index = arena->first_outdated + arena->outdated_count;
    arena->outdated[arena->outdated_count++] = old;
    arena->current = next;
    acre_heap_want_cleanup(arena->heap); // its empty pages, or itself, may go
}

// => a pool for what the request needs, not in force yet; NULL with the error.
static acre_pool *make_next(acre_arena *arena, uint64_t size, acre_error *error) {
    if (arena->outdated_count + 1 == ACRE_ARENA_SLOTS) {
        acre_error_refuse(error, ACRE_PAGE_SIZES_EXHAUSTED, size);
        return NULL;
    }
    return make_pool(arena, arena->current->index, acre_arena_page_for(arena, size), error);
}

static acre_status arena_grow(acre_pool *pool, const acre_need *need, bool may_return,
                              acre_run *run, acre_error *error) {
    acre_arena *arena = pool->arena;
    if (need->padded <= pool->page_size) {
        return acre_sliced_pool_ops.grow(pool, need, may_return, run, error);
    }
    acre_pool *next = make_next(arena, need->size, error);
    if (next == NULL) {
        return error->status;
    }
    acre_status status = acre_sliced_pool_ops.grow(next, need, may_return, run, error);
    if (status == ACRE_OK) {
        take_over(arena, next);
    } else {
        end_pool(arena, next);
    }
    return status;
}

acre_status acre_arena_enlarge(acre_arena *arena, uint64_t size, acre_pool **before,
                               acre_error *error) {
    uint64_t page_size = arena->current->page_size;
    acre_pool *next = make_next(arena, size, error);
    acre_pool *spare = next == NULL ? NULL : make_pool(arena, next->index, page_size, error);
    if (spare == NULL) {
        acre_status status = error->status;
        if (next != NULL) {
            end_pool(arena, next);
        }
        return status;
    }
    uint32_t page;
    acre_status status =
        acre_pool_add_page(next, next->page_size, arena->heap->alignment, &page, error);
    if (status != ACRE_OK) {
        end_pool(arena, spare);
        end_pool(arena, next);
        return status;
    }
    take_over(arena, next);
    *before = spare;
    return ACRE_OK;
}

acre_pool *acre_arena_settle(acre_arena *arena, acre_pool *before, bool served) {
    if (!served) { // the pool left behind may be there still, with pages that could not be emptied
        acre_arena_drain(arena);
        for (uint32_t i = 0; i < arena->outdated_count; i++) {
            acre_pool *old = arena->outdated[i];
            if (old->page_size == before->page_size) {
                arena->outdated_count--;
                for (; i < arena->outdated_count; i++) {
                    arena->outdated[i] = arena->outdated[i + 1];
                    arena->outdated[i]->index = arena->first_outdated + i;
                }
                end_pool(arena, before);
                before = old;
            }
        }
        before->kind = ACRE_POOL_ADAPTIVE;
        before->returns_at_once = false;
        before->index = arena->current->index;
        take_over(arena, before);
        return before;
    }
    end_pool(arena, before);
    return arena->current;
}

const acre_pool_ops acre_arena_pool_ops = {arena_reserve, arena_grow, arena_release, arena_growth};
