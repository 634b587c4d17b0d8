// Section 8: the adaptive arena, and section 5's preset around it.
#include "support.h"

// The pools of the preset: exclusive{0}, metadata, arena; outdated ones follow.
enum {
    METADATA = 1,
    ARENA = 2,
    OUTDATED = 3
};

static rig adaptive(uint64_t largest_page, uint64_t alignment) {
    return rig_preset(largest_page, alignment, ACRE_LAYOUT_ADAPTIVE);
}

static acre_handle *add(acre_manager *manager, uint64_t size) {
    acre_reservation wanted = ACRE_RESERVATION_INIT(size);
    wanted.page_update = ACRE_PAGES_ADD_ONLY;
    acre_handle *handle = NULL;
    assert_ok(acre_manager_reserve_with(manager, &wanted, &handle, NULL));
    return handle;
}

static void assert_usage(acre_manager *manager, uint64_t allocations, uint64_t reserved) {
    assert_int_equal(usage_of(manager).allocations, allocations);
    assert_int_equal(usage_of(manager).reserved, reserved);
}

// ---- what each size gets -------------------------------------------------------------------

static void a_hundred_bytes_come_from_a_metadata_page(void **state) {
    (void)state;
    rig r = adaptive(128 * MIB, 32);
    acre_handle *a = take(r.manager, 100);
    acre_usage before = usage_of(r.manager);
    assert_int_equal(before.in_use, 100);
    assert_int_equal(before.reserved, 8 * MIB);
    acre_manager_release(r.manager, a);
    a = take(r.manager, 100);
    acre_usage after = usage_of(r.manager);
    assert_memory_equal(&before, &after, sizeof before);
    acre_manager_release(r.manager, a);
    rig_close(&r);
}

static void two_small_requests_share_the_metadata_page(void **state) {
    (void)state;
    rig r = adaptive(128 * MIB, 32);
    acre_handle *a = take(r.manager, 512);
    acre_handle *b = take(r.manager, 512);
    assert_int_equal(usage_of(r.manager).in_use, 1024);
    assert_usage(r.manager, 2, 8 * MIB);
    acre_manager_release(r.manager, a);
    acre_manager_release(r.manager, b);
    rig_close(&r);
}

static void a_freed_piece_of_the_metadata_page_serves_again(void **state) {
    (void)state;
    rig r = adaptive(128 * MIB, 32);
    acre_manager_release(r.manager, take(r.manager, 512));
    acre_handle *again = take(r.manager, 512);
    assert_int_equal(usage_of(r.manager).in_use, 512);
    assert_usage(r.manager, 1, 8 * MIB);
    acre_manager_release(r.manager, again);
    rig_close(&r);
}

static void metadata_and_the_workload_do_not_share_a_pool(void **state) {
    (void)state;
    rig r = adaptive(128 * MIB, 32);
    acre_handle *small = take(r.manager, 4096);
    acre_handle *large = take(r.manager, 4 * MIB);
    assert_int_equal(place_of(r.manager, small).pool_index, METADATA);
    assert_int_equal(place_of(r.manager, large).pool_index, ARENA);
    assert_int_equal(usage_of(r.manager).in_use, 4096 + 4 * MIB);
    assert_usage(r.manager, 2, (8 + 5) * MIB);
    acre_manager_release(r.manager, small);
    acre_manager_release(r.manager, large);
    rig_close(&r);
}

static void sizes_share_the_arenas_pages(void **state) {
    (void)state;
    rig r = adaptive(128 * MIB, 32);
    acre_manager_release(r.manager, take(r.manager, 128 * KIB));
    acre_handle *large = take(r.manager, 512 * KIB);
    assert_usage(r.manager, 1, 2 * MIB);
    acre_manager_release(r.manager, large);
    rig_close(&r);
}

// |   1.5 MiB   | .5 | and another such page: the second does not fit beside the first
static void what_does_not_fit_beside_gets_another_page(void **state) {
    (void)state;
    rig r = adaptive(128 * MIB, 32);
    acre_handle *a = take(r.manager, 3 * MIB / 2);
    acre_handle *b = take(r.manager, 3 * MIB / 2);
    assert_int_equal(usage_of(r.manager).in_use, 3 * MIB);
    assert_usage(r.manager, 2, 4 * MIB);
    acre_manager_release(r.manager, a);
    acre_manager_release(r.manager, b);
    rig_close(&r);
}

static void a_size_near_the_metadata_page_goes_to_the_arena(void **state) {
    (void)state;
    rig r = adaptive(128 * MIB, 32);
    acre_handle *near = take(r.manager, 7 * MIB);
    assert_int_equal(pool_of(r.manager, ARENA).largest_alloc, 7 * MIB);
    assert_int_equal(pool_of(r.manager, ARENA).kind, ACRE_POOL_ADAPTIVE);
    acre_manager_release(r.manager, near);
    rig_close(&r);
}

static void padding_follows_any_alignment(void **state) {
    (void)state;
    rig r = adaptive(128 * MIB, 50);
    acre_handle *a = take(r.manager, 40);
    acre_handle *b = take(r.manager, 40);
    assert_int_equal(usage_of(r.manager).padding, 20);
    acre_manager_release(r.manager, a);
    acre_manager_release(r.manager, b);
    rig_close(&r);
}

static void five_sizes_repeated_reserve_no_more(void **state) {
    (void)state;
    rig r = adaptive(128 * MIB, 32);
    acre_usage usage[2];
    for (int round = 0; round < 2; round++) {
        acre_handle *h[5];
        for (uint64_t i = 0; i < 5; i++) {
            h[i] = take(r.manager, 1000 * (i + 1));
        }
        usage[round] = usage_of(r.manager);
        drop_all(r.manager, h, 5);
    }
    assert_int_equal(usage[0].allocations, usage[1].allocations);
    assert_int_equal(usage[0].in_use, usage[1].in_use);
    assert_true(usage[1].reserved <= usage[0].reserved);
    rig_close(&r);
}

// ---- growth --------------------------------------------------------------------------------

static void a_request_that_fits_the_pages_grows_nothing(void **state) {
    (void)state;
    rig r = adaptive(16 * MIB, 32);
    acre_handle *h[2] = {take(r.manager, MIB), take(r.manager, 2 * MIB)};
    assert_int_equal(pool_of(r.manager, ARENA).page_size, 2 * MIB);
    assert_int_equal(pool_of(r.manager, ARENA).pages, 2);
    assert_int_equal(pool_of(r.manager, ARENA).outdated_pages, 0);
    assert_int_equal(report_of(r.manager).pool_count, 3);
    drop_all(r.manager, h, 2);
    rig_close(&r);
}

// A MiB of slack, whole MiB, then the alignment, between the smallest and the largest page.
static void a_growth_sizes_pages_to_the_request_with_slack(void **state) {
    (void)state;
    const struct {
        uint64_t largest, alignment, size, page;
    } cases[] = {{128 * MIB, 32, 2 * MIB, 2 * MIB},
                 {128 * MIB, 32, 2 * MIB + 1, 4 * MIB},
                 {128 * MIB, 32, 10 * MIB, 11 * MIB},
                 {16 * MIB, 32, 10 * MIB, 11 * MIB},
                 {16 * MIB, 32, 16 * MIB, 16 * MIB},
                 {128 * MIB, 50, 9 * MIB, 10485800}, // of the size, not of what it is padded to
                 {64 * KIB + 4096, 32, 64 * KIB + 1, 64 * KIB + 4096}};
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        rig r = adaptive(cases[i].largest, cases[i].alignment);
        acre_handle *a = take(r.manager, cases[i].size);
        assert_int_equal(pool_of(r.manager, ARENA).page_size, cases[i].page);
        assert_int_equal(usage_of(r.manager).reserved, cases[i].page);
        acre_manager_release(r.manager, a);
        rig_close(&r);
    }
}

static void what_no_page_of_the_device_holds_is_too_big(void **state) {
    (void)state;
    rig r = adaptive(16 * MIB, 32);
    acre_error error = refuse(r.manager, 16 * MIB + 1, ACRE_BUFFER_TOO_BIG);
    assert_int_equal(error.size, 16 * MIB + 1);
    acre_manager_release(r.manager, take(r.manager, 16 * MIB));
    rig_close(&r);
}

static void a_refused_growth_leaves_the_page_size_where_it_was(void **state) {
    (void)state;
    acre_layout layout = ACRE_LAYOUT_INIT(ACRE_LAYOUT_ADAPTIVE);
    acre_manager_options options = plain_options(16 * MIB, 32);
    options.layout = &layout;
    rig r = rig_on(limited_device(0, 8 * MIB), &options);
    acre_handle *small = take(r.manager, MIB);
    (void)refuse(r.manager, 10 * MIB, ACRE_OUT_OF_MEMORY);
    assert_int_equal(pool_of(r.manager, ARENA).page_size, 2 * MIB);
    assert_int_equal(pool_of(r.manager, ARENA).outdated_pages, 0);
    assert_int_equal(report_of(r.manager).pool_count, 3);
    acre_handle *served = take(r.manager, MIB);
    assert_int_equal(pool_of(r.manager, ARENA).pages, 1);
    acre_manager_release(r.manager, small);
    acre_manager_release(r.manager, served);
    rig_close(&r);
}

// ---- outdated pages ------------------------------------------------------------------------

// 2 MiB page with 1 MiB live | grown to 5 MiB pages: the first serves nothing new.
static void outdated_pages_serve_nothing_new(void **state) {
    (void)state;
    rig r = adaptive(128 * MIB, 32);
    acre_handle *old = take(r.manager, MIB);
    acre_handle *grown = take(r.manager, 4 * MIB);
    acre_handle *next = take(r.manager, MIB); // would fit beside `old`
    assert_int_equal(report_of(r.manager).pool_count, 4);
    assert_int_equal(place_of(r.manager, old).pool_index, OUTDATED);
    assert_int_equal(place_of(r.manager, next).pool_index, ARENA);
    assert_int_equal(pool_of(r.manager, ARENA).outdated_pages, 1);
    assert_int_equal(pool_of(r.manager, OUTDATED).kind, ACRE_POOL_SLICED);
    assert_int_equal(pool_of(r.manager, OUTDATED).page_size, 2 * MIB);
    assert_int_equal(usage_of(r.manager).reserved, 7 * MIB);
    drop_all(r.manager, (acre_handle *[]){old, grown, next}, 3);
    rig_close(&r);
}

static void an_outdated_page_goes_back_once_it_is_empty(void **state) {
    (void)state;
    rig r = adaptive(128 * MIB, 32);
    acre_handle *old = take(r.manager, MIB);
    acre_handle *grown = take(r.manager, 4 * MIB);
    acre_manager_release(r.manager, old);
    acre_handle *next = add(r.manager, MIB); // add-only returns no page
    assert_int_equal(usage_of(r.manager).reserved, 7 * MIB);
    acre_manager_cleanup(r.manager, ACRE_CLEANUP_PERIODIC);
    assert_int_equal(usage_of(r.manager).reserved, 5 * MIB);
    assert_int_equal(report_of(r.manager).pool_count, 3);
    // The current pool's empty pages wait for an explicit cleanup.
    acre_manager_release(r.manager, next);
    acre_manager_release(r.manager, grown);
    acre_manager_cleanup(r.manager, ACRE_CLEANUP_PERIODIC);
    assert_int_equal(usage_of(r.manager).reserved, 5 * MIB);
    acre_manager_cleanup(r.manager, ACRE_CLEANUP_EXPLICIT);
    assert_int_equal(usage_of(r.manager).reserved, 0);
    rig_close(&r);
}

// Each size outgrows the page the last one grew to, and each pool left behind keeps one live; the
// first never had a page. Add-only reservations do not drain it, so all 64 slots are taken.
static void a_full_arena_refuses_to_grow_until_a_pool_drains(void **state) {
    (void)state;
    rig r = adaptive(1024 * MIB, 32);
    acre_handle *live[63];
    for (uint64_t k = 0; k < 63; k++) {
        live[k] = add(r.manager, (3 + 2 * k) * MIB);
        assert_int_equal(pool_of(r.manager, ARENA).page_size, (4 + 2 * k) * MIB);
    }
    assert_int_equal(report_of(r.manager).pool_count, 3 + 63);
    snapshot before = {.report = report_of(r.manager)};
    acre_error error =
        refuse_with(r.manager, 200 * MIB, 0, ACRE_PAGES_ADD_ONLY, ACRE_PAGE_SIZES_EXHAUSTED);
    assert_int_equal(error.size, 200 * MIB);
    assert_int_equal(report_of(r.manager).usage.reserved, before.report.usage.reserved);
    acre_handle *fits = add(r.manager, 64 * MIB); // the manager goes on
    acre_manager_release(r.manager, fits);
    acre_manager_release(r.manager, live[0]);
    live[0] = take(r.manager, 200 * MIB); // may clean up: slots are free again
    assert_int_equal(pool_of(r.manager, ARENA).page_size, 201 * MIB);
    drop_all(r.manager, live, 63);
    acre_manager_cleanup(r.manager, ACRE_CLEANUP_PERIODIC);
    assert_int_equal(report_of(r.manager).pool_count, 3);
    rig_close(&r);
}

// ---- installing ----------------------------------------------------------------------------

static void an_arena_is_replaced_only_when_its_outdated_pages_are_empty_too(void **state) {
    (void)state;
    rig r = adaptive(128 * MIB, 32);
    acre_layout next = ACRE_LAYOUT_INIT(ACRE_LAYOUT_SUB_SLICES);
    acre_handle *old = take(r.manager, MIB);
    acre_handle *grown = take(r.manager, 4 * MIB);
    acre_manager_release(r.manager, grown);
    acre_error error = ACRE_ERROR_INIT;
    assert_status(ACRE_POOLS_IN_USE, acre_manager_install_layout(r.manager, &next, &error));
    assert_int_equal(error.in_use, MIB);
    acre_manager_release(r.manager, old);
    assert_ok(acre_manager_install_layout(r.manager, &next, NULL));
    assert_int_equal(usage_of(r.manager).reserved, 0);
    assert_int_equal(report_of(r.manager).pool_count, 4);
    next.kind = ACRE_LAYOUT_ADAPTIVE;
    assert_ok(acre_manager_install_layout(r.manager, &next, NULL));
    assert_int_equal(report_of(r.manager).pool_count, 3);
    rig_close(&r);
}

static void a_list_has_at_most_one_arena(void **state) {
    (void)state;
    acre_pool_options pools[] = {ACRE_ADAPTIVE_POOL(2 * MIB), ACRE_ADAPTIVE_POOL(4 * MIB)};
    rig r = rig_pools(pools, 1);
    acre_layout layout = ACRE_LAYOUT_INIT(ACRE_LAYOUT_EXPLICIT);
    layout.pools = pools;
    layout.pool_count = 2;
    assert_status(ACRE_INVALID_ARGUMENT, acre_manager_install_layout(r.manager, &layout, NULL));
    rig_close(&r);
}

static void a_measured_adaptive_layout_caps_its_metadata_pool(void **state) {
    (void)state;
    rig r = adaptive(128 * MIB, 32);
    acre_handle *h[] = {take(r.manager, 4096), take(r.manager, 4 * MIB)};
    acre_pool_options pools[3];
    size_t count = 0;
    assert_ok(
        acre_manager_measured_pools(r.manager, pools, sizeof(acre_pool_options), 3, &count, NULL));
    assert_int_equal(count, 3);
    assert_int_equal(pools[METADATA].max_pool_size, 8 * MIB);
    assert_int_equal(pools[ARENA].kind, ACRE_POOL_ADAPTIVE); // as asked for, not as grown
    assert_int_equal(pools[ARENA].page_size, 2 * MIB);
    assert_int_equal(pools[ARENA].max_pool_size, ACRE_UNSET);
    drop_all(r.manager, h, 2);
    acre_layout layout = ACRE_LAYOUT_INIT(ACRE_LAYOUT_EXPLICIT);
    layout.pools = pools;
    layout.pool_count = count;
    assert_ok(acre_manager_install_layout(r.manager, &layout, NULL));
    h[0] = take(r.manager, 4096);
    h[1] = take(r.manager, 4 * MIB);
    assert_usage(r.manager, 2, 13 * MIB);
    acre_manager_release(r.manager, take(r.manager, 10 * MIB)); // it still accepts what it did
    drop_all(r.manager, h, 2);
    rig_close(&r);
}

// An arena may stand first in a list; what has no page moves on with it when it grows.
static void zero_sized_allocations_follow_an_arena_that_grows(void **state) {
    (void)state;
    acre_pool_options pool = ACRE_ADAPTIVE_POOL(2 * MIB);
    acre_layout next = ACRE_LAYOUT_INIT(ACRE_LAYOUT_SUB_SLICES);
    rig r = rig_pools(&pool, 1);
    acre_handle *nothing = take(r.manager, 0);
    acre_handle *small = take(r.manager, MIB);
    acre_handle *large = take(r.manager, 10 * MIB);
    check(r.manager);
    assert_int_equal(place_of(r.manager, nothing).pool_index, 0);
    acre_manager_release(r.manager, small);
    acre_manager_release(r.manager, large);
    acre_manager_cleanup(r.manager, ACRE_CLEANUP_EXPLICIT);
    assert_int_equal(usage_of(r.manager).allocations, 1);
    assert_status(ACRE_POOLS_IN_USE, acre_manager_install_layout(r.manager, &next, NULL));
    acre_manager_release(r.manager, nothing);
    assert_int_equal(usage_of(r.manager).allocations, 0);
    assert_ok(acre_manager_install_layout(r.manager, &next, NULL));
    rig_close(&r);
}

static void an_arena_refuses_options_it_does_not_have(void **state) {
    (void)state;
    rig r = adaptive(128 * MIB, 32);
    acre_layout layout = ACRE_LAYOUT_INIT(ACRE_LAYOUT_EXPLICIT);
    for (int which = 0; which < 5; which++) {
        acre_pool_options pool = ACRE_ADAPTIVE_POOL(2 * MIB);
        pool.max_pool_size = which == 0 ? 2 * MIB : ACRE_UNSET;
        pool.strict = which == 1;
        pool.dealloc_period = which == 2 ? 10 : ACRE_UNSET;
        pool.reclaim_at = which == 3 ? MIB : ACRE_UNSET;
        pool.max_slice_size = which == 4 ? MIB : ACRE_UNSET;
        layout.pools = &pool;
        layout.pool_count = 1;
        assert_status(ACRE_INVALID_ARGUMENT, acre_manager_install_layout(r.manager, &layout, NULL));
    }
    acre_pool_options plain = ACRE_ADAPTIVE_POOL(ACRE_UNSET);
    layout.pools = &plain;
    assert_ok(acre_manager_install_layout(r.manager, &layout, NULL));
    assert_int_equal(pool_of(r.manager, 0).page_size, 2 * MIB);
    rig_close(&r);
}

// ---- faults reported elsewhere -------------------------------------------------------------

// pytorch#35901: small long-lived blocks carved from a large segment do not make it useless.
static void a_large_request_returns_after_blocks_were_carved_from_its_page(void **state) {
    (void)state;
    rig r = adaptive(80 * GIB, 256);
    const uint64_t large = UINT64_C(11643387904);
    acre_manager_release(r.manager, take(r.manager, large));
    acre_handle *kept[40];
    for (uint64_t i = 0; i < 40; i++) {
        kept[i] = take(r.manager, 16 * MIB + i % 3 * MIB);
    }
    acre_handle *again = take(r.manager, large);
    assert_int_equal(pool_of(r.manager, ARENA).pages, 2);
    acre_manager_release(r.manager, again);
    drop_all(r.manager, kept, 40);
    rig_close(&r);
}

// 8 of 16 MiB on 17 MiB pages, all freed, then 4 of 32 MiB on 33 MiB pages.
static void a_workload_that_doubles_its_buffers_holds_only_the_new_pages(void **state) {
    (void)state;
    rig r = adaptive(GIB, 256);
    acre_handle *h[8];
    for (int i = 0; i < 8; i++) {
        h[i] = take(r.manager, 16 * MIB);
    }
    drop_all(r.manager, h, 8);
    for (int i = 0; i < 4; i++) {
        h[i] = take(r.manager, 32 * MIB);
    }
    acre_manager_cleanup(r.manager, ACRE_CLEANUP_PERIODIC);
    assert_int_equal(usage_of(r.manager).reserved, 132 * MIB);
    drop_all(r.manager, h, 4);
    rig_close(&r);
}

// llama.cpp#22107: scratch that grows a little every step, one step's buffer live at a time.
static void scratch_that_grows_every_step_leaves_no_pages_behind(void **state) {
    (void)state;
    rig r = adaptive(GIB, 256);
    for (uint64_t k = 0; k <= 2000; k++) {
        acre_manager_release(r.manager, take(r.manager, MIB + k * MIB / 64));
    }
    const uint64_t largest = MIB + 2000 * MIB / 64;
    acre_manager_cleanup(r.manager, ACRE_CLEANUP_PERIODIC);
    assert_true(usage_of(r.manager).reserved <= largest + largest / 4);
    assert_true(stats_of(r.storage).bytes_peak <= 66 * MIB);
    rig_close(&r);
}

// cubecl#1614: one large tensor does not strand a page.
static void one_large_tensor_reserves_little_more_than_itself(void **state) {
    (void)state;
    rig r = adaptive(4 * GIB, 256);
    const uint64_t size = UINT64_C(617558016);
    acre_handle *tensor = take(r.manager, size);
    assert_true(usage_of(r.manager).reserved <= size + size / 100);
    acre_manager_release(r.manager, tensor);
    rig_close(&r);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_hundred_bytes_come_from_a_metadata_page),
        cmocka_unit_test(two_small_requests_share_the_metadata_page),
        cmocka_unit_test(a_freed_piece_of_the_metadata_page_serves_again),
        cmocka_unit_test(metadata_and_the_workload_do_not_share_a_pool),
        cmocka_unit_test(sizes_share_the_arenas_pages),
        cmocka_unit_test(what_does_not_fit_beside_gets_another_page),
        cmocka_unit_test(a_size_near_the_metadata_page_goes_to_the_arena),
        cmocka_unit_test(padding_follows_any_alignment),
        cmocka_unit_test(five_sizes_repeated_reserve_no_more),
        cmocka_unit_test(a_request_that_fits_the_pages_grows_nothing),
        cmocka_unit_test(a_growth_sizes_pages_to_the_request_with_slack),
        cmocka_unit_test(what_no_page_of_the_device_holds_is_too_big),
        cmocka_unit_test(a_refused_growth_leaves_the_page_size_where_it_was),
        cmocka_unit_test(outdated_pages_serve_nothing_new),
        cmocka_unit_test(an_outdated_page_goes_back_once_it_is_empty),
        cmocka_unit_test(a_full_arena_refuses_to_grow_until_a_pool_drains),
        cmocka_unit_test(an_arena_is_replaced_only_when_its_outdated_pages_are_empty_too),
        cmocka_unit_test(a_list_has_at_most_one_arena),
        cmocka_unit_test(a_measured_adaptive_layout_caps_its_metadata_pool),
        cmocka_unit_test(zero_sized_allocations_follow_an_arena_that_grows),
        cmocka_unit_test(an_arena_refuses_options_it_does_not_have),
        cmocka_unit_test(a_large_request_returns_after_blocks_were_carved_from_its_page),
        cmocka_unit_test(a_workload_that_doubles_its_buffers_holds_only_the_new_pages),
        cmocka_unit_test(scratch_that_grows_every_step_leaves_no_pages_behind),
        cmocka_unit_test(one_large_tensor_reserves_little_more_than_itself),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
