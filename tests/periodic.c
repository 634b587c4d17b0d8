// Section 4, dealloc periods: a page found free 5 times in a row, checked every period/5 counted
// reservations, goes back.
//
// With a period of 10 the checks come after 2, 4, 6, 8 and 10 counted reservations, each at the
// start of the next reservation that allows updates:
//
//   reservation   1    2    3    4    5    6    7    8    9    10   11
//   check                   1         2         3         4         5 -> back
#include "support.h"

// Pool 0 has the period, pool 1 serves the other sizes.
static rig period_rig(bool sliced, uint64_t period) {
    acre_pool_options pools[] = {exclusive_pool(1024), exclusive_pool(MIB)};
    if (sliced) {
        pools[0] = sliced_pool(1024, ACRE_UNSET, ACRE_UNSET);
    }
    pools[0].dealloc_period = period;
    return rig_pools(pools, 2);
}

// Counted reservations that pool 1 serves.
static void pass(acre_manager *manager, int count, acre_page_update update) {
    for (int i = 0; i < count; i++) {
        acre_manager_release(manager, take_with(manager, 4096, 0, update));
    }
}

static uint64_t pages(acre_manager *manager) {
    return pool_of(manager, 0).pages;
}

static void a_page_free_for_a_whole_period_goes_back(void **state) {
    (void)state;
    for (int sliced = 0; sliced < 2; sliced++) {
        rig r = period_rig(sliced, 10);
        acre_manager_release(r.manager, take(r.manager, 1024)); // the first counted
        pass(r.manager, 9, ACRE_PAGES_ALLOW);
        assert_int_equal(pages(r.manager), 1);
        assert_int_equal(report_of(r.manager).reservations, 10);
        pass(r.manager, 1, ACRE_PAGES_ALLOW);
        assert_int_equal(pages(r.manager), 0);
        assert_int_equal(stats_of(r.storage).deallocs, 1);
        rig_close(&r);
    }
}

static void the_count_begins_with_the_pool(void **state) {
    (void)state;
    rig r = period_rig(false, 10);
    pass(r.manager, 1, ACRE_PAGES_ALLOW);
    acre_manager_release(r.manager, take(r.manager, 1024)); // the second counted
    pass(r.manager, 8, ACRE_PAGES_ALLOW);                   // ten: checks at 2, 4, 6, 8 found it
    assert_int_equal(pages(r.manager), 1);
    pass(r.manager, 1, ACRE_PAGES_ALLOW);
    assert_int_equal(pages(r.manager), 0);
    rig_close(&r);
}

static void an_installed_pool_counts_anew(void **state) {
    (void)state;
    acre_pool_options pools[] = {exclusive_pool(1024), exclusive_pool(MIB)};
    pools[0].dealloc_period = 10;
    rig r = rig_pools(pools, 2);
    pass(r.manager, 1, ACRE_PAGES_ALLOW);
    acre_layout layout = explicit_layout(pools, 2);
    assert_ok(acre_manager_install_layout(r.manager, &layout, NULL));
    acre_manager_release(r.manager, take(r.manager, 1024)); // the first this pool has seen
    pass(r.manager, 9, ACRE_PAGES_ALLOW);
    assert_int_equal(pages(r.manager), 1);
    pass(r.manager, 1, ACRE_PAGES_ALLOW);
    assert_int_equal(pages(r.manager), 0);
    rig_close(&r);
}

static void a_use_in_between_starts_the_row_again(void **state) {
    (void)state;
    for (int sliced = 0; sliced < 2; sliced++) {
        rig r = period_rig(sliced, 10);
        acre_manager_release(r.manager, take(r.manager, 1024));
        pass(r.manager, 7, ACRE_PAGES_ALLOW);      // 8 counted: found free at 2, 4 and 6
        acre_handle *used = take(r.manager, 1024); // 9: the check of 8 found it free
        pass(r.manager, 2, ACRE_PAGES_ALLOW);      // 11: the check of 10 found it in use
        acre_manager_release(r.manager, used);
        pass(r.manager, 9, ACRE_PAGES_ALLOW); // 20: found free at 12, 14, 16 and 18
        assert_int_equal(pages(r.manager), 1);
        pass(r.manager, 1, ACRE_PAGES_ALLOW);
        assert_int_equal(pages(r.manager), 0);
        rig_close(&r);
    }
}

static void each_page_has_its_own_row(void **state) {
    (void)state;
    rig r = period_rig(false, 10);
    acre_handle *kept = take(r.manager, 1024);
    acre_manager_release(r.manager, take(r.manager, 512));
    pass(r.manager, 4, ACRE_PAGES_ALLOW); // 6 counted
    acre_manager_release(r.manager, kept);
    pass(r.manager, 5, ACRE_PAGES_ALLOW); // 11: the page of 512 was found five times
    assert_int_equal(pages(r.manager), 1);
    assert_int_equal(pool_of(r.manager, 0).usage.reserved, 1024);
    pass(r.manager, 4, ACRE_PAGES_ALLOW); // 15: the other at 6, 8, 10, 12 and 14
    assert_int_equal(pages(r.manager), 0);
    rig_close(&r);
}

static void a_page_with_one_live_slice_stays(void **state) {
    (void)state;
    rig r = period_rig(true, 10);
    acre_handle *live = take(r.manager, 32);
    acre_manager_release(r.manager, take(r.manager, 512));
    pass(r.manager, 100, ACRE_PAGES_ALLOW);
    assert_int_equal(pages(r.manager), 1);
    acre_manager_release(r.manager, live);
    rig_close(&r);
}

static void an_add_only_reservation_counts_and_returns_nothing(void **state) {
    (void)state;
    rig r = period_rig(false, 10);
    acre_manager_release(r.manager, take(r.manager, 1024)); // 1
    for (int i = 0; i < 4; i++) {
        pass(r.manager, 1, ACRE_PAGES_ADD_ONLY); // 2, 4, 6, 8
        pass(r.manager, 1, ACRE_PAGES_ALLOW);    // 3, 5, 7, 9
    }
    pass(r.manager, 1, ACRE_PAGES_ADD_ONLY); // 10
    assert_int_equal(pages(r.manager), 1);
    assert_int_equal(report_of(r.manager).reservations, 10);
    pass(r.manager, 1, ACRE_PAGES_ADD_ONLY); // 11
    assert_int_equal(pages(r.manager), 1);
    pass(r.manager, 1, ACRE_PAGES_ALLOW);
    assert_int_equal(pages(r.manager), 0);
    rig_close(&r);
}

static void add_only_reservations_alone_never_return_a_page(void **state) {
    (void)state;
    rig r = period_rig(false, 10);
    acre_manager_release(r.manager, take(r.manager, 1024));
    pass(r.manager, 200, ACRE_PAGES_ADD_ONLY);
    assert_int_equal(pages(r.manager), 1);
    assert_int_equal(stats_of(r.storage).deallocs, 0);
    rig_close(&r);
}

static void a_forbidden_reservation_does_not_count(void **state) {
    (void)state;
    rig r = period_rig(false, 10);
    acre_manager_release(r.manager, take(r.manager, 1024)); // 1
    pass(r.manager, 4, ACRE_PAGES_ALLOW);                   // 5
    pass(r.manager, 50, ACRE_PAGES_FORBIDDEN);
    assert_int_equal(report_of(r.manager).reservations, 5);
    pass(r.manager, 5, ACRE_PAGES_ALLOW); // 10
    assert_int_equal(pages(r.manager), 1);
    pass(r.manager, 1, ACRE_PAGES_ALLOW);
    assert_int_equal(pages(r.manager), 0);
    rig_close(&r);
}

static void persistent_and_dedicated_reservations_count_too(void **state) {
    (void)state;
    rig r = period_rig(false, 10);
    acre_manager_release(r.manager, take(r.manager, 1024)); // 1
    set_mode(r.manager, ACRE_MODE_PERSISTENT);
    pass(r.manager, 5, ACRE_PAGES_ALLOW); // 6
    set_mode(r.manager, ACRE_MODE_DEDICATED);
    pass(r.manager, 4, ACRE_PAGES_ALLOW); // 10
    assert_int_equal(pages(r.manager), 1);
    pass(r.manager, 1, ACRE_PAGES_ALLOW);
    assert_int_equal(pages(r.manager), 0);
    rig_close(&r);
}

static void a_periodic_cleanup_asked_for_checks_only_when_one_is_due(void **state) {
    (void)state;
    rig r = period_rig(false, 10);
    acre_manager_release(r.manager, take(r.manager, 1024));
    pass(r.manager, 2, ACRE_PAGES_ALLOW); // 3 counted: the check of 2 found it once
    for (int i = 0; i < 50; i++) {
        acre_manager_cleanup(r.manager, ACRE_CLEANUP_PERIODIC);
    }
    assert_int_equal(pages(r.manager), 1);
    pass(r.manager, 7, ACRE_PAGES_ALLOW); // 10
    assert_int_equal(pages(r.manager), 1);
    acre_manager_cleanup(r.manager, ACRE_CLEANUP_PERIODIC); // the check of 10
    assert_int_equal(pages(r.manager), 0);
    rig_close(&r);
}

static void a_page_in_use_at_every_fourth_check_never_goes_back(void **state) {
    (void)state;
    rig r = period_rig(false, 10);
    acre_manager_release(r.manager, take(r.manager, 1024));
    for (int i = 0; i < 20; i++) {
        pass(r.manager, 5, ACRE_PAGES_ALLOW); // found free by three checks
        acre_handle *used = take(r.manager, 1024);
        pass(r.manager, 2, ACRE_PAGES_ALLOW); // and in use by the fourth
        acre_manager_release(r.manager, used);
    }
    assert_int_equal(pool_of(r.manager, 0).pages_peak, 1);
    assert_int_equal(stats_of(r.storage).allocs, 2); // one of either pool
    rig_close(&r);
}

static void an_explicit_cleanup_does_not_wait_for_the_period(void **state) {
    (void)state;
    rig r = period_rig(false, 1000000);
    acre_manager_release(r.manager, take(r.manager, 1024));
    acre_manager_cleanup(r.manager, ACRE_CLEANUP_EXPLICIT);
    assert_int_equal(pages(r.manager), 0);
    rig_close(&r);
}

static void a_page_that_only_a_binding_holds_is_not_free(void **state) {
    (void)state;
    for (int sliced = 0; sliced < 2; sliced++) {
        rig r = period_rig(sliced, 10);
        acre_handle *a = take(r.manager, 1024);
        acre_binding *use = acre_handle_binding(a);
        acre_manager_release(r.manager, a);
        pass(r.manager, 50, ACRE_PAGES_ALLOW);
        assert_int_equal(pages(r.manager), 1);
        acre_binding_release(use);
        pass(r.manager, 12, ACRE_PAGES_ALLOW);
        assert_int_equal(pages(r.manager), 0);
        rig_close(&r);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_page_free_for_a_whole_period_goes_back),
        cmocka_unit_test(the_count_begins_with_the_pool),
        cmocka_unit_test(an_installed_pool_counts_anew),
        cmocka_unit_test(a_use_in_between_starts_the_row_again),
        cmocka_unit_test(each_page_has_its_own_row),
        cmocka_unit_test(a_page_with_one_live_slice_stays),
        cmocka_unit_test(a_page_that_only_a_binding_holds_is_not_free),
        cmocka_unit_test(an_add_only_reservation_counts_and_returns_nothing),
        cmocka_unit_test(add_only_reservations_alone_never_return_a_page),
        cmocka_unit_test(a_forbidden_reservation_does_not_count),
        cmocka_unit_test(persistent_and_dedicated_reservations_count_too),
        cmocka_unit_test(a_periodic_cleanup_asked_for_checks_only_when_one_is_due),
        cmocka_unit_test(a_page_in_use_at_every_fourth_check_never_goes_back),
        cmocka_unit_test(an_explicit_cleanup_does_not_wait_for_the_period),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
