// Compaction: emptying current pages, or a stretch of one, into the free room of the others.
#include "manager/relocate_plan.h"

// How many stretches are tried: one may not find room for all that lives there, where another does.
#define STRETCHES_MOST 8

// Empties current pages into the others. A page that got targets is bound, and so left out.
acre_verdict acre_relocation_plan_current(acre_relocation *plan, acre_page_names *list) {
    acre_heap *heap = &plan->manager->heap;
    acre_pool *pool = plan->manager->layout.arena->current;
    list->count = 0;
    acre_verdict found = acre_relocation_gather(plan, pool, list);
    if (found == ACRE_NO_HOST_MEMORY) {
        return found;
    }
    acre_relocation_order(list->pages, list->count);
    for (uint32_t i = 0; i < list->count && found != ACRE_NO_HOST_MEMORY; i++) {
        const acre_page *page = acre_page_at(heap, list->pages[i].name);
        uint64_t live;
        if (acre_relocation_judge(plan, page, &live) != NULL) { // it got a target
            continue;
        }
        acre_carve_withhold_page(&pool->carve, page->first);
        found = acre_carve_merged_bytes(&pool->carve) < live
                    ? ACRE_STAYS
                    : acre_relocation_plan_page(plan, list->pages[i].name, false);
        if (found == ACRE_STAYS) {
            acre_carve_restore_page(&pool->carve, page->first);
        }
    }
    for (uint32_t i = 0; i < list->count; i++) {
        acre_carve_restore_page(&pool->carve, acre_page_at(heap, list->pages[i].name)->first);
    }
    return found;
}

// The runs of one page.
typedef struct run_list {
    acre_host *host;
    acre_source_run *runs;
    uint32_t count, capacity;
} run_list;

static bool read_runs(const acre_heap *heap, const acre_page *page, run_list *list) {
    list->count = 0;
    for (uint32_t at = page->first; at != 0; at = acre_heap_slice(heap, at)->after) {
        const acre_slice *slice = acre_heap_slice(heap, at);
        if (!acre_host_grow(list->host, &list->runs, sizeof *list->runs, list->count,
                            list->count + 1, &list->capacity)) {
            return false;
        }
        list->runs[list->count++] =
            (acre_source_run){slice->size, acre_slice_state_of(slice) == ACRE_SLICE_LIVE, at};
    }
    return true;
}

// Moves what lives in the page's cheapest stretch of `size` bytes out of it.
static acre_verdict clear_stretch(acre_relocation *plan, run_list *runs, const acre_page *page,
                                  uint64_t size) {
    acre_heap *heap = &plan->manager->heap;
    acre_carve *carve = &plan->manager->layout.arena->current->carve;
    acre_carve_settle(carve); // the last try's targets
    if (!read_runs(heap, page, runs)) {
        return ACRE_NO_HOST_MEMORY;
    }
    acre_stretch stretch;
    if (runs->runs == NULL || // a page has one run at least
        !acre_relocation_stretch(runs->runs, runs->count, size, &stretch)) {
        return ACRE_STAYS;
    }
    for (size_t i = stretch.first; i < stretch.end; i++) {
        if (!runs->runs[i].live) {
            acre_carve_withhold_run(carve, runs->runs[i].name);
        }
    }
    uint32_t end = stretch.end < runs->count ? runs->runs[stretch.end].name : 0;
    uint32_t first = plan->moves.count;
    acre_verdict found =
        acre_carve_merged_bytes(carve) < stretch.live
            ? ACRE_STAYS
            : acre_relocation_plan_runs(plan, runs->runs[stretch.first].name, end, false);
    if (found == ACRE_FITS) { // cut short by a limit, the next call goes on with what is left
        (void)acre_relocation_apply_limits(plan, first);
    }
    acre_carve_restore_page(carve, page->first);
    return found;
}

acre_verdict acre_relocation_plan_stretch(acre_relocation *plan, acre_page_names *list) {
    acre_heap *heap = &plan->manager->heap;
    const acre_pool *pool = plan->manager->layout.arena->current;
    uint64_t size = acre_round_up(plan->options.make_room, heap->alignment);
    if (size > pool->page_size || acre_carve_merged_bytes(&pool->carve) < size ||
        acre_carve_holds(&pool->carve, size)) {
        return ACRE_FITS;
    }
    list->count = 0;
    run_list runs = {.host = heap->host};
    acre_verdict found = acre_relocation_gather(plan, pool, list);
    uint32_t kept = 0;
    for (uint32_t i = 0; i < list->count && found != ACRE_NO_HOST_MEMORY; i++) {
        acre_stretch stretch;
        acre_source_page *page = &list->pages[i];
        if (!read_runs(heap, acre_page_at(heap, page->name), &runs)) {
            found = ACRE_NO_HOST_MEMORY;
        } else if (acre_relocation_stretch(runs.runs, runs.count, size, &stretch)) {
            page->live = stretch.live;
            page->size = 1; // they all give the same room: by live bytes alone
            list->pages[kept++] = *page;
        }
    }
    acre_relocation_order(list->pages, kept);
    bool cleared = false;
    for (uint32_t i = 0; i < acre_min(kept, STRETCHES_MOST) && !cleared; i++) {
        if (found == ACRE_NO_HOST_MEMORY) {
            break;
        }
        found = clear_stretch(plan, &runs, acre_page_at(heap, list->pages[i].name), size);
        cleared = found == ACRE_FITS;
    }
    acre_host_free(runs.host, runs.runs, runs.capacity * sizeof *runs.runs, _Alignof(max_align_t));
    return found;
}
