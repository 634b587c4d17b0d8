// Section 1, alignment: any integer rules all rounding; a request's own constrains only its offset.
#include "support.h"

static rig aligned_rig(uint64_t alignment, uint64_t page) {
    acre_pool_options pool = sliced_pool(page, ACRE_UNSET, ACRE_UNSET);
    return rig_sized(128 * MIB, alignment, &pool, 1);
}

static void any_alignment_rules_the_rounding_of_every_pool(void **state) {
    (void)state;
    const uint64_t alignments[] = {1, 2, 3, 7, 10, 32, 50, 100, 4096};
    for (size_t k = 0; k < COUNT_OF(alignments); k++) {
        uint64_t alignment = alignments[k];
        acre_pool_options pools[] = {exclusive_pool(0), sliced_pool(5000, 900, ACRE_UNSET),
                                     exclusive_pool(2000), direct_pool(ACRE_UNSET)};
        rig r = rig_sized(128 * MIB, alignment, pools, 4);
        acre_handle *h[90];
        uint64_t in_use = 0;
        uint64_t padding = 0;
        for (uint64_t i = 0; i < 90; i++) {
            set_mode(r.manager, i % 3 == 1 ? ACRE_MODE_PERSISTENT : ACRE_MODE_DEDICATED);
            if (i % 3 == 0) {
                set_mode(r.manager, ACRE_MODE_AUTO);
            }
            uint64_t size = i * 83;
            h[i] = take(r.manager, size);
            set_mode(r.manager, ACRE_MODE_AUTO);
            acre_place place = place_of(r.manager, h[i]);
            assert_int_equal(place.offset % alignment, 0);
            assert_int_equal(place.size, size);
            assert_int_equal(place.padding, round_up(size, alignment) - size);
            in_use += size;
            padding += place.padding;
        }
        assert_int_equal(usage_of(r.manager).in_use, in_use);
        assert_int_equal(usage_of(r.manager).padding, padding);
        assert_int_equal(usage_of(r.manager).reserved % alignment, 0);
        check(r.manager);
        drop_all(r.manager, h, 90);
        rig_close(&r);
    }
}

static void the_storages_slice_alignment_is_the_default(void **state) {
    (void)state;
    acre_simulated_storage_params params = ACRE_SIMULATED_STORAGE_PARAMS_INIT;
    params.slice_alignment = 50;
    acre_storage *storage = NULL;
    assert_ok(acre_storage_simulated_create(&params, NULL, &storage, NULL));
    acre_manager_options options = plain_options(1000, 0);
    rig r = rig_on(storage, &options);
    assert_int_equal(report_of(r.manager).alignment, 50);
    rig_close(&r);
}

//   alignment 32, request 256   | a 32 | skipped: free 224 | b 100 -> 128 | free ...
static void room_skipped_for_an_alignment_stays_free(void **state) {
    (void)state;
    rig r = aligned_rig(32, 4096);
    acre_handle *a = take(r.manager, 32);
    acre_handle *b = take_with(r.manager, 100, 256, ACRE_PAGES_ALLOW);
    acre_place place = place_of(r.manager, b);
    assert_int_equal(place.offset % 256, 0);
    assert_int_equal(place.padding, 28);
    assert_int_equal(usage_of(r.manager).padding, 28); // what was skipped is no padding
    check(r.manager);
    acre_handle *fill = take(r.manager, 224); // and serves the next that fits it exactly
    assert_int_equal(usage_of(r.manager).reserved, 4096);
    assert_true(place_of(r.manager, fill).offset < place.offset);
    acre_handle *all[] = {a, b, fill};
    drop_all(r.manager, all, 3);
    assert_int_equal(pool_of(r.manager, 0).free_slices, 1);
    rig_close(&r);
}

// The offset is a multiple of both: of 50 and 32 that is 800.
static void an_offset_is_a_multiple_of_both_alignments(void **state) {
    (void)state;
    const uint64_t managers[] = {1, 10, 32, 50, 48};
    const uint64_t requests[] = {1, 2, 3, 10, 32, 48, 50, 75, 256, 1000, 4096};
    for (size_t m = 0; m < COUNT_OF(managers); m++) {
        rig r = aligned_rig(managers[m], MIB);
        acre_handle *h[COUNT_OF(requests) * 5];
        for (size_t i = 0; i < COUNT_OF(h); i++) {
            uint64_t own = requests[i % COUNT_OF(requests)];
            uint64_t size = 1 + (i * 131) % 700;
            h[i] = take_with(r.manager, size, own, ACRE_PAGES_ALLOW);
            acre_place place = place_of(r.manager, h[i]);
            assert_int_equal(place.offset % own, 0);
            assert_int_equal(place.offset % managers[m], 0);
            assert_int_equal(place.padding, round_up(size, managers[m]) - size);
            check(r.manager);
        }
        for (size_t i = 0; i < COUNT_OF(h); i += 2) { // again, in rooms of every shape
            acre_manager_release(r.manager, h[i]);
            uint64_t own = requests[(i * 7) % COUNT_OF(requests)];
            h[i] = take_with(r.manager, 1 + (i * 77) % 900, own, ACRE_PAGES_ALLOW);
            assert_int_equal(place_of(r.manager, h[i]).offset % own, 0);
            assert_int_equal(place_of(r.manager, h[i]).offset % managers[m], 0);
            check(r.manager);
        }
        drop_all(r.manager, h, COUNT_OF(h));
        assert_int_equal(pool_of(r.manager, 0).free_slices, pool_of(r.manager, 0).pages);
        rig_close(&r);
    }
}

//   alignment 10   | a 10 | free 990 of 1000 |   a request of 600 at 500 needs [500, 1100)
static void room_that_an_alignment_makes_too_short_is_not_used(void **state) {
    (void)state;
    rig r = aligned_rig(10, 1000);
    acre_handle *a = take(r.manager, 10);
    assert_int_equal(place_of(r.manager, a).offset, 0);
    acre_handle *b = take_with(r.manager, 600, 500, ACRE_PAGES_ALLOW);
    assert_int_equal(pool_of(r.manager, 0).pages, 2);
    assert_int_equal(place_of(r.manager, b).offset, 0);
    acre_handle *c = take_with(r.manager, 500, 500, ACRE_PAGES_FORBIDDEN); // fits to the byte
    assert_int_equal(place_of(r.manager, c).page, place_of(r.manager, a).page);
    assert_int_equal(place_of(r.manager, c).offset, 500);
    (void)refuse_with(r.manager, 500, 500, ACRE_PAGES_FORBIDDEN, ACRE_PAGE_UPDATE_FORBIDDEN);
    acre_handle *all[] = {a, b, c};
    drop_all(r.manager, all, 3);
    rig_close(&r);
}

// Every free piece is searched: the only one with a multiple of 4096 inside is found.
static void a_free_piece_that_holds_an_aligned_place_is_found(void **state) {
    (void)state;
    rig r = aligned_rig(32, 64 * KIB);
    acre_handle *h[1024];
    for (size_t i = 0; i < 1024; i++) {
        h[i] = take(r.manager, 64);
    }
    assert_int_equal(pool_of(r.manager, 0).pages, 1);
    for (int others = 0; others < 2; others++) { // that one goes first, so that it is none of the
        for (size_t i = 0; i < 1024; i++) {      // last freed
            uint64_t offset = place_of(r.manager, h[i]).offset;
            bool only = offset == 8 * 4096;
            if (others == 0 ? only : offset % 192 == 128 && offset % 4096 != 0) {
                acre_manager_release(r.manager, h[i]);
                h[i] = take(r.manager, 0);
            }
        }
    }
    assert_true(pool_of(r.manager, 0).free_slices > 300);
    acre_handle *found = take_with(r.manager, 64, 4096, ACRE_PAGES_FORBIDDEN);
    assert_int_equal(place_of(r.manager, found).offset, 8 * 4096);
    (void)refuse_with(r.manager, 64, 4096, ACRE_PAGES_FORBIDDEN, ACRE_PAGE_UPDATE_FORBIDDEN);
    acre_manager_release(r.manager, found);
    drop_all(r.manager, h, 1024);
    rig_close(&r);
}

static void more_than_the_storages_page_alignment_is_unsupported(void **state) {
    (void)state;
    acre_simulated_storage_params params = ACRE_SIMULATED_STORAGE_PARAMS_INIT;
    params.alignment = 4096;
    acre_storage *storage = NULL;
    assert_ok(acre_storage_simulated_create(&params, NULL, &storage, NULL));
    acre_pool_options pool = sliced_pool(64 * KIB, ACRE_UNSET, ACRE_UNSET);
    rig r = rig_pools_on(storage, 128 * MIB, 32, &pool, 1);
    const acre_mode modes[] = {ACRE_MODE_AUTO, ACRE_MODE_PERSISTENT, ACRE_MODE_DEDICATED};
    for (size_t i = 0; i < 3; i++) {
        set_mode(r.manager, modes[i]);
        acre_handle *most = take_with(r.manager, 100, 4096, ACRE_PAGES_ALLOW);
        assert_int_equal(place_of(r.manager, most).offset % 4096, 0);
        (void)refuse_with(r.manager, 100, 4097, ACRE_PAGES_ALLOW, ACRE_UNSUPPORTED);
        (void)refuse_with(r.manager, 100, UINT64_MAX, ACRE_PAGES_ALLOW, ACRE_UNSUPPORTED);
        acre_manager_release(r.manager, most);
    }
    rig_close(&r);
}

static void pages_of_their_own_start_aligned_for_every_request(void **state) {
    (void)state;
    acre_pool_options pools[] = {exclusive_pool(1000), direct_pool(ACRE_UNSET)};
    rig r = rig_sized(128 * MIB, 50, pools, 2);
    acre_handle *h[2] = {take_with(r.manager, 100, 4096, ACRE_PAGES_ALLOW),
                         take_with(r.manager, 2000, 4096, ACRE_PAGES_ALLOW)};
    assert_int_equal(place_of(r.manager, h[0]).offset, 0);
    assert_int_equal(place_of(r.manager, h[1]).offset, 0);
    assert_int_equal(usage_of(r.manager).reserved, 2100); // sizes follow the manager's alignment
    drop_all(r.manager, h, 2);
    rig_close(&r);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(any_alignment_rules_the_rounding_of_every_pool),
        cmocka_unit_test(the_storages_slice_alignment_is_the_default),
        cmocka_unit_test(room_skipped_for_an_alignment_stays_free),
        cmocka_unit_test(an_offset_is_a_multiple_of_both_alignments),
        cmocka_unit_test(room_that_an_alignment_makes_too_short_is_not_used),
        cmocka_unit_test(a_free_piece_that_holds_an_aligned_place_is_found),
        cmocka_unit_test(more_than_the_storages_page_alignment_is_unsupported),
        cmocka_unit_test(pages_of_their_own_start_aligned_for_every_request),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
