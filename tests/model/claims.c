// Failures of a script, and the bytes they claim.
#include "model/world.h"

#include <inttypes.h>

// ---- failures ------------------------------------------------------------------------------

// Whether anything holds a failure. Causes come before what they caused, so this ends.
static bool lives(const model_world *world, int number) {
    const model_failure *failure = &world->failures[number];
    if (failure->real == NULL) {
        return false;
    }
    bool held = failure->held || reference_is_claimed_by(&world->ref, number);
    for (int i = 1; i <= MODEL_FAILURES && !held; i++) {
        held = world->failures[i].cause == number && lives(world, i);
    }
    return held;
}

// What nothing holds any more loses its number.
static void bury(model_world *world) {
    for (int again = 0; again < MODEL_FAILURES; again++) { // a chain may have gone at once
        for (int i = 1; i <= MODEL_FAILURES; i++) {
            if (!lives(world, i)) {
                world->failures[i].real = NULL;
                world->failures[i].cause = 0;
            }
        }
    }
}

static void make_failure(model_world *world, int number) {
    model_failure *failure = &world->failures[number];
    int cause = (int)dice_below(&world->dice, MODEL_FAILURES + 1);
    cause = world->failures[cause].real == NULL ? 0 : cause;
    acre_host_hooks hooks = ACRE_HOST_HOOKS_INIT;
    hooks.alloc = world_count_alloc;
    hooks.free = world_count_free;
    hooks.context = &failure->bytes;
    acre_failure_params params = ACRE_FAILURE_PARAMS_INIT;
    params.message = "a kernel was not launched";
    params.code = number;
    params.causes = &world->failures[cause].real;
    params.cause_count = cause != 0;
    acre_status status = acre_failure_create(&params, &hooks, &failure->real, NULL);
    WORLD_REQUIRE(world, status == ACRE_OK, "no failure: %s", acre_status_name(status));
    failure->held = true;
    failure->cause = cause;
}

static void make_or_let_go(model_world *world) {
    int number = 1 + (int)dice_below(&world->dice, MODEL_FAILURES);
    model_failure *failure = &world->failures[number];
    if (failure->held) {
        failure->held = false;
        acre_failure_release(failure->real);
    } else if (failure->real == NULL) {
        make_failure(world, number);
    }
}

// ---- claims --------------------------------------------------------------------------------

// A range at, in or past an allocation of `size` bytes, now and then one that is none. Half of
// them lie on eighths, so that claims touch.
static void random_range(model_dice *dice, uint64_t size, uint64_t *start, uint64_t *end) {
    if (dice_chance(dice, 50)) {
        *start = size / 8 * dice_below(dice, 9);
        *end = dice_chance(dice, 20) ? size : size / 8 * dice_below(dice, 9);
    } else {
        *start = dice_below(dice, size + 2);
        *end = dice_below(dice, size + 2);
    }
    if (*start > *end && dice_chance(dice, 90)) {
        uint64_t swapped = *start;
        *start = *end;
        *end = swapped;
    }
    if (dice_chance(dice, 2)) {
        *end = UINT64_MAX - dice_below(dice, 2);
    }
}

static void change_claims(model_world *world) {
    int at = world_pick_handle(world);
    int number = (int)dice_below(&world->dice, MODEL_FAILURES + 1);
    if (at < 0 || (number != 0 && world->failures[number].real == NULL)) {
        return;
    }
    const model_handle *handle = &world->handles[at];
    bool live = handle->state == MODEL_BOUND;
    uint64_t size = live ? world->ref.allocations[handle->allocation].size : 100;
    uint64_t start, end;
    random_range(&world->dice, size, &start, &end);
    if (world->ref.claim_count + 8 > MODEL_CLAIMS) { // leave fewer
        number = 0;
        start = 0;
        end = size;
    }
    acre_status status = number == 0
                             ? acre_manager_written(world->manager, handle->real, start, end, NULL)
                             : acre_manager_taint(world->manager, handle->real, start, end,
                                                  world->failures[number].real, NULL);
    bool wrong = live && start != end && (start > end || end > size);
    WORLD_REQUIRE(world, status == (wrong ? ACRE_INVALID_ARGUMENT : ACRE_OK),
                  "%s of [%" PRIu64 ", %" PRIu64 ") of %" PRIu64 " bytes says %s",
                  number == 0 ? "a write" : "a taint", start, end, size, acre_status_name(status));
    if (live && !wrong) {
        reference_claim(&world->ref, handle->allocation, start, end, number);
    }
}

void world_step_claim(model_world *world) {
    bury(world);
    if (dice_chance(&world->dice, 25)) {
        make_or_let_go(world);
    } else {
        change_claims(world);
    }
}

// ---- looking -------------------------------------------------------------------------------

static void compare_range(model_world *world, const model_handle *handle, uint64_t start,
                          uint64_t end) {
    int expected = handle->state != MODEL_BOUND
                       ? 0
                       : reference_claimer(&world->ref, handle->allocation, start, end);
    acre_failure *found = acre_manager_get_failure(world->manager, handle->real, start, end);
    WORLD_REQUIRE(world,
                  found == world->failures[expected].real &&
                      (found == NULL || acre_failure_get_code(found) == expected),
                  "[%" PRIu64 ", %" PRIu64 ") is claimed by failure %d, not %d", start, end,
                  found == NULL ? 0 : (int)acre_failure_get_code(found), expected);
}

// A failure is there as long as something holds it, and no longer.
static void compare_lives(model_world *world) {
    for (int i = 1; i <= MODEL_FAILURES; i++) {
        const model_failure *failure = &world->failures[i];
        WORLD_REQUIRE(world, (failure->bytes > 0) == lives(world, i),
                      "failure %d has %" PRId64 " bytes of host memory", i, failure->bytes);
    }
}

void world_look_up_claims(model_world *world) {
    int at = (int)dice_below(&world->watcher, MODEL_HANDLES);
    for (int i = 0; i < MODEL_HANDLES && !model_handle_is_ours(&world->handles[at]); i++) {
        at = (at + 1) % MODEL_HANDLES;
    }
    const model_handle *handle = &world->handles[at];
    if (world->ref.claim_count > 0 && dice_chance(&world->watcher, 80)) { // one with claims
        uint64_t one = dice_below(&world->watcher, world->ref.claim_count);
        for (int i = 0; i < MODEL_HANDLES; i++) {
            const model_handle *other = &world->handles[i];
            if (model_handle_is_ours(other) && other->state == MODEL_BOUND &&
                other->allocation == world->ref.claims[one].allocation) {
                handle = other;
            }
        }
    }
    if (!model_handle_is_ours(handle)) {
        return;
    }
    uint64_t size =
        handle->state == MODEL_BOUND ? world->ref.allocations[handle->allocation].size : 100;
    compare_range(world, handle, 0, UINT64_MAX);
    for (int i = 0; i < 4; i++) {
        uint64_t start, end;
        random_range(&world->watcher, size, &start, &end);
        compare_range(world, handle, start, end);
        compare_range(world, handle, start, start + 1);
    }
    compare_lives(world);
}

void world_release_failures(model_world *world) {
    world->ref.claim_count = 0; // gone with the manager
    compare_lives(world);
    for (int i = 1; i <= MODEL_FAILURES; i++) {
        if (world->failures[i].held) {
            world->failures[i].held = false;
            acre_failure_release(world->failures[i].real);
        }
    }
    compare_lives(world);
}
