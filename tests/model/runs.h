// Free runs without pages, and a plain list of them: what the models of the free index and of the
// bins have in common.
#ifndef ACRE_TESTS_MODEL_RUNS_H
#define ACRE_TESTS_MODEL_RUNS_H

#include "carve/slice.h"
#include "model/dice.h"
#include "model/seeds.h"

#define MOST_RUNS 400

// One random run of a test, and its free runs in the order in which they were added.
typedef struct runs {
    uint64_t seed;
    uint64_t step;
    model_dice dice;
    acre_host host;
    acre_slab slices;
    uint64_t unit;   // all sizes and offsets are multiples of it
    uint64_t wanted; // about as many runs as this
    uint32_t names[MOST_RUNS];
    uint64_t sizes[MOST_RUNS];
    uint64_t offsets[MOST_RUNS];
    uint32_t count;
} runs;

static inline void runs_begin(runs *at, uint64_t seed) {
    at->seed = seed;
    at->dice.state = seed;
    at->unit = DICE_PICK(&at->dice, 1, 10, 32, 50, 256);
    at->wanted = DICE_PICK(&at->dice, 5, 40, MOST_RUNS - 1);
    assert_int_equal(ACRE_OK, acre_host_init(&at->host, NULL, &(acre_error){0}));
    acre_slab_init(&at->slices, &at->host, at, sizeof(acre_slice));
}

static inline void runs_end(runs *at) {
    acre_slab_destroy(&at->slices);
    REQUIRE(at->seed, at->step, at->host.bytes == 0);
}

// Sizes crowd into few classes, so that tries grow deep and rings long.
static inline uint64_t runs_size(runs *at) {
    model_dice *dice = &at->dice;
    uint64_t units;
    switch (dice_below(dice, 4)) {
    case 0:
        units = 1 + dice_below(dice, 70);
        break;
    case 1:
        units = (UINT64_C(1) << 20) + dice_below(dice, 1 << 14);
        break;
    case 2:
        units = (UINT64_C(1) << 33) + (dice_below(dice, 8) << dice_below(dice, 26));
        break;
    default:
        units = 1 + dice_below(dice, UINT64_C(1) << (1 + dice_below(dice, 40)));
        break;
    }
    return units * at->unit;
}

// A size to look for: mostly that of a run, or one unit beside it.
static inline uint64_t runs_size_near(runs *at) {
    uint64_t size = runs_size(at);
    if (at->count > 0 && dice_chance(&at->dice, 60)) {
        size = at->sizes[dice_below(&at->dice, at->count)];
        size += dice_chance(&at->dice, 30) ? at->unit : 0;
        size -= size > at->unit && dice_chance(&at->dice, 30) ? at->unit : 0;
    }
    return size;
}

// => a new run, listed last
static inline acre_run runs_add(runs *at) {
    assert_true(acre_slab_prepare(&at->slices, 1));
    uint32_t name = acre_slab_take(&at->slices);
    acre_slice *slice = acre_slice_at(&at->slices, name);
    memset(slice, 0, sizeof *slice);
    slice->size = at->count > 0 && dice_chance(&at->dice, 30)
                      ? at->sizes[dice_below(&at->dice, at->count)]
                      : runs_size(at);
    slice->offset = dice_below(&at->dice, 1000) * at->unit;
    at->names[at->count] = name;
    at->sizes[at->count] = slice->size;
    at->offsets[at->count++] = slice->offset;
    return (acre_run){slice, name};
}

// Takes a run, which is kept nowhere any more, off the list.
static inline void runs_remove(runs *at, uint32_t gone) {
    acre_slab_give(&at->slices, at->names[gone]);
    at->count--;
    for (uint32_t i = gone; i < at->count; i++) {
        at->names[i] = at->names[i + 1];
        at->sizes[i] = at->sizes[i + 1];
        at->offsets[i] = at->offsets[i + 1];
    }
}

// Whether the sums over the list are these.
static inline bool runs_sum_to(const runs *at, uint64_t count, uint64_t bytes, uint64_t largest) {
    uint64_t sum = 0;
    uint64_t most = 0;
    for (uint32_t i = 0; i < at->count; i++) {
        sum += at->sizes[i];
        most = at->sizes[i] > most ? at->sizes[i] : most;
    }
    return at->count == count && sum == bytes && most == largest;
}

// What one step does.
typedef enum runs_step {
    RUNS_ADD,
    RUNS_CHANGE,
    RUNS_SEARCH
} runs_step;

static inline runs_step runs_roll(runs *at) {
    uint64_t adding = at->count < at->wanted ? 45 : 25;
    uint64_t chance = dice_below(&at->dice, 100);
    if (at->count < MOST_RUNS && chance < adding) {
        return RUNS_ADD;
    }
    return at->count > 0 && chance < 70 ? RUNS_CHANGE : RUNS_SEARCH;
}

#endif
