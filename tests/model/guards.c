// Guards of a script: on any live allocation, ended in any order, also long after it was freed.
#include "model/world.h"

static void take(model_world *world, model_guard *guard) {
    int at = world_pick_handle(world);
    if (at < 0) {
        return;
    }
    const model_handle *handle = &world->handles[at];
    bool foreign = dice_chance(&world->dice, 5);
    bool live = handle->state == MODEL_BOUND && !foreign;
    acre_status expected = live ? ACRE_OK : ACRE_NOT_FOUND;
    acre_status status = acre_manager_guard(world->manager, foreign ? world->foreign : handle->real,
                                            &guard->real, NULL);
    WORLD_REQUIRE(world, status == expected, "a guard says %s, not %s", acre_status_name(status),
                  acre_status_name(expected));
    if (!live) {
        WORLD_REQUIRE(world, guard->real == NULL, "a refused guard was given");
        return;
    }
    guard->page = world->ref.allocations[handle->allocation].page;
    guard->holders = 1;
    if (guard->page >= 0) {
        reference_guard(&world->ref, guard->page);
    }
}

static void let_go(model_world *world, model_guard *guard) {
    acre_guard_release(guard->real); // takes effect at the manager's next operation
    if (--guard->holders > 0) {
        return;
    }
    guard->real = NULL;
    if (guard->page >= 0) {
        reference_unguard(&world->ref, guard->page);
    }
}

void world_step_guard(model_world *world) {
    model_guard *guard = &world->guards[dice_below(&world->dice, MODEL_GUARDS)];
    if (guard->real == NULL) {
        take(world, guard);
    } else if (dice_chance(&world->dice, 15)) {
        WORLD_REQUIRE(world, acre_guard_retain(guard->real) == guard->real,
                      "a retain gave another guard");
        guard->holders++;
    } else {
        let_go(world, guard);
    }
}

void world_drop_guards(model_world *world) {
    for (int i = 0; i < MODEL_GUARDS; i++) {
        while (world->guards[i].real != NULL) {
            let_go(world, &world->guards[i]);
        }
    }
}
