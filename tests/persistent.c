// Section 4, the persistent pool: exact-size slices for weights.
#include "support.h"

static rig persistent_rig(void) {
    acre_pool_options pool = sliced_pool(MIB, ACRE_UNSET, ACRE_UNSET);
    rig r = rig_pools(&pool, 1);
    set_mode(r.manager, ACRE_MODE_PERSISTENT);
    return r;
}

static acre_pool_report persistent(acre_manager *manager) {
    return pool_of(manager, ACRE_POOL_INDEX_PERSISTENT);
}

static void a_slice_is_exactly_the_padded_size(void **state) {
    (void)state;
    rig r = persistent_rig();
    acre_handle *a = take(r.manager, 1000);
    assert_int_equal(place_of(r.manager, a).pool_index, ACRE_POOL_INDEX_PERSISTENT);
    assert_int_equal(persistent(r.manager).kind, ACRE_POOL_PERSISTENT);
    assert_int_equal(persistent(r.manager).usage.in_use, 1000);
    assert_int_equal(persistent(r.manager).usage.padding, 24);
    assert_int_equal(persistent(r.manager).usage.reserved, 1024);
    assert_int_equal(pool_of(r.manager, 0).pages_peak, 0);
    acre_manager_release(r.manager, a);
    rig_close(&r);
}

static void a_slice_is_reused_for_the_same_padded_size_only(void **state) {
    (void)state;
    rig r = persistent_rig();
    acre_handle *a = take(r.manager, 1024);
    acre_place first = place_of(r.manager, a);
    acre_manager_release(r.manager, a);
    acre_handle *smaller = take(r.manager, 992);
    assert_int_equal(persistent(r.manager).pages, 2);
    acre_handle *same = take(r.manager, 1000);
    assert_int_equal(persistent(r.manager).pages, 2);
    assert_true(same_place(place_of(r.manager, same), first));
    acre_handle *larger = take(r.manager, 1025);
    assert_int_equal(persistent(r.manager).pages, 3);
    acre_handle *all[] = {smaller, same, larger};
    drop_all(r.manager, all, 3);
    rig_close(&r);
}

static void many_sizes_are_each_found_again(void **state) {
    (void)state;
    rig r = persistent_rig();
    enum {
        SIZES = 3000
    };
    static acre_handle *h[SIZES];
    static acre_place places[SIZES];
    for (uint64_t i = 0; i < SIZES; i++) {
        h[i] = take(r.manager, (i + 1) * 32);
        places[i] = place_of(r.manager, h[i]);
    }
    drop_all(r.manager, h, SIZES);
    for (uint64_t i = 0; i < SIZES; i++) {
        uint64_t which = (i * 1777) % SIZES;
        h[which] = take(r.manager, (which + 1) * 32);
        assert_true(same_place(place_of(r.manager, h[which]), places[which]));
    }
    assert_int_equal(device_calls(r.storage), SIZES);
    drop_all(r.manager, h, SIZES);
    rig_close(&r);
}

static void an_explicit_cleanup_returns_the_free_ones_and_a_periodic_none(void **state) {
    (void)state;
    rig r = persistent_rig();
    acre_handle *live = take(r.manager, 1024);
    acre_manager_release(r.manager, take(r.manager, 2048));
    acre_manager_release(r.manager, take(r.manager, 4096));
    acre_manager_cleanup(r.manager, ACRE_CLEANUP_PERIODIC);
    assert_int_equal(persistent(r.manager).pages, 3);
    acre_manager_cleanup(r.manager, ACRE_CLEANUP_EXPLICIT);
    assert_int_equal(persistent(r.manager).pages, 1);
    assert_int_equal(persistent(r.manager).usage.reserved, 1024);
    assert_int_equal(place_of(r.manager, live).size, 1024);
    acre_manager_release(r.manager, live);
    rig_close(&r);
}

static void free_slices_stay_over_any_number_of_reservations(void **state) {
    (void)state;
    rig r = persistent_rig();
    acre_manager_release(r.manager, take(r.manager, 1024));
    set_mode(r.manager, ACRE_MODE_AUTO);
    for (int i = 0; i < 20000; i++) {
        acre_manager_release(r.manager, take(r.manager, 64));
    }
    assert_int_equal(persistent(r.manager).pages, 1);
    rig_close(&r);
}

static void sizes_up_to_the_largest_page_are_accepted(void **state) {
    (void)state;
    acre_pool_options pool = sliced_pool(100, ACRE_UNSET, ACRE_UNSET);
    rig r = rig_sized(1000, 50, &pool, 1);
    set_mode(r.manager, ACRE_MODE_PERSISTENT);
    acre_manager_release(r.manager, take(r.manager, 1000));
    acre_error error = refuse(r.manager, 1001, ACRE_BUFFER_TOO_BIG);
    assert_int_equal(error.size, 1001);
    rig_close(&r);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_slice_is_exactly_the_padded_size),
        cmocka_unit_test(a_slice_is_reused_for_the_same_padded_size_only),
        cmocka_unit_test(many_sizes_are_each_found_again),
        cmocka_unit_test(an_explicit_cleanup_returns_the_free_ones_and_a_periodic_none),
        cmocka_unit_test(free_slices_stay_over_any_number_of_reservations),
        cmocka_unit_test(sizes_up_to_the_largest_page_are_accepted),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
