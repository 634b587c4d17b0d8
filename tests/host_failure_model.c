// Host memory that runs out: random short scripts, once for every allocation that the hooks serve,
// with that allocation refused, and once more with all from it on refused.
//
//   ACRE_MODEL_SCRIPTS  how many scripts; default 60
//   ACRE_MODEL_SEED     the seed of the only script
#define _POSIX_C_SOURCE 200809L // clock_gettime, posix_memalign

#include "model/dice.h"

#include <acre/acre.h>

#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <cmocka.h>

#define STEPS 40
#define BULK  1500 // more than a block of records holds

// Host memory that refuses the allocation `fail_at`, or all from it on.
typedef struct host_probe {
    uint64_t calls, fail_at, refused;
    bool and_after;
    int64_t blocks, bytes;
} host_probe;

typedef struct result {
    acre_status status;
    uint32_t pool_index, page;
    uint64_t offset;
} result;

typedef struct snapshot {
    acre_report whole;
    acre_pool_report pools[10];
    acre_mode mode;
} snapshot;

typedef struct run {
    uint64_t seed;
    host_probe probe;
    acre_host_hooks hooks;
    acre_storage *storage;
    acre_manager *manager;
    uint64_t pages_added, pages_returned;
    uint64_t asked, told; // reservations, and those that the listener heard of
    acre_handle *handles[STEPS];
    acre_handle *bulk[BULK];
    uint32_t bulk_count;
    uint64_t step;
    model_dice dice;
    result *clean; // of the undisturbed run; NULL while it is under way
} run;

#define REQUIRE(run, condition)                                                                    \
    do {                                                                                           \
        if (!(condition)) {                                                                        \
            fail_msg("%s; step %" PRIu64 " with allocation %" PRIu64 "%s refused, again: "         \
                     "ACRE_MODEL_SEED=0x%" PRIx64,                                                 \
                     #condition, (run)->step, (run)->probe.fail_at,                                \
                     (run)->probe.and_after ? " and later ones" : "", (run)->seed);                \
        }                                                                                          \
    } while (0)

static void *probe_alloc(void *context, size_t size, size_t alignment) {
    host_probe *probe = context;
    void *memory = NULL;
    probe->calls++;
    if (probe->fail_at != 0 &&
        (probe->calls == probe->fail_at || (probe->and_after && probe->calls > probe->fail_at))) {
        probe->refused++;
        return NULL;
    }
    if (posix_memalign(&memory, alignment < sizeof memory ? sizeof memory : alignment, size) != 0) {
        return NULL;
    }
    memset(memory, 0xa5, size); // nothing may count on zeros
    probe->blocks++;
    probe->bytes += (int64_t)size;
    return memory;
}

static void probe_free(void *context, void *memory, size_t size, size_t alignment) {
    host_probe *probe = context;
    (void)alignment;
    probe->blocks--;
    probe->bytes -= (int64_t)size;
    free(memory);
}

static void listen(void *context, const acre_event *event) {
    run *at = context;
    at->pages_added += event->kind == ACRE_EVENT_PAGE_ADD;
    at->pages_returned += event->kind == ACRE_EVENT_PAGE_RETURN;
    at->told += event->kind == ACRE_EVENT_RESERVE || event->kind == ACRE_EVENT_REFUSE;
}

// ---- what must not change ------------------------------------------------------------------

static void take_snapshot(run *at, snapshot *shot) {
    memset(shot, 0, sizeof *shot);
    shot->whole = ACRE_REPORT_INIT;
    acre_manager_report(at->manager, &shot->whole);
    shot->mode = acre_manager_get_mode(at->manager);
    REQUIRE(at, shot->whole.pool_count <= 8);
    for (uint32_t i = 0; i < shot->whole.pool_count + 2; i++) {
        uint32_t fixed = i - shot->whole.pool_count;
        uint32_t index = i < shot->whole.pool_count ? i
                         : fixed == 0               ? ACRE_POOL_INDEX_PERSISTENT
                                                    : ACRE_POOL_INDEX_DEDICATED;
        shot->pools[i] = ACRE_POOL_REPORT_INIT;
        REQUIRE(at, acre_manager_pool_report(at->manager, index, &shot->pools[i], NULL) == ACRE_OK);
    }
    // These may change: attempts are counted, and records made stay for the next attempt.
    shot->whole.reservations = 0;
    shot->whole.host_bytes = 0;
}

// From page_size on a report has no gaps.
static bool same_pool(const acre_pool_report *a, const acre_pool_report *b) {
    const size_t numbers = sizeof *a - offsetof(acre_pool_report, page_size);
    return a->kind == b->kind && memcmp(&a->page_size, &b->page_size, numbers) == 0;
}

static bool same_state(const snapshot *a, const snapshot *b) {
    for (uint32_t i = 0; i < a->whole.pool_count + 2; i++) {
        if (!same_pool(&a->pools[i], &b->pools[i])) {
            return false;
        }
    }
    return memcmp(&a->whole.usage, &b->whole.usage, sizeof a->whole.usage) == 0 &&
           a->whole.pages == b->whole.pages && a->whole.pool_count == b->whole.pool_count &&
           a->whole.bytes_allocated == b->whole.bytes_allocated && a->mode == b->mode;
}

static bool out_of_host_memory(acre_status status, const acre_error *error) {
    return status == ACRE_OUT_OF_HOST_MEMORY ||
           (status == ACRE_POOL_CAPACITY_EXCEEDED && error->cause == ACRE_OUT_OF_HOST_MEMORY);
}

// ---- operations ----------------------------------------------------------------------------

static uint32_t random_pools(model_dice *dice, acre_pool_options *pools) {
    uint32_t count = 1 + (uint32_t)dice_below(dice, 6);
    for (uint32_t i = 0; i < count; i++) {
        switch (dice_below(dice, 3)) {
        case 0:
            pools[i] = ACRE_SLICED_POOL(DICE_PICK(dice, 1000, 65536, 1 << 19));
            pools[i].exact_large_slices = dice_chance(dice, 50);
            break;
        case 1:
            pools[i] = ACRE_EXCLUSIVE_POOL(DICE_PICK(dice, 0, 3000, ACRE_UNSET));
            break;
        default:
            pools[i] = ACRE_DIRECT_POOL;
            pools[i].reclaim_at = DICE_PICK(dice, ACRE_UNSET, 10000, 1 << 20);
            continue;
        }
        pools[i].max_pool_size = DICE_PICK(dice, ACRE_UNSET, ACRE_UNSET, 3000, 1 << 20);
    }
    return count;
}

static acre_status create_manager(run *at, acre_error *error) {
    acre_manager_options options = ACRE_MANAGER_OPTIONS_INIT;
    acre_config config = ACRE_CONFIG_INIT;
    acre_pool_options pools[8];
    acre_layout layout = ACRE_LAYOUT_INIT(ACRE_LAYOUT_EXPLICIT);
    layout.pools = pools;
    layout.pool_count = random_pools(&at->dice, pools);
    config.persistent_memory = (acre_persistent_memory)dice_below(&at->dice, 4);
    options.config = &config;
    options.layout = &layout;
    options.hooks = &at->hooks;
    options.largest_page = 1 << 20;
    options.alignment = DICE_PICK(&at->dice, 1, 10, 32, 256);
    options.event = listen;
    options.event_context = at;
    return acre_manager_create(at->storage, &options, &at->manager, error);
}

static acre_status reserve(run *at, acre_error *error) {
    acre_reservation reservation = ACRE_RESERVATION_INIT(
        dice_chance(&at->dice, 5)
            ? 0
            : 1 + dice_below(&at->dice, UINT64_C(1) << dice_below(&at->dice, 20)));
    reservation.page_update = dice_chance(&at->dice, 70) ? ACRE_PAGES_ALLOW : ACRE_PAGES_ADD_ONLY;
    reservation.alignment = DICE_PICK(&at->dice, 0, 0, 0, 64, 3);
    at->asked++;
    return acre_manager_reserve_with(at->manager, &reservation, &at->handles[at->step], error);
}

// Many small ones, so that the records of a block run out.
static acre_status reserve_bulk(run *at, acre_error *error) {
    while (at->bulk_count < BULK) {
        at->asked++;
        acre_status status = acre_manager_reserve(at->manager, 8, &at->bulk[at->bulk_count], error);
        if (status != ACRE_OK) {
            return status;
        }
        at->bulk_count++;
    }
    return ACRE_OK;
}

static void release_bulk(run *at) {
    while (at->bulk_count > 0) {
        acre_handle_release(at->bulk[--at->bulk_count]);
    }
}

static acre_status bind(run *at, acre_error *error) {
    acre_handle *from = at->handles[dice_below(&at->dice, STEPS)];
    acre_handle *to = at->handles[dice_below(&at->dice, STEPS)];
    return from == NULL || to == NULL || from == to
               ? ACRE_OK
               : acre_manager_bind(at->manager, from, to, at->step, error);
}

static acre_status install(run *at, acre_error *error) {
    acre_pool_options pools[8];
    acre_layout layout = ACRE_LAYOUT_INIT(ACRE_LAYOUT_EXPLICIT);
    layout.pools = pools;
    layout.pool_count = random_pools(&at->dice, pools);
    release_bulk(at);
    for (uint32_t i = 0; i < STEPS; i++) {
        acre_handle_release(at->handles[i]);
        at->handles[i] = NULL;
    }
    return acre_manager_install_layout(at->manager, &layout, error);
}

static acre_status operate(run *at, acre_error *error) {
    at->dice.state = at->seed * 1000 + at->step; // the same when it is tried again
    switch (dice_below(&at->dice, 16)) {
    case 0:
        return acre_manager_handle_create(at->manager, &at->handles[at->step], error);
    case 1:
        return acre_handle_create(&at->hooks, &at->handles[at->step], error);
    case 2:
        return bind(at, error);
    case 3:
        return acre_manager_set_mode(at->manager, (acre_mode)dice_below(&at->dice, 3), error);
    case 4:
        return dice_chance(&at->dice, 40) ? install(at, error) : reserve(at, error);
    case 5:
        return dice_chance(&at->dice, 30) ? reserve_bulk(at, error) : reserve(at, error);
    case 6:
        acre_manager_cleanup(at->manager, (acre_cleanup)dice_below(&at->dice, 2));
        return ACRE_OK;
    case 7:
    case 8:
    case 9: {
        acre_handle **gone = &at->handles[dice_below(&at->dice, STEPS)];
        acre_manager_release(at->manager, *gone);
        *gone = NULL;
        return ACRE_OK;
    }
    default:
        return reserve(at, error);
    }
}

// ---- runs ----------------------------------------------------------------------------------

// Compares the outcome of a step with that of the undisturbed run, or notes it.
static void note(run *at, acre_status status, result *results) {
    result made = {.status = status};
    acre_place place = ACRE_PLACE_INIT;
    if (at->handles[at->step] != NULL &&
        acre_manager_get_place(at->manager, at->handles[at->step], &place, NULL) == ACRE_OK) {
        made.pool_index = place.pool_index;
        made.page = place.page;
        made.offset = place.offset;
    }
    if (at->clean == NULL) {
        results[at->step] = made;
    } else if (!at->probe.and_after) {
        const result *clean = &at->clean[at->step];
        REQUIRE(at, made.status == clean->status && made.pool_index == clean->pool_index);
        REQUIRE(at, made.page == clean->page && made.offset == clean->offset);
    }
}

static void do_step(run *at, result *results) {
    snapshot before, after;
    acre_error error = ACRE_ERROR_INIT;
    take_snapshot(at, &before);
    uint64_t refused = at->probe.refused;
    uint64_t added = at->pages_added;
    uint64_t returned = at->pages_returned;
    uint32_t bulk_count = at->bulk_count;
    acre_status status = operate(at, &error);
    // A refusal fails the step, or freed records did instead of new ones: then all is as ever.
    bool failed = out_of_host_memory(status, &error);
    REQUIRE(at, !failed || at->probe.refused > refused);
    REQUIRE(at, acre_manager_check(at->manager, NULL) == ACRE_OK);
    if (failed) {
        take_snapshot(at, &after);
        bool bulk = at->bulk_count != bulk_count; // some of it was served
        bool let_go = after.whole.usage.allocations < before.whole.usage.allocations; // an install
        bool unchanged = same_state(&before, &after);
        REQUIRE(at, bulk || let_go || unchanged || at->pages_returned > returned);
        REQUIRE(at, bulk || at->pages_added == added);
        REQUIRE(at, at->handles[at->step] == NULL);
        if (!at->probe.and_after) {
            status = operate(at, &error);
            REQUIRE(at, !out_of_host_memory(status, &error));
        }
    }
    REQUIRE(at, at->told == at->asked);
    note(at, status, results);
}

static acre_status start(run *at) {
    acre_simulated_storage_params params = ACRE_SIMULATED_STORAGE_PARAMS_INIT;
    acre_error error = ACRE_ERROR_INIT;
    for (int tries = 0; tries < 2 && at->manager == NULL; tries++) {
        uint64_t refused = at->probe.refused;
        acre_status status = ACRE_OK;
        if (at->storage == NULL) {
            status = acre_storage_simulated_create(&params, &at->hooks, &at->storage, &error);
        }
        if (status == ACRE_OK) {
            at->dice.state = at->seed;
            status = create_manager(at, &error);
        }
        REQUIRE(at, (status == ACRE_OUT_OF_HOST_MEMORY) == (at->probe.refused > refused));
        REQUIRE(at, status == ACRE_OK || status == ACRE_OUT_OF_HOST_MEMORY);
    }
    return at->manager == NULL ? ACRE_OUT_OF_HOST_MEMORY : ACRE_OK;
}

// => whether the probe refused anything
static bool run_script(run *at, uint64_t seed, uint64_t fail_at, bool and_after, result *clean,
                       result *results) {
    memset(at, 0, sizeof *at);
    at->seed = seed;
    at->probe.fail_at = fail_at;
    at->probe.and_after = and_after;
    at->clean = clean;
    at->hooks = ACRE_HOST_HOOKS_INIT;
    at->hooks.alloc = probe_alloc;
    at->hooks.free = probe_free;
    at->hooks.context = &at->probe;
    if (start(at) == ACRE_OK) {
        for (at->step = 0; at->step < STEPS; at->step++) {
            do_step(at, results);
        }
    }
    acre_manager_destroy(at->manager); // with live handles
    release_bulk(at);
    for (uint32_t i = 0; i < STEPS; i++) {
        acre_handle_release(at->handles[i]);
    }
    acre_storage_destroy(at->storage);
    REQUIRE(at, at->probe.blocks == 0 && at->probe.bytes == 0);
    return at->probe.refused > 0;
}

static void run_all(uint64_t seed) {
    run *at = malloc(sizeof *at);
    assert_non_null(at);
    result clean[STEPS];
    memset(clean, 0, sizeof clean);
    run_script(at, seed, 0, false, NULL, clean);
    for (uint64_t n = 1; run_script(at, seed, n, false, clean, NULL); n++) {
        run_script(at, seed, n, true, clean, NULL);
    }
    free(at);
}

static void a_refused_host_allocation_changes_nothing_and_the_next_try_is_served(void **state) {
    (void)state;
    const char *given = getenv("ACRE_MODEL_SEED");
    const char *scripts = getenv("ACRE_MODEL_SCRIPTS");
    uint64_t count = scripts == NULL ? 60 : strtoull(scripts, NULL, 0);
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    if (given != NULL) {
        run_all(strtoull(given, NULL, 0));
        return;
    }
    for (uint64_t i = 1; i <= count; i++) {
        run_all(i % 5 == 0 ? (uint64_t)now.tv_nsec * 1000 + i : i);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_refused_host_allocation_changes_nothing_and_the_next_try_is_served),
    };
    return cmocka_run_group_tests_name("host_failure_model", tests, NULL, NULL);
}
