// Section 5, installing a layout: in place, while nothing lives in the dynamic pools.
#include "support.h"

static acre_status install(acre_manager *manager, const acre_pool_options *pools, size_t count,
                           acre_error *error) {
    acre_layout layout = explicit_layout(pools, count);
    return acre_manager_install_layout(manager, &layout, error);
}

static void a_live_allocation_refuses_the_install_and_the_old_layout_stays(void **state) {
    (void)state;
    acre_pool_options old = sliced_pool(MIB, ACRE_UNSET, 2 * MIB);
    acre_pool_options new = sliced_pool(4 * MIB, ACRE_UNSET, 8 * MIB);
    rig r = rig_pools(&old, 1);
    acre_handle *live = take(r.manager, MIB);
    snapshot before = snapshot_of(r.manager);

    acre_error error = ACRE_ERROR_INIT;
    assert_status(ACRE_POOLS_IN_USE, install(r.manager, &new, 1, &error));
    assert_int_equal(error.status, ACRE_POOLS_IN_USE);
    assert_int_equal(error.in_use, MIB);
    snapshot after = snapshot_of(r.manager);
    assert_unchanged(&before, &after);
    (void)refuse(r.manager, 2 * MIB, ACRE_BUFFER_TOO_BIG);

    acre_manager_release(r.manager, live);
    assert_ok(install(r.manager, &new, 1, NULL));
    acre_handle *large = take(r.manager, 2 * MIB);
    assert_int_equal(usage_of(r.manager).reserved, 4 * MIB);
    acre_manager_release(r.manager, large);
    rig_close(&r);
}

static void a_binding_refuses_the_install_too(void **state) {
    (void)state;
    acre_pool_options pool = sliced_pool(MIB, ACRE_UNSET, ACRE_UNSET);
    rig r = rig_pools(&pool, 1);
    acre_handle *a = take(r.manager, 1000);
    acre_binding *binding = acre_handle_binding(a);
    acre_manager_release(r.manager, a);
    acre_error error = ACRE_ERROR_INIT;
    assert_status(ACRE_POOLS_IN_USE, install(r.manager, &pool, 1, &error));
    assert_int_equal(error.in_use, 1000);
    acre_binding_release(binding);
    assert_ok(install(r.manager, &pool, 1, NULL));
    rig_close(&r);
}

static void a_live_zero_sized_allocation_refuses_the_install(void **state) {
    (void)state;
    acre_pool_options pool = exclusive_pool(MIB);
    rig r = rig_pools(&pool, 1);
    acre_handle *none = take(r.manager, 0);
    assert_status(ACRE_POOLS_IN_USE, install(r.manager, &pool, 1, NULL));
    acre_manager_release(r.manager, none);
    assert_ok(install(r.manager, &pool, 1, NULL));
    rig_close(&r);
}

static void a_handle_released_by_any_thread_counts_as_gone(void **state) {
    (void)state;
    acre_pool_options pool = sliced_pool(MIB, ACRE_UNSET, ACRE_UNSET);
    rig r = rig_pools(&pool, 1);
    acre_handle_release(take(r.manager, 1000));
    assert_ok(install(r.manager, &pool, 1, NULL));
    assert_int_equal(usage_of(r.manager).reserved, 0);
    rig_close(&r);
}

static void free_pages_go_back_and_the_marks_begin_anew(void **state) {
    (void)state;
    acre_pool_options pool = sliced_pool(MIB, ACRE_UNSET, ACRE_UNSET);
    rig r = rig_pools(&pool, 1);
    acre_handle *h[2] = {take(r.manager, MIB), take(r.manager, 700 * KIB)};
    drop_all(r.manager, h, 2);
    assert_int_equal(pool_of(r.manager, 0).pages_peak, 2);
    assert_ok(install(r.manager, &pool, 1, NULL));
    acre_pool_report report = pool_of(r.manager, 0);
    assert_int_equal(report.pages, 0);
    assert_int_equal(report.pages_peak, 0);
    assert_int_equal(report.bytes_peak, 0);
    assert_int_equal(report.largest_alloc, 0);
    assert_int_equal(stats_of(r.storage).bytes_allocated, 0);
    rig_close(&r);
}

static void persistent_and_dedicated_memory_is_untouched(void **state) {
    (void)state;
    acre_pool_options pool = sliced_pool(MIB, ACRE_UNSET, ACRE_UNSET);
    rig r = rig_pools(&pool, 1);
    set_mode(r.manager, ACRE_MODE_PERSISTENT);
    acre_handle *weight = take(r.manager, 1024);
    acre_manager_release(r.manager, take(r.manager, 2048)); // free, and kept
    set_mode(r.manager, ACRE_MODE_DEDICATED);
    acre_handle *own = take(r.manager, 4096);
    acre_place places[2] = {place_of(r.manager, weight), place_of(r.manager, own)};
    acre_pool_report persistent = pool_of(r.manager, ACRE_POOL_INDEX_PERSISTENT);
    acre_pool_report dedicated = pool_of(r.manager, ACRE_POOL_INDEX_DEDICATED);

    acre_layout preset = ACRE_LAYOUT_INIT(ACRE_LAYOUT_EXCLUSIVE_PAGES);
    assert_ok(acre_manager_install_layout(r.manager, &preset, NULL));

    assert_int_equal(report_of(r.manager).pool_count, 24);
    assert_true(same_place(place_of(r.manager, weight), places[0]));
    assert_true(same_place(place_of(r.manager, own), places[1]));
    acre_pool_report after = pool_of(r.manager, ACRE_POOL_INDEX_PERSISTENT);
    assert_int_equal(after.pages, persistent.pages);
    assert_int_equal(after.pages_peak, persistent.pages_peak);
    assert_int_equal(after.usage.reserved, persistent.usage.reserved);
    assert_int_equal(after.largest_alloc, persistent.largest_alloc);
    after = pool_of(r.manager, ACRE_POOL_INDEX_DEDICATED);
    assert_int_equal(after.pages, dedicated.pages);
    assert_int_equal(acre_manager_get_mode(r.manager), ACRE_MODE_DEDICATED);
    acre_manager_release(r.manager, weight);
    acre_manager_release(r.manager, own);
    rig_close(&r);
}

static void a_layout_that_cannot_be_made_leaves_the_old_one_in_force(void **state) {
    (void)state;
    acre_pool_options pool = sliced_pool(MIB, ACRE_UNSET, ACRE_UNSET);
    rig r = rig_pools(&pool, 1);
    acre_manager_release(r.manager, take(r.manager, 1000));
    snapshot before = snapshot_of(r.manager);
    acre_pool_options wrong[] = {exclusive_pool(MIB), sliced_pool(0, ACRE_UNSET, ACRE_UNSET)};
    acre_error error = ACRE_ERROR_INIT;
    assert_status(ACRE_INVALID_ARGUMENT, install(r.manager, wrong, 2, &error));
    snapshot after = snapshot_of(r.manager);
    assert_unchanged(&before, &after);
    acre_manager_release(r.manager, take(r.manager, 1000));
    assert_int_equal(device_calls(r.storage), 1);
    rig_close(&r);
}

static void installing_over_and_over_holds_nothing_back(void **state) {
    (void)state;
    acre_pool_options a[] = {exclusive_pool(0), sliced_pool(MIB, ACRE_UNSET, ACRE_UNSET)};
    acre_pool_options b[] = {direct_pool(ACRE_UNSET)};
    rig r = rig_pools(a, 2);
    uint64_t host = 0;
    for (int i = 0; i < 100; i++) {
        acre_manager_release(r.manager, take(r.manager, 3000));
        assert_ok(install(r.manager, b, 1, NULL));
        acre_manager_release(r.manager, take(r.manager, 3000));
        assert_ok(install(r.manager, a, 2, NULL));
        check(r.manager);
        if (i == 9) {
            host = report_of(r.manager).host_bytes;
        }
    }
    assert_int_equal(report_of(r.manager).host_bytes, host);
    assert_int_equal(usage_of(r.manager).reserved, 0);
    rig_close(&r);
}

static void pages_of_the_old_layout_are_flushed(void **state) {
    (void)state;
    acre_simulated_storage_params params = ACRE_SIMULATED_STORAGE_PARAMS_INIT;
    params.total_memory = MIB;
    params.deferred_frees = true;
    acre_storage *storage = NULL;
    assert_ok(acre_storage_simulated_create(&params, NULL, &storage, NULL));
    acre_pool_options pool = sliced_pool(MIB, ACRE_UNSET, ACRE_UNSET);
    rig r = rig_pools_on(storage, 128 * MIB, 32, &pool, 1);
    acre_manager_release(r.manager, take(r.manager, 1000));
    assert_ok(install(r.manager, &pool, 1, NULL));
    assert_int_equal(stats_of(r.storage).bytes_allocated, 0);
    rig_close(&r);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_live_allocation_refuses_the_install_and_the_old_layout_stays),
        cmocka_unit_test(a_binding_refuses_the_install_too),
        cmocka_unit_test(a_live_zero_sized_allocation_refuses_the_install),
        cmocka_unit_test(a_handle_released_by_any_thread_counts_as_gone),
        cmocka_unit_test(free_pages_go_back_and_the_marks_begin_anew),
        cmocka_unit_test(pages_of_the_old_layout_are_flushed),
        cmocka_unit_test(persistent_and_dedicated_memory_is_untouched),
        cmocka_unit_test(a_layout_that_cannot_be_made_leaves_the_old_one_in_force),
        cmocka_unit_test(installing_over_and_over_holds_nothing_back),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
