// Adaptive arena: sliced pools, one per page size that a workload grew through.
//
//   outdated  2 MiB | 5 MiB | ...       serve nothing new; each page goes back once it is empty
//   current   11 MiB                    carves every new slice
//
// A request that outgrows the current pages makes a pool of larger ones, which takes over once the
// device gave its first page; a refused growth changes nothing. Pages are sized to the request
// that outgrew the last ones, so that large buffers do not strand most of a page, and all sizes
// share one pool, so that room freed by one serves another.
#ifndef ACRE_POOL_ARENA_H
#define ACRE_POOL_ARENA_H

#include "pool/pool.h"

// Page sizes held at a time. A workload meets the end only by growing through that many sizes
// while each keeps something alive.
#define ACRE_ARENA_SLOTS 64u

typedef struct acre_arena {
    acre_heap *heap;
    acre_pool *current;
    acre_pool *outdated[ACRE_ARENA_SLOTS - 1]; // the first left behind first
    uint32_t outdated_count;
    uint32_t first_outdated;   // index in reports of outdated[0]
    uint64_t smallest_page;    // bytes
    acre_pool_options options; // as given
} acre_arena;

// An arena whose pool has the index `index` in reports; outdated ones are numbered from
// `first_outdated` on. options->page_size is the smallest page, by default 2 MiB.
// => OUT_OF_HOST_MEMORY.
acre_status acre_arena_create(acre_heap *heap, uint32_t index, uint32_t first_outdated,
                              const acre_pool_options *options, acre_arena **arena,
                              acre_error *error);

// Gives every page back, whatever lives there. NULL is allowed.
void acre_arena_destroy(acre_arena *arena);

// Gives the empty pages of the outdated pools back, and ends those left with none.
// => how many pages went back.
uint64_t acre_arena_drain(acre_arena *arena);

// The page that a request needs which does not fit pages of the current size: a MiB of slack on
// top, in whole MiB, never below the smallest page nor above the largest.
uint64_t acre_arena_page_for(const acre_arena *arena, uint64_t size);

// Goes over to pages of the size that a request of `size` bytes needs, which is above the current
// one, with one empty page of it: a growth without its request. `*before` is a pool of the size
// until now, for acre_arena_settle.
// => PAGE_SIZES_EXHAUSTED, and what the device says; then nothing changed.
acre_status acre_arena_enlarge(acre_arena *arena, uint64_t size, acre_pool **before,
                               acre_error *error);

// The request behind acre_arena_enlarge was served, or refused: then pages of the size before it
// are current again. => the current pool.
acre_pool *acre_arena_settle(acre_arena *arena, acre_pool *before, bool served);

// Pages that the outdated pools hold.
uint64_t acre_arena_outdated_pages(const acre_arena *arena);

#endif
