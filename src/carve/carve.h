// Carve: hands out offsets of [0, n) of any number of pages, and takes them back. It knows no
// device: a page is a number and a size.
//
// A run given back stays whole for a while, so that asking for the same size at once returns the
// same place: programs free a buffer and ask for its successor all the time, and a fit elsewhere
// would let their memory creep. Of each size up to 64 units the last few freed stay (`stacks`), of
// all larger ones the last (`recent`). Small runs mostly go and come without any search, merging or
// cutting; large ones would be missed where they lie. A run that makes room for another there
// merges with its free neighbours; and all do before a request is refused that they could serve.
// Otherwise room is taken by size class (bins.h) and cut at its front. The run cut last is open: it
// is in no bin, so that the next cut from it and what merges with it, as in the order of a stack,
// move a border and nothing else; it is found as if it were in its bin. Pages that are not cut are
// kept by exact size instead (free_index.h).
//
//   take, one of the size was freed   1 record
//   take from the open run            1 record, and the one that it makes
//   take otherwise                    the foremost runs of a class, one cut
//   give                              1 record; when it makes another merge, that one's 2
//                                     neighbours and those beside them in their bins
#ifndef ACRE_CARVE_CARVE_H
#define ACRE_CARVE_CARVE_H

#include "carve/bins.h"

// Records that one take may need: the run, a gap before it and a rest behind it.
#define ACRE_CARVE_RECORDS 3u

#define ACRE_NO_OPEN UINT32_MAX // not 0, which names what lies behind the last run of a page

#define ACRE_STACKS      64u // sizes of 1 to 64 units
#define ACRE_STACK_DEPTH 32u // a power of two

// Of each such size the runs freed last that have not merged, in a ring: what comes
// ACRE_STACK_DEPTH places after a run takes its place. Those that are taken go latest first, so
// what is left lies right below the top.
typedef struct acre_carve_stacks {
    uint8_t tops[ACRE_STACKS]; // where the next one goes; all of them are a line
    uint32_t names[ACRE_STACKS][ACRE_STACK_DEPTH]; // 0 = none
} acre_carve_stacks;

typedef struct acre_carve {
    acre_slab *slices;
    uint64_t unit; // all offsets and sizes are multiples of it
    acre_carve_stacks *stacks;
    uint32_t unit_shift;   // of the power of two at or below the unit
    uint32_t stacked;      // runs on stacks
    uint32_t recent;       // the run freed last; 0 = none
    uint32_t merged_known; // 0 = merged_most may be too little: something was freed since
    acre_run open;         // the run cut last, or what it is part of; no slice, ACRE_NO_OPEN = none
    // Requests of at least open_least bytes prefer the open run to whatever is in the bins, while
    // it has less than open_most, and it is not the first of its page. UINT64_MAX = not known.
    uint64_t open_least, open_most;
    bool cuts;            // pages are cut, and free runs in `bins`; else they are in `whole`
    uint64_t merged_most; // no run would be larger, had all merged
    uint64_t pages_added;
    acre_bins bins;
    acre_free_index whole;
} acre_carve;

_Static_assert(offsetof(acre_carve, merged_known) == offsetof(acre_carve, recent) + 4,
               "written as one");

void acre_carve_init(acre_carve *carve, acre_host *host, acre_slab *slices, uint64_t unit,
                     bool cuts);
void acre_carve_destroy(acre_carve *carve);

// Makes what a page of `largest` bytes and runs of at least `smallest` need. => false: no host
// memory; what was made stays.
bool acre_carve_prepare(acre_carve *carve, uint64_t smallest, uint64_t largest);

// Adds a page of `size` bytes, all free, and => the run that covers it: the page's first, until a
// run taken has nothing before it. It and one slice record were prepared.
uint32_t acre_carve_add_page(acre_carve *carve, uint32_t page, uint64_t size);

// Takes a page away again; all of it is free. `first` is its first run.
void acre_carve_remove_page(acre_carve *carve, uint32_t first);

// Merges whatever has not merged.
void acre_carve_settle(acre_carve *carve);

// The same but for the run freed last.
void acre_carve_settle_stacks(acre_carve *carve);

// The rest of acre_carve_give: `name` was freed earlier, and its stack did not take it.
void acre_carve_retire(acre_carve *carve, uint32_t name);

// The rest of acre_carve_take, when nothing of the size was freed lately.
acre_run acre_carve_search(acre_carve *carve, uint64_t size, uint64_t step);

// Whether merging what has not merged would make a run of `size` bytes at a multiple of `step`.
bool acre_carve_would_hold(acre_carve *carve, uint64_t size, uint64_t step);

// Whether there is a run of that name, and it has merged.
static inline bool acre_carve_is_free(const acre_carve *carve, uint32_t name) {
    return name != 0 && acre_slice_state_of(acre_slice_at(carve->slices, name)) == ACRE_SLICE_FREE;
}

// Whether an offset is at a multiple of `step`.
static inline bool acre_carve_suits(const acre_carve *carve, uint64_t offset, uint64_t step) {
    return acre_likely(step == carve->unit) || offset % step == 0;
}

// => the place of a size's stack, which no other size has; ACRE_STACKS and more: it has none
static inline uint64_t acre_carve_place(const acre_carve *carve, uint64_t size) {
    return (size >> carve->unit_shift) - 1;
}

// A new record for `size` bytes at the front of a larger run, linked in before it; where the run
// is kept is left to the caller.
static inline acre_run acre_carve_cut_front(acre_carve *carve, uint32_t name, acre_slice *slice,
                                            uint64_t size) {
    uint32_t front_name = acre_slab_take(carve->slices);
    acre_slice *front = acre_slice_at(carve->slices, front_name);
    uint32_t before = slice->before;
    front->offset = slice->offset;
    front->size = size;
    front->before = before;
    front->after = name;
    front->tags = acre_slice_page(slice); // live
    front->page_order = slice->page_order;
    if (before != 0) {
        acre_slice_at(carve->slices, before)->after = front_name;
    }
    slice->before = front_name;
    slice->offset += size;
    slice->size -= size;
    return (acre_run){front, front_name};
}

static inline bool acre_carve_has_stack(const acre_carve *carve, const acre_slice *slice) {
    return acre_carve_place(carve, slice->size) < ACRE_STACKS;
}

// => what acre_carve_search gives, when that is known to be the front of the open run, nothing
// merges for it and there is a slice record used before; else none, and nothing changed.
static inline __attribute__((always_inline)) acre_run acre_carve_take_open(acre_carve *carve,
                                                                           uint64_t size) {
    acre_slice *slice = carve->open.slice;
    if (size >= carve->open_least && size < slice->size && slice->size < carve->open_most &&
        carve->slices->free_head != 0 &&
        (carve->recent == 0 ||
         acre_carve_has_stack(carve, acre_slice_at(carve->slices, carve->recent)))) {
        return acre_carve_cut_front(carve, carve->open.name, slice, size);
    }
    return (acre_run){NULL, 0};
}

// => what acre_carve_take gives, but for its state, when that was freed lately; else none, and
// nothing changed. The caller makes it live.
static inline __attribute__((always_inline)) acre_run
acre_carve_take_freed(acre_carve *carve, uint64_t size, uint64_t step) {
    uint32_t name = carve->recent;
    if (name != 0) {
        acre_slice *slice = acre_slice_at(carve->slices, name);
        if (slice->size == size && acre_carve_suits(carve, slice->offset, step)) {
            carve->recent = 0;
            return (acre_run){slice, name};
        }
    }
    uint64_t place = acre_carve_place(carve, size);
    if (acre_likely(place < ACRE_STACKS)) {
        uint32_t *names = carve->stacks->names[place];
        uint32_t top = (carve->stacks->tops[place] - 1u) % ACRE_STACK_DEPTH;
        name = names[top];
        if (name != 0) {
            acre_slice *slice = acre_slice_at(carve->slices, name);
            if (acre_carve_suits(carve, slice->offset, step)) {
                names[top] = 0;
                carve->stacks->tops[place] = (uint8_t)top;
                carve->stacked--;
                return (acre_run){slice, name};
            }
        }
    }
    return (acre_run){NULL, 0};
}

// => a live run of exactly `size` bytes at a multiple of `step`, a multiple of the unit; none when
// no run holds it. ACRE_CARVE_RECORDS slice records were prepared.
static inline acre_run acre_carve_take(acre_carve *carve, uint64_t size, uint64_t step) {
    acre_run freed = acre_carve_take_freed(carve, size, step);
    if (freed.slice == NULL) {
        return acre_carve_search(carve, size, step);
    }
    acre_slice_set_live(freed.slice);
    return freed;
}

// Merges a run right before the open one with it. => false: it is the first of its page, whose
// record stays, or has another free neighbour; nothing changed
static inline bool acre_carve_join_open(acre_carve *carve, acre_run run) {
    uint32_t before = run.slice->before;
    acre_slice *neighbour = acre_slice_at(carve->slices, before); // record 0 may be read
    if (before == 0 || acre_slice_state_of(neighbour) == ACRE_SLICE_FREE) {
        return false;
    }
    acre_slice *open = carve->open.slice;
    open->offset = run.slice->offset;
    open->size += run.slice->size;
    open->before = before;
    neighbour->after = carve->open.name;
    acre_slab_give_record(carve->slices, run.name, run.slice);
    return true;
}

// Gives a live run back. => a run that acre_carve_retire is to be told of, before anything else is
// asked of the carve; 0 = none
static inline __attribute__((always_inline)) uint32_t acre_carve_give(acre_carve *carve,
                                                                      acre_run run) {
    uint32_t before = carve->recent;
    acre_slice_set_state(run.slice, ACRE_SLICE_RECENT);
    acre_store_words((char *)carve + offsetof(acre_carve, recent), run.name, 0); // and merged_known
    if (before == 0) {
        return 0;
    }
    acre_slice *slice = acre_slice_at(carve->slices, before);
    if (slice->after == carve->open.name) {
        return acre_carve_join_open(carve, (acre_run){slice, before}) ? 0 : before;
    }
    uint64_t place = acre_carve_place(carve, slice->size);
    if (acre_likely(place < ACRE_STACKS)) {
        uint32_t *names = carve->stacks->names[place];
        uint32_t top = carve->stacks->tops[place];
        if (names[top] == 0) {
            names[top] = before;
            carve->stacks->tops[place] = (top + 1) % ACRE_STACK_DEPTH;
            carve->stacked++;
            return 0;
        }
    }
    return before;
}

// Takes out the free runs of a page, so that no room of it is found. Live runs of it
// are given back with acre_carve_withhold from then on.
void acre_carve_withhold_page(acre_carve *carve, uint32_t first);

static inline void acre_carve_withhold(acre_run run) {
    acre_slice_set_state(run.slice, ACRE_SLICE_WITHHELD);
}

// Merges what was withheld of a page and makes it to be found again.
void acre_carve_restore_page(acre_carve *carve, uint32_t first);

// Takes out one free run; acre_carve_restore_page brings it back.
void acre_carve_withhold_run(acre_carve *carve, uint32_t name);

// Two live runs of equal size change places: each record stands for the other's bytes from here
// on, so that whoever names a record follows its allocation. They may touch, and be of different
// pages; the page whose first run one was must be told.
void acre_carve_exchange(acre_slab *slices, uint32_t a, uint32_t b);

// What is free, counted as if all had merged.
typedef struct acre_carve_free {
    uint64_t runs;
    uint64_t bytes;
    uint64_t largest; // bytes
} acre_carve_free;

acre_carve_free acre_carve_get_free(const acre_carve *carve);

// Bytes of all runs that have merged; pages are cut.
uint64_t acre_carve_merged_bytes(const acre_carve *carve);

// Whether some run that has merged has `size` bytes; pages are cut.
bool acre_carve_holds(const acre_carve *carve, uint64_t size);

// => whether what is kept is sound: `runs` of `bytes` together, and `unmerged` ones.
bool acre_carve_check(const acre_carve *carve, uint64_t runs, uint64_t bytes, uint64_t unmerged);

#endif
