// Slices: the records of runs of bytes of a page, live or free.
//
//   page    |  live  |   free   | live |      free      |
//   records    A  <->     B   <->  C  <->     D           before / after, in order of offset
//
// The runs of a page tile it. Two free runs never touch, except around those freed lately, which
// stay apart (RECENT) so that asking for their size again finds them whole (carve.h); and except on
// guarded pages (WITHHELD).
#ifndef ACRE_CARVE_SLICE_H
#define ACRE_CARVE_SLICE_H

#include "base/pair.h"
#include "base/slab.h"

typedef enum acre_slice_state {
    ACRE_SLICE_LIVE = 0,
    ACRE_SLICE_FREE = 1,     // in the bins or open, or in the free index of pages that are not cut
    ACRE_SLICE_RECENT = 2,   // freed lately: on a stack or the recent one (carve.h), not merged
    ACRE_SLICE_WITHHELD = 3, // free, not to be handed out: in no index, not merged
} acre_slice_state;

// What a request asked of its offset beside the manager's alignment: what a move must keep.
typedef enum acre_slice_aligned {
    ACRE_SLICE_ANYWHERE = 0,
    ACRE_SLICE_ALIGNED = 1,     // to a divisor of the storage's page alignment
    ACRE_SLICE_ODD_ALIGNED = 2, // to another number
} acre_slice_aligned;

// A cache line. What only a live and only a free run has shares the same place.
typedef struct acre_slice {
    uint64_t offset; // bytes into the page
    uint64_t size;   // bytes of the run
    uint32_t before; // the run that ends at offset; 0 = none
    uint32_t after;  // the run that begins at offset + size; 0 = none
    uint32_t tags;   // page, alignment and state, through the functions below
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
    union {
        uint32_t tag; // live: the request's
        struct {      // free, of a page that is cut: ring of runs of its class (bins.h)
            uint32_t bin_next, bin_prev;
        };
    };
    uint64_t page_order; // of its page, among those of the pool, as they were added
} acre_slice;

_Static_assert(sizeof(acre_slice) == 64, "a slice record is a cache line");
_Static_assert(offsetof(acre_slice, handle) == offsetof(acre_slice, tags) + 4, "written as one");

// Tags: the page's name in the low 28 bits, then acre_slice_aligned, then the state. Not
// bit-fields: a compiler writes one of two bits as a byte, and reading the page next then waits
// until that byte has reached the cache: a sixth of the samples of a warm replay stood there.
#define ACRE_SLICE_ALIGNED_SHIFT 28
#define ACRE_SLICE_STATE_SHIFT   30
#define ACRE_MAX_PAGES           ((UINT32_C(1) << ACRE_SLICE_ALIGNED_SHIFT) - 1)

static inline uint32_t acre_slice_page(const acre_slice *slice) {
    return slice->tags & ACRE_MAX_PAGES;
}

static inline acre_slice_state acre_slice_state_of(const acre_slice *slice) {
    return (acre_slice_state)(slice->tags >> ACRE_SLICE_STATE_SHIFT);
}

// What the request asked its offset to be aligned to; left over when the slice is not live.
static inline acre_slice_aligned acre_slice_aligned_of(const acre_slice *slice) {
    return (acre_slice_aligned)(slice->tags >> ACRE_SLICE_ALIGNED_SHIFT & 3);
}

static inline void acre_slice_set_page(acre_slice *slice, uint32_t page) {
    slice->tags = (slice->tags & ~ACRE_MAX_PAGES) | page;
}

static inline void acre_slice_set_state(acre_slice *slice, acre_slice_state state) {
    const uint32_t others = (UINT32_C(1) << ACRE_SLICE_STATE_SHIFT) - 1;
    slice->tags = (slice->tags & others) | (uint32_t)state << ACRE_SLICE_STATE_SHIFT;
}

// Makes a run live whose request asked for no alignment, and that has no handle yet.
static inline void acre_slice_set_live(acre_slice *slice) {
    slice->tags = acre_slice_page(slice) | (uint32_t)ACRE_SLICE_LIVE << ACRE_SLICE_STATE_SHIFT;
}

// Makes a run live whose request asked for no alignment, of the allocation that a handle names.
static inline void acre_slice_set_owned(acre_slice *slice, uint32_t handle) {
    acre_store_words((char *)slice + offsetof(acre_slice, tags), acre_slice_page(slice), handle);
}

// Notes what a live run was asked with; nothing is bound to it.
static inline void acre_slice_set_requested(acre_slice *slice, uint64_t requested, uint32_t tag) {
    acre_store_pair(&slice->live, requested, 0);
    slice->tag = tag;
}

static inline void acre_slice_set_aligned(acre_slice *slice, acre_slice_aligned aligned) {
    const uint32_t own = UINT32_C(3) << ACRE_SLICE_ALIGNED_SHIFT;
    slice->tags = (slice->tags & ~own) | (uint32_t)aligned << ACRE_SLICE_ALIGNED_SHIFT;
}

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

static inline acre_slice *acre_slice_at(const acre_slab *slices, uint32_t name) {
    return acre_slab_at(slices, name);
}

#endif
