// Section 9: the phases one by one, plans that are dropped or come too late, and whose queue it is.
#include "relocation_rig.h"

enum {
    ARENA = 2,
};

// ---- plans ---------------------------------------------------------------------------------

static void a_plan_moves_nothing_until_its_commit(void **state) {
    (void)state;
    rig r = host_rig();
    acre_handle *h[3];
    three_outdated(r.manager, h);
    acre_place before = place_of(r.manager, h[0]);
    acre_relocation *plan = plan_of(r.manager, ACRE_RELOCATION_ROOM_HELD);
    assert_int_equal(acre_relocation_count(plan), 3);
    assert_int_equal(usage_of(r.manager).allocations, 6); // targets are live
    for (size_t i = 0; i < 3; i++) {
        acre_relocation_move move = ACRE_RELOCATION_MOVE_INIT;
        assert_ok(acre_relocation_get(plan, i, &move, NULL));
        assert_true(move.from_page != move.to_page);
        assert_true(acre_handle_can_mut(h[i])); // the plan is no owner
    }
    paint_bytes(r.manager, h[0], 9); // before the copy writing is fine
    assert_ok(acre_relocation_copy(plan, NULL, NULL));
    assert_true(same_place(before, place_of(r.manager, h[0])));
    check(r.manager);
    acre_relocation_report report = ACRE_RELOCATION_REPORT_INIT;
    assert_ok(acre_relocation_commit(plan, &report, NULL));
    check(r.manager);
    assert_int_equal(report.moves, 3);
    assert_int_equal(place_of(r.manager, h[0]).pool_index, ARENA);
    assert_painted(r.manager, h[0], 9);
    assert_int_equal(usage_of(r.manager).allocations, 3);
    assert_int_equal(acre_relocation_count(plan), 0);
    acre_relocation_destroy(plan);
    drop_all(r.manager, h, 3);
    rig_close(&r);
}

static void a_dropped_plan_leaves_everything_and_counts_as_in_vain(void **state) {
    (void)state;
    for (int copied = 0; copied < 2; copied++) {
        rig r = arena_rig(GIB, 20 * MIB);
        acre_handle *h[3];
        three_outdated(r.manager, h);
        acre_manager_cleanup(r.manager, ACRE_CLEANUP_PERIODIC);
        assert_int_equal(acre_manager_relocation_need(r.manager), ACRE_RELOCATION_SHORT_OF_ROOM);
        snapshot before = snapshot_of(r.manager);
        acre_relocation *plan = plan_of(r.manager, ACRE_RELOCATION_ROOM_AS_NEEDED);
        assert_int_equal(acre_relocation_count(plan), 3);
        if (copied == 1) {
            assert_ok(acre_relocation_copy(plan, NULL, NULL));
        }
        acre_relocation_destroy(plan);
        check(r.manager);
        snapshot after = snapshot_of(r.manager);
        assert_same_state(&before, &after);
        assert_int_equal(acre_manager_relocation_need(r.manager), ACRE_RELOCATION_NOT_NEEDED);
        drop_all(r.manager, h, 3);
        rig_close(&r);
    }
}

static void phases_out_of_order_are_refused_and_change_nothing(void **state) {
    (void)state;
    rig r = arena_rig(128 * MIB, 0);
    acre_handle *h[3];
    three_outdated(r.manager, h);
    acre_relocation *plan = plan_of(r.manager, ACRE_RELOCATION_ROOM_HELD);
    assert_status(ACRE_INVALID_ARGUMENT, acre_relocation_commit(plan, NULL, NULL)); // not copied
    watch seen = {0};
    acre_copy_queue lacking = queue_of(&seen);
    lacking.copy = NULL;
    assert_status(ACRE_INVALID_ARGUMENT, acre_relocation_copy(plan, &lacking, NULL));
    assert_int_equal(acre_relocation_count(plan), 3); // the plan is as it was
    assert_ok(acre_relocation_copy(plan, NULL, NULL));
    assert_status(ACRE_INVALID_ARGUMENT, acre_relocation_copy(plan, NULL, NULL));
    assert_ok(acre_relocation_commit(plan, NULL, NULL));
    snapshot before = snapshot_of(r.manager);
    assert_status(ACRE_INVALID_ARGUMENT, acre_relocation_commit(plan, NULL, NULL)); // twice
    assert_status(ACRE_INVALID_ARGUMENT, acre_relocation_copy(plan, NULL, NULL));
    snapshot after = snapshot_of(r.manager);
    assert_unchanged(&before, &after);
    acre_relocation_destroy(plan);
    acre_relocation_destroy(NULL);
    drop_all(r.manager, h, 3);
    rig_close(&r);
}

static void a_plan_whose_copy_failed_is_over(void **state) {
    (void)state;
    rig r = arena_rig(128 * MIB, 0);
    acre_handle *h[3];
    three_outdated(r.manager, h);
    acre_relocation *plan = plan_of(r.manager, ACRE_RELOCATION_ROOM_HELD);
    watch seen = {.fail_at = 2};
    acre_copy_queue queue = queue_of(&seen);
    assert_status(ACRE_BACKEND_ERROR, acre_relocation_copy(plan, &queue, NULL));
    assert_int_equal(usage_of(r.manager).allocations, 3);
    assert_status(ACRE_INVALID_ARGUMENT, acre_relocation_commit(plan, NULL, NULL));
    acre_relocation_destroy(plan);
    drop_all(r.manager, h, 3);
    rig_close(&r);
}

// What is let go, bound or given away between plan and commit stays, or goes, where it is; the
// rest moves.
static void what_changed_since_the_plan_does_not_move(void **state) {
    (void)state;
    for (int phase = 0; phase < 2; phase++) {
        for (int by_manager = 0; by_manager < 2; by_manager++) {
            rig r = arena_rig(128 * MIB, 0);
            acre_handle *h[5];
            acre_handle *given = NULL;
            for (int i = 0; i < 4; i++) {
                h[i] = take(r.manager, (uint64_t)(100 + i) * KIB);
            }
            acre_manager_release(r.manager, take(r.manager, 9 * MIB));
            acre_place before[4];
            for (int i = 0; i < 4; i++) {
                before[i] = place_of(r.manager, h[i]);
            }
            acre_relocation *plan = plan_of(r.manager, ACRE_RELOCATION_ROOM_HELD);
            assert_int_equal(acre_relocation_count(plan), 4);
            if (phase == 1) {
                assert_ok(acre_relocation_copy(plan, NULL, NULL));
            }
            if (by_manager == 1) {
                acre_manager_release(r.manager, h[0]);
            } else {
                acre_handle_release(h[0]);
            }
            acre_binding *binding = acre_handle_binding(h[1]);
            assert_ok(acre_manager_handle_create(r.manager, &given, NULL));
            assert_ok(acre_manager_bind(r.manager, h[2], given, 5, NULL));
            assert_int_equal(usage_of(r.manager).allocations, 8); // the plan keeps the first
            check(r.manager);
            if (phase == 0) {
                assert_ok(acre_relocation_copy(plan, NULL, NULL));
            }
            acre_relocation_report report = ACRE_RELOCATION_REPORT_INIT;
            assert_ok(acre_relocation_commit(plan, &report, NULL));
            check(r.manager);
            assert_int_equal(report.moves, 1);
            assert_int_equal(report.changed.allocations, 3);
            assert_int_equal(usage_of(r.manager).allocations, 3);
            assert_int_equal(place_of(r.manager, h[1]).page, before[1].page);
            assert_int_equal(place_of(r.manager, given).page, before[2].page);
            assert_int_equal(cursor_of(r.manager, given), 5);
            assert_int_equal(place_of(r.manager, h[3]).pool_index, ARENA);
            acre_relocation_destroy(plan);
            acre_binding_release(binding);
            acre_handle_release(h[2]);
            drop_all(r.manager, (acre_handle *[]){h[1], h[3], given}, 3);
            rig_close(&r);
        }
    }
}

static void a_plan_whose_handles_all_died_is_refused_and_moves_nothing(void **state) {
    (void)state;
    rig r = arena_rig(128 * MIB, 0);
    acre_handle *h[3];
    three_outdated(r.manager, h);
    acre_relocation *plan = plan_of(r.manager, ACRE_RELOCATION_ROOM_HELD);
    assert_ok(acre_relocation_copy(plan, NULL, NULL));
    drop_all(r.manager, h, 3);
    acre_relocation_report report = ACRE_RELOCATION_REPORT_INIT;
    assert_status(ACRE_NOT_FOUND, acre_relocation_commit(plan, &report, NULL));
    check(r.manager);
    assert_int_equal(report.moves, 0);
    assert_int_equal(report.changed.allocations, 3);
    assert_int_equal(usage_of(r.manager).allocations, 0);
    assert_status(ACRE_INVALID_ARGUMENT, acre_relocation_commit(plan, &report, NULL)); // over
    acre_relocation_destroy(plan);
    rig_close(&r);
}

// Given away by a bind and resolved late are not dead.
static void a_plan_whose_allocations_live_elsewhere_is_not_refused(void **state) {
    (void)state;
    rig r = arena_rig(128 * MIB, 0);
    acre_handle *h[3];
    three_outdated(r.manager, h);
    acre_relocation *plan = plan_of(r.manager, ACRE_RELOCATION_ROOM_HELD);
    assert_ok(acre_relocation_copy(plan, NULL, NULL));
    acre_handle *given[3];
    for (int i = 0; i < 3; i++) {
        assert_ok(acre_manager_handle_create(r.manager, &given[i], NULL));
        assert_ok(acre_manager_bind(r.manager, h[i], given[i], 0, NULL));
        acre_handle_release(h[i]);
    }
    acre_relocation_report report = ACRE_RELOCATION_REPORT_INIT;
    assert_ok(acre_relocation_commit(plan, &report, NULL));
    check(r.manager);
    assert_int_equal(report.changed.allocations, 3);
    acre_relocation_destroy(plan);
    drop_all(r.manager, given, 3);
    rig_close(&r);
}

// A page of a dry run got its device memory after the copies: its bytes may have been written, so
// what lives there stays.
static void what_was_resolved_after_the_copies_does_not_move(void **state) {
    (void)state;
    rig r = arena_rig(128 * MIB, 0);
    acre_dry_run_begin();
    acre_handle *kept = take(r.manager, MIB);
    acre_manager_release(r.manager, take(r.manager, 9 * MIB));
    acre_dry_run_end();
    acre_place place = place_of(r.manager, kept);
    acre_relocation *plan = plan_of(r.manager, ACRE_RELOCATION_ROOM_HELD);
    assert_int_equal(acre_relocation_count(plan), 1);
    assert_ok(acre_relocation_copy(plan, NULL, NULL));
    assert_int_equal(stats_of(r.storage).copies, 0);
    acre_resource resource = ACRE_RESOURCE_INIT;
    assert_ok(acre_manager_resolve(r.manager, kept, 0, 0, &resource, NULL));
    acre_relocation_report report = ACRE_RELOCATION_REPORT_INIT;
    assert_ok(acre_relocation_commit(plan, &report, NULL));
    check(r.manager);
    assert_int_equal(report.changed.allocations, 1);
    assert_true(same_place(place, place_of(r.manager, kept)));
    acre_relocation_destroy(plan);
    acre_manager_release(r.manager, kept);
    rig_close(&r);
}

static void a_handle_from_hooks_may_die_or_be_bound_while_a_plan_is_open(void **state) {
    (void)state;
    rig r = arena_rig(128 * MIB, 0);
    acre_handle *loose[3];
    for (int i = 0; i < 3; i++) {
        acre_handle *reserved = take(r.manager, 100 * KIB);
        assert_ok(acre_handle_create(NULL, &loose[i], NULL));
        assert_ok(acre_manager_bind(r.manager, reserved, loose[i], (uint64_t)i, NULL));
        acre_handle_release(reserved);
    }
    acre_manager_release(r.manager, take(r.manager, 9 * MIB));
    acre_relocation *plan = plan_of(r.manager, ACRE_RELOCATION_ROOM_HELD);
    assert_int_equal(acre_relocation_count(plan), 3);
    acre_handle_release(loose[0]);
    acre_handle *given = NULL;
    assert_ok(acre_handle_create(NULL, &given, NULL));
    assert_ok(acre_manager_bind(r.manager, loose[1], given, 7, NULL));
    acre_handle_release(loose[1]);
    assert_ok(acre_relocation_copy(plan, NULL, NULL));
    acre_relocation_report report = ACRE_RELOCATION_REPORT_INIT;
    assert_ok(acre_relocation_commit(plan, &report, NULL));
    check(r.manager);
    assert_int_equal(report.moves, 1);
    assert_int_equal(report.changed.allocations, 2);
    assert_int_equal(cursor_of(r.manager, given), 7);
    assert_int_equal(cursor_of(r.manager, loose[2]), 2);
    acre_relocation_destroy(plan);
    acre_handle_release(given);
    acre_handle_release(loose[2]);
    rig_close(&r);
}

static void plans_side_by_side_do_not_move_the_same(void **state) {
    (void)state;
    rig r = arena_rig(128 * MIB, 0);
    acre_handle *h[3];
    three_outdated(r.manager, h);
    acre_relocation *one = plan_of(r.manager, ACRE_RELOCATION_ROOM_HELD);
    acre_relocation *two = plan_of(r.manager, ACRE_RELOCATION_ROOM_HELD);
    assert_int_equal(acre_relocation_count(one), 3);
    assert_int_equal(acre_relocation_count(two), 0);
    assert_ok(acre_relocation_copy(two, NULL, NULL));
    assert_ok(acre_relocation_commit(two, NULL, NULL));
    assert_ok(acre_relocation_copy(one, NULL, NULL));
    assert_ok(acre_relocation_commit(one, NULL, NULL));
    acre_relocation_destroy(one);
    acre_relocation_destroy(two);
    assert_false(arena_of(r.manager).has_outdated);
    drop_all(r.manager, h, 3);
    rig_close(&r);
}

static void a_plan_may_outlive_its_manager(void **state) {
    (void)state;
    for (int committed = 0; committed < 2; committed++) {
        rig r = arena_rig(128 * MIB, 0);
        acre_handle *h[3];
        three_outdated(r.manager, h);
        acre_relocation *plan = plan_of(r.manager, ACRE_RELOCATION_ROOM_HELD);
        assert_ok(acre_relocation_copy(plan, NULL, NULL));
        if (committed == 1) {
            assert_ok(acre_relocation_commit(plan, NULL, NULL));
        }
        acre_manager_destroy(r.manager);
        assert_int_equal(stats_of(r.storage).bytes_allocated, 0);
        assert_int_equal(acre_relocation_count(plan), 0);
        assert_status(ACRE_INVALID_ARGUMENT, acre_relocation_commit(plan, NULL, NULL));
        assert_status(ACRE_INVALID_ARGUMENT, acre_relocation_copy(plan, NULL, NULL));
        acre_relocation_destroy(plan);
        for (int i = 0; i < 3; i++) {
            acre_handle_release(h[i]);
        }
        acre_storage_destroy(r.storage);
    }
}

static void a_layout_is_not_replaced_under_a_plan(void **state) {
    (void)state;
    rig r = arena_rig(128 * MIB, 0);
    acre_handle *h[3];
    three_outdated(r.manager, h);
    acre_relocation *plan = plan_of(r.manager, ACRE_RELOCATION_ROOM_HELD);
    acre_layout next = ACRE_LAYOUT_INIT(ACRE_LAYOUT_SUB_SLICES);
    drop_all(r.manager, h, 3);
    assert_status(ACRE_POOLS_IN_USE, acre_manager_install_layout(r.manager, &next, NULL));
    acre_relocation_destroy(plan);
    // A plan without moves does not keep it, and its commit finds nothing to do.
    plan = plan_of(r.manager, ACRE_RELOCATION_ROOM_HELD);
    assert_ok(acre_manager_install_layout(r.manager, &next, NULL));
    assert_ok(acre_relocation_copy(plan, NULL, NULL));
    assert_ok(acre_relocation_commit(plan, NULL, NULL));
    acre_relocation_destroy(plan);
    rig_close(&r);
}

// ---- queues --------------------------------------------------------------------------------

static acre_status table_alloc(void *context, uint64_t size, uint64_t *id, acre_error *error) {
    (void)error;
    uint64_t *bytes = context;
    *bytes += size;
    *id = size;
    return ACRE_OK;
}

static void table_dealloc(void *context, uint64_t id) {
    *(uint64_t *)context -= id;
}

static void table_flush(void *context) {
    (void)context;
}

static acre_status table_resource(void *context, uint64_t id, uint64_t offset, uint64_t size,
                                  acre_resource *resource, acre_error *error) {
    (void)context;
    (void)error;
    resource->kind = ACRE_RESOURCE_SIMULATED;
    resource->size = size;
    resource->as.simulated.page = id;
    resource->as.simulated.offset = offset;
    return ACRE_OK;
}

static uint64_t table_alignment(void *context) {
    (void)context;
    return 256;
}

static uint64_t table_bytes(void *context) {
    return *(const uint64_t *)context;
}

// A table of the size it had before there was a queue is taken, and needs the caller's.
static void a_storage_without_a_queue_relocates_through_the_callers_only(void **state) {
    (void)state;
    uint64_t bytes = 0;
    acre_storage_ops ops = ACRE_STORAGE_OPS_INIT;
    ops.struct_size = offsetof(acre_storage_ops, copy);
    ops.alloc = table_alloc;
    ops.dealloc = table_dealloc;
    ops.flush = table_flush;
    ops.resource = table_resource;
    ops.alignment = table_alignment;
    ops.bytes_allocated = table_bytes;
    acre_storage *storage = NULL;
    assert_ok(acre_storage_create("old", &ops, &bytes, NULL, &storage, NULL));
    acre_layout layout = ACRE_LAYOUT_INIT(ACRE_LAYOUT_ADAPTIVE);
    acre_manager_options options = plain_options(128 * MIB, 32);
    options.layout = &layout;
    options.relocation = ACRE_RELOCATION_COMPACT; // needs the storage's own
    acre_manager *refused = NULL;
    assert_status(ACRE_UNSUPPORTED, acre_manager_create(storage, &options, &refused, NULL));
    options.relocation = ACRE_RELOCATION_NONE;
    rig r = rig_on(storage, &options);
    acre_handle *h[3];
    three_outdated(r.manager, h);
    acre_relocation_options wanted = ACRE_RELOCATION_OPTIONS_INIT;
    wanted.room = ACRE_RELOCATION_ROOM_HELD;
    assert_status(ACRE_UNSUPPORTED, acre_manager_relocate(r.manager, &wanted, NULL, NULL));
    acre_relocation *plan = plan_of(r.manager, ACRE_RELOCATION_ROOM_HELD);
    assert_status(ACRE_UNSUPPORTED, acre_relocation_copy(plan, NULL, NULL));
    watch seen = {0};
    acre_copy_queue queue = queue_of(&seen);
    assert_ok(acre_relocation_copy(plan, &queue, NULL));
    assert_ok(acre_relocation_commit(plan, NULL, NULL));
    acre_relocation_destroy(plan);
    assert_int_equal(seen.copies, 3);
    drop_all(r.manager, h, 3);
    rig_close(&r);
}

static void a_queue_is_not_called_when_there_is_nothing_to_copy(void **state) {
    (void)state;
    rig r = arena_rig(128 * MIB, 0);
    watch seen = {0};
    acre_copy_queue queue = queue_of(&seen);
    acre_relocation_options options = ACRE_RELOCATION_OPTIONS_INIT;
    options.room = ACRE_RELOCATION_ROOM_MAY_ADD;
    options.queue = &queue;
    assert_ok(acre_manager_relocate(r.manager, &options, NULL, NULL));
    assert_int_equal(seen.calls, 0);
    rig_close(&r);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_plan_moves_nothing_until_its_commit),
        cmocka_unit_test(a_dropped_plan_leaves_everything_and_counts_as_in_vain),
        cmocka_unit_test(phases_out_of_order_are_refused_and_change_nothing),
        cmocka_unit_test(a_plan_whose_copy_failed_is_over),
        cmocka_unit_test(what_changed_since_the_plan_does_not_move),
        cmocka_unit_test(a_plan_whose_handles_all_died_is_refused_and_moves_nothing),
        cmocka_unit_test(a_plan_whose_allocations_live_elsewhere_is_not_refused),
        cmocka_unit_test(what_was_resolved_after_the_copies_does_not_move),
        cmocka_unit_test(a_handle_from_hooks_may_die_or_be_bound_while_a_plan_is_open),
        cmocka_unit_test(plans_side_by_side_do_not_move_the_same),
        cmocka_unit_test(a_plan_may_outlive_its_manager),
        cmocka_unit_test(a_layout_is_not_replaced_under_a_plan),
        cmocka_unit_test(a_storage_without_a_queue_relocates_through_the_callers_only),
        cmocka_unit_test(a_queue_is_not_called_when_there_is_nothing_to_copy),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
