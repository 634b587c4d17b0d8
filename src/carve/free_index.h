// Free index: finds the smallest free run that fits, or that there is none, without a walk. Pools
// whose pages are not cut keep them here; those that cut keep crowds of runs here (bins.h).
//
// Runs are kept by size in classes, 64 to an octave, so a class is at most 1/64 wide. Two levels
// of bitmaps find the next class that holds anything in two bit scans:
//
//   octaves      bit e: some class of [2^e, 2^(e+1)) holds a run
//   octave e     bit m: its class m holds a run
//   class (e,m)  sizes [2^e * (1 + m/64), 2^e * (1 + (m+1)/64))
//
// Within a class the runs form a bitwise trie of their sizes: a node at depth d holds any run
// whose size has the d bits of the path, counted from the first bit below those the class fixes.
// Runs of equal size hang on one node as a ring, newest first:
//
//            768+5                 finding the smallest size >= s follows the bits of s and
//           /     \                remembers the last branch to larger sizes it did not take;
//       768+1     768+9 -- ring    that branch's least node is the answer if nothing better
//          \                       was met on the way
//         768+3
//
// The depth is bounded by the bits of a class's width over the alignment: sizes up to 64 times the
// alignment have a class of their own and a trie of one node. The trie is that of Doug Lea's
// malloc (tree bins, malloc.c 2.8); the classes are those of TLSF (Masmano et al., ECRTS 2004).
//
// A request is refused by its own class's trie and the bitmaps alone, however many runs are a
// little too small.
#ifndef ACRE_CARVE_FREE_INDEX_H
#define ACRE_CARVE_FREE_INDEX_H

#include "carve/slice.h"

#define ACRE_NOT_IN_TRIE UINT32_MAX

typedef struct acre_octave {
    uint64_t classes;   // bit m: root[m] is a run
    uint32_t roots[64]; // of the tries
} acre_octave;

typedef struct acre_free_index {
    acre_slab *slices;
    acre_host *host;
    uint64_t octaves;      // bit e: rows[e] exists and has a class with a run
    acre_octave *rows[64]; // made by acre_free_index_prepare
    uint64_t count;        // runs in the index
    uint64_t bytes;        // of those runs
} acre_free_index;

void acre_free_index_init(acre_free_index *index, acre_host *host, acre_slab *slices);
void acre_free_index_destroy(acre_free_index *index);

// Makes the rows for sizes from `smallest` to `largest`, so that adding runs of those sizes cannot
// fail. => false: no host memory; what was made stays.
bool acre_free_index_prepare(acre_free_index *index, uint64_t smallest, uint64_t largest);

// Adds a free run; its row was prepared. The newest of equal size is found first.
void acre_free_index_add(acre_free_index *index, uint32_t name);
void acre_free_index_remove(acre_free_index *index, uint32_t name);

// => the smallest run of at least `size` bytes, the newest of equal ones; 0 = there is none.
uint32_t acre_free_index_find(const acre_free_index *index, uint64_t size);

// => the newest run of exactly `size` bytes; 0 = there is none.
uint32_t acre_free_index_find_exact(const acre_free_index *index, uint64_t size);

// => bytes of the largest run; 0 = the index is empty.
uint64_t acre_free_index_largest(const acre_free_index *index);

// => whether bitmaps, tries, rings and counters agree. Cost: one pass over all runs.
bool acre_free_index_check(const acre_free_index *index);

#endif
