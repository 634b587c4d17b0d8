// Dry and real runs of a script, and the first use of what was carved meanwhile.
#include "model/world.h"

#include <inttypes.h>

#define MOST_OPEN 3

static void compare_mode(const model_world *world) {
    WORLD_REQUIRE(world, acre_dry_run_is_open() == (world->ref.dry_runs > 0),
                  "%" PRIu32 " dry runs are open, and none is", world->ref.dry_runs);
    WORLD_REQUIRE(world, acre_launch_mode_now() == reference_launch_mode(&world->ref),
                  "with %" PRIu32 " dry and %" PRIu32 " real runs the launch mode is %d",
                  world->ref.dry_runs, world->ref.real_runs, (int)acre_launch_mode_now());
}

// One more or one less; ending one that is not open does nothing.
static void step(model_world *world, uint32_t *open, void (*begin)(void), void (*end)(void)) {
    if (*open < MOST_OPEN && dice_chance(&world->dice, 40)) {
        begin();
        (*open)++;
    } else {
        end();
        *open -= *open > 0;
    }
}

void world_step_dry(model_world *world) {
    if (dice_chance(&world->dice, 60)) {
        step(world, &world->ref.dry_runs, acre_dry_run_begin, acre_dry_run_end);
    } else {
        step(world, &world->ref.real_runs, acre_real_run_begin, acre_real_run_end);
    }
    compare_mode(world);
}

void world_close_runs(model_world *world) {
    for (; world->ref.dry_runs > 0; world->ref.dry_runs--) {
        acre_dry_run_end();
    }
    for (; world->ref.real_runs > 0; world->ref.real_runs--) {
        acre_real_run_end();
    }
    compare_mode(world);
}

acre_status world_foretell_resolve(model_world *world, const model_handle *handle) {
    return handle->state == MODEL_BOUND ? reference_resolve(&world->ref, handle->allocation)
                                        : ACRE_NOT_FOUND;
}

// Fails the device's naming of bytes, which comes after the page got its memory. => whether it may
static bool fail_naming(model_world *world, uint64_t nth) {
    acre_status status =
        acre_storage_simulated_fail(world->storage, ACRE_SIMULATED_RESOURCE, nth, false, NULL);
    WORLD_REQUIRE(world, status == ACRE_OK, "a failure could not be scripted");
    return nth > 0;
}

void world_resolve(model_world *world) {
    int at = world_pick_handle(world);
    if (at < 0) {
        return;
    }
    const model_handle *handle = &world->handles[at];
    bool bytes =
        handle->state == MODEL_BOUND && world->ref.allocations[handle->allocation].size > 0;
    bool failing = dice_chance(&world->dice, 10) && fail_naming(world, 1);
    acre_status expected = world_foretell_resolve(world, handle);
    if (expected == ACRE_OK && bytes && failing) {
        expected = ACRE_BACKEND_ERROR;
    }
    acre_resource resource = ACRE_RESOURCE_INIT;
    acre_error error = ACRE_ERROR_INIT;
    acre_status status =
        acre_manager_resolve(world->manager, handle->real, 0, 0, &resource, &error);
    WORLD_REQUIRE(world, status == expected, "a resolve says %s, not %s", acre_status_name(status),
                  acre_status_name(expected));
    WORLD_REQUIRE(world, status != ACRE_STORAGE_MAPPING_FAILED || error.cause == ACRE_OUT_OF_MEMORY,
                  "memory was refused because of %s", acre_status_name(error.cause));
    WORLD_REQUIRE(world,
                  status != ACRE_OK || !bytes ||
                      resource.size == world->ref.allocations[handle->allocation].size,
                  "a resolve yields %" PRIu64 " bytes", resource.size);
    if (failing) {
        (void)fail_naming(world, 0);
    }
}
