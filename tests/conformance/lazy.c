// Guards, dry runs, and memory that comes late.
#include "suite.h"

static void a_dry_run_takes_no_memory_and_bytes_come_at_the_first_resolve(void **state) {
    const subject *about = *state;
    rig r = suite_rig(about);
    uint64_t calls = acre_storage_calls(r.storage);
    acre_dry_run_begin();
    acre_handle *small = take(r.manager, 300 * KIB);
    acre_handle *large = take(r.manager, 5 * MIB);
    acre_dry_run_end();
    assert_int_equal(stats_of(r.storage).bytes_allocated, 0);
    assert_int_equal(acre_storage_calls(r.storage), calls);
    acre_resource resource = resolve(r.manager, large);
    assert_int_equal(resource.size, 5 * MIB);
    assert_int_equal(stats_of(r.storage).bytes_allocated, page_bytes(about, r.storage, 5 * MIB));
    fill_resource(about, r.storage, &resource, 1);
    acre_resource other = resolve(r.manager, small);
    fill_resource(about, r.storage, &other, 2);
    check_resource(about, r.storage, &resource, 1, 0);
    check_resource(about, r.storage, &other, 2, 0);
    acre_manager_release(r.manager, small);
    acre_manager_release(r.manager, large);
    rig_close(&r);
}

static void what_was_never_resolved_is_never_given_back_to_the_device(void **state) {
    rig r = suite_rig(*state);
    acre_dry_run_begin();
    acre_handle *h[2] = {take(r.manager, 300 * KIB), take(r.manager, 5 * MIB)};
    acre_dry_run_end();
    drop_all(r.manager, h, 2);
    acre_manager_cleanup(r.manager, ACRE_CLEANUP_EXPLICIT);
    assert_int_equal(stats_of(r.storage).allocs + stats_of(r.storage).deallocs, 0);
    assert_int_equal(usage_of(r.manager).reserved, 0);
    rig_close(&r);
}

static void backing_that_the_device_refuses_is_an_error_and_may_be_tried_again(void **state) {
    const subject *about = *state;
    rig r = suite_rig(about);
    acre_handle *h[4];
    for (size_t i = 0; i < 4; i++) {
        h[i] = take(r.manager, LARGEST);
    }
    acre_dry_run_begin();
    acre_handle *late = take(r.manager, 5 * MIB);
    acre_dry_run_end();
    acre_resource resource = ACRE_RESOURCE_INIT;
    acre_error error = ACRE_ERROR_INIT;
    assert_status(ACRE_STORAGE_MAPPING_FAILED,
                  acre_manager_resolve(r.manager, late, 0, 0, &resource, &error));
    assert_int_equal(error.cause, ACRE_OUT_OF_MEMORY);
    drop_all(r.manager, h, 4);
    acre_manager_cleanup(r.manager, ACRE_CLEANUP_EXPLICIT);
    resource = resolve(r.manager, late);
    fill_resource(about, r.storage, &resource, 4);
    check_resource(about, r.storage, &resource, 4, 0);
    acre_manager_release(r.manager, late);
    rig_close(&r);
}

static void a_guard_keeps_its_page_and_its_bytes(void **state) {
    const subject *about = *state;
    rig r = suite_rig(about);
    filled kept = take_filled(about, &r, 1024, 5);
    acre_resource resource = resolve(r.manager, kept.handle);
    acre_guard *guard = NULL;
    assert_ok(acre_manager_guard(r.manager, kept.handle, &guard, NULL));
    acre_manager_release(r.manager, kept.handle);
    acre_manager_cleanup(r.manager, ACRE_CLEANUP_EXPLICIT);
    assert_int_equal(stats_of(r.storage).deallocs, 0);
    filled other = take_filled(about, &r, 1024, 6);
    assert_int_equal(stats_of(r.storage).allocs, 2); // no room of a guarded page is handed out
    check_resource(about, r.storage, &resource, 5, 0);
    acre_guard_release(guard);
    acre_manager_release(r.manager, other.handle);
    acre_manager_cleanup(r.manager, ACRE_CLEANUP_EXPLICIT);
    assert_int_equal(stats_of(r.storage).bytes_allocated, 0);
    rig_close(&r);
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(a_dry_run_takes_no_memory_and_bytes_come_at_the_first_resolve),
    cmocka_unit_test(what_was_never_resolved_is_never_given_back_to_the_device),
    cmocka_unit_test(backing_that_the_device_refuses_is_an_error_and_may_be_tried_again),
    cmocka_unit_test(a_guard_keeps_its_page_and_its_bytes),
};

const part lazy_part = {tests, COUNT_OF(tests), false, false, false};
