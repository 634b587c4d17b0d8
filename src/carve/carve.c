#include "carve/carve.h"

void acre_carve_init(acre_carve *carve, acre_host *host, acre_slab *slices, uint64_t unit) {
    carve->slices = slices;
    carve->recent = 0;
    carve->unit = unit;
    acre_free_index_init(&carve->index, host, slices);
}

void acre_carve_destroy(acre_carve *carve) {
    acre_free_index_destroy(&carve->index);
}

uint32_t acre_carve_add_page(acre_carve *carve, uint32_t page, uint64_t size) {
    uint32_t name = acre_slab_take(carve->slices);
    acre_slice *slice = acre_slice_at(carve->slices, name);
    slice->offset = 0;
    slice->size = size;
    slice->before = slice->after = 0;
    acre_slice_set_page(slice, page & ACRE_MAX_PAGES);
    acre_free_index_add(&carve->index, name);
    return name;
}

// Merges the recent run if it lies on the page of `first`. The first record of a page is never
// absorbed, so `first` still names it afterwards.
static void settle_on_page(acre_carve *carve, uint32_t first) {
    if (carve->recent != 0 && acre_slice_page(acre_slice_at(carve->slices, carve->recent)) ==
                                  acre_slice_page(acre_slice_at(carve->slices, first))) {
        acre_carve_settle_recent(carve);
    }
}

void acre_carve_remove_page(acre_carve *carve, uint32_t first) {
    settle_on_page(carve, first);
    acre_free_index_remove(&carve->index, first);
    acre_slab_give(carve->slices, first);
}

// Appends `gone`, the run behind `kept`, to it.
static void absorb(acre_carve *carve, uint32_t kept, uint32_t gone) {
    acre_slice *slice = acre_slice_at(carve->slices, kept);
    const acre_slice *behind = acre_slice_at(carve->slices, gone);
    slice->size += behind->size;
    slice->after = behind->after;
    if (behind->after != 0) {
        acre_slice_at(carve->slices, behind->after)->before = kept;
    }
    acre_slab_give(carve->slices, gone);
}

static inline bool is_free(const acre_carve *carve, uint32_t name) {
    return name != 0 && acre_slice_state_of(acre_slice_at(carve->slices, name)) == ACRE_SLICE_FREE;
}

void acre_carve_settle_recent(acre_carve *carve) {
    uint32_t name = carve->recent;
    const acre_slice *slice = acre_slice_at(carve->slices, name);
    uint32_t before = slice->before;
    uint32_t after = slice->after;
    carve->recent = 0;
    if (is_free(carve, after)) {
        acre_free_index_remove(&carve->index, after);
        absorb(carve, name, after);
    }
    if (is_free(carve, before)) {
        acre_free_index_remove(&carve->index, before);
        absorb(carve, before, name);
        name = before;
    }
    acre_free_index_add(&carve->index, name);
}

// Cuts a run that is in no index at `size`; => the new record behind, which is in none either.
static uint32_t cut(acre_carve *carve, uint32_t name, uint64_t size) {
    uint32_t rest = acre_slab_take(carve->slices);
    acre_slice *slice = acre_slice_at(carve->slices, name);
    acre_slice *behind = acre_slice_at(carve->slices, rest);
    behind->offset = slice->offset + size;
    behind->size = slice->size - size;
    behind->before = name;
    behind->after = slice->after;
    acre_slice_set_page(behind, acre_slice_page(slice));
    if (slice->after != 0) {
        acre_slice_at(carve->slices, slice->after)->before = rest;
    }
    slice->after = rest;
    slice->size = size;
    return rest;
}

// Takes a run out of the index and cuts it to size.
static acre_run take_found(acre_carve *carve, uint32_t name, uint64_t size, uint64_t step) {
    acre_free_index_remove(&carve->index, name);
    acre_slice *slice = acre_slice_at(carve->slices, name);
    if (step != carve->unit && slice->offset % step != 0) { // what is skipped stays free
        uint32_t gap = name;
        name = cut(carve, gap, step - slice->offset % step);
        acre_free_index_add(&carve->index, gap);
        slice = acre_slice_at(carve->slices, name);
    }
    if (slice->size != size) {
        acre_free_index_add(&carve->index, cut(carve, name, size));
    }
    acre_slice_set_live(slice);
    return (acre_run){slice, name};
}

// The recent run as it will be once it has merged.
static acre_slice merged_recent(const acre_carve *carve) {
    acre_slice merged = *acre_slice_at(carve->slices, carve->recent);
    if (is_free(carve, merged.before)) {
        const acre_slice *before = acre_slice_at(carve->slices, merged.before);
        merged.offset = before->offset;
        merged.size += before->size;
    }
    if (is_free(carve, merged.after)) {
        merged.size += acre_slice_at(carve->slices, merged.after)->size;
    }
    return merged;
}

static uint32_t find(const acre_carve *carve, uint64_t size, uint64_t step) {
    return step == carve->unit
               ? acre_free_index_find(&carve->index, size)
               : acre_free_index_find_aligned(&carve->index, size, step, carve->unit);
}

acre_run acre_carve_take(acre_carve *carve, uint64_t size, uint64_t step) {
    if (carve->recent != 0) {
        acre_run recent = acre_carve_take_recent(carve, size, step);
        if (recent.slice != NULL) {
            return recent;
        }
        // A request that nothing holds leaves even this as it was. Mostly two bit scans say that
        // something does.
        bool held =
            (step == carve->unit && acre_free_index_has_larger_class(&carve->index, size)) ||
            find(carve, size, step) != 0;
        if (!held) {
            acre_slice merged = merged_recent(carve);
            if (!acre_slice_holds(&merged, size, step)) {
                return (acre_run){NULL, 0};
            }
        }
        acre_carve_settle_recent(carve);
    }
    uint32_t name = find(carve, size, step);
    return name == 0 ? (acre_run){NULL, 0} : take_found(carve, name, size, step);
}

void acre_carve_withhold_run(acre_carve *carve, uint32_t name) {
    acre_free_index_remove(&carve->index, name);
    acre_slice_set_state(acre_slice_at(carve->slices, name), ACRE_SLICE_WITHHELD);
}

void acre_carve_withhold_page(acre_carve *carve, uint32_t first) {
    settle_on_page(carve, first);
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
            acre_free_index_add(&carve->index, name);
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
    acre_slice_set_page(one, acre_slice_page(two));
    two->offset = kept.offset;
    two->before = kept.before;
    two->after = kept.after;
    acre_slice_set_page(two, acre_slice_page(&kept));
    name_neighbours(slices, a, b);
    name_neighbours(slices, b, a);
}

acre_carve_free acre_carve_get_free(const acre_carve *carve) {
    acre_carve_free result = {carve->index.count, carve->index.bytes,
                              acre_free_index_largest(&carve->index)};
    if (carve->recent != 0) {
        const acre_slice *recent = acre_slice_at(carve->slices, carve->recent);
        result.bytes += recent->size;
        result.runs += 1;
        result.runs -= is_free(carve, recent->before);
        result.runs -= is_free(carve, recent->after);
        result.largest = acre_max(result.largest, merged_recent(carve).size);
    }
    return result;
}
