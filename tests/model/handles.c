// Handles of a script: owners, bindings, binds and look-ups, beside their model.
#include "model/world.h"

#include <inttypes.h>

int world_add_handle(model_world *world, acre_handle *real, model_handle_state state,
                     int allocation) {
    for (int i = 0; i < MODEL_HANDLES; i++) {
        if (!world->handles[i].used) {
            world->handles[i] = (model_handle){true, state, allocation, 1, 0, real, 0, 0};
            world->handle_end = i >= world->handle_end ? i + 1 : world->handle_end;
            return i;
        }
    }
    world_fail(world, "the script has too many handles");
}

int world_pick_handle(model_world *world) {
    int favoured = world->favoured - 1;
    if (favoured >= 0 && model_handle_is_ours(&world->handles[favoured]) &&
        dice_chance(&world->dice, 60)) {
        return favoured;
    }
    while (world->handle_end > 0 && !world->handles[world->handle_end - 1].used) {
        world->handle_end--;
    }
    uint64_t end = (uint64_t)world->handle_end;
    uint64_t start = end == 0 ? 0 : dice_below(&world->dice, end);
    for (uint64_t i = 0; i < end; i++) {
        int at = (int)((start + i) % end);
        if (model_handle_is_ours(&world->handles[at])) {
            return at;
        }
    }
    return -1;
}

static void settle(model_world *world, int at) {
    model_handle *handle = &world->handles[at];
    if (handle->owners + handle->bindings + handle->held > 0) {
        return;
    }
    handle->used = false;
    if (handle->holds > 0) { // what its bindings kept when it was bound away
        world->handles[handle->holds - 1].held--;
        settle(world, handle->holds - 1);
    }
    if (handle->state == MODEL_BOUND) {
        const model_allocation *gone = &world->ref.allocations[handle->allocation];
        world->again = (model_request){.size = gone->size, .tag = gone->tag};
        world->ask_again = true;
        reference_free(&world->ref, handle->allocation);
        world->frees_foretold++;
        world->live--;
    }
}

void world_drop_owner(model_world *world, int handle) {
    world->handles[handle].owners--;
    settle(world, handle);
}

void world_drop_binding(model_world *world, int handle) {
    world->handles[handle].bindings--;
    settle(world, handle);
}

void world_drop_hold(model_world *world, int handle) {
    world->handles[handle].held--;
    settle(world, handle);
}

void world_release_owner(model_world *world) {
    int at = world_pick_handle(world);
    if (at < 0 || world->handles[at].owners == 0) {
        return;
    }
    acre_handle *real = world->handles[at].real;
    WORLD_REQUIRE(world, acre_handle_can_mut(real) == (world->handles[at].owners == 1),
                  "can_mut counts other owners than there are");
    world_drop_owner(world, at);
    if (dice_chance(&world->dice, 60)) {
        acre_manager_release(world->manager, real);
    } else {
        acre_handle_release(real); // takes effect at the manager's next operation
    }
}

void world_retain(model_world *world) {
    int at = world_pick_handle(world);
    if (at >= 0 && world->handles[at].owners > 0) {
        WORLD_REQUIRE(world, acre_handle_retain(world->handles[at].real) == world->handles[at].real,
                      "a retain gave another handle");
        world->handles[at].owners++;
    }
}

void world_take_use(model_world *world) {
    int at = world_pick_handle(world);
    int free_use = -1;
    for (int i = 0; i < MODEL_USES && free_use < 0; i++) {
        free_use = world->uses[i].used ? -1 : i;
    }
    if (at < 0 || free_use < 0 || world->handles[at].owners == 0) {
        return;
    }
    model_handle *handle = &world->handles[at];
    model_use *use = &world->uses[free_use];
    use->managed = dice_chance(&world->dice, 50);
    if (use->managed) {
        acre_status expected = world_foretell_resolve(world, handle);
        acre_status status =
            acre_manager_resolve_managed(world->manager, handle->real, 0, 0, &use->resource, NULL);
        WORLD_REQUIRE(world, status == expected, "a managed resolve says %s, not %s",
                      acre_status_name(status), acre_status_name(expected));
        if (status != ACRE_OK) {
            return;
        }
    } else {
        use->resource.binding = acre_handle_binding(handle->real);
    }
    WORLD_REQUIRE(world, acre_binding_handle(use->resource.binding) == handle->real,
                  "a binding is of another handle");
    use->used = true;
    use->handle = at;
    handle->bindings++;
}

void world_end_use(model_world *world, int at) {
    model_use *use = &world->uses[at];
    if (!use->used) {
        return;
    }
    use->used = false;
    world_drop_binding(world, use->handle);
    if (use->managed) {
        acre_managed_resource_release(&use->resource);
    } else {
        acre_binding_release(use->resource.binding);
    }
}

void world_create_handle(model_world *world) {
    acre_handle *real = NULL;
    acre_status status = dice_chance(&world->dice, 50)
                             ? acre_handle_create(&world->hooks, &real, NULL)
                             : acre_manager_handle_create(world->manager, &real, NULL);
    WORLD_REQUIRE(world, status == ACRE_OK, "no handle: %s", acre_status_name(status));
    world_add_handle(world, real, MODEL_UNINITIALISED, -1);
}

// ---- bind ----------------------------------------------------------------------------------

static void bind_foreign(model_world *world, acre_handle *mine) {
    uint64_t cursor = 7;
    acre_status status = acre_manager_bind(world->manager, world->foreign, mine, cursor, NULL);
    WORLD_REQUIRE(world, status == ACRE_INVALID_ARGUMENT, "binding from a foreign handle says %s",
                  acre_status_name(status));
    status = acre_manager_bind(world->manager, mine, world->foreign, cursor, NULL);
    WORLD_REQUIRE(world, status == ACRE_INVALID_ARGUMENT, "binding to a foreign handle says %s",
                  acre_status_name(status));
    status = acre_manager_get_cursor(world->manager, world->foreign, &cursor, NULL);
    WORLD_REQUIRE(world, status == ACRE_NOT_FOUND && cursor == 7,
                  "a foreign handle has a cursor here");
}

void world_bind(model_world *world) {
    int from = world_pick_handle(world);
    world->favoured = 0;
    int to = world_pick_handle(world);
    for (int tries = 0; tries < 8 && to >= 0; tries++) {
        if (world->handles[to].state == MODEL_UNINITIALISED) {
            break;
        }
        to = world_pick_handle(world);
    }
    if (from < 0 || to < 0) {
        return;
    }
    model_handle *reserved = &world->handles[from];
    model_handle *assigned = &world->handles[to];
    if (dice_chance(&world->dice, 10)) {
        bind_foreign(world, reserved->real);
        return;
    }
    acre_status expected = reserved->state != MODEL_BOUND           ? ACRE_NOT_FOUND
                           : assigned->state != MODEL_UNINITIALISED ? ACRE_INVALID_ARGUMENT
                                                                    : ACRE_OK;
    uint64_t cursor = dice_roll(&world->dice);
    acre_status status =
        acre_manager_bind(world->manager, reserved->real, assigned->real, cursor, NULL);
    WORLD_REQUIRE(world, status == expected, "a bind says %s, not %s", acre_status_name(status),
                  acre_status_name(expected));
    if (status == ACRE_OK) {
        world->ref.allocations[reserved->allocation].cursor = cursor;
        reference_forget_claims(&world->ref, reserved->allocation);
        assigned->state = MODEL_BOUND;
        assigned->allocation = reserved->allocation;
        reserved->state = MODEL_STALE;
        if (reserved->bindings + reserved->held > 0) {
            reserved->holds = to + 1;
            assigned->held++;
        }
    }
}

// ---- look-ups ------------------------------------------------------------------------------

static void look_up_resource(model_world *world, const model_handle *handle, acre_status expected) {
    const model_allocation *allocation =
        handle->state == MODEL_BOUND ? &world->ref.allocations[handle->allocation] : NULL;
    uint64_t size = allocation == NULL ? 0 : allocation->size;
    uint64_t cut_start = dice_below(&world->watcher, size + 2);
    uint64_t cut_end = dice_chance(&world->watcher, 5)
                           ? UINT64_MAX - dice_below(&world->watcher, 3)
                           : dice_below(&world->watcher, size + 2 - cut_start % (size + 2));
    bool too_much = cut_start > size || cut_end > size - cut_start;
    bool whole_cut = cut_start + cut_end == size && !too_much;
    if (allocation != NULL && allocation->page >= 0 && !too_much && !whole_cut &&
        !world->ref.pages[allocation->page].mapped) {
        return; // who looks puts no memory behind a page
    }
    acre_resource resource = ACRE_RESOURCE_INIT;
    acre_status status =
        acre_manager_resolve(world->manager, handle->real, cut_start, cut_end, &resource, NULL);
    expected = expected == ACRE_OK && too_much ? ACRE_INVALID_ARGUMENT : expected;
    WORLD_REQUIRE(world, status == expected, "a resolve says %s, not %s", acre_status_name(status),
                  acre_status_name(expected));
    if (status != ACRE_OK) {
        return;
    }
    uint64_t rest = size - cut_start - cut_end;
    WORLD_REQUIRE(world, resource.size == rest, "a resolve yields %" PRIu64 " bytes, not %" PRIu64,
                  resource.size, rest);
    WORLD_REQUIRE(world,
                  rest == 0 ? resource.kind == ACRE_RESOURCE_NONE
                            : resource.kind == ACRE_RESOURCE_SIMULATED &&
                                  resource.as.simulated.offset == allocation->offset + cut_start,
                  "a resolve names other bytes");
}

void world_look_up(model_world *world) {
    int at = (int)dice_below(&world->watcher, MODEL_HANDLES);
    for (int i = 0; i < MODEL_HANDLES && !model_handle_is_ours(&world->handles[at]); i++) {
        at = (at + 1) % MODEL_HANDLES;
    }
    const model_handle *handle = &world->handles[at];
    if (!model_handle_is_ours(handle)) {
        return;
    }
    acre_status expected = handle->state == MODEL_BOUND ? ACRE_OK : ACRE_NOT_FOUND;
    acre_place place = ACRE_PLACE_INIT;
    acre_status status = acre_manager_get_place(world->manager, handle->real, &place, NULL);
    WORLD_REQUIRE(world, status == expected, "a place look-up says %s, not %s",
                  acre_status_name(status), acre_status_name(expected));
    uint64_t cursor = 0;
    status = acre_manager_get_cursor(world->manager, handle->real, &cursor, NULL);
    WORLD_REQUIRE(world, status == expected, "a cursor look-up says %s, not %s",
                  acre_status_name(status), acre_status_name(expected));
    look_up_resource(world, handle, expected);
    if (expected != ACRE_OK) {
        return;
    }
    const model_allocation *allocation = &world->ref.allocations[handle->allocation];
    WORLD_REQUIRE(world, cursor == allocation->cursor, "a cursor is %" PRIu64 ", not %" PRIu64,
                  cursor, allocation->cursor);
    WORLD_REQUIRE(
        world,
        place.size == allocation->size && place.padding == allocation->padding &&
            place.offset == allocation->offset &&
            place.pool_index == model_pool_index(&world->ref, allocation->pool) &&
            (allocation->page < 0 || place.page == world->ref.pages[allocation->page].name),
        "a live allocation moved");
}
