// Section 9, the option compact, and relocations that a manager makes by itself.
#include "relocation_rig.h"

enum {
    ARENA = 2,
};

static rig policy_rig(acre_storage *storage, acre_relocation_policy policy) {
    acre_layout layout = ACRE_LAYOUT_INIT(ACRE_LAYOUT_ADAPTIVE);
    acre_manager_options options = plain_options(1024 * MIB, 32);
    options.layout = &layout;
    options.relocation = policy;
    return rig_on(storage, &options);
}

static acre_relocation_report compact(acre_manager *manager, uint64_t make_room) {
    acre_relocation_options options = ACRE_RELOCATION_OPTIONS_INIT;
    acre_relocation_report report = ACRE_RELOCATION_REPORT_INIT;
    options.room = ACRE_RELOCATION_ROOM_HELD;
    options.compact = true;
    options.make_room = make_room;
    assert_ok(acre_manager_relocate(manager, &options, &report, NULL));
    check(manager);
    return report;
}

// Pages of 5 MiB, each with h[2i] and h[2i + 1] of 2 MiB; the second of each is let go.
//   | 2 | 3 free |   | 2 | 3 free |   ...
static void half_full(acre_manager *manager, acre_handle **h, int pages) {
    acre_handle *first = take(manager, 4 * MIB); // goes over to pages of 5 MiB
    acre_manager_release(manager, first);
    for (int i = 0; i < 2 * pages; i++) {
        h[i] = take(manager, 2 * MIB);
    }
    for (int i = 0; i < pages; i++) {
        acre_manager_release(manager, h[2 * i + 1]);
        h[2 * i + 1] = NULL;
    }
    assert_int_equal(arena_of(manager).current_pages, pages);
}

// ---- in a call -----------------------------------------------------------------------------

static void compacting_empties_current_pages_into_the_others(void **state) {
    (void)state;
    rig r = arena_rig(128 * MIB, 0);
    acre_handle *h[8];
    half_full(r.manager, h, 4);
    assert_int_equal(relocate(r.manager, ACRE_RELOCATION_ROOM_HELD).moves, 0); // only outdated ones
    acre_relocation_report report = compact(r.manager, 0);
    assert_int_equal(report.moves, 2);
    assert_int_equal(report.pages_returned, 2);
    assert_int_equal(report.bytes_returned, 10 * MIB);
    assert_int_equal(usage_of(r.manager).reserved, 10 * MIB);
    assert_int_equal(compact(r.manager, 0).moves, 0);
    drop_all(r.manager, h, 8);
    rig_close(&r);
}

static void compacting_makes_one_piece_of_the_room_asked_for(void **state) {
    (void)state;
    rig r = arena_rig(128 * MIB, 0);
    acre_handle *h[8];
    half_full(r.manager, h, 4);
    assert_int_equal(compact(r.manager, 3 * MIB).moves, 0); // there is such a piece
    assert_int_equal(compact(r.manager, 6 * MIB).moves, 0); // no page is so large
    acre_relocation_report report = compact(r.manager, 4 * MIB);
    assert_int_equal(report.moves, 1);
    assert_int_equal(report.pages_returned, 0);
    acre_handle *served = take_with(r.manager, 4 * MIB, 0, ACRE_PAGES_FORBIDDEN);
    assert_int_equal(arena_of(r.manager).current_pages, 4);
    acre_manager_release(r.manager, served);
    drop_all(r.manager, h, 8);
    rig_close(&r);
}

static void compacting_leaves_bound_and_guarded_pages_out(void **state) {
    (void)state;
    rig r = arena_rig(128 * MIB, 0);
    acre_handle *h[4];
    half_full(r.manager, h, 2);
    acre_binding *bindings[] = {acre_handle_binding(h[0]), acre_handle_binding(h[2])};
    acre_relocation_report report = compact(r.manager, 4 * MIB);
    assert_int_equal(report.moves, 0);
    assert_int_equal(report.bound.allocations, 2);
    acre_binding_release(bindings[0]);
    acre_guard *guard = NULL;
    assert_ok(acre_manager_guard(r.manager, h[0], &guard, NULL));
    report = compact(r.manager, 0);
    assert_int_equal(report.moves, 0);
    assert_int_equal(report.guarded.allocations, 1);
    assert_int_equal(report.guarded.bytes, 2 * MIB);
    acre_guard_release(guard);
    acre_binding_release(bindings[1]);
    drop_all(r.manager, h, 4);
    rig_close(&r);
}

// vma#59: a stretch is cleared into room around it on the same page, and no copy overlaps itself.
//   | a .5 | free .5 | b .5 | free .5 |   1 MiB in one piece: b, or a, moves beside the other
static void a_move_within_a_page_does_not_overlap_itself(void **state) {
    (void)state;
    acre_storage *storage = NULL;
    assert_ok(acre_storage_host_create(NULL, NULL, &storage, NULL));
    rig r = policy_rig(storage, ACRE_RELOCATION_NONE);
    acre_handle *h[4];
    for (int i = 0; i < 4; i++) {
        h[i] = take(r.manager, MIB / 2);
    }
    drop_all(r.manager, &h[1], 1);
    drop_all(r.manager, &h[3], 1);
    acre_resource resource = ACRE_RESOURCE_INIT;
    for (int i = 0; i < 4; i += 2) {
        assert_ok(acre_manager_resolve(r.manager, h[i], 0, 0, &resource, NULL));
        memset(resource.as.host, 'a' + i, MIB / 2);
    }
    acre_relocation_options options = ACRE_RELOCATION_OPTIONS_INIT;
    options.compact = true;
    options.make_room = MIB;
    acre_relocation *plan = NULL;
    assert_ok(acre_manager_relocation_plan(r.manager, &options, &plan, NULL));
    assert_int_equal(acre_relocation_count(plan), 1);
    acre_relocation_move move = ACRE_RELOCATION_MOVE_INIT;
    assert_ok(acre_relocation_get(plan, 0, &move, NULL));
    assert_int_equal(move.from_page, move.to_page);
    assert_true(move.from_offset + move.size <= move.to_offset ||
                move.to_offset + move.size <= move.from_offset);
    assert_ok(acre_relocation_copy(plan, NULL, NULL));
    assert_ok(acre_relocation_commit(plan, NULL, NULL));
    acre_relocation_destroy(plan);
    check(r.manager);
    for (int i = 0; i < 4; i += 2) {
        assert_ok(acre_manager_resolve(r.manager, h[i], 0, 0, &resource, NULL));
        const char *bytes = resource.as.host;
        assert_true(bytes[0] == 'a' + i && bytes[MIB / 2 - 1] == 'a' + i);
    }
    acre_manager_release(r.manager, take_with(r.manager, MIB, 0, ACRE_PAGES_FORBIDDEN));
    drop_all(r.manager, h, 4);
    rig_close(&r);
}

// ---- while a plan is open ------------------------------------------------------------------

static void a_page_guarded_since_the_plan_keeps_what_lives_there(void **state) {
    (void)state;
    for (int target = 0; target < 2; target++) {
        rig r = arena_rig(128 * MIB, 0);
        acre_handle *h[] = {take(r.manager, MIB), take(r.manager, 2 * MIB), NULL};
        acre_manager_release(r.manager, take(r.manager, 9 * MIB));
        h[2] = take(r.manager, MIB); // on the page that the others move to
        acre_place before[] = {place_of(r.manager, h[0]), place_of(r.manager, h[1])};
        acre_relocation *plan = plan_of(r.manager, ACRE_RELOCATION_ROOM_HELD);
        assert_int_equal(acre_relocation_count(plan), 2);
        acre_guard *guard = NULL;
        assert_ok(acre_manager_guard(r.manager, h[target == 1 ? 2 : 0], &guard, NULL));
        check(r.manager);
        assert_ok(acre_relocation_copy(plan, NULL, NULL));
        acre_relocation_report report = ACRE_RELOCATION_REPORT_INIT;
        assert_ok(acre_relocation_commit(plan, &report, NULL));
        check(r.manager);
        assert_int_equal(report.moves, target == 1 ? 0 : 1);
        assert_int_equal(report.changed.allocations, target == 1 ? 2 : 1);
        assert_int_equal(place_of(r.manager, h[0]).page, before[0].page);
        assert_int_equal(place_of(r.manager, h[1]).page == before[1].page, target == 1);
        acre_relocation_destroy(plan);
        acre_guard_release(guard);
        check(r.manager);
        assert_int_equal(relocate(r.manager, ACRE_RELOCATION_ROOM_HELD).moves, target == 1 ? 2 : 1);
        drop_all(r.manager, h, 3);
        rig_close(&r);
    }
}

// What was carved under a dry run and never resolved has no bytes: no copy, and its target need not
// have memory either. Bytes that exist are moved to where memory is, which is put there.
static void what_has_no_bytes_is_moved_without_a_copy(void **state) {
    (void)state;
    for (uint64_t resolved = 0; resolved < 2; resolved++) {
        rig r = arena_rig(128 * MIB, 0);
        acre_dry_run_begin();
        acre_handle *h[] = {take(r.manager, MIB), take(r.manager, 9 * MIB)};
        acre_manager_release(r.manager, h[1]);
        acre_dry_run_end();
        if (resolved == 1) {
            acre_resource resource = ACRE_RESOURCE_INIT;
            assert_ok(acre_manager_resolve(r.manager, h[0], 0, 0, &resource, NULL));
        }
        assert_int_equal(stats_of(r.storage).bytes_allocated, resolved * 2 * MIB);
        assert_int_equal(relocate(r.manager, ACRE_RELOCATION_ROOM_HELD).moves, 1);
        assert_int_equal(place_of(r.manager, h[0]).pool_index, ARENA);
        assert_int_equal(stats_of(r.storage).copies, resolved);
        assert_int_equal(stats_of(r.storage).bytes_allocated, resolved * 10 * MIB);
        acre_manager_release(r.manager, h[0]);
        rig_close(&r);
    }
}

// A failure's claims on bytes stay with the allocation that has them.
static void claims_of_failures_move_with_the_bytes(void **state) {
    (void)state;
    rig r = arena_rig(128 * MIB, 0);
    acre_failure_params params = ACRE_FAILURE_PARAMS_INIT;
    params.message = "a launch failed";
    acre_failure *failure = NULL;
    assert_ok(acre_failure_create(&params, NULL, &failure, NULL));
    acre_handle *h[] = {take(r.manager, MIB), take(r.manager, 9 * MIB)};
    acre_manager_release(r.manager, h[1]);
    assert_ok(acre_manager_taint(r.manager, h[0], 100, 200, failure, NULL));
    assert_int_equal(relocate(r.manager, ACRE_RELOCATION_ROOM_HELD).moves, 1);
    assert_null(acre_manager_get_failure(r.manager, h[0], 0, 100));
    assert_ptr_equal(acre_manager_get_failure(r.manager, h[0], 199, 300), failure);
    assert_null(acre_manager_get_failure(r.manager, h[0], 200, MIB));
    acre_manager_release(r.manager, h[0]);
    acre_handle *next = take(r.manager, MIB); // the same room
    assert_null(acre_manager_get_failure(r.manager, next, 0, MIB));
    acre_manager_release(r.manager, next);
    acre_failure_release(failure);
    rig_close(&r);
}

// ---- by itself -----------------------------------------------------------------------------

static void without_a_policy_a_reservation_moves_nothing(void **state) {
    (void)state;
    rig r = policy_rig(simulated_device(), ACRE_RELOCATION_NONE);
    acre_handle *h[4];
    half_full(r.manager, h, 2);
    acre_handle *served = take(r.manager, 4 * MIB);
    assert_int_equal(arena_of(r.manager).current_pages, 3);
    assert_int_equal(report_of(r.manager).moves, 0);
    acre_manager_release(r.manager, served);
    drop_all(r.manager, h, 4);
    rig_close(&r);
}

static void a_request_that_free_room_would_hold_takes_no_page(void **state) {
    (void)state;
    rig r = policy_rig(simulated_device(), ACRE_RELOCATION_COMPACT);
    acre_handle *h[4];
    half_full(r.manager, h, 2);
    acre_handle *served = take(r.manager, 4 * MIB);
    assert_int_equal(arena_of(r.manager).current_pages, 2);
    assert_int_equal(report_of(r.manager).moves, 1);
    assert_int_equal(report_of(r.manager).moved_bytes, 2 * MIB);
    char text[16384];
    (void)acre_manager_report_write(r.manager, ACRE_REPORT_JSON, text, sizeof text);
    assert_non_null(
        strstr(text, "\"moves\": 1, \"moved_bytes\": 2097152, \"pages_given_back\": 0"));
    (void)acre_manager_report_write(r.manager, ACRE_REPORT_PROMETHEUS, text, sizeof text);
    assert_non_null(strstr(text, "# TYPE acre_moved_bytes_total counter\n"));
    assert_non_null(strstr(text, "acre_moved_bytes_total{manager=\"test\"} 2097152\n"));
    acre_manager_release(r.manager, served);
    drop_all(r.manager, h, 4);
    rig_close(&r);
}

static void a_reservation_that_may_not_change_pages_does_not_relocate(void **state) {
    (void)state;
    rig r = policy_rig(simulated_device(), ACRE_RELOCATION_COMPACT);
    acre_handle *h[4];
    half_full(r.manager, h, 2);
    (void)refuse_with(r.manager, 4 * MIB, 0, ACRE_PAGES_FORBIDDEN, ACRE_PAGE_UPDATE_FORBIDDEN);
    acre_handle *served = take_with(r.manager, 4 * MIB, 0, ACRE_PAGES_ADD_ONLY);
    assert_int_equal(report_of(r.manager).moves, 0);
    assert_int_equal(arena_of(r.manager).current_pages, 3);
    acre_manager_release(r.manager, served);
    drop_all(r.manager, h, 4);
    rig_close(&r);
}

// 1.5 MiB of 2 live, then 10 MiB: the old page goes back before the request gets its own, so the
// most held is two pages of 11 MiB.
static void a_growth_does_not_add_old_and_new_pages_up(void **state) {
    (void)state;
    rig r = policy_rig(simulated_device(), ACRE_RELOCATION_COMPACT);
    acre_handle *old = take(r.manager, 3 * MIB / 2);
    acre_handle *grown = take(r.manager, 10 * MIB);
    acre_handle *small = take(r.manager, 2 * MIB);
    assert_int_equal(stats_of(r.storage).bytes_peak, 22 * MIB);
    assert_int_equal(arena_of(r.manager).outdated_pages, 0);
    drop_all(r.manager, (acre_handle *[]){old, grown, small}, 3);
    rig_close(&r);
}

// The device gives the page to move to, and none for the request.
static void a_growth_refused_after_the_moves_leaves_the_page_size_where_it_was(void **state) {
    (void)state;
    for (int keep = 0; keep < 2; keep++) { // a binding keeps the old page from being emptied
        rig r = policy_rig(simulated_device(), ACRE_RELOCATION_COMPACT);
        acre_handle *old = take(r.manager, 3 * MIB / 2);
        acre_handle *second = take(r.manager, 3 * MIB / 2);
        acre_binding *binding = keep == 1 ? acre_handle_binding(old) : NULL;
        assert_ok(acre_storage_simulated_fail(r.storage, ACRE_SIMULATED_ALLOC, 2, true, NULL));
        (void)refuse(r.manager, 10 * MIB, ACRE_OUT_OF_MEMORY);
        assert_int_equal(arena_of(r.manager).page_size, 2 * MIB);
        assert_int_equal(pool_of(r.manager, ARENA).page_size, 2 * MIB);
        assert_int_equal(usage_of(r.manager).allocations, 2);
        assert_ok(acre_storage_simulated_fail(r.storage, ACRE_SIMULATED_ALLOC, 0, false, NULL));
        acre_handle *served = take(r.manager, MIB);
        assert_int_equal(place_of(r.manager, served).pool_index, ARENA);
        assert_int_equal(arena_of(r.manager).page_size, 2 * MIB);
        check(r.manager);
        acre_binding_release(binding);
        drop_all(r.manager, (acre_handle *[]){old, second, served}, 3);
        rig_close(&r);
    }
}

static void a_relocation_that_fails_leaves_the_reservation_as_without(void **state) {
    (void)state;
    rig r = policy_rig(simulated_device(), ACRE_RELOCATION_COMPACT);
    acre_handle *h[4];
    half_full(r.manager, h, 2);
    assert_ok(acre_storage_simulated_fail(r.storage, ACRE_SIMULATED_COPY, 1, true, NULL));
    acre_handle *served = take(r.manager, 4 * MIB);
    assert_int_equal(arena_of(r.manager).current_pages, 3);
    assert_int_equal(report_of(r.manager).moves, 0);
    acre_manager_release(r.manager, served);
    drop_all(r.manager, h, 4);
    rig_close(&r);
}

// 64 page sizes with one live each: the next growth first empties them.
static void a_full_arena_is_emptied_by_a_reservation_that_may(void **state) {
    (void)state;
    for (int policy = ACRE_RELOCATION_ON_NEED; policy <= ACRE_RELOCATION_COMPACT; policy++) {
        rig r = policy_rig(simulated_device(), (acre_relocation_policy)policy);
        acre_handle *live[64];
        live[63] = take(r.manager, MIB);
        for (uint64_t k = 0; k < 63; k++) {
            live[k] = take_with(r.manager, (3 + 2 * k) * MIB, 0, ACRE_PAGES_ADD_ONLY);
        }
        assert_true(arena_of(r.manager).full);
        acre_handle *served = take(r.manager, 200 * MIB);
        assert_int_equal(arena_of(r.manager).page_size, 201 * MIB);
        assert_true(report_of(r.manager).moves >= 63);
        acre_manager_release(r.manager, served);
        drop_all(r.manager, live, 64);
        rig_close(&r);
    }
}

static void a_policy_that_is_none_is_refused(void **state) {
    (void)state;
    acre_storage *storage = simulated_device();
    acre_manager_options options = plain_options(GIB, 32);
    options.relocation = (acre_relocation_policy)3;
    acre_manager *manager = NULL;
    assert_status(ACRE_INVALID_ARGUMENT, acre_manager_create(storage, &options, &manager, NULL));
    acre_storage_destroy(storage);
}

// A list whose only pool is the arena serves requests of nothing too, across growths.
static void allocations_of_nothing_follow_the_current_pool(void **state) {
    (void)state;
    acre_pool_options pools[] = {ACRE_ADAPTIVE_POOL(2 * MIB)};
    rig r = rig_pools(pools, 1);
    acre_handle *nothing = take(r.manager, 0);
    acre_handle *old = take(r.manager, MIB);
    acre_handle *grown = take(r.manager, 4 * MIB);
    check(r.manager);
    assert_int_equal(pool_of(r.manager, 0).usage.allocations, 2);
    assert_int_equal(relocate(r.manager, ACRE_RELOCATION_ROOM_MAY_ADD).moves, 1);
    acre_manager_release(r.manager, nothing);
    check(r.manager);
    drop_all(r.manager, (acre_handle *[]){old, grown}, 2);
    rig_close(&r);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(compacting_empties_current_pages_into_the_others),
        cmocka_unit_test(compacting_makes_one_piece_of_the_room_asked_for),
        cmocka_unit_test(compacting_leaves_bound_and_guarded_pages_out),
        cmocka_unit_test(a_move_within_a_page_does_not_overlap_itself),
        cmocka_unit_test(a_page_guarded_since_the_plan_keeps_what_lives_there),
        cmocka_unit_test(what_has_no_bytes_is_moved_without_a_copy),
        cmocka_unit_test(claims_of_failures_move_with_the_bytes),
        cmocka_unit_test(without_a_policy_a_reservation_moves_nothing),
        cmocka_unit_test(a_request_that_free_room_would_hold_takes_no_page),
        cmocka_unit_test(a_reservation_that_may_not_change_pages_does_not_relocate),
        cmocka_unit_test(a_growth_does_not_add_old_and_new_pages_up),
        cmocka_unit_test(a_growth_refused_after_the_moves_leaves_the_page_size_where_it_was),
        cmocka_unit_test(a_relocation_that_fails_leaves_the_reservation_as_without),
        cmocka_unit_test(a_full_arena_is_emptied_by_a_reservation_that_may),
        cmocka_unit_test(a_policy_that_is_none_is_refused),
        cmocka_unit_test(allocations_of_nothing_follow_the_current_pool),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
