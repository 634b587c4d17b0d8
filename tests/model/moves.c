// Relocations of a script. Which pages are chosen and where things go is the library's matter; the
// model takes its plan, judges every move, and foretells everything that follows from it. A plan
// may stay open while the script goes on.
#include "model/moves.h"

// ---- what to ask for -----------------------------------------------------------------------

acre_relocation_options world_relocation_options(model_world *world) {
    model_dice *dice = &world->dice;
    acre_relocation_options options = ACRE_RELOCATION_OPTIONS_INIT;
    bool needed = reference_relocation_need(&world->ref) != ACRE_RELOCATION_NOT_NEEDED;
    options.room = needed && dice_chance(dice, 50) ? ACRE_RELOCATION_ROOM_AS_NEEDED
                                                   : (acre_relocation_room)dice_below(dice, 3);
    options.compact = dice_chance(dice, 30);
    if (options.compact && dice_chance(dice, 40)) {
        options.make_room = 1 + dice_below(dice, 4 << 20);
    }
    if (dice_chance(dice, 20)) {
        options.max_moves = dice_below(dice, 6);
    }
    if (dice_chance(dice, 20)) {
        options.max_bytes = dice_below(dice, 8 << 20);
    }
    if (dice_chance(dice, 15)) {
        options.max_time = 0; // one move is made
    }
    return options;
}

static acre_relocation_room room_as_needed(const reference *ref) {
    switch (reference_relocation_need(ref)) {
    case ACRE_RELOCATION_ARENA_FULL:
        return ACRE_RELOCATION_ROOM_MAY_ADD;
    case ACRE_RELOCATION_SHORT_OF_ROOM:
        return ACRE_RELOCATION_ROOM_HELD;
    default:
        return ACRE_RELOCATION_ROOM_AS_NEEDED;
    }
}

void world_answer_need(const model_world *world, model_relocation *plan) {
    plan->room = plan->options.room == ACRE_RELOCATION_ROOM_AS_NEEDED ? room_as_needed(&world->ref)
                                                                      : plan->options.room;
    plan->counts = plan->room != ACRE_RELOCATION_ROOM_AS_NEEDED || plan->options.compact;
}

// ---- phases --------------------------------------------------------------------------------

static model_relocation the_plan; // large, and one at a time is open

static void end(model_world *world) {
    acre_relocation_destroy(the_plan.real);
    world->plan = NULL;
}

static void begin(model_world *world) {
    model_relocation *plan = &the_plan;
    plan->options = world_relocation_options(world);
    plan->copied = false;
    if (reference_arena(&world->ref) == MODEL_POOLS) {
        acre_status status =
            acre_manager_relocation_plan(world->manager, &plan->options, &plan->real, NULL);
        WORLD_REQUIRE(world, status == ACRE_UNSUPPORTED, "no arena to relocate: %s",
                      acre_status_name(status));
        return;
    }
    world_answer_need(world, plan);
    world_note_stays(world, plan);
    world_open_plan(world, plan);
    world->plan = plan;
    if (!world_learn_device(world)) {
        world_drop_plan(world, plan);
        end(world);
        world_find_memory(world);
    }
}

static void copy(model_world *world, model_relocation *plan) {
    WORLD_REQUIRE(world, acre_relocation_commit(plan->real, NULL, NULL) == ACRE_INVALID_ARGUMENT,
                  "a plan was committed that was not copied");
    acre_status status = world_copy_moves(world, plan);
    plan->copied = status == ACRE_OK;
    if (!plan->copied) {
        world_drop_plan(world, plan);
        WORLD_REQUIRE(world, acre_relocation_count(plan->real) == 0, "a failed plan has moves");
        WORLD_REQUIRE(world,
                      acre_relocation_commit(plan->real, NULL, NULL) == ACRE_INVALID_ARGUMENT,
                      "a failed plan was committed");
        end(world);
    }
}

// One phase more.
static void go_on(model_world *world, model_relocation *plan) {
    if (dice_chance(&world->dice, 10)) {
        world_drop_plan(world, plan);
        end(world);
    } else if (!plan->copied) {
        copy(world, plan);
    } else {
        world_commit_plan(world, plan);
        end(world);
    }
}

void world_relocate(model_world *world) {
    world->crowded = false;
    world_compare_arena(world);
    if (world->plan == NULL) {
        begin(world);
    } else {
        go_on(world, world->plan);
    }
    bool at_once = dice_chance(&world->dice, 30);
    while (at_once && world->plan != NULL) {
        go_on(world, world->plan);
    }
    world_compare_arena(world);
}

// A handle of what lives on a page for the script, 0 = none, else 1 + it.
static int handle_on(const model_world *world, int page) {
    const reference *ref = &world->ref;
    for (int at = ref->pages[page].first; at >= 0; at = ref->allocations[at].next) {
        if (!ref->allocations[at].target) {
            return 1 + world_handle_of(world, at);
        }
    }
    return 0;
}

void world_touch_moves(model_world *world) {
    const model_relocation *plan = world->plan;
    uint64_t any = plan->count == 0 ? 0 : dice_below(&world->dice, plan->count);
    world->favoured = plan->count == 0 ? 0 : 1 + plan->handles[any];
    switch (dice_below(&world->dice, 6)) {
    case 0:
        world_step_guard(world);
        break;
    case 5:
        world->favoured = plan->count == 0 ? 0 : handle_on(world, plan->moves[any].to);
        world_step_guard(world);
        break;
    case 1:
        world_resolve(world);
        break;
    case 2:
        world_take_use(world);
        break;
    case 3:
        world_create_handle(world);
        world_bind(world);
        break;
    default:
        world_release_owner(world);
        break;
    }
    world->favoured = 0;
}

void world_close_plan(model_world *world, bool told) {
    if (world->plan == NULL) {
        return;
    }
    if (told) {
        world_drop_plan(world, world->plan);
    } else {
        WORLD_REQUIRE(world, acre_relocation_count(world->plan->real) == 0,
                      "a plan outlives its manager");
        for (uint32_t i = 0; i < world->plan->count; i++) {
            world->handles[world->plan->handles[i]].held--;
        }
    }
    end(world);
}
