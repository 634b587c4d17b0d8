// Limits: the device's, the storage's and the manager's. What passes one is refused with it, and
// everything goes on.
#include "suite.h"

static void a_full_device_is_out_of_memory_and_serves_again_later(void **state) {
    const subject *about = *state;
    rig r = suite_rig(about);
    filled all[4];
    for (uint32_t i = 0; i < COUNT_OF(all); i++) {
        all[i] = take_filled(about, &r, LARGEST, i);
    }
    acre_error error = refuse(r.manager, MIB, ACRE_OUT_OF_MEMORY);
    assert_int_equal(error.reserved, TOTAL);
    assert_int_equal(error.capacity, TOTAL);
    assert_int_equal(stats_of(r.storage).refused, 1);
    acre_manager_release(r.manager, all[0].handle);
    all[0] = take_filled(about, &r, LARGEST / 2, 10); // the free page goes back for it
    for (uint32_t i = 0; i < COUNT_OF(all); i++) {
        check_filled(about, &r, &all[i]);
        acre_manager_release(r.manager, all[i].handle);
    }
    rig_close(&r);
}

static void what_is_larger_than_the_largest_page_is_too_big(void **state) {
    const subject *about = *state;
    rig r = suite_rig(about);
    filled live = take_filled(about, &r, 3000, 1);
    (void)refuse(r.manager, (uint64_t)LARGEST + 1, ACRE_BUFFER_TOO_BIG);
    (void)refuse(r.manager, UINT64_MAX, ACRE_BUFFER_TOO_BIG);
    check_filled(about, &r, &live);
    acre_manager_release(r.manager, live.handle);
    rig_close(&r);
}

// The manager was told of larger pages than the device gives.
static void a_page_over_the_devices_largest_is_refused_by_the_device(void **state) {
    const subject *about = *state;
    acre_pool_options pool = direct_pool(ACRE_UNSET);
    rig r = rig_pools_on(suite_storage(about, TOTAL, LARGEST), 2 * (uint64_t)LARGEST, 0, &pool, 1);
    filled live = take_filled(about, &r, 3000, 1);
    acre_error error = refuse(r.manager, (uint64_t)LARGEST + 1, ACRE_OUT_OF_MEMORY);
    assert_int_equal(error.capacity, LARGEST);
    check_filled(about, &r, &live);
    acre_manager_release(r.manager, live.handle);
    rig_close(&r);
}

static void more_than_the_device_has_is_refused_and_live_bytes_stay(void **state) {
    const subject *about = *state;
    if (about->no_bytes) {
        return; // a simulated device without limits refuses nothing
    }
    acre_pool_options pool = direct_pool(ACRE_UNSET);
    rig r = rig_pools_on(suite_storage(about, 0, 0), UINT64_C(1) << 50, 0, &pool, 1);
    filled live = take_filled(about, &r, 3000, 1);
    acre_error error = refuse(r.manager, UINT64_C(1) << 48, ACRE_OUT_OF_MEMORY);
    assert_true(error.capacity > 0 || error.native_code != 0);
    check_filled(about, &r, &live);
    acre_manager_release(r.manager, live.handle);
    rig_close(&r);
}

static void a_limit_below_what_lives_refuses_and_keeps_what_lives(void **state) {
    const subject *about = *state;
    rig r = suite_rig(about);
    filled live = take_filled(about, &r, 5 * MIB, 1);
    acre_manager_set_limits(r.manager, 0, 2 * MIB);
    acre_error error = refuse(r.manager, 3 * MIB, ACRE_OUT_OF_MEMORY);
    assert_int_equal(error.capacity, 2 * MIB);
    check_filled(about, &r, &live);
    acre_manager_set_limits(r.manager, 0, 0);
    filled more = take_filled(about, &r, 3 * MIB, 2);
    check_filled(about, &r, &live);
    check_filled(about, &r, &more);
    acre_manager_release(r.manager, live.handle);
    acre_manager_release(r.manager, more.handle);
    rig_close(&r);
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(a_full_device_is_out_of_memory_and_serves_again_later),
    cmocka_unit_test(what_is_larger_than_the_largest_page_is_too_big),
    cmocka_unit_test(a_page_over_the_devices_largest_is_refused_by_the_device),
    cmocka_unit_test(more_than_the_device_has_is_refused_and_live_bytes_stay),
    cmocka_unit_test(a_limit_below_what_lives_refuses_and_keeps_what_lives),
};

const part limits_part = {tests, COUNT_OF(tests), false, false, false};
