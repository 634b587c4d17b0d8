// Planning: from the pages of an arena to moves with targets.
//
//   outdated pages                      into the current pool
//   compact: current pages              into the free room of the other current pages
//   compact, make_room: a stretch       into the free room around it
//
// Free room of a page that is being emptied is withheld while the plan is made, so that nothing is
// moved within what is to become free.
#include "manager/relocate_plan.h"
#include "base/error.h"

static void free_list(acre_page_names *list) {
    acre_host_free(list->host, list->pages, list->capacity * sizeof *list->pages,
                   _Alignof(max_align_t));
}

static void count_stayed(acre_relocation_stayed *stayed, uint64_t bytes) {
    stayed->allocations++;
    stayed->bytes += bytes;
}

// ---- targets -------------------------------------------------------------------------------

// What a target's offset must be a multiple of: the request's own alignment is not kept, but what
// it can have been divides the offset that it got. => 0: nowhere but here.
static uint64_t step_of(const acre_heap *heap, const acre_slice *slice) {
    uint64_t pages = heap->storage->alignment;
    switch (acre_slice_aligned_of(slice)) {
    case ACRE_SLICE_ALIGNED:
        return acre_lcm(heap->alignment,
                        slice->offset == 0 ? pages : acre_gcd(slice->offset, pages));
    case ACRE_SLICE_ODD_ALIGNED:
        return slice->offset;
    default:
        return heap->alignment;
    }
}

// The target's record: a live slice of the plan's own, bound so that no other plan moves it.
static void mark_target(acre_manager *manager, acre_pool *pool, acre_run run, uint64_t size) {
    uint32_t name;
    acre_handle *handle = acre_handle_take(manager->home, &name, run.name);
    atomic_store_explicit(&handle->counts, ACRE_BINDING, memory_order_relaxed);
    acre_slice_set_owned(run.slice, name);
    acre_slice_set_requested(run.slice, size, 0);
    pool->usage.allocations++;
    pool->usage.in_use += size;
    pool->usage.padding += run.slice->size - size;
}

void acre_relocation_free_target(acre_manager *manager, uint32_t name) {
    acre_slice *slice = acre_heap_slice(&manager->heap, name);
    acre_page *page = acre_page_at(&manager->heap, acre_slice_page(slice));
    acre_pool *pool = page->pool;
    pool->usage.allocations--;
    pool->usage.in_use -= slice->live.requested;
    pool->usage.padding -= slice->size - slice->live.requested;
    acre_slab_give(&manager->home->handles, slice->handle);
    pool->ops->release(pool, page, (acre_run){slice, name});
}

static acre_verdict reserve_target(acre_relocation *plan, acre_move *move, bool may_add) {
    acre_manager *manager = plan->manager;
    acre_heap *heap = &manager->heap;
    acre_pool *pool = manager->layout.arena->current;
    const acre_slice *source = acre_heap_slice(heap, move->source);
    acre_need need = {move->size, source->size, step_of(heap, source)};
    bool mapped = acre_page_at(heap, acre_slice_page(source))->mapped;
    if (need.step == 0 || need.step > pool->page_size || need.padded > pool->page_size) {
        return ACRE_STAYS;
    }
    if (!acre_slab_prepare(&heap->slices, ACRE_POOL_RECORDS) ||
        !acre_slab_prepare(&manager->home->handles, 1)) {
        return ACRE_NO_HOST_MEMORY;
    }
    acre_run run = pool->ops->reserve(pool, need.padded, need.step);
    if (run.slice == NULL && may_add) {
        acre_error refused = ACRE_ERROR_INIT;
        acre_status status = pool->ops->grow(pool, &need, false, &run, &refused);
        if (status == ACRE_OUT_OF_HOST_MEMORY) {
            return ACRE_NO_HOST_MEMORY;
        }
        run = status == ACRE_OK ? run : (acre_run){NULL, 0};
    }
    if (run.slice == NULL) {
        return ACRE_STAYS;
    }
    acre_page *page = acre_page_at(heap, acre_slice_page(run.slice));
    acre_error unmapped = ACRE_ERROR_INIT;
    if (mapped && !page->mapped && // bytes that exist need a place that does
        acre_pool_map_page(pool, page, &unmapped) != ACRE_OK) {
        pool->ops->release(pool, page, run);
        return ACRE_STAYS;
    }
    mark_target(manager, pool, run, move->size);
    move->target = run.name;
    return ACRE_FITS;
}

// The latest target first: its room merges as if it had never been cut.
void acre_relocation_undo(acre_relocation *plan, uint32_t first) {
    acre_moves *moves = &plan->moves;
    while (moves->count > first) {
        acre_move *move = &moves->list[--moves->count];
        if (move->target != 0) {
            acre_relocation_free_target(plan->manager, move->target);
            plan->bytes -= move->size;
        }
        acre_binding_release((acre_binding *)move->held);
    }
}

// ---- moves ---------------------------------------------------------------------------------

// Adds moves, without targets, for what lives in the runs [slice, end) of a page.
static acre_verdict add_moves(acre_relocation *plan, uint32_t slice, uint32_t end) {
    acre_manager *manager = plan->manager;
    for (uint32_t at = slice; at != end; at = acre_heap_slice(&manager->heap, at)->after) {
        const acre_slice *source = acre_heap_slice(&manager->heap, at);
        if (acre_slice_state_of(source) != ACRE_SLICE_LIVE) {
            continue;
        }
        acre_handle *held = acre_handle_at(manager->home, source->handle);
        uint32_t bindings;
        if (!acre_handle_pin(held, &bindings)) { // another thread let it go: it is freed next
            continue;
        }
        acre_move *move = bindings == 0 ? acre_moves_add(&plan->moves) : NULL;
        if (move == NULL) { // bound since the page was looked at, or no host memory
            acre_binding_release((acre_binding *)held);
            return bindings == 0 ? ACRE_NO_HOST_MEMORY : ACRE_STAYS;
        }
        *move = (acre_move){held, source->live.requested, at, 0, false};
    }
    return ACRE_FITS;
}

bool acre_relocation_apply_limits(acre_relocation *plan, uint32_t first) {
    acre_moves *moves = &plan->moves;
    const acre_relocation_options *options = &plan->options;
    uint64_t bytes = plan->bytes; // before `first`, then with what is kept
    for (uint32_t i = first; i < moves->count; i++) {
        bytes -= moves->list[i].size;
    }
    uint32_t kept = first;
    // The largest comes first. One that no call would move keeps the rest, too: nothing would go
    // back for them, and a caller that goes on until there is no more would never end.
    bool ever = moves->count > first && options->max_moves > 0 &&
                moves->list[first].size <= options->max_bytes;
    while (ever && kept < moves->count && kept < options->max_moves &&
           moves->list[kept].size <= options->max_bytes - acre_min(bytes, options->max_bytes)) {
        bytes += moves->list[kept++].size;
    }
    bool all = kept == moves->count;
    for (uint32_t i = kept; i < moves->count; i++) {
        count_stayed(&plan->report.limited, moves->list[i].size);
        plan->report.more |= ever;
    }
    acre_relocation_undo(plan, kept);
    return all;
}

// Plans to move what lives in the runs [slice, end) of a page, all of it or nothing.
acre_verdict acre_relocation_plan_runs(acre_relocation *plan, uint32_t slice, uint32_t end,
                                       bool may_add) {
    acre_moves *moves = &plan->moves;
    uint32_t first = moves->count;
    acre_verdict found = add_moves(plan, slice, end);
    if (found == ACRE_FITS) {
        acre_moves_sort(moves, first);
    }
    for (uint32_t i = first; i < moves->count && found == ACRE_FITS; i++) {
        found = reserve_target(plan, &moves->list[i], may_add);
        plan->bytes += found == ACRE_FITS ? moves->list[i].size : 0;
    }
    if (found != ACRE_FITS) {
        acre_relocation_undo(plan, first);
    }
    return found;
}

// ---- pages ---------------------------------------------------------------------------------

// Adds up what lives on a page. => where that is to be counted when the page is left out, NULL
// when it may be emptied.
acre_relocation_stayed *acre_relocation_judge(acre_relocation *plan, const acre_page *page,
                                              uint64_t *live) {
    acre_manager *manager = plan->manager;
    bool bound = false;
    *live = 0;
    for (uint32_t at = page->first; at != 0; at = acre_heap_slice(&manager->heap, at)->after) {
        const acre_slice *slice = acre_heap_slice(&manager->heap, at);
        if (acre_slice_state_of(slice) == ACRE_SLICE_LIVE) {
            *live += slice->size;
            bound = bound || acre_handle_bindings(acre_handle_at(manager->home, slice->handle)) > 0;
        }
    }
    return page->guards > 0 ? &plan->report.guarded : bound ? &plan->report.bound : NULL;
}

// Counts what lives on a page as staying.
static void count_page(acre_relocation *plan, const acre_page *page,
                       acre_relocation_stayed *stayed) {
    const acre_heap *heap = &plan->manager->heap;
    for (uint32_t at = page->first; at != 0; at = acre_heap_slice(heap, at)->after) {
        const acre_slice *slice = acre_heap_slice(heap, at);
        if (acre_slice_state_of(slice) == ACRE_SLICE_LIVE) {
            count_stayed(stayed, slice->live.requested);
        }
    }
}

// Adds the pages of a pool that may be emptied.
acre_verdict acre_relocation_gather(acre_relocation *plan, const acre_pool *pool,
                                    acre_page_names *list) {
    const acre_heap *heap = &plan->manager->heap;
    for (uint32_t name = pool->held.first; name != 0; name = acre_page_at(heap, name)->held.next) {
        const acre_page *page = acre_page_at(heap, name);
        uint64_t live;
        if (page->live == 0) {
            continue;
        }
        acre_relocation_stayed *stayed = acre_relocation_judge(plan, page, &live);
        if (stayed != NULL) {
            count_page(plan, page, stayed);
            continue;
        }
        if (!acre_host_grow(list->host, &list->pages, sizeof *list->pages, list->count,
                            list->count + 1, &list->capacity)) {
            return ACRE_NO_HOST_MEMORY;
        }
        list->pages[list->count++] =
            (acre_source_page){page->size, page->mapped ? live : 0, page->sequence, name};
    }
    return ACRE_FITS;
}

acre_verdict acre_relocation_plan_page(acre_relocation *plan, uint32_t name, bool may_add) {
    const acre_page *page = acre_page_at(&plan->manager->heap, name);
    if (plan->moves.count >= plan->options.max_moves || plan->bytes >= plan->options.max_bytes) {
        count_page(plan, page, &plan->report.limited);
        plan->report.more |= plan->moves.count > 0;
        return ACRE_STAYS;
    }
    uint32_t first = plan->moves.count;
    acre_verdict found = acre_relocation_plan_runs(plan, page->first, 0, may_add);
    if (found == ACRE_STAYS) {
        count_page(plan, page, &plan->report.no_target);
    }
    return found == ACRE_FITS && !acre_relocation_apply_limits(plan, first) ? ACRE_STAYS : found;
}

static acre_verdict plan_outdated(acre_relocation *plan, acre_page_names *list, bool may_add) {
    const acre_arena *arena = plan->manager->layout.arena;
    acre_verdict found = ACRE_FITS;
    for (uint32_t i = 0; i < arena->outdated_count && found == ACRE_FITS; i++) {
        found = acre_relocation_gather(plan, arena->outdated[i], list);
    }
    if (found == ACRE_FITS) {
        acre_relocation_order(list->pages, list->count);
    }
    for (uint32_t i = 0; i < list->count && found != ACRE_NO_HOST_MEMORY; i++) {
        found = acre_relocation_plan_page(plan, list->pages[i].name, may_add);
    }
    return found;
}

acre_status acre_relocation_fill(acre_relocation *plan, acre_error *error) {
    acre_heap *heap = &plan->manager->heap;
    acre_carve *carve = &plan->manager->layout.arena->current->carve;
    acre_page_names list = {.host = heap->host};
    acre_carve_settle(carve);
    acre_verdict found = ACRE_FITS;
    if (plan->options.room != ACRE_RELOCATION_ROOM_AS_NEEDED) {
        found = plan_outdated(plan, &list, plan->options.room == ACRE_RELOCATION_ROOM_MAY_ADD);
    }
    if (found != ACRE_NO_HOST_MEMORY && plan->options.compact) {
        found = plan->options.make_room > 0 ? acre_relocation_plan_stretch(plan, &list)
                                            : acre_relocation_plan_current(plan, &list);
    }
    free_list(&list);
    return found == ACRE_NO_HOST_MEMORY
               ? acre_error_refuse(error, ACRE_OUT_OF_HOST_MEMORY, sizeof(acre_move))
               : ACRE_OK;
}
