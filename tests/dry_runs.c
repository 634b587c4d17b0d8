// Section 7, dry runs and real runs: pages without device memory until something resolves them.
#include <acre/dry_run.h>
#include <pthread.h>

#include "support.h"

static rig growable(void) {
    acre_pool_options pool = sliced_pool(MIB, ACRE_UNSET, ACRE_UNSET);
    return rig_pools(&pool, 1);
}

static uint64_t resolved_size(acre_manager *manager, acre_handle *handle) {
    acre_resource resource = ACRE_RESOURCE_INIT;
    assert_ok(acre_manager_resolve(manager, handle, 0, 0, &resource, NULL));
    check(manager);
    return resource.size;
}

static void a_page_of_a_dry_run_has_no_memory_until_it_is_resolved(void **state) {
    (void)state;
    rig r = growable();
    acre_dry_run_begin();
    acre_handle *a = take(r.manager, 600 * KIB);
    assert_int_equal(pool_of(r.manager, 0).pages, 1);
    assert_int_equal(pool_of(r.manager, 0).pages_peak, 1);
    assert_int_equal(pool_of(r.manager, 0).pages_unmapped, 1);
    assert_int_equal(usage_of(r.manager).reserved, MIB);
    assert_int_equal(stats_of(r.storage).bytes_allocated, 0);
    assert_int_equal(device_calls(r.storage), 0);
    assert_int_equal(resolved_size(r.manager, a), 600 * KIB);
    assert_int_equal(pool_of(r.manager, 0).pages_unmapped, 0);
    assert_int_equal(stats_of(r.storage).bytes_allocated, MIB); // backed whole
    acre_manager_release(r.manager, a);
    acre_dry_run_end();
    acre_manager_cleanup(r.manager, ACRE_CLEANUP_EXPLICIT);
    assert_int_equal(pool_of(r.manager, 0).pages, 0);
    rig_close(&r);
}

static void a_measurement_maps_only_what_it_resolves(void **state) {
    (void)state;
    rig r = growable();
    acre_dry_run_begin();
    acre_handle *workload = take(r.manager, 600 * KIB);
    acre_real_run_begin(); // carving does not depend on it
    acre_handle *scratch = take(r.manager, 600 * KIB);
    acre_real_run_end();
    assert_int_equal(pool_of(r.manager, 0).pages, 2);
    assert_int_equal(pool_of(r.manager, 0).pages_unmapped, 2);
    (void)resolved_size(r.manager, scratch);
    assert_int_equal(pool_of(r.manager, 0).pages_unmapped, 1);
    drop_all(r.manager, (acre_handle *[]){workload, scratch}, 2);
    acre_dry_run_end();
    acre_manager_cleanup(r.manager, ACRE_CLEANUP_EXPLICIT);
    assert_int_equal(pool_of(r.manager, 0).pages, 0);
    assert_int_equal(stats_of(r.storage).deallocs, 1); // an unmapped page is never passed on
    rig_close(&r);
}

static void a_persistent_slice_of_a_dry_run_has_no_memory_until_it_is_resolved(void **state) {
    (void)state;
    rig r = growable();
    set_mode(r.manager, ACRE_MODE_PERSISTENT);
    acre_dry_run_begin();
    acre_handle *kv = take(r.manager, 512 * KIB);
    assert_int_equal(pool_of(r.manager, ACRE_POOL_INDEX_PERSISTENT).pages, 1);
    assert_int_equal(pool_of(r.manager, ACRE_POOL_INDEX_PERSISTENT).pages_unmapped, 1);
    assert_int_equal(resolved_size(r.manager, kv), 512 * KIB);
    assert_int_equal(pool_of(r.manager, ACRE_POOL_INDEX_PERSISTENT).pages_unmapped, 0);
    acre_manager_release(r.manager, kv);
    acre_dry_run_end();
    set_mode(r.manager, ACRE_MODE_AUTO);
    rig_close(&r);
}

static void persistent_direct_and_dedicated_slices_are_mapped_alone(void **state) {
    (void)state;
    acre_pool_options pool = direct_pool(ACRE_UNSET);
    for (int which = 0; which < 3; which++) {
        rig r = rig_pools(&pool, 1);
        uint32_t index = 0;
        if (which > 0) {
            set_mode(r.manager, which == 1 ? ACRE_MODE_PERSISTENT : ACRE_MODE_DEDICATED);
            index = which == 1 ? ACRE_POOL_INDEX_PERSISTENT : ACRE_POOL_INDEX_DEDICATED;
        }
        acre_dry_run_begin();
        acre_handle *kv = take(r.manager, 512 * KIB);
        acre_handle *other = take(r.manager, 256 * KIB);
        assert_int_equal(pool_of(r.manager, index).pages_unmapped, 2);
        assert_int_equal(resolved_size(r.manager, kv), 512 * KIB);
        assert_int_equal(pool_of(r.manager, index).pages_unmapped, 1);
        assert_int_equal(stats_of(r.storage).bytes_allocated, 512 * KIB);
        acre_dry_run_end();
        drop_all(r.manager, (acre_handle *[]){kv, other}, 2);
        rig_close(&r);
    }
}

static void look_ups_cause_no_backing(void **state) {
    (void)state;
    rig r = growable();
    acre_dry_run_begin();
    acre_handle *a = take(r.manager, 1000);
    acre_resource resource = ACRE_RESOURCE_INIT;
    uint64_t cursor = 1;
    (void)place_of(r.manager, a);
    assert_ok(acre_manager_get_cursor(r.manager, a, &cursor, NULL));
    assert_status(ACRE_INVALID_ARGUMENT,
                  acre_manager_resolve(r.manager, a, 1001, 0, &resource, NULL));
    assert_ok(acre_manager_resolve(r.manager, a, 1000, 0, &resource, NULL)); // no bytes
    assert_int_equal(device_calls(r.storage), 0);
    acre_manager_release(r.manager, a);
    acre_dry_run_end();
    rig_close(&r);
}

static void backing_that_fails_is_mapping_failed_with_the_cause(void **state) {
    (void)state;
    rig r = growable();
    acre_dry_run_begin();
    acre_handle *a = take(r.manager, 1000);
    acre_dry_run_end();
    assert_ok(acre_storage_simulated_fail(r.storage, ACRE_SIMULATED_ALLOC, 1, false, NULL));
    acre_resource resource = ACRE_RESOURCE_INIT;
    acre_error error = ACRE_ERROR_INIT;
    assert_status(ACRE_STORAGE_MAPPING_FAILED,
                  acre_manager_resolve(r.manager, a, 0, 0, &resource, &error));
    assert_int_equal(error.status, ACRE_STORAGE_MAPPING_FAILED);
    assert_int_equal(error.cause, ACRE_OUT_OF_MEMORY);
    assert_int_equal(error.native_code, -1);
    assert_int_equal(pool_of(r.manager, 0).pages_unmapped, 1);
    assert_int_equal(resolved_size(r.manager, a), 1000); // the next try is served
    acre_manager_release(r.manager, a);
    rig_close(&r);
}

static void after_a_dry_run_pages_are_mapped_at_once_again(void **state) {
    (void)state;
    rig r = growable();
    acre_dry_run_begin();
    acre_handle *lazy = take(r.manager, 600 * KIB);
    acre_dry_run_end();
    acre_handle *eager = take(r.manager, 600 * KIB);
    assert_int_equal(pool_of(r.manager, 0).pages_unmapped, 1);
    assert_int_equal(stats_of(r.storage).bytes_allocated, MIB);
    drop_all(r.manager, (acre_handle *[]){lazy, eager}, 2);
    rig_close(&r);
}

static void a_dry_run_measures_a_workload_larger_than_the_device(void **state) {
    (void)state;
    acre_layout layout = ACRE_LAYOUT_INIT(ACRE_LAYOUT_ADAPTIVE);
    acre_manager_options options = plain_options(GIB, 256);
    options.layout = &layout;
    rig r = rig_on(limited_device(64 * MIB, 0), &options);
    acre_dry_run_begin();
    acre_handle *h[4];
    for (int i = 0; i < 4; i++) {
        h[i] = take(r.manager, 100 * MIB);
    }
    assert_int_equal(usage_of(r.manager).reserved, 404 * MIB);
    drop_all(r.manager, h, 4);
    acre_dry_run_end();
    acre_manager_cleanup(r.manager, ACRE_CLEANUP_EXPLICIT);
    (void)refuse(r.manager, 100 * MIB, ACRE_OUT_OF_MEMORY);
    rig_close(&r);
}

static void a_plan_measured_dry_fits_the_run_that_follows(void **state) {
    (void)state;
    rig r = growable();
    uint64_t peaks[2];
    for (int pass = 0; pass < 2; pass++) {
        if (pass == 0) {
            acre_dry_run_begin();
        }
        acre_handle *a = take(r.manager, 600 * KIB);
        acre_handle *b = take(r.manager, 600 * KIB);
        acre_manager_release(r.manager, a);
        acre_handle *c = take(r.manager, 900 * KIB);
        drop_all(r.manager, (acre_handle *[]){b, c}, 2);
        peaks[pass] = pool_of(r.manager, 0).bytes_peak;
        if (pass == 0) {
            acre_dry_run_end();
            assert_int_equal(stats_of(r.storage).bytes_peak, 0);
            acre_pool_options pools[1];
            size_t count = 0;
            assert_ok(acre_manager_measured_pools(r.manager, pools, sizeof(acre_pool_options), 1,
                                                  &count, NULL));
            acre_layout layout = ACRE_LAYOUT_INIT(ACRE_LAYOUT_EXPLICIT);
            layout.pools = pools;
            layout.pool_count = count;
            assert_ok(acre_manager_install_layout(r.manager, &layout, NULL));
        }
    }
    assert_int_equal(peaks[0], 2 * MIB);
    assert_int_equal(peaks[1], peaks[0]);
    rig_close(&r);
}

// The first pass has scratch of a measurement beside the workload, the second none.
static void a_second_dry_pass_measures_the_workload_alone(void **state) {
    (void)state;
    acre_pool_options pool = sliced_pool(MIB, ACRE_UNSET, ACRE_UNSET);
    acre_layout layout = explicit_layout(&pool, 1);
    rig r = rig_pools(&pool, 1);
    acre_dry_run_begin();
    acre_handle *live = take(r.manager, 600 * KIB);
    acre_real_run_begin();
    acre_manager_release(r.manager, take(r.manager, 600 * KIB));
    acre_real_run_end();
    acre_manager_release(r.manager, live);
    assert_int_equal(pool_of(r.manager, 0).pages_peak, 2);
    assert_ok(acre_manager_install_layout(r.manager, &layout, NULL));
    acre_manager_release(r.manager, take(r.manager, 600 * KIB));
    assert_int_equal(pool_of(r.manager, 0).pages_peak, 1);
    acre_dry_run_end();
    assert_int_equal(device_calls(r.storage), 0);
    rig_close(&r);
}

static void runs_nest(void **state) {
    (void)state;
    assert_int_equal(acre_launch_mode_now(), ACRE_LAUNCH_EXECUTE);
    acre_dry_run_end(); // none open: nothing happens
    acre_real_run_end();
    acre_dry_run_begin();
    acre_dry_run_begin();
    acre_dry_run_end();
    assert_true(acre_dry_run_is_open());
    assert_int_equal(acre_launch_mode_now(), ACRE_LAUNCH_SKIP);
    acre_real_run_begin();
    acre_real_run_begin();
    acre_real_run_end();
    assert_int_equal(acre_launch_mode_now(), ACRE_LAUNCH_EXECUTE);
    acre_real_run_end();
    assert_int_equal(acre_launch_mode_now(), ACRE_LAUNCH_SKIP);
    acre_dry_run_end();
    assert_false(acre_dry_run_is_open());
    acre_real_run_begin(); // outside a dry run it changes nothing
    assert_int_equal(acre_launch_mode_now(), ACRE_LAUNCH_EXECUTE);
    acre_real_run_end();
}

static void *mode_on_another_thread(void *mode) {
    *(acre_launch_mode *)mode = acre_launch_mode_now();
    acre_dry_run_begin();
    acre_dry_run_end();
    return NULL;
}

static void a_dry_run_is_the_process_s_and_a_real_run_its_thread_s(void **state) {
    (void)state;
    acre_launch_mode seen = ACRE_LAUNCH_EXECUTE;
    acre_dry_run_begin();
    acre_real_run_begin();
    pthread_t thread;
    assert_int_equal(pthread_create(&thread, NULL, mode_on_another_thread, &seen), 0);
    assert_int_equal(pthread_join(thread, NULL), 0);
    assert_int_equal(seen, ACRE_LAUNCH_SKIP);
    assert_int_equal(acre_launch_mode_now(), ACRE_LAUNCH_EXECUTE);
    acre_real_run_end();
    acre_dry_run_end();
    assert_false(acre_dry_run_is_open());
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_page_of_a_dry_run_has_no_memory_until_it_is_resolved),
        cmocka_unit_test(a_measurement_maps_only_what_it_resolves),
        cmocka_unit_test(a_persistent_slice_of_a_dry_run_has_no_memory_until_it_is_resolved),
        cmocka_unit_test(persistent_direct_and_dedicated_slices_are_mapped_alone),
        cmocka_unit_test(look_ups_cause_no_backing),
        cmocka_unit_test(backing_that_fails_is_mapping_failed_with_the_cause),
        cmocka_unit_test(after_a_dry_run_pages_are_mapped_at_once_again),
        cmocka_unit_test(a_dry_run_measures_a_workload_larger_than_the_device),
        cmocka_unit_test(a_plan_measured_dry_fits_the_run_that_follows),
        cmocka_unit_test(a_second_dry_pass_measures_the_workload_alone),
        cmocka_unit_test(runs_nest),
        cmocka_unit_test(a_dry_run_is_the_process_s_and_a_real_run_its_thread_s),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
