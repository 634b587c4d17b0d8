// Section 4, direct pools: one device allocation per request, reused by exact padded size.
#include "support.h"

static rig direct_rig(uint64_t reclaim_at) {
    acre_pool_options pool = direct_pool(reclaim_at);
    return rig_pools(&pool, 1);
}

static void only_the_alignment_is_added(void **state) {
    (void)state;
    rig r = direct_rig(ACRE_UNSET);
    uint64_t odd = 700 * 1024 + 17;
    acre_handle *a = take(r.manager, odd);
    assert_int_equal(pool_of(r.manager, 0).kind, ACRE_POOL_DIRECT);
    assert_int_equal(pool_of(r.manager, 0).usage.in_use, odd);
    assert_int_equal(usage_of(r.manager).reserved, 716832); // odd rounded up to 32
    acre_manager_release(r.manager, a);
    rig_close(&r);
}

static void four_rounds_of_one_size_allocate_once(void **state) {
    (void)state;
    rig r = direct_rig(8 * MIB);
    for (int i = 0; i < 4; i++) {
        acre_manager_release(r.manager, take(r.manager, 300 * KIB));
    }
    assert_int_equal(pool_of(r.manager, 0).pages_peak, 1);
    assert_int_equal(device_calls(r.storage), 1);
    rig_close(&r);
}

static void only_the_exact_padded_size_is_reused(void **state) {
    (void)state;
    rig r = direct_rig(ACRE_UNSET);
    acre_manager_release(r.manager, take(r.manager, 1024));
    acre_handle *smaller = take(r.manager, 992);
    assert_int_equal(device_calls(r.storage), 2);
    acre_handle *same = take(r.manager, 993); // padded to 1024
    assert_int_equal(device_calls(r.storage), 2);
    assert_int_equal(usage_of(r.manager).reserved, 1024 + 992);
    acre_manager_release(r.manager, smaller);
    acre_manager_release(r.manager, same);
    rig_close(&r);
}

// Under 7 MiB, before: 1, 2, 3 MiB free. 4 MiB: 1 and 2 go, 3 + 4 stay.
static void the_watermark_returns_just_enough_in_the_order_of_creation(void **state) {
    (void)state;
    static const int orders[3][3] = {{0, 1, 2}, {2, 1, 0}, {1, 2, 0}};
    for (size_t i = 0; i < 4; i++) {
        rig r = direct_rig(7 * MIB);
        acre_handle *h[3];
        for (uint64_t k = 0; k < 3; k++) {
            h[k] = take(r.manager, (k + 1) * MIB);
            if (i == 3) { // each is gone before the next comes
                acre_manager_release(r.manager, h[k]);
            }
        }
        for (int k = 0; k < 3 && i < 3; k++) {
            acre_manager_release(r.manager, h[orders[i][k]]);
        }
        assert_int_equal(pool_of(r.manager, 0).pages, 3);
        acre_handle *large = take(r.manager, 4 * MIB);
        assert_int_equal(pool_of(r.manager, 0).pages, 2);
        assert_int_equal(usage_of(r.manager).reserved, 7 * MIB);
        acre_handle *kept = take(r.manager, 3 * MIB);
        assert_int_equal(device_calls(r.storage), 4);
        acre_manager_release(r.manager, large);
        acre_manager_release(r.manager, kept);
        rig_close(&r);
    }
}

static void reaching_the_watermark_is_not_passing_it(void **state) {
    (void)state;
    rig r = direct_rig(3 * MIB);
    acre_manager_release(r.manager, take(r.manager, MIB));
    acre_handle *a = take(r.manager, 2 * MIB);
    assert_int_equal(pool_of(r.manager, 0).pages, 2);
    acre_manager_release(r.manager, a);
    rig_close(&r);
}

static void live_slices_are_passed_over_when_room_is_returned(void **state) {
    (void)state;
    rig r = direct_rig(6 * MIB);
    acre_handle *live = take(r.manager, MIB);
    acre_manager_release(r.manager, take(r.manager, 2 * MIB));
    acre_manager_release(r.manager, take(r.manager, 3 * MIB));
    acre_handle *a = take(r.manager, 2 * MIB - 32); // 8 MiB - 32 held: the free 2 MiB go
    assert_int_equal(pool_of(r.manager, 0).pages, 3);
    assert_int_equal(usage_of(r.manager).reserved, 6 * MIB - 32);
    acre_manager_release(r.manager, live);
    acre_manager_release(r.manager, a);
    rig_close(&r);
}

static void live_memory_is_served_above_the_watermark(void **state) {
    (void)state;
    rig r = direct_rig(2 * MIB);
    acre_handle *h[4];
    for (size_t i = 0; i < 4; i++) {
        h[i] = take(r.manager, MIB);
    }
    assert_int_equal(usage_of(r.manager).reserved, 4 * MIB);
    drop_all(r.manager, h, 4);
    assert_int_equal(usage_of(r.manager).reserved, 4 * MIB); // nothing goes until it is passed
    rig_close(&r);
}

static void a_watermark_of_zero_keeps_free_slices_until_the_next_new_one(void **state) {
    (void)state;
    rig r = direct_rig(0);
    acre_manager_release(r.manager, take(r.manager, MIB));
    acre_manager_release(r.manager, take(r.manager, MIB)); // reused: nothing is allocated
    assert_int_equal(device_calls(r.storage), 1);
    acre_handle *a = take(r.manager, 2 * MIB);
    assert_int_equal(usage_of(r.manager).reserved, 2 * MIB);
    acre_manager_release(r.manager, a);
    rig_close(&r);
}

static void an_add_only_reservation_never_reclaims(void **state) {
    (void)state;
    rig r = direct_rig(7 * MIB);
    for (uint64_t i = 1; i <= 3; i++) {
        acre_manager_release(r.manager, take(r.manager, i * MIB));
    }
    acre_handle *a = take_with(r.manager, 4 * MIB, 0, ACRE_PAGES_ADD_ONLY);
    assert_int_equal(pool_of(r.manager, 0).pages, 4);
    assert_int_equal(usage_of(r.manager).reserved, 10 * MIB);
    acre_manager_release(r.manager, a);
    rig_close(&r);
}

static void without_a_watermark_free_slices_stay(void **state) {
    (void)state;
    rig r = direct_rig(ACRE_UNSET);
    for (uint64_t i = 1; i <= 100; i++) {
        acre_manager_release(r.manager, take(r.manager, i * 32));
    }
    acre_manager_cleanup(r.manager, ACRE_CLEANUP_PERIODIC);
    assert_int_equal(pool_of(r.manager, 0).pages, 100);
    rig_close(&r);
}

static void an_explicit_cleanup_returns_every_free_slice(void **state) {
    (void)state;
    rig r = direct_rig(64 * MIB);
    acre_handle *live = take(r.manager, MIB);
    acre_manager_release(r.manager, take(r.manager, 2 * MIB));
    acre_manager_cleanup(r.manager, ACRE_CLEANUP_EXPLICIT);
    assert_int_equal(pool_of(r.manager, 0).pages, 1);
    assert_int_equal(usage_of(r.manager).reserved, MIB);
    acre_manager_release(r.manager, live);
    rig_close(&r);
}

static void sizes_up_to_the_largest_page_are_accepted(void **state) {
    (void)state;
    acre_pool_options pool = direct_pool(ACRE_UNSET);
    rig r = rig_sized(1000, 50, &pool, 1);
    acre_manager_release(r.manager, take(r.manager, 1000));
    (void)refuse(r.manager, 1001, ACRE_BUFFER_TOO_BIG);
    rig_close(&r);
}

// Forty sizes, freed in no order, seven used again: what goes is what was made first.
static void of_many_free_slices_the_oldest_go_first(void **state) {
    (void)state;
    enum {
        MANY = 40
    };
    uint64_t held = 0;
    for (uint64_t i = 0; i < MANY; i++) {
        held += (i + 1) * KIB;
    }
    rig r = direct_rig(held);
    acre_handle *h[MANY];
    for (uint64_t i = 0; i < MANY; i++) {
        h[i] = take(r.manager, (i + 1) * KIB);
    }
    for (size_t i = 0; i < MANY; i++) {
        acre_manager_release(r.manager, h[(i * 17) % MANY]);
    }
    for (uint64_t i = 0; i < 7; i++) { // a use makes a slice no younger
        acre_manager_release(r.manager, take(r.manager, (i * 5 + 1) * KIB));
    }
    acre_handle *live = take(r.manager, 3 * KIB); // the third is passed over
    acre_handle *large = take(r.manager, 100 * KIB);
    // 1 + 2 + 4 + 5 + ... + 14 KiB are 102: enough
    assert_int_equal(usage_of(r.manager).reserved, held - 102 * KIB + 100 * KIB);
    uint64_t calls = device_calls(r.storage);
    for (uint64_t i = 14; i < MANY; i++) { // the younger are all there
        h[i] = take_with(r.manager, (i + 1) * KIB, 0, ACRE_PAGES_FORBIDDEN);
    }
    for (uint64_t i = 0; i < 14; i++) {
        (void)refuse_with(r.manager, (i + 1) * KIB, 0, ACRE_PAGES_FORBIDDEN,
                          ACRE_PAGE_UPDATE_FORBIDDEN);
    }
    assert_int_equal(device_calls(r.storage), calls);
    drop_all(r.manager, &h[14], MANY - 14);
    acre_manager_release(r.manager, live);
    acre_manager_release(r.manager, large);
    rig_close(&r);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(only_the_alignment_is_added),
        cmocka_unit_test(four_rounds_of_one_size_allocate_once),
        cmocka_unit_test(only_the_exact_padded_size_is_reused),
        cmocka_unit_test(the_watermark_returns_just_enough_in_the_order_of_creation),
        cmocka_unit_test(of_many_free_slices_the_oldest_go_first),
        cmocka_unit_test(reaching_the_watermark_is_not_passing_it),
        cmocka_unit_test(live_slices_are_passed_over_when_room_is_returned),
        cmocka_unit_test(live_memory_is_served_above_the_watermark),
        cmocka_unit_test(a_watermark_of_zero_keeps_free_slices_until_the_next_new_one),
        cmocka_unit_test(an_add_only_reservation_never_reclaims),
        cmocka_unit_test(without_a_watermark_free_slices_stay),
        cmocka_unit_test(an_explicit_cleanup_returns_every_free_slice),
        cmocka_unit_test(sizes_up_to_the_largest_page_are_accepted),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
