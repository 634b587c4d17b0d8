// Section 2, the simulated device: limits, call counters, scripted failures.
#include "support.h"

static rig direct_rig(acre_storage *storage) {
    acre_pool_options pool = direct_pool(ACRE_UNSET);
    return rig_pools_on(storage, 128 * MIB, 32, &pool, 1);
}

static void more_than_the_total_is_out_of_memory(void **state) {
    (void)state;
    rig r = direct_rig(limited_device(3 * MIB, 0));
    acre_handle *h[2] = {take(r.manager, 2 * MIB), take(r.manager, MIB)};
    (void)refuse(r.manager, 32, ACRE_OUT_OF_MEMORY);
    assert_int_equal(stats_of(r.storage).bytes_allocated, 3 * MIB);
    assert_int_equal(stats_of(r.storage).refused, 1);
    drop_all(r.manager, h, 2);
    rig_close(&r);
}

static void more_than_the_largest_allocation_is_out_of_memory(void **state) {
    (void)state;
    rig r = direct_rig(limited_device(0, MIB));
    acre_handle *h[2] = {take(r.manager, MIB), take(r.manager, MIB - 32)};
    assert_int_equal(stats_of(r.storage).allocs, 2);
    (void)refuse(r.manager, MIB + 32, ACRE_OUT_OF_MEMORY);
    assert_int_equal(stats_of(r.storage).refused, 1);
    drop_all(r.manager, h, 2);
    rig_close(&r);
}

static void the_nth_call_alone_fails(void **state) {
    (void)state;
    rig r = direct_rig(simulated_device());
    acre_handle *h[3];
    assert_ok(acre_storage_simulated_fail(r.storage, ACRE_SIMULATED_ALLOC, 3, false, NULL));
    h[0] = take(r.manager, 32);
    h[1] = take(r.manager, 64);
    acre_error error = refuse(r.manager, 96, ACRE_OUT_OF_MEMORY);
    assert_int_equal(error.native_code, -1);
    h[2] = take(r.manager, 96);
    assert_int_equal(device_calls(r.storage), 4);
    drop_all(r.manager, h, 3);
    rig_close(&r);
}

static void every_call_from_the_nth_on_fails_until_the_script_is_cleared(void **state) {
    (void)state;
    rig r = direct_rig(simulated_device());
    assert_ok(acre_storage_simulated_fail(r.storage, ACRE_SIMULATED_ALLOC, 2, true, NULL));
    acre_handle *a = take(r.manager, 32);
    for (uint64_t i = 2; i < 10; i++) {
        (void)refuse(r.manager, i * 32, ACRE_OUT_OF_MEMORY);
    }
    assert_int_equal(device_calls(r.storage), 9);
    assert_int_equal(stats_of(r.storage).refused, 8);
    assert_ok(acre_storage_simulated_fail(r.storage, ACRE_SIMULATED_ALLOC, 0, false, NULL));
    acre_handle *b = take(r.manager, 64);
    acre_manager_release(r.manager, a);
    acre_manager_release(r.manager, b);
    rig_close(&r);
}

static void calls_are_counted_per_operation_failures_included(void **state) {
    (void)state;
    rig r = direct_rig(simulated_device());
    acre_handle *a = take(r.manager, 100);
    acre_resource resource = ACRE_RESOURCE_INIT;
    assert_ok(acre_manager_resolve(r.manager, a, 0, 0, &resource, NULL));
    assert_ok(acre_storage_simulated_fail(r.storage, ACRE_SIMULATED_RESOURCE, 1, true, NULL));
    assert_status(ACRE_BACKEND_ERROR, acre_manager_resolve(r.manager, a, 0, 0, &resource, NULL));
    assert_int_equal(acre_storage_simulated_calls(r.storage, ACRE_SIMULATED_RESOURCE), 2);
    assert_int_equal(acre_storage_simulated_calls(r.storage, ACRE_SIMULATED_ALLOC), 1);
    acre_manager_release(r.manager, a);
    rig_close(&r);
}

static void deferred_frees_hold_their_bytes_until_they_are_flushed(void **state) {
    (void)state;
    acre_simulated_storage_params params = ACRE_SIMULATED_STORAGE_PARAMS_INIT;
    params.deferred_frees = true;
    acre_storage *storage = NULL;
    assert_ok(acre_storage_simulated_create(&params, NULL, &storage, NULL));
    acre_pool_options pool = direct_pool(MIB);
    rig r = rig_pools_on(storage, 128 * MIB, 32, &pool, 1);
    acre_manager_release(r.manager, take(r.manager, MIB));
    acre_handle *a = take(r.manager, 2 * MIB); // passes the watermark: 1 MiB goes back
    assert_int_equal(usage_of(r.manager).reserved, 2 * MIB);
    acre_manager_cleanup(r.manager, ACRE_CLEANUP_EXPLICIT);
    assert_int_equal(stats_of(r.storage).bytes_allocated, 2 * MIB);
    acre_manager_release(r.manager, a);
    rig_close(&r);
}

static void peaks_and_counters_are_kept(void **state) {
    (void)state;
    rig r = direct_rig(simulated_device());
    acre_handle *h[2] = {take(r.manager, 2 * MIB), take(r.manager, MIB)};
    drop_all(r.manager, h, 2);
    acre_manager_cleanup(r.manager, ACRE_CLEANUP_EXPLICIT);
    acre_handle *a = take(r.manager, MIB);
    acre_storage_stats stats = stats_of(r.storage);
    assert_int_equal(stats.allocs, 3);
    assert_int_equal(stats.deallocs, 2);
    assert_int_equal(stats.refused, 0);
    assert_int_equal(stats.bytes_allocated, MIB);
    assert_int_equal(stats.bytes_peak, 3 * MIB);
    assert_int_equal(report_of(r.manager).bytes_peak, 3 * MIB);
    acre_manager_release(r.manager, a);
    rig_close(&r);
}

static void its_limits_are_what_it_was_made_with(void **state) {
    (void)state;
    acre_simulated_storage_params params = ACRE_SIMULATED_STORAGE_PARAMS_INIT;
    params.total_memory = 80 * GIB;
    params.largest_allocation = 20 * GIB;
    params.slice_alignment = 50;
    params.no_sub_slices = true;
    acre_storage *storage = NULL;
    assert_ok(acre_storage_simulated_create(&params, NULL, &storage, NULL));
    acre_storage_limits limits = ACRE_STORAGE_LIMITS_INIT;
    acre_storage_limits_get(storage, &limits);
    assert_int_equal(limits.total_memory, 80 * GIB);
    assert_int_equal(limits.largest_allocation, 20 * GIB);
    assert_int_equal(limits.slice_alignment, 50);
    assert_true(limits.no_sub_slices);
    acre_manager_options options = plain_options(0, 0);
    rig r = rig_on(storage, &options);
    assert_int_equal(report_of(r.manager).total_memory, 80 * GIB);
    assert_int_equal(report_of(r.manager).largest_page, 20 * GIB / 50 * 50);
    assert_int_equal(report_of(r.manager).alignment, 50);
    rig_close(&r);

    assert_ok(acre_storage_simulated_create(NULL, NULL, &storage, NULL));
    acre_storage_limits_get(storage, &limits);
    assert_int_equal(limits.total_memory, 0);
    assert_int_equal(limits.slice_alignment, 256);
    acre_storage_destroy(storage);
}

static void scripts_are_for_simulated_devices_alone(void **state) {
    (void)state;
    acre_storage *storage = NULL;
    assert_ok(acre_storage_host_create(NULL, NULL, &storage, NULL));
    acre_error error = ACRE_ERROR_INIT;
    assert_status(ACRE_INVALID_ARGUMENT,
                  acre_storage_simulated_fail(storage, ACRE_SIMULATED_ALLOC, 1, false, &error));
    assert_int_equal(acre_storage_simulated_calls(storage, ACRE_SIMULATED_ALLOC), 0);
    acre_storage_destroy(storage);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(more_than_the_total_is_out_of_memory),
        cmocka_unit_test(more_than_the_largest_allocation_is_out_of_memory),
        cmocka_unit_test(the_nth_call_alone_fails),
        cmocka_unit_test(every_call_from_the_nth_on_fails_until_the_script_is_cleared),
        cmocka_unit_test(calls_are_counted_per_operation_failures_included),
        cmocka_unit_test(deferred_frees_hold_their_bytes_until_they_are_flushed),
        cmocka_unit_test(peaks_and_counters_are_kept),
        cmocka_unit_test(its_limits_are_what_it_was_made_with),
        cmocka_unit_test(scripts_are_for_simulated_devices_alone),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
