// The free index against a plain list (model/seeds.h says how to lengthen and repeat a run).
#define _POSIX_C_SOURCE 200809L // clock_gettime

#include "carve/free_index.h"
#include "model/runs.h"

typedef struct index_case {
    runs list;
    acre_free_index index;
} index_case;

// => the smallest run of at least `size`, the newest of equal ones; 0 = none
static uint32_t list_find(const runs *list, uint64_t size, bool exact) {
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

static void remove_run(index_case *at) {
    runs *list = &at->list;
    uint32_t gone = (uint32_t)dice_below(&list->dice, list->count);
    acre_free_index_remove(&at->index, list->names[gone]);
    runs_remove(list, gone);
}

static void search(index_case *at) {
    runs *list = &at->list;
    uint64_t size = runs_size_near(list);
    uint64_t found = acre_free_index_find(&at->index, size);
    REQUIRE(list->seed, list->step, found == list_find(list, size, false));
    found = acre_free_index_find_exact(&at->index, size);
    REQUIRE(list->seed, list->step, found == list_find(list, size, true));
    REQUIRE(
        list->seed, list->step,
        runs_sum_to(list, at->index.count, at->index.bytes, acre_free_index_largest(&at->index)));
}

static void run_index(uint64_t seed, uint64_t count) {
    index_case *at = calloc(1, sizeof *at);
    assert_non_null(at);
    runs *list = &at->list;
    runs_begin(list, seed);
    acre_free_index_init(&at->index, &list->host, &list->slices);
    assert_true(acre_free_index_prepare(&at->index, list->unit, UINT64_C(1) << 50));
    for (list->step = 0; list->step < count; list->step++) {
        switch (runs_roll(list)) {
        case RUNS_ADD:
            acre_free_index_add(&at->index, runs_add(list).name);
            break;
        case RUNS_CHANGE:
            remove_run(at);
            break;
        default:
            search(at);
            break;
        }
        if (list->step % 64 == 0) {
            REQUIRE(seed, list->step, acre_free_index_check(&at->index));
        }
    }
    acre_free_index_destroy(&at->index);
    runs_end(list);
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
