// Random taints, writes, reservations, releases and binds against an array that names the
// claimer of every byte, with host memory that runs out now and then.
//
//   ACRE_MODEL_OPERATIONS  operations of each run; default 200,000
//   ACRE_MODEL_SEED        the seed, instead of a fixed and a fresh one
#define _POSIX_C_SOURCE 200809L // clock_gettime

#include "support.h"

#include "failure/failure.h"
#include "model/dice.h"

#include <inttypes.h>
#include <time.h>

enum {
    ALLOCATIONS = 64,
    LARGEST = 96,
    FAILURES = 4,
    NOBODY = 0
};

typedef struct allocation {
    acre_handle *handle; // NULL = none
    uint64_t size;
    uint8_t claimer[LARGEST]; // number of the failure, NOBODY for none
} allocation;

typedef struct world {
    uint64_t seed;
    uint64_t steps;
    model_dice dice;
    rig r;
    host_probe *probe;
    allocation allocations[ALLOCATIONS];
    acre_failure *failures[FAILURES + 1]; // by number
    uint64_t refusals;
} world;

static uint64_t operations = 200000;

// Fails with the seed when a condition does not hold.
#define REQUIRE(w, condition)                                                                      \
    do {                                                                                           \
        if (!(condition)) {                                                                        \
            fail_msg("%s; step %" PRIu64 ", again: ACRE_MODEL_SEED=0x%" PRIx64, #condition,        \
                     (w)->steps, (w)->seed);                                                       \
        }                                                                                          \
    } while (0)

// ---- comparing -----------------------------------------------------------------------------

static void compare_range(world *w, const allocation *a, uint64_t start, uint64_t end) {
    uint8_t claimer = NOBODY;
    for (uint64_t i = start; i < end && i < a->size && claimer == NOBODY; i++) {
        claimer = a->claimer[i];
    }
    REQUIRE(w,
            acre_manager_get_failure(w->r.manager, a->handle, start, end) == w->failures[claimer]);
}

static void compare_bytes(world *w, const allocation *a) {
    for (uint64_t i = 0; i < a->size; i++) {
        compare_range(w, a, i, i + 1);
    }
}

// Each run of bytes of one failure is one claim, and each claim holds its failure once.
static void compare_references(world *w) {
    uint64_t runs[FAILURES + 1] = {0};
    for (size_t k = 0; k < ALLOCATIONS; k++) {
        const allocation *a = &w->allocations[k];
        for (uint64_t i = 0; a->handle != NULL && i < a->size; i++) {
            runs[a->claimer[i]] += i == 0 || a->claimer[i] != a->claimer[i - 1];
        }
    }
    for (size_t k = 1; k <= FAILURES; k++) {
        REQUIRE(w, w->failures[k]->references == 1 + runs[k]);
    }
}

// ---- steps ---------------------------------------------------------------------------------

static void release(world *w, allocation *a) {
    if (dice_chance(&w->dice, 50)) {
        acre_manager_release(w->r.manager, a->handle);
    } else {
        acre_handle_release(a->handle);
    }
    a->handle = NULL;
    memset(a->claimer, NOBODY, sizeof a->claimer);
}

static void rebind(world *w, allocation *a) {
    acre_handle *assigned = NULL;
    assert_ok(acre_manager_handle_create(w->r.manager, &assigned, NULL));
    assert_ok(acre_manager_bind(w->r.manager, a->handle, assigned, w->steps, NULL));
    acre_manager_release(w->r.manager, a->handle);
    a->handle = assigned;
    memset(a->claimer, NOBODY, sizeof a->claimer);
}

// Half of the time host memory runs out at one of the next calls.
static void taint_or_write(world *w, allocation *a) {
    uint64_t start = dice_below(&w->dice, a->size + 1);
    uint64_t end = dice_below(&w->dice, a->size + (dice_chance(&w->dice, 10) ? 3 : 1));
    if (start > end && dice_chance(&w->dice, 90)) {
        uint64_t swapped = start;
        start = end;
        end = swapped;
    }
    uint8_t claimer = (uint8_t)dice_below(&w->dice, FAILURES + 1);
    host_probe_fail(w->probe, dice_below(&w->dice, 6), dice_chance(&w->dice, 50));
    acre_status status =
        claimer == NOBODY
            ? acre_manager_written(w->r.manager, a->handle, start, end, NULL)
            : acre_manager_taint(w->r.manager, a->handle, start, end, w->failures[claimer], NULL);
    if (start != end && (start > end || end > a->size)) {
        REQUIRE(w, status == ACRE_INVALID_ARGUMENT);
    } else if (host_probe_failed(w->probe)) {
        REQUIRE(w, status == ACRE_OUT_OF_HOST_MEMORY);
        w->refusals++;
    } else {
        REQUIRE(w, status == ACRE_OK);
        for (uint64_t i = start; i < end; i++) {
            a->claimer[i] = claimer;
        }
    }
    host_probe_fail(w->probe, 0, false);
    compare_bytes(w, a);
}

static void step(world *w) {
    allocation *a = &w->allocations[dice_below(&w->dice, ALLOCATIONS)];
    uint64_t kind = dice_below(&w->dice, 100);
    if (a->handle == NULL) {
        a->size = 1 + dice_below(&w->dice, LARGEST);
        a->handle = take(w->r.manager, a->size);
        compare_bytes(w, a);
    } else if (kind < 80) {
        taint_or_write(w, a);
    } else if (kind < 85) {
        uint64_t start = dice_below(&w->dice, LARGEST);
        compare_range(w, a, start, start + dice_below(&w->dice, LARGEST));
    } else if (kind < 91) {
        release(w, a);
    } else if (kind < 97) {
        rebind(w, a);
    } else {
        acre_manager_cleanup(w->r.manager, ACRE_CLEANUP_EXPLICIT);
    }
}

static void run(uint64_t seed) {
    static world w;
    memset(&w, 0, sizeof w);
    w.seed = seed;
    w.dice.state = seed;
    w.probe = host_probe_create();
    acre_host_hooks hooks = host_probe_hooks(w.probe);
    acre_pool_options pools[] = {sliced_pool(4096, 48, ACRE_UNSET), direct_pool(ACRE_UNSET)};
    acre_layout layout = explicit_layout(pools, 2);
    acre_manager_options options = plain_options(MIB, 16);
    options.layout = &layout;
    options.hooks = &hooks;
    w.r = rig_on(simulated_device(), &options);
    for (size_t i = 1; i <= FAILURES; i++) {
        acre_failure_params params = ACRE_FAILURE_PARAMS_INIT;
        params.message = "failure";
        assert_ok(acre_failure_create(&params, NULL, &w.failures[i], NULL));
    }
    for (w.steps = 0; w.steps < operations; w.steps++) {
        step(&w);
        if (w.steps % 64 == 0) {
            check(w.r.manager);
            compare_references(&w);
        }
    }
    assert_true(w.refusals > 0);
    for (size_t i = 0; i < ALLOCATIONS; i++) {
        if (w.allocations[i].handle != NULL && i % 2 == 0) {
            release(&w, &w.allocations[i]);
        }
    }
    check(w.r.manager);
    compare_references(&w);
    rig_close(&w.r);
    for (size_t i = 0; i < ALLOCATIONS; i++) {
        acre_handle_release(w.allocations[i].handle);
    }
    for (size_t i = 1; i <= FAILURES; i++) {
        REQUIRE(&w, w.failures[i]->references == 1);
        acre_failure_release(w.failures[i]);
    }
    host_probe_destroy(w.probe);
}

static void random_claims_agree_with_an_array_of_bytes(void **state) {
    (void)state;
    const char *given = getenv("ACRE_MODEL_SEED");
    if (given != NULL && *given != '\0') {
        run(strtoull(given, NULL, 0));
        return;
    }
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    run(UINT64_C(0x6a09e667f3bcc909));
    run((uint64_t)now.tv_sec << 30 ^ (uint64_t)now.tv_nsec);
}

int main(void) {
    const char *given = getenv("ACRE_MODEL_OPERATIONS");
    if (given != NULL && *given != '\0') {
        operations = strtoull(given, NULL, 0);
    }
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(random_claims_agree_with_an_array_of_bytes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
