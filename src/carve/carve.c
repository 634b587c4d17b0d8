#include "carve/carve.h"

#include <string.h>

// The stacks of a pool without pages: empty, and never written to.
static const acre_carve_stacks no_stacks;

void acre_carve_init(acre_carve *carve, acre_host *host, acre_slab *slices, uint64_t unit,
                     bool cuts) {
    memset(carve, 0, sizeof *carve);
    carve->slices = slices;
    carve->unit = unit;
    carve->cuts = cuts;
    carve->open.name = ACRE_NO_OPEN;
    carve->open_least = UINT64_MAX;
    acre_bins_init(&carve->bins, host, slices, unit);
    carve->stacks = (acre_carve_stacks *)(uintptr_t)&no_stacks;
    carve->unit_shift = acre_log2(unit);
    acre_free_index_init(&carve->whole, host, slices);
}

void acre_carve_destroy(acre_carve *carve) {
    if (carve->stacks != &no_stacks) {
        acre_host_free(carve->bins.host, carve->stacks, sizeof no_stacks, 64);
    }
    acre_bins_destroy(&carve->bins);
    acre_free_index_destroy(&carve->whole);
}

bool acre_carve_prepare(acre_carve *carve, uint64_t smallest, uint64_t largest) {
    if (!carve->cuts) {
        return acre_free_index_prepare(&carve->whole, smallest, largest);
    }
    if (carve->stacks == &no_stacks) {
        acre_carve_stacks *made = acre_host_alloc_zeroed(carve->bins.host, sizeof no_stacks, 64);
        if (made == NULL) {
            return false;
        }
        carve->stacks = made;
    }
    return acre_bins_prepare(&carve->bins, smallest, largest);
}

// ---- where free runs are kept --------------------------------------------------------------

// What comes into the bins may be preferred to the open run.
static inline void add_to_bins(acre_carve *carve, acre_slice *slice, uint32_t name) {
    carve->open_least = UINT64_MAX;
    acre_bins_add(&carve->bins, slice, name);
}

static void put(acre_carve *carve, uint32_t name) {
    if (carve->cuts) {
        add_to_bins(carve, acre_slice_at(carve->slices, name), name);
    } else {
        acre_free_index_add(&carve->whole, name);
    }
}

static inline void set_open(acre_carve *carve, acre_slice *slice, uint32_t name) {
    carve->open = (acre_run){slice, name};
    carve->open_least = UINT64_MAX;
}

static void pull(acre_carve *carve, uint32_t name) {
    if (carve->open.name == name) {
        set_open(carve, NULL, ACRE_NO_OPEN);
    } else if (carve->cuts) {
        acre_bins_remove(&carve->bins, acre_slice_at(carve->slices, name), name);
    } else {
        acre_free_index_remove(&carve->whole, name);
    }
}

// A free run of the bins becomes the open one, and that one joins them.
static void make_open(acre_carve *carve, acre_slice *slice, uint32_t name) {
    acre_bins_remove(&carve->bins, slice, name);
    if (carve->open.slice != NULL) {
        acre_bins_add(&carve->bins, carve->open.slice, carve->open.name);
    }
    set_open(carve, slice, name);
}

// The open run was cut again: from which size on it is preferred to what is in the bins.
static void learn_order(acre_carve *carve) {
    uint32_t own = acre_bin_class(carve->open.slice->size);
    carve->open_least = acre_bin_least(acre_bins_occupied_below(&carve->bins, own + 1));
    carve->open_most = acre_bin_least(acre_bins_occupied(&carve->bins, own + 1));
}

// A free run grew to `size` where it is.
static inline void grow(acre_carve *carve, acre_slice *slice, uint32_t name, uint64_t size) {
    if (carve->open.name == name) {
        slice->size = size;
    } else {
        carve->open_least = UINT64_MAX;
        acre_bins_resize(&carve->bins, slice, name, size);
    }
}

// ---- merging -------------------------------------------------------------------------------

// The run behind a run's new end names it.
static inline void name_behind(acre_carve *carve, uint32_t behind, uint32_t name) {
    if (behind != 0) {
        acre_slice_at(carve->slices, behind)->before = name;
    }
}

// Appends `gone`, the run behind `kept`, to it; neither is in a bin.
static void absorb(acre_carve *carve, uint32_t kept, uint32_t gone) {
    acre_slice *slice = acre_slice_at(carve->slices, kept);
    const acre_slice *behind = acre_slice_at(carve->slices, gone);
    slice->size += behind->size;
    slice->after = behind->after;
    name_behind(carve, behind->after, kept);
    acre_slab_give(carve->slices, gone);
}

// Appends the free run behind to a run that is kept nowhere.
static void absorb_free(acre_carve *carve, uint32_t name, uint32_t after) {
    if (carve->open.name == after) {
        set_open(carve, acre_slice_at(carve->slices, name), name);
    } else {
        acre_bins_remove(&carve->bins, acre_slice_at(carve->slices, after), after);
    }
    absorb(carve, name, after);
}

// Keeps a merged run: in the bins, unless it is part of what is open.
static inline void keep(acre_carve *carve, acre_slice *slice, uint32_t name) {
    if (carve->open.name == name) {
        acre_slice_set_state(slice, ACRE_SLICE_FREE);
    } else {
        add_to_bins(carve, slice, name);
    }
}

// Merges a run that is on no stack any more, nor the recent one. A free neighbour grows where it
// is, so that a large one's bin mostly stays as it is. The first record of a page is never
// absorbed: whoever has a page knows it.
static void merge(acre_carve *carve, uint32_t name) {
    acre_slice *slice = acre_slice_at(carve->slices, name);
    uint32_t before = slice->before;
    uint32_t after = slice->after;
    if (acre_carve_is_free(carve, before)) {
        acre_slice *kept = acre_slice_at(carve->slices, before);
        if (acre_carve_is_free(carve, after)) {
            absorb_free(carve, name, after);
            if (carve->open.name == name) {
                acre_bins_remove(&carve->bins, kept, before);
                set_open(carve, kept, before);
            }
        }
        kept->after = slice->after;
        name_behind(carve, slice->after, before);
        grow(carve, kept, before, kept->size + slice->size);
        acre_slab_give(carve->slices, name);
    } else if (!acre_carve_is_free(carve, after)) {
        add_to_bins(carve, slice, name);
    } else if (before != 0) {
        acre_slice *kept = acre_slice_at(carve->slices, after);
        kept->offset = slice->offset;
        kept->before = before;
        acre_slice_at(carve->slices, before)->after = after;
        grow(carve, kept, after, kept->size + slice->size);
        acre_slab_give(carve->slices, name);
    } else {
        absorb_free(carve, name, after);
        keep(carve, slice, name);
    }
}

// What lies before the open run merges with it, so that room taken and given back in the order
// of a stack is one piece again; another one's size is probably wanted again.
void acre_carve_retire(acre_carve *carve, uint32_t name) {
    const acre_slice *slice = acre_slice_at(carve->slices, name);
    uint64_t place = acre_carve_place(carve, slice->size);
    if (place < ACRE_STACKS && slice->after != carve->open.name) { // the stack is full
        uint8_t *top = &carve->stacks->tops[place];
        uint32_t oldest = carve->stacks->names[place][*top];
        carve->stacks->names[place][*top] = name;
        *top = (*top + 1) % ACRE_STACK_DEPTH;
        name = oldest;
    }
    merge(carve, name);
}

static void settle_recent(acre_carve *carve) {
    uint32_t name = carve->recent;
    carve->recent = 0;
    merge(carve, name);
}

void acre_carve_settle_stacks(acre_carve *carve) {
    for (uint32_t i = 0; carve->stacked > 0; i++) {
        uint32_t *names = carve->stacks->names[i];
        uint8_t *top = &carve->stacks->tops[i];
        for (uint32_t last; names[last = (*top - 1u) % ACRE_STACK_DEPTH] != 0;) {
            uint32_t merged = names[last];
            names[last] = 0;
            *top = (uint8_t)last;
            carve->stacked--;
            merge(carve, merged);
        }
    }
}

void acre_carve_settle(acre_carve *carve) {
    if (carve->recent != 0) {
        settle_recent(carve);
    }
    acre_carve_settle_stacks(carve);
}

// Merges what lies on the page of `first`; runs on stacks wherever they are.
static void settle_page(acre_carve *carve, uint32_t first) {
    if (carve->recent != 0 && acre_slice_page(acre_slice_at(carve->slices, carve->recent)) ==
                                  acre_slice_page(acre_slice_at(carve->slices, first))) {
        settle_recent(carve);
    }
    acre_carve_settle_stacks(carve);
}

// ---- pages ---------------------------------------------------------------------------------

uint32_t acre_carve_add_page(acre_carve *carve, uint32_t page, uint64_t size) {
    uint32_t name = acre_slab_take(carve->slices);
    acre_slice *slice = acre_slice_at(carve->slices, name);
    slice->offset = 0;
    slice->size = size;
    slice->before = slice->after = 0;
    slice->page_order = carve->pages_added++;
    acre_slice_set_page(slice, page & ACRE_MAX_PAGES);
    put(carve, name);
    return name;
}

void acre_carve_remove_page(acre_carve *carve, uint32_t first) {
    settle_page(carve, first);
    pull(carve, first);
    acre_slab_give(carve->slices, first);
}

// ---- taking --------------------------------------------------------------------------------

// Takes `size` bytes from the front of a free run.
static inline acre_run take_front(acre_carve *carve, uint32_t name, uint64_t size) {
    acre_slice *slice = acre_slice_at(carve->slices, name);
    if (slice->size != size) {
        bool again = carve->open.name == name;
        if (!again) {
            make_open(carve, slice, name);
        }
        acre_run front = acre_carve_cut_front(carve, name, slice, size);
        if (again && carve->open_least == UINT64_MAX) {
            learn_order(carve);
        }
        return front;
    }
    pull(carve, name);
    acre_slice_set_live(slice);
    return (acre_run){slice, name};
}

// Takes `size` bytes at a multiple of `step` from a free run that has them: what is skipped stays
// free, as a run of its own.
static acre_run take_aligned(acre_carve *carve, uint32_t name, uint64_t size, uint64_t step) {
    acre_slice *slice = acre_slice_at(carve->slices, name);
    uint64_t rest = slice->offset % step;
    if (rest != 0) {
        if (carve->open.name != name) {
            make_open(carve, slice, name);
        }
        acre_run skipped = acre_carve_cut_front(carve, name, slice, step - rest);
        add_to_bins(carve, skipped.slice, skipped.name);
    }
    return take_front(carve, name, size);
}

// Whether the open run comes before one of the bins, as they would have it.
static bool precedes(const acre_slice *open, const acre_slice *binned) {
    uint32_t own = acre_bin_class(open->size);
    uint32_t other = acre_bin_class(binned->size);
    return own < other || (own == other && acre_bin_before(open, binned));
}

// => a run with `size` bytes at a multiple of `step`; 0 = there is none
static inline __attribute__((always_inline)) uint32_t find(const acre_carve *carve, uint64_t size,
                                                           uint64_t step) {
    uint32_t name = acre_likely(step == carve->unit)
                        ? acre_bins_find(&carve->bins, size, acre_bin_class(size))
                        : acre_bins_find_aligned(&carve->bins, size, step, carve->unit);
    const acre_slice *open = carve->open.slice;
    if (open != NULL) {
        bool holds = acre_likely(step == carve->unit) ? open->size >= size
                                                      : acre_slice_holds(open, size, step);
        if (holds && (name == 0 || precedes(open, acre_slice_at(carve->slices, name)))) {
            return carve->open.name;
        }
    }
    return name;
}

// The same once something has merged, which is rare.
static __attribute__((noinline)) uint32_t find_again(const acre_carve *carve, uint64_t size,
                                                     uint64_t step) {
    return find(carve, size, step);
}

acre_run acre_carve_search(acre_carve *carve, uint64_t size, uint64_t step) {
    uint32_t name = find(carve, size, step);
    if (name != 0 && carve->recent != 0 &&
        !acre_carve_has_stack(carve, acre_slice_at(carve->slices, carve->recent))) {
        settle_recent(carve); // a large run: with its neighbours it may be what fits
        name = find_again(carve, size, step);
    }
    if (acre_unlikely(name == 0)) {
        // A request that nothing holds leaves even what has not merged as it was.
        if (!acre_carve_would_hold(carve, size, step)) {
            return (acre_run){NULL, 0};
        }
        acre_carve_settle(carve);
        name = find_again(carve, size, step);
    }
    return acre_likely(step == carve->unit) ? take_front(carve, name, size)
                                            : take_aligned(carve, name, size, step);
}

// ---- withholding ---------------------------------------------------------------------------

void acre_carve_withhold_run(acre_carve *carve, uint32_t name) {
    pull(carve, name);
    acre_slice_set_state(acre_slice_at(carve->slices, name), ACRE_SLICE_WITHHELD);
}

void acre_carve_withhold_page(acre_carve *carve, uint32_t first) {
    settle_page(carve, first);
    for (uint32_t name = first; name != 0;) {
        acre_slice *slice = acre_slice_at(carve->slices, name);
        if (acre_slice_state_of(slice) == ACRE_SLICE_FREE) {
            acre_carve_withhold_run(carve, name);
        }
        name = slice->after;
    }
}

void acre_carve_restore_page(acre_carve *carve, uint32_t first) {
    for (uint32_t name = first; name != 0;) {
        acre_slice *slice = acre_slice_at(carve->slices, name);
        if (acre_slice_state_of(slice) == ACRE_SLICE_WITHHELD) {
            while (slice->after != 0 && acre_slice_state_of(acre_slice_at(
                                            carve->slices, slice->after)) == ACRE_SLICE_WITHHELD) {
                absorb(carve, name, slice->after);
            }
            put(carve, name);
        }
        name = slice->after;
    }
}

// A record that took a neighbour's place names itself where it named that neighbour.
static void name_neighbours(acre_slab *slices, uint32_t name, uint32_t other) {
    acre_slice *slice = acre_slice_at(slices, name);
    slice->before = slice->before == name ? other : slice->before;
    slice->after = slice->after == name ? other : slice->after;
    if (slice->before != 0) {
        acre_slice_at(slices, slice->before)->after = name;
    }
    if (slice->after != 0) {
        acre_slice_at(slices, slice->after)->before = name;
    }
}

void acre_carve_exchange(acre_slab *slices, uint32_t a, uint32_t b) {
    acre_slice *one = acre_slice_at(slices, a);
    acre_slice *two = acre_slice_at(slices, b);
    acre_slice kept = *one;
    one->offset = two->offset;
    one->before = two->before;
    one->after = two->after;
    one->page_order = two->page_order;
    acre_slice_set_page(one, acre_slice_page(two));
    two->offset = kept.offset;
    two->before = kept.before;
    two->after = kept.after;
    two->page_order = kept.page_order;
    acre_slice_set_page(two, acre_slice_page(&kept));
    name_neighbours(slices, a, b);
    name_neighbours(slices, b, a);
}
