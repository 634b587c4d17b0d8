// The random model test: managers against a naive reference (reference.h).
//
//   ACRE_MODEL_OPERATIONS  operations over all tests; default 1,200,000
//   ACRE_MODEL_SEED        the seed of the first script of each test, instead of the fixed seeds
//                          and the fresh one
//   test_model NAME        only the tests whose names match
#define _POSIX_C_SOURCE 200809L // clock_gettime

#include "model/world.h"

#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include <cmocka.h>

#define DEFAULT_OPERATIONS UINT64_C(1200000)

static const model_family families[] = {
    {"explicit_layouts_agree_with_the_reference", ACRE_LAYOUT_EXPLICIT, false, false},
    {"sub_slices_agree_with_the_reference", ACRE_LAYOUT_SUB_SLICES, false, false},
    {"exclusive_pages_agree_with_the_reference", ACRE_LAYOUT_EXCLUSIVE_PAGES, false, false},
    {"windows_and_settings_agree_with_the_reference", ACRE_LAYOUT_EXPLICIT, false, true},
    {"limits_and_failures_agree_with_the_reference", ACRE_LAYOUT_EXPLICIT, true, false},
    {"everything_at_once_agrees_with_the_reference", ACRE_LAYOUT_EXPLICIT, true, true},
    {"adaptive_layouts_agree_with_the_reference", ACRE_LAYOUT_ADAPTIVE, false, false},
    {"adaptive_layouts_short_of_memory_agree_with_the_reference", ACRE_LAYOUT_ADAPTIVE, true, true},
};

#define FAMILIES (sizeof families / sizeof families[0])

static uint64_t total_operations = DEFAULT_OPERATIONS;
static uint64_t given_seed; // 0 = none

static uint64_t read_number(const char *name, uint64_t otherwise) {
    const char *text = getenv(name);
    return text == NULL || *text == '\0' ? otherwise : strtoull(text, NULL, 0);
}

static uint64_t fresh_seed(void) {
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    model_dice dice = {(uint64_t)now.tv_sec * 1000000007u ^ (uint64_t)now.tv_nsec};
    return dice_roll(&dice) | 1;
}

static void run(model_world *world, const model_family *family, uint64_t seed, uint64_t operations,
                bool watched, model_note *notes) {
    world_open(world, family, seed, watched, notes);
    for (uint64_t i = 0; i < operations; i++) {
        world_step(world);
    }
    world_compare_runs(world);
    world_compare_reports(world);
    world_check(world);
    world_close(world);
}

// Scripts until `operations` are done. Each runs twice, from the same seed.
static void run_scripts(const model_family *family, uint64_t seed, uint64_t operations) {
    model_world *world = malloc(sizeof *world);
    model_note *notes = calloc(MODEL_SCRIPT_OPERATIONS, sizeof *notes);
    assert_non_null(world);
    assert_non_null(notes);
    model_dice seeds = {seed};
    uint64_t done = 0;
    do {
        run(world, family, seed, MODEL_SCRIPT_OPERATIONS, true, notes);
        run(world, family, seed, MODEL_SCRIPT_OPERATIONS, false, notes);
        seed = dice_roll(&seeds);
        done += MODEL_SCRIPT_OPERATIONS;
    } while (done < operations);
    free(notes);
    free(world);
}

static void agrees(void **state) {
    const model_family *family = *state;
    uint64_t operations = total_operations / FAMILIES;
    if (given_seed != 0) {
        run_scripts(family, given_seed, operations);
        return;
    }
    run_scripts(family, 1000u + (uint64_t)(family - families), operations - operations / 6);
    run_scripts(family, fresh_seed(), operations / 6);
}

int main(int argc, char **argv) {
    total_operations = read_number("ACRE_MODEL_OPERATIONS", DEFAULT_OPERATIONS);
    given_seed = read_number("ACRE_MODEL_SEED", 0);
    if (argc > 1) {
        cmocka_set_test_filter(argv[1]);
    }
    struct CMUnitTest tests[FAMILIES];
    for (size_t i = 0; i < FAMILIES; i++) {
        tests[i] = (struct CMUnitTest){.name = families[i].test,
                                       .test_func = agrees,
                                       .initial_state = (void *)(uintptr_t)&families[i]};
    }
    return cmocka_run_group_tests_name("model", tests, NULL, NULL);
}
