// Section 5, presets: which pools they make, with which numbers.
#include "support.h"

static void assert_exclusive(acre_manager *manager, uint32_t index, uint64_t limit,
                             uint64_t period) {
    acre_pool_report pool = pool_of(manager, index);
    assert_int_equal(pool.kind, ACRE_POOL_EXCLUSIVE);
    assert_int_equal(pool.max_slice_size, limit);
    assert_int_equal(pool.max_pool_size, ACRE_UNSET);
    assert_int_equal(pool.dealloc_period, period);
}

static void assert_sliced(acre_manager *manager, uint32_t index, uint64_t page, uint64_t limit) {
    acre_pool_report pool = pool_of(manager, index);
    assert_int_equal(pool.kind, ACRE_POOL_SLICED);
    assert_int_equal(pool.page_size, page);
    assert_int_equal(pool.max_slice_size, limit);
    assert_int_equal(pool.max_pool_size, ACRE_UNSET);
    assert_int_equal(pool.dealloc_period, ACRE_UNSET);
}

static void sub_slices_of_128_mib_are_four_pools(void **state) {
    (void)state;
    rig r = rig_preset(128 * MIB, 32, ACRE_LAYOUT_SUB_SLICES);
    assert_int_equal(report_of(r.manager).pool_count, 4);
    assert_exclusive(r.manager, 0, 0, ACRE_UNSET);
    assert_sliced(r.manager, 1, 8 * MIB, 2 * MIB);
    assert_sliced(r.manager, 2, 32 * MIB, 16 * MIB);
    assert_exclusive(r.manager, 3, 128 * MIB, ACRE_UNSET);
    rig_close(&r);
}

static void sub_slices_of_1_gib_are_five_pools(void **state) {
    (void)state;
    rig r = rig_preset(GIB, 256, ACRE_LAYOUT_SUB_SLICES);
    assert_int_equal(report_of(r.manager).pool_count, 5);
    assert_sliced(r.manager, 1, 16 * MIB, 2 * MIB);
    assert_sliced(r.manager, 2, 64 * MIB, 16 * MIB);
    assert_sliced(r.manager, 3, 256 * MIB, 128 * MIB);
    assert_exclusive(r.manager, 4, GIB, ACRE_UNSET);
    rig_close(&r);
}

static void sub_slices_begin_at_a_largest_page_of_32_mib(void **state) {
    (void)state;
    rig r = rig_preset(32 * MIB - 32, 32, ACRE_LAYOUT_SUB_SLICES);
    assert_int_equal(report_of(r.manager).pool_count, 2);
    assert_exclusive(r.manager, 0, 0, ACRE_UNSET);
    assert_exclusive(r.manager, 1, 32 * MIB - 32, ACRE_UNSET);
    rig_close(&r);

    r = rig_preset(32 * MIB, 32, ACRE_LAYOUT_SUB_SLICES);
    assert_int_equal(report_of(r.manager).pool_count, 3);
    assert_sliced(r.manager, 1, 8 * MIB, 4 * MIB);
    rig_close(&r);
}

// 50,000,000 / 4 = 12,500,000, a multiple of 50, not of 30: aligned up to 12,500,010.
static void sub_slices_align_each_page_up(void **state) {
    (void)state;
    rig r = rig_preset(UINT64_C(50000000), 30, ACRE_LAYOUT_SUB_SLICES);
    assert_int_equal(report_of(r.manager).largest_page, 49999980);
    assert_int_equal(report_of(r.manager).pool_count, 3);
    // 49,999,980 / 4 = 12,499,995, aligned up to 12,500,010
    assert_sliced(r.manager, 1, 12500010, 6250005);
    assert_exclusive(r.manager, 2, 49999980, ACRE_UNSET);
    rig_close(&r);
}

static void an_alignment_as_large_as_the_page_ends_the_sliced_pools(void **state) {
    (void)state;
    rig r = rig_preset(64 * MIB, 64 * MIB, ACRE_LAYOUT_SUB_SLICES);
    assert_int_equal(report_of(r.manager).pool_count, 2); // 16 MiB aligned up is no smaller
    assert_exclusive(r.manager, 1, 64 * MIB, ACRE_UNSET);
    rig_close(&r);
}

static void twenty_mib_on_sub_slices_is_one_exact_page(void **state) {
    (void)state;
    rig r = rig_preset(128 * MIB, 32, ACRE_LAYOUT_SUB_SLICES);
    acre_handle *a = take(r.manager, 20 * MIB);
    assert_int_equal(usage_of(r.manager).in_use, 20 * MIB);
    assert_int_equal(usage_of(r.manager).reserved, 20 * MIB);
    assert_int_equal(place_of(r.manager, a).pool_index, 3);
    acre_manager_release(r.manager, a);
    rig_close(&r);
}

static void sub_slices_have_exact_large_slices_on(void **state) {
    (void)state;
    rig r = rig_preset(128 * MIB, 32, ACRE_LAYOUT_SUB_SLICES);
    acre_handle *h[4] = {take(r.manager, 0), take(r.manager, 2 * MIB), take(r.manager, 16 * MIB),
                         take(r.manager, 7 * MIB)};
    assert_int_equal(place_of(r.manager, h[0]).pool_index, 0);
    assert_int_equal(pool_of(r.manager, 1).usage.reserved, (8 + 7) * MIB); // 2 is no more than 8/4
    assert_int_equal(pool_of(r.manager, 2).usage.reserved, 16 * MIB);
    drop_all(r.manager, h, 4);
    rig_close(&r);
}

static void exclusive_pages_of_128_mib_are_24_pools(void **state) {
    (void)state;
    // trunc(32768 * 4096^(i/23)), aligned up to 32
    static const uint64_t limits[24] = {
        32768,    47072,    67552,    96992,    139232,   199872,   286976,   411968,
        591456,   849152,   1219136,  1750272,  2512832,  3607616,  5179392,  7435968,
        10675712, 15326944, 22004640, 31591744, 45355776, 65116608, 93486912, 134217728};
    rig r = rig_preset(128 * MIB, 32, ACRE_LAYOUT_EXCLUSIVE_PAGES);
    assert_int_equal(report_of(r.manager).pool_count, 24);
    for (uint32_t i = 0; i < 24; i++) {
        assert_exclusive(r.manager, i, limits[i], 5000);
    }
    rig_close(&r);
}

// dealloc_period = 5000 * round(1 + size / 1 GiB)
static void exclusive_pages_of_4_gib_wait_longer_before_they_go_back(void **state) {
    (void)state;
    static const uint64_t limits[24] = {
        32768,     54784,     91392,     152576,    254464,    424704,     708864,     1182976,
        1974528,   3296000,   5501184,   9182464,   15326976,  25583360,   42702848,   71278336,
        118975488, 198589952, 331480320, 553296896, 923546112, 1541554944, 2573116416, 4294967296};
    rig r = rig_preset(4 * GIB, 256, ACRE_LAYOUT_EXCLUSIVE_PAGES);
    assert_int_equal(report_of(r.manager).pool_count, 24);
    for (uint32_t i = 0; i < 24; i++) {
        uint64_t whole = i < 19 ? 1 : i < 22 ? 2 : i < 23 ? 3 : 5; // 0.52, 0.86, 1.44, 2.40, 4
        assert_exclusive(r.manager, i, limits[i], 5000 * whole);
    }
    rig_close(&r);
}

// 256 GiB is 32 KiB doubled 23 times.
static void exclusive_pages_of_256_gib_double_from_pool_to_pool(void **state) {
    (void)state;
    rig r = rig_preset(256 * GIB, 32, ACRE_LAYOUT_EXCLUSIVE_PAGES);
    assert_int_equal(report_of(r.manager).pool_count, 24);
    for (uint32_t i = 0; i < 24; i++) {
        uint64_t limit = (32 * KIB) << i;
        uint64_t gibs = limit >= GIB / 2 ? (2 * limit / GIB + 1) / 2 : 0; // halves round up
        assert_exclusive(r.manager, i, limit, 5000 * (1 + gibs));
    }
    rig_close(&r);
}

static void half_a_gib_rounds_up_to_two_periods(void **state) {
    (void)state;
    rig r = rig_preset(512 * MIB, 32, ACRE_LAYOUT_EXCLUSIVE_PAGES);
    assert_exclusive(r.manager, 22, 352074240, 5000);
    assert_exclusive(r.manager, 23, 512 * MIB, 10000);
    rig_close(&r);
}

static void exclusive_pages_of_one_size_are_one_pool(void **state) {
    (void)state;
    rig r = rig_preset(1000, 10, ACRE_LAYOUT_EXCLUSIVE_PAGES);
    assert_int_equal(report_of(r.manager).pool_count, 1);
    assert_exclusive(r.manager, 0, 1000, 5000);
    rig_close(&r);

    r = rig_preset(32768, 32, ACRE_LAYOUT_EXCLUSIVE_PAGES);
    assert_int_equal(report_of(r.manager).pool_count, 1);
    assert_exclusive(r.manager, 0, 32768, 5000);
    rig_close(&r);
}

static void sizes_that_align_to_the_same_are_one_pool(void **state) {
    (void)state;
    rig r = rig_preset(33024, 256, ACRE_LAYOUT_EXCLUSIVE_PAGES);
    assert_int_equal(report_of(r.manager).pool_count, 2);
    assert_exclusive(r.manager, 0, 32768, 5000);
    assert_exclusive(r.manager, 1, 33024, 5000);
    rig_close(&r);

    r = rig_preset(40000, 50, ACRE_LAYOUT_EXCLUSIVE_PAGES);
    assert_int_equal(report_of(r.manager).pool_count, 24);
    assert_exclusive(r.manager, 0, 32800, 5000); // 32768 aligned up to 50
    assert_exclusive(r.manager, 12, 36400, 5000);
    assert_exclusive(r.manager, 23, 40000, 5000);
    rig_close(&r);
}

static void the_default_is_adaptive_where_pages_can_be_cut(void **state) {
    (void)state;
    acre_manager_options options = plain_options(128 * MIB, 32);
    rig r = rig_on(simulated_device(), &options);
    assert_int_equal(report_of(r.manager).pool_count, 3);
    assert_exclusive(r.manager, 0, 0, ACRE_UNSET);
    assert_sliced(r.manager, 1, 8 * MIB, 64 * KIB);
    assert_int_equal(pool_of(r.manager, 2).kind, ACRE_POOL_ADAPTIVE);
    assert_int_equal(pool_of(r.manager, 2).page_size, 2 * MIB);
    rig_close(&r);
}

static acre_storage *uncut_device(void) {
    acre_simulated_storage_params params = ACRE_SIMULATED_STORAGE_PARAMS_INIT;
    params.no_sub_slices = true;
    acre_storage *storage = NULL;
    assert_ok(acre_storage_simulated_create(&params, NULL, &storage, NULL));
    return storage;
}

static void the_default_is_exclusive_pages_where_they_cannot(void **state) {
    (void)state;
    acre_manager_options options = plain_options(128 * MIB, 32);
    rig r = rig_on(uncut_device(), &options);
    assert_int_equal(report_of(r.manager).pool_count, 24);
    acre_handle *h[2] = {take(r.manager, 100), take(r.manager, 100)};
    assert_int_equal(usage_of(r.manager).reserved, 256);
    drop_all(r.manager, h, 2);
    rig_close(&r);
}

static void a_storage_that_cannot_cut_pages_refuses_sliced_layouts(void **state) {
    (void)state;
    acre_storage *storage = uncut_device();
    acre_pool_options sliced = sliced_pool(MIB, ACRE_UNSET, ACRE_UNSET);
    acre_layout layouts[] = {ACRE_LAYOUT_INIT(ACRE_LAYOUT_SUB_SLICES), explicit_layout(&sliced, 1)};
    for (size_t i = 0; i < 2; i++) {
        acre_manager_options options = plain_options(128 * MIB, 32);
        options.layout = &layouts[i];
        acre_manager *manager = NULL;
        acre_error error = ACRE_ERROR_INIT;
        assert_status(ACRE_UNSUPPORTED, acre_manager_create(storage, &options, &manager, &error));
        assert_null(manager);
    }
    acre_pool_options whole[] = {exclusive_pool(MIB), direct_pool(ACRE_UNSET)};
    rig r = rig_pools_on(storage, 128 * MIB, 32, whole, 2);
    acre_manager_release(r.manager, take(r.manager, 100));
    rig_close(&r);
}

static void create_refused(acre_pool_options pool) {
    acre_storage *storage = simulated_device();
    acre_layout layout = explicit_layout(&pool, 1);
    acre_manager_options options = plain_options(128 * MIB, 32);
    options.layout = &layout;
    acre_manager *manager = NULL;
    acre_error error = ACRE_ERROR_INIT;
    assert_status(ACRE_INVALID_ARGUMENT, acre_manager_create(storage, &options, &manager, &error));
    assert_null(manager);
    assert_true(strlen(error.detail) > 0);
    acre_storage_destroy(storage);
}

static void explicit_lists_refuse_what_is_no_pool_of_a_layout(void **state) {
    (void)state;
    acre_pool_options pool = sliced_pool(0, ACRE_UNSET, ACRE_UNSET);
    create_refused(pool);
    pool = exclusive_pool(MIB);
    pool.kind = ACRE_POOL_PERSISTENT;
    create_refused(pool);
    pool.kind = ACRE_POOL_DEDICATED;
    create_refused(pool);
    pool.kind = (acre_pool_kind)99;
    create_refused(pool);
    create_refused(sliced_pool(128 * MIB + 32, ACRE_UNSET, ACRE_UNSET)); // no page is that large
}

// Exclusive: 1000 * (1 ... 5) freed and repeated.
static void repeating_five_sizes_reserves_no_more_on_either_preset(void **state) {
    (void)state;
    const acre_layout_kind kinds[] = {ACRE_LAYOUT_EXCLUSIVE_PAGES, ACRE_LAYOUT_SUB_SLICES};
    for (size_t k = 0; k < 2; k++) {
        rig r = rig_preset(128 * MIB, 32, kinds[k]);
        acre_handle *h[5];
        acre_usage usage[2];
        for (int round = 0; round < 2; round++) {
            for (uint64_t i = 0; i < 5; i++) {
                h[i] = take(r.manager, 1000 * (i + 1));
            }
            usage[round] = usage_of(r.manager);
            drop_all(r.manager, h, 5);
        }
        assert_int_equal(usage[0].allocations, usage[1].allocations);
        assert_int_equal(usage[0].in_use, usage[1].in_use);
        assert_int_equal(usage[0].reserved, usage[1].reserved);
        rig_close(&r);
    }
}

static void freeing_every_other_and_asking_again_grows_by_a_tenth_at_most(void **state) {
    (void)state;
    const acre_layout_kind kinds[] = {ACRE_LAYOUT_EXCLUSIVE_PAGES, ACRE_LAYOUT_SUB_SLICES,
                                      ACRE_LAYOUT_ADAPTIVE};
    const uint64_t sizes[] = {50, 1000, 100, 5000, 200, 10000, 300};
    for (size_t k = 0; k < COUNT_OF(kinds); k++) {
        rig r = rig_preset(128 * MIB, 32, kinds[k]);
        acre_handle *h[COUNT_OF(sizes)];
        for (size_t i = 0; i < COUNT_OF(sizes); i++) {
            h[i] = take(r.manager, sizes[i]);
        }
        uint64_t before = usage_of(r.manager).reserved;
        for (size_t i = 0; i < COUNT_OF(sizes); i += 2) {
            acre_manager_release(r.manager, h[i]);
            h[i] = NULL;
        }
        acre_handle *again[3] = {take(r.manager, sizes[0]), take(r.manager, sizes[2]),
                                 take(r.manager, sizes[4])};
        assert_true(usage_of(r.manager).reserved <= before + before / 10);
        drop_all(r.manager, again, 3);
        drop_all(r.manager, h, COUNT_OF(sizes));
        rig_close(&r);
    }
}

// All seven stay: only second owners of every other go.
static void requests_beside_live_ones_that_go_at_once_grow_it_by_a_tenth_at_most(void **state) {
    (void)state;
    const acre_layout_kind kinds[] = {ACRE_LAYOUT_SUB_SLICES, ACRE_LAYOUT_ADAPTIVE};
    const uint64_t sizes[] = {50, 1000, 100, 5000, 200, 10000, 300};
    for (size_t k = 0; k < COUNT_OF(kinds); k++) {
        rig r = rig_preset(128 * MIB, 32, kinds[k]);
        acre_handle *h[COUNT_OF(sizes)];
        for (size_t i = 0; i < COUNT_OF(sizes); i++) {
            h[i] = take(r.manager, sizes[i]);
        }
        uint64_t before = usage_of(r.manager).reserved;
        for (size_t i = 0; i < COUNT_OF(sizes); i += 2) {
            acre_manager_release(r.manager, acre_handle_retain(h[i]));
        }
        for (size_t i = 0; i < COUNT_OF(sizes) / 2; i++) {
            acre_manager_release(r.manager, take(r.manager, sizes[i]));
        }
        assert_int_equal(usage_of(r.manager).allocations, COUNT_OF(sizes));
        assert_true(usage_of(r.manager).reserved <= before + before / 10);
        drop_all(r.manager, h, COUNT_OF(sizes));
        rig_close(&r);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sub_slices_of_128_mib_are_four_pools),
        cmocka_unit_test(sub_slices_of_1_gib_are_five_pools),
        cmocka_unit_test(sub_slices_begin_at_a_largest_page_of_32_mib),
        cmocka_unit_test(sub_slices_align_each_page_up),
        cmocka_unit_test(an_alignment_as_large_as_the_page_ends_the_sliced_pools),
        cmocka_unit_test(twenty_mib_on_sub_slices_is_one_exact_page),
        cmocka_unit_test(sub_slices_have_exact_large_slices_on),
        cmocka_unit_test(exclusive_pages_of_128_mib_are_24_pools),
        cmocka_unit_test(exclusive_pages_of_4_gib_wait_longer_before_they_go_back),
        cmocka_unit_test(exclusive_pages_of_256_gib_double_from_pool_to_pool),
        cmocka_unit_test(half_a_gib_rounds_up_to_two_periods),
        cmocka_unit_test(exclusive_pages_of_one_size_are_one_pool),
        cmocka_unit_test(sizes_that_align_to_the_same_are_one_pool),
        cmocka_unit_test(the_default_is_adaptive_where_pages_can_be_cut),
        cmocka_unit_test(the_default_is_exclusive_pages_where_they_cannot),
        cmocka_unit_test(a_storage_that_cannot_cut_pages_refuses_sliced_layouts),
        cmocka_unit_test(explicit_lists_refuse_what_is_no_pool_of_a_layout),
        cmocka_unit_test(repeating_five_sizes_reserves_no_more_on_either_preset),
        cmocka_unit_test(freeing_every_other_and_asking_again_grows_by_a_tenth_at_most),
        cmocka_unit_test(requests_beside_live_ones_that_go_at_once_grow_it_by_a_tenth_at_most),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
