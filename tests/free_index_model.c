// The free index against a plain list (model/seeds.h says how to lengthen and repeat a run).
#define _POSIX_C_SOURCE 200809L // clock_gettime

#include "carve/free_index.h"
#include "model/dice.h"
#include "model/seeds.h"

#define MOST_RUNS 400

// ---- the index -----------------------------------------------------------------------------

// Free runs in the order in which they were added, the newest last.
typedef struct run_list {
    uint32_t names[MOST_RUNS];
    uint64_t sizes[MOST_RUNS];
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
    acre_free_index_add(&at->index, name);
    list->names[list->count] = name;
    list->sizes[list->count] = slice->size;
    list->count++;
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
    uint64_t largest = 0;
    uint64_t bytes = 0;
    for (uint32_t i = 0; i < list->count; i++) {
        largest = list->sizes[i] > largest ? list->sizes[i] : largest;
        bytes += list->sizes[i];
    }
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

static void finding_is_the_smallest_run_that_fits_and_the_newest_of_equal_ones(void **state) {
    (void)state;
    repeat(run_index);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(finding_is_the_smallest_run_that_fits_and_the_newest_of_equal_ones),
    };
    return cmocka_run_group_tests_name("free_index_model", tests, NULL, NULL);
}
