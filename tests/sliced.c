// Section 4, sliced pools: pages carved into slices, free neighbours merge, large slices exact.
#include "support.h"

// The checks of exact_large_slices are for largest page 128 MiB, alignment 32.
static rig exact_rig(uint64_t page, uint64_t alignment) {
    acre_pool_options pool = exact_pool(page);
    return rig_sized(128 * MIB, alignment, &pool, 1);
}

static void a_slice_over_a_quarter_of_the_page_gets_a_page_of_exactly_its_size(void **state) {
    (void)state;
    rig r = exact_rig(1024, 32);
    acre_handle *a = take(r.manager, 400);
    assert_int_equal(usage_of(r.manager).in_use, 400);
    assert_int_equal(usage_of(r.manager).reserved, 416);
    acre_manager_release(r.manager, a);
    rig_close(&r);
}

static void a_slice_of_a_quarter_of_the_page_gets_a_full_page(void **state) {
    (void)state;
    rig r = exact_rig(1024, 32);
    acre_handle *a = take(r.manager, 256);
    assert_int_equal(usage_of(r.manager).reserved, 1024);
    acre_manager_release(r.manager, a);
    rig_close(&r);
}

static void exactness_is_judged_by_the_padded_size(void **state) {
    (void)state;
    rig r = exact_rig(1020, 10); // a quarter is 255: 251 is below it, padded to 260 above it
    acre_handle *a = take(r.manager, 251);
    assert_int_equal(usage_of(r.manager).reserved, 260);
    acre_manager_release(r.manager, a);
    rig_close(&r);
}

static void a_large_slice_takes_room_already_held_before_an_exact_page(void **state) {
    (void)state;
    rig r = exact_rig(1024, 32);
    acre_handle *small = take(r.manager, 32); // a full page, 992 bytes free
    acre_handle *large = take(r.manager, 400);
    assert_int_equal(usage_of(r.manager).reserved, 1024);
    assert_int_equal(device_calls(r.storage), 1);
    acre_manager_release(r.manager, small);
    acre_manager_release(r.manager, large);
    rig_close(&r);
}

static void exact_pages_are_off_unless_asked_for(void **state) {
    (void)state;
    acre_pool_options pool = sliced_pool(1024, ACRE_UNSET, ACRE_UNSET);
    rig r = rig_pools(&pool, 1);
    acre_handle *a = take(r.manager, 400);
    assert_int_equal(usage_of(r.manager).reserved, 1024);
    acre_manager_release(r.manager, a);
    rig_close(&r);
}

static void a_refused_full_page_is_followed_by_one_exact_page(void **state) {
    (void)state;
    acre_pool_options pool = exact_pool(1024);
    rig r = rig_pools_on(limited_device(0, 512), 128 * MIB, 32, &pool, 1);
    acre_handle *a = take(r.manager, 200);
    assert_int_equal(usage_of(r.manager).in_use, 200);
    assert_int_equal(usage_of(r.manager).reserved, 224);
    assert_int_equal(device_calls(r.storage), 2);
    acre_manager_release(r.manager, a);
    rig_close(&r);
}

static void an_exact_page_is_tried_once_and_never_twice_for_one_size(void **state) {
    (void)state;
    acre_pool_options pool = exact_pool(1024);
    rig r = rig_pools_on(limited_device(0, 100), 128 * MIB, 32, &pool, 1);
    (void)refuse(r.manager, 200, ACRE_OUT_OF_MEMORY); // the page of 1024, then one of 224
    assert_int_equal(device_calls(r.storage), 2);
    (void)refuse(r.manager, 400, ACRE_OUT_OF_MEMORY); // 416 is exact at once
    assert_int_equal(device_calls(r.storage), 3);
    assert_int_equal(usage_of(r.manager).reserved, 0);
    rig_close(&r);
}

static void a_pool_without_exact_pages_asks_the_device_once(void **state) {
    (void)state;
    acre_pool_options pool = sliced_pool(1024, ACRE_UNSET, ACRE_UNSET);
    rig r = rig_pools_on(limited_device(0, 512), 128 * MIB, 32, &pool, 1);
    (void)refuse(r.manager, 200, ACRE_OUT_OF_MEMORY);
    assert_int_equal(device_calls(r.storage), 1);
    rig_close(&r);
}

static void two_small_slices_share_a_page(void **state) {
    (void)state;
    rig r = exact_rig(2048, 32);
    acre_handle *a = take(r.manager, 512);
    acre_handle *b = take(r.manager, 512);
    assert_int_equal(usage_of(r.manager).allocations, 2);
    assert_int_equal(usage_of(r.manager).in_use, 1024);
    assert_int_equal(usage_of(r.manager).reserved, 2048);
    assert_int_equal(place_of(r.manager, a).page, place_of(r.manager, b).page);
    acre_manager_release(r.manager, a);
    acre_manager_release(r.manager, b);
    rig_close(&r);
}

static void two_large_slices_get_an_exact_page_each(void **state) {
    (void)state;
    rig r = exact_rig(1024, 32);
    acre_handle *a = take(r.manager, 768);
    acre_handle *b = take(r.manager, 768);
    assert_int_equal(usage_of(r.manager).allocations, 2);
    assert_int_equal(usage_of(r.manager).in_use, 1536);
    assert_int_equal(usage_of(r.manager).reserved, 1536);
    acre_manager_release(r.manager, a);
    acre_manager_release(r.manager, b);
    rig_close(&r);
}

static void a_freed_page_serves_the_same_size_again(void **state) {
    (void)state;
    rig r = exact_rig(512, 32);
    acre_manager_release(r.manager, take(r.manager, 512));
    acre_handle *again = take(r.manager, 512);
    assert_int_equal(usage_of(r.manager).allocations, 1);
    assert_int_equal(usage_of(r.manager).in_use, 512);
    assert_int_equal(usage_of(r.manager).reserved, 512);
    assert_int_equal(device_calls(r.storage), 1);
    acre_manager_release(r.manager, again);
    rig_close(&r);
}

static void slices_are_padded_to_an_alignment_of_50(void **state) {
    (void)state;
    acre_pool_options pool = exact_pool(500);
    rig r = rig_sized(500, 50, &pool, 1); // pages as large as the device has them
    acre_handle *a = take(r.manager, 40);
    acre_handle *b = take(r.manager, 40);
    assert_int_equal(usage_of(r.manager).padding, 20);
    acre_manager_release(r.manager, a);
    acre_manager_release(r.manager, b);
    rig_close(&r);
}

static void each_size_lands_on_the_first_pool_that_accepts_it(void **state) {
    (void)state;
    acre_pool_options pools[] = {exact_pool(100), exact_pool(200), exact_pool(300),
                                 exact_pool(400)};
    rig r = rig_sized(128 * MIB, 10, pools, COUNT_OF(pools));
    uint64_t sizes[] = {50, 150, 250, 350};
    acre_handle *handles[COUNT_OF(sizes)];
    for (size_t i = 0; i < COUNT_OF(sizes); i++) {
        handles[i] = take(r.manager, sizes[i]);
        assert_int_equal(place_of(r.manager, handles[i]).pool_index, i);
    }
    assert_int_equal(usage_of(r.manager).in_use, 800);
    assert_int_equal(usage_of(r.manager).reserved, 800);
    drop_all(r.manager, handles, COUNT_OF(handles));
    rig_close(&r);
}

// (page_size - size) * 5 < page_size: with pages of 1000, 801 is within 20 % and 800 is not.
static void a_growable_pool_also_accepts_a_size_within_a_fifth_of_its_page(void **state) {
    (void)state;
    acre_pool_options pool = sliced_pool(1000, 100, ACRE_UNSET);
    rig r = rig_sized(128 * MIB, 1, &pool, 1);
    acre_handle *a = take(r.manager, 100);
    acre_handle *b = take(r.manager, 801);
    acre_handle *c = take(r.manager, 1000);
    assert_int_equal(usage_of(r.manager).reserved, 2000);
    (void)refuse(r.manager, 101, ACRE_BUFFER_TOO_BIG);
    (void)refuse(r.manager, 800, ACRE_BUFFER_TOO_BIG);
    (void)refuse(r.manager, 1001, ACRE_BUFFER_TOO_BIG);
    acre_handle *all[] = {a, b, c};
    drop_all(r.manager, all, 3);
    rig_close(&r);
}

static void a_strict_or_capped_pool_accepts_nothing_above_its_slice_limit(void **state) {
    (void)state;
    acre_pool_options strict = sliced_pool(1000, 100, ACRE_UNSET);
    strict.strict = true;
    rig r = rig_sized(128 * MIB, 10, &strict, 1);
    (void)refuse(r.manager, 900, ACRE_BUFFER_TOO_BIG);
    acre_manager_release(r.manager, take(r.manager, 100));
    rig_close(&r);

    acre_pool_options capped = sliced_pool(1000, 100, 5000);
    r = rig_sized(128 * MIB, 10, &capped, 1);
    (void)refuse(r.manager, 900, ACRE_BUFFER_TOO_BIG);
    acre_manager_release(r.manager, take(r.manager, 100));
    rig_close(&r);
}

//   before  | a 100 | b 100 | c 100 |   free 700   |
//   after   |              free 1000               |   in whatever order they go
static void free_neighbours_merge_in_every_order_of_release(void **state) {
    (void)state;
    static const int orders[6][3] = {{0, 1, 2}, {0, 2, 1}, {1, 0, 2},
                                     {1, 2, 0}, {2, 0, 1}, {2, 1, 0}};
    for (size_t i = 0; i < 6; i++) {
        acre_pool_options pool = sliced_pool(1000, ACRE_UNSET, ACRE_UNSET);
        rig r = rig_sized(128 * MIB, 10, &pool, 1);
        acre_handle *h[3] = {take(r.manager, 100), take(r.manager, 95), take(r.manager, 100)};
        assert_int_equal(pool_of(r.manager, 0).largest_free, 700);
        for (int k = 0; k < 3; k++) {
            acre_manager_release(r.manager, h[orders[i][k]]);
            check(r.manager);
        }
        assert_int_equal(pool_of(r.manager, 0).free_slices, 1);
        assert_int_equal(pool_of(r.manager, 0).largest_free, 1000);
        acre_handle *whole = take(r.manager, 1000);
        assert_int_equal(usage_of(r.manager).reserved, 1000);
        acre_manager_release(r.manager, whole);
        rig_close(&r);
    }
}

//   | 0 | 1 | free | 3 | free | free | 6 | 7 | 8 | 9 |   pieces of 100 and 200
static void the_pool_grows_only_when_no_free_piece_fits(void **state) {
    (void)state;
    acre_pool_options pool = sliced_pool(1000, ACRE_UNSET, ACRE_UNSET);
    rig r = rig_sized(128 * MIB, 10, &pool, 1);
    acre_handle *h[10];
    for (size_t i = 0; i < 10; i++) {
        h[i] = take(r.manager, 100);
    }
    acre_place fifth = place_of(r.manager, h[4]);
    acre_manager_release(r.manager, h[2]);
    acre_manager_release(r.manager, h[4]);
    acre_manager_release(r.manager, h[5]);
    assert_int_equal(pool_of(r.manager, 0).free_slices, 2);
    assert_int_equal(pool_of(r.manager, 0).largest_free, 200);

    h[4] = take(r.manager, 200);
    assert_true(same_place(place_of(r.manager, h[4]), fifth));
    assert_int_equal(usage_of(r.manager).reserved, 1000);
    h[5] = take(r.manager, 110); // 100 are free, in a piece too small
    assert_int_equal(usage_of(r.manager).reserved, 2000);
    h[2] = take(r.manager, 100);
    assert_int_equal(usage_of(r.manager).reserved, 2000);
    drop_all(r.manager, h, 10);
    rig_close(&r);
}

static void without_a_period_only_an_explicit_cleanup_returns_pages(void **state) {
    (void)state;
    acre_pool_options pools[] = {sliced_pool(1024, ACRE_UNSET, ACRE_UNSET), exclusive_pool(MIB)};
    rig r = rig_pools(pools, 2);
    acre_manager_release(r.manager, take(r.manager, 1024));
    for (int i = 0; i < 20000; i++) {
        acre_manager_release(r.manager, take(r.manager, 4096));
    }
    acre_manager_cleanup(r.manager, ACRE_CLEANUP_PERIODIC);
    assert_int_equal(pool_of(r.manager, 0).pages, 1);
    acre_manager_cleanup(r.manager, ACRE_CLEANUP_EXPLICIT);
    assert_int_equal(pool_of(r.manager, 0).pages, 0);
    assert_int_equal(usage_of(r.manager).reserved, 0);
    rig_close(&r);
}

static void a_page_size_is_rounded_up_to_the_alignment(void **state) {
    (void)state;
    acre_pool_options pool = sliced_pool(1001, 95, ACRE_UNSET);
    rig r = rig_sized(128 * MIB, 10, &pool, 1);
    assert_int_equal(pool_of(r.manager, 0).page_size, 1010);
    assert_int_equal(pool_of(r.manager, 0).max_slice_size, 100);
    acre_manager_release(r.manager, take(r.manager, 100));
    assert_int_equal(usage_of(r.manager).reserved, 1010);
    rig_close(&r);
}

// |  a freed  |  b freed  | c |      free      |  neither a nor b holds what both together do, and
// it fits more closely than the rest: the one freed last merges before another run is taken.
static void a_large_run_freed_last_merges_before_another_is_taken(void **state) {
    (void)state;
    acre_pool_options pool = sliced_pool(MIB, ACRE_UNSET, ACRE_UNSET);
    rig r = rig_pools(&pool, 1);
    acre_handle *a = take(r.manager, 200 * KIB);
    acre_handle *b = take(r.manager, 200 * KIB);
    acre_handle *c = take(r.manager, 10 * KIB);
    acre_place place = place_of(r.manager, a);
    acre_manager_release(r.manager, b);
    acre_manager_release(r.manager, a);
    acre_handle *d = take(r.manager, 390 * KIB);
    assert_int_equal(place_of(r.manager, d).offset, place.offset);
    drop_all(r.manager, (acre_handle *[]){c, d}, 2);
    rig_close(&r);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_slice_over_a_quarter_of_the_page_gets_a_page_of_exactly_its_size),
        cmocka_unit_test(a_slice_of_a_quarter_of_the_page_gets_a_full_page),
        cmocka_unit_test(exactness_is_judged_by_the_padded_size),
        cmocka_unit_test(a_large_slice_takes_room_already_held_before_an_exact_page),
        cmocka_unit_test(exact_pages_are_off_unless_asked_for),
        cmocka_unit_test(a_refused_full_page_is_followed_by_one_exact_page),
        cmocka_unit_test(an_exact_page_is_tried_once_and_never_twice_for_one_size),
        cmocka_unit_test(a_pool_without_exact_pages_asks_the_device_once),
        cmocka_unit_test(two_small_slices_share_a_page),
        cmocka_unit_test(two_large_slices_get_an_exact_page_each),
        cmocka_unit_test(a_freed_page_serves_the_same_size_again),
        cmocka_unit_test(slices_are_padded_to_an_alignment_of_50),
        cmocka_unit_test(each_size_lands_on_the_first_pool_that_accepts_it),
        cmocka_unit_test(a_growable_pool_also_accepts_a_size_within_a_fifth_of_its_page),
        cmocka_unit_test(a_strict_or_capped_pool_accepts_nothing_above_its_slice_limit),
        cmocka_unit_test(free_neighbours_merge_in_every_order_of_release),
        cmocka_unit_test(the_pool_grows_only_when_no_free_piece_fits),
        cmocka_unit_test(without_a_period_only_an_explicit_cleanup_returns_pages),
        cmocka_unit_test(a_page_size_is_rounded_up_to_the_alignment),
        cmocka_unit_test(a_large_run_freed_last_merges_before_another_is_taken),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
