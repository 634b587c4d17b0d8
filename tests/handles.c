// Section 3, handles and bindings: who keeps an allocation alive, and what a look-up finds.
#include "support.h"

static rig plain_rig(void) {
    acre_pool_options pool = sliced_pool(MIB, ACRE_UNSET, ACRE_UNSET);
    return rig_pools(&pool, 1);
}

static uint64_t live(acre_manager *manager) {
    return usage_of(manager).allocations;
}

static void assert_not_found(acre_manager *manager, acre_handle *handle) {
    acre_error error = ACRE_ERROR_INIT;
    uint64_t cursor = 0;
    acre_place place = ACRE_PLACE_INIT;
    acre_resource resource = ACRE_RESOURCE_INIT;
    acre_managed_resource managed = {.resource = ACRE_RESOURCE_INIT};
    assert_status(ACRE_NOT_FOUND, acre_manager_get_cursor(manager, handle, &cursor, &error));
    assert_int_equal(error.status, ACRE_NOT_FOUND);
    assert_status(ACRE_NOT_FOUND, acre_manager_get_place(manager, handle, &place, NULL));
    assert_status(ACRE_NOT_FOUND, acre_manager_resolve(manager, handle, 0, 0, &resource, NULL));
    assert_status(ACRE_NOT_FOUND,
                  acre_manager_resolve_managed(manager, handle, 0, 0, &managed, NULL));
    assert_null(managed.binding);
}

static void an_allocation_lives_until_its_last_owner_is_gone(void **state) {
    (void)state;
    rig r = plain_rig();
    acre_handle *a = take(r.manager, 1000);
    assert_ptr_equal(acre_handle_retain(a), a);
    acre_manager_release(r.manager, a);
    assert_int_equal(live(r.manager), 1);
    assert_int_equal(place_of(r.manager, a).size, 1000);
    acre_manager_release(r.manager, a);
    assert_int_equal(live(r.manager), 0);
    rig_close(&r);
}

static void one_owner_alone_may_update_in_place(void **state) {
    (void)state;
    const acre_layout_kind kinds[] = {ACRE_LAYOUT_SUB_SLICES, ACRE_LAYOUT_EXCLUSIVE_PAGES,
                                      ACRE_LAYOUT_ADAPTIVE};
    for (size_t i = 0; i < COUNT_OF(kinds); i++) {
        rig r = rig_preset(128 * MIB, 32, kinds[i]);
        acre_handle *a = take(r.manager, 10);
        assert_true(acre_handle_can_mut(a));
        acre_handle *other = acre_handle_retain(a);
        assert_false(acre_handle_can_mut(a));
        acre_handle_release(other);
        assert_true(acre_handle_can_mut(a));
        acre_manager_release(r.manager, a);
        rig_close(&r);
    }
}

static void bindings_do_not_count_as_owners(void **state) {
    (void)state;
    rig r = plain_rig();
    acre_handle *a = take(r.manager, 10);
    acre_binding *use = acre_handle_binding(a);
    assert_true(acre_handle_can_mut(a));
    assert_ptr_equal(acre_binding_retain(use), use);
    assert_true(acre_handle_can_mut(a));
    acre_binding_release(use);
    acre_binding_release(use);
    acre_manager_release(r.manager, a);
    rig_close(&r);
}

static void a_binding_keeps_the_allocation_alive_and_in_place(void **state) {
    (void)state;
    rig r = plain_rig();
    acre_handle *a = take(r.manager, 1000);
    acre_place place = place_of(r.manager, a);
    acre_binding *use = acre_handle_binding(a);
    assert_ptr_equal(acre_binding_handle(use), a);
    acre_manager_release(r.manager, a);
    assert_int_equal(live(r.manager), 1);
    acre_handle *other = take(r.manager, 1000);
    assert_false(same_place(place_of(r.manager, other), place));
    assert_true(same_place(place_of(r.manager, acre_binding_handle(use)), place));
    acre_binding_release(use);
    assert_int_equal(live(r.manager), 1);
    acre_handle *again = take(r.manager, 1000);
    assert_true(same_place(place_of(r.manager, again), place));
    acre_manager_release(r.manager, other);
    acre_manager_release(r.manager, again);
    rig_close(&r);
}

static void each_of_two_bindings_keeps_the_allocation_alive(void **state) {
    (void)state;
    rig r = plain_rig();
    acre_handle *a = take(r.manager, 1000);
    acre_binding *first = acre_handle_binding(a);
    acre_binding *second = acre_handle_binding(a);
    acre_handle_release(a);
    acre_binding_release(first);
    assert_int_equal(live(r.manager), 1);
    acre_binding_release(second);
    assert_int_equal(live(r.manager), 0);
    rig_close(&r);
}

static void a_release_by_handle_takes_effect_at_the_next_operation(void **state) {
    (void)state;
    rig r = plain_rig();
    acre_handle *a = take(r.manager, 1000);
    acre_place place = place_of(r.manager, a);
    acre_handle_release(a);
    acre_handle *b = take(r.manager, 1000);
    assert_true(same_place(place_of(r.manager, b), place));
    assert_int_equal(live(r.manager), 1);
    acre_handle_release(b);
    assert_int_equal(live(r.manager), 0); // a report is an operation too
    rig_close(&r);
}

static void releasing_nothing_is_allowed(void **state) {
    (void)state;
    rig r = plain_rig();
    acre_manager_release(r.manager, NULL);
    acre_handle_release(NULL);
    acre_binding_release(NULL);
    rig_close(&r);
    acre_manager_destroy(NULL);
    acre_storage_destroy(NULL);
}

static void an_uninitialised_handle_is_not_found_and_causes_no_pages(void **state) {
    (void)state;
    rig r = plain_rig();
    acre_handle *neighbour = take(r.manager, 512); // the place an unset handle might name
    acre_handle *of_manager = NULL;
    acre_handle *of_hooks = NULL;
    assert_ok(acre_manager_handle_create(r.manager, &of_manager, NULL));
    assert_ok(acre_handle_create(NULL, &of_hooks, NULL));
    snapshot before = snapshot_of(r.manager);
    assert_not_found(r.manager, of_manager);
    assert_not_found(r.manager, of_hooks);
    uint64_t cursor = 0;
    assert_status(ACRE_NOT_FOUND, acre_manager_get_cursor(r.manager, NULL, &cursor, NULL));
    snapshot after = snapshot_of(r.manager);
    assert_unchanged(&before, &after);
    assert_true(acre_handle_can_mut(of_manager));
    acre_handle_release(of_hooks);
    acre_manager_release(r.manager, of_manager);
    acre_manager_release(r.manager, neighbour);
    rig_close(&r);
}

static void an_uninitialised_handle_is_not_found_on_an_adaptive_layout_either(void **state) {
    (void)state;
    rig r = rig_preset(128 * MIB, 32, ACRE_LAYOUT_ADAPTIVE);
    acre_handle *live_one = take(r.manager, 512);
    acre_handle *unset = NULL;
    assert_ok(acre_handle_create(NULL, &unset, NULL));
    assert_not_found(r.manager, unset);
    acre_binding *use = acre_handle_binding(unset);
    assert_not_found(r.manager, acre_binding_handle(use));
    acre_binding_release(use);
    acre_handle_release(unset);
    acre_manager_release(r.manager, live_one);
    rig_close(&r);
}

static void a_foreign_handle_is_not_found(void **state) {
    (void)state;
    rig mine = plain_rig();
    rig other = plain_rig();
    acre_handle *a = take(mine.manager, 512);
    acre_handle *b = take(other.manager, 256);
    assert_true(same_place(place_of(mine.manager, a), place_of(other.manager, b)));
    assert_not_found(mine.manager, b);
    assert_not_found(other.manager, a);
    acre_manager_release(mine.manager, b); // the slow way, to its own manager
    assert_int_equal(live(other.manager), 0);
    assert_int_equal(live(mine.manager), 1);
    acre_manager_release(mine.manager, a);
    rig_close(&mine);
    rig_close(&other);
}

static void a_stale_handle_is_not_found_whatever_reuses_its_room(void **state) {
    (void)state;
    rig r = plain_rig();
    acre_handle *stale = take(r.manager, 512);
    acre_handle *target = NULL;
    assert_ok(acre_manager_handle_create(r.manager, &target, NULL));
    assert_ok(acre_manager_bind(r.manager, stale, target, 1, NULL));
    acre_manager_release(r.manager, target);
    assert_not_found(r.manager, stale);
    acre_manager_cleanup(r.manager, ACRE_CLEANUP_EXPLICIT);
    assert_not_found(r.manager, stale);
    acre_handle *h[8];
    for (size_t i = 0; i < 8; i++) {
        h[i] = take(r.manager, 512);
        assert_not_found(r.manager, stale);
    }
    acre_manager_release(r.manager, stale);
    assert_int_equal(live(r.manager), 8);
    drop_all(r.manager, h, 8);
    rig_close(&r);
}

static void handles_outlive_their_manager_and_are_not_found(void **state) {
    (void)state;
    rig r = plain_rig();
    acre_handle *a = take(r.manager, 1000);
    acre_handle *unset = NULL;
    assert_ok(acre_manager_handle_create(r.manager, &unset, NULL));
    acre_binding *use = acre_handle_binding(a);
    rig_close(&r); // pages go back with a live handle

    rig other = plain_rig();
    assert_not_found(other.manager, a);
    assert_not_found(other.manager, unset);
    assert_true(acre_handle_can_mut(a));
    acre_handle *more = acre_handle_retain(a);
    assert_false(acre_handle_can_mut(a));
    acre_handle_release(more);
    acre_handle_release(a);
    acre_binding_release(use);
    acre_handle_release(unset);
    assert_int_equal(live(other.manager), 0);
    rig_close(&other);
}

static void a_dead_managers_handle_may_be_released_through_another_manager(void **state) {
    (void)state;
    rig r = plain_rig();
    acre_handle *a = take(r.manager, 1000);
    rig_close(&r);
    rig other = plain_rig();
    acre_handle *own = take(other.manager, 1000);
    acre_manager_release(other.manager, a);
    assert_int_equal(live(other.manager), 1);
    acre_manager_release(other.manager, own);
    rig_close(&other);
}

static void zero_sized_requests_get_distinct_handles(void **state) {
    (void)state;
    rig r = plain_rig();
    acre_handle *a = take(r.manager, 0);
    acre_handle *b = take(r.manager, 0);
    assert_ptr_not_equal(a, b);
    assert_int_equal(live(r.manager), 2);
    assert_true(acre_handle_can_mut(a));
    acre_manager_release(r.manager, a);
    assert_int_equal(place_of(r.manager, b).size, 0);
    acre_manager_release(r.manager, b);
    assert_int_equal(device_calls(r.storage), 0);
    rig_close(&r);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_allocation_lives_until_its_last_owner_is_gone),
        cmocka_unit_test(one_owner_alone_may_update_in_place),
        cmocka_unit_test(bindings_do_not_count_as_owners),
        cmocka_unit_test(a_binding_keeps_the_allocation_alive_and_in_place),
        cmocka_unit_test(each_of_two_bindings_keeps_the_allocation_alive),
        cmocka_unit_test(a_release_by_handle_takes_effect_at_the_next_operation),
        cmocka_unit_test(releasing_nothing_is_allowed),
        cmocka_unit_test(an_uninitialised_handle_is_not_found_and_causes_no_pages),
        cmocka_unit_test(an_uninitialised_handle_is_not_found_on_an_adaptive_layout_either),
        cmocka_unit_test(a_foreign_handle_is_not_found),
        cmocka_unit_test(a_stale_handle_is_not_found_whatever_reuses_its_room),
        cmocka_unit_test(handles_outlive_their_manager_and_are_not_found),
        cmocka_unit_test(a_dead_managers_handle_may_be_released_through_another_manager),
        cmocka_unit_test(zero_sized_requests_get_distinct_handles),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
