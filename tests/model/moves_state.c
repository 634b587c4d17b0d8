// What is known of the arena, and what a relocation must leave where it is.
#include "model/moves.h"

#include <inttypes.h>

static void note_bindings(model_world *world) {
    for (int i = 0; i < world->ref.allocation_end; i++) {
        world->ref.allocations[i].bound = world->ref.allocations[i].target;
    }
    for (int i = 0; i < MODEL_HANDLES; i++) {
        const model_handle *handle = &world->handles[i];
        if (handle->used && handle->state == MODEL_BOUND) {
            world->ref.allocations[handle->allocation].bound = handle->bindings + handle->held > 0;
        }
    }
}

// What lives on outdated pages, and what of it must stay.
void world_note_stays(model_world *world, model_relocation *plan) {
    const reference *ref = &world->ref;
    note_bindings(world);
    plan->guarded = plan->bound = plan->others = (acre_relocation_stayed){0, 0};
    for (int i = 0; i < ref->allocation_end; i++) {
        const model_allocation *allocation = &ref->allocations[i];
        if (allocation->used && allocation->pool >= MODEL_OUTDATED) {
            acre_relocation_stayed *stays = ref->pages[allocation->page].guards > 0 ? &plan->guarded
                                            : !reference_may_empty(ref, allocation->page)
                                                ? &plan->bound
                                                : &plan->others;
            stays->allocations++;
            stays->bytes += allocation->size;
        }
    }
}

void world_compare_stays(const model_world *world, const model_relocation *plan,
                         const acre_relocation_report *report) {
    if (plan->room == ACRE_RELOCATION_ROOM_AS_NEEDED || plan->options.compact) {
        return; // other pages are looked at
    }
    WORLD_REQUIRE(world,
                  report->guarded.allocations == plan->guarded.allocations &&
                      report->guarded.bytes == plan->guarded.bytes &&
                      report->bound.allocations == plan->bound.allocations &&
                      report->bound.bytes == plan->bound.bytes,
                  "%" PRIu64 " guarded, %" PRIu64 " bound instead of %" PRIu64 ", %" PRIu64,
                  report->guarded.allocations, report->bound.allocations, plan->guarded.allocations,
                  plan->bound.allocations);
    WORLD_REQUIRE(world,
                  report->moves + report->changed.allocations + report->no_target.allocations +
                              report->limited.allocations ==
                          plan->others.allocations &&
                      report->bytes + report->changed.bytes + report->no_target.bytes +
                              report->limited.bytes ==
                          plan->others.bytes,
                  "what was to be emptied and what was or stayed differ");
}

void world_compare_arena(model_world *world) {
    const reference *ref = &world->ref;
    acre_arena_state state = ACRE_ARENA_STATE_INIT;
    acre_status status = acre_manager_arena_state(world->manager, &state, NULL);
    bool none = reference_arena(ref) == MODEL_POOLS;
    WORLD_REQUIRE(world, status == (none ? ACRE_UNSUPPORTED : ACRE_OK), "the arena's state: %s",
                  acre_status_name(status));
    WORLD_REQUIRE(world,
                  acre_manager_relocation_need(world->manager) == reference_relocation_need(ref),
                  "the need of a relocation is not %d", (int)reference_relocation_need(ref));
    if (none) {
        return;
    }
    model_shape shape = reference_shape(ref);
    WORLD_REQUIRE(world,
                  state.page_size == ref->pools[reference_arena(ref)].page_size &&
                      state.has_outdated == (ref->outdated_count > 0) &&
                      state.full == (ref->outdated_count + 1 == MODEL_PAGE_SIZES) &&
                      state.current_pages == shape.current_pages &&
                      state.outdated_pools == shape.outdated_pools &&
                      state.outdated_pages == shape.outdated_pages &&
                      state.outdated_guarded == shape.outdated_guarded,
                  "the arena's state is off");
}
