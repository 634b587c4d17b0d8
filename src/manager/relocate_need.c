// Whether the arena should be relocated, and what that is judged by.
#include "base/error.h"
#include "base/structs.h"
#include "manager/relocate.h"

static acre_arena_state state_of(const acre_manager *manager) {
    const acre_arena *arena = manager->layout.arena;
    acre_arena_state state = ACRE_ARENA_STATE_INIT;
    state.page_size = arena->current->page_size;
    state.has_outdated = arena->outdated_count > 0;
    state.full = arena->outdated_count + 1 == ACRE_ARENA_SLOTS;
    state.current_pages = arena->current->pages;
    state.outdated_pools = arena->outdated_count;
    state.outdated_pages = acre_arena_outdated_pages(arena);
    for (uint32_t i = 0; i < arena->outdated_count; i++) {
        uint32_t name = arena->outdated[i]->held.first;
        for (const acre_page *page; name != 0; name = page->held.next) {
            page = acre_page_at(&manager->heap, name);
            state.outdated_guarded += page->guards > 0;
        }
    }
    return state;
}

acre_status acre_relocation_no_arena(acre_error *error) {
    return acre_error_set(error, ACRE_UNSUPPORTED,
                          "the layout has no adaptive pool: nothing of it is relocated");
}

acre_status acre_manager_arena_state(acre_manager *manager, acre_arena_state *state,
                                     acre_error *error) {
    acre_error local;
    acre_error *detail = acre_error_open(error, &local);
    acre_manager_take_pending(manager);
    if (manager->layout.arena == NULL) {
        return acre_error_close(error, detail, acre_relocation_no_arena(detail));
    }
    acre_arena_state own = state_of(manager);
    acre_struct_write(state, &own, sizeof own);
    return ACRE_OK;
}

static bool is_short(const acre_manager *manager, uint64_t page) {
    const acre_storage *storage = manager->heap.storage;
    uint64_t total = manager->total_memory;
    uint64_t held = acre_storage_bytes(storage);
    return total != 0 && acre_add_saturating(held, page) > total - acre_min(total, page);
}

// Whether the arena looks as it did when the last relocation moved nothing.
static bool was_in_vain(const acre_manager *manager, const acre_arena_state *state) {
    const acre_relocation_memory *last = &manager->relocation;
    return last->moved_nothing && last->current_pages == state->current_pages &&
           last->outdated_pools == state->outdated_pools &&
           last->outdated_pages == state->outdated_pages &&
           last->outdated_guarded == state->outdated_guarded;
}

void acre_relocation_remember(const acre_relocation *plan, bool moved_nothing) {
    acre_manager *manager = plan->manager;
    acre_relocation_memory *last = &manager->relocation;
    if (!plan->counts || manager->layout.arena == NULL) {
        return;
    }
    last->moved_nothing = moved_nothing;
    if (last->moved_nothing) {
        acre_arena_state state = state_of(manager);
        last->current_pages = state.current_pages;
        last->outdated_pools = state.outdated_pools;
        last->outdated_pages = state.outdated_pages;
        last->outdated_guarded = state.outdated_guarded;
    }
}

acre_relocation_need acre_relocation_needed(const acre_manager *manager) {
    const acre_arena *arena = manager->layout.arena;
    if (arena == NULL || arena->outdated_count == 0) {
        return ACRE_RELOCATION_NOT_NEEDED;
    }
    acre_arena_state state = state_of(manager);
    if (was_in_vain(manager, &state)) {
        return ACRE_RELOCATION_NOT_NEEDED;
    }
    return state.full                           ? ACRE_RELOCATION_ARENA_FULL
           : is_short(manager, state.page_size) ? ACRE_RELOCATION_SHORT_OF_ROOM
                                                : ACRE_RELOCATION_NOT_NEEDED;
}

acre_relocation_need acre_manager_relocation_need(acre_manager *manager) {
    acre_manager_take_pending(manager);
    return acre_relocation_needed(manager);
}
