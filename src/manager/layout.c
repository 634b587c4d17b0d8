// Layouts: from a preset or a list to pools.
#include "base/error.h"
#include "base/structs.h"
#include "base/text.h"
#include "manager/manager.h"

#include <string.h>

#define MIB              (UINT64_C(1) << 20)
#define GIB              (UINT64_C(1) << 30)
#define EXCLUSIVE_RANGES 24
#define MAX_PRESET_POOLS 32 // 30 octaves of 64-bit sizes by factors of 4, and two more
#define MAX_POOLS        4096

typedef struct pool_list {
    acre_pool_options pools[MAX_PRESET_POOLS];
    uint32_t count;
} pool_list;

static void add(pool_list *list, acre_pool_options options) {
    list->pools[list->count++] = options;
}

// exclusive{0}, sliced pools whose pages are quarters of quarters of the largest page, smallest
// first, exclusive{largest page}. The slice limits halve relative to the page with each step
// down, so that small pages are not blocked by single large slices.
static void sub_slices(const acre_heap *heap, pool_list *list) {
    uint64_t pages[MAX_PRESET_POOLS];
    uint32_t steps = 0;
    uint64_t page = heap->largest_page;
    for (;;) {
        uint64_t quarter = acre_round_up(page / 4, heap->alignment);
        if (page < 32 * MIB || quarter >= page) {
            break;
        }
        page = quarter;
        pages[steps++] = page;
    }
    add(list, ACRE_EXCLUSIVE_POOL(0));
    for (uint32_t i = steps; i-- > 0;) {
        acre_pool_options options = ACRE_SLICED_POOL(pages[i]);
        options.max_slice_size = pages[i] >> (i + 1);
        options.exact_large_slices = true;
        add(list, options);
    }
    add(list, ACRE_EXCLUSIVE_POOL(heap->largest_page));
}

// The 23rd root of ratio >= 1, by Newton's method, which needs no mathematics library.
static double root_of(double ratio) {
    const int degree = EXCLUSIVE_RANGES - 1;
    double root = ratio;
    for (;;) {
        double power = 1;
        for (int i = 1; i < degree; i++) {
            power *= root;
        }
        double next = ((degree - 1) * root + ratio / power) / degree;
        if (next >= root) {
            return root;
        }
        root = next;
    }
}

// 24 exclusive pools, from 32 KiB to the largest page evenly in the logarithm.
static void exclusive_pages(const acre_heap *heap, pool_list *list) {
    uint64_t smallest = acre_min(UINT64_C(32) << 10, heap->largest_page);
    double step = root_of((double)heap->largest_page / (double)smallest);
    double size = (double)smallest;
    for (uint32_t i = 0; i < EXCLUSIVE_RANGES; i++) {
        uint64_t bytes = i + 1 == EXCLUSIVE_RANGES ? heap->largest_page
                         : i == 0                  ? smallest
                                                   : (uint64_t)size;
        size *= step;
        bytes = acre_min(acre_round_up(bytes, heap->alignment), heap->largest_page);
        if (list->count > 0 && list->pools[list->count - 1].max_alloc_size == bytes) {
            continue;
        }
        acre_pool_options options = ACRE_EXCLUSIVE_POOL(bytes);
        options.dealloc_period = 5000 * (uint64_t)(1.0 + (double)bytes / (double)GIB + 0.5);
        add(list, options);
    }
}

// Rounds what a list accepts up to the alignment; unset stays so.
static void round_limit(const acre_heap *heap, uint64_t *limit) {
    if (*limit != ACRE_UNSET) {
        *limit = acre_round_up(*limit, heap->alignment);
    }
}

// Makes one pool from options that may be of another version of the struct. The limits of a
// preset are what its rule says; those of a caller's list are rounded up to the alignment.
static acre_status make_pool(acre_manager *manager, acre_pool *pool, uint32_t index,
                             const void *theirs, bool listed, acre_error *error) {
    acre_pool_options options = ACRE_POOL_OPTIONS_INIT(ACRE_POOL_SLICED, ACRE_UNSET, ACRE_UNSET);
    if (!acre_struct_read(&options, sizeof options, theirs)) {
        return acre_error_set(error, ACRE_UNSUPPORTED,
                              "pool %u has options this version does not know", (unsigned)index);
    }
    if (options.kind != ACRE_POOL_SLICED && options.kind != ACRE_POOL_EXCLUSIVE &&
        options.kind != ACRE_POOL_DIRECT) {
        return acre_error_set(error, ACRE_INVALID_ARGUMENT,
                              "pool %u: a layout has sliced, exclusive and direct pools",
                              (unsigned)index);
    }
    if (options.kind == ACRE_POOL_SLICED && manager->heap.storage->limits.no_sub_slices) {
        return acre_error_set(error, ACRE_UNSUPPORTED,
                              "pool %u: storage %s cannot cut pages into slices; use exclusive "
                              "or direct pools",
                              (unsigned)index, manager->heap.storage->name);
    }
    if (listed && !options.measured) { // measured limits are what a pool had in force
        round_limit(&manager->heap, &options.max_slice_size);
        round_limit(&manager->heap, &options.max_alloc_size);
    }
    return acre_pool_init(pool, &manager->heap, index, &options, error);
}

// Makes `count` pools from options that lie `stride` bytes apart.
static acre_status make_pools(acre_manager *manager, const acre_pool_options *options,
                              size_t stride, uint32_t count, bool listed, acre_pool **pools,
                              acre_error *error) {
    acre_host *host = acre_manager_host(manager);
    acre_pool *made = acre_host_alloc_zeroed(host, count * sizeof *made, _Alignof(acre_pool));
    if (made == NULL) {
        return acre_error_refuse(error, ACRE_OUT_OF_HOST_MEMORY, count * sizeof *made);
    }
    for (uint32_t i = 0; i < count; i++) {
        acre_status status =
            make_pool(manager, &made[i], i, (const char *)options + i * stride, listed, error);
        if (status != ACRE_OK) {
            acre_layout_unbuild(manager, made, count);
            return status;
        }
    }
    *pools = made;
    return ACRE_OK;
}

acre_status acre_layout_build(acre_manager *manager, const acre_layout *layout, acre_pool **pools,
                              uint32_t *count, acre_error *error) {
    acre_layout own = ACRE_LAYOUT_INIT(ACRE_LAYOUT_DEFAULT);
    if (layout != NULL && !acre_struct_read(&own, sizeof own, layout)) {
        return acre_error_set(error, ACRE_UNSUPPORTED,
                              "the layout has fields this version does not know");
    }
    bool can_cut = !manager->heap.storage->limits.no_sub_slices;
    if (own.kind == ACRE_LAYOUT_DEFAULT) {
        own.kind = can_cut ? ACRE_LAYOUT_SUB_SLICES : ACRE_LAYOUT_EXCLUSIVE_PAGES;
    }
    if (own.kind == ACRE_LAYOUT_EXPLICIT) {
        if (own.pools == NULL || own.pool_count == 0 || own.pool_count > MAX_POOLS) {
            return acre_error_set(error, ACRE_INVALID_ARGUMENT,
                                  "an explicit layout has 1 to %d pools", MAX_POOLS);
        }
        *count = (uint32_t)own.pool_count;
        return make_pools(manager, own.pools, own.pools[0].struct_size, *count, true, pools, error);
    }
    pool_list list = {.count = 0};
    if (own.kind == ACRE_LAYOUT_SUB_SLICES) {
        if (!can_cut) {
            return acre_error_set(error, ACRE_UNSUPPORTED,
                                  "storage %s cannot cut pages into slices; use the layout of "
                                  "exclusive pages",
                                  manager->heap.storage->name);
        }
        sub_slices(&manager->heap, &list);
    } else if (own.kind == ACRE_LAYOUT_EXCLUSIVE_PAGES) {
        exclusive_pages(&manager->heap, &list);
    } else {
        return acre_error_set(error, ACRE_INVALID_ARGUMENT, "no such layout: %d", (int)own.kind);
    }
    *count = list.count;
    return make_pools(manager, list.pools, sizeof list.pools[0], list.count, false, pools, error);
}

void acre_layout_unbuild(acre_manager *manager, acre_pool *pools, uint32_t count) {
    if (pools == NULL) {
        return;
    }
    for (uint32_t i = 0; i < count; i++) {
        if (pools[i].heap != NULL) { // it was made
            acre_pool_destroy(&pools[i]);
        }
    }
    acre_host_free(acre_manager_host(manager), pools, count * sizeof *pools, _Alignof(acre_pool));
}

static void log_pool(const acre_manager *manager, const acre_pool *pool) {
    char page[64] = "";
    char cap[64] = "";
    if (pool->kind == ACRE_POOL_SLICED) {
        snprintf(page, sizeof page, ", pages of %s", acre_format_bytes(pool->page_size).text);
    }
    if (acre_pool_is_capped(pool)) {
        snprintf(cap, sizeof cap, ", at most %s",
                 acre_format_bytes(pool->options.max_pool_size).text);
    }
    acre_log_write(&manager->log, ACRE_LOG_BASIC, "pool %u: %s%s, requests up to %s%s",
                   (unsigned)pool->index, acre_pool_kind_name(pool->kind), page,
                   acre_format_bytes(acre_max(pool->accept_max, pool->near_high)).text, cap);
}

void acre_layout_adopt(acre_manager *manager, acre_pool *pools, uint32_t count) {
    manager->pools = pools;
    manager->pool_count = count;
    for (uint32_t octave = 0; octave < 64; octave++) {
        uint32_t first = 0;
        while (first < count &&
               acre_max(pools[first].accept_max, pools[first].near_high) < UINT64_C(1) << octave) {
            first++;
        }
        manager->route[octave] = first;
    }
    acre_manager_schedule(manager);
    for (uint32_t i = 0; i < count; i++) {
        log_pool(manager, &pools[i]);
    }
}
