// Section 3, bind(reserved, assigned, cursor): an allocation passes to a handle made before it.
#include "support.h"

static rig plain_rig(void) {
    acre_pool_options pool = sliced_pool(MIB, ACRE_UNSET, ACRE_UNSET);
    return rig_pools(&pool, 1);
}

static acre_handle *unset(acre_manager *manager) {
    acre_handle *handle = NULL;
    if (manager != NULL) {
        assert_ok(acre_manager_handle_create(manager, &handle, NULL));
    } else {
        assert_ok(acre_handle_create(NULL, &handle, NULL));
    }
    assert_non_null(handle);
    return handle;
}

static void assert_bind(acre_status expected, acre_manager *manager, acre_handle *reserved,
                        acre_handle *assigned) {
    acre_error error = ACRE_ERROR_INIT;
    snapshot before = snapshot_of(manager);
    assert_status(expected, acre_manager_bind(manager, reserved, assigned, 99, &error));
    assert_int_equal(error.status, expected);
    snapshot after = snapshot_of(manager);
    assert_unchanged(&before, &after);
    check(manager);
}

static void assert_lost(acre_manager *manager, acre_handle *handle) {
    uint64_t cursor = 0;
    assert_status(ACRE_NOT_FOUND, acre_manager_get_cursor(manager, handle, &cursor, NULL));
}

static void the_allocation_its_place_and_the_cursor_pass_to_assigned(void **state) {
    (void)state;
    for (int from_hooks = 0; from_hooks < 2; from_hooks++) {
        rig r = plain_rig();
        acre_handle *assigned = unset(from_hooks ? NULL : r.manager);
        acre_handle *reserved = take(r.manager, 1000);
        acre_place place = place_of(r.manager, reserved);
        assert_int_equal(cursor_of(r.manager, reserved), 0);
        assert_ok(acre_manager_bind(r.manager, reserved, assigned, 42, NULL));
        assert_int_equal(cursor_of(r.manager, assigned), 42);
        assert_true(same_place(place_of(r.manager, assigned), place));
        assert_int_equal(place_of(r.manager, assigned).size, 1000);
        assert_lost(r.manager, reserved);
        assert_int_equal(usage_of(r.manager).allocations, 1);
        check(r.manager);
        acre_manager_release(r.manager, reserved); // stale: frees nothing
        assert_int_equal(usage_of(r.manager).allocations, 1);
        acre_manager_release(r.manager, assigned);
        assert_int_equal(usage_of(r.manager).allocations, 0);
        rig_close(&r);
    }
}

static void an_owner_kept_of_reserved_finds_nothing_after_the_bind(void **state) {
    (void)state;
    rig r = rig_preset(128 * MIB, 32, ACRE_LAYOUT_ADAPTIVE);
    acre_handle *reserved = take(r.manager, 512);
    acre_handle *stale = acre_handle_retain(reserved);
    acre_handle *assigned = unset(NULL);
    acre_binding *use = acre_handle_binding(assigned); // taken before there is an allocation
    assert_ok(acre_manager_bind(r.manager, reserved, assigned, 0, NULL));
    acre_manager_release(r.manager, reserved);
    assert_lost(r.manager, stale);
    assert_int_equal(cursor_of(r.manager, acre_binding_handle(use)), 0);
    assert_int_equal(place_of(r.manager, acre_binding_handle(use)).size, 512);
    acre_binding_release(use);
    drop_all(r.manager, (acre_handle *[]){stale, assigned}, 2);
    rig_close(&r);
}

static void the_last_owner_of_assigned_frees_it_while_reserved_is_still_held(void **state) {
    (void)state;
    rig r = plain_rig();
    acre_handle *assigned = unset(NULL);
    acre_handle *reserved = take(r.manager, 1000);
    assert_ok(acre_manager_bind(r.manager, reserved, assigned, 1, NULL));
    acre_handle_release(assigned);
    assert_int_equal(usage_of(r.manager).allocations, 0);
    acre_handle_release(reserved);
    rig_close(&r);
}

static void owners_of_assigned_are_counted_from_before_the_bind(void **state) {
    (void)state;
    rig r = plain_rig();
    acre_handle *assigned = unset(r.manager);
    acre_handle *other = acre_handle_retain(assigned);
    acre_handle *reserved = take(r.manager, 1000);
    assert_ok(acre_manager_bind(r.manager, reserved, assigned, 1, NULL));
    acre_manager_release(r.manager, reserved);
    assert_false(acre_handle_can_mut(assigned));
    acre_handle_release(other);
    assert_true(acre_handle_can_mut(assigned));
    assert_int_equal(usage_of(r.manager).allocations, 1);
    acre_handle_release(assigned);
    assert_int_equal(usage_of(r.manager).allocations, 0);
    rig_close(&r);
}

static void a_bound_handle_may_be_reserved_for_the_next_bind(void **state) {
    (void)state;
    rig r = plain_rig();
    acre_handle *h[3] = {take(r.manager, 1000), unset(r.manager), unset(NULL)};
    assert_ok(acre_manager_bind(r.manager, h[0], h[1], 7, NULL));
    assert_ok(acre_manager_bind(r.manager, h[1], h[2], UINT64_MAX, NULL));
    assert_lost(r.manager, h[0]);
    assert_lost(r.manager, h[1]);
    assert_int_equal(cursor_of(r.manager, h[2]), UINT64_MAX);
    drop_all(r.manager, h, 3);
    assert_int_equal(usage_of(r.manager).allocations, 0);
    rig_close(&r);
}

static void an_uninitialised_or_stale_reserved_is_not_found(void **state) {
    (void)state;
    rig r = plain_rig();
    acre_handle *h[4] = {take(r.manager, 1000), unset(r.manager), unset(r.manager), unset(NULL)};
    assert_bind(ACRE_NOT_FOUND, r.manager, h[1], h[2]);
    assert_bind(ACRE_NOT_FOUND, r.manager, h[3], h[2]);
    assert_ok(acre_manager_bind(r.manager, h[0], h[1], 1, NULL));
    assert_bind(ACRE_NOT_FOUND, r.manager, h[0], h[2]);
    assert_lost(r.manager, h[2]);
    assert_int_equal(cursor_of(r.manager, h[1]), 1);
    drop_all(r.manager, h, 4);
    rig_close(&r);
}

static void an_assigned_that_is_already_bound_is_refused(void **state) {
    (void)state;
    rig r = plain_rig();
    acre_handle *h[4] = {take(r.manager, 1000), unset(r.manager), take(r.manager, 2000),
                         take(r.manager, 3000)};
    assert_ok(acre_manager_bind(r.manager, h[0], h[1], 5, NULL));
    assert_bind(ACRE_INVALID_ARGUMENT, r.manager, h[2], h[1]);
    assert_bind(ACRE_INVALID_ARGUMENT, r.manager, h[2], h[3]); // reserved: has an allocation
    assert_bind(ACRE_INVALID_ARGUMENT, r.manager, h[2], h[2]);
    assert_int_equal(cursor_of(r.manager, h[1]), 5);
    assert_int_equal(place_of(r.manager, h[1]).size, 1000);
    assert_int_equal(place_of(r.manager, h[2]).size, 2000);
    assert_int_equal(place_of(r.manager, h[3]).size, 3000);
    drop_all(r.manager, h, 4);
    rig_close(&r);
}

static void a_handle_of_another_manager_is_refused(void **state) {
    (void)state;
    rig mine = plain_rig();
    rig other = plain_rig();
    acre_handle *reserved = take(mine.manager, 1000);
    acre_handle *foreign = take(other.manager, 1000);
    acre_handle *foreign_unset = unset(other.manager);
    acre_handle *own_unset = unset(mine.manager);
    assert_bind(ACRE_INVALID_ARGUMENT, mine.manager, reserved, foreign_unset);
    assert_bind(ACRE_INVALID_ARGUMENT, mine.manager, foreign, own_unset);
    assert_int_equal(place_of(mine.manager, reserved).size, 1000);
    assert_int_equal(place_of(other.manager, foreign).size, 1000);
    acre_manager_release(mine.manager, reserved);
    acre_manager_release(mine.manager, own_unset);
    acre_manager_release(other.manager, foreign);
    acre_manager_release(other.manager, foreign_unset);
    rig_close(&mine);
    rig_close(&other);
}

static void a_handle_from_hooks_belongs_to_the_manager_that_bound_it(void **state) {
    (void)state;
    rig mine = plain_rig();
    rig other = plain_rig();
    acre_handle *reserved = take(mine.manager, 1000);
    acre_handle *assigned = unset(NULL);
    assert_ok(acre_manager_bind(mine.manager, reserved, assigned, 3, NULL));
    assert_lost(other.manager, assigned);
    acre_manager_release(other.manager, assigned); // the slow way
    assert_int_equal(usage_of(mine.manager).allocations, 0);
    acre_manager_release(mine.manager, reserved);
    rig_close(&mine);
    rig_close(&other);
}

static void a_bound_handle_outlives_the_manager(void **state) {
    (void)state;
    rig r = plain_rig();
    host_probe *probe = host_probe_create();
    acre_host_hooks hooks = host_probe_hooks(probe);
    acre_handle *assigned = NULL;
    assert_ok(acre_handle_create(&hooks, &assigned, NULL));
    acre_handle *reserved = take(r.manager, 1000);
    assert_ok(acre_manager_bind(r.manager, reserved, assigned, 3, NULL));
    rig_close(&r);
    assert_true(acre_handle_can_mut(assigned));
    acre_handle_release(assigned);
    acre_handle_release(reserved);
    host_probe_destroy(probe);
}

static void the_allocation_of_every_pool_can_be_bound(void **state) {
    (void)state;
    const acre_mode modes[] = {ACRE_MODE_AUTO, ACRE_MODE_PERSISTENT, ACRE_MODE_DEDICATED};
    for (size_t i = 0; i < 3; i++) {
        acre_pool_options pools[] = {exclusive_pool(0), direct_pool(ACRE_UNSET)};
        rig r = rig_pools(pools, 2);
        set_mode(r.manager, modes[i]);
        for (uint64_t size = 0; size < 2000; size += 1000) {
            acre_handle *h[2] = {take(r.manager, size), unset(r.manager)};
            acre_place place = place_of(r.manager, h[0]);
            assert_ok(acre_manager_bind(r.manager, h[0], h[1], size + 1, NULL));
            assert_int_equal(cursor_of(r.manager, h[1]), size + 1);
            assert_true(same_place(place_of(r.manager, h[1]), place));
            drop_all(r.manager, h, 2);
            assert_int_equal(usage_of(r.manager).allocations, 0);
        }
        rig_close(&r);
    }
}

static void a_cursor_does_not_stay_with_the_room(void **state) {
    (void)state;
    rig r = plain_rig();
    acre_handle *h[2] = {take(r.manager, 1000), unset(r.manager)};
    assert_ok(acre_manager_bind(r.manager, h[0], h[1], 77, NULL));
    acre_place place = place_of(r.manager, h[1]);
    drop_all(r.manager, h, 2);
    acre_handle *again = take(r.manager, 1000);
    assert_true(same_place(place_of(r.manager, again), place));
    assert_int_equal(cursor_of(r.manager, again), 0);
    acre_manager_release(r.manager, again);
    rig_close(&r);
}

static void the_tag_of_the_reservation_passes_on_as_well(void **state) {
    (void)state;
    rig r = plain_rig();
    acre_reservation reservation = ACRE_RESERVATION_INIT(1000);
    reservation.tag = 21;
    for (int from_hooks = 0; from_hooks < 2; from_hooks++) {
        acre_handle *h[2] = {NULL, unset(from_hooks ? NULL : r.manager)};
        assert_ok(acre_manager_reserve_with(r.manager, &reservation, &h[0], NULL));
        assert_ok(acre_manager_bind(r.manager, h[0], h[1], 1, NULL));
        acre_allocation_info info;
        assert_int_equal(acre_manager_largest(r.manager, &info, sizeof(acre_allocation_info), 1),
                         1);
        assert_int_equal(info.tag, 21);
        drop_all(r.manager, h, 2);
    }
    rig_close(&r);
}

static void a_handle_from_hooks_may_be_reserved_for_the_next_bind(void **state) {
    (void)state;
    rig r = plain_rig();
    acre_handle *h[4] = {take(r.manager, 1000), unset(NULL), unset(NULL), unset(r.manager)};
    assert_ok(acre_manager_bind(r.manager, h[0], h[1], 1, NULL));
    assert_ok(acre_manager_bind(r.manager, h[1], h[2], 2, NULL));
    assert_bind(ACRE_NOT_FOUND, r.manager, h[1], h[3]); // stale
    assert_bind(ACRE_INVALID_ARGUMENT, r.manager, h[2], h[1]);
    acre_handle_release(h[1]);
    h[1] = NULL;
    assert_ok(acre_manager_bind(r.manager, h[2], h[3], 3, NULL));
    assert_int_equal(cursor_of(r.manager, h[3]), 3);
    assert_int_equal(usage_of(r.manager).allocations, 1);
    drop_all(r.manager, h, 4);
    assert_int_equal(usage_of(r.manager).allocations, 0);
    rig_close(&r);
}

static void a_handle_from_hooks_that_another_manager_bound_is_refused(void **state) {
    (void)state;
    rig mine = plain_rig();
    rig other = plain_rig();
    acre_handle *theirs[2] = {take(other.manager, 500), unset(NULL)};
    acre_handle *own[2] = {take(mine.manager, 1000), unset(NULL)};
    assert_ok(acre_manager_bind(other.manager, theirs[0], theirs[1], 1, NULL));
    assert_bind(ACRE_INVALID_ARGUMENT, mine.manager, theirs[1], own[1]);
    assert_bind(ACRE_INVALID_ARGUMENT, mine.manager, own[0], theirs[1]);
    assert_int_equal(cursor_of(other.manager, theirs[1]), 1);
    drop_all(other.manager, theirs, 2);
    drop_all(mine.manager, own, 2);
    rig_close(&mine);
    rig_close(&other);
}

static void note_free(void *context, const acre_event *event) {
    uint64_t *frees = context;
    if (event->kind == ACRE_EVENT_FREE) {
        frees[frees[0] == 0 ? 0 : 1] = event->size;
    }
}

// A binding that a bind left on a stale handle kept the allocation; once it is gone, whoever lets
// the last reference go frees it, also when nothing has looked since.
static void frees_come_in_the_order_of_the_last_releases_whoever_looks(void **state) {
    (void)state;
    for (int looks = 0; looks < 2; looks++) {
        uint64_t frees[2] = {0, 0};
        acre_manager_options options = plain_options(128 * MIB, 32);
        options.event = note_free;
        options.event_context = frees;
        rig r = rig_on(simulated_device(), &options);
        acre_handle *other = take(r.manager, 200);
        acre_handle *stale = take(r.manager, 100);
        acre_binding *on_stale = acre_handle_binding(stale);
        acre_handle *bound = NULL;
        assert_ok(acre_manager_handle_create(r.manager, &bound, NULL));
        assert_ok(acre_manager_bind(r.manager, stale, bound, 0, NULL));
        acre_binding *on_bound = acre_handle_binding(bound);
        drop_all(r.manager, (acre_handle *[]){stale, bound}, 2);
        acre_binding_release(on_stale);
        if (looks == 1) {
            check(r.manager);
        }
        acre_handle_release(other);
        acre_binding_release(on_bound);
        check(r.manager);
        assert_int_equal(frees[0], 200);
        assert_int_equal(frees[1], 100);
        rig_close(&r);
    }
}

static void a_bind_without_a_handle_is_refused(void **state) {
    (void)state;
    rig r = plain_rig();
    acre_handle *h[2] = {take(r.manager, 1000), unset(NULL)};
    assert_bind(ACRE_INVALID_ARGUMENT, r.manager, NULL, h[1]);
    assert_bind(ACRE_INVALID_ARGUMENT, r.manager, h[0], NULL);
    drop_all(r.manager, h, 2);
    rig_close(&r);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_allocation_its_place_and_the_cursor_pass_to_assigned),
        cmocka_unit_test(an_owner_kept_of_reserved_finds_nothing_after_the_bind),
        cmocka_unit_test(the_last_owner_of_assigned_frees_it_while_reserved_is_still_held),
        cmocka_unit_test(owners_of_assigned_are_counted_from_before_the_bind),
        cmocka_unit_test(a_bound_handle_may_be_reserved_for_the_next_bind),
        cmocka_unit_test(an_uninitialised_or_stale_reserved_is_not_found),
        cmocka_unit_test(an_assigned_that_is_already_bound_is_refused),
        cmocka_unit_test(a_handle_of_another_manager_is_refused),
        cmocka_unit_test(a_handle_from_hooks_may_be_reserved_for_the_next_bind),
        cmocka_unit_test(a_handle_from_hooks_that_another_manager_bound_is_refused),
        cmocka_unit_test(a_bind_without_a_handle_is_refused),
        cmocka_unit_test(a_handle_from_hooks_belongs_to_the_manager_that_bound_it),
        cmocka_unit_test(a_bound_handle_outlives_the_manager),
        cmocka_unit_test(the_allocation_of_every_pool_can_be_bound),
        cmocka_unit_test(frees_come_in_the_order_of_the_last_releases_whoever_looks),
        cmocka_unit_test(a_cursor_does_not_stay_with_the_room),
        cmocka_unit_test(the_tag_of_the_reservation_passes_on_as_well),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
