// Section 4, exclusive pools: one page per allocation, the page exactly the padded size.
#include "support.h"

static void a_page_is_exactly_the_padded_size(void **state) {
    (void)state;
    acre_pool_options pool = exclusive_pool(4096);
    rig r = rig_pools(&pool, 1);
    acre_handle *a = take(r.manager, 1000);
    assert_int_equal(usage_of(r.manager).reserved, 1024);
    assert_int_equal(usage_of(r.manager).in_use, 1000);
    assert_int_equal(usage_of(r.manager).padding, 24);
    acre_manager_release(r.manager, a);
    rig_close(&r);
}

static void two_of_40_at_alignment_50_are_padded_by_20_and_hold_100(void **state) {
    (void)state;
    acre_pool_options pool = exclusive_pool(1000);
    rig r = rig_sized(128 * MIB, 50, &pool, 1);
    acre_handle *h[2] = {take(r.manager, 40), take(r.manager, 40)};
    assert_int_equal(usage_of(r.manager).padding, 20);
    assert_int_equal(usage_of(r.manager).reserved, 100);
    drop_all(r.manager, h, 2);
    rig_close(&r);
}

static void reuse_takes_the_smallest_free_page_that_fits(void **state) {
    (void)state;
    acre_pool_options pool = exclusive_pool(4096);
    for (int larger_first = 0; larger_first < 2; larger_first++) {
        rig r = rig_pools(&pool, 1);
        acre_handle *large = take(r.manager, 1024);
        acre_handle *small = take(r.manager, 512);
        acre_manager_release(r.manager, larger_first ? large : small);
        acre_manager_release(r.manager, larger_first ? small : large);
        acre_handle *h[2] = {take(r.manager, 400), take(r.manager, 1000)};
        assert_int_equal(usage_of(r.manager).allocations, 2);
        assert_int_equal(usage_of(r.manager).reserved, 1536);
        assert_int_equal(device_calls(r.storage), 2);
        drop_all(r.manager, h, 2);
        rig_close(&r);
    }
}

static void the_tightest_of_many_free_pages_is_found(void **state) {
    (void)state;
    acre_pool_options pool = exclusive_pool(MIB);
    rig r = rig_pools(&pool, 1);
    acre_handle *h[64];
    uint32_t page[64];
    for (uint64_t i = 0; i < 64; i++) {
        h[i] = take(r.manager, (i + 1) * 320);
        page[i] = place_of(r.manager, h[i]).page;
    }
    drop_all(r.manager, h, 64);
    for (uint64_t i = 0; i < 64; i++) {
        uint64_t which = (i * 37) % 64; // every page once, in no order
        h[i] = take(r.manager, (which + 1) * 320 - 300);
        assert_int_equal(place_of(r.manager, h[i]).page, page[which]);
    }
    assert_int_equal(device_calls(r.storage), 64);
    drop_all(r.manager, h, 64);
    rig_close(&r);
}

static void no_free_page_large_enough_means_a_new_page(void **state) {
    (void)state;
    acre_pool_options pool = exclusive_pool(4096);
    rig r = rig_pools(&pool, 1);
    acre_manager_release(r.manager, take(r.manager, 512));
    acre_handle *a = take(r.manager, 513);
    assert_int_equal(usage_of(r.manager).reserved, 512 + 544);
    acre_manager_release(r.manager, a);
    rig_close(&r);
}

static void two_live_allocations_never_share_a_page(void **state) {
    (void)state;
    acre_pool_options pool = exclusive_pool(1024);
    rig r = rig_pools(&pool, 1);
    acre_manager_release(r.manager, take(r.manager, 1024));
    acre_handle *h[2] = {take(r.manager, 100), take(r.manager, 100)};
    assert_int_not_equal(place_of(r.manager, h[0]).page, place_of(r.manager, h[1]).page);
    assert_int_equal(place_of(r.manager, h[0]).offset, 0);
    assert_int_equal(place_of(r.manager, h[1]).offset, 0);
    assert_int_equal(usage_of(r.manager).reserved, 1024 + 128);
    assert_int_equal(usage_of(r.manager).padding, 56); // of the requests, not of the page
    drop_all(r.manager, h, 2);
    rig_close(&r);
}

// Alone with a limit of 1024, and the preset, whose first pools take what these tests ask for.
static rig small_rig(bool preset, uint64_t alignment) {
    acre_pool_options pool = exclusive_pool(1024);
    return preset ? rig_preset(128 * MIB, alignment, ACRE_LAYOUT_EXCLUSIVE_PAGES)
                  : rig_sized(128 * MIB, alignment, &pool, 1);
}

static void two_live_allocations_reserve_their_sum_at_least(void **state) {
    (void)state;
    const uint64_t sizes[] = {512, 768};
    for (size_t i = 0; i < 2 * COUNT_OF(sizes); i++) {
        uint64_t size = sizes[i / 2];
        rig r = small_rig(i % 2 == 1, 32);
        acre_handle *h[2] = {take(r.manager, size), take(r.manager, size)};
        assert_int_equal(usage_of(r.manager).allocations, 2);
        assert_int_equal(usage_of(r.manager).in_use, 2 * size);
        assert_int_equal(usage_of(r.manager).reserved, 2 * size); // multiples of 32: no more
        drop_all(r.manager, h, 2);
        rig_close(&r);
    }
}

static void a_freed_page_serves_the_same_size_again(void **state) {
    (void)state;
    for (int preset = 0; preset < 2; preset++) {
        rig r = small_rig(preset == 1, 32);
        acre_manager_release(r.manager, take(r.manager, 512));
        acre_handle *again = take(r.manager, 512);
        assert_int_equal(usage_of(r.manager).allocations, 1);
        assert_int_equal(usage_of(r.manager).in_use, 512);
        assert_int_equal(usage_of(r.manager).reserved, 512);
        assert_int_equal(device_calls(r.storage), 1);
        acre_manager_release(r.manager, again);
        rig_close(&r);
    }
}

static void the_preset_pads_to_an_alignment_of_50_as_well(void **state) {
    (void)state;
    rig r = small_rig(true, 50);
    acre_handle *h[2] = {take(r.manager, 40), take(r.manager, 40)};
    assert_int_equal(usage_of(r.manager).padding, 20);
    assert_int_equal(usage_of(r.manager).reserved, 100);
    drop_all(r.manager, h, 2);
    rig_close(&r);
}

static void small_sizes_of_the_preset_use_their_sum(void **state) {
    (void)state;
    rig r = small_rig(true, 10);
    acre_handle *h[4];
    for (uint64_t i = 0; i < 4; i++) {
        h[i] = take(r.manager, 50 + 100 * i); // 50, 150, 250, 350
    }
    assert_int_equal(usage_of(r.manager).in_use, 800);
    assert_int_equal(usage_of(r.manager).reserved, 800);
    drop_all(r.manager, h, 4);
    rig_close(&r);
}

static void usage_is_the_same_after_a_release_and_the_same_request(void **state) {
    (void)state;
    acre_pool_options pool = exclusive_pool(512);
    rig r = rig_pools(&pool, 1);
    acre_handle *a = take(r.manager, 100);
    assert_int_equal(usage_of(r.manager).in_use, 100);
    assert_in_range(usage_of(r.manager).reserved, 100, 512);
    snapshot before = snapshot_of(r.manager);
    acre_manager_release(r.manager, a);
    a = take(r.manager, 100);
    snapshot after = snapshot_of(r.manager);
    assert_same_state(&before, &after);
    acre_manager_release(r.manager, a);
    rig_close(&r);
}

static void a_limit_of_zero_makes_a_pool_for_zero_sized_requests(void **state) {
    (void)state;
    acre_pool_options pools[] = {exclusive_pool(0), exclusive_pool(1024)};
    rig r = rig_pools(pools, 2);
    acre_handle *none = take(r.manager, 0);
    acre_handle *one = take(r.manager, 1);
    assert_int_equal(place_of(r.manager, none).pool_index, 0);
    assert_int_equal(place_of(r.manager, one).pool_index, 1);
    assert_int_equal(pool_of(r.manager, 0).usage.reserved, 0);
    assert_int_equal(pool_of(r.manager, 0).usage.allocations, 1);
    assert_int_equal(device_calls(r.storage), 1);
    acre_manager_release(r.manager, none);
    acre_manager_release(r.manager, one);
    rig_close(&r);
}

static void an_unset_limit_is_the_largest_page(void **state) {
    (void)state;
    acre_pool_options pool = exclusive_pool(ACRE_UNSET);
    rig r = rig_sized(1000, 50, &pool, 1);
    acre_handle *a = take(r.manager, 1000);
    (void)refuse(r.manager, 1001, ACRE_BUFFER_TOO_BIG);
    acre_manager_release(r.manager, a);
    rig_close(&r);
}

static void the_limit_is_rounded_up_to_the_alignment(void **state) {
    (void)state;
    acre_pool_options pool = exclusive_pool(1001);
    rig r = rig_sized(128 * MIB, 10, &pool, 1);
    assert_int_equal(pool_of(r.manager, 0).max_slice_size, 1010);
    acre_manager_release(r.manager, take(r.manager, 1010));
    acre_error error = refuse(r.manager, 1011, ACRE_BUFFER_TOO_BIG);
    assert_int_equal(error.size, 1011);
    rig_close(&r);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_page_is_exactly_the_padded_size),
        cmocka_unit_test(two_of_40_at_alignment_50_are_padded_by_20_and_hold_100),
        cmocka_unit_test(reuse_takes_the_smallest_free_page_that_fits),
        cmocka_unit_test(the_tightest_of_many_free_pages_is_found),
        cmocka_unit_test(no_free_page_large_enough_means_a_new_page),
        cmocka_unit_test(two_live_allocations_never_share_a_page),
        cmocka_unit_test(two_live_allocations_reserve_their_sum_at_least),
        cmocka_unit_test(a_freed_page_serves_the_same_size_again),
        cmocka_unit_test(the_preset_pads_to_an_alignment_of_50_as_well),
        cmocka_unit_test(small_sizes_of_the_preset_use_their_sum),
        cmocka_unit_test(usage_is_the_same_after_a_release_and_the_same_request),
        cmocka_unit_test(a_limit_of_zero_makes_a_pool_for_zero_sized_requests),
        cmocka_unit_test(an_unset_limit_is_the_largest_page),
        cmocka_unit_test(the_limit_is_rounded_up_to_the_alignment),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
