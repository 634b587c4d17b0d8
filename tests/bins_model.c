// The bins against a plain list (model/seeds.h says how to lengthen and repeat a run).
#define _POSIX_C_SOURCE 200809L // clock_gettime

#include "carve/bins.h"
#include "model/runs.h"

typedef struct bins_case {
    runs list;
    acre_bins bins;
} bins_case;

static bool list_holds(const runs *list, uint32_t at, uint64_t size, uint64_t step) {
    uint64_t skip = list->offsets[at] % step == 0 ? 0 : step - list->offsets[at] % step;
    return skip <= list->sizes[at] && list->sizes[at] - skip >= size;
}

static void add_run(bins_case *at) {
    acre_run run = runs_add(&at->list);
    acre_bins_add(&at->bins, run.slice, run.name);
}

static void change_run(bins_case *at) {
    runs *list = &at->list;
    bool resizes = dice_chance(&list->dice, 30);
    uint32_t changed = (uint32_t)dice_below(&list->dice, list->count);
    uint32_t name = list->names[changed];
    acre_slice *slice = acre_slice_at(&list->slices, name);
    if (!resizes) {
        acre_bins_remove(&at->bins, slice, name);
        runs_remove(list, changed);
        return;
    }
    uint64_t size = list->sizes[changed] + list->unit * dice_below(&list->dice, 40);
    if (dice_chance(&list->dice, 20)) {
        size = runs_size(list);
    }
    acre_bins_resize(&at->bins, slice, name, size);
    list->sizes[changed] = size;
}

static void search(bins_case *at) {
    runs *list = &at->list;
    uint64_t size = runs_size_near(list);
    uint32_t found = acre_bins_find(&at->bins, size, acre_bin_class(size));
    uint64_t step = list->unit * DICE_PICK(&list->dice, 2, 3, 7, 16, 100, 1000, 1 << 20);
    uint32_t aligned = acre_bins_find_aligned(&at->bins, size, step, list->unit);
    bool any = false;
    bool equal = false;
    bool found_equal = false;
    bool fits = false;
    bool holds = false;
    bool holds_aligned = false;
    for (uint32_t i = 0; i < list->count; i++) {
        bool one = list_holds(list, i, size, step);
        any = any || list->sizes[i] >= size;
        equal = equal || list->sizes[i] == size;
        found_equal = found_equal || (list->sizes[i] == size && list->names[i] == found);
        fits = fits || one;
        holds = holds || (list->sizes[i] >= size && list->names[i] == found);
        holds_aligned = holds_aligned || (one && list->names[i] == aligned);
    }
    REQUIRE(list->seed, list->step, found == 0 ? !any : holds);
    REQUIRE(list->seed, list->step, equal == found_equal); // an exact fit comes first
    REQUIRE(list->seed, list->step, aligned == 0 ? !fits : holds_aligned);
    REQUIRE(list->seed, list->step,
            runs_sum_to(list, at->bins.count, at->bins.bytes, acre_bins_largest(&at->bins)));
}

static void run_bins(uint64_t seed, uint64_t count) {
    bins_case *at = calloc(1, sizeof *at);
    assert_non_null(at);
    runs *list = &at->list;
    runs_begin(list, seed);
    acre_bins_init(&at->bins, &list->host, &list->slices, list->unit);
    assert_true(acre_bins_prepare(&at->bins, list->unit, UINT64_C(1) << 50));
    for (list->step = 0; list->step < count; list->step++) {
        switch (runs_roll(list)) {
        case RUNS_ADD:
            add_run(at);
            break;
        case RUNS_CHANGE:
            change_run(at);
            break;
        default:
            search(at);
            break;
        }
        if (list->step % 64 == 0) {
            REQUIRE(seed, list->step, acre_bins_check(&at->bins));
        }
    }
    acre_bins_destroy(&at->bins);
    runs_end(list);
    free(at);
}

static void bins_find_a_run_that_fits_whenever_there_is_one_and_an_exact_one_first(void **state) {
    (void)state;
    repeat(run_bins);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(bins_find_a_run_that_fits_whenever_there_is_one_and_an_exact_one_first),
    };
    return cmocka_run_group_tests_name("bins_model", tests, NULL, NULL);
}
