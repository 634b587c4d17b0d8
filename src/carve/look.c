// Looking at what is carved: what there would be, had all merged, without merging it.
#include "carve/carve.h"

static bool is_live(const acre_slice *slice) {
    return acre_slice_state_of(slice) == ACRE_SLICE_LIVE;
}

static bool is_unmerged(const acre_carve *carve, uint32_t name) {
    return name != 0 &&
           acre_slice_state_of(acre_slice_at(carve->slices, name)) == ACRE_SLICE_RECENT;
}

// One unmerged run after the other: the recent one, then those on stacks. => 0 after the last
typedef struct unmerged_walk {
    uint32_t stack, depth;
    uint32_t met; // of those on stacks
    bool had_recent;
} unmerged_walk;

static uint32_t next_unmerged(const acre_carve *carve, unmerged_walk *walk) {
    if (!walk->had_recent) {
        walk->had_recent = true;
        if (carve->recent != 0) {
            return carve->recent;
        }
    }
    for (; walk->stack < ACRE_STACKS && walk->met < carve->stacked; walk->stack++) {
        if (walk->depth < ACRE_STACK_DEPTH) {
            uint32_t place = carve->stacks->tops[walk->stack] - 1u - walk->depth;
            uint32_t name = carve->stacks->names[walk->stack][place % ACRE_STACK_DEPTH];
            if (name != 0) {
                walk->depth++;
                walk->met++;
                return name;
            }
        }
        walk->depth = 0;
    }
    return 0;
}

// Finds what there would be, had all merged: one run for each row of unmerged and free ones that
// touch, met at its first unmerged one, so that a long row is walked once. => false after the last
static bool next_merged(const acre_carve *carve, unmerged_walk *walk, acre_slice *merged) {
    for (uint32_t name; (name = next_unmerged(carve, walk)) != 0;) {
        const acre_slice *first = acre_slice_at(carve->slices, name);
        if (acre_carve_is_free(carve, first->before)) {
            first = acre_slice_at(carve->slices, first->before);
        }
        if (is_unmerged(carve, first->before)) {
            continue; // the row begins further down
        }
        *merged = *first;
        for (uint32_t at = first->after; at != 0;) {
            const acre_slice *slice = acre_slice_at(carve->slices, at);
            if (is_live(slice)) {
                break;
            }
            merged->size += slice->size;
            at = slice->after;
        }
        return true;
    }
    return false;
}

static uint64_t merged_largest(const acre_carve *carve) {
    uint64_t largest = 0;
    unmerged_walk walk = {.met = 0};
    for (acre_slice merged; next_merged(carve, &walk, &merged);) {
        largest = acre_max(largest, merged.size);
    }
    return largest;
}

// What is known of the largest such run holds until the next release; it may have been taken since,
// so a yes is looked at again.
bool acre_carve_would_hold(acre_carve *carve, uint64_t size, uint64_t step) {
    if (carve->recent == 0 && carve->stacked == 0) {
        return false;
    }
    if (carve->merged_known == 0 || carve->merged_most >= size) {
        carve->merged_most = merged_largest(carve);
        carve->merged_known = 1;
    }
    if (carve->merged_most < size || step == carve->unit) {
        return carve->merged_most >= size;
    }
    unmerged_walk walk = {.met = 0};
    for (acre_slice merged; next_merged(carve, &walk, &merged);) {
        if (acre_slice_holds(&merged, size, step)) {
            return true;
        }
    }
    return false;
}

static uint64_t open_size(const acre_carve *carve) {
    return carve->open.slice == NULL ? 0 : carve->open.slice->size;
}

uint64_t acre_carve_merged_bytes(const acre_carve *carve) {
    return carve->bins.bytes + open_size(carve);
}

bool acre_carve_holds(const acre_carve *carve, uint64_t size) {
    return open_size(carve) >= size ||
           acre_bins_find(&carve->bins, size, acre_bin_class(size)) != 0;
}

acre_carve_free acre_carve_get_free(const acre_carve *carve) {
    if (!carve->cuts) {
        return (acre_carve_free){carve->whole.count, carve->whole.bytes,
                                 acre_free_index_largest(&carve->whole)};
    }
    uint64_t open = open_size(carve);
    acre_carve_free result = {carve->bins.count + (open != 0), acre_carve_merged_bytes(carve),
                              acre_max(acre_bins_largest(&carve->bins), open)};
    unmerged_walk walk = {.met = 0};
    for (uint32_t name; (name = next_unmerged(carve, &walk)) != 0;) {
        const acre_slice *slice = acre_slice_at(carve->slices, name);
        result.bytes += slice->size;
        result.runs += 1;
        result.runs -= acre_carve_is_free(carve, slice->before);
        result.runs -= acre_carve_is_free(carve, slice->after) || is_unmerged(carve, slice->after);
    }
    result.largest = acre_max(result.largest, merged_largest(carve));
    return result;
}

// What is known of the order of the open run and the bins holds.
static bool check_open(const acre_carve *carve) {
    const acre_slice *open = carve->open.slice;
    if (open == NULL) {
        return carve->open.name == ACRE_NO_OPEN && carve->open_least == UINT64_MAX;
    }
    bool known = carve->open_least <= open->size && open->size < carve->open_most;
    return acre_slice_at(carve->slices, carve->open.name) == open &&
           acre_slice_state_of(open) == ACRE_SLICE_FREE &&
           (carve->open_least == UINT64_MAX || open->before != 0) &&
           (!known || acre_bins_occupied(&carve->bins, acre_bin_class(carve->open_least)) >
                          acre_bin_class(open->size));
}

bool acre_carve_check(const acre_carve *carve, uint64_t runs, uint64_t bytes, uint64_t unmerged) {
    uint64_t met = 0;
    unmerged_walk walk = {.met = 0};
    for (uint32_t name; (name = next_unmerged(carve, &walk)) != 0; met++) {
        if (!is_unmerged(carve, name)) {
            return false;
        }
    }
    uint64_t open = open_size(carve);
    return check_open(carve) && met == unmerged && met == carve->stacked + (carve->recent != 0) &&
           acre_bins_check(&carve->bins) && acre_free_index_check(&carve->whole) &&
           carve->bins.count + (open != 0) + carve->whole.count == runs &&
           acre_carve_merged_bytes(carve) + carve->whole.bytes == bytes &&
           (carve->cuts ? carve->whole.count : carve->bins.count + open) == 0;
}
