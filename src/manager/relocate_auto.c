// What a reservation relocates before it adds a page to the arena.
//
// ON_NEED does what acre_relocation_needed says. COMPACT means to hold few pages at the worst
// moment, which is when a page is added while those it makes needless are still there:
//
//   1  a stretch of the current pages is cleared for the request: no page is added
//   2  what lives on outdated pages goes to the room held, and every free page back
//   3  if two more pages would pass the most ever held: outdated pages are emptied by the help of
//      one new page at a time, before the request gets its own; a growth goes over to its page
//      size first, so that what lives moves to pages that are worth having from then on
//
//   growth to P without step 3    old | old | old | P request | P           5 pages at the worst
//   with it                       P a | old | old  ->  P a b  ->  P a b | P request          3
//
// What passes nothing is not rolled over: a scratch buffer that grows a little every step would
// move everything at each.
#include "manager/relocate.h"

// => what was done. A failure leaves everything in place, and the reservation goes on.
static acre_relocation_report run(acre_manager *manager, acre_relocation_room room, bool compact,
                                  uint64_t make_room) {
    acre_error ignored = ACRE_ERROR_INIT;
    acre_relocation_report report = ACRE_RELOCATION_REPORT_INIT;
    acre_relocation_options options = ACRE_RELOCATION_OPTIONS_INIT;
    options.room = room;
    options.compact = compact;
    options.make_room = make_room;
    bool counts = room == ACRE_RELOCATION_ROOM_AS_NEEDED && !compact; // it answers a need
    (void)!acre_relocation_run(manager, &options, counts, &report, &ignored);
    return report;
}

static bool anything_outdated_lives(const acre_arena *arena) {
    for (uint32_t i = 0; i < arena->outdated_count; i++) {
        if (arena->outdated[i]->usage.allocations > 0) {
            return true;
        }
    }
    return false;
}

// Whether the limits that are known leave room for `pages` more. What others hold of the device is
// not asked: where a request lands is to depend on the manager's own requests alone.
static bool may_hold(const acre_manager *manager, uint64_t page, uint64_t pages) {
    const acre_heap *heap = &manager->heap;
    uint64_t total = manager->total_memory == 0 ? UINT64_MAX : manager->total_memory;
    uint64_t more = page > UINT64_MAX / pages ? UINT64_MAX : page * pages;
    return acre_add_saturating(heap->reserved, more) <= acre_min(total, heap->hard_limit);
}

// Empties outdated pages into new ones, one at a time. An empty current page that does not help is
// left for the request.
static void roll_over(acre_manager *manager) {
    acre_arena *arena = manager->layout.arena;
    while (anything_outdated_lives(arena)) {
        acre_pool *pool = arena->current;
        bool had_page = pool->idle_pages > 0;
        if (!had_page) {
            acre_error ignored = ACRE_ERROR_INIT;
            uint32_t page;
            if (!may_hold(manager, pool->page_size, 2) ||
                acre_pool_add_page(pool, pool->page_size, manager->heap.alignment, &page,
                                   &ignored) != ACRE_OK) {
                return;
            }
            acre_manager_log_page(manager, pool);
        }
        if (run(manager, ACRE_RELOCATION_ROOM_HELD, false, 0).pages_returned == 0) {
            return;
        }
    }
}

// => whether the arena went over to the page size that the request needs.
static bool enlarge(acre_manager *manager, const acre_need *need) {
    acre_arena *arena = manager->layout.arena;
    acre_error ignored = ACRE_ERROR_INIT;
    bool lives = arena->current->usage.allocations > 0 || anything_outdated_lives(arena);
    if (!lives || manager->before_growth != NULL ||
        acre_arena_enlarge(arena, need->size, &manager->before_growth, &ignored) != ACRE_OK) {
        return false;
    }
    acre_manager_log_page(
        manager, acre_manager_route_arena(manager, &manager->layout, arena->current->index));
    return true;
}

static bool compact(acre_manager *manager, const acre_need *need) {
    const acre_pool *pool = manager->layout.arena->current;
    bool grows = need->padded > pool->page_size;
    uint64_t skipped = need->step - manager->heap.alignment; // at most, for the request's alignment
    uint64_t stretch = acre_min(acre_add_saturating(need->padded, skipped), pool->page_size);
    if (!grows && run(manager, ACRE_RELOCATION_ROOM_AS_NEEDED, true, stretch).moves > 0) {
        return true;
    }
    run(manager, ACRE_RELOCATION_ROOM_HELD, grows, 0);
    acre_manager_give_back(manager);
    uint64_t page = pool->ops->growth(pool, need);
    uint64_t with_two =
        acre_add_saturating(acre_add_saturating(manager->heap.reserved, page), page);
    if (with_two <= manager->heap.reserved_most || !may_hold(manager, page, 2) ||
        (grows && !enlarge(manager, need))) {
        return false;
    }
    roll_over(manager);
    return true;
}

bool acre_relocate_before_page(acre_manager *manager, const acre_need *need) {
    bool moved = acre_relocation_needed(manager) != ACRE_RELOCATION_NOT_NEEDED &&
                 run(manager, ACRE_RELOCATION_ROOM_AS_NEEDED, false, 0).moves > 0;
    if (manager->relocation_policy == ACRE_RELOCATION_COMPACT) {
        moved = compact(manager, need) || moved;
    }
    return moved;
}

void acre_relocate_after_request(acre_manager *manager, bool served) {
    acre_pool *current = acre_arena_settle(manager->layout.arena, manager->before_growth, served);
    manager->before_growth = NULL;
    (void)acre_manager_route_arena(manager, &manager->layout, current->index);
}
