// Section 9: the bytes themselves, and queues, devices and host memory that fail at any step.
#include "relocation_rig.h"

// ---- the bytes -----------------------------------------------------------------------------

static void every_byte_is_there_after_a_move(void **state) {
    (void)state;
    for (int own_queue = 0; own_queue < 2; own_queue++) {
        rig r = host_rig();
        acre_handle *h[3];
        three_outdated(r.manager, h);
        for (unsigned char i = 0; i < 3; i++) {
            paint_bytes(r.manager, h[i], i);
        }
        watch seen = {0};
        acre_copy_queue queue = queue_of(&seen);
        acre_relocation_options options = ACRE_RELOCATION_OPTIONS_INIT;
        acre_relocation_report report = ACRE_RELOCATION_REPORT_INIT;
        options.room = ACRE_RELOCATION_ROOM_HELD;
        options.queue = own_queue == 0 ? &queue : NULL;
        assert_ok(acre_manager_relocate(r.manager, &options, &report, NULL));
        assert_int_equal(report.moves, 3);
        assert_int_equal(report.bytes, 2200 * KIB + 4);
        if (own_queue == 0) {
            assert_int_equal(seen.copies, 3);
            assert_int_equal(seen.bytes, report.bytes);
            assert_int_equal(seen.copy_waits, 1);
            assert_int_equal(stats_of(r.storage).copies, 0);
        } else {
            assert_int_equal(stats_of(r.storage).copies, 3);
            assert_int_equal(stats_of(r.storage).bytes_copied, report.bytes);
        }
        for (unsigned char i = 0; i < 3; i++) {
            assert_painted(r.manager, h[i], i);
        }
        drop_all(r.manager, h, 3);
        rig_close(&r);
    }
}

// ---- failures ------------------------------------------------------------------------------

// wait, three copies, wait: whichever fails, nothing has moved, and the next try goes through.
static void a_queue_that_fails_at_any_step_leaves_everything_where_it_was(void **state) {
    (void)state;
    for (int fail_at = 1; fail_at <= 5; fail_at++) {
        rig r = host_rig();
        acre_handle *h[3];
        acre_place before[3];
        three_outdated(r.manager, h);
        acre_manager_cleanup(r.manager, ACRE_CLEANUP_PERIODIC);
        for (unsigned char i = 0; i < 3; i++) {
            paint_bytes(r.manager, h[i], i);
            before[i] = place_of(r.manager, h[i]);
        }
        snapshot books = snapshot_of(r.manager);
        watch seen = {.fail_at = fail_at};
        acre_copy_queue queue = queue_of(&seen);
        acre_relocation_options options = ACRE_RELOCATION_OPTIONS_INIT;
        options.room = ACRE_RELOCATION_ROOM_HELD;
        options.queue = &queue;
        acre_error error = ACRE_ERROR_INIT;
        assert_status(ACRE_BACKEND_ERROR, acre_manager_relocate(r.manager, &options, NULL, &error));
        assert_int_equal(error.status, ACRE_BACKEND_ERROR);
        assert_int_equal(error.native_code, 700);
        assert_int_equal(seen.copy_waits, fail_at == 1 ? 0 : 1);
        check(r.manager);
        snapshot after = snapshot_of(r.manager);
        assert_same_state(&books, &after);
        for (unsigned char i = 0; i < 3; i++) {
            assert_true(same_place(before[i], place_of(r.manager, h[i])));
            assert_painted(r.manager, h[i], i);
            assert_true(acre_handle_can_mut(h[i]));
        }
        assert_int_equal(acre_manager_relocation_need(r.manager), ACRE_RELOCATION_NOT_NEEDED);
        assert_int_equal(relocate(r.manager, ACRE_RELOCATION_ROOM_HELD).moves, 3);
        for (unsigned char i = 0; i < 3; i++) {
            assert_painted(r.manager, h[i], i);
        }
        drop_all(r.manager, h, 3);
        rig_close(&r);
    }
}

static void a_device_that_fails_to_name_or_copy_bytes_leaves_everything_too(void **state) {
    (void)state;
    for (int call = ACRE_SIMULATED_RESOURCE; call <= ACRE_SIMULATED_COPY; call++) {
        for (uint64_t nth = 1; nth <= 3; nth++) {
            rig r = arena_rig(128 * MIB, 0);
            acre_handle *h[3];
            three_outdated(r.manager, h);
            acre_place before = place_of(r.manager, h[1]);
            assert_ok(acre_storage_simulated_fail(r.storage, (acre_simulated_call)call, nth, false,
                                                  NULL));
            acre_relocation_options options = ACRE_RELOCATION_OPTIONS_INIT;
            options.room = ACRE_RELOCATION_ROOM_HELD;
            assert_status(ACRE_BACKEND_ERROR,
                          acre_manager_relocate(r.manager, &options, NULL, NULL));
            check(r.manager);
            assert_true(same_place(before, place_of(r.manager, h[1])));
            assert_int_equal(usage_of(r.manager).allocations, 3);
            assert_int_equal(relocate(r.manager, ACRE_RELOCATION_ROOM_HELD).moves, 3);
            drop_all(r.manager, h, 3);
            rig_close(&r);
        }
    }
}

// Pages taken for targets stay until an explicit cleanup.
static void a_failed_relocation_keeps_its_new_pages_until_an_explicit_cleanup(void **state) {
    (void)state;
    rig r = arena_rig(128 * MIB, 0);
    acre_handle *h[] = {take(r.manager, 3 * MIB / 2), take(r.manager, 4 * MIB)};
    acre_relocation *plan = plan_of(r.manager, ACRE_RELOCATION_ROOM_MAY_ADD);
    assert_int_equal(acre_relocation_count(plan), 1);
    assert_int_equal(usage_of(r.manager).reserved, 12 * MIB);
    acre_relocation_destroy(plan);
    assert_int_equal(usage_of(r.manager).reserved, 12 * MIB);
    acre_manager_cleanup(r.manager, ACRE_CLEANUP_PERIODIC);
    assert_int_equal(usage_of(r.manager).reserved, 12 * MIB);
    acre_manager_cleanup(r.manager, ACRE_CLEANUP_EXPLICIT);
    assert_int_equal(usage_of(r.manager).reserved, 7 * MIB);
    drop_all(r.manager, h, 2);
    rig_close(&r);
}

// A device that gives no page for targets: those pages stay, as without room.
static void a_refused_page_for_a_target_leaves_the_allocation_where_it_is(void **state) {
    (void)state;
    rig r = arena_rig(128 * MIB, 0);
    acre_handle *h[] = {take(r.manager, 3 * MIB / 2), take(r.manager, 4 * MIB)};
    assert_ok(acre_storage_simulated_fail(r.storage, ACRE_SIMULATED_ALLOC, 1, true, NULL));
    acre_relocation_report report = relocate(r.manager, ACRE_RELOCATION_ROOM_MAY_ADD);
    assert_int_equal(report.moves, 0);
    assert_int_equal(report.no_target.allocations, 1);
    assert_ok(acre_storage_simulated_fail(r.storage, ACRE_SIMULATED_ALLOC, 0, false, NULL));
    drop_all(r.manager, h, 2);
    rig_close(&r);
}

static void host_memory_that_runs_out_at_any_point_leaves_everything(void **state) {
    (void)state;
    for (uint64_t nth = 1;; nth++) {
        host_probe *probe = host_probe_create();
        acre_host_hooks hooks = host_probe_hooks(probe);
        acre_layout layout = ACRE_LAYOUT_INIT(ACRE_LAYOUT_ADAPTIVE);
        acre_manager_options options = plain_options(128 * MIB, 32);
        options.layout = &layout;
        options.hooks = &hooks;
        rig r = rig_on(simulated_device(), &options);
        acre_handle *h[3];
        three_outdated(r.manager, h);
        acre_place before = place_of(r.manager, h[0]);
        acre_relocation_options wanted = ACRE_RELOCATION_OPTIONS_INIT;
        wanted.room = ACRE_RELOCATION_ROOM_MAY_ADD;
        wanted.compact = true;
        host_probe_fail(probe, nth, false);
        acre_status status = acre_manager_relocate(r.manager, &wanted, NULL, NULL);
        bool failed = host_probe_failed(probe);
        host_probe_fail(probe, 0, false);
        check(r.manager);
        if (failed && status != ACRE_OK) {
            assert_status(ACRE_OUT_OF_HOST_MEMORY, status);
            assert_true(same_place(before, place_of(r.manager, h[0])));
            assert_int_equal(relocate(r.manager, ACRE_RELOCATION_ROOM_HELD).moves, 3);
        }
        drop_all(r.manager, h, 3);
        rig_close(&r);
        host_probe_destroy(probe);
        if (!failed) {
            assert_true(nth > 1);
            return;
        }
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_byte_is_there_after_a_move),
        cmocka_unit_test(a_queue_that_fails_at_any_step_leaves_everything_where_it_was),
        cmocka_unit_test(a_device_that_fails_to_name_or_copy_bytes_leaves_everything_too),
        cmocka_unit_test(a_failed_relocation_keeps_its_new_pages_until_an_explicit_cleanup),
        cmocka_unit_test(a_refused_page_for_a_target_leaves_the_allocation_where_it_is),
        cmocka_unit_test(host_memory_that_runs_out_at_any_point_leaves_everything),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
