// How the random tests of single modules are run: as often as asked, with seeds that can be given
// again.
//
//   ACRE_MODEL_OPERATIONS  operations of each test; default 1,000,000
//   ACRE_MODEL_SEED        the seed, instead of fixed and fresh ones
#ifndef ACRE_TESTS_MODEL_SEEDS_H
#define ACRE_TESTS_MODEL_SEEDS_H

#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <cmocka.h>

static inline uint64_t number_of(const char *name, uint64_t otherwise) {
    const char *text = getenv(name);
    return text == NULL || *text == '\0' ? otherwise : strtoull(text, NULL, 0);
}

static inline uint64_t fresh_seed(void) {
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

// Runs a test with 30 seeds, of which every fifth is fresh.
static inline void repeat(void (*run)(uint64_t seed, uint64_t count)) {
    uint64_t given = number_of("ACRE_MODEL_SEED", 0);
    uint64_t operations = number_of("ACRE_MODEL_OPERATIONS", 1000000);
    for (uint64_t i = 0; i < 30; i++) {
        run(given != 0 ? given : i % 5 == 4 ? fresh_seed() + i : i + 1, operations / 30);
    }
}

#endif
