// Handles where they do not belong: bound to themselves, to others' memory, twice, let go to the
// wrong manager or after theirs is gone.
#include "attack/attack.h"

static acre_handle *reserve(acre_manager *manager, uint64_t size) {
    acre_handle *handle = NULL;
    assert_int_equal(ACRE_OK, acre_manager_reserve(manager, size, &handle, NULL));
    return handle;
}

static acre_handle *loose(void) {
    acre_handle *handle = NULL;
    assert_int_equal(ACRE_OK, acre_handle_create(NULL, &handle, NULL));
    return handle;
}

static acre_handle *empty(acre_manager *manager) {
    acre_handle *handle = NULL;
    assert_int_equal(ACRE_OK, acre_manager_handle_create(manager, &handle, NULL));
    return handle;
}

static acre_status bind(acre_manager *manager, acre_handle *from, acre_handle *to) {
    return acre_manager_bind(manager, from, to, 5, NULL);
}

static acre_status look_up(acre_manager *manager, const acre_handle *handle) {
    uint64_t cursor;
    return acre_manager_get_cursor(manager, handle, &cursor, NULL);
}

static uint64_t live(acre_manager *manager) {
    acre_report report = ACRE_REPORT_INIT;
    acre_manager_report(manager, &report);
    return report.usage.allocations;
}

static void nothing_is_looked_up_retained_or_let_go_through_null(void **state) {
    (void)state;
    bench at = make(NULL);
    acre_place place = ACRE_PLACE_INIT;
    acre_managed_resource resource;
    memset(&resource, 0, sizeof resource);
    acre_handle_release(NULL);
    acre_binding_release(NULL);
    acre_manager_release(at.manager, NULL);
    acre_manager_destroy(NULL);
    acre_storage_destroy(NULL);
    acre_managed_resource_release(&resource);
    assert_int_equal(ACRE_NOT_FOUND, acre_manager_get_place(at.manager, NULL, &place, NULL));
    assert_int_equal(ACRE_INVALID_ARGUMENT, bind(at.manager, NULL, NULL));
    assert_int_equal(ACRE_INVALID_ARGUMENT, acre_manager_create(NULL, NULL, &at.manager, NULL));
    end(&at);
}

static void a_bind_to_itself_is_refused_and_keeps_the_allocation(void **state) {
    (void)state;
    bench at = make(NULL);
    acre_handle *handle = reserve(at.manager, 100);
    acre_handle *bound = loose();
    assert_int_equal(ACRE_INVALID_ARGUMENT, bind(at.manager, handle, handle));
    assert_int_equal(ACRE_OK, bind(at.manager, handle, bound));
    assert_int_equal(ACRE_INVALID_ARGUMENT, bind(at.manager, bound, bound));
    assert_int_equal(ACRE_NOT_FOUND, bind(at.manager, handle, handle));
    assert_int_equal(ACRE_OK, look_up(at.manager, bound));
    acre_handle_release(bound);
    acre_handle_release(handle);
    assert_int_equal(0, live(at.manager));
    end(&at);
}

static void an_allocation_goes_through_any_chain_of_handles(void **state) {
    (void)state;
    bench at = make(NULL);
    acre_handle *chain[9] = {reserve(at.manager, 100)};
    for (int i = 1; i < 9; i++) {
        chain[i] = i % 3 == 0 ? empty(at.manager) : loose();
        assert_int_equal(ACRE_NOT_FOUND, look_up(at.manager, chain[i]));
        assert_int_equal(ACRE_OK, bind(at.manager, chain[i - 1], chain[i]));
        assert_int_equal(ACRE_NOT_FOUND, look_up(at.manager, chain[i - 1]));
        assert_int_equal(ACRE_NOT_FOUND, bind(at.manager, chain[i - 1], chain[i]));
        assert_int_equal(ACRE_OK, look_up(at.manager, chain[i]));
        assert_int_equal(1, live(at.manager));
        assert_int_equal(ACRE_OK, acre_manager_check(at.manager, NULL));
    }
    acre_handle *other = reserve(at.manager, 100);
    for (int i = 0; i < 8; i++) { // stale: bound before
        assert_int_equal(ACRE_INVALID_ARGUMENT, bind(at.manager, other, chain[i]));
        assert_int_equal(ACRE_INVALID_ARGUMENT, bind(at.manager, chain[8], chain[i]));
        acre_manager_release(at.manager, chain[i]);
    }
    assert_int_equal(2, live(at.manager));
    acre_manager_release(at.manager, chain[8]);
    acre_manager_release(at.manager, other);
    assert_int_equal(0, live(at.manager));
    end(&at);
}

static void handles_of_another_manager_are_refused_by_name_and_never_found(void **state) {
    (void)state;
    bench at = make(NULL);
    acre_manager *other = make_manager(at.storage, NULL);
    acre_handle *mine[3] = {reserve(at.manager, 100), empty(at.manager), loose()};
    acre_handle *theirs[3] = {reserve(other, 100), empty(other), loose()};
    acre_handle *given = reserve(other, 50);
    assert_int_equal(ACRE_OK, bind(other, given, theirs[2]));
    for (int i = 0; i < 3; i++) {
        assert_int_equal(ACRE_NOT_FOUND, look_up(at.manager, theirs[i]));
        assert_int_equal(ACRE_INVALID_ARGUMENT, bind(at.manager, mine[0], theirs[i]));
        assert_int_equal(ACRE_INVALID_ARGUMENT, bind(at.manager, theirs[i], mine[1]));
        assert_int_equal(ACRE_INVALID_ARGUMENT, bind(at.manager, theirs[i], mine[2]));
    }
    assert_int_equal(ACRE_OK, look_up(at.manager, mine[0]));
    assert_int_equal(ACRE_OK, look_up(other, theirs[0]));
    assert_int_equal(ACRE_OK, look_up(other, theirs[2]));
    for (int i = 0; i < 3; i++) {
        acre_manager_release(other, mine[i]); // the slow way
        acre_manager_release(at.manager, theirs[i]);
    }
    acre_manager_release(at.manager, given);
    assert_int_equal(0, live(at.manager));
    assert_int_equal(0, live(other));
    acre_manager_destroy(other);
    end(&at);
}

static void handles_outlive_manager_and_storage_in_any_order(void **state) {
    (void)state;
    for (unsigned order = 0; order < 64; order++) {
        bench at = make(NULL);
        acre_handle *handles[5] = {reserve(at.manager, 100), empty(at.manager), loose(),
                                   reserve(at.manager, 0), reserve(at.manager, 5 * MIB)};
        assert_int_equal(ACRE_OK, bind(at.manager, handles[0], handles[2]));
        acre_binding *binding = acre_handle_binding(handles[4]);
        for (unsigned i = 0; i < 5; i++) { // some just before, pending
            if (order >> i & 1) {
                acre_handle_release(handles[i]);
            }
        }
        acre_manager_destroy(at.manager);
        acre_storage_destroy(at.storage);
        if (order >> 5) {
            acre_binding_release(binding);
        }
        for (unsigned i = 0; i < 5; i++) {
            if (!(order >> i & 1)) {
                acre_handle_release(acre_handle_retain(handles[i]));
                acre_handle_release(handles[i]);
            }
        }
        if (!(order >> 5)) {
            acre_binding_release(binding);
        }
    }
}

static void a_handle_of_a_manager_that_is_gone_is_foreign_to_its_successor(void **state) {
    (void)state;
    bench at = make(NULL);
    acre_handle *old[2] = {reserve(at.manager, 100), loose()};
    acre_handle *given = reserve(at.manager, 100);
    assert_int_equal(ACRE_OK, bind(at.manager, given, old[1]));
    acre_manager_destroy(at.manager);
    at.manager = make_manager(at.storage, NULL);
    acre_handle *fresh = reserve(at.manager, 100);
    acre_handle *target = empty(at.manager);
    for (int i = 0; i < 2; i++) {
        assert_int_equal(ACRE_NOT_FOUND, look_up(at.manager, old[i]));
        assert_int_equal(ACRE_INVALID_ARGUMENT, bind(at.manager, fresh, old[i]));
        assert_int_equal(ACRE_INVALID_ARGUMENT, bind(at.manager, old[i], target));
        acre_manager_release(at.manager, old[i]);
    }
    acre_manager_release(at.manager, given);
    acre_manager_release(at.manager, target);
    acre_manager_release(at.manager, fresh);
    end(&at);
}

// Section 3: an allocation is free once no handle and no binding is left.
static void a_binding_keeps_the_allocation_that_a_bind_gave_away(void **state) {
    (void)state;
    bench at = make(NULL);
    for (int kind = 0; kind < 4; kind++) {
        acre_handle *reserved = reserve(at.manager, 1000);
        acre_handle *assigned = kind & 1 ? loose() : empty(at.manager);
        if (kind & 2) {
            acre_handle *through = loose();
            assert_int_equal(ACRE_OK, bind(at.manager, reserved, through));
            acre_manager_release(at.manager, reserved);
            reserved = through;
        }
        acre_managed_resource resource;
        acre_managed_resource other;
        assert_int_equal(ACRE_OK,
                         acre_manager_resolve_managed(at.manager, reserved, 0, 0, &resource, NULL));
        assert_int_equal(ACRE_OK, bind(at.manager, reserved, assigned));
        acre_manager_release(at.manager, assigned);
        acre_manager_release(at.manager, reserved);
        assert_int_equal(1, live(at.manager)); // in use by `resource`
        acre_handle *next = reserve(at.manager, 1000);
        assert_int_equal(ACRE_OK,
                         acre_manager_resolve_managed(at.manager, next, 0, 0, &other, NULL));
        assert_true(other.resource.as.simulated.page != resource.resource.as.simulated.page ||
                    other.resource.as.simulated.offset != resource.resource.as.simulated.offset);
        acre_managed_resource_release(&other);
        acre_managed_resource_release(&resource);
        acre_manager_release(at.manager, next);
        assert_int_equal(0, live(at.manager));
    }
    end(&at);
}

static void a_managed_resource_that_failed_holds_nothing(void **state) {
    (void)state;
    bench at = make(NULL);
    acre_managed_resource resource;
    memset(&resource, 0, sizeof resource);
    acre_handle *handle = reserve(at.manager, 100);
    assert_int_equal(ACRE_INVALID_ARGUMENT,
                     acre_manager_resolve_managed(at.manager, handle, 60, 41, &resource, NULL));
    assert_int_equal(
        ACRE_INVALID_ARGUMENT,
        acre_manager_resolve_managed(at.manager, handle, UINT64_MAX, 101, &resource, NULL));
    assert_int_equal(
        ACRE_OK, acre_storage_simulated_fail(at.storage, ACRE_SIMULATED_RESOURCE, 1, false, NULL));
    assert_int_equal(ACRE_BACKEND_ERROR,
                     acre_manager_resolve_managed(at.manager, handle, 0, 0, &resource, NULL));
    acre_managed_resource_release(&resource);
    assert_true(acre_handle_can_mut(handle));
    acre_manager_release(at.manager, handle);
    assert_int_equal(0, live(at.manager));
    end(&at);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(nothing_is_looked_up_retained_or_let_go_through_null),
        cmocka_unit_test(a_bind_to_itself_is_refused_and_keeps_the_allocation),
        cmocka_unit_test(an_allocation_goes_through_any_chain_of_handles),
        cmocka_unit_test(handles_of_another_manager_are_refused_by_name_and_never_found),
        cmocka_unit_test(handles_outlive_manager_and_storage_in_any_order),
        cmocka_unit_test(a_handle_of_a_manager_that_is_gone_is_foreign_to_its_successor),
        cmocka_unit_test(a_binding_keeps_the_allocation_that_a_bind_gave_away),
        cmocka_unit_test(a_managed_resource_that_failed_holds_nothing),
    };
    return cmocka_run_group_tests_name("attack_handles", tests, NULL, NULL);
}
