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

// exclusive{0}, small requests on pages of their own, everything else in the arena.
static void adaptive(const acre_heap *heap, pool_list *list) {
    acre_pool_options metadata =
        ACRE_SLICED_POOL(acre_min(acre_round_up(8 * MIB, heap->alignment), heap->largest_page));
    metadata.max_slice_size = UINT64_C(64) << 10;
    metadata.strict = true;
    add(list, ACRE_EXCLUSIVE_POOL(0));
    add(list, metadata);
    add(list, ACRE_ADAPTIVE_POOL(2 * MIB));
}

// Rounds what a list accepts up to the alignment; unset stays so.
static void round_limit(const acre_heap *heap, uint64_t *limit) {
    if (*limit != ACRE_UNSET) {
        *limit = acre_round_up(*limit, heap->alignment);
    }
}

// => the name of an option that was set but means nothing to the kind of pool; NULL = none.
static const char *foreign_option(const acre_pool_options *options) {
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

// Reads options that may be of another version of the struct, and checks what a layout may list.
static acre_status read_options(const acre_heap *heap, uint32_t index, const void *theirs,
                                acre_pool_options *options, acre_error *error) {
    *options = ACRE_POOL_OPTIONS_INIT(ACRE_POOL_SLICED, ACRE_UNSET, ACRE_UNSET);
    if (!acre_struct_read(options, sizeof *options, theirs)) {
        return acre_error_set(error, ACRE_UNSUPPORTED,
                              "pool %u has options this version does not know", (unsigned)index);
    }
    acre_pool_kind kind = options->kind;
    bool cuts = kind == ACRE_POOL_SLICED || kind == ACRE_POOL_ADAPTIVE;
    if (!cuts && kind != ACRE_POOL_EXCLUSIVE && kind != ACRE_POOL_DIRECT) {
        return acre_error_set(error, ACRE_INVALID_ARGUMENT,
                              "pool %u: a layout has sliced, exclusive, direct and adaptive pools",
                              (unsigned)index);
    }
    if (cuts && heap->storage->limits.no_sub_slices) {
        return acre_error_set(error, ACRE_UNSUPPORTED,
                              "pool %u: storage %s cannot cut pages into slices; use exclusive "
                              "or direct pools",
                              (unsigned)index, heap->storage->name);
    }
    const char *foreign = foreign_option(options);
    if (foreign != NULL) {
        return acre_error_set(error, ACRE_INVALID_ARGUMENT, "pool %u: its kind has no %s",
                              (unsigned)index, foreign);
    }
    return ACRE_OK;
}

// Makes the pool, or the arena, that options describe.
static acre_status make_pool(acre_manager *manager, acre_pool_set *set, uint32_t index,
                             const acre_pool_options *options, acre_error *error) {
    acre_heap *heap = &manager->heap;
    if (options->kind == ACRE_POOL_ADAPTIVE) {
        if (set->arena != NULL) {
            return acre_error_set(error, ACRE_INVALID_ARGUMENT,
                                  "pool %u: a layout has one adaptive pool", (unsigned)index);
        }
        acre_status status = acre_arena_create(heap, set->first + index, set->first + set->count,
                                               options, &set->arena, error);
        set->pools[index] = status == ACRE_OK ? set->arena->current : NULL;
        return status;
    }
    acre_pool *pool = acre_host_alloc(heap->host, sizeof *pool, _Alignof(acre_pool));
    if (pool == NULL) {
        return acre_error_refuse(error, ACRE_OUT_OF_HOST_MEMORY, sizeof *pool);
    }
    acre_status status = acre_pool_init(pool, heap, set->first + index, options, error);
    if (status != ACRE_OK) {
        acre_host_free(heap->host, pool, sizeof *pool, _Alignof(acre_pool));
        return status;
    }
    set->pools[index] = pool;
    return ACRE_OK;
}

static void make_routes(acre_pool_set *set) {
    for (uint32_t octave = 0; octave < 64; octave++) {
        uint32_t first = 0;
        while (first < set->count &&
               acre_max(set->pools[first]->accept_max, set->pools[first]->near_high) <
                   UINT64_C(1) << octave) {
            first++;
        }
        set->route[octave] = first;
    }
}

// Of the list of pools, with the NULL behind it.
static size_t pools_bytes(const acre_pool_set *set) {
    return (set->count + (size_t)1) * sizeof *set->pools;
}

// Makes `set->count` pools from options that lie `stride` bytes apart. The limits of a preset are
// what its rule says; those of a caller's list are rounded up to the alignment.
static acre_status make_pools(acre_manager *manager, const acre_pool_options *options,
                              size_t stride, bool listed, acre_pool_set *set, acre_error *error) {
    acre_host *host = acre_manager_host(manager);
    size_t bytes = pools_bytes(set);
    set->pools = acre_host_alloc_zeroed(host, bytes, _Alignof(void *));
    if (set->pools == NULL) {
        return acre_error_refuse(error, ACRE_OUT_OF_HOST_MEMORY, bytes);
    }
    for (uint32_t i = 0; i < set->count; i++) {
        acre_pool_options own;
        acre_status status =
            read_options(&manager->heap, i, (const char *)options + i * stride, &own, error);
        if (status == ACRE_OK && listed && !own.measured) { // measured: what was in force
            round_limit(&manager->heap, &own.max_slice_size);
            round_limit(&manager->heap, &own.max_alloc_size);
        }
        if (status == ACRE_OK) {
            status = make_pool(manager, set, i, &own, error);
        }
        if (status != ACRE_OK) {
            acre_layout_unbuild(manager, set);
            return status;
        }
    }
    make_routes(set);
    return ACRE_OK;
}

// The pools of a preset. => false: it is none.
static bool expand(const acre_heap *heap, acre_layout_kind kind, pool_list *list) {
    switch (kind) {
    case ACRE_LAYOUT_SUB_SLICES:
        sub_slices(heap, list);
        return true;
    case ACRE_LAYOUT_EXCLUSIVE_PAGES:
        exclusive_pages(heap, list);
        return true;
    case ACRE_LAYOUT_ADAPTIVE:
        adaptive(heap, list);
        return true;
    default:
        return false;
    }
}

acre_status acre_layout_build(acre_manager *manager, const acre_layout *layout, acre_pool_set *set,
                              acre_error *error) {
    const acre_heap *heap = &manager->heap;
    acre_layout own = ACRE_LAYOUT_INIT(ACRE_LAYOUT_DEFAULT);
    *set = (acre_pool_set){.pools = NULL};
    if (layout != NULL && !acre_struct_read(&own, sizeof own, layout)) {
        return acre_error_set(error, ACRE_UNSUPPORTED,
                              "the layout has fields this version does not know");
    }
    if (own.kind == ACRE_LAYOUT_EXPLICIT) {
        if (own.pools == NULL || own.pool_count == 0 || own.pool_count > MAX_POOLS) {
            return acre_error_set(error, ACRE_INVALID_ARGUMENT,
                                  "an explicit layout has 1 to %d pools", MAX_POOLS);
        }
        set->count = (uint32_t)own.pool_count;
        return make_pools(manager, own.pools, own.pools[0].struct_size, true, set, error);
    }
    bool can_cut = !heap->storage->limits.no_sub_slices;
    if (own.kind == ACRE_LAYOUT_DEFAULT) {
        own.kind = can_cut ? ACRE_LAYOUT_ADAPTIVE : ACRE_LAYOUT_EXCLUSIVE_PAGES;
    }
    pool_list list = {.count = 0};
    if (!expand(heap, own.kind, &list)) {
        return acre_error_set(error, ACRE_INVALID_ARGUMENT, "no such layout: %d", (int)own.kind);
    }
    if (!can_cut && own.kind != ACRE_LAYOUT_EXCLUSIVE_PAGES) {
        return acre_error_set(error, ACRE_UNSUPPORTED,
                              "storage %s cannot cut pages into slices; use the layout of "
                              "exclusive pages",
                              heap->storage->name);
    }
    set->count = list.count;
    return make_pools(manager, list.pools, sizeof list.pools[0], false, set, error);
}

acre_status acre_layout_build_again(acre_manager *manager, uint32_t first, acre_pool_set *set,
                                    acre_error *error) {
    acre_host *host = acre_manager_host(manager);
    const acre_pool_set *layout = &manager->layout;
    size_t bytes = layout->count * sizeof(acre_pool_options);
    acre_pool_options *options = acre_host_alloc(host, bytes, _Alignof(acre_pool_options));
    if (options == NULL) {
        return acre_error_refuse(error, ACRE_OUT_OF_HOST_MEMORY, bytes);
    }
    for (uint32_t i = 0; i < layout->count; i++) {
        const acre_pool *pool = layout->pools[i];
        options[i] = pool->arena != NULL ? pool->arena->options : pool->options;
    }
    *set = (acre_pool_set){.count = layout->count, .first = first};
    acre_status status = make_pools(manager, options, sizeof *options, false, set, error);
    acre_host_free(host, options, bytes, _Alignof(acre_pool_options));
    return status;
}

void acre_layout_unbuild(acre_manager *manager, acre_pool_set *set) {
    acre_host *host = acre_manager_host(manager);
    for (uint32_t i = 0; set->pools != NULL && i < set->count; i++) {
        acre_pool *pool = set->pools[i];
        if (pool != NULL && pool->arena == NULL) {
            acre_pool_destroy(pool);
            acre_host_free(host, pool, sizeof *pool, _Alignof(acre_pool));
        }
    }
    acre_arena_destroy(set->arena);
    acre_host_free(host, set->pools, pools_bytes(set), _Alignof(void *));
    *set = (acre_pool_set){.pools = NULL};
}

static void log_pool(const acre_manager *manager, const acre_pool *pool) {
    char page[64] = "";
    char cap[64] = "";
    if (pool->page_size != ACRE_UNSET) {
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

void acre_layout_adopt(acre_manager *manager, const acre_pool_set *set) {
    manager->layout = *set;
    manager->relocation.moved_nothing = false;
    acre_manager_schedule(manager);
    for (uint32_t i = 0; i < set->count; i++) {
        log_pool(manager, set->pools[i]);
    }
}

acre_pool *acre_manager_route_arena(acre_manager *manager, acre_pool_set *set, uint32_t place) {
    acre_pool *before = set->pools[place];
    acre_pool *now = before->arena == NULL ? before : before->arena->current;
    if (now != before) {
        set->pools[place] = now;
        acre_log_write(&manager->log, ACRE_LOG_BASIC, "pages of %s from here on, were %s",
                       acre_format_bytes(now->page_size).text,
                       acre_format_bytes(before->page_size).text);
    }
    return now;
}
