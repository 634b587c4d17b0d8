// The end of a relocation: dropped, or committed with what changed since the plan left out.
#include "model/moves.h"

#include <inttypes.h>

static void let_holds_go(model_world *world, const model_relocation *plan) {
    for (uint32_t i = 0; i < plan->count; i++) {
        world_drop_hold(world, plan->handles[i]);
    }
    world->ref.recent.valid = false;
}

void world_remember(model_world *world, const model_relocation *plan, bool moved_nothing) {
    if (plan->counts && reference_arena(&world->ref) != MODEL_POOLS) {
        reference_remember(&world->ref, moved_nothing);
    }
}

void world_drop_plan(model_world *world, const model_relocation *plan) {
    world_remember(world, plan, true);
    for (uint32_t i = 0; i < plan->count; i++) {
        reference_free(&world->ref, plan->moves[i].target);
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

acre_relocation_report world_settle_moves(model_world *world, const model_relocation *plan) {
    reference *ref = &world->ref;
    uint64_t pages = ref->pages_returned;
    uint64_t bytes = ref->bytes_returned;
    acre_relocation_report expected = ACRE_RELOCATION_REPORT_INIT;
    for (uint32_t i = 0; i < plan->count; i++) {
        const model_move *move = &plan->moves[i];
        if (i >= world_copied(plan)) {
            reference_free(ref, move->target);
            continue;
        }
        if (has_changed(world, plan, i)) {
            reference_free(ref, move->target);
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
    expected.pages_returned = ref->pages_returned - pages;
    expected.bytes_returned = ref->bytes_returned - bytes;
    return expected;
}

void world_compare_outcome(const model_world *world, const model_relocation *plan,
                           const acre_relocation_report *expected,
                           const acre_relocation_report *report) {
    WORLD_REQUIRE(world,
                  report->moves == expected->moves && report->bytes == expected->bytes &&
                      report->changed.allocations == expected->changed.allocations &&
                      report->changed.bytes == expected->changed.bytes,
                  "%" PRIu64 " moves of %" PRIu64 " bytes instead of %" PRIu64 " of %" PRIu64,
                  report->moves, report->bytes, expected->moves, expected->bytes);
    WORLD_REQUIRE(world,
                  report->pages_returned == expected->pages_returned &&
                      report->bytes_returned == expected->bytes_returned,
                  "%" PRIu64 " pages went with a relocation, not %" PRIu64, report->pages_returned,
                  expected->pages_returned);
    WORLD_REQUIRE(world, !report->more || report->limited.allocations > 0, "nothing limited it");
    world_compare_stays(world, plan, report);
}

// Whether nothing that was to move is owned by anyone any more.
static bool all_died(const model_world *world, const model_relocation *plan) {
    bool died = plan->count > 0 && world_copied(plan) == plan->count;
    for (uint32_t i = 0; i < plan->count; i++) {
        const model_handle *handle = &world->handles[plan->handles[i]];
        died = died && handle->state == MODEL_BOUND && handle->owners == 0;
    }
    return died;
}

void world_commit_plan(model_world *world, const model_relocation *plan) {
    acre_status wanted = all_died(world, plan) ? ACRE_NOT_FOUND : ACRE_OK;
    acre_relocation_report expected = world_settle_moves(world, plan);
    acre_relocation_report report = ACRE_RELOCATION_REPORT_INIT;
    acre_status status = acre_relocation_commit(plan->real, &report, NULL);
    WORLD_REQUIRE(world, status == wanted, "a commit says %s", acre_status_name(status));
    world_compare_outcome(world, plan, &expected, &report);
    WORLD_REQUIRE(world, report.more || world_copied(plan) == plan->count,
                  "moves were left out without a word");
    world_remember(world, plan, report.moves == 0 && !report.more);
}
