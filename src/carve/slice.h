// Slices: the records of runs of bytes of a page, live or free.
//
//   page    |  live  |   free   | live |      free      |
//   records    A  <->     B   <->  C  <->     D           before / after, in order of offset
//
// The runs of a page tile it. Two free runs never touch, except around the run of the pool that was
// freed last: it stays apart (RECENT) until another is freed or another size is taken, so that
// asking for its size again finds it whole (carve.h); and except on guarded pages (WITHHELD).
#ifndef ACRE_CARVE_SLICE_H
#define ACRE_CARVE_SLICE_H

#include "base/slab.h"

typedef enum acre_slice_state {
    ACRE_SLICE_LIVE = 0,
    ACRE_SLICE_FREE = 1,     // in the free index
    ACRE_SLICE_RECENT = 2,   // the pool's latest: in no index, not merged
    ACRE_SLICE_WITHHELD = 3, // free, not to be handed out: in no index, not merged
} acre_slice_state;

// What a request asked of its offset beside the manager's alignment: what a move must keep.
typedef enum acre_slice_aligned {
    ACRE_SLICE_ANYWHERE = 0,
    ACRE_SLICE_ALIGNED = 1,     // to a divisor of the storage's page alignment
    ACRE_SLICE_ODD_ALIGNED = 2, // to another number
} acre_slice_aligned;

// 48 bytes. What only a live and only a free run has shares the same place.
typedef struct acre_slice {
    uint64_t offset; // bytes into the page
    uint64_t size;   // bytes of the run
    uint32_t before; // the run that ends at offset; 0 = none
    uint32_t after;  // the run that begins at offset + size; 0 = none
    uint32_t page : 28;
    uint32_t aligned : 2; // acre_slice_aligned; may be left over when not live
    uint32_t state : 2;
    union {
        uint32_t handle; // live: whose allocation it is
        uint32_t next;   // free: ring of runs of the same size
    };
    union {
        struct {
            uint64_t requested; // bytes asked for
            uint64_t cursor;    // the caller's sequence number, from a bind
        } live;
        struct {
            uint32_t prev;     // ring
            uint32_t child[2]; // trie below (free_index.h)
            uint32_t parent;   // 0 = root; ACRE_NOT_IN_TRIE = only in the ring
        } free;
    };
} acre_slice;

_Static_assert(sizeof(acre_slice) == 48, "slice records are 48 bytes");

// Whether a run has `size` bytes at a multiple of `step`.
static inline bool acre_slice_holds(const acre_slice *slice, uint64_t size, uint64_t step) {
    if (slice->size < size) {
        return false; // mostly so: spares the divisions
    }
    uint64_t gap = (step - slice->offset % step) % step;
    return gap <= slice->size && slice->size - gap >= size;
}

// A slice with its name: found together, passed together.
typedef struct acre_run {
    acre_slice *slice; // NULL = none
    uint32_t name;
} acre_run;

#define ACRE_MAX_PAGES ((UINT32_C(1) << 28) - 1)

static inline acre_slice *acre_slice_at(const acre_slab *slices, uint32_t name) {
    return acre_slab_at(slices, name);
}

#endif
