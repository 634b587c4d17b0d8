// Moves of one plan, and the run of their copies through a queue.
//
// A move names two live slices: the source, which an allocation has, and the target reserved for
// it. It holds a binding of the allocation, so that the source's room is not given to anybody else
// while bytes are on their way.
#ifndef ACRE_RELOCATION_MOVES_H
#define ACRE_RELOCATION_MOVES_H

#include <acre/relocation.h>

#include "pool/handle.h"
#include "pool/page.h"

typedef struct acre_move {
    acre_handle *held; // the record whose binding keeps the source
    uint64_t size;     // bytes the allocation was asked with
    uint32_t source;   // slices
    uint32_t target;   // 0 = none yet
    bool bytes;        // they existed when the copies were made
} acre_move;

typedef struct acre_moves {
    acre_host *host;
    acre_move *list;
    uint32_t count, capacity;
    uint32_t copied; // the first so many have their bytes in place
} acre_moves;

// Adds a move. => NULL: no host memory.
acre_move *acre_moves_add(acre_moves *moves);

void acre_moves_free(acre_moves *moves);

// Sorts those from `first` on by size, the largest first: they are the hardest to place.
void acre_moves_sort(acre_moves *moves, uint32_t first);

// Reads a caller's queue, or makes one of the storage's own operations for NULL.
// => UNSUPPORTED: the storage has none, or the struct is not known. INVALID_ARGUMENT: it lacks an
// operation.
acre_status acre_queue_read(acre_copy_queue *own, const acre_copy_queue *theirs,
                            acre_storage *storage, acre_error *error);

// Copies in order until the clock passes `deadline`, one at least. => what the queue or the
// storage failed with; moves->copied is 0 then.
acre_status acre_moves_copy(acre_moves *moves, const acre_heap *heap, const acre_copy_queue *queue,
                            uint64_t deadline, acre_error *error);

#endif
