// The plan of a relocation: the model takes its moves and judges each.
#include "model/moves.h"

#include <inttypes.h>

static bool is_limited(const acre_relocation_options *options) {
    return options->max_moves != ACRE_UNSET || options->max_bytes != ACRE_UNSET;
}

uint64_t world_take_move(model_world *world, model_relocation *plan,
                         const acre_relocation_move *planned) {
    reference *ref = &world->ref;
    model_move *move = &plan->moves[plan->count];
    const char *wrong =
        reference_judge_move(ref, planned, plan->moves, plan->count, plan->options.compact,
                             plan->options.make_room > 0, move);
    WORLD_REQUIRE(world, wrong == NULL,
                  "the move of %" PRIu64 " bytes, %" PRIu64 " of page %" PRIu32 " to %" PRIu64
                  " of page %" PRIu32 ": %s",
                  planned->size, planned->from_offset, planned->from_page, planned->to_offset,
                  planned->to_page, wrong);
    model_page *target = &ref->pages[move->to];
    if (move->bytes && !target->mapped) { // bytes need a place that has memory
        target->mapped = true;
        ref->device.allocs++;
        ref->device.held += target->size;
    }
    plan->planned[plan->count++] = *planned;
    return planned->from_page + planned->from_offset * 31 + planned->to_page * UINT64_C(7) +
           planned->to_offset;
}

void world_note_moves(model_world *world, uint64_t digest) {
    model_note *note = &world->notes[world->relocations++];
    WORLD_REQUIRE(world, world->watched || note->moves == digest,
                  "the same script was relocated otherwise");
    note->moves = digest;
}

static void take_moves(model_world *world, model_relocation *plan) {
    size_t count = acre_relocation_count(plan->real);
    uint64_t digest = count;
    uint64_t bytes = 0;
    plan->count = 0;
    for (size_t i = 0; i < count; i++) {
        acre_relocation_move planned = ACRE_RELOCATION_MOVE_INIT;
        acre_status status = acre_relocation_get(plan->real, i, &planned, NULL);
        WORLD_REQUIRE(world, status == ACRE_OK, "no move %zu", i);
        digest = digest * 1000003 + world_take_move(world, plan, &planned);
        bytes += planned.size;
    }
    WORLD_REQUIRE(world, count <= plan->options.max_moves && bytes <= plan->options.max_bytes,
                  "a plan passes its limits");
    world_note_moves(world, digest);
}

// The plan holds what it would move, and the room where that would go.
static void hold_moves(model_world *world, model_relocation *plan) {
    for (uint32_t i = 0; i < plan->count; i++) {
        plan->handles[i] = world_handle_of(world, plan->moves[i].allocation);
        world->handles[plan->handles[i]].held++;
        reference_place_target(&world->ref, &plan->moves[i]);
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

void world_open_plan(model_world *world, model_relocation *plan) {
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
    hold_moves(world, plan);
    world->ref.recent.valid = false;
}
