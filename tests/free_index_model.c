// The free index and the carving of pages against plain lists.
//
//   ACRE_MODEL_OPERATIONS  operations of each test; default 1,000,000
//   ACRE_MODEL_SEED        the seed, instead of a fixed and a fresh one
#define _POSIX_C_SOURCE 200809L // clock_gettime

#include "carve/carve.h"
#include "model/dice.h"

#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <cmocka.h>

#define MOST_RUNS  400
#define MOST_PAGES 12

static uint64_t operations = 1000000;

static uint64_t number_of(const char *name, uint64_t otherwise) {
    const char *text = getenv(name);
    return text == NULL || *text == '\0' ? otherwise : strtoull(text, NULL, 0);
}

static uint64_t fresh_seed(void) {
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    return (uint64_t)now.tv_sec << 30 ^ (uint64_t)now.tv_nsec;
}

// Fails with the seed when a condition does not hold.
#define REQUIRE(seed, step, condition)                                                             \
    do {                                                                                           \
        if (!(condition)) {                                                                        \
            fail_msg("%s; step %" PRIu64 ", again: ACRE_MODEL_SEED=0x%" PRIx64, #condition, step,  \
                     seed);                                                                        \
        }                                                                                          \
    } while (0)

// ---- the index -----------------------------------------------------------------------------

// Free runs in the order in which they were added, the newest last.
typedef struct run_list {
    uint32_t names[MOST_RUNS];
    uint64_t sizes[MOST_RUNS];
    uint64_t offsets[MOST_RUNS];
    uint32_t count;
} run_list;

typedef struct index_case {
    uint64_t seed;
    uint64_t step;
    model_dice dice;
    acre_host host;
    acre_slab slices;
    acre_free_index index;
    run_list list;
    uint64_t unit;
} index_case;

static bool list_holds(const run_list *list, uint32_t at, uint64_t size, uint64_t step) {
    uint64_t skip = list->offsets[at] % step == 0 ? 0 : step - list->offsets[at] % step;
    return skip <= list->sizes[at] && list->sizes[at] - skip >= size;
}

// => the smallest run of at least `size`, the newest of equal ones; 0 = none
static uint32_t list_find(const run_list *list, uint64_t size, bool exact) {
    uint32_t best = 0;
    uint64_t best_size = UINT64_MAX;
    for (uint32_t i = 0; i < list->count; i++) {
        if ((exact ? list->sizes[i] == size : list->sizes[i] >= size) &&
            list->sizes[i] <= best_size) {
            best = list->names[i];
            best_size = list->sizes[i];
        }
    }
    return best;
}

// Sizes crowd into few classes, so that tries grow deep and rings long.
static uint64_t crowded_size(index_case *at) {
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

static void add_run(index_case *at) {
    run_list *list = &at->list;
    assert_true(acre_slab_prepare(&at->slices, 1));
    uint32_t name = acre_slab_take(&at->slices);
    acre_slice *slice = acre_slice_at(&at->slices, name);
    memset(slice, 0, sizeof *slice);
    slice->size = list->count > 0 && dice_chance(&at->dice, 30)
                      ? list->sizes[dice_below(&at->dice, list->count)]
                      : crowded_size(at);
    slice->offset = dice_below(&at->dice, 1000) * at->unit;
    acre_free_index_add(&at->index, name);
    list->names[list->count] = name;
    list->sizes[list->count] = slice->size;
    list->offsets[list->count++] = slice->offset;
}

static void remove_run(index_case *at) {
    run_list *list = &at->list;
    uint32_t gone = (uint32_t)dice_below(&at->dice, list->count);
    acre_free_index_remove(&at->index, list->names[gone]);
    acre_slab_give(&at->slices, list->names[gone]);
    list->count--;
    for (uint32_t i = gone; i < list->count; i++) {
        list->names[i] = list->names[i + 1];
        list->sizes[i] = list->sizes[i + 1];
        list->offsets[i] = list->offsets[i + 1];
    }
}

static void search(index_case *at) {
    const run_list *list = &at->list;
    uint64_t size = crowded_size(at);
    if (list->count > 0 && dice_chance(&at->dice, 60)) {
        size = list->sizes[dice_below(&at->dice, list->count)];
        size += dice_chance(&at->dice, 30) ? at->unit : 0;
        size -= size > at->unit && dice_chance(&at->dice, 30) ? at->unit : 0;
    }
    uint64_t found = acre_free_index_find(&at->index, size);
    REQUIRE(at->seed, at->step, found == list_find(list, size, false));
    found = acre_free_index_find_exact(&at->index, size);
    REQUIRE(at->seed, at->step, found == list_find(list, size, true));
    uint64_t step = at->unit * DICE_PICK(&at->dice, 2, 3, 7, 16, 100, 1000, 1 << 20);
    uint32_t aligned = acre_free_index_find_aligned(&at->index, size, step, at->unit);
    uint64_t largest = 0;
    uint64_t bytes = 0;
    bool fits = false;
    bool holds = false;
    for (uint32_t i = 0; i < list->count; i++) {
        bool one = list_holds(list, i, size, step);
        fits = fits || one;
        holds = holds || (one && list->names[i] == aligned);
        largest = list->sizes[i] > largest ? list->sizes[i] : largest;
        bytes += list->sizes[i];
    }
    REQUIRE(at->seed, at->step, aligned == 0 ? !fits : holds);
    REQUIRE(at->seed, at->step, acre_free_index_largest(&at->index) == largest);
    REQUIRE(at->seed, at->step, at->index.count == list->count && at->index.bytes == bytes);
}

static void run_index(uint64_t seed, uint64_t count) {
    index_case *at = calloc(1, sizeof *at);
    assert_non_null(at);
    at->seed = seed;
    at->dice.state = seed;
    at->unit = DICE_PICK(&at->dice, 1, 10, 32, 50, 256);
    assert_int_equal(ACRE_OK, acre_host_init(&at->host, NULL, &(acre_error){0}));
    acre_slab_init(&at->slices, &at->host, at, sizeof(acre_slice));
    acre_free_index_init(&at->index, &at->host, &at->slices);
    assert_true(acre_free_index_prepare(&at->index, at->unit, UINT64_C(1) << 50));
    uint64_t wanted = DICE_PICK(&at->dice, 5, 40, MOST_RUNS - 1);
    for (at->step = 0; at->step < count; at->step++) {
        uint64_t adding = at->list.count < wanted ? 45 : 25;
        uint64_t chance = dice_below(&at->dice, 100);
        if (at->list.count < MOST_RUNS && chance < adding) {
            add_run(at);
        } else if (at->list.count > 0 && chance < 70) {
            remove_run(at);
        } else {
            search(at);
        }
        if (at->step % 64 == 0) {
            REQUIRE(seed, at->step, acre_free_index_check(&at->index));
        }
    }
    acre_free_index_destroy(&at->index);
    acre_slab_destroy(&at->slices);
    REQUIRE(seed, at->step, at->host.bytes == 0);
    free(at);
}

// ---- carving -------------------------------------------------------------------------------

typedef struct live_run {
    acre_run run;
    uint32_t page;
    uint64_t offset, size;
} live_run;

typedef struct carve_case {
    uint64_t seed;
    uint64_t step;
    model_dice dice;
    acre_host host;
    acre_slab slices;
    acre_carve carve;
    uint64_t page_sizes[MOST_PAGES]; // 0 = none
    uint32_t firsts[MOST_PAGES];
    live_run live[MOST_RUNS]; // by page and offset
    uint32_t count;
    bool freed; // the latest operation gave `last` back
    live_run last;
    uint64_t unit;
} carve_case;

// What is free, by a walk over pages and live runs. `*best` becomes the size of the smallest gap
// that holds `size` bytes at a multiple of `step`, UINT64_MAX when none does.
static acre_carve_free walk(const carve_case *at, uint64_t size, uint64_t step, uint64_t *best) {
    acre_carve_free sum = {0, 0, 0};
    uint32_t next = 0;
    *best = UINT64_MAX;
    for (uint32_t page = 0; page < MOST_PAGES; page++) {
        uint64_t start = 0;
        while (at->page_sizes[page] != 0) {
            bool last = next == at->count || at->live[next].page != page;
            uint64_t end = last ? at->page_sizes[page] : at->live[next].offset;
            uint64_t skip = start % step == 0 ? 0 : step - start % step;
            if (end > start) {
                sum.runs++;
                sum.bytes += end - start;
                sum.largest = end - start > sum.largest ? end - start : sum.largest;
            }
            if (skip <= end - start && end - start - skip >= size && end - start < *best) {
                *best = end - start;
            }
            if (last) {
                break;
            }
            start = end + at->live[next++].size;
        }
    }
    return sum;
}

// => the free bytes around an offset
static uint64_t gap_around(const carve_case *at, const live_run *place) {
    uint64_t start = 0;
    uint64_t end = at->page_sizes[place->page];
    for (uint32_t i = 0; i < at->count; i++) {
        const live_run *other = &at->live[i];
        if (other->page == place->page && other->offset + other->size <= place->offset) {
            start = other->offset + other->size;
        } else if (other->page == place->page && other->offset < end) {
            end = other->offset;
        }
    }
    return place->offset + place->size <= end ? end - start : 0;
}

static void add_page(carve_case *at) {
    uint32_t page = (uint32_t)dice_below(&at->dice, MOST_PAGES);
    uint64_t size = at->unit * (1 + dice_below(&at->dice, 500));
    if (at->page_sizes[page] == 0) {
        assert_true(acre_free_index_prepare(&at->carve.index, at->unit, size));
        assert_true(acre_slab_prepare(&at->slices, 1));
        at->firsts[page] = acre_carve_add_page(&at->carve, page, size);
        at->page_sizes[page] = size;
        return;
    }
    for (uint32_t i = 0; i < at->count; i++) {
        if (at->live[i].page == page) {
            return;
        }
    }
    acre_carve_remove_page(&at->carve, at->firsts[page]);
    at->page_sizes[page] = 0;
    at->freed = at->freed && at->last.page != page;
}

static void insert(carve_case *at, live_run run) {
    uint32_t place = at->count++;
    for (; place > 0 &&
           (at->live[place - 1].page > run.page ||
            (at->live[place - 1].page == run.page && at->live[place - 1].offset > run.offset));
         place--) {
        at->live[place] = at->live[place - 1];
    }
    at->live[place] = run;
}

static void take(carve_case *at) {
    uint64_t size = at->unit * (1 + dice_below(&at->dice, 1 + dice_below(&at->dice, 120)));
    uint64_t step = at->unit;
    if (at->freed && dice_chance(&at->dice, 40)) {
        size = at->last.size;
    }
    if (dice_chance(&at->dice, 30)) {
        step *= DICE_PICK(&at->dice, 2, 3, 8, 50, 1000);
    }
    uint64_t best;
    walk(at, size, step, &best);
    assert_true(acre_slab_prepare(&at->slices, ACRE_CARVE_RECORDS));
    acre_run run = acre_carve_take(&at->carve, size, step);
    REQUIRE(at->seed, at->step, (run.slice != NULL) == (best != UINT64_MAX));
    if (run.slice != NULL) {
        live_run made = {run, acre_slice_page(run.slice), run.slice->offset, run.slice->size};
        uint64_t gap = gap_around(at, &made);
        bool again = at->freed && at->last.size == size && at->last.offset % step == 0;
        REQUIRE(at->seed, at->step, made.size == size && made.offset % step == 0);
        REQUIRE(at->seed, at->step, gap >= size); // inside one gap: nothing overlaps
        REQUIRE(at->seed, at->step,
                again ? made.page == at->last.page && made.offset == at->last.offset
                      : gap == best || step != at->unit);
        insert(at, made);
        at->freed = false; // a request that nothing holds changes nothing
    }
}

static void give(carve_case *at) {
    uint32_t gone = (uint32_t)dice_below(&at->dice, at->count);
    at->last = at->live[gone];
    at->freed = true;
    at->count--;
    memmove(&at->live[gone], &at->live[gone + 1], (at->count - gone) * sizeof at->live[0]);
    acre_carve_give(&at->carve, at->last.run);
}

static void run_carve(uint64_t seed, uint64_t count) {
    carve_case *at = calloc(1, sizeof *at);
    assert_non_null(at);
    at->seed = seed;
    at->dice.state = seed;
    at->unit = DICE_PICK(&at->dice, 1, 10, 32, 50, 256);
    assert_int_equal(ACRE_OK, acre_host_init(&at->host, NULL, &(acre_error){0}));
    acre_slab_init(&at->slices, &at->host, at, sizeof(acre_slice));
    acre_carve_init(&at->carve, &at->host, &at->slices, at->unit);
    for (at->step = 0; at->step < count; at->step++) {
        uint64_t chance = dice_below(&at->dice, 100);
        if (chance < 50 && at->count < MOST_RUNS) {
            take(at);
        } else if (chance < 97 && at->count > 0) {
            give(at);
        } else {
            add_page(at);
        }
        uint64_t best;
        acre_carve_free expected = walk(at, 1, 1, &best);
        acre_carve_free sum = acre_carve_get_free(&at->carve);
        REQUIRE(seed, at->step, sum.runs == expected.runs && sum.bytes == expected.bytes);
        REQUIRE(seed, at->step, sum.largest == expected.largest);
        if (at->step % 64 == 0) {
            REQUIRE(seed, at->step, acre_free_index_check(&at->carve.index));
        }
    }
    acre_carve_destroy(&at->carve);
    acre_slab_destroy(&at->slices);
    REQUIRE(seed, at->step, at->host.bytes == 0);
    free(at);
}

// ---- tests ---------------------------------------------------------------------------------

static void repeat(void (*run)(uint64_t, uint64_t)) {
    uint64_t given = number_of("ACRE_MODEL_SEED", 0);
    for (uint64_t i = 0; i < 30; i++) {
        run(given != 0 ? given : i % 5 == 4 ? fresh_seed() + i : i + 1, operations / 30);
    }
}

static void finding_is_the_smallest_run_that_fits_and_the_newest_of_equal_ones(void **state) {
    (void)state;
    repeat(run_index);
}

static void carving_is_a_best_fit_that_never_overlaps_and_merges_what_is_free(void **state) {
    (void)state;
    repeat(run_carve);
}

int main(void) {
    operations = number_of("ACRE_MODEL_OPERATIONS", operations);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(finding_is_the_smallest_run_that_fits_and_the_newest_of_equal_ones),
        cmocka_unit_test(carving_is_a_best_fit_that_never_overlaps_and_merges_what_is_free),
    };
    return cmocka_run_group_tests_name("free_index_model", tests, NULL, NULL);
}
