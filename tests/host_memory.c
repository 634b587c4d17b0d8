// Section 15 and the bad input of the core: host memory that runs out at any call. The error is
// OUT_OF_HOST_MEMORY, nothing has changed, the same call is served next, and nothing leaks.
#include "support.h"

typedef struct world {
    host_probe *probe;
    acre_storage *storage;
    acre_manager *manager;
    bool and_after; // the script fails every call from the n-th on
} world;

// What host memory may refuse: one call, given its place in the script.
typedef acre_status (*attempt)(world *w, acre_error *error);

static uint64_t asked_size;
static acre_handle *made;
static acre_handle *bound_from;
static acre_handle *bound_to;
static acre_mode asked_mode;

static acre_status reserve(world *w, acre_error *error) {
    return acre_manager_reserve(w->manager, asked_size, &made, error);
}

static acre_status make_handle(world *w, acre_error *error) {
    return acre_manager_handle_create(w->manager, &made, error);
}

static acre_status bind(world *w, acre_error *error) {
    return acre_manager_bind(w->manager, bound_from, bound_to, 5, error);
}

static acre_status enter(world *w, acre_error *error) {
    return acre_manager_set_mode(w->manager, asked_mode, error);
}

static acre_status install(world *w, acre_error *error) {
    acre_layout layout = ACRE_LAYOUT_INIT(ACRE_LAYOUT_EXCLUSIVE_PAGES);
    return acre_manager_install_layout(w->manager, &layout, error);
}

static void survive(world *w, attempt call) {
    snapshot before = snapshot_of(w->manager);
    acre_mode mode = acre_manager_get_mode(w->manager);
    acre_error error = ACRE_ERROR_INIT;
    made = NULL;
    acre_status status = call(w, &error);
    if (status == ACRE_OK) {
        return;
    }
    assert_status(ACRE_OUT_OF_HOST_MEMORY, status);
    assert_int_equal(error.status, ACRE_OUT_OF_HOST_MEMORY);
    assert_null(made);
    check(w->manager);
    snapshot after = snapshot_of(w->manager);
    assert_same_state(&before, &after);
    assert_int_equal(acre_manager_get_mode(w->manager), mode);
    if (w->and_after) { // it stays refused, and what needs no memory goes on
        assert_status(ACRE_OUT_OF_HOST_MEMORY, call(w, &error));
        acre_manager_cleanup(w->manager, ACRE_CLEANUP_PERIODIC);
        check(w->manager);
        host_probe_fail(w->probe, 0, false);
    }
    assert_ok(call(w, &error));
    check(w->manager);
}

static acre_handle *survive_reserve(world *w, uint64_t size) {
    asked_size = size;
    survive(w, reserve);
    assert_non_null(made);
    return made;
}

// Enough handles, slices, pages, sizes and windows that every table grows at least once.
enum {
    MANY = 6000
};

static void script(world *w) {
    static acre_handle *h[MANY];
    static acre_handle *loose[MANY];
    for (uint64_t i = 0; i < MANY; i++) {
        if (i % 2000 == 0) { // some of each kind: the layout's, persistent, dedicated
            asked_mode =
                i == 0 ? ACRE_MODE_AUTO : (i == 2000 ? ACRE_MODE_PERSISTENT : ACRE_MODE_DEDICATED);
            survive(w, enter);
        }
        h[i] = survive_reserve(w, i % 50 == 0 ? 0 : 32 * (1 + (i * 7919) % 3000));
    }
    for (int i = 0; i < 100; i++) {
        asked_mode = ACRE_MODE_PERSISTENT;
        survive(w, enter);
    }
    for (int i = 0; i < 102; i++) {
        assert_ok(acre_manager_set_mode(w->manager, ACRE_MODE_AUTO, NULL));
    }
    for (size_t i = 0; i < MANY; i += 5) {
        survive(w, make_handle);
        loose[i] = made;
        bound_from = h[i];
        bound_to = loose[i];
        survive(w, bind);
        acre_manager_release(w->manager, h[i]);
        h[i] = loose[i];
    }
    for (size_t i = 0; i < MANY; i++) {
        if (i % 2 == 0) {
            acre_manager_release(w->manager, h[i]);
        } else {
            acre_handle_release(h[i]);
        }
    }
    for (size_t i = 0; i < MANY; i++) { // handles alone, and those that a bind makes
        survive(w, make_handle);
        h[i] = made;
    }
    drop_all(w->manager, h, MANY);
    for (size_t i = 0; i < MANY; i++) {
        bound_from = h[i] = survive_reserve(w, 64);
        assert_ok(acre_handle_create(NULL, &loose[i], NULL));
        bound_to = loose[i];
        survive(w, bind);
    }
    drop_all(w->manager, h, MANY);
    drop_all(w->manager, loose, MANY);
    acre_manager_cleanup(w->manager, ACRE_CLEANUP_EXPLICIT);
    check(w->manager);
    survive(w, install);
    acre_manager_release(w->manager, survive_reserve(w, 100000));
}

static world world_create(bool storage_too) {
    world w = {.probe = host_probe_create()};
    acre_config config = ACRE_CONFIG_INIT;
    config.persistent_memory = ACRE_PERSISTENT_SIZE_MATCH; // which keeps a table of sizes
    acre_host_hooks hooks = host_probe_hooks(w.probe);
    acre_simulated_storage_params params = ACRE_SIMULATED_STORAGE_PARAMS_INIT;
    assert_ok(
        acre_storage_simulated_create(&params, storage_too ? &hooks : NULL, &w.storage, NULL));
    acre_pool_options pools[] = {exclusive_pool(0), sliced_pool(256 * KIB, 8 * KIB, ACRE_UNSET),
                                 exclusive_pool(32 * KIB), direct_pool(40 * MIB)};
    acre_layout layout = explicit_layout(pools, 4);
    acre_manager_options options = plain_options(128 * MIB, 32);
    options.layout = &layout;
    options.config = &config;
    options.hooks = storage_too ? NULL : &hooks;
    assert_ok(acre_manager_create(w.storage, &options, &w.manager, NULL));
    return w;
}

static void world_destroy(world *w) {
    acre_manager_destroy(w->manager);
    assert_int_equal(stats_of(w->storage).bytes_allocated, 0);
    acre_storage_destroy(w->storage);
    host_probe_destroy(w->probe);
}

static void fail_at_every_call(bool storage_too) {
    uint64_t n = 0;
    for (bool failed = true; failed;) {
        world w = world_create(storage_too);
        host_probe_fail(w.probe, ++n, false);
        script(&w);
        failed = host_probe_failed(w.probe);
        host_probe_fail(w.probe, 0, false);
        world_destroy(&w);
    }
    assert_true(n > 3); // the script does ask for host memory
}

static void a_failure_of_any_one_call_changes_nothing_and_the_next_is_served(void **state) {
    (void)state;
    fail_at_every_call(false);
}

static void a_failure_of_all_calls_from_any_one_on_changes_nothing(void **state) {
    (void)state;
    world w = world_create(false);
    uint64_t before = host_probe_calls(w.probe);
    script(&w);
    uint64_t calls = host_probe_calls(w.probe) - before;
    world_destroy(&w);
    for (uint64_t n = 1; n <= calls; n++) {
        w = world_create(false);
        w.and_after = true;
        host_probe_fail(w.probe, n, true);
        script(&w);
        world_destroy(&w);
    }
}

static void a_storages_own_books_survive_it_too(void **state) {
    (void)state;
    fail_at_every_call(true);
}

// ---- creation ------------------------------------------------------------------------------

static void creating_a_manager_fails_cleanly_at_every_call(void **state) {
    (void)state;
    const acre_layout_kind kinds[] = {ACRE_LAYOUT_SUB_SLICES, ACRE_LAYOUT_EXCLUSIVE_PAGES};
    for (size_t k = 0; k < 2; k++) {
        acre_storage *storage = simulated_device();
        host_probe *probe = host_probe_create();
        acre_host_hooks hooks = host_probe_hooks(probe);
        acre_layout layout = ACRE_LAYOUT_INIT(kinds[k]);
        acre_manager_options options = plain_options(128 * MIB, 32);
        options.layout = &layout;
        options.hooks = &hooks;
        uint64_t n = 0;
        for (;;) {
            acre_manager *manager = NULL;
            acre_error error = ACRE_ERROR_INIT;
            host_probe_fail(probe, ++n, false);
            acre_status status = acre_manager_create(storage, &options, &manager, &error);
            if (!host_probe_failed(probe)) {
                assert_ok(status);
                acre_manager_destroy(manager);
                break;
            }
            assert_status(ACRE_OUT_OF_HOST_MEMORY, status);
            assert_null(manager);
            assert_int_equal(host_probe_blocks(probe), 0);
        }
        assert_true(n > 1);
        host_probe_destroy(probe);
        acre_storage_destroy(storage);
    }
}

typedef acre_status (*storage_maker)(const acre_host_hooks *, acre_storage **, acre_error *);

static acre_status make_host(const acre_host_hooks *hooks, acre_storage **storage,
                             acre_error *error) {
    return acre_storage_host_create(NULL, hooks, storage, error);
}

static acre_status make_simulated(const acre_host_hooks *hooks, acre_storage **storage,
                                  acre_error *error) {
    return acre_storage_simulated_create(NULL, hooks, storage, error);
}

static void creating_a_storage_fails_cleanly_at_every_call(void **state) {
    (void)state;
    const storage_maker makers[] = {make_host, make_simulated};
    for (size_t k = 0; k < 2; k++) {
        host_probe *probe = host_probe_create();
        acre_host_hooks hooks = host_probe_hooks(probe);
        uint64_t n = 0;
        for (;;) {
            acre_storage *storage = NULL;
            host_probe_fail(probe, ++n, false);
            acre_status status = makers[k](&hooks, &storage, NULL);
            if (!host_probe_failed(probe)) {
                assert_ok(status);
                acre_storage_destroy(storage);
                break;
            }
            assert_status(ACRE_OUT_OF_HOST_MEMORY, status);
            assert_null(storage);
            assert_int_equal(host_probe_blocks(probe), 0);
        }
        assert_true(n > 1);
        host_probe_destroy(probe);
    }
}

static void creating_a_handle_from_hooks_fails_cleanly(void **state) {
    (void)state;
    host_probe *probe = host_probe_create();
    acre_host_hooks hooks = host_probe_hooks(probe);
    acre_handle *handle = NULL;
    host_probe_fail(probe, 1, false);
    assert_status(ACRE_OUT_OF_HOST_MEMORY, acre_handle_create(&hooks, &handle, NULL));
    assert_null(handle);
    assert_ok(acre_handle_create(&hooks, &handle, NULL));
    acre_handle_release(handle);
    host_probe_destroy(probe);
}

static void hooks_without_both_functions_are_refused(void **state) {
    (void)state;
    host_probe *probe = host_probe_create();
    acre_host_hooks hooks = host_probe_hooks(probe);
    hooks.free = NULL;
    acre_storage *storage = NULL;
    assert_status(ACRE_INVALID_ARGUMENT,
                  acre_storage_simulated_create(NULL, &hooks, &storage, NULL));
    hooks = host_probe_hooks(probe);
    hooks.alloc = NULL;
    assert_status(ACRE_INVALID_ARGUMENT,
                  acre_storage_simulated_create(NULL, &hooks, &storage, NULL));
    assert_null(storage);
    host_probe_destroy(probe);
}

static void the_report_tells_the_bytes_held_through_the_hooks(void **state) {
    (void)state;
    world w = world_create(false);
    acre_handle *h[3000];
    for (uint64_t i = 0; i < 3000; i++) {
        h[i] = take(w.manager, 32 * (1 + i % 100));
    }
    assert_int_equal(report_of(w.manager).host_bytes, host_probe_bytes(w.probe));
    drop_all(w.manager, h, 3000);
    assert_int_equal(report_of(w.manager).host_bytes, host_probe_bytes(w.probe));
    world_destroy(&w);
}

static void the_host_storages_books_survive_it_too(void **state) {
    (void)state;
    host_probe *probe = host_probe_create();
    acre_host_hooks hooks = host_probe_hooks(probe);
    acre_storage *storage = NULL;
    assert_ok(acre_storage_host_create(NULL, &hooks, &storage, NULL));
    acre_pool_options pool = direct_pool(ACRE_UNSET);
    rig r = rig_pools_on(storage, 128 * MIB, 32, &pool, 1);
    int met = 0;
    acre_handle *h[300];
    for (uint64_t i = 0; i < 300; i++) {
        host_probe_fail(probe, 1, false);
        acre_handle *handle = NULL;
        acre_status status = acre_manager_reserve(r.manager, 1000 + i, &handle, NULL);
        if (host_probe_failed(probe)) {
            met++;
            assert_status(ACRE_OUT_OF_HOST_MEMORY, status);
            assert_int_equal(usage_of(r.manager).allocations, i);
            check(r.manager);
            handle = take(r.manager, 1000 + i);
        } else {
            assert_ok(status);
        }
        h[i] = handle;
    }
    host_probe_fail(probe, 0, false);
    assert_true(met > 0);
    drop_all(r.manager, h, 300);
    rig_close(&r);
    host_probe_destroy(probe);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_failure_of_any_one_call_changes_nothing_and_the_next_is_served),
        cmocka_unit_test(a_failure_of_all_calls_from_any_one_on_changes_nothing),
        cmocka_unit_test(a_storages_own_books_survive_it_too),
        cmocka_unit_test(the_host_storages_books_survive_it_too),
        cmocka_unit_test(creating_a_manager_fails_cleanly_at_every_call),
        cmocka_unit_test(creating_a_storage_fails_cleanly_at_every_call),
        cmocka_unit_test(creating_a_handle_from_hooks_fails_cleanly),
        cmocka_unit_test(hooks_without_both_functions_are_refused),
        cmocka_unit_test(the_report_tells_the_bytes_held_through_the_hooks),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
