// Carve: hands out offsets of [0, n) of any number of pages, and takes them back. It knows no
// device: a page is a number and a size.
//
// A run given back stays whole until the next one is given back or another size is taken
// (`recent`), so that asking for the same size at once returns the same place: programs free a
// buffer and ask for its successor all the time, and a best fit elsewhere would let their memory
// creep. Then it merges with its free neighbours. After that: the smallest run that fits, cut at
// its front.
//
//   take, recent fits exactly      2 records touched
//   take otherwise                 the trie of one class, one cut
//   give                           1 record
//   settle                         2 neighbours, up to 2 index removals, 1 insertion
#ifndef ACRE_CARVE_CARVE_H
#define ACRE_CARVE_CARVE_H

#include "carve/free_index.h"

// Records that one take may need: the run, a gap before it and a rest behind it.
#define ACRE_CARVE_RECORDS 3u

typedef struct acre_carve {
    acre_slab *slices;
    acre_free_index index;
    uint32_t recent; // freed last, not merged yet; 0 = none
    uint64_t unit;   // all offsets and sizes are multiples of it
} acre_carve;

void acre_carve_init(acre_carve *carve, acre_host *host, acre_slab *slices, uint64_t unit);
void acre_carve_destroy(acre_carve *carve);

// Adds a page of `size` bytes, all free, and => the run that covers it. That record stays the
// page's first for as long as the page is here. The rows of the index for sizes from `unit` to
// `size` and one slice record were prepared.
uint32_t acre_carve_add_page(acre_carve *carve, uint32_t page, uint64_t size);

// Takes a page away again; all of it is free. `first` is what acre_carve_add_page returned.
void acre_carve_remove_page(acre_carve *carve, uint32_t first);

// Merges the recent run with its neighbours and enters it into the index.
void acre_carve_settle_recent(acre_carve *carve);

// The same as acre_carve_take, if the run freed last is what it would give; else none, and nothing
// changed. The size at once again is the most frequent request, so this much is inline.
static inline acre_run acre_carve_take_recent(acre_carve *carve, uint64_t size, uint64_t step) {
    uint32_t name = carve->recent;
    if (name != 0) {
        acre_slice *slice = acre_slice_at(carve->slices, name);
        if (acre_likely(slice->size == size) &&
            (acre_likely(step == carve->unit) || slice->offset % step == 0)) {
            carve->recent = 0;
            acre_slice_set_live(slice);
            return (acre_run){slice, name};
        }
    }
    return (acre_run){NULL, 0};
}

// => a live run of exactly `size` bytes at a multiple of `step`, a multiple of the unit; none when
// no run holds it. ACRE_CARVE_RECORDS slice records were prepared.
acre_run acre_carve_take(acre_carve *carve, uint64_t size, uint64_t step);

// Gives a live run back.
static inline void acre_carve_give(acre_carve *carve, acre_run run) {
    if (carve->recent != 0) {
        acre_carve_settle_recent(carve);
    }
    acre_slice_set_state(run.slice, ACRE_SLICE_RECENT);
    carve->recent = run.name;
}

// Takes the free runs of a page out of the index, so that no room of it is found. Live runs of it
// are given back with acre_carve_withhold from then on.
void acre_carve_withhold_page(acre_carve *carve, uint32_t first);

static inline void acre_carve_withhold(acre_run run) {
    acre_slice_set_state(run.slice, ACRE_SLICE_WITHHELD);
}

// Merges what was withheld of a page and enters it into the index again.
void acre_carve_restore_page(acre_carve *carve, uint32_t first);

// Takes one free run out of the index; acre_carve_restore_page brings it back.
void acre_carve_withhold_run(acre_carve *carve, uint32_t name);

// Two live runs of equal size change places: each record stands for the other's bytes from here
// on, so that whoever names a record follows its allocation. They may touch, and be of different
// pages; the page whose first run one was must be told.
void acre_carve_exchange(acre_slab *slices, uint32_t a, uint32_t b);

// What is free, the recent run counted as if it had merged.
typedef struct acre_carve_free {
    uint64_t runs;
    uint64_t bytes;
    uint64_t largest; // bytes
} acre_carve_free;

acre_carve_free acre_carve_get_free(const acre_carve *carve);

#endif
