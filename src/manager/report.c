// Reports: numbers that every operation keeps up to date.
#include "base/error.h"
#include "base/structs.h"
#include "manager/capture.h"

#include <string.h>

const char *acre_pool_kind_name(acre_pool_kind kind) {
    static const char *const names[] = {"sliced",     "exclusive", "direct",
                                        "persistent", "dedicated", "adaptive"};
    return (unsigned)kind < sizeof names / sizeof names[0] ? names[kind] : "unknown";
}

acre_usage acre_manager_usage(acre_manager *manager) {
    acre_usage sum = {0, 0, 0, 0};
    acre_pool_walk walk = {.manager = manager};
    for (const acre_pool *pool; (pool = acre_pool_walk_next(&walk)) != NULL;) {
        sum.allocations += pool->usage.allocations;
        sum.in_use += pool->usage.in_use;
        sum.padding += pool->usage.padding;
        sum.reserved += pool->usage.reserved;
    }
    return sum;
}

acre_carve_free acre_manager_free_room(acre_manager *manager) {
    acre_carve_free sum = {0, 0, 0};
    acre_pool_walk walk = {.manager = manager, .skips_captures = true};
    for (const acre_pool *pool; (pool = acre_pool_walk_next(&walk)) != NULL;) {
        acre_carve_free one = acre_carve_get_free(&pool->carve);
        sum.runs += one.runs;
        sum.bytes += one.bytes;
        sum.largest = acre_max(sum.largest, one.largest);
    }
    return sum;
}

void acre_manager_report(acre_manager *manager, acre_report *report) {
    acre_manager_take_pending(manager);
    const acre_heap *heap = &manager->heap;
    acre_storage_stats stats = ACRE_STORAGE_STATS_INIT;
    acre_storage_stats_get(heap->storage, &stats);
    acre_report own = ACRE_REPORT_INIT;
    own.usage = acre_manager_usage(manager);
    own.pages = heap->pages_held;
    own.reservations = heap->reservations;
    own.bytes_allocated = stats.bytes_allocated;
    own.bytes_peak = stats.bytes_peak;
    own.total_memory = manager->total_memory;
    own.largest_page = heap->largest_page;
    own.alignment = heap->alignment;
    own.host_bytes = manager->home->host.bytes;
    own.pool_count = acre_pool_set_size(&manager->layout);
    own.moves = manager->relocation.moves;
    own.moved_bytes = manager->relocation.bytes;
    own.pages_given_back = manager->relocation.pages;
    own.captures = acre_capture_count(manager);
    acre_struct_write(report, &own, sizeof own);
}

acre_status acre_manager_pool_report(acre_manager *manager, uint32_t index,
                                     acre_pool_report *report, acre_error *error) {
    acre_error local;
    acre_error *detail = acre_error_open(error, &local);
    acre_manager_take_pending(manager);
    const acre_pool *pool = acre_manager_pool(manager, index);
    if (pool == NULL) {
        return acre_error_close(error, detail,
                                acre_error_set(detail, ACRE_INVALID_ARGUMENT,
                                               "no pool %u; the layout has %u", (unsigned)index,
                                               (unsigned)acre_pool_set_size(&manager->layout)));
    }
    acre_pool_report own;
    acre_pool_report_fill(pool, &own);
    acre_struct_write(report, &own, sizeof own);
    return ACRE_OK;
}

// ---- walks ---------------------------------------------------------------------------------

// Calls `visit` for the runs of one page. Free runs that touch are shown as the one they are.
static void visit_page(acre_manager *manager, const acre_pool *pool, uint32_t name,
                       acre_slice_fn visit, void *context) {
    const acre_heap *heap = &manager->heap;
    const acre_page *page = acre_page_at(heap, name);
    for (uint32_t at = page->first; at != 0;) {
        const acre_slice *slice = acre_heap_slice(heap, at);
        acre_slice_info info = {.pool_index = pool->index,
                                .page = name,
                                .page_size = page->size,
                                .offset = slice->offset,
                                .size = slice->size,
                                .live = acre_slice_state_of(slice) == ACRE_SLICE_LIVE};
        at = slice->after;
        if (info.live) {
            info.requested = slice->live.requested;
            info.tag = slice->tag;
        } else {
            while (at != 0 && acre_slice_state_of(acre_heap_slice(heap, at)) != ACRE_SLICE_LIVE) {
                info.size += acre_heap_slice(heap, at)->size;
                at = acre_heap_slice(heap, at)->after;
            }
        }
        visit(context, &info);
    }
}

void acre_manager_visit_slices(acre_manager *manager, acre_slice_fn visit, void *context) {
    acre_manager_take_pending(manager);
    acre_pool_walk walk = {.manager = manager};
    for (const acre_pool *pool; (pool = acre_pool_walk_next(&walk)) != NULL;) {
        for (uint32_t page = pool->held.first; page != 0;
             page = acre_page_at(&manager->heap, page)->held.next) {
            visit_page(manager, pool, page, visit, context);
        }
    }
}

// The largest found so far, in the caller's array, whose elements may be longer than ours.
typedef struct ranking {
    char *infos;
    size_t info_size;
    size_t capacity;
    size_t count;
    uint64_t alignment;
} ranking;

static acre_allocation_info *info_at(const ranking *ranks, size_t place) {
    return (acre_allocation_info *)(void *)(ranks->infos + place * ranks->info_size);
}

static bool ranks_before(const acre_allocation_info *a, const acre_allocation_info *b) {
    if (a->size != b->size) {
        return a->size > b->size;
    }
    return a->tag != b->tag ? a->tag < b->tag : a->pool_index < b->pool_index;
}

static void rank(void *context, const acre_slice_info *slice) {
    ranking *ranks = context;
    if (!slice->live) {
        return;
    }
    acre_allocation_info info = {
        slice->requested, acre_round_up(slice->requested, ranks->alignment) - slice->requested,
        slice->tag, slice->pool_index};
    size_t at = ranks->count;
    if (at < ranks->capacity) {
        ranks->count++;
    } else if (at == 0 || !ranks_before(&info, info_at(ranks, --at))) {
        return;
    }
    for (; at > 0 && ranks_before(&info, info_at(ranks, at - 1)); at--) {
        *info_at(ranks, at) = *info_at(ranks, at - 1);
    }
    *info_at(ranks, at) = info;
}

size_t acre_manager_largest(acre_manager *manager, acre_allocation_info *largest, size_t info_size,
                            size_t capacity) {
    if (info_size < sizeof *largest || info_size % _Alignof(acre_allocation_info) != 0) {
        return 0;
    }
    if (capacity > 0) { // fields that only the caller knows are 0
        memset(largest, 0, info_size * capacity);
    }
    ranking ranks = {(char *)largest, info_size, capacity, 0, manager->heap.alignment};
    acre_manager_visit_slices(manager, rank, &ranks);
    return ranks.count;
}
