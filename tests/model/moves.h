// One relocation of a script, from its plan to its end.
#ifndef ACRE_TESTS_MODEL_MOVES_H
#define ACRE_TESTS_MODEL_MOVES_H

#include "model/world.h"

typedef struct model_relocation {
    acre_relocation *real;
    acre_relocation_options options;
    acre_relocation_room room; // as needed is answered
    bool counts;               // that it moved nothing is remembered
    uint32_t count;            // moves
    acre_relocation_move planned[MODEL_ALLOCATIONS];
    model_move moves[MODEL_ALLOCATIONS];
    acre_relocation_stayed guarded, bound, others; // on outdated pages
    int handles[MODEL_ALLOCATIONS];                // of the allocations; each is held by the plan
} model_relocation;

// moves_pages.c: takes over the pages that the plan added. => how many
uint64_t world_learn_pages(model_world *world);

// Takes over how often the device was asked, which is the library's matter. => false: which pages
// without memory got some for targets that were given up again is not known
bool world_learn_device(model_world *world);

// Finds that out, once the plan is over, and takes it over.
void world_find_memory(model_world *world);

int world_handle_of(const model_world *world, int allocation);

// moves_copy.c: copies the moves, by a queue that may fail at any call. => whether it did
bool world_copy_moves(model_world *world, model_relocation *plan);

#endif
