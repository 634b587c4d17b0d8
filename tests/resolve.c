// Section 3, resolve: the one funnel to device memory, yields exactly the requested size.
#include "support.h"

static rig plain_rig(void) {
    acre_pool_options pools[] = {sliced_pool(MIB, 64 * KIB, ACRE_UNSET), direct_pool(ACRE_UNSET)};
    return rig_pools(pools, 2);
}

static acre_resource resolve(acre_manager *manager, const acre_handle *handle, uint64_t start,
                             uint64_t end) {
    acre_resource resource = ACRE_RESOURCE_INIT;
    assert_ok(acre_manager_resolve(manager, handle, start, end, &resource, NULL));
    return resource;
}

static void the_requested_size_is_handed_out_without_its_padding(void **state) {
    (void)state;
    rig r = plain_rig();
    acre_handle *h[2] = {take(r.manager, 1), take(r.manager, 1001)};
    acre_resource first = resolve(r.manager, h[0], 0, 0);
    acre_resource second = resolve(r.manager, h[1], 0, 0);
    assert_int_equal(first.kind, ACRE_RESOURCE_SIMULATED);
    assert_int_equal(first.size, 1);
    assert_int_equal(second.size, 1001);
    assert_int_equal(first.as.simulated.page, second.as.simulated.page);
    assert_int_equal(first.as.simulated.offset, place_of(r.manager, h[0]).offset);
    assert_int_equal(second.as.simulated.offset, place_of(r.manager, h[1]).offset);
    drop_all(r.manager, h, 2);
    rig_close(&r);
}

static void offsets_cut_bytes_off_the_front_and_the_back(void **state) {
    (void)state;
    rig r = plain_rig();
    acre_handle *a = take(r.manager, 100);
    uint64_t offset = place_of(r.manager, a).offset;
    acre_resource cut = resolve(r.manager, a, 30, 20);
    assert_int_equal(cut.size, 50);
    assert_int_equal(cut.as.simulated.offset, offset + 30);
    assert_int_equal(resolve(r.manager, a, 0, 20).size, 80);
    assert_int_equal(resolve(r.manager, a, 30, 0).size, 70);
    acre_resource none = resolve(r.manager, a, 60, 40);
    assert_int_equal(none.kind, ACRE_RESOURCE_NONE);
    assert_int_equal(none.size, 0);
    acre_manager_release(r.manager, a);
    rig_close(&r);
}

static void offsets_that_are_more_than_the_size_are_refused(void **state) {
    (void)state;
    rig r = plain_rig();
    acre_handle *a = take(r.manager, 100); // padded to 128: the padding is not the caller's
    const uint64_t cuts[][2] = {{60, 41},        {101, 0},        {0, 101},
                                {UINT64_MAX, 0}, {0, UINT64_MAX}, {UINT64_MAX, UINT64_MAX},
                                {UINT64_MAX, 1}, {1, UINT64_MAX}, {UINT64_MAX - 10, 20}};
    for (size_t i = 0; i < COUNT_OF(cuts); i++) {
        acre_resource resource = ACRE_RESOURCE_INIT;
        acre_managed_resource managed = {.resource = ACRE_RESOURCE_INIT};
        acre_error error = ACRE_ERROR_INIT;
        assert_status(ACRE_INVALID_ARGUMENT, acre_manager_resolve(r.manager, a, cuts[i][0],
                                                                  cuts[i][1], &resource, &error));
        assert_status(
            ACRE_INVALID_ARGUMENT,
            acre_manager_resolve_managed(r.manager, a, cuts[i][0], cuts[i][1], &managed, &error));
        assert_null(managed.binding);
    }
    assert_int_equal(acre_storage_simulated_calls(r.storage, ACRE_SIMULATED_RESOURCE), 0);
    acre_manager_release(r.manager, a);
    assert_int_equal(usage_of(r.manager).allocations, 0);
    rig_close(&r);
}

static void a_zero_sized_allocation_resolves_to_nothing(void **state) {
    (void)state;
    rig r = plain_rig();
    acre_handle *a = take(r.manager, 0);
    acre_resource none = resolve(r.manager, a, 0, 0);
    assert_int_equal(none.kind, ACRE_RESOURCE_NONE);
    assert_int_equal(none.size, 0);
    assert_int_equal(acre_storage_simulated_calls(r.storage, ACRE_SIMULATED_RESOURCE), 0);
    assert_int_equal(device_calls(r.storage), 0);
    acre_manager_release(r.manager, a);
    rig_close(&r);
}

static void the_storages_error_comes_through_and_the_next_resolve_succeeds(void **state) {
    (void)state;
    rig r = plain_rig();
    acre_handle *a = take(r.manager, 100);
    assert_ok(acre_storage_simulated_fail(r.storage, ACRE_SIMULATED_RESOURCE, 1, false, NULL));
    acre_resource resource = ACRE_RESOURCE_INIT;
    acre_error error = ACRE_ERROR_INIT;
    assert_status(ACRE_BACKEND_ERROR, acre_manager_resolve(r.manager, a, 0, 0, &resource, &error));
    assert_int_equal(error.status, ACRE_BACKEND_ERROR);
    assert_int_equal(error.native_code, -1);
    assert_int_equal(resolve(r.manager, a, 0, 0).size, 100);
    assert_ok(acre_storage_simulated_fail(r.storage, ACRE_SIMULATED_RESOURCE, 1, false, NULL));
    acre_managed_resource managed = {.resource = ACRE_RESOURCE_INIT};
    assert_status(ACRE_BACKEND_ERROR,
                  acre_manager_resolve_managed(r.manager, a, 0, 0, &managed, &error));
    acre_manager_release(r.manager, a);
    assert_int_equal(usage_of(r.manager).allocations, 0); // no binding was left behind
    rig_close(&r);
}

static void a_managed_resource_keeps_the_allocation_alive(void **state) {
    (void)state;
    rig r = plain_rig();
    acre_handle *a = take(r.manager, 1000);
    acre_place place = place_of(r.manager, a);
    acre_managed_resource managed = {.resource = ACRE_RESOURCE_INIT};
    assert_ok(acre_manager_resolve_managed(r.manager, a, 100, 200, &managed, NULL));
    assert_int_equal(managed.resource.size, 700);
    assert_non_null(managed.binding);
    assert_true(acre_handle_can_mut(a));
    acre_manager_release(r.manager, a);
    assert_int_equal(usage_of(r.manager).allocations, 1);
    acre_handle *other = take(r.manager, 1000);
    assert_false(same_place(place_of(r.manager, other), place));
    acre_managed_resource_release(&managed);
    assert_null(managed.binding);
    assert_int_equal(managed.resource.size, 0);
    assert_int_equal(usage_of(r.manager).allocations, 1);
    acre_managed_resource_release(&managed); // nothing is held: nothing happens
    acre_manager_release(r.manager, other);
    rig_close(&r);
}

static void a_page_of_its_own_is_resolved_from_its_first_byte(void **state) {
    (void)state;
    rig r = plain_rig();
    acre_handle *a = take(r.manager, 700 * 1024 + 17);
    acre_resource resource = resolve(r.manager, a, 0, 0);
    assert_int_equal(resource.size, 700 * 1024 + 17);
    assert_int_equal(resource.as.simulated.offset, 0);
    acre_manager_release(r.manager, a);
    rig_close(&r);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_requested_size_is_handed_out_without_its_padding),
        cmocka_unit_test(offsets_cut_bytes_off_the_front_and_the_back),
        cmocka_unit_test(offsets_that_are_more_than_the_size_are_refused),
        cmocka_unit_test(a_zero_sized_allocation_resolves_to_nothing),
        cmocka_unit_test(the_storages_error_comes_through_and_the_next_resolve_succeeds),
        cmocka_unit_test(a_managed_resource_keeps_the_allocation_alive),
        cmocka_unit_test(a_page_of_its_own_is_resolved_from_its_first_byte),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
