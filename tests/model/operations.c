// The operations of a script, each told to the model first.
#include "model/world.h"

#include <inttypes.h>
#include <string.h>

// ---- the callback --------------------------------------------------------------------------

bool world_help(void *context) {
    model_world *world = context;
    world->helper = -1;
    switch (world->help) {
    case MODEL_HELP_RELEASE:
        for (int i = 0; i < MODEL_HANDLES && world->helper < 0; i++) {
            const model_handle *handle = &world->handles[i];
            if (handle->used && handle->state == MODEL_BOUND && handle->owners == 1 &&
                handle->bindings == 0) {
                world->helper = i;
            }
        }
        if (world->helper >= 0) {
            world_drop_owner(world, world->helper);
        }
        return true;
    case MODEL_HELP_RAISE:
        world->ref.soft_limit = world->ref.hard_limit = UINT64_MAX;
        return true;
    case MODEL_HELP_CLEAN:
        reference_cleanup(&world->ref, ACRE_CLEANUP_EXPLICIT);
        return true;
    default:
        return false;
    }
}

bool world_help_real(void *context, acre_manager *manager, uint64_t size) {
    model_world *world = context;
    (void)size;
    world->calls_back++;
    switch (world->help) {
    case MODEL_HELP_RELEASE:
        if (world->helper >= 0) {
            acre_handle_release(world->handles[world->helper].real);
        }
        return true;
    case MODEL_HELP_RAISE:
        acre_manager_set_limits(manager, 0, 0);
        return true;
    case MODEL_HELP_CLEAN:
        acre_manager_cleanup(manager, ACRE_CLEANUP_EXPLICIT);
        return true;
    default:
        return false;
    }
}

// ---- reserving -----------------------------------------------------------------------------

static acre_status ask(model_world *world, const model_request *request, acre_handle **handle,
                       acre_error *error) {
    if (request->alignment == 0 && request->update == ACRE_PAGES_ALLOW && request->tag == 0) {
        return acre_manager_reserve(world->manager, request->size, handle, error);
    }
    acre_reservation reservation = ACRE_RESERVATION_INIT(request->size);
    reservation.alignment = request->alignment;
    reservation.page_update = request->update;
    reservation.tag = request->tag;
    return acre_manager_reserve_with(world->manager, &reservation, handle, error);
}

static void compare_refusal(const model_world *world, const model_request *request,
                            const model_outcome *outcome, const acre_error *error) {
    if (outcome->status == ACRE_UNSUPPORTED) {
        return;
    }
    WORLD_REQUIRE(world, error->size == request->size && error->status == outcome->status,
                  "the error says %" PRIu64 " bytes", error->size);
    WORLD_REQUIRE(world, error->cause == outcome->cause, "the cause is %s, not %s",
                  acre_status_name(error->cause), acre_status_name(outcome->cause));
    if (outcome->status == ACRE_POOL_CAPACITY_EXCEEDED) {
        WORLD_REQUIRE(world,
                      error->capacity == outcome->capacity && error->in_use == outcome->in_use &&
                          (error->cause != ACRE_POOL_CAPACITY_EXCEEDED ||
                           error->cause_capacity == outcome->cause_capacity),
                      "capacity %" PRIu64 ", in use %" PRIu64 " instead of %" PRIu64 ", %" PRIu64,
                      error->capacity, error->in_use, outcome->capacity, outcome->in_use);
    }
    if (outcome->status != ACRE_OUT_OF_MEMORY && outcome->cause != ACRE_OUT_OF_MEMORY) {
        return;
    }
    uint64_t free_bytes = 0;
    uint64_t largest_free = 0;
    uint64_t in_use = 0;
    for (uint32_t i = 0; i < MODEL_POOLS; i++) {
        if (world->ref.pools[i].usage.allocations + world->ref.pools[i].pages > 0) {
            uint64_t pieces, bytes, largest;
            reference_free_room(&world->ref, i, false, &pieces, &bytes, &largest);
            free_bytes += bytes;
            largest_free = largest > largest_free ? largest : largest_free;
            in_use += world->ref.pools[i].usage.in_use;
        }
    }
    WORLD_REQUIRE(world,
                  error->reserved == world->ref.reserved && error->free == free_bytes &&
                      error->largest_free == largest_free &&
                      (outcome->status != ACRE_OUT_OF_MEMORY || error->in_use == in_use),
                  "out of memory with reserved %" PRIu64 ", free %" PRIu64 ", largest %" PRIu64
                  " instead of %" PRIu64 ", %" PRIu64 ", %" PRIu64,
                  error->reserved, error->free, error->largest_free, world->ref.reserved,
                  free_bytes, largest_free);
}

// The place of a new allocation: looked up, or, in a bare run, as the watched run noted it.
static acre_place place_of(model_world *world, const model_request *request,
                           const model_outcome *outcome, const acre_handle *handle) {
    model_note *note = &world->notes[world->reservations];
    acre_place place = ACRE_PLACE_INIT;
    if (world->watched || dice_chance(&world->watcher, 2)) {
        acre_status status = acre_manager_get_place(world->manager, handle, &place, NULL);
        WORLD_REQUIRE(world, status == ACRE_OK, "a new allocation has no place: %s",
                      acre_status_name(status));
        WORLD_REQUIRE(world,
                      world->watched || (place.page == note->page && place.offset == note->offset &&
                                         place.pool_index == note->pool_index),
                      "the same requests were placed elsewhere");
    }
    if (world->watched) {
        note->pool_index = place.pool_index;
        note->page = place.page;
        note->offset = place.offset;
    } else {
        place.pool_index = note->pool_index;
        place.page = note->page;
        place.offset = note->offset;
        place.size = request->size;
        place.padding = outcome->padded - request->size;
    }
    return place;
}

static void reserve(model_world *world) {
    model_request request = world_random_request(world);
    world->help = (model_help)dice_below(&world->dice, MODEL_HELP_KINDS);
    acre_error error = ACRE_ERROR_INIT;
    acre_handle *handle = NULL;
    model_outcome outcome = reference_reserve(&world->ref, &request);
    acre_status status = ask(world, &request, &handle, &error);
    WORLD_REQUIRE(world, status == outcome.status,
                  "%" PRIu64 " bytes (alignment %" PRIu64 ", update %d, mode %d): %s, not %s",
                  request.size, request.alignment, (int)request.update,
                  (int)reference_mode(&world->ref), acre_status_name(status),
                  acre_status_name(outcome.status));
    if (status == ACRE_OK) {
        acre_place place = place_of(world, &request, &outcome, handle);
        int allocation = -1;
        const char *wrong = reference_place(&world->ref, &request, &outcome, &place, &allocation);
        WORLD_REQUIRE(world, wrong == NULL,
                      "%" PRIu64 " bytes (alignment %" PRIu64 ") at %" PRIu64 " of page %" PRIu32
                      ": %s",
                      request.size, request.alignment, place.offset, place.page, wrong);
        world_add_handle(world, handle, MODEL_BOUND, allocation);
        world->live++;
    } else {
        compare_refusal(world, &request, &outcome, &error);
        world->crowded = status == ACRE_PAGE_SIZES_EXHAUSTED || status == ACRE_OUT_OF_MEMORY;
    }
    world->reserves_foretold += status == ACRE_OK;
    world->refusals_foretold += status != ACRE_OK;
    world->reservations++;
}

// ---- the rest ------------------------------------------------------------------------------

static void let_pools_drain(model_world *world) {
    for (int i = 0; i < MODEL_USES; i++) {
        world_end_use(world, i);
    }
    for (int i = 0; i < MODEL_HANDLES; i++) {
        while (world->handles[i].used && world->handles[i].owners > 0) {
            acre_handle *real = world->handles[i].real;
            world_drop_owner(world, i);
            acre_manager_release(world->manager, real);
        }
    }
    if (dice_chance(&world->dice, 70)) {
        world_drop_guards(world);
    }
}

static void install(model_world *world) {
    acre_pool_options pools[MODEL_LAYOUT_POOLS];
    uint32_t count;
    bool measured = dice_chance(&world->dice, 50);
    bool accepted[MODEL_LAYOUT_POOLS][MODEL_SIZES];
    if (dice_chance(&world->dice, 50)) {
        let_pools_drain(world);
    }
    if (measured) {
        size_t made = 0;
        acre_status status = acre_manager_measured_pools(
            world->manager, pools, sizeof(acre_pool_options), MODEL_LAYOUT_POOLS, &made, NULL);
        WORLD_REQUIRE(world, status == ACRE_OK && made == world->ref.pool_count,
                      "no measured pools");
        count = (uint32_t)made;
        for (uint32_t i = 0; i < count * MODEL_SIZES; i++) {
            accepted[i / MODEL_SIZES][i % MODEL_SIZES] =
                reference_accepts(&world->ref, i / MODEL_SIZES, world->sizes[i % MODEL_SIZES]);
        }
    } else {
        count = world_random_pools(world, pools, 6);
    }
    acre_layout layout = ACRE_LAYOUT_INIT(ACRE_LAYOUT_EXPLICIT);
    layout.pools = pools;
    layout.pool_count = count;
    uint64_t in_use = 0;
    acre_status expected = reference_install(&world->ref, pools, count, &in_use);
    acre_error error = ACRE_ERROR_INIT;
    acre_status status = acre_manager_install_layout(world->manager, &layout, &error);
    WORLD_REQUIRE(world, status == expected, "an install says %s, not %s", acre_status_name(status),
                  acre_status_name(expected));
    WORLD_REQUIRE(world, status == ACRE_OK || error.in_use == in_use,
                  "an install says %" PRIu64 " bytes in use, not %" PRIu64, error.in_use, in_use);
    for (uint32_t i = 0; status == ACRE_OK && measured && i < count * MODEL_SIZES; i++) {
        WORLD_REQUIRE(
            world,
            accepted[i / MODEL_SIZES][i % MODEL_SIZES] ==
                reference_accepts(&world->ref, i / MODEL_SIZES, world->sizes[i % MODEL_SIZES]),
            "measured pool %" PRIu32 " accepts other sizes", i / MODEL_SIZES);
    }
}

static void set_mode(model_world *world) {
    acre_mode mode = (acre_mode)dice_below(&world->dice, 3);
    if (dice_chance(&world->dice, 30) || world->ref.window_count == MODEL_WINDOWS) {
        mode = ACRE_MODE_AUTO;
    }
    reference_set_mode(&world->ref, mode);
    acre_status status = acre_manager_set_mode(world->manager, mode, NULL);
    WORLD_REQUIRE(world, status == ACRE_OK, "a mode was refused");
    WORLD_REQUIRE(world, acre_manager_get_mode(world->manager) == reference_mode(&world->ref),
                  "mode %d is in force, not %d", (int)acre_manager_get_mode(world->manager),
                  (int)reference_mode(&world->ref));
}

static void set_limits(model_world *world) {
    uint64_t soft = world_scale(world) * DICE_PICK(&world->dice, 0, 1, 5000, 100000);
    uint64_t hard = world_scale(world) * DICE_PICK(&world->dice, 0, 1, 5000, 100000, 1 << 20);
    world->ref.soft_limit = soft == 0 ? UINT64_MAX : soft;
    world->ref.hard_limit = hard == 0 ? UINT64_MAX : hard;
    acre_manager_set_limits(world->manager, soft, hard);
}

static void script_failure(model_world *world) {
    uint64_t nth = dice_below(&world->dice, 4);
    bool and_after = dice_chance(&world->dice, 30);
    model_device *device = &world->ref.device;
    device->fail_at = nth == 0 ? 0 : device->calls + nth;
    device->and_after = and_after;
    acre_status status =
        acre_storage_simulated_fail(world->storage, ACRE_SIMULATED_ALLOC, nth, and_after, NULL);
    WORLD_REQUIRE(world, status == ACRE_OK, "a failure could not be scripted");
}

void world_clean(model_world *world, acre_cleanup cleanup) {
    reference_cleanup(&world->ref, cleanup);
    acre_manager_cleanup(world->manager, cleanup);
}

// What takes no part in the script: the bare run leaves most of it out.
static void watch(model_world *world) {
    model_dice *watcher = &world->watcher;
    unsigned percent = world->watched ? 100 : 3;
    if (dice_chance(watcher, 50 * percent / 100)) {
        world_look_up(world);
    }
    if (dice_chance(watcher, 12 * percent / 100)) {
        world_look_up_claims(world);
    }
    if (dice_chance(watcher, 12 * percent / 100)) {
        world_compare_runs(world);
    }
    if (dice_chance(watcher, 12 * percent / 100)) {
        world_compare_reports(world);
    }
    if (dice_below(watcher, 1000) < 20 * percent / 100) {
        world_check(world);
    }
}

static bool step_relocation(model_world *world) {
    if (world->family->layout != ACRE_LAYOUT_ADAPTIVE && !dice_chance(&world->dice, 5)) {
        return false;
    }
    if (!world->creeping && dice_chance(&world->dice, 5)) {
        install(world); // page sizes begin anew
    } else if (world->plan == NULL && dice_chance(&world->dice, 40)) {
        world_relocate_in_one_call(world);
    } else {
        world_relocate(world);
    }
    return true;
}

// One of what only some scripts do. => false: this one does not do what was rolled
static bool step_apart(model_world *world) {
    switch (dice_below(&world->dice, 5)) {
    case 0:
        return world->guarding && (world_step_guard(world), true);
    case 1:
        return world->dry && (world_step_dry(world), true);
    case 2:
        return world_resolve(world), true;
    case 3:
        return step_relocation(world);
    default:
        return world->claiming && (world_step_claim(world), true);
    }
}

void world_step(model_world *world) {
    model_dice *dice = &world->dice;
    uint64_t chance = dice_below(dice, 1000);
    unsigned reserving = world->live < world->wanted_live ? 480 : 330;
    world->operation++;
    if (world->plan != NULL && dice_chance(dice, 30)) {
        if (dice_chance(dice, 70)) {
            world_touch_moves(world);
        } else {
            world_relocate(world);
        }
    } else if (world->crowded && world->family->layout == ACRE_LAYOUT_ADAPTIVE &&
               dice_chance(dice, 50)) {
        world_relocate(world); // what a runtime would do about it
    } else if (dice_chance(dice, 15) && step_apart(world)) {
        // done
    } else if (chance < reserving) {
        reserve(world);
    } else if (chance < 800) {
        world_release_owner(world);
    } else if (chance < 830) {
        world_retain(world);
    } else if (chance < 870) {
        world_take_use(world);
    } else if (chance < 920) {
        world_end_use(world, (int)dice_below(dice, 32));
    } else if (chance < 945) {
        world_create_handle(world);
    } else if (chance < 970) {
        world_bind(world);
    } else if (chance < 976) {
        world_clean(world, dice_chance(dice, 50) ? ACRE_CLEANUP_EXPLICIT : ACRE_CLEANUP_PERIODIC);
    } else if (chance < 978) {
        install(world);
    } else if (chance < 988 && world->family->modes) {
        set_mode(world);
    } else if (chance < 992 && world->family->tight) {
        set_limits(world);
    } else if (chance < 1000 && world->family->tight) {
        script_failure(world);
    }
    if (world->ref.page_end > MODEL_PAGES - 64) {
        world_clean(world, ACRE_CLEANUP_EXPLICIT);
    }
    world_compare_events(world);
    watch(world);
}
