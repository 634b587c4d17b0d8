// Section 6, modes and windows, and the persistent-memory setting.
#include "support.h"

static rig mode_rig(acre_persistent_memory setting, acre_mode base) {
    acre_config config = ACRE_CONFIG_INIT;
    config.persistent_memory = setting;
    acre_pool_options pool = sliced_pool(MIB, ACRE_UNSET, ACRE_UNSET);
    acre_layout layout = explicit_layout(&pool, 1);
    acre_manager_options options = plain_options(128 * MIB, 32);
    options.layout = &layout;
    options.config = &config;
    options.base_mode = base;
    return rig_on(simulated_device(), &options);
}

static rig enabled_rig(void) {
    return mode_rig(ACRE_PERSISTENT_ENABLED, ACRE_MODE_AUTO);
}

// The pool that serves 1024 bytes now.
static uint32_t served_by(acre_manager *manager, uint64_t size) {
    acre_handle *handle = take(manager, size);
    uint32_t index = place_of(manager, handle).pool_index;
    acre_manager_release(manager, handle);
    return index;
}

static void assert_mode(acre_manager *manager, acre_mode mode) {
    static const uint32_t pools[] = {0, ACRE_POOL_INDEX_PERSISTENT, ACRE_POOL_INDEX_DEDICATED};
    assert_int_equal(acre_manager_get_mode(manager), mode);
    assert_int_equal(served_by(manager, 1024), pools[mode]);
}

static void persistent_windows_nest(void **state) {
    (void)state;
    rig r = enabled_rig();
    set_mode(r.manager, ACRE_MODE_PERSISTENT);
    set_mode(r.manager, ACRE_MODE_PERSISTENT);
    set_mode(r.manager, ACRE_MODE_AUTO);
    acre_handle *weight = take(r.manager, 1024);
    assert_int_equal(pool_of(r.manager, ACRE_POOL_INDEX_PERSISTENT).usage.in_use, 1024);
    assert_int_equal(pool_of(r.manager, 0).pages_peak, 0);
    set_mode(r.manager, ACRE_MODE_AUTO);
    acre_handle *transient = take(r.manager, 1024);
    assert_int_equal(pool_of(r.manager, 0).pages_peak, 1);
    assert_int_equal(pool_of(r.manager, ACRE_POOL_INDEX_PERSISTENT).usage.in_use, 1024);
    acre_manager_release(r.manager, weight);
    acre_manager_release(r.manager, transient);
    rig_close(&r);
}

// The check of section 6 on presets, where the peaks of all dynamic pools are summed.
static void nested_windows_leave_the_dynamic_pools_of_a_preset_alone(void **state) {
    (void)state;
    const acre_layout_kind kinds[] = {ACRE_LAYOUT_SUB_SLICES, ACRE_LAYOUT_ADAPTIVE};
    for (size_t which = 0; which < COUNT_OF(kinds); which++) {
        rig r = rig_preset(128 * MIB, 32, kinds[which]);
        uint64_t sums[2];
        acre_handle *h[2];
        set_mode(r.manager, ACRE_MODE_PERSISTENT);
        set_mode(r.manager, ACRE_MODE_PERSISTENT);
        for (int k = 0; k < 2; k++) {
            set_mode(r.manager, ACRE_MODE_AUTO);
            h[k] = take(r.manager, 1024);
            assert_int_equal(pool_of(r.manager, ACRE_POOL_INDEX_PERSISTENT).usage.in_use, 1024);
            sums[k] = 0;
            for (uint32_t i = 0; i < report_of(r.manager).pool_count; i++) {
                sums[k] += pool_of(r.manager, i).pages_peak;
            }
        }
        assert_int_equal(sums[0], 0);
        assert_int_equal(sums[1], 1);
        drop_all(r.manager, h, 2);
        rig_close(&r);
    }
}

static void the_innermost_open_window_decides(void **state) {
    (void)state;
    rig r = enabled_rig();
    assert_mode(r.manager, ACRE_MODE_AUTO);
    set_mode(r.manager, ACRE_MODE_PERSISTENT);
    assert_mode(r.manager, ACRE_MODE_PERSISTENT);
    set_mode(r.manager, ACRE_MODE_DEDICATED);
    assert_mode(r.manager, ACRE_MODE_DEDICATED);
    set_mode(r.manager, ACRE_MODE_PERSISTENT);
    assert_mode(r.manager, ACRE_MODE_PERSISTENT);
    set_mode(r.manager, ACRE_MODE_AUTO);
    assert_mode(r.manager, ACRE_MODE_DEDICATED);
    set_mode(r.manager, ACRE_MODE_AUTO);
    assert_mode(r.manager, ACRE_MODE_PERSISTENT);
    set_mode(r.manager, ACRE_MODE_AUTO);
    assert_mode(r.manager, ACRE_MODE_AUTO);
    rig_close(&r);
}

static void auto_without_an_open_window_does_nothing(void **state) {
    (void)state;
    rig r = enabled_rig();
    set_mode(r.manager, ACRE_MODE_AUTO);
    set_mode(r.manager, ACRE_MODE_AUTO);
    assert_mode(r.manager, ACRE_MODE_AUTO);
    set_mode(r.manager, ACRE_MODE_PERSISTENT);
    assert_mode(r.manager, ACRE_MODE_PERSISTENT);
    set_mode(r.manager, ACRE_MODE_AUTO);
    assert_mode(r.manager, ACRE_MODE_AUTO);
    rig_close(&r);
}

static void windows_nest_to_any_depth(void **state) {
    (void)state;
    rig r = enabled_rig();
    for (int i = 0; i < 1000; i++) {
        set_mode(r.manager, i % 3 == 0 ? ACRE_MODE_DEDICATED : ACRE_MODE_PERSISTENT);
    }
    for (int i = 999; i >= 0; i--) {
        assert_int_equal(acre_manager_get_mode(r.manager),
                         i % 3 == 0 ? ACRE_MODE_DEDICATED : ACRE_MODE_PERSISTENT);
        set_mode(r.manager, ACRE_MODE_AUTO);
    }
    assert_mode(r.manager, ACRE_MODE_AUTO);
    rig_close(&r);
}

static void a_mode_that_is_none_is_refused_and_changes_nothing(void **state) {
    (void)state;
    rig r = enabled_rig();
    set_mode(r.manager, ACRE_MODE_PERSISTENT);
    acre_error error = ACRE_ERROR_INIT;
    assert_status(ACRE_INVALID_ARGUMENT, acre_manager_set_mode(r.manager, (acre_mode)7, &error));
    assert_mode(r.manager, ACRE_MODE_PERSISTENT);
    rig_close(&r);
}

static void enabled_serves_auto_requests_from_the_layout_whatever_their_size(void **state) {
    (void)state;
    rig r = enabled_rig();
    set_mode(r.manager, ACRE_MODE_PERSISTENT);
    acre_manager_release(r.manager, take(r.manager, 1024));
    set_mode(r.manager, ACRE_MODE_AUTO);
    assert_int_equal(served_by(r.manager, 1024), 0);
    rig_close(&r);
}

static void size_match_serves_auto_requests_of_a_size_the_persistent_pool_has(void **state) {
    (void)state;
    rig r = mode_rig(ACRE_PERSISTENT_SIZE_MATCH, ACRE_MODE_AUTO);
    assert_int_equal(served_by(r.manager, 1024), 0);
    set_mode(r.manager, ACRE_MODE_PERSISTENT);
    acre_handle *weight = take(r.manager, 1024);
    set_mode(r.manager, ACRE_MODE_AUTO);

    acre_handle *same = take(r.manager, 1000); // padded to 1024: a new slice
    assert_int_equal(place_of(r.manager, same).pool_index, ACRE_POOL_INDEX_PERSISTENT);
    assert_int_equal(pool_of(r.manager, ACRE_POOL_INDEX_PERSISTENT).pages, 2);
    assert_int_equal(served_by(r.manager, 992), 0);
    assert_int_equal(served_by(r.manager, 1025), 0);

    acre_manager_release(r.manager, weight);
    assert_int_equal(served_by(r.manager, 1024), ACRE_POOL_INDEX_PERSISTENT); // a freed slice
    assert_int_equal(pool_of(r.manager, ACRE_POOL_INDEX_PERSISTENT).pages, 2);
    acre_manager_release(r.manager, same);
    acre_manager_cleanup(r.manager, ACRE_CLEANUP_EXPLICIT); // the size is gone
    assert_int_equal(served_by(r.manager, 1024), 0);
    rig_close(&r);
}

static void disabled_keeps_the_base_mode_inside_a_persistent_window(void **state) {
    (void)state;
    rig r = mode_rig(ACRE_PERSISTENT_DISABLED, ACRE_MODE_AUTO);
    assert_mode(r.manager, ACRE_MODE_AUTO);
    set_mode(r.manager, ACRE_MODE_PERSISTENT);
    assert_mode(r.manager, ACRE_MODE_AUTO);
    set_mode(r.manager, ACRE_MODE_DEDICATED);
    assert_mode(r.manager, ACRE_MODE_DEDICATED);
    set_mode(r.manager, ACRE_MODE_PERSISTENT); // the innermost: back to the base mode
    assert_mode(r.manager, ACRE_MODE_AUTO);
    set_mode(r.manager, ACRE_MODE_AUTO);
    assert_mode(r.manager, ACRE_MODE_DEDICATED);
    rig_close(&r);
}

static void enforced_makes_persistent_the_base_mode(void **state) {
    (void)state;
    rig r = mode_rig(ACRE_PERSISTENT_ENFORCED, ACRE_MODE_AUTO);
    assert_mode(r.manager, ACRE_MODE_PERSISTENT);
    set_mode(r.manager, ACRE_MODE_AUTO);
    assert_mode(r.manager, ACRE_MODE_PERSISTENT);
    set_mode(r.manager, ACRE_MODE_PERSISTENT);
    assert_mode(r.manager, ACRE_MODE_PERSISTENT);
    set_mode(r.manager, ACRE_MODE_DEDICATED);
    assert_mode(r.manager, ACRE_MODE_DEDICATED);
    set_mode(r.manager, ACRE_MODE_AUTO);
    assert_mode(r.manager, ACRE_MODE_PERSISTENT);
    rig_close(&r);
}

static void a_base_mode_given_at_creation_is_in_force_outside_any_window(void **state) {
    (void)state;
    rig r = mode_rig(ACRE_PERSISTENT_ENABLED, ACRE_MODE_DEDICATED);
    assert_mode(r.manager, ACRE_MODE_DEDICATED);
    set_mode(r.manager, ACRE_MODE_PERSISTENT);
    assert_mode(r.manager, ACRE_MODE_PERSISTENT);
    set_mode(r.manager, ACRE_MODE_AUTO);
    assert_mode(r.manager, ACRE_MODE_DEDICATED);
    rig_close(&r);

    r = mode_rig(ACRE_PERSISTENT_DISABLED, ACRE_MODE_PERSISTENT);
    assert_mode(r.manager, ACRE_MODE_PERSISTENT);
    rig_close(&r);

    r = mode_rig(ACRE_PERSISTENT_ENFORCED, ACRE_MODE_DEDICATED);
    assert_mode(r.manager, ACRE_MODE_DEDICATED);
    set_mode(r.manager, ACRE_MODE_PERSISTENT); // keeps the base mode
    assert_mode(r.manager, ACRE_MODE_DEDICATED);
    rig_close(&r);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(persistent_windows_nest),
        cmocka_unit_test(nested_windows_leave_the_dynamic_pools_of_a_preset_alone),
        cmocka_unit_test(the_innermost_open_window_decides),
        cmocka_unit_test(auto_without_an_open_window_does_nothing),
        cmocka_unit_test(windows_nest_to_any_depth),
        cmocka_unit_test(a_mode_that_is_none_is_refused_and_changes_nothing),
        cmocka_unit_test(enabled_serves_auto_requests_from_the_layout_whatever_their_size),
        cmocka_unit_test(size_match_serves_auto_requests_of_a_size_the_persistent_pool_has),
        cmocka_unit_test(disabled_keeps_the_base_mode_inside_a_persistent_window),
        cmocka_unit_test(enforced_makes_persistent_the_base_mode),
        cmocka_unit_test(a_base_mode_given_at_creation_is_in_force_outside_any_window),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
