// Section 11, measured plans: run on a growable layout, cap it at the peaks, replay: the peaks are
// unchanged, because placement is a function of the request sequence alone.
#include "support.h"

#define MOST 40

// Caps the layout in force at what it measured and installs that.
static size_t install_measured(acre_manager *manager, acre_pool_options *pools) {
    size_t count = 0;
    assert_ok(
        acre_manager_measured_pools(manager, pools, sizeof(acre_pool_options), MOST, &count, NULL));
    assert_int_equal(count, report_of(manager).pool_count);
    acre_manager_cleanup(manager, ACRE_CLEANUP_EXPLICIT);
    acre_layout layout = explicit_layout(pools, count);
    assert_ok(acre_manager_install_layout(manager, &layout, NULL));
    return count;
}

//   page 0   | a 600 K |            then   | c 900 K      |
//   page 1             | b 600 K |
static void workload(acre_manager *manager) {
    acre_handle *a = take(manager, 600 * KIB);
    acre_handle *b = take(manager, 600 * KIB);
    acre_manager_release(manager, a);
    acre_handle *c = take(manager, 900 * KIB); // fits where a was
    acre_manager_release(manager, b);
    acre_manager_release(manager, c);
}

static void a_plan_measured_from_one_run_fits_the_replay(void **state) {
    (void)state;
    acre_pool_options growable = sliced_pool(MIB, ACRE_UNSET, ACRE_UNSET);
    rig r = rig_pools(&growable, 1);
    workload(r.manager);
    assert_int_equal(pool_of(r.manager, 0).largest_alloc, 900 * KIB);
    assert_int_equal(pool_of(r.manager, 0).pages_peak, 2);
    assert_int_equal(pool_of(r.manager, 0).bytes_peak, 2 * MIB);

    acre_pool_options pools[MOST];
    install_measured(r.manager, pools);
    assert_int_equal(pools[0].max_pool_size, 2 * MIB);
    assert_int_equal(pool_of(r.manager, 0).max_pool_size, 2 * MIB);
    workload(r.manager);
    assert_int_equal(pool_of(r.manager, 0).pages_peak, 2);
    rig_close(&r);
}

static void the_same_cap_set_by_hand_fits_too(void **state) {
    (void)state;
    acre_pool_options capped = sliced_pool(MIB, ACRE_UNSET, 2 * MIB);
    rig r = rig_pools(&capped, 1);
    workload(r.manager);
    assert_int_equal(pool_of(r.manager, 0).pages_peak, 2);
    rig_close(&r);
}

// A first pass with scratch beside the workload, a second without.
static void reinstalling_forgets_the_scratch_of_the_first_pass(void **state) {
    (void)state;
    acre_pool_options growable = sliced_pool(MIB, ACRE_UNSET, ACRE_UNSET);
    rig r = rig_pools(&growable, 1);
    acre_handle *live = take(r.manager, 600 * KIB);
    acre_manager_release(r.manager, take(r.manager, 600 * KIB));
    acre_manager_release(r.manager, live);
    assert_int_equal(pool_of(r.manager, 0).pages_peak, 2);
    acre_layout layout = explicit_layout(&growable, 1);
    assert_ok(acre_manager_install_layout(r.manager, &layout, NULL));
    acre_manager_release(r.manager, take(r.manager, 600 * KIB));
    assert_int_equal(pool_of(r.manager, 0).pages_peak, 1);
    rig_close(&r);
}

// With slices up to 100 and pages of 1000, 900 is accepted for being within a fifth; a cap set by
// hand would refuse it.
static void a_measured_cap_keeps_what_the_pool_accepts(void **state) {
    (void)state;
    acre_pool_options pool = sliced_pool(1000, 100, ACRE_UNSET);
    rig r = rig_sized(128 * MIB, 10, &pool, 1);
    acre_manager_release(r.manager, take(r.manager, 900));
    acre_pool_options pools[MOST];
    install_measured(r.manager, pools);
    assert_true(pools[0].measured);
    assert_int_equal(pools[0].max_pool_size, 1000);
    acre_handle *a = take(r.manager, 900);
    (void)refuse(r.manager, 900, ACRE_POOL_CAPACITY_EXCEEDED);
    acre_manager_release(r.manager, a);
    rig_close(&r);
}

static void a_measured_cap_below_the_page_keeps_what_the_pool_accepts(void **state) {
    (void)state;
    acre_pool_options pool = exact_pool(1024);
    rig r = rig_pools(&pool, 1);
    acre_manager_release(r.manager, take(r.manager, 600)); // one exact page of 608
    acre_pool_options pools[MOST];
    install_measured(r.manager, pools);
    assert_int_equal(pools[0].max_pool_size, 608);
    acre_handle *a = take(r.manager, 600);
    assert_int_equal(usage_of(r.manager).reserved, 608);
    acre_manager_release(r.manager, a);
    (void)refuse(r.manager, 1000, ACRE_POOL_CAPACITY_EXCEEDED); // accepted, and over the plan
    rig_close(&r);
}

static void a_pool_that_was_never_used_is_capped_at_nothing(void **state) {
    (void)state;
    acre_pool_options pool = sliced_pool(MIB, ACRE_UNSET, ACRE_UNSET);
    rig r = rig_pools(&pool, 1);
    acre_pool_options pools[MOST];
    install_measured(r.manager, pools);
    assert_int_equal(pools[0].max_pool_size, 0);
    (void)refuse(r.manager, 1000, ACRE_POOL_CAPACITY_EXCEEDED);
    acre_manager_release(r.manager, take(r.manager, 0));
    rig_close(&r);
}

static void direct_pools_have_no_cap_and_stay_as_they_are(void **state) {
    (void)state;
    acre_pool_options pool = direct_pool(7 * MIB);
    rig r = rig_pools(&pool, 1);
    acre_manager_release(r.manager, take(r.manager, MIB));
    acre_pool_options pools[MOST];
    install_measured(r.manager, pools);
    assert_int_equal(pools[0].kind, ACRE_POOL_DIRECT);
    assert_int_equal(pools[0].reclaim_at, 7 * MIB);
    acre_manager_release(r.manager, take(r.manager, 5 * MIB));
    rig_close(&r);
}

static void too_little_room_for_the_pools_is_an_error(void **state) {
    (void)state;
    rig r = rig_preset(128 * MIB, 32, ACRE_LAYOUT_SUB_SLICES);
    acre_pool_options pools[4];
    size_t count = 0;
    acre_error error = ACRE_ERROR_INIT;
    assert_status(ACRE_INVALID_ARGUMENT,
                  acre_manager_measured_pools(r.manager, pools, sizeof(acre_pool_options), 3,
                                              &count, &error));
    assert_int_equal(count, 4);
    assert_ok(
        acre_manager_measured_pools(r.manager, pools, sizeof(acre_pool_options), 4, &count, NULL));
    assert_int_equal(pools[0].kind, ACRE_POOL_EXCLUSIVE);
    assert_int_equal(pools[1].page_size, 8 * MIB);
    assert_int_equal(pools[1].max_slice_size, 2 * MIB);
    assert_true(pools[1].exact_large_slices);
    rig_close(&r);
}

// A stream with a fixed seed that holds up to 64 allocations of sizes over three orders.
static void stream(acre_manager *manager, acre_place *places, size_t count) {
    acre_handle *held[64] = {NULL};
    uint64_t random = 88172645463325252u;
    for (size_t i = 0; i < count; i++) {
        random ^= random << 13;
        random ^= random >> 7;
        random ^= random << 17;
        size_t slot = random % 64;
        acre_manager_release(manager, held[slot]);
        held[slot] = take(manager, (random >> 20) % (UINT64_C(1) << (8 + random % 17)));
        places[i] = place_of(manager, held[slot]);
    }
    drop_all(manager, held, 64);
}

static void any_stream_replays_within_the_peaks_it_measured(void **state) {
    (void)state;
    enum {
        EVENTS = 5000
    };
    static acre_place places[EVENTS];
    const acre_layout_kind kinds[] = {ACRE_LAYOUT_SUB_SLICES, ACRE_LAYOUT_EXCLUSIVE_PAGES};
    for (size_t k = 0; k < 2; k++) {
        rig r = rig_preset(128 * MIB, 32, kinds[k]);
        stream(r.manager, places, EVENTS);
        uint64_t peaks[MOST];
        uint64_t pages[MOST];
        uint32_t count = report_of(r.manager).pool_count;
        for (uint32_t i = 0; i < count; i++) {
            peaks[i] = pool_of(r.manager, i).bytes_peak;
            pages[i] = pool_of(r.manager, i).pages_peak;
        }
        acre_pool_options pools[MOST];
        install_measured(r.manager, pools);
        stream(r.manager, places, EVENTS); // each request is served
        for (uint32_t i = 0; i < count; i++) {
            assert_int_equal(pool_of(r.manager, i).bytes_peak, peaks[i]);
            assert_int_equal(pool_of(r.manager, i).pages_peak, pages[i]);
        }
        rig_close(&r);
    }
}

static void the_same_requests_get_the_same_places(void **state) {
    (void)state;
    enum {
        EVENTS = 5000
    };
    static acre_place first[EVENTS];
    static acre_place second[EVENTS];
    for (int k = 0; k < 2; k++) {
        rig r = rig_preset(128 * MIB, 32, ACRE_LAYOUT_SUB_SLICES);
        stream(r.manager, k == 0 ? first : second, EVENTS);
        rig_close(&r);
    }
    for (size_t i = 0; i < EVENTS; i++) {
        assert_true(same_place(first[i], second[i]));
    }
}

static void a_pool_capped_by_hand_takes_no_more_after_measuring(void **state) {
    (void)state;
    acre_pool_options pool = sliced_pool(1000, 100, 5000);
    rig r = rig_sized(128 * MIB, 10, &pool, 1);
    acre_manager_release(r.manager, take(r.manager, 100));
    acre_pool_options pools[MOST];
    for (int round = 0; round < 2; round++) {
        install_measured(r.manager, pools);
        (void)refuse(r.manager, 900, ACRE_BUFFER_TOO_BIG);
        acre_manager_release(r.manager, take(r.manager, 100));
    }
    rig_close(&r);
}

// A preset's slice limits need not be multiples of the alignment: 12,500,010 / 2 = 6,250,005.
static void a_measured_preset_keeps_its_slice_limits(void **state) {
    (void)state;
    rig r = rig_preset(UINT64_C(50000000), 30, ACRE_LAYOUT_SUB_SLICES);
    acre_handle *h[2] = {take(r.manager, 6250005), take(r.manager, 6250006)};
    assert_int_equal(place_of(r.manager, h[0]).pool_index, 1);
    assert_int_equal(place_of(r.manager, h[1]).pool_index, 2);
    drop_all(r.manager, h, 2);
    acre_pool_options pools[MOST];
    install_measured(r.manager, pools);
    assert_int_equal(pool_of(r.manager, 1).max_slice_size, 6250005);
    for (uint64_t i = 0; i < 2; i++) {
        h[i] = take(r.manager, 6250005 + i);
        assert_int_equal(place_of(r.manager, h[i]).pool_index, 1 + i);
    }
    drop_all(r.manager, h, 2);
    rig_close(&r);
}

// A program of a later version has longer elements; one of an earlier version shorter ones.
static void measured_pools_come_in_elements_of_the_callers_size(void **state) {
    (void)state;
    struct {
        acre_pool_options known;
        uint64_t later;
    } longer[4];
    unsigned char shorter[4 * 24];
    memset(longer, 0xff, sizeof longer);
    memset(shorter, 0xff, sizeof shorter);
    rig r = rig_preset(128 * MIB, 32, ACRE_LAYOUT_SUB_SLICES);
    size_t count = 0;
    assert_ok(acre_manager_measured_pools(r.manager, &longer[0].known, sizeof longer[0], 4, &count,
                                          NULL));
    assert_int_equal(count, 4);
    for (size_t i = 0; i < 4; i++) {
        assert_int_equal(longer[i].known.struct_size, sizeof longer[0]);
        assert_int_equal(longer[i].known.max_pool_size, 0);
        assert_int_equal(longer[i].later, 0);
    }
    acre_layout layout = ACRE_LAYOUT_INIT(ACRE_LAYOUT_EXPLICIT);
    layout.pools = &longer[0].known;
    layout.pool_count = count;
    assert_ok(acre_manager_install_layout(r.manager, &layout, NULL));
    assert_status(ACRE_INVALID_ARGUMENT,
                  acre_manager_measured_pools(r.manager, (acre_pool_options *)(void *)shorter, 24,
                                              3, &count, NULL));
    assert_ok(acre_manager_measured_pools(r.manager, (acre_pool_options *)(void *)shorter, 24, 4,
                                          &count, NULL));
    size_t size;
    memcpy(&size, shorter + 3 * 24, sizeof size);
    assert_int_equal(size, 24);
    rig_close(&r);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(measured_pools_come_in_elements_of_the_callers_size),
        cmocka_unit_test(a_plan_measured_from_one_run_fits_the_replay),
        cmocka_unit_test(the_same_cap_set_by_hand_fits_too),
        cmocka_unit_test(reinstalling_forgets_the_scratch_of_the_first_pass),
        cmocka_unit_test(a_measured_cap_keeps_what_the_pool_accepts),
        cmocka_unit_test(a_measured_preset_keeps_its_slice_limits),
        cmocka_unit_test(a_pool_capped_by_hand_takes_no_more_after_measuring),
        cmocka_unit_test(a_measured_cap_below_the_page_keeps_what_the_pool_accepts),
        cmocka_unit_test(a_pool_that_was_never_used_is_capped_at_nothing),
        cmocka_unit_test(direct_pools_have_no_cap_and_stay_as_they_are),
        cmocka_unit_test(too_little_room_for_the_pools_is_an_error),
        cmocka_unit_test(any_stream_replays_within_the_peaks_it_measured),
        cmocka_unit_test(the_same_requests_get_the_same_places),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
