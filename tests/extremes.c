// Sections 1 and 15, sizes near 2^64: nothing overflows, and the next request is served.
#include "support.h"

static const uint64_t huge[] = {UINT64_MAX,         UINT64_MAX - 1,       UINT64_MAX - 30,
                                UINT64_MAX - 31,    UINT64_MAX - 32,      UINT64_MAX - 63,
                                UINT64_MAX / 2 + 1, UINT64_MAX / 5 + 1,   UINT64_C(1) << 62,
                                UINT64_MAX - 4095,  UINT64_MAX - 2097151, UINT64_MAX - 49};

static void assert_all_refused(acre_manager *manager, acre_status expected) {
    for (size_t i = 0; i < COUNT_OF(huge); i++) {
        snapshot before = snapshot_of(manager);
        acre_error error = refuse(manager, huge[i], expected);
        assert_int_equal(error.size, huge[i]);
        (void)refuse_with(manager, huge[i], 4096, ACRE_PAGES_ADD_ONLY, expected);
        (void)refuse_with(manager, huge[i], 4096, ACRE_PAGES_FORBIDDEN, ACRE_PAGE_UPDATE_FORBIDDEN);
        snapshot after = snapshot_of(manager);
        assert_same_state(&before, &after);
        acre_manager_release(manager, take(manager, 1000));
        acre_manager_cleanup(manager, ACRE_CLEANUP_PERIODIC); // freed dedicated memory goes back
    }
}

static void every_pool_refuses_what_is_too_big_for_it(void **state) {
    (void)state;
    const uint64_t alignments[] = {1, 10, 32, 50, 4096};
    for (size_t a = 0; a < COUNT_OF(alignments); a++) {
        acre_pool_options pools[] = {sliced_pool(MIB, 64 * KIB, ACRE_UNSET),
                                     exclusive_pool(2 * MIB), direct_pool(ACRE_UNSET)};
        for (size_t k = 0; k < 3; k++) {
            rig r = rig_sized(128 * MIB, alignments[a], &pools[k], 1);
            assert_all_refused(r.manager, ACRE_BUFFER_TOO_BIG);
            rig_close(&r);
        }
        rig r = rig_sized(128 * MIB, alignments[a], pools, 3);
        set_mode(r.manager, ACRE_MODE_PERSISTENT);
        assert_all_refused(r.manager, ACRE_BUFFER_TOO_BIG);
        set_mode(r.manager, ACRE_MODE_DEDICATED);
        assert_all_refused(r.manager, ACRE_BUFFER_TOO_BIG);
        rig_close(&r);
    }
}

static void a_largest_page_near_the_end_of_the_range_does_not_wrap(void **state) {
    (void)state;
    acre_pool_options pool = direct_pool(ACRE_UNSET);
    rig r = rig_pools_on(limited_device(80 * GIB, 0), UINT64_MAX, 32, &pool, 1);
    for (size_t i = 0; i < COUNT_OF(huge); i++) {
        acre_handle *handle = NULL;
        acre_status status = acre_manager_reserve(r.manager, huge[i], &handle, NULL);
        assert_true(status == ACRE_BUFFER_TOO_BIG || status == ACRE_OUT_OF_MEMORY);
        check(r.manager);
    }
    assert_int_equal(usage_of(r.manager).reserved, 0);
    acre_manager_release(r.manager, take(r.manager, 1000));
    rig_close(&r);
}

// Twice 2^63 is 2^64: the sum of what is held may not wrap.
static void a_sum_of_pages_beyond_the_range_is_refused(void **state) {
    (void)state;
    acre_pool_options pool = direct_pool(ACRE_UNSET);
    rig r = rig_pools_on(limited_device(0, 0), UINT64_C(1) << 63, 32, &pool, 1);
    acre_handle *a = take(r.manager, UINT64_C(1) << 63);
    (void)refuse(r.manager, UINT64_C(1) << 63, ACRE_OUT_OF_MEMORY);
    assert_int_equal(usage_of(r.manager).reserved, UINT64_C(1) << 63);
    acre_manager_release(r.manager, a);
    rig_close(&r);
}

static void caps_limits_and_watermarks_near_the_end_of_the_range_do_not_wrap(void **state) {
    (void)state;
    acre_pool_options pools[] = {sliced_pool(MIB, 64 * KIB, UINT64_MAX - 1),
                                 exclusive_pool(2 * MIB), direct_pool(UINT64_MAX - 1)};
    pools[1].max_pool_size = UINT64_MAX - 1;
    pools[1].dealloc_period = UINT64_MAX - 1;
    rig r = rig_pools(pools, 3);
    acre_manager_set_limits(r.manager, UINT64_MAX, UINT64_MAX);
    acre_handle *h[3] = {take(r.manager, 1000), take(r.manager, 2 * MIB), take(r.manager, 3 * MIB)};
    for (uint32_t i = 0; i < 3; i++) {
        assert_int_equal(place_of(r.manager, h[i]).pool_index, i);
    }
    drop_all(r.manager, h, 3);
    rig_close(&r);
}

static void options_near_the_end_of_the_range_are_refused_or_work(void **state) {
    (void)state;
    const uint64_t sizes[] = {UINT64_MAX - 1, UINT64_MAX - 31, UINT64_C(1) << 63};
    for (size_t i = 0; i < COUNT_OF(sizes); i++) {
        acre_pool_options pools[] = {sliced_pool(sizes[i], ACRE_UNSET, ACRE_UNSET),
                                     sliced_pool(MIB, sizes[i], ACRE_UNSET),
                                     exclusive_pool(sizes[i])};
        for (size_t k = 0; k < 3; k++) {
            acre_storage *storage = limited_device(80 * GIB, 0);
            acre_layout layout = explicit_layout(&pools[k], 1);
            acre_manager_options options = plain_options(128 * MIB, 32);
            options.layout = &layout;
            acre_manager *manager = NULL;
            acre_status status = acre_manager_create(storage, &options, &manager, NULL);
            if (status == ACRE_OK) {
                acre_handle *handle = NULL;
                assert_int_not_equal(acre_manager_reserve(manager, sizes[i], &handle, NULL),
                                     ACRE_OK);
                assert_null(handle);
                check(manager);
                acre_manager_destroy(manager);
            } else {
                assert_status(ACRE_INVALID_ARGUMENT, status);
                assert_null(manager);
            }
            acre_storage_destroy(storage);
        }
    }
}

static void an_alignment_larger_than_any_page_still_serves_one(void **state) {
    (void)state;
    acre_pool_options pool = direct_pool(ACRE_UNSET);
    rig r = rig_sized(1000, UINT64_C(1) << 40, &pool, 1);
    assert_int_equal(report_of(r.manager).largest_page, UINT64_C(1) << 40);
    acre_handle *a = take(r.manager, 1);
    assert_int_equal(usage_of(r.manager).padding, (UINT64_C(1) << 40) - 1);
    acre_manager_release(r.manager, a);
    rig_close(&r);
}

// 2^61 - 1 is prime: its multiples that 4096 divides too are beyond the range, save 0.
static void a_common_multiple_beyond_the_range_leaves_only_the_start_of_a_page(void **state) {
    (void)state;
    const uint64_t prime = (UINT64_C(1) << 61) - 1;
    acre_pool_options pool = sliced_pool(3 * prime, ACRE_UNSET, ACRE_UNSET);
    rig r = rig_sized(3 * prime, prime, &pool, 1);
    acre_handle *h[3] = {take_with(r.manager, 1, 4096, ACRE_PAGES_ALLOW),
                         take_with(r.manager, 1, 4096, ACRE_PAGES_ALLOW),
                         take_with(r.manager, 1, 1, ACRE_PAGES_ALLOW)};
    assert_int_equal(place_of(r.manager, h[0]).offset, 0);
    assert_int_equal(place_of(r.manager, h[1]).offset, 0);
    assert_int_equal(place_of(r.manager, h[2]).offset % prime, 0);
    assert_int_equal(pool_of(r.manager, 0).pages, 2);
    drop_all(r.manager, h, 3);
    rig_close(&r);
}

static void a_hard_limit_near_the_end_of_the_range_does_not_wrap(void **state) {
    (void)state;
    acre_pool_options pool = direct_pool(ACRE_UNSET);
    rig r = rig_pools_on(simulated_device(), UINT64_C(1) << 63, 32, &pool, 1);
    acre_manager_set_limits(r.manager, 0, (UINT64_C(1) << 63) + MIB);
    acre_handle *a = take(r.manager, UINT64_C(1) << 63);
    (void)refuse(r.manager, UINT64_C(1) << 63, ACRE_OUT_OF_MEMORY);
    assert_int_equal(device_calls(r.storage), 1); // the device was not asked
    acre_manager_release(r.manager, a);
    rig_close(&r);
}

static void two_managers_cannot_make_the_devices_sum_wrap(void **state) {
    (void)state;
    acre_pool_options pool = direct_pool(ACRE_UNSET);
    rig r = rig_pools_on(simulated_device(), UINT64_C(1) << 63, 32, &pool, 1);
    rig other = rig_pools_on(r.storage, UINT64_C(1) << 63, 32, &pool, 1);
    acre_handle *a = take(r.manager, UINT64_C(1) << 63);
    (void)refuse(other.manager, UINT64_C(1) << 63, ACRE_OUT_OF_MEMORY);
    acre_manager_release(r.manager, a);
    acre_manager_destroy(other.manager);
    rig_close(&r);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_pool_refuses_what_is_too_big_for_it),
        cmocka_unit_test(a_largest_page_near_the_end_of_the_range_does_not_wrap),
        cmocka_unit_test(a_sum_of_pages_beyond_the_range_is_refused),
        cmocka_unit_test(a_hard_limit_near_the_end_of_the_range_does_not_wrap),
        cmocka_unit_test(two_managers_cannot_make_the_devices_sum_wrap),
        cmocka_unit_test(caps_limits_and_watermarks_near_the_end_of_the_range_do_not_wrap),
        cmocka_unit_test(options_near_the_end_of_the_range_are_refused_or_work),
        cmocka_unit_test(an_alignment_larger_than_any_page_still_serves_one),
        cmocka_unit_test(a_common_multiple_beyond_the_range_leaves_only_the_start_of_a_page),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
