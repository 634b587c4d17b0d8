// Section 7, guards: a page stays as it is for as long as one lives.
#include <acre/guard.h>

#include "support.h"

static acre_guard *guard(acre_manager *manager, acre_handle *handle) {
    acre_guard *made = NULL;
    assert_ok(acre_manager_guard(manager, handle, &made, NULL));
    check(manager);
    return made;
}

static void end(acre_manager *manager, acre_guard *ended) {
    acre_guard_release(ended);
    check(manager);
}

static void what_is_freed_under_a_guard_is_not_handed_out_again(void **state) {
    (void)state;
    const acre_layout_kind kinds[] = {ACRE_LAYOUT_EXCLUSIVE_PAGES, ACRE_LAYOUT_SUB_SLICES,
                                      ACRE_LAYOUT_ADAPTIVE};
    for (size_t i = 0; i < COUNT_OF(kinds); i++) {
        rig r = rig_preset(128 * MIB, 32, kinds[i]);
        acre_handle *recorded = take(r.manager, 1024);
        acre_guard *held = guard(r.manager, recorded);
        acre_manager_release(r.manager, recorded);
        uint64_t before = usage_of(r.manager).reserved;
        acre_handle *other = take(r.manager, 1024);
        uint64_t after = usage_of(r.manager).reserved;
        assert_true(after > before); // it needed a page of its own
        acre_manager_cleanup(r.manager, ACRE_CLEANUP_EXPLICIT);
        assert_int_equal(usage_of(r.manager).reserved, after);
        end(r.manager, held);
        acre_manager_release(r.manager, other);
        acre_manager_cleanup(r.manager, ACRE_CLEANUP_EXPLICIT);
        assert_int_equal(usage_of(r.manager).reserved, 0);
        rig_close(&r);
    }
}

static void a_guard_leaves_in_place_updates_alone(void **state) {
    (void)state;
    rig r = rig_preset(128 * MIB, 32, ACRE_LAYOUT_EXCLUSIVE_PAGES);
    acre_handle *cache = take(r.manager, 1024);
    acre_guard *held = guard(r.manager, cache);
    assert_true(acre_handle_can_mut(cache));
    end(r.manager, held);
    acre_manager_release(r.manager, cache);
    rig_close(&r);
}

// |  a  |  b  | free |  guarded on a: neither b's room nor the rest serves, on forbidden neither
static void no_room_of_a_guarded_page_serves(void **state) {
    (void)state;
    acre_pool_options pool = sliced_pool(MIB, ACRE_UNSET, ACRE_UNSET);
    rig r = rig_pools(&pool, 1);
    acre_handle *a = take(r.manager, 256 * KIB);
    acre_handle *b = take(r.manager, 256 * KIB);
    acre_place place_b = place_of(r.manager, b);
    acre_guard *held = guard(r.manager, a);
    acre_manager_release(r.manager, b);
    (void)refuse_with(r.manager, 256 * KIB, 0, ACRE_PAGES_FORBIDDEN, ACRE_PAGE_UPDATE_FORBIDDEN);
    acre_handle *c = take(r.manager, 256 * KIB);
    assert_int_equal(usage_of(r.manager).reserved, 2 * MIB);
    assert_true(place_of(r.manager, c).page != place_b.page);
    end(r.manager, held);
    // All of the page behind `a` is one piece again.
    acre_handle *d = take(r.manager, 768 * KIB);
    assert_int_equal(place_of(r.manager, d).page, place_of(r.manager, a).page);
    assert_int_equal(place_of(r.manager, d).offset, 256 * KIB);
    drop_all(r.manager, (acre_handle *[]){a, c, d}, 3);
    rig_close(&r);
}

static void guards_on_one_page_end_in_any_order(void **state) {
    (void)state;
    acre_pool_options pool = sliced_pool(MIB, ACRE_UNSET, ACRE_UNSET);
    rig r = rig_pools(&pool, 1);
    for (int order = 0; order < 2; order++) {
        acre_handle *a = take(r.manager, 100 * KIB);
        acre_handle *b = take(r.manager, 100 * KIB);
        acre_guard *first = guard(r.manager, a);
        acre_guard *second = guard(r.manager, b);
        acre_guard *copy = acre_guard_retain(second);
        drop_all(r.manager, (acre_handle *[]){a, b}, 2);
        end(r.manager, order == 0 ? first : second);
        end(r.manager, order == 0 ? second : first);
        acre_manager_cleanup(r.manager, ACRE_CLEANUP_EXPLICIT);
        assert_int_equal(usage_of(r.manager).reserved, MIB); // the copy still holds it
        end(r.manager, copy);
        acre_manager_cleanup(r.manager, ACRE_CLEANUP_EXPLICIT);
        assert_int_equal(usage_of(r.manager).reserved, 0);
    }
    rig_close(&r);
}

static void on_persistent_and_dedicated_memory_a_guard_holds_that_slice_alone(void **state) {
    (void)state;
    const acre_mode modes[] = {ACRE_MODE_PERSISTENT, ACRE_MODE_DEDICATED};
    for (size_t i = 0; i < COUNT_OF(modes); i++) {
        rig r = rig_preset(128 * MIB, 32, ACRE_LAYOUT_ADAPTIVE);
        set_mode(r.manager, modes[i]);
        acre_handle *a = take(r.manager, 4096);
        acre_handle *b = take(r.manager, 4096);
        acre_guard *held = guard(r.manager, a);
        drop_all(r.manager, (acre_handle *[]){a, b}, 2);
        acre_manager_cleanup(r.manager, ACRE_CLEANUP_EXPLICIT);
        assert_int_equal(usage_of(r.manager).reserved, 4096);
        end(r.manager, held);
        acre_manager_cleanup(r.manager, ACRE_CLEANUP_PERIODIC);
        assert_int_equal(usage_of(r.manager).reserved, modes[i] == ACRE_MODE_DEDICATED ? 0 : 4096);
        rig_close(&r);
    }
}

// 1 MiB (guarded) and 2 MiB free under a watermark of 3 MiB: 3 MiB more takes the 2 MiB one only,
// and the guarded one once its guard is gone.
static void a_watermark_reclaims_around_guards(void **state) {
    (void)state;
    acre_pool_options pool = direct_pool(3 * MIB);
    rig r = rig_pools(&pool, 1);
    acre_handle *one = take(r.manager, MIB);
    acre_handle *two = take(r.manager, 2 * MIB);
    acre_guard *held = guard(r.manager, one);
    drop_all(r.manager, (acre_handle *[]){one, two}, 2);
    acre_handle *three = take(r.manager, 3 * MIB);
    assert_int_equal(usage_of(r.manager).reserved, 4 * MIB);
    end(r.manager, held);
    acre_handle *half = take(r.manager, MIB / 2);
    assert_int_equal(usage_of(r.manager).reserved, 3 * MIB + MIB / 2);
    drop_all(r.manager, (acre_handle *[]){three, half}, 2);
    rig_close(&r);
}

static void an_outdated_page_waits_for_its_guard(void **state) {
    (void)state;
    rig r = rig_preset(128 * MIB, 32, ACRE_LAYOUT_ADAPTIVE);
    acre_handle *old = take(r.manager, MIB);
    acre_guard *held = guard(r.manager, old);
    acre_handle *grown = take(r.manager, 4 * MIB);
    acre_manager_release(r.manager, old);
    acre_manager_release(r.manager, take(r.manager, 100 * KIB));
    assert_int_equal(usage_of(r.manager).reserved, 7 * MIB);
    end(r.manager, held);
    acre_manager_release(r.manager, take(r.manager, 100 * KIB));
    assert_int_equal(usage_of(r.manager).reserved, 5 * MIB);
    acre_manager_release(r.manager, grown);
    rig_close(&r);
}

static void a_layout_is_not_replaced_under_a_guard(void **state) {
    (void)state;
    rig r = rig_preset(128 * MIB, 32, ACRE_LAYOUT_SUB_SLICES);
    acre_layout next = ACRE_LAYOUT_INIT(ACRE_LAYOUT_ADAPTIVE);
    acre_handle *a = take(r.manager, 4096);
    acre_guard *held = guard(r.manager, a);
    acre_manager_release(r.manager, a);
    assert_status(ACRE_POOLS_IN_USE, acre_manager_install_layout(r.manager, &next, NULL));
    end(r.manager, held);
    assert_ok(acre_manager_install_layout(r.manager, &next, NULL));
    rig_close(&r);
}

static void a_guard_needs_a_live_allocation(void **state) {
    (void)state;
    rig r = rig_preset(128 * MIB, 32, ACRE_LAYOUT_ADAPTIVE);
    acre_guard *none = NULL;
    acre_handle *empty = NULL;
    assert_ok(acre_manager_handle_create(r.manager, &empty, NULL));
    assert_status(ACRE_NOT_FOUND, acre_manager_guard(r.manager, empty, &none, NULL));
    assert_status(ACRE_NOT_FOUND, acre_manager_guard(r.manager, NULL, &none, NULL));
    acre_handle *reserved = take(r.manager, 100);
    assert_ok(acre_manager_bind(r.manager, reserved, empty, 1, NULL));
    assert_status(ACRE_NOT_FOUND, acre_manager_guard(r.manager, reserved, &none, NULL));
    acre_handle *nothing = take(r.manager, 0); // has no page: the guard holds nothing
    end(r.manager, guard(r.manager, nothing));
    drop_all(r.manager, (acre_handle *[]){reserved, empty, nothing}, 3);
    rig_close(&r);
}

static void a_guard_may_outlive_its_manager(void **state) {
    (void)state;
    rig r = rig_preset(128 * MIB, 32, ACRE_LAYOUT_ADAPTIVE);
    acre_handle *a = take(r.manager, 4096);
    acre_guard *held = guard(r.manager, a);
    acre_manager_release(r.manager, a);
    rig_close(&r);
    acre_guard_release(held);
    acre_guard_release(NULL);
}

// Random requests, releases and guards: no room of a guarded page is ever handed out.
static void random_guards_never_see_their_page_change(void **state) {
    (void)state;
    acre_pool_options pools[] = {sliced_pool(64 * KIB, ACRE_UNSET, ACRE_UNSET),
                                 exclusive_pool(MIB)};
    rig r = rig_pools(pools, 2);
    acre_handle *h[64] = {NULL};
    acre_guard *g[8] = {NULL};
    uint32_t guarded[8] = {0};
    uint64_t seed = 7;
    for (int step = 0; step < 20000; step++) {
        seed = seed * UINT64_C(6364136223846793005) + 1442695040888963407u;
        size_t at = seed >> 33 & 63;
        size_t slot = seed >> 40 & 7;
        if ((seed >> 50 & 15) == 0) {
            acre_guard_release(g[slot]);
            g[slot] = NULL;
            if (h[at] != NULL) {
                g[slot] = guard(r.manager, h[at]);
                guarded[slot] = place_of(r.manager, h[at]).page;
            }
        } else if (h[at] != NULL) {
            acre_manager_release(r.manager, h[at]);
            h[at] = NULL;
        } else {
            h[at] = take(r.manager, 1 + (seed >> 20) % 100000);
            for (size_t i = 0; i < 8; i++) {
                assert_true(g[i] == NULL || place_of(r.manager, h[at]).page != guarded[i]);
            }
        }
        if (step % 97 == 0) {
            acre_manager_cleanup(r.manager, ACRE_CLEANUP_EXPLICIT);
            check(r.manager);
        }
    }
    for (size_t i = 0; i < 8; i++) {
        acre_guard_release(g[i]);
    }
    drop_all(r.manager, h, 64);
    acre_manager_cleanup(r.manager, ACRE_CLEANUP_EXPLICIT);
    assert_int_equal(usage_of(r.manager).reserved, 0);
    rig_close(&r);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_freed_under_a_guard_is_not_handed_out_again),
        cmocka_unit_test(a_guard_leaves_in_place_updates_alone),
        cmocka_unit_test(no_room_of_a_guarded_page_serves),
        cmocka_unit_test(guards_on_one_page_end_in_any_order),
        cmocka_unit_test(on_persistent_and_dedicated_memory_a_guard_holds_that_slice_alone),
        cmocka_unit_test(a_watermark_reclaims_around_guards),
        cmocka_unit_test(an_outdated_page_waits_for_its_guard),
        cmocka_unit_test(a_layout_is_not_replaced_under_a_guard),
        cmocka_unit_test(a_guard_needs_a_live_allocation),
        cmocka_unit_test(a_guard_may_outlive_its_manager),
        cmocka_unit_test(random_guards_never_see_their_page_change),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
