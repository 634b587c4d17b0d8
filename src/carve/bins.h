// Bins: free runs by size class, for pages that are cut. Finds a run that fits, low in its page
// rather than closest in size, or that there is none, without a walk.
//
// There are 16 classes to an octave, each a ring of runs. A run enters the ring in front when it
// lies before the one in front, else behind all; what is taken is the front. So runs low in the
// pages are used first and those high up have time to merge, which keeps what is in use together
// better than the closest fit does.
//
//   class      16 * e + m, for sizes [2^e * (1 + m/16), 2^e * (1 + (m+1)/16)); below 16 one each
//   words      bit c % 64 of word c / 64: class c holds a run; a word spans four octaves
//   summary    bit w: word w is not 0
//
// A request takes a run of exactly its size if there is one, else the first of the foremost few
// runs of its own class that holds it, else the front of the next class that is not empty, by one
// or two bit scans. When there is no such class its own one must be known exactly: one of a single
// size (below 32 times the alignment) is, one of few runs is looked through, and the runs of a
// crowded one are kept in a free_index as well.
//
// Adding and removing have no branch for an empty class or the last run of one: whether there is
// one is a matter of chance, and a wrong guess costs as much as all the rest. A ring of one names
// itself, and record 0, which no run has, may be read.
//
// The classes are those of TLSF (Masmano et al., ECRTS 2004).
#ifndef ACRE_CARVE_BINS_H
#define ACRE_CARVE_BINS_H

#include "carve/free_index.h"

#define ACRE_BIN_CLASSES 1024u
#define ACRE_BIN_WORDS   (ACRE_BIN_CLASSES / 64)
#define ACRE_BIN_LOOKS   4u // runs of a crowded class that a request looks at
#define ACRE_BIN_CROWD   8u // runs above which a class of several sizes is crowded

typedef struct acre_bin {
    uint32_t head;  // the run in front; 0 = none
    uint32_t count; // of runs
} acre_bin;

typedef struct acre_bins {
    acre_slab *slices;
    acre_bin *classes; // made by acre_bins_prepare
    uint64_t count;    // runs
    uint64_t bytes;    // of them
    uint32_t mixed;    // from this class on, a class has several sizes
    uint32_t summary;
    uint64_t words[ACRE_BIN_WORDS + 1]; // the last is 0: a search may begin behind all
    uint64_t crowded[ACRE_BIN_WORDS];   // like words: the class's runs are in `exact`, too
    acre_free_index exact;
    acre_host *host;
} acre_bins;

// All sizes are multiples of `unit`.
void acre_bins_init(acre_bins *bins, acre_host *host, acre_slab *slices, uint64_t unit);
void acre_bins_destroy(acre_bins *bins);

// Makes what adding runs of sizes from `smallest` to `largest` needs. => false: no host memory;
// what was made stays.
bool acre_bins_prepare(acre_bins *bins, uint64_t smallest, uint64_t largest);

// The exact answer for a size, when no larger class helps out. => 0 = no run of its class holds it
uint32_t acre_bins_find_exactly(const acre_bins *bins, uint64_t size);

// => a run of at least `size` bytes that has them at a multiple of `step`, a multiple of `unit`; 0
// = there is none. Any run of size + step - unit bytes will do; if there is none, all that may do
// by luck of their place are looked through, which is the one walk here.
uint32_t acre_bins_find_aligned(const acre_bins *bins, uint64_t size, uint64_t step, uint64_t unit);

// => the class behind the last one below `class` that holds a run; 0 = none
uint32_t acre_bins_occupied_below(const acre_bins *bins, uint32_t size_class);

// => bytes of the largest run; 0 = there is none.
uint64_t acre_bins_largest(const acre_bins *bins);

// => whether bitmaps, rings, counters and the exact index agree. Cost: one pass over all runs.
bool acre_bins_check(const acre_bins *bins);

// A class of several sizes got a run: it may be crowded by it, or may have been.
void acre_bins_crowd(acre_bins *bins, uint32_t size_class, uint32_t name);

// A run leaves a crowded class; it is in the ring no more, and counted still.
void acre_bins_uncrowd(acre_bins *bins, uint32_t size_class, uint32_t name);

// => the run of a class of several sizes that a request of the class takes, though there are larger
// ones; 0 = none of it
uint32_t acre_bins_find_in_class(const acre_bins *bins, uint64_t size, uint32_t size_class);

// ---- what every request and release does ---------------------------------------------------

static inline uint32_t acre_bin_class(uint64_t size) {
    uint32_t e = acre_log2(size | 16);
    return (uint32_t)(size >> (e - 4)) + 16 * e - 16;
}

// => the least size of a class; UINT64_MAX for ACRE_BIN_CLASSES
static inline uint64_t acre_bin_least(uint32_t size_class) {
    if (size_class < 64) {
        return size_class < 48 ? 0 : size_class - 48;
    }
    return size_class >= ACRE_BIN_CLASSES
               ? UINT64_MAX
               : (UINT64_C(16) + size_class % 16) << (size_class / 16 - 4);
}

static inline bool acre_bins_is_crowded(const acre_bins *bins, uint32_t size_class) {
    return (bins->crowded[size_class / 64] >> size_class % 64 & 1) != 0;
}

// Whether a run lies before another: on an older page, or before it on the same one.
static inline bool acre_bin_before(const acre_slice *a, const acre_slice *b) {
    return (a->page_order < b->page_order) |
           ((a->page_order == b->page_order) & (a->offset < b->offset));
}

// Adds a free run of a size that was prepared.
static inline void acre_bins_add(acre_bins *bins, acre_slice *slice, uint32_t name) {
    const acre_slab *slices = bins->slices;
    uint32_t size_class = acre_bin_class(slice->size);
    acre_bin *bin = &bins->classes[size_class];
    uint32_t head = bin->head;
    const acre_slice *front = acre_slice_at(slices, head);
    bins->count++;
    bins->bytes += slice->size;
    acre_slice_set_state(slice, ACRE_SLICE_FREE);
    uint32_t none = 0u - (head == 0); // masks: compilers make branches of conditions here
    uint32_t first = head | (name & none);
    uint32_t last = (front->bin_prev & ~none) | (name & none);
    uint32_t front_now = (0u - (uint32_t)acre_bin_before(slice, front)) | none;
    bin->head = (name & front_now) | (head & ~front_now);
    slice->bin_next = first;
    slice->bin_prev = last;
    acre_slice_at(slices, last)->bin_next = name;
    acre_slice_at(slices, first)->bin_prev = name;
    bins->words[size_class / 64] |= UINT64_C(1) << size_class % 64;
    bins->summary |= 1u << size_class / 64;
    if (acre_unlikely(++bin->count > ACRE_BIN_CROWD / 2) && size_class >= bins->mixed) {
        acre_bins_crowd(bins, size_class, name);
    }
}

static inline void acre_bins_remove(acre_bins *bins, const acre_slice *slice, uint32_t name) {
    const acre_slab *slices = bins->slices;
    uint32_t size_class = acre_bin_class(slice->size);
    acre_bin *bin = &bins->classes[size_class];
    uint32_t next = slice->bin_next;
    uint32_t prev = slice->bin_prev;
    bins->count--;
    bins->bytes -= slice->size;
    acre_slice_at(slices, prev)->bin_next = next;
    acre_slice_at(slices, next)->bin_prev = prev;
    uint64_t alone = next == name;
    uint32_t was_front = 0u - (uint32_t)(bin->head == name);
    uint32_t head = (next & was_front) | (bin->head & ~was_front);
    bin->head = head & ((uint32_t)alone - 1);
    uint64_t word = bins->words[size_class / 64] & ~(alone << size_class % 64);
    bins->words[size_class / 64] = word;
    bins->summary &= ~((uint32_t)(word == 0) << size_class / 64);
    if (acre_unlikely(acre_bins_is_crowded(bins, size_class))) {
        acre_bins_uncrowd(bins, size_class, name);
    }
    bin->count--;
}

// A run grew or shrank to `size` where it is; a large one mostly stays in its class.
static inline void acre_bins_resize(acre_bins *bins, acre_slice *slice, uint32_t name,
                                    uint64_t size) {
    uint32_t e = acre_log2(size | 16);
    if ((size ^ slice->size) >> (e - 4) == 0 && // the bits that make its class are the same
        !acre_bins_is_crowded(bins, acre_bin_class(size))) {
        bins->bytes += size - slice->size;
        slice->size = size;
        return;
    }
    acre_bins_remove(bins, slice, name);
    slice->size = size;
    acre_bins_add(bins, slice, name);
}

// => the first class from `class` on that holds a run; ACRE_BIN_CLASSES = none
static inline uint32_t acre_bins_occupied(const acre_bins *bins, uint32_t size_class) {
    uint32_t w = size_class / 64;
    uint64_t word = bins->words[w] & ~UINT64_C(0) << size_class % 64;
    if (acre_unlikely(word == 0)) {
        uint32_t larger = bins->summary & ~1u << w;
        if (larger == 0) {
            return ACRE_BIN_CLASSES;
        }
        w = acre_lowest_bit(larger);
        word = bins->words[w];
    }
    return 64 * w + acre_lowest_bit(word);
}

// => a run of at least `size` bytes, which is of `class`; 0 = there is none.
static inline uint32_t acre_bins_find(const acre_bins *bins, uint64_t size, uint32_t size_class) {
    uint32_t found = acre_bins_occupied(bins, size_class);
    if (acre_unlikely(found == size_class && size_class >= bins->mixed)) {
        uint32_t larger = acre_bins_occupied(bins, size_class + 1);
        if (acre_unlikely(larger == ACRE_BIN_CLASSES)) {
            return acre_bins_find_exactly(bins, size);
        }
        uint32_t own = acre_bins_find_in_class(bins, size, size_class);
        if (own != 0) {
            return own;
        }
        found = larger;
    }
    return found == ACRE_BIN_CLASSES ? 0 : bins->classes[found].head;
}

#endif
