// Section 6, what a reservation may do to the pages: allow, add only, forbidden.
#include "support.h"

static void forbidden_serves_room_already_held(void **state) {
    (void)state;
    acre_pool_options pool = sliced_pool(1024, ACRE_UNSET, ACRE_UNSET);
    rig r = rig_pools(&pool, 1);
    acre_handle *a = take(r.manager, 512);
    acre_handle *b = take_with(r.manager, 512, 0, ACRE_PAGES_FORBIDDEN);
    assert_int_equal(usage_of(r.manager).reserved, 1024);
    acre_manager_release(r.manager, a);
    acre_manager_release(r.manager, b);
    rig_close(&r);
}

static void assert_forbidden(acre_manager *manager, uint64_t size) {
    snapshot before = snapshot_of(manager);
    acre_error error =
        refuse_with(manager, size, 0, ACRE_PAGES_FORBIDDEN, ACRE_PAGE_UPDATE_FORBIDDEN);
    assert_int_equal(error.size, size);
    snapshot after = snapshot_of(manager);
    assert_unchanged(&before, &after);
}

static void forbidden_without_room_says_so_with_the_size_and_changes_nothing(void **state) {
    (void)state;
    acre_pool_options pool = sliced_pool(1024, ACRE_UNSET, ACRE_UNSET);
    rig r = rig_pools(&pool, 1);
    assert_forbidden(r.manager, 100);
    acre_handle *a = take(r.manager, 1000);
    assert_forbidden(r.manager, 100);
    assert_int_equal(device_calls(r.storage), 1);
    acre_manager_release(r.manager, a);
    rig_close(&r);
}

static void forbidden_is_the_answer_to_a_size_no_pool_accepts(void **state) {
    (void)state;
    acre_pool_options pool = sliced_pool(1024, ACRE_UNSET, ACRE_UNSET);
    rig r = rig_pools(&pool, 1);
    assert_forbidden(r.manager, 4096);
    assert_forbidden(r.manager, 129 * MIB);
    assert_forbidden(r.manager, UINT64_MAX);
    rig_close(&r);
}

static void forbidden_is_the_answer_to_a_full_pool(void **state) {
    (void)state;
    acre_pool_options pool = sliced_pool(1024, ACRE_UNSET, 1024);
    rig r = rig_pools(&pool, 1);
    acre_handle *a = take(r.manager, 1024);
    assert_forbidden(r.manager, 64);
    acre_manager_release(r.manager, a);
    rig_close(&r);
}

static void forbidden_runs_no_cleanup(void **state) {
    (void)state;
    acre_pool_options pools[] = {exclusive_pool(1024), exclusive_pool(MIB)};
    pools[0].dealloc_period = 5;
    rig r = rig_pools(pools, 2);
    acre_manager_release(r.manager, take(r.manager, 1024));
    for (int i = 0; i < 4; i++) {
        acre_manager_release(r.manager, take(r.manager, 4096));
    }
    for (int i = 0; i < 100; i++) {
        acre_manager_release(r.manager, take_with(r.manager, 4096, 0, ACRE_PAGES_FORBIDDEN));
    }
    assert_int_equal(pool_of(r.manager, 0).pages, 1);
    assert_int_equal(stats_of(r.storage).deallocs, 0);
    rig_close(&r);
}

static void forbidden_finds_the_room_of_a_pool_that_a_full_one_spilled_to(void **state) {
    (void)state;
    acre_pool_options pools[] = {sliced_pool(1024, ACRE_UNSET, 1024), exclusive_pool(4096)};
    rig r = rig_pools(pools, 2);
    acre_handle *a = take(r.manager, 1024);
    acre_manager_release(r.manager, take(r.manager, 1024)); // spilled, and free
    acre_handle *b = take_with(r.manager, 1024, 0, ACRE_PAGES_FORBIDDEN);
    assert_int_equal(place_of(r.manager, b).pool_index, 1);
    acre_manager_release(r.manager, a);
    acre_manager_release(r.manager, b);
    rig_close(&r);
}

static void forbidden_persistent_takes_a_freed_slice_of_the_same_size(void **state) {
    (void)state;
    acre_pool_options pool = sliced_pool(1024, ACRE_UNSET, ACRE_UNSET);
    rig r = rig_pools(&pool, 1);
    set_mode(r.manager, ACRE_MODE_PERSISTENT);
    assert_forbidden(r.manager, 1024);
    acre_manager_release(r.manager, take(r.manager, 1024));
    assert_forbidden(r.manager, 992);
    acre_handle *a = take_with(r.manager, 1000, 0, ACRE_PAGES_FORBIDDEN);
    assert_forbidden(r.manager, 1024);
    acre_manager_release(r.manager, a);
    rig_close(&r);
}

// Free pages of every pool are held; adding under pressure still returns none of them.
static void add_only_never_returns_a_page(void **state) {
    (void)state;
    acre_pool_options pools[] = {sliced_pool(MIB, 64 * KIB, ACRE_UNSET), exclusive_pool(256 * KIB),
                                 direct_pool(0)};
    pools[0].dealloc_period = 5;
    pools[1].dealloc_period = 5;
    rig r = rig_pools_on(limited_device(8 * MIB, 0), 128 * MIB, 32, pools, 3);
    acre_manager_set_limits(r.manager, 2 * MIB, 0);
    set_mode(r.manager, ACRE_MODE_PERSISTENT);
    acre_handle *weight = take(r.manager, 32 * KIB);
    set_mode(r.manager, ACRE_MODE_AUTO);
    acre_handle *h[3] = {take_with(r.manager, 4096, 0, ACRE_PAGES_ADD_ONLY),
                         take_with(r.manager, 256 * KIB, 0, ACRE_PAGES_ADD_ONLY),
                         take_with(r.manager, 2 * MIB, 0, ACRE_PAGES_ADD_ONLY)};
    drop_all(r.manager, h, 3);
    acre_manager_release(r.manager, weight);
    for (int i = 0; i < 50; i++) {
        acre_handle *a = take_with(r.manager, 3 * MIB, 0, ACRE_PAGES_ADD_ONLY);
        acre_manager_release(r.manager, a);
    }
    acre_error error = refuse_with(r.manager, 7 * MIB, 0, ACRE_PAGES_ADD_ONLY, ACRE_OUT_OF_MEMORY);
    assert_int_equal(error.size, 7 * MIB);
    assert_int_equal(stats_of(r.storage).deallocs, 0);
    assert_int_equal(report_of(r.manager).pages, 5);
    rig_close(&r);
}

static void the_default_reservation_allows_updates(void **state) {
    (void)state;
    acre_pool_options pool = direct_pool(0);
    rig r = rig_pools(&pool, 1);
    acre_reservation plain = ACRE_RESERVATION_INIT(MIB);
    acre_handle *handle = NULL;
    assert_ok(acre_manager_reserve_with(r.manager, &plain, &handle, NULL));
    acre_manager_release(r.manager, handle);
    plain.size = 2 * MIB;
    assert_ok(acre_manager_reserve_with(r.manager, &plain, &handle, NULL));
    assert_int_equal(usage_of(r.manager).reserved, 2 * MIB);
    acre_manager_release(r.manager, handle);
    rig_close(&r);
}

static void an_update_that_is_none_is_refused(void **state) {
    (void)state;
    acre_pool_options pool = direct_pool(0);
    rig r = rig_pools(&pool, 1);
    (void)refuse_with(r.manager, 1024, 0, (acre_page_update)9, ACRE_INVALID_ARGUMENT);
    rig_close(&r);
}

static void allow_and_add_only_count_and_forbidden_does_not(void **state) {
    (void)state;
    acre_pool_options pool = sliced_pool(1024, ACRE_UNSET, ACRE_UNSET);
    rig r = rig_pools(&pool, 1);
    const acre_page_update updates[] = {ACRE_PAGES_ALLOW, ACRE_PAGES_ADD_ONLY,
                                        ACRE_PAGES_FORBIDDEN};
    for (size_t i = 0; i < 3; i++) {
        acre_manager_release(r.manager, take_with(r.manager, 64, 0, updates[i]));
    }
    assert_int_equal(report_of(r.manager).reservations, 2);
    rig_close(&r);
}

// The first pool that accepts the size serves it: the second is for what spills.
static void forbidden_does_not_pass_by_a_pool_that_could_grow(void **state) {
    (void)state;
    acre_pool_options pools[] = {sliced_pool(1024, 100, 2048), exclusive_pool(4096)};
    rig r = rig_pools(pools, 2);
    acre_manager_release(r.manager, take(r.manager, 512)); // pool 1 has a free page
    (void)refuse_with(r.manager, 64, 0, ACRE_PAGES_FORBIDDEN, ACRE_PAGE_UPDATE_FORBIDDEN);
    acre_handle *a = take(r.manager, 64);
    assert_int_equal(place_of(r.manager, a).pool_index, 0);
    acre_manager_release(r.manager, a);
    rig_close(&r);
}

// | a 4096 | b 1024 | c 4096 | d 4096 | e | : a, d, c freed in this order; c's place is the next
// for its size, whether or not a request that nothing holds was refused in between.
static void a_refused_forbidden_request_does_not_change_where_the_next_lands(void **state) {
    (void)state;
    acre_pool_options pool = sliced_pool(MIB, ACRE_UNSET, ACRE_UNSET);
    for (int refused = 0; refused < 3; refused++) {
        rig r = rig_pools(&pool, 1);
        acre_handle *a = take(r.manager, 4096);
        acre_handle *b = take(r.manager, 1024);
        acre_handle *c = take(r.manager, 4096);
        acre_handle *d = take(r.manager, 4096);
        acre_handle *e = take(r.manager, 1024);
        acre_place place = place_of(r.manager, c);
        drop_all(r.manager, (acre_handle *[]){a, d, c}, 3);
        if (refused > 0) {
            (void)refuse_with(r.manager, MIB, refused == 2 ? 8192 : 0, ACRE_PAGES_FORBIDDEN,
                              ACRE_PAGE_UPDATE_FORBIDDEN);
        }
        a = take(r.manager, 4096);
        assert_int_equal(place_of(r.manager, a).offset, place.offset);
        drop_all(r.manager, (acre_handle *[]){a, b, e}, 3);
        rig_close(&r);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_refused_forbidden_request_does_not_change_where_the_next_lands),
        cmocka_unit_test(forbidden_serves_room_already_held),
        cmocka_unit_test(forbidden_without_room_says_so_with_the_size_and_changes_nothing),
        cmocka_unit_test(forbidden_is_the_answer_to_a_size_no_pool_accepts),
        cmocka_unit_test(forbidden_is_the_answer_to_a_full_pool),
        cmocka_unit_test(forbidden_runs_no_cleanup),
        cmocka_unit_test(forbidden_finds_the_room_of_a_pool_that_a_full_one_spilled_to),
        cmocka_unit_test(forbidden_does_not_pass_by_a_pool_that_could_grow),
        cmocka_unit_test(forbidden_persistent_takes_a_freed_slice_of_the_same_size),
        cmocka_unit_test(add_only_never_returns_a_page),
        cmocka_unit_test(the_default_reservation_allows_updates),
        cmocka_unit_test(an_update_that_is_none_is_refused),
        cmocka_unit_test(allow_and_add_only_count_and_forbidden_does_not),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
