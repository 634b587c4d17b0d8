// Relocations of a script. Which pages are chosen and where things go is the library's matter; the
// model takes its plan, judges every move, and foretells everything that follows from it.
#include "model/moves.h"

#include <inttypes.h>

// ---- what to ask for -----------------------------------------------------------------------

static acre_relocation_options random_options(model_world *world) {
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

static bool is_limited(const acre_relocation_options *options) {
    return options->max_moves != ACRE_UNSET || options->max_bytes != ACRE_UNSET;
}

static void note_bindings(model_world *world) {
    for (int i = 0; i < world->ref.allocation_end; i++) {
        world->ref.allocations[i].bound = false;
    }
    for (int i = 0; i < MODEL_HANDLES; i++) {
        const model_handle *handle = &world->handles[i];
        if (handle->used && handle->state == MODEL_BOUND) {
            world->ref.allocations[handle->allocation].bound = handle->bindings + handle->held > 0;
        }
    }
}

// What lives on outdated pages, and what of it must stay.
static void note_stays(const reference *ref, model_relocation *plan) {
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

static void compare_stays(const model_world *world, const model_relocation *plan,
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

static void compare_state(model_world *world) {
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

// ---- the plan ------------------------------------------------------------------------------

static void take_moves(model_world *world, model_relocation *plan) {
    reference *ref = &world->ref;
    plan->count = (uint32_t)acre_relocation_count(plan->real);
    uint64_t digest = plan->count;
    uint64_t bytes = 0;
    for (uint32_t i = 0; i < plan->count; i++) {
        acre_relocation_move *planned = &plan->planned[i];
        *planned = ACRE_RELOCATION_MOVE_INIT;
        acre_status status = acre_relocation_get(plan->real, i, planned, NULL);
        WORLD_REQUIRE(world, status == ACRE_OK, "no move %" PRIu32, i);
        const char *wrong =
            reference_judge_move(ref, planned, plan->moves, i, plan->options.compact,
                                 plan->options.make_room > 0, &plan->moves[i]);
        WORLD_REQUIRE(world, wrong == NULL,
                      "move %" PRIu32 " of %" PRIu64 " bytes, %" PRIu64 " of page %" PRIu32
                      " to %" PRIu64 " of page %" PRIu32 ": %s",
                      i, planned->size, planned->from_offset, planned->from_page,
                      planned->to_offset, planned->to_page, wrong);
        bytes += planned->size;
        digest = digest * 1000003 + planned->from_page + planned->from_offset * 31 +
                 planned->to_page * 7 + planned->to_offset;
        model_page *target = &ref->pages[plan->moves[i].to];
        if (plan->moves[i].bytes && !target->mapped) { // bytes need a place that has memory
            target->mapped = true;
            ref->device.allocs++;
            ref->device.held += target->size;
        }
    }
    WORLD_REQUIRE(world, plan->count <= plan->options.max_moves && bytes <= plan->options.max_bytes,
                  "a plan passes its limits");
    model_note *note = &world->notes[world->relocations++];
    WORLD_REQUIRE(world, world->watched || note->moves == digest,
                  "the same script was relocated otherwise");
    note->moves = digest;
    for (uint32_t i = 0; i < plan->count; i++) {
        plan->handles[i] = world_handle_of(world, plan->moves[i].allocation);
        world->handles[plan->handles[i]].held++;
    }
}

// A page is emptied as a whole or not at all, as long as nothing limits a plan.
static void require_whole_pages(const model_world *world, const model_relocation *plan) {
    for (uint32_t i = 0; i < plan->count; i++) {
        uint32_t left = 0;
        for (uint32_t k = 0; k < plan->count; k++) {
            left += plan->moves[k].from == plan->moves[i].from;
        }
        WORLD_REQUIRE(world, left == world->ref.pages[plan->moves[i].from].live,
                      "%" PRIu32 " of %" PRIu32 " allocations leave a page", left,
                      world->ref.pages[plan->moves[i].from].live);
    }
}

static void open_plan(model_world *world, model_relocation *plan) {
    acre_status status =
        acre_manager_relocation_plan(world->manager, &plan->options, &plan->real, NULL);
    WORLD_REQUIRE(world, status == ACRE_OK, "no plan: %s", acre_status_name(status));
    uint64_t added = world_learn_pages(world);
    WORLD_REQUIRE(world, added == 0 || plan->room == ACRE_RELOCATION_ROOM_MAY_ADD,
                  "a relocation into room held added a page");
    WORLD_REQUIRE(world, added == 0 || world->ref.reserved <= world->ref.hard_limit,
                  "a relocation passes the hard limit");
    take_moves(world, plan);
    WORLD_REQUIRE(world, plan->counts || plan->count == 0, "it moves without a need");
    if (!is_limited(&plan->options) && plan->options.make_room == 0) {
        require_whole_pages(world, plan);
    }
    world->ref.recent.valid = false;
}

// ---- the end of one ------------------------------------------------------------------------

static void let_holds_go(model_world *world, const model_relocation *plan) {
    for (uint32_t i = 0; i < plan->count; i++) {
        world_drop_hold(world, plan->handles[i]);
    }
    world->ref.recent.valid = false;
}

static void drop(model_world *world, model_relocation *plan) {
    if (plan->counts) {
        reference_remember(&world->ref, true);
    }
    let_holds_go(world, plan);
}

// Whether something happened to a move since its plan.
static bool has_changed(const model_world *world, const model_relocation *plan, uint32_t i) {
    const reference *ref = &world->ref;
    const model_handle *handle = &world->handles[plan->handles[i]];
    const model_move *move = &plan->moves[i];
    return handle->state != MODEL_BOUND || handle->owners == 0 ||
           handle->bindings + handle->held > 1 || ref->pages[move->from].guards > 0 ||
           ref->pages[move->to].guards > 0 || (ref->pages[move->from].mapped && !move->bytes);
}

static void commit(model_world *world, model_relocation *plan) {
    reference *ref = &world->ref;
    uint32_t copied = plan->options.max_time == 0 && plan->count > 1 ? 1 : plan->count;
    uint64_t pages = ref->pages_returned;
    uint64_t bytes = ref->bytes_returned;
    acre_relocation_report expected = ACRE_RELOCATION_REPORT_INIT;
    for (uint32_t i = 0; i < copied; i++) {
        const model_move *move = &plan->moves[i];
        if (has_changed(world, plan, i)) {
            expected.changed.allocations++;
            expected.changed.bytes += plan->planned[i].size;
            continue;
        }
        bool current = ref->pages[move->from].pool == reference_arena(ref);
        reference_move(ref, move);
        expected.moves++;
        expected.bytes += plan->planned[i].size;
        if (current && plan->options.make_room == 0 && ref->pages[move->from].live == 0) {
            reference_return_page(ref, move->from);
        }
    }
    let_holds_go(world, plan);
    reference_arena_drain(ref);
    if (ref->pages_returned > pages) {
        reference_flush(ref);
    }
    acre_relocation_report report = ACRE_RELOCATION_REPORT_INIT;
    acre_status status = acre_relocation_commit(plan->real, &report, NULL);
    WORLD_REQUIRE(world, status == ACRE_OK, "a commit says %s", acre_status_name(status));
    WORLD_REQUIRE(world,
                  report.moves == expected.moves && report.bytes == expected.bytes &&
                      report.changed.allocations == expected.changed.allocations &&
                      report.changed.bytes == expected.changed.bytes,
                  "%" PRIu64 " moves of %" PRIu64 " bytes instead of %" PRIu64 " of %" PRIu64,
                  report.moves, report.bytes, expected.moves, expected.bytes);
    WORLD_REQUIRE(world,
                  report.pages_returned == ref->pages_returned - pages &&
                      report.bytes_returned == ref->bytes_returned - bytes,
                  "%" PRIu64 " pages went with a relocation, not %" PRIu64, report.pages_returned,
                  ref->pages_returned - pages);
    WORLD_REQUIRE(world, report.more ? report.limited.allocations > 0 : copied == plan->count,
                  "a limit ended it, or did not");
    compare_stays(world, plan, &report);
    if (plan->counts) {
        reference_remember(ref, report.moves == 0 && !report.more);
    }
}

// Things happen between the copies and the commit, mostly to what is moved; nothing is reserved.
static void go_on(model_world *world, const model_relocation *plan) {
    for (uint64_t i = dice_below(&world->dice, 6); i > 0; i--) {
        world->favoured =
            plan->count == 0 ? 0 : 1 + plan->handles[dice_below(&world->dice, plan->count)];
        switch (dice_below(&world->dice, 6)) {
        case 0:
            world_step_guard(world);
            break;
        case 1:
            world_resolve(world);
            break;
        case 2:
            world_take_use(world);
            break;
        case 3:
            world_bind(world);
            break;
        default:
            world_release_owner(world);
            break;
        }
    }
    world->favoured = 0;
}

// ---- the whole -----------------------------------------------------------------------------

static void run_plan(model_world *world, model_relocation *plan) {
    open_plan(world, plan);
    if (!world_learn_device(world)) {
        drop(world, plan);
        acre_relocation_destroy(plan->real);
        world_find_memory(world);
        return;
    }
    uint64_t chance = dice_below(&world->dice, 10);
    if (chance == 0) {
        drop(world, plan);
    } else if (world_copy_moves(world, plan)) {
        drop(world, plan);
        WORLD_REQUIRE(world, acre_relocation_count(plan->real) == 0, "a failed plan has moves");
        WORLD_REQUIRE(world,
                      acre_relocation_commit(plan->real, NULL, NULL) == ACRE_INVALID_ARGUMENT,
                      "a failed plan was committed");
    } else {
        if (chance < 5) {
            go_on(world, plan);
        }
        if (chance == 1) {
            drop(world, plan);
        } else {
            commit(world, plan);
        }
    }
    acre_relocation_destroy(plan->real);
}

void world_relocate(model_world *world) {
    static model_relocation plan; // large
    world->crowded = false;
    compare_state(world);
    plan.real = NULL;
    plan.options = random_options(world);
    if (reference_arena(&world->ref) == MODEL_POOLS) {
        acre_status status =
            acre_manager_relocation_plan(world->manager, &plan.options, &plan.real, NULL);
        WORLD_REQUIRE(world, status == ACRE_UNSUPPORTED, "no arena to relocate: %s",
                      acre_status_name(status));
        return;
    }
    plan.room = plan.options.room;
    if (plan.room == ACRE_RELOCATION_ROOM_AS_NEEDED) {
        acre_relocation_need need = reference_relocation_need(&world->ref);
        plan.room = need == ACRE_RELOCATION_ARENA_FULL      ? ACRE_RELOCATION_ROOM_MAY_ADD
                    : need == ACRE_RELOCATION_SHORT_OF_ROOM ? ACRE_RELOCATION_ROOM_HELD
                                                            : ACRE_RELOCATION_ROOM_AS_NEEDED;
    }
    plan.counts = plan.room != ACRE_RELOCATION_ROOM_AS_NEEDED || plan.options.compact;
    note_bindings(world);
    note_stays(&world->ref, &plan);
    run_plan(world, &plan);
    compare_state(world);
}
