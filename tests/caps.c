// Section 4, caps: a cap bounds the sum of page bytes; a full capped pool spills to a later one.
#include "support.h"

static void a_full_pool_says_size_capacity_and_bytes_in_use(void **state) {
    (void)state;
    acre_pool_options pool = sliced_pool(MIB, ACRE_UNSET, 2 * MIB);
    rig r = rig_pools(&pool, 1);
    acre_handle *a = take(r.manager, 1000 * KIB);
    acre_handle *b = take(r.manager, 1000 * KIB);
    acre_error error = refuse(r.manager, 100 * KIB, ACRE_POOL_CAPACITY_EXCEEDED);
    assert_int_equal(error.size, 100 * KIB);
    assert_int_equal(error.capacity, 2 * MIB);
    assert_int_equal(error.in_use, 2000 * KIB);
    assert_int_equal(error.cause, ACRE_OK);
    assert_int_equal(device_calls(r.storage), 2);
    acre_manager_release(r.manager, a);
    acre_manager_release(r.manager, take(r.manager, 100 * KIB));
    acre_manager_release(r.manager, b);
    rig_close(&r);
}

static void a_cap_smaller_than_a_page_shrinks_the_page_rounded_down(void **state) {
    (void)state;
    acre_pool_options pool = sliced_pool(1000, ACRE_UNSET, 455);
    rig r = rig_sized(128 * MIB, 10, &pool, 1);
    assert_int_equal(pool_of(r.manager, 0).page_size, 450);
    acre_handle *a = take(r.manager, 450);
    assert_int_equal(usage_of(r.manager).reserved, 450);
    acre_error error = refuse(r.manager, 5, ACRE_POOL_CAPACITY_EXCEEDED);
    assert_int_equal(error.in_use, 450);
    acre_manager_release(r.manager, a);
    rig_close(&r);
}

static void a_cap_that_is_no_multiple_of_the_page_leaves_its_rest_unused(void **state) {
    (void)state;
    acre_pool_options pool = sliced_pool(1000, ACRE_UNSET, 2500);
    rig r = rig_sized(128 * MIB, 10, &pool, 1);
    acre_handle *h[2] = {take(r.manager, 1000), take(r.manager, 1000)};
    acre_error error = refuse(r.manager, 1000, ACRE_POOL_CAPACITY_EXCEEDED);
    assert_int_equal(error.capacity, 2500);
    assert_true(usage_of(r.manager).reserved <= 2500);
    drop_all(r.manager, h, 2);
    rig_close(&r);
}

static void a_cap_below_the_alignment_means_no_pages(void **state) {
    (void)state;
    const uint64_t caps[] = {0, 9};
    for (size_t i = 0; i < COUNT_OF(caps); i++) {
        acre_pool_options sliced = sliced_pool(1000, 100, caps[i]);
        rig r = rig_sized(128 * MIB, 10, &sliced, 1);
        acre_error error = refuse(r.manager, 5, ACRE_POOL_CAPACITY_EXCEEDED);
        assert_int_equal(error.size, 5);
        assert_int_equal(error.in_use, 0);
        assert_int_equal(device_calls(r.storage), 0);
        rig_close(&r);

        acre_pool_options exclusive = exclusive_pool(1000);
        exclusive.max_pool_size = caps[i];
        r = rig_sized(128 * MIB, 10, &exclusive, 1);
        error = refuse(r.manager, 5, ACRE_POOL_CAPACITY_EXCEEDED);
        assert_int_equal(error.capacity, caps[i]);
        assert_int_equal(device_calls(r.storage), 0);
        rig_close(&r);
    }
}

static void a_cap_never_refuses_a_zero_sized_request(void **state) {
    (void)state;
    acre_pool_options pools[] = {sliced_pool(1000, 100, 0), exclusive_pool(1000)};
    pools[1].max_pool_size = 0;
    for (size_t i = 0; i < 2; i++) {
        rig r = rig_sized(128 * MIB, 10, &pools[i], 1);
        acre_handle *a = take(r.manager, 0);
        acre_handle *b = take_with(r.manager, 0, 0, ACRE_PAGES_FORBIDDEN);
        assert_ptr_not_equal(a, b);
        assert_int_equal(usage_of(r.manager).allocations, 2);
        assert_int_equal(device_calls(r.storage), 0);
        acre_manager_release(r.manager, a);
        acre_manager_release(r.manager, b);
        rig_close(&r);
    }
}

static void an_exclusive_pool_holds_no_more_than_its_cap(void **state) {
    (void)state;
    acre_pool_options pool = exclusive_pool(MIB);
    pool.max_pool_size = 2 * MIB;
    rig r = rig_pools(&pool, 1);
    acre_handle *a = take(r.manager, MIB);
    acre_handle *b = take(r.manager, MIB - 100);
    acre_error error = refuse(r.manager, MIB / 2, ACRE_POOL_CAPACITY_EXCEEDED);
    assert_int_equal(error.size, MIB / 2);
    assert_int_equal(error.capacity, 2 * MIB);
    assert_int_equal(error.in_use, 2 * MIB - 100);
    acre_manager_release(r.manager, a);
    a = take(r.manager, MIB / 2); // the free page fits
    assert_int_equal(usage_of(r.manager).reserved, 2 * MIB - 100 / 32 * 32);
    acre_manager_release(r.manager, a);
    acre_manager_release(r.manager, b);
    rig_close(&r);
}

// One sliced 1 MiB x2 pages.
static void a_cap_of_two_pages_is_a_hard_budget(void **state) {
    (void)state;
    acre_pool_options pool = sliced_pool(MIB, ACRE_UNSET, 2 * MIB);
    rig r = rig_pools(&pool, 1);
    acre_manager_release(r.manager, take(r.manager, 4096));
    acre_handle *h[3];
    h[0] = take(r.manager, 512 * KIB);
    assert_int_equal(usage_of(r.manager).reserved, MIB);
    h[1] = take(r.manager, MIB);
    h[2] = take(r.manager, 500 * KIB);
    (void)refuse(r.manager, MIB, ACRE_POOL_CAPACITY_EXCEEDED);
    assert_int_equal(usage_of(r.manager).reserved, 2 * MIB);
    drop_all(r.manager, h, 3);
    rig_close(&r);
}

static void sizes_near_the_page_of_a_small_capped_pool_go_past_it(void **state) {
    (void)state;
    acre_pool_options pools[] = {sliced_pool(MIB, 64 * KIB, 2 * MIB),
                                 sliced_pool(16 * MIB, ACRE_UNSET, 32 * MIB)};
    rig r = rig_pools(pools, 2);
    acre_handle *h[5];
    for (size_t i = 0; i < 4; i++) {
        h[i] = take(r.manager, MIB);
        assert_int_equal(place_of(r.manager, h[i]).pool_index, 1);
    }
    assert_int_equal(usage_of(r.manager).reserved, 16 * MIB);
    h[4] = take(r.manager, 4096);
    assert_int_equal(place_of(r.manager, h[4]).pool_index, 0);
    assert_int_equal(usage_of(r.manager).reserved, 17 * MIB);
    drop_all(r.manager, h, 5);
    rig_close(&r);
}

static void a_full_capped_pool_spills_to_the_growable_pool_behind_it(void **state) {
    (void)state;
    acre_pool_options pools[] = {sliced_pool(MIB, ACRE_UNSET, MIB),
                                 sliced_pool(4 * MIB, ACRE_UNSET, ACRE_UNSET)};
    rig r = rig_pools(pools, 2);
    acre_handle *h[2] = {take(r.manager, MIB), take(r.manager, MIB)};
    assert_int_equal(pool_of(r.manager, 0).pages_peak, 1);
    assert_int_equal(pool_of(r.manager, 1).pages_peak, 1);
    drop_all(r.manager, h, 2);
    rig_close(&r);
}

static void a_spill_goes_on_past_a_second_full_pool(void **state) {
    (void)state;
    acre_pool_options pools[] = {sliced_pool(MIB, ACRE_UNSET, MIB), exclusive_pool(MIB),
                                 direct_pool(ACRE_UNSET)};
    pools[1].max_pool_size = MIB;
    rig r = rig_pools(pools, 3);
    acre_handle *h[3];
    for (uint32_t i = 0; i < 3; i++) {
        h[i] = take(r.manager, MIB);
        assert_int_equal(place_of(r.manager, h[i]).pool_index, i);
    }
    drop_all(r.manager, h, 3);
    rig_close(&r);
}

static void a_failed_spill_reports_the_first_error_with_the_second_as_cause(void **state) {
    (void)state;
    acre_pool_options pools[] = {sliced_pool(MIB, ACRE_UNSET, MIB),
                                 sliced_pool(2 * MIB, ACRE_UNSET, 2 * MIB)};
    rig r = rig_pools(pools, 2);
    acre_handle *h[3] = {take(r.manager, MIB), take(r.manager, MIB), take(r.manager, MIB)};
    acre_error error = refuse(r.manager, MIB / 2, ACRE_POOL_CAPACITY_EXCEEDED);
    assert_int_equal(error.size, MIB / 2);
    assert_int_equal(error.capacity, MIB);
    assert_int_equal(error.in_use, MIB);
    assert_int_equal(error.cause, ACRE_POOL_CAPACITY_EXCEEDED);
    assert_int_equal(error.cause_capacity, 2 * MIB);
    drop_all(r.manager, h, 3);
    rig_close(&r);

    pools[1] = sliced_pool(4 * MIB, ACRE_UNSET, ACRE_UNSET);
    r = rig_pools_on(limited_device(2 * MIB, 0), 128 * MIB, 32, pools, 2);
    h[0] = take(r.manager, MIB);
    set_mode(r.manager, ACRE_MODE_PERSISTENT);
    h[1] = take(r.manager, 1000);
    set_mode(r.manager, ACRE_MODE_AUTO);
    error = refuse(r.manager, MIB, ACRE_POOL_CAPACITY_EXCEEDED);
    assert_int_equal(error.capacity, MIB);
    assert_int_equal(error.in_use, MIB); // of the full pool
    assert_int_equal(error.cause, ACRE_OUT_OF_MEMORY);
    drop_all(r.manager, h, 2);
    rig_close(&r);
}

static void a_full_pool_does_not_spill_to_one_that_does_not_accept_the_size(void **state) {
    (void)state;
    acre_pool_options pools[] = {sliced_pool(MIB, ACRE_UNSET, MIB), exclusive_pool(MIB / 2)};
    rig r = rig_pools(pools, 2);
    acre_handle *a = take(r.manager, MIB);
    acre_error error = refuse(r.manager, MIB, ACRE_POOL_CAPACITY_EXCEEDED);
    assert_int_equal(error.cause, ACRE_OK);
    acre_manager_release(r.manager, a);
    rig_close(&r);
}

static void a_pool_the_device_refused_does_not_spill(void **state) {
    (void)state;
    acre_pool_options pools[] = {sliced_pool(MIB, ACRE_UNSET, ACRE_UNSET), direct_pool(ACRE_UNSET)};
    rig r = rig_pools_on(limited_device(MIB / 2, 0), 128 * MIB, 32, pools, 2);
    (void)refuse(r.manager, 4096, ACRE_OUT_OF_MEMORY);
    assert_int_equal(device_calls(r.storage), 1);
    assert_int_equal(usage_of(r.manager).reserved, 0);
    rig_close(&r);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_full_pool_says_size_capacity_and_bytes_in_use),
        cmocka_unit_test(a_cap_smaller_than_a_page_shrinks_the_page_rounded_down),
        cmocka_unit_test(a_cap_that_is_no_multiple_of_the_page_leaves_its_rest_unused),
        cmocka_unit_test(a_cap_below_the_alignment_means_no_pages),
        cmocka_unit_test(a_cap_never_refuses_a_zero_sized_request),
        cmocka_unit_test(an_exclusive_pool_holds_no_more_than_its_cap),
        cmocka_unit_test(a_cap_of_two_pages_is_a_hard_budget),
        cmocka_unit_test(sizes_near_the_page_of_a_small_capped_pool_go_past_it),
        cmocka_unit_test(a_full_capped_pool_spills_to_the_growable_pool_behind_it),
        cmocka_unit_test(a_spill_goes_on_past_a_second_full_pool),
        cmocka_unit_test(a_failed_spill_reports_the_first_error_with_the_second_as_cause),
        cmocka_unit_test(a_full_pool_does_not_spill_to_one_that_does_not_accept_the_size),
        cmocka_unit_test(a_pool_the_device_refused_does_not_spill),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
