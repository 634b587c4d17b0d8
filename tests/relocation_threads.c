// Handles are let go and bound by other threads while the manager's thread relocates what they
// name: handles of the manager, and those made before there was one.
#include "relocation_rig.h"

#include <pthread.h>
#include <stdatomic.h>

#define HANDLES 64
#define ROUNDS  60

typedef struct share {
    acre_handle *handles[HANDLES];
    _Atomic int *ready;
    int first; // of those that this thread lets go
} share;

static void *let_go(void *context) {
    share *own = context;
    while (atomic_load_explicit(own->ready, memory_order_acquire) == 0) {
    }
    for (int i = own->first; i < HANDLES; i += 2) {
        acre_binding *binding = acre_handle_binding(own->handles[i]);
        (void)acre_handle_can_mut(own->handles[i]);
        acre_handle_release(own->handles[i]);
        acre_binding_release(binding); // the last one
    }
    return NULL;
}

static void prepare(acre_manager *manager, share *shared) {
    for (int i = 0; i < HANDLES; i++) {
        acre_handle *handle = take(manager, 66 * KIB + (uint64_t)i);
        if (i % 4 < 2) {
            acre_handle *loose = NULL;
            assert_ok(acre_handle_create(NULL, &loose, NULL));
            assert_ok(acre_manager_bind(manager, handle, loose, 0, NULL));
            acre_handle_release(handle);
            handle = loose;
        }
        shared->handles[i] = handle;
    }
    acre_manager_release(manager, take(manager, 9 * MIB)); // all of them are outdated now
}

static void relocating_and_letting_go_at_once_is_safe(void **state) {
    (void)state;
    uint64_t moves = 0;
    for (int round = 0; round < ROUNDS; round++) {
        rig r = arena_rig(128 * MIB, 0);
        _Atomic int ready = 0;
        share shares[2] = {{.ready = &ready, .first = 0}, {.ready = &ready, .first = 1}};
        prepare(r.manager, &shares[0]);
        memcpy(shares[1].handles, shares[0].handles, sizeof shares[0].handles);
        pthread_t threads[2];
        for (int i = 0; i < 2; i++) {
            assert_int_equal(pthread_create(&threads[i], NULL, let_go, &shares[i]), 0);
        }
        atomic_store_explicit(&ready, 1, memory_order_release);
        acre_relocation_options options = ACRE_RELOCATION_OPTIONS_INIT;
        options.room = ACRE_RELOCATION_ROOM_MAY_ADD;
        options.max_moves = 5;
        acre_relocation_report report = ACRE_RELOCATION_REPORT_INIT;
        for (int i = 0; i < 20; i++) {
            assert_ok(acre_manager_relocate(r.manager, &options, &report, NULL));
            moves += report.moves;
        }
        for (int i = 0; i < 2; i++) {
            assert_int_equal(pthread_join(threads[i], NULL), 0);
        }
        check(r.manager);
        assert_int_equal(usage_of(r.manager).allocations, 0);
        rig_close(&r);
    }
    print_message("%d moves beside releases\n", (int)moves);
}

// ---- the last owner and a plan ---------------------------------------------------------------

#define PLANNED 2000
#define TRIES   100
#define TAKEN   50

typedef struct letting_go {
    acre_handle *handles[PLANNED];
    _Atomic bool ready, done;
    int pause; // between two
} letting_go;

static void *let_all_go(void *context) {
    letting_go *own = context;
    while (!atomic_load_explicit(&own->ready, memory_order_acquire)) {
    }
    for (int i = 0; i < PLANNED; i++) {
        acre_handle_release(own->handles[i]);
        for (volatile int k = 0; k < own->pause; k++) {
        }
    }
    atomic_store_explicit(&own->done, true, memory_order_release);
    return NULL;
}

// A plan takes a binding of what only another thread owns, while that thread lets it go. Either the
// allocation was gone before, or it keeps its room, and its handle's record, until the plan is
// over.
static void what_its_last_owner_lets_go_is_gone_or_held_by_the_plan(void **state) {
    (void)state;
    for (int round = 0; round < TRIES; round++) {
        rig r = arena_rig(128 * MIB, 0);
        letting_go shared = {.pause = round * 7 % 40};
        for (uint32_t i = 0; i < PLANNED; i++) {
            shared.handles[i] = take(r.manager, 66 * KIB + i);
        }
        acre_manager_release(r.manager, take(r.manager, 9 * MIB)); // all of them are outdated now
        pthread_t thread;
        assert_int_equal(pthread_create(&thread, NULL, let_all_go, &shared), 0);
        atomic_store_explicit(&shared.ready, true, memory_order_release);
        acre_relocation_options options = ACRE_RELOCATION_OPTIONS_INIT;
        options.room = ACRE_RELOCATION_ROOM_MAY_ADD;
        while (!atomic_load_explicit(&shared.done, memory_order_acquire)) {
            acre_relocation *plan = NULL;
            acre_handle *taken[TAKEN]; // these get the records of what is gone
            assert_ok(acre_manager_relocation_plan(r.manager, &options, &plan, NULL));
            for (int i = 0; i < TAKEN; i++) {
                taken[i] = take(r.manager, 500);
            }
            acre_relocation_destroy(plan);
            drop_all(r.manager, taken, TAKEN);
        }
        assert_int_equal(pthread_join(thread, NULL), 0);
        check(r.manager);
        assert_int_equal(usage_of(r.manager).allocations, 0);
        rig_close(&r);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(relocating_and_letting_go_at_once_is_safe),
        cmocka_unit_test(what_its_last_owner_lets_go_is_gone_or_held_by_the_plan),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
