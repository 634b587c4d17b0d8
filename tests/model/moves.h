// One relocation of a script, from its plan to its end.
#ifndef ACRE_TESTS_MODEL_MOVES_H
#define ACRE_TESTS_MODEL_MOVES_H

#include "model/world.h"

struct model_relocation {
    acre_relocation *real;
    acre_relocation_options options;
    acre_relocation_room room; // as needed is answered
    bool counts;               // that it moved nothing is remembered
    bool copied;
    uint32_t count; // moves
    acre_relocation_move planned[MODEL_ALLOCATIONS];
    model_move moves[MODEL_ALLOCATIONS];
    acre_relocation_stayed guarded, bound, others; // on outdated pages
    int handles[MODEL_ALLOCATIONS];                // of the allocations; each is held by the plan
};

// How many moves are copied: one when there is no time.
static inline uint32_t world_copied(const model_relocation *plan) {
    return plan->options.max_time == 0 && plan->count > 1 ? 1 : plan->count;
}

// moves_pages.c: takes over the pages that the plan added. => how many
uint64_t world_learn_pages(model_world *world);

uint64_t world_lazy_pages(const model_world *world); // current, that may get memory for a target

// Takes over how often the device was asked, which is the library's matter. => false: which pages
// without memory got some for targets that were given up again is not known
bool world_learn_device(model_world *world);

// Finds that out, once the plan is over, and takes it over.
void world_find_memory(model_world *world);

int world_handle_of(const model_world *world, int allocation);

// moves.c
acre_relocation_options world_relocation_options(model_world *world);
void world_answer_need(const model_world *world, model_relocation *plan);

// moves_state.c: what the manager says of its arena; what must stay, before the plan and after.
void world_compare_arena(model_world *world);
void world_note_stays(model_world *world, model_relocation *plan);
void world_compare_stays(const model_world *world, const model_relocation *plan,
                         const acre_relocation_report *report);

// moves_plan.c
void world_open_plan(model_world *world, model_relocation *plan);

// Judges one move and makes it part of the plan. => its digest
uint64_t world_take_move(model_world *world, model_relocation *plan,
                         const acre_relocation_move *planned);

// Moves are the same in both runs of a script.
void world_note_moves(model_world *world, uint64_t digest);

// moves_copy.c: copies the moves, by a queue that may fail at any call. => what copying said
acre_status world_copy_moves(model_world *world, model_relocation *plan);

// moves_end.c: the model of a plan that is dropped; a commit of both.
void world_drop_plan(model_world *world, const model_relocation *plan);
void world_commit_plan(model_world *world, const model_relocation *plan);

// The model of a commit alone, and whether a report says what it did.
acre_relocation_report world_settle_moves(model_world *world, const model_relocation *plan);
void world_compare_outcome(const model_world *world, const model_relocation *plan,
                           const acre_relocation_report *expected,
                           const acre_relocation_report *report);
void world_remember(model_world *world, const model_relocation *plan, bool moved_nothing);

#endif
