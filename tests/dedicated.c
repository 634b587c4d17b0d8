// Section 4, the dedicated pool: a new device allocation per request, given back once freed.
#include "support.h"

static acre_pool_report dedicated(acre_manager *manager) {
    return pool_of(manager, ACRE_POOL_INDEX_DEDICATED);
}

static rig dedicated_rig(bool deferred_frees) {
    acre_simulated_storage_params params = ACRE_SIMULATED_STORAGE_PARAMS_INIT;
    params.deferred_frees = deferred_frees;
    acre_storage *storage = NULL;
    assert_ok(acre_storage_simulated_create(&params, NULL, &storage, NULL));
    acre_pool_options pool = exclusive_pool(MIB);
    rig r = rig_pools_on(storage, 128 * MIB, 32, &pool, 1);
    set_mode(r.manager, ACRE_MODE_DEDICATED);
    return r;
}

static void every_request_is_a_new_device_allocation(void **state) {
    (void)state;
    rig r = dedicated_rig(false);
    acre_handle *a = take(r.manager, 1000);
    assert_int_equal(place_of(r.manager, a).pool_index, ACRE_POOL_INDEX_DEDICATED);
    assert_int_equal(dedicated(r.manager).kind, ACRE_POOL_DEDICATED);
    assert_int_equal(dedicated(r.manager).usage.reserved, 1024);
    acre_manager_release(r.manager, a);
    a = take(r.manager, 1000);
    assert_int_equal(stats_of(r.storage).allocs, 2);
    assert_int_equal(stats_of(r.storage).deallocs, 1);
    acre_manager_release(r.manager, a);
    rig_close(&r);
}

static void add_only_allocates_anew_and_gives_nothing_back(void **state) {
    (void)state;
    rig r = dedicated_rig(false);
    acre_manager_release(r.manager, take(r.manager, 1024));
    acre_handle *a = take_with(r.manager, 1024, 0, ACRE_PAGES_ADD_ONLY);
    assert_int_equal(stats_of(r.storage).allocs, 2);
    assert_int_equal(stats_of(r.storage).deallocs, 0);
    assert_int_equal(dedicated(r.manager).pages, 2);
    acre_manager_release(r.manager, a);
    rig_close(&r);
}

static void forbidden_alone_takes_a_freed_slice_of_the_same_padded_size(void **state) {
    (void)state;
    rig r = dedicated_rig(false);
    acre_handle *a = take(r.manager, 1024);
    acre_place place = place_of(r.manager, a);
    acre_manager_release(r.manager, a);
    (void)refuse_with(r.manager, 992, 0, ACRE_PAGES_FORBIDDEN, ACRE_PAGE_UPDATE_FORBIDDEN);
    a = take_with(r.manager, 993, 0, ACRE_PAGES_FORBIDDEN);
    assert_true(same_place(place_of(r.manager, a), place));
    (void)refuse_with(r.manager, 1024, 0, ACRE_PAGES_FORBIDDEN, ACRE_PAGE_UPDATE_FORBIDDEN);
    assert_int_equal(stats_of(r.storage).allocs, 1);
    acre_manager_release(r.manager, a);
    rig_close(&r);
}

static void freed_slices_go_back_flushed_at_the_next_reservation_of_any_mode(void **state) {
    (void)state;
    rig r = dedicated_rig(true);
    acre_handle *h[2] = {take(r.manager, 1024), take(r.manager, 2048)};
    drop_all(r.manager, h, 2);
    assert_int_equal(dedicated(r.manager).pages, 2);
    set_mode(r.manager, ACRE_MODE_AUTO);
    acre_handle *a = take_with(r.manager, 64, 0, ACRE_PAGES_ADD_ONLY);
    assert_int_equal(dedicated(r.manager).pages, 2);
    acre_handle *b = take(r.manager, 64);
    assert_int_equal(dedicated(r.manager).pages, 0);
    assert_int_equal(stats_of(r.storage).deallocs, 2);
    assert_int_equal(stats_of(r.storage).bytes_allocated, 128); // deferred frees were flushed
    acre_manager_release(r.manager, a);
    acre_manager_release(r.manager, b);
    rig_close(&r);
}

static void freed_slices_go_back_flushed_at_any_cleanup(void **state) {
    (void)state;
    const acre_cleanup cleanups[] = {ACRE_CLEANUP_PERIODIC, ACRE_CLEANUP_EXPLICIT};
    for (size_t i = 0; i < 2; i++) {
        rig r = dedicated_rig(true);
        acre_handle *live = take(r.manager, 4096);
        acre_manager_release(r.manager, take(r.manager, 1024));
        acre_manager_cleanup(r.manager, cleanups[i]);
        assert_int_equal(dedicated(r.manager).pages, 1);
        assert_int_equal(stats_of(r.storage).bytes_allocated, 4096);
        acre_manager_release(r.manager, live);
        rig_close(&r);
    }
}

static void a_refused_request_still_gave_the_freed_ones_back(void **state) {
    (void)state;
    acre_pool_options pool = exclusive_pool(MIB);
    rig r = rig_pools_on(limited_device(2 * MIB, 0), 128 * MIB, 32, &pool, 1);
    set_mode(r.manager, ACRE_MODE_DEDICATED);
    acre_handle *live = take(r.manager, MIB);
    acre_manager_release(r.manager, take(r.manager, MIB));
    (void)refuse(r.manager, 2 * MIB, ACRE_OUT_OF_MEMORY);
    assert_int_equal(dedicated(r.manager).pages, 1);
    acre_handle *next = take(r.manager, MIB);
    acre_manager_release(r.manager, live);
    acre_manager_release(r.manager, next);
    rig_close(&r);
}

static void sizes_up_to_the_largest_page_are_accepted(void **state) {
    (void)state;
    acre_pool_options pool = exclusive_pool(100);
    rig r = rig_sized(1000, 50, &pool, 1);
    set_mode(r.manager, ACRE_MODE_DEDICATED);
    acre_manager_release(r.manager, take(r.manager, 1000));
    (void)refuse(r.manager, 1001, ACRE_BUFFER_TOO_BIG);
    rig_close(&r);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_request_is_a_new_device_allocation),
        cmocka_unit_test(add_only_allocates_anew_and_gives_nothing_back),
        cmocka_unit_test(forbidden_alone_takes_a_freed_slice_of_the_same_padded_size),
        cmocka_unit_test(freed_slices_go_back_flushed_at_the_next_reservation_of_any_mode),
        cmocka_unit_test(freed_slices_go_back_flushed_at_any_cleanup),
        cmocka_unit_test(a_refused_request_still_gave_the_freed_ones_back),
        cmocka_unit_test(sizes_up_to_the_largest_page_are_accepted),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
