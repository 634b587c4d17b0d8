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
    int handles[MODEL_ALLOCATIONS]; // of the allocations; each is held by the plan
} model_relocation;

// moves_copy.c: copies the moves, by a queue that may fail at any call. => whether it did
bool world_copy_moves(model_world *world, model_relocation *plan);

#endif
