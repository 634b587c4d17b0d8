// One suite over every pool kind: what sections 1, 4, 6 and 15 promise whatever the policy.
#include "support.h"

typedef enum kind {
    SLICED,
    SLICED_EXACT,
    EXCLUSIVE,
    DIRECT,
    PERSISTENT,
    DEDICATED,
    SUB_SLICES,
    EXCLUSIVE_PAGES,
    KINDS
} kind;

static rig kind_rig(kind k, uint64_t page) {
    acre_pool_options pools[KINDS] = {
        [SLICED] = sliced_pool(page, ACRE_UNSET, ACRE_UNSET),
        [SLICED_EXACT] = exact_pool(page),
        [EXCLUSIVE] = exclusive_pool(ACRE_UNSET),
        [DIRECT] = direct_pool(ACRE_UNSET),
        [PERSISTENT] = exclusive_pool(ACRE_UNSET),
        [DEDICATED] = exclusive_pool(ACRE_UNSET),
    };
    if (k == SUB_SLICES) {
        return rig_preset(128 * MIB, 32, ACRE_LAYOUT_SUB_SLICES);
    }
    if (k == EXCLUSIVE_PAGES) {
        return rig_preset(128 * MIB, 32, ACRE_LAYOUT_EXCLUSIVE_PAGES);
    }
    rig r = rig_pools(&pools[k], 1);
    if (k == PERSISTENT || k == DEDICATED) {
        set_mode(r.manager, k == PERSISTENT ? ACRE_MODE_PERSISTENT : ACRE_MODE_DEDICATED);
    }
    return r;
}

// How a slice just freed is asked for again: the dedicated pool would give it back otherwise.
static acre_page_update again_with(kind k) {
    return k == DEDICATED ? ACRE_PAGES_FORBIDDEN : ACRE_PAGES_ALLOW;
}

static void let_go(rig *r, acre_handle *handle, bool on_its_thread) {
    if (on_its_thread) {
        acre_manager_release(r->manager, handle);
    } else {
        acre_handle_release(handle);
    }
}

// Releases h[i], asks for `size` again and expects its place.
static void assert_comes_back(rig *r, kind k, acre_handle **h, uint64_t size, bool on_its_thread) {
    acre_place place = place_of(r->manager, *h);
    let_go(r, *h, on_its_thread);
    *h = take_with(r->manager, size, 0, again_with(k));
    assert_true(same_place(place_of(r->manager, *h), place));
    check(r->manager);
}

//   | 0 | 1 | 2 | ...   all live, of several sizes; each goes and comes back
static void a_freed_slice_asked_for_again_at_once_comes_back_at_its_place(void **state) {
    (void)state;
    const uint64_t sizes[] = {1000, 32, 1000, 5000, 1, 320, 1000, 12000, 64, 1000, 777};
    for (kind k = 0; k < KINDS; k++) {
        for (int own = 0; own < 2; own++) {
            rig r = kind_rig(k, 16 * KIB);
            acre_handle *h[COUNT_OF(sizes)];
            for (size_t i = 0; i < COUNT_OF(sizes); i++) {
                h[i] = take(r.manager, sizes[i]);
            }
            for (size_t i = 0; i < COUNT_OF(sizes); i++) {
                assert_comes_back(&r, k, &h[i], sizes[i], own == 1);
            }
            drop_all(r.manager, h, COUNT_OF(sizes));
            rig_close(&r);
        }
    }
}

//   | live | free | live | this | live | free | live |   equal sizes, others are free as well
static void it_comes_back_although_others_of_its_size_are_free(void **state) {
    (void)state;
    for (kind k = 0; k < KINDS; k++) {
        for (size_t freed = 0; freed < 4; freed++) {
            rig r = kind_rig(k, 64 * KIB);
            acre_handle *h[12];
            for (size_t i = 0; i < 12; i++) {
                h[i] = take(r.manager, 1024);
            }
            static const size_t others[] = {1, 9, 5};
            for (size_t i = 0; i < freed && i < 3; i++) {
                acre_manager_release(r.manager, h[others[i]]);
                h[others[i]] = NULL;
            }
            for (size_t i = 3; i < 12; i += 4) {
                assert_comes_back(&r, k, &h[i], 1024, true);
                assert_comes_back(&r, k, &h[i], 1000, false); // the same padded size
            }
            drop_all(r.manager, h, 12);
            rig_close(&r);
        }
    }
}

//   | live | free | this | free | live |   it merged with its neighbours, and is cut out again
static void it_comes_back_from_between_free_neighbours(void **state) {
    (void)state;
    for (kind k = 0; k < KINDS; k++) {
        for (int sides = 1; sides < 4; sides++) {
            rig r = kind_rig(k, 64 * KIB);
            acre_handle *h[12];
            for (size_t i = 0; i < 12; i++) {
                h[i] = take(r.manager, 1024);
            }
            if (sides & 1) {
                acre_manager_release(r.manager, h[4]);
                h[4] = NULL;
            }
            if (sides & 2) {
                acre_manager_release(r.manager, h[6]);
                h[6] = NULL;
            }
            assert_comes_back(&r, k, &h[5], 1024, true);
            drop_all(r.manager, h, 12);
            rig_close(&r);
        }
    }
}

static void zero_sized_requests_cost_nothing_and_are_distinct(void **state) {
    (void)state;
    const acre_page_update updates[] = {ACRE_PAGES_ALLOW, ACRE_PAGES_ADD_ONLY,
                                        ACRE_PAGES_FORBIDDEN};
    for (kind k = 0; k < KINDS; k++) {
        rig r = kind_rig(k, 64 * KIB);
        acre_handle *h[300];
        for (size_t i = 0; i < 300; i++) {
            h[i] = take_with(r.manager, 0, 0, updates[i % 3]);
            for (size_t j = 0; j < i; j++) {
                assert_ptr_not_equal(h[i], h[j]);
            }
        }
        assert_int_equal(device_calls(r.storage), 0);
        assert_int_equal(usage_of(r.manager).allocations, 300);
        assert_int_equal(usage_of(r.manager).in_use, 0);
        assert_int_equal(usage_of(r.manager).reserved, 0);
        drop_all(r.manager, h, 300);
        assert_int_equal(usage_of(r.manager).allocations, 0);
        rig_close(&r);
    }
}

static void forbidden_without_room_changes_nothing(void **state) {
    (void)state;
    for (kind k = 0; k < KINDS; k++) {
        rig r = kind_rig(k, 64 * KIB);
        acre_handle *h[2] = {take(r.manager, 1000), take(r.manager, 3000)};
        acre_manager_release(r.manager, h[1]);
        snapshot before = snapshot_of(r.manager);
        const uint64_t sizes[] = {20 * MIB, 127 * MIB, 128 * MIB, 129 * MIB, UINT64_MAX};
        for (size_t i = 0; i < COUNT_OF(sizes); i++) {
            acre_error error = refuse_with(r.manager, sizes[i], 0, ACRE_PAGES_FORBIDDEN,
                                           ACRE_PAGE_UPDATE_FORBIDDEN);
            assert_int_equal(error.size, sizes[i]);
        }
        snapshot after = snapshot_of(r.manager);
        assert_unchanged(&before, &after);
        acre_manager_release(r.manager, h[0]);
        rig_close(&r);
    }
}

static void add_only_keeps_every_page(void **state) {
    (void)state;
    for (kind k = 0; k < KINDS; k++) {
        rig r = kind_rig(k, 4 * KIB);
        uint64_t pages = 0;
        for (uint64_t i = 0; i < 200; i++) {
            acre_handle *a = take_with(r.manager, 1 + (i * 619) % 4096, 0, ACRE_PAGES_ADD_ONLY);
            acre_manager_release(r.manager, a);
            assert_true(report_of(r.manager).pages >= pages);
            pages = report_of(r.manager).pages;
        }
        assert_int_equal(stats_of(r.storage).deallocs, 0);
        rig_close(&r);
    }
}

static void a_refusal_of_the_device_leaves_the_manager_as_it_was(void **state) {
    (void)state;
    for (kind k = 0; k < KINDS; k++) {
        rig r = kind_rig(k, 4 * KIB);
        acre_handle *h[3] = {take(r.manager, 3000), take(r.manager, 2000), take(r.manager, 1000)};
        acre_place place = place_of(r.manager, h[1]);
        snapshot before = snapshot_of(r.manager);
        assert_ok(acre_storage_simulated_fail(r.storage, ACRE_SIMULATED_ALLOC, 1, true, NULL));
        bool new_page_needed = k != SUB_SLICES; // its page of 8 MiB has room
        if (new_page_needed) {
            for (int i = 0; i < 5; i++) {
                acre_error error = refuse(r.manager, 4000, ACRE_OUT_OF_MEMORY);
                assert_int_equal(error.size, 4000);
                assert_int_equal(error.in_use, 6000);
            }
        }
        snapshot after = snapshot_of(r.manager);
        assert_same_state(&before, &after);
        assert_true(same_place(place_of(r.manager, h[1]), place));
        assert_ok(acre_storage_simulated_fail(r.storage, ACRE_SIMULATED_ALLOC, 0, false, NULL));
        acre_handle *next = take(r.manager, 4000);
        acre_manager_release(r.manager, next);
        drop_all(r.manager, h, 3);
        rig_close(&r);
    }
}

static int by_page(const void *a, const void *b) {
    uint32_t x = *(const uint32_t *)a;
    uint32_t y = *(const uint32_t *)b;
    return x < y ? -1 : x > y;
}

// Pages of 64 bytes, one for each allocation, more than 16 bits can number.
static void no_index_wraps_at_70000_pages(void **state) {
    (void)state;
    enum {
        PAGES = 70000
    };
    static acre_handle *h[PAGES];
    static uint32_t pages[PAGES];
    for (kind k = 0; k < KINDS; k++) {
        if (k == SUB_SLICES) {
            continue; // many allocations share its pages
        }
        rig r = kind_rig(k, 64);
        for (size_t i = 0; i < PAGES; i++) {
            h[i] = take(r.manager, 33 + i % 32); // padded to 64
            pages[i] = place_of(r.manager, h[i]).page;
        }
        assert_int_equal(report_of(r.manager).pages, PAGES);
        assert_int_equal(usage_of(r.manager).allocations, PAGES);
        assert_int_equal(usage_of(r.manager).reserved, UINT64_C(64) * PAGES);
        for (size_t i = 0; i < PAGES; i += 997) { // the first are still where they were
            assert_int_equal(place_of(r.manager, h[i]).page, pages[i]);
            assert_int_equal(place_of(r.manager, h[i]).size, 33 + i % 32);
        }
        qsort(pages, PAGES, sizeof(pages[0]), by_page);
        for (size_t i = 1; i < PAGES; i++) {
            assert_true(pages[i] != pages[i - 1]);
        }
        check(r.manager);
        drop_all(r.manager, h, PAGES);
        assert_int_equal(usage_of(r.manager).allocations, 0);
        acre_manager_cleanup(r.manager, ACRE_CLEANUP_EXPLICIT);
        assert_int_equal(report_of(r.manager).pages, 0);
        assert_int_equal(stats_of(r.storage).bytes_allocated, 0);
        rig_close(&r);
    }
}

static void everything_goes_back_when_nothing_is_held(void **state) {
    (void)state;
    for (kind k = 0; k < KINDS; k++) {
        rig r = kind_rig(k, 16 * KIB);
        acre_handle *h[100];
        for (int round = 0; round < 5; round++) {
            for (uint64_t i = 0; i < 100; i++) {
                h[i] = take(r.manager, (i * 7919 + (uint64_t)round) % (16 * KIB));
            }
            check(r.manager);
            for (size_t i = 0; i < 100; i++) {
                acre_manager_release(r.manager, h[(i * 37) % 100]);
            }
            check(r.manager);
        }
        assert_int_equal(usage_of(r.manager).allocations, 0);
        assert_int_equal(usage_of(r.manager).in_use, 0);
        assert_int_equal(usage_of(r.manager).padding, 0);
        acre_manager_cleanup(r.manager, ACRE_CLEANUP_EXPLICIT);
        assert_int_equal(usage_of(r.manager).reserved, 0);
        assert_int_equal(report_of(r.manager).pages, 0);
        rig_close(&r);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_freed_slice_asked_for_again_at_once_comes_back_at_its_place),
        cmocka_unit_test(it_comes_back_although_others_of_its_size_are_free),
        cmocka_unit_test(it_comes_back_from_between_free_neighbours),
        cmocka_unit_test(zero_sized_requests_cost_nothing_and_are_distinct),
        cmocka_unit_test(forbidden_without_room_changes_nothing),
        cmocka_unit_test(add_only_keeps_every_page),
        cmocka_unit_test(a_refusal_of_the_device_leaves_the_manager_as_it_was),
        cmocka_unit_test(no_index_wraps_at_70000_pages),
        cmocka_unit_test(everything_goes_back_when_nothing_is_held),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
