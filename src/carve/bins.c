#include "carve/bins.h"

#include <string.h>

void acre_bins_init(acre_bins *bins, acre_host *host, acre_slab *slices, uint64_t unit) {
    memset(bins, 0, sizeof *bins);
    bins->slices = slices;
    bins->host = host;
    bins->mixed = 16 * (acre_log2(unit) + 5); // below, a class is narrower than two units
    acre_free_index_init(&bins->exact, host, slices);
}

void acre_bins_destroy(acre_bins *bins) {
    acre_host_free(bins->host, bins->classes, ACRE_BIN_CLASSES * sizeof *bins->classes, 64);
    bins->classes = NULL;
    acre_free_index_destroy(&bins->exact);
}

bool acre_bins_prepare(acre_bins *bins, uint64_t smallest, uint64_t largest) {
    if (bins->classes == NULL) {
        bins->classes =
            acre_host_alloc_zeroed(bins->host, ACRE_BIN_CLASSES * sizeof *bins->classes, 64);
        if (bins->classes == NULL) {
            return false;
        }
    }
    uint64_t mixed = UINT64_C(1) << acre_min(bins->mixed / 16, 63);
    return largest < mixed ||
           acre_free_index_prepare(&bins->exact, acre_max(smallest, mixed), largest);
}

static acre_slice *slice_at(const acre_bins *bins, uint32_t name) {
    return acre_slice_at(bins->slices, name);
}

// ---- crowded classes -----------------------------------------------------------------------

void acre_bins_crowd(acre_bins *bins, uint32_t size_class, uint32_t name) {
    if (acre_bins_is_crowded(bins, size_class)) {
        acre_free_index_add(&bins->exact, name);
        return;
    }
    if (bins->classes[size_class].count <= ACRE_BIN_CROWD) {
        return;
    }
    bins->crowded[size_class / 64] |= UINT64_C(1) << size_class % 64;
    uint32_t at = name;
    do {
        acre_free_index_add(&bins->exact, at);
        at = slice_at(bins, at)->bin_next;
    } while (at != name);
}

void acre_bins_uncrowd(acre_bins *bins, uint32_t size_class, uint32_t name) {
    acre_free_index_remove(&bins->exact, name);
    const acre_bin *bin = &bins->classes[size_class];
    if (bin->count - 1 > ACRE_BIN_CROWD / 2) { // a class at the border does not go to and fro
        return;
    }
    bins->crowded[size_class / 64] &= ~(UINT64_C(1) << size_class % 64);
    uint32_t at = bin->head;
    do {
        acre_free_index_remove(&bins->exact, at);
        at = slice_at(bins, at)->bin_next;
    } while (at != bin->head);
}

// ---- looking -------------------------------------------------------------------------------

// => the first run of a ring that holds `size` bytes at a multiple of `step`; 0 = none.
static uint32_t look_through(const acre_bins *bins, uint32_t head, uint64_t size, uint64_t step) {
    uint32_t at = head;
    do {
        const acre_slice *slice = slice_at(bins, at);
        if (acre_slice_holds(slice, size, step)) {
            return at;
        }
        at = slice->bin_next;
    } while (at != head);
    return 0;
}

uint32_t acre_bins_find_in_class(const acre_bins *bins, uint64_t size, uint32_t size_class) {
    const acre_bin *bin = &bins->classes[size_class];
    uint32_t first = 0;
    uint32_t looks = bin->count;
    if (acre_bins_is_crowded(bins, size_class)) {
        uint32_t exact = acre_free_index_find_exact(&bins->exact, size);
        if (exact != 0) {
            return exact;
        }
        looks = ACRE_BIN_LOOKS;
    }
    for (uint32_t at = bin->head; looks > 0; looks--) {
        const acre_slice *slice = slice_at(bins, at);
        if (slice->size == size) {
            return at;
        }
        if (first == 0 && slice->size > size) {
            first = at;
        }
        at = slice->bin_next;
    }
    return first;
}

uint32_t acre_bins_find_exactly(const acre_bins *bins, uint64_t size) {
    uint32_t size_class = acre_bin_class(size);
    return acre_bins_is_crowded(bins, size_class) // larger classes are empty: it finds one of this
               ? acre_free_index_find(&bins->exact, size)
               : acre_bins_find_in_class(bins, size, size_class);
}

uint32_t acre_bins_find_aligned(const acre_bins *bins, uint64_t size, uint64_t step,
                                uint64_t unit) {
    uint32_t found = acre_bins_find(bins, size, acre_bin_class(size));
    if (found == 0 || acre_slice_holds(slice_at(bins, found), size, step)) {
        return found;
    }
    uint64_t sure = acre_add_saturating(size, step - unit);
    found = acre_bins_find(bins, sure, acre_bin_class(sure));
    if (found != 0) {
        return found;
    }
    for (uint32_t size_class = acre_bins_occupied(bins, acre_bin_class(size));
         size_class < ACRE_BIN_CLASSES; size_class = acre_bins_occupied(bins, size_class + 1)) {
        found = look_through(bins, bins->classes[size_class].head, size, step);
        if (found != 0) {
            return found;
        }
    }
    return 0;
}

uint32_t acre_bins_occupied_below(const acre_bins *bins, uint32_t size_class) {
    uint32_t w = size_class / 64;
    uint64_t word = bins->words[w] & ~(~UINT64_C(0) << size_class % 64);
    if (word == 0) {
        uint32_t smaller = bins->summary & ~(~0u << w);
        if (smaller == 0) {
            return 0;
        }
        w = acre_log2(smaller);
        word = bins->words[w];
    }
    return 64 * w + acre_log2(word) + 1;
}

uint64_t acre_bins_largest(const acre_bins *bins) {
    if (bins->summary == 0) {
        return 0;
    }
    uint32_t w = acre_log2(bins->summary);
    uint32_t size_class = 64 * w + acre_log2(bins->words[w]);
    if (acre_bins_is_crowded(bins, size_class)) {
        return acre_free_index_largest(&bins->exact);
    }
    uint32_t head = bins->classes[size_class].head;
    uint64_t largest = slice_at(bins, head)->size;
    if (size_class >= bins->mixed) { // a few; else they are equal
        for (uint32_t at = slice_at(bins, head)->bin_next; at != head;
             at = slice_at(bins, at)->bin_next) {
            largest = acre_max(largest, slice_at(bins, at)->size);
        }
    }
    return largest;
}

// ---- checking ------------------------------------------------------------------------------

typedef struct bins_sum {
    uint64_t count, bytes; // of all runs
    uint64_t crowded;      // runs of crowded classes
} bins_sum;

static bool check_class(const acre_bins *bins, uint32_t size_class, bins_sum *sum) {
    const acre_bin *bin = &bins->classes[size_class];
    bool crowded = acre_bins_is_crowded(bins, size_class);
    if ((bin->head != 0) != ((bins->words[size_class / 64] >> size_class % 64 & 1) != 0)) {
        return false;
    }
    uint32_t count = 0;
    for (uint32_t at = bin->head; at != 0;) {
        const acre_slice *slice = slice_at(bins, at);
        if (acre_slice_state_of(slice) != ACRE_SLICE_FREE ||
            acre_bin_class(slice->size) != size_class ||
            slice_at(bins, slice->bin_next)->bin_prev != at || ++count > bin->count) {
            return false;
        }
        sum->bytes += slice->size;
        at = slice->bin_next == bin->head ? 0 : slice->bin_next;
    }
    sum->count += count;
    sum->crowded += crowded ? count : 0;
    bool may_be = size_class >= bins->mixed && count > ACRE_BIN_CROWD / 2;
    bool must_be = size_class >= bins->mixed && count > ACRE_BIN_CROWD;
    return count == bin->count && (crowded ? may_be : !must_be);
}

bool acre_bins_check(const acre_bins *bins) {
    bins_sum sum = {0, 0, 0};
    for (uint32_t size_class = 0; bins->classes != NULL && size_class < ACRE_BIN_CLASSES;
         size_class++) {
        if (!check_class(bins, size_class, &sum)) {
            return false;
        }
    }
    for (uint32_t w = 0; w < ACRE_BIN_WORDS; w++) {
        if ((bins->words[w] != 0) != ((bins->summary >> w & 1) != 0)) {
            return false;
        }
    }
    return sum.count == bins->count && sum.bytes == bins->bytes &&
           sum.crowded == bins->exact.count && acre_free_index_check(&bins->exact);
}
