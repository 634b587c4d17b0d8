// Random runs on bytes of the host with relocations, refusals and cleanups in their middle: every
// byte and claim is where its handle says, the books are in order, and nothing is left at the end.
//
//   ACRE_MODEL_OPERATIONS        operations over all tests; default 240,000
//   ACRE_MODEL_SEED              the seed of the first script of each test, instead of a fixed
//                                and a fresh one
//   test_relocation_random NAME  only the tests whose names match
#define _POSIX_C_SOURCE 200809L // clock_gettime

#include "relocation_random/world.h"

#include <inttypes.h>
#include <time.h>

#if defined(__GLIBC__)
#include <malloc.h>
#endif

static uint64_t operations = 240000;
static uint64_t given_seed; // 0 = none
static world running;
static bool is_running;

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

static void run_scripts(acre_relocation_policy policy, uint64_t seed, uint64_t count) {
    model_dice seeds = {seed};
    uint64_t moves = 0;
    uint64_t refusals = 0;
    for (uint64_t done = 0; done < count; done += SCRIPT_OPERATIONS) {
        is_running = true;
        world_open(&running, seed, policy);
        for (int i = 0; i < SCRIPT_OPERATIONS; i++) {
            world_step(&running);
        }
        world_close(&running);
        is_running = false;
        moves += running.moves;
        refusals += running.refusals;
        seed = dice_roll(&seeds);
    }
    if (count >= 10 * (uint64_t)SCRIPT_OPERATIONS) { // else the runs are about something else
        assert_true(moves > count / 250 && refusals > count / 100);
    }
}

static void random_runs(acre_relocation_policy policy) {
    uint64_t count = operations / 3;
    if (given_seed != 0) {
        run_scripts(policy, given_seed, count);
        return;
    }
    run_scripts(policy, 1000u + (uint64_t)policy, count - count / 4);
    run_scripts(policy, fresh_seed(), count / 4);
}

static int tell_seed(void **state) {
    (void)state;
    if (is_running) {
        print_error("step %" PRIu64 ", again: ACRE_MODEL_SEED=0x%" PRIx64
                    " ACRE_MODEL_OPERATIONS=%d and this test's name\n",
                    running.step, running.seed, 3 * SCRIPT_OPERATIONS);
        is_running = false;
    }
    return 0;
}

static void no_byte_is_lost_when_the_caller_relocates(void **state) {
    (void)state;
    random_runs(ACRE_RELOCATION_NONE);
}

static void no_byte_is_lost_when_reservations_relocate_on_need(void **state) {
    (void)state;
    random_runs(ACRE_RELOCATION_ON_NEED);
}

static void no_byte_is_lost_when_reservations_compact(void **state) {
    (void)state;
    random_runs(ACRE_RELOCATION_COMPACT);
}

int main(int argc, char **argv) {
    operations = read_number("ACRE_MODEL_OPERATIONS", operations);
    given_seed = read_number("ACRE_MODEL_SEED", 0);
    if (argc > 1) {
        cmocka_set_test_filter(argv[1]);
    }
#if defined(__GLIBC__) // pages of the device are used again, not mapped anew each time
    mallopt(M_MMAP_THRESHOLD, 32 * 1024 * 1024);
    mallopt(M_TRIM_THRESHOLD, 256 * 1024 * 1024);
#endif
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(no_byte_is_lost_when_the_caller_relocates, tell_seed),
        cmocka_unit_test_teardown(no_byte_is_lost_when_reservations_relocate_on_need, tell_seed),
        cmocka_unit_test_teardown(no_byte_is_lost_when_reservations_compact, tell_seed),
    };
    return cmocka_run_group_tests_name("relocation_random", tests, NULL, NULL);
}
