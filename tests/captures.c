// Section 7, capture scopes: room for a recorded graph, and for nobody else.
#include "captures_rig.h"

// ---- whose room it is ----------------------------------------------------------------------

static void room_freed_in_a_scope_serves_it_again(void **state) {
    (void)state;
    for (size_t i = 0; i < RIGS; i++) {
        rig r = rig_of(i);
        acre_capture *scope = open_scope(r.manager);
        acre_handle *a = take(r.manager, 300 * KIB);
        acre_place first = place_of(r.manager, a);
        acre_manager_release(r.manager, a);
        acre_handle *b = take_with(r.manager, 300 * KIB, 0, ACRE_PAGES_FORBIDDEN);
        assert_true(same_place(first, place_of(r.manager, b)));
        acre_manager_release(r.manager, b);
        close_scope(r.manager, scope);
        destroy(r.manager, scope);
        assert_int_equal(usage_of(r.manager).reserved, 0);
        rig_close(&r);
    }
}

static void nobody_else_gets_room_of_a_scope(void **state) {
    (void)state;
    for (size_t i = 0; i < RIGS; i++) {
        rig r = rig_of(i);
        acre_capture *scope = open_scope(r.manager);
        acre_handle *early = take(r.manager, 300 * KIB);
        acre_handle *late = take(r.manager, 300 * KIB);
        uint32_t pages[] = {place_of(r.manager, early).page, place_of(r.manager, late).page};
        acre_manager_release(r.manager, early); // while it is open
        close_scope(r.manager, scope);
        acre_manager_release(r.manager, late); // once it is closed
        (void)refuse_with(r.manager, 300 * KIB, 0, ACRE_PAGES_FORBIDDEN,
                          ACRE_PAGE_UPDATE_FORBIDDEN);
        acre_handle *other = take(r.manager, 300 * KIB);
        for (size_t p = 0; p < COUNT_OF(pages); p++) {
            assert_int_not_equal(place_of(r.manager, other).page, pages[p]);
        }
        acre_manager_release(r.manager, other);
        destroy(r.manager, scope);
        rig_close(&r);
    }
}

static void a_scope_takes_no_room_of_others(void **state) {
    (void)state;
    for (size_t i = 0; i < RIGS; i++) {
        rig r = rig_of(i);
        acre_manager_release(r.manager, take(r.manager, 300 * KIB));
        uint64_t before = usage_of(r.manager).reserved;
        acre_capture *scope = open_scope(r.manager);
        (void)refuse_with(r.manager, 300 * KIB, 0, ACRE_PAGES_FORBIDDEN,
                          ACRE_PAGE_UPDATE_FORBIDDEN);
        acre_handle *a = take(r.manager, 300 * KIB);
        assert_int_equal(usage_of(r.manager).reserved, before + scope_of(scope).usage.reserved);
        acre_manager_release(r.manager, a);
        destroy(r.manager, scope); // closes it, too
        assert_int_equal(usage_of(r.manager).reserved, before);
        rig_close(&r);
    }
}

static void a_scope_opened_again_has_the_room_it_holds(void **state) {
    (void)state;
    for (size_t i = 0; i < RIGS; i++) {
        rig r = rig_of(i);
        acre_capture *scope = open_scope(r.manager);
        acre_handle *a = take(r.manager, 300 * KIB);
        acre_place first = place_of(r.manager, a);
        close_scope(r.manager, scope);
        acre_manager_release(r.manager, a);
        acre_handle *outside = take(r.manager, 300 * KIB);
        assert_ok(acre_capture_begin(scope, NULL));
        acre_handle *b = take(r.manager, 300 * KIB);
        assert_true(same_place(first, place_of(r.manager, b)));
        close_scope(r.manager, scope);
        drop_all(r.manager, (acre_handle *[]){outside, b}, 2);
        destroy(r.manager, scope);
        rig_close(&r);
    }
}

static void the_innermost_scope_serves_and_scopes_close_in_any_order(void **state) {
    (void)state;
    for (int order = 0; order < 2; order++) {
        rig r = rig_of(0);
        acre_capture *scopes[] = {open_scope(r.manager), open_scope(r.manager)};
        acre_handle *inner = take(r.manager, MIB);
        assert_int_equal(scope_of(scopes[0]).usage.allocations, 0);
        assert_int_equal(scope_of(scopes[1]).usage.allocations, 1);
        close_scope(r.manager, scopes[order]);
        acre_handle *left = take(r.manager, MIB);
        assert_int_equal(scope_of(scopes[1 - order]).usage.allocations, order == 0 ? 2 : 1);
        close_scope(r.manager, scopes[1 - order]);
        acre_handle *outside = take(r.manager, MIB);
        assert_int_equal(
            scope_of(scopes[0]).usage.allocations + scope_of(scopes[1]).usage.allocations, 2);
        drop_all(r.manager, (acre_handle *[]){inner, left, outside}, 3);
        destroy(r.manager, scopes[0]);
        destroy(r.manager, scopes[1]);
        rig_close(&r);
    }
}

// ---- pages ---------------------------------------------------------------------------------

static void nothing_gives_pages_of_a_scope_back_before_it_is_destroyed(void **state) {
    (void)state;
    for (size_t i = 0; i < RIGS; i++) {
        rig r = rig_of(i);
        acre_capture *scope = open_scope(r.manager);
        acre_handle *a = take(r.manager, 300 * KIB);
        acre_manager_release(r.manager, a);
        acre_manager_cleanup(r.manager, ACRE_CLEANUP_EXPLICIT);
        uint64_t held = scope_of(scope).usage.reserved;
        assert_true(held >= 300 * KIB);
        close_scope(r.manager, scope);
        acre_manager_cleanup(r.manager, ACRE_CLEANUP_EXPLICIT);
        acre_manager_cleanup(r.manager, ACRE_CLEANUP_PERIODIC);
        assert_int_equal(scope_of(scope).usage.reserved, held);
        assert_int_equal(stats_of(r.storage).bytes_allocated, held);
        destroy(r.manager, scope);
        assert_int_equal(stats_of(r.storage).bytes_allocated, 0); // at once, and flushed
        rig_close(&r);
    }
}

// Dedicated memory that was freed, idle pages due and a soft limit passed: all wait.
static void a_reservation_in_a_scope_gives_no_page_back(void **state) {
    (void)state;
    acre_pool_options pool = sliced_pool(MIB, ACRE_UNSET, ACRE_UNSET);
    pool.dealloc_period = 5;
    rig r = rig_pools(&pool, 1);
    acre_manager_release(r.manager, take(r.manager, MIB));
    set_mode(r.manager, ACRE_MODE_DEDICATED);
    acre_handle *dedicated = take(r.manager, MIB);
    set_mode(r.manager, ACRE_MODE_AUTO);
    acre_manager_set_limits(r.manager, MIB, 0);
    acre_capture *scope = open_scope(r.manager);
    acre_manager_release(r.manager, dedicated);
    uint64_t before = stats_of(r.storage).deallocs;
    acre_handle *taken[20];
    for (size_t i = 0; i < COUNT_OF(taken); i++) {
        taken[i] = take(r.manager, MIB);
    }
    assert_int_equal(stats_of(r.storage).deallocs, before);
    close_scope(r.manager, scope);
    acre_manager_release(r.manager, take(r.manager, MIB));
    assert_true(stats_of(r.storage).deallocs > before); // what was due is done outside
    drop_all(r.manager, taken, COUNT_OF(taken));
    destroy(r.manager, scope);
    rig_close(&r);
}

static void a_shortage_outside_leaves_a_scope_alone(void **state) {
    (void)state;
    acre_pool_options pool = sliced_pool(MIB, ACRE_UNSET, ACRE_UNSET);
    rig r = rig_pools_on(limited_device(2 * MIB, MIB), MIB, 32, &pool, 1);
    acre_capture *scope = open_scope(r.manager);
    acre_manager_release(r.manager, take(r.manager, MIB));
    close_scope(r.manager, scope);
    acre_handle *a = take(r.manager, MIB);
    acre_error refused = refuse(r.manager, MIB, ACRE_OUT_OF_MEMORY);
    assert_int_equal(refused.free, 0); // what the scope holds is not free
    assert_int_equal(refused.reserved, 2 * MIB);
    destroy(r.manager, scope);
    acre_handle *b = take(r.manager, MIB);
    drop_all(r.manager, (acre_handle *[]){a, b}, 2);
    rig_close(&r);
}

static void a_refusal_in_a_scope_leaves_everything_as_it_was(void **state) {
    (void)state;
    for (size_t i = 0; i < RIGS; i++) {
        acre_pool_options direct = direct_pool(ACRE_UNSET);
        acre_layout layout =
            i < COUNT_OF(presets) ? ACRE_LAYOUT_INIT(presets[i]) : explicit_layout(&direct, 1);
        acre_manager_options options = plain_options(256 * MIB, 32);
        options.layout = &layout;
        rig r = rig_on(limited_device(64 * MIB, 256 * MIB), &options);
        acre_manager_release(r.manager, take(r.manager, 300 * KIB));
        acre_capture *scope = open_scope(r.manager);
        acre_handle *a = take(r.manager, 300 * KIB);
        snapshot before = snapshot_of(r.manager);
        acre_capture_report scope_before = scope_of(scope);
        (void)refuse_with(r.manager, 40 * MIB, 0, ACRE_PAGES_FORBIDDEN, ACRE_PAGE_UPDATE_FORBIDDEN);
        snapshot forbidden = snapshot_of(r.manager);
        assert_unchanged(&before, &forbidden);
        (void)refuse(r.manager, 100 * MIB, ACRE_OUT_OF_MEMORY);
        snapshot after = snapshot_of(r.manager);
        assert_same_state(&before, &after);
        acre_capture_report scope_after = scope_of(scope);
        assert_int_equal(scope_before.pages, scope_after.pages);
        assert_int_equal(scope_before.pool_count, scope_after.pool_count);
        assert_int_equal(scope_before.usage.allocations, scope_after.usage.allocations);
        assert_int_equal(scope_before.usage.reserved, scope_after.usage.reserved);
        acre_manager_release(r.manager, a);
        destroy(r.manager, scope);
        rig_close(&r);
    }
}

static void the_pools_of_a_scope_are_shaped_as_those_of_the_layout(void **state) {
    (void)state;
    for (size_t i = 0; i < 2 * COUNT_OF(presets); i++) {
        rig r = rig_preset(100 * MIB + 7, i % 2 == 0 ? 32 : 50, presets[i / 2]);
        acre_capture *scope = make(r.manager);
        assert_int_equal(scope_of(scope).pool_count, report_of(r.manager).pool_count);
        for (uint32_t place = 0; place < scope_of(scope).pool_count; place++) {
            acre_pool_report theirs = pool_of(r.manager, place);
            acre_pool_report own = pool_of(r.manager, ACRE_POOL_INDEX_CAPTURE(1, place));
            assert_int_equal(own.kind, theirs.kind);
            assert_int_equal(own.page_size, theirs.page_size);
            assert_int_equal(own.max_slice_size, theirs.max_slice_size);
            assert_int_equal(own.max_pool_size, theirs.max_pool_size);
        }
        destroy(r.manager, scope);
        rig_close(&r);
    }
}

// The layout's own pool is full: that of the scope has a cap of its own, and spills like it.
static void a_cap_of_the_layout_is_one_of_the_scope_too(void **state) {
    (void)state;
    acre_pool_options pools[] = {sliced_pool(MIB, ACRE_UNSET, MIB),
                                 sliced_pool(4 * MIB, ACRE_UNSET, 4 * MIB)};
    rig r = rig_pools(pools, 2);
    acre_handle *outside = take(r.manager, MIB);
    acre_capture *scope = open_scope(r.manager);
    acre_handle *taken[] = {take(r.manager, MIB), take(r.manager, MIB), take(r.manager, 3 * MIB)};
    assert_int_equal(pool_of(r.manager, ACRE_POOL_INDEX_CAPTURE(1, 0)).usage.reserved, MIB);
    assert_int_equal(pool_of(r.manager, ACRE_POOL_INDEX_CAPTURE(1, 1)).usage.reserved, 4 * MIB);
    acre_error refused = refuse(r.manager, MIB, ACRE_POOL_CAPACITY_EXCEEDED);
    assert_int_equal(refused.capacity, MIB);
    drop_all(r.manager, taken, COUNT_OF(taken));
    acre_manager_release(r.manager, outside);
    destroy(r.manager, scope);
    rig_close(&r);
}

static void a_watermark_returns_no_page_of_a_scope(void **state) {
    (void)state;
    acre_pool_options direct = direct_pool(2 * MIB);
    rig r = rig_pools(&direct, 1);
    acre_capture *scope = open_scope(r.manager);
    acre_manager_release(r.manager, take(r.manager, MIB));
    acre_manager_release(r.manager, take(r.manager, 2 * MIB)); // passes it
    assert_int_equal(scope_of(scope).pages, 2);
    destroy(r.manager, scope);
    rig_close(&r);
}

static void the_pages_of_a_destroyed_scope_are_flushed(void **state) {
    (void)state;
    acre_simulated_storage_params params = ACRE_SIMULATED_STORAGE_PARAMS_INIT;
    params.deferred_frees = true;
    acre_storage *storage = NULL;
    assert_ok(acre_storage_simulated_create(&params, NULL, &storage, NULL));
    acre_manager_options options = plain_options(128 * MIB, 32);
    rig r = rig_on(storage, &options);
    for (int late = 0; late < 2; late++) {
        acre_capture *scope = open_scope(r.manager);
        acre_handle *a = take(r.manager, MIB);
        if (late == 0) {
            acre_manager_release(r.manager, a);
        }
        destroy(r.manager, scope);
        if (late == 1) {
            acre_manager_release(r.manager, a);
            acre_manager_cleanup(r.manager, ACRE_CLEANUP_PERIODIC);
        }
        assert_int_equal(stats_of(storage).bytes_allocated, 0);
    }
    rig_close(&r);
}

// What the arena of a scope outgrew stays, with what was freed there.
static void an_arena_that_grows_in_a_scope_keeps_its_old_pages(void **state) {
    (void)state;
    rig r = rig_preset(128 * MIB, 32, ACRE_LAYOUT_ADAPTIVE);
    acre_capture *scope = open_scope(r.manager);
    acre_handle *small = take(r.manager, MIB);
    acre_handle *large = take(r.manager, 20 * MIB);
    assert_int_equal(scope_of(scope).pages, 2);
    assert_int_equal(scope_of(scope).pool_count, 4); // three, and the size it outgrew
    acre_manager_release(r.manager, small);
    acre_manager_cleanup(r.manager, ACRE_CLEANUP_EXPLICIT);
    assert_int_equal(scope_of(scope).pages, 2);
    close_scope(r.manager, scope);
    acre_handle *outside = take(r.manager, MIB);
    assert_int_equal(pool_of(r.manager, 2).page_size, 2 * MIB); // the layout's own did not grow
    acre_manager_release(r.manager, outside);
    destroy(r.manager, scope);
    assert_int_equal(scope_of(scope = make(r.manager)).pages, 0); // the first is still draining
    acre_manager_release(r.manager, large);
    acre_manager_cleanup(r.manager, ACRE_CLEANUP_EXPLICIT);
    assert_int_equal(usage_of(r.manager).reserved, 0);
    destroy(r.manager, scope);
    rig_close(&r);
}

// ---- modes ---------------------------------------------------------------------------------

static void windows_in_a_scope_take_pages_of_the_scope(void **state) {
    (void)state;
    const acre_mode modes[] = {ACRE_MODE_PERSISTENT, ACRE_MODE_DEDICATED};
    for (size_t i = 0; i < COUNT_OF(modes); i++) {
        rig r = rig_of(0);
        set_mode(r.manager, modes[i]);
        acre_handle *before = take(r.manager, MIB);
        acre_capture *scope = open_scope(r.manager);
        acre_handle *a = take(r.manager, MIB);
        acre_place first = place_of(r.manager, a);
        assert_int_equal(first.pool_index, ACRE_POOL_INDEX_CAPTURE(1, 0xffff));
        assert_int_equal(scope_of(scope).usage.reserved, MIB); // exactly
        acre_manager_release(r.manager, a);
        acre_manager_release(r.manager, before); // no room of the scope's
        acre_handle *b = take_with(r.manager, MIB, 0, ACRE_PAGES_FORBIDDEN);
        assert_true(same_place(first, place_of(r.manager, b)));
        (void)refuse_with(r.manager, MIB, 0, ACRE_PAGES_FORBIDDEN, ACRE_PAGE_UPDATE_FORBIDDEN);
        acre_manager_release(r.manager, b);
        close_scope(r.manager, scope);
        acre_handle *after = take(r.manager, MIB);
        assert_int_not_equal(place_of(r.manager, after).page, first.page);
        acre_manager_cleanup(r.manager, ACRE_CLEANUP_EXPLICIT);
        assert_int_equal(scope_of(scope).usage.reserved, MIB);
        set_mode(r.manager, ACRE_MODE_AUTO);
        acre_manager_release(r.manager, after);
        destroy(r.manager, scope);
        rig_close(&r);
    }
}

static void a_size_match_does_not_lead_out_of_a_scope(void **state) {
    (void)state;
    acre_config config = ACRE_CONFIG_INIT;
    config.persistent_memory = ACRE_PERSISTENT_SIZE_MATCH;
    acre_manager_options options = plain_options(128 * MIB, 32);
    options.config = &config;
    rig r = rig_on(simulated_device(), &options);
    set_mode(r.manager, ACRE_MODE_PERSISTENT);
    acre_manager_release(r.manager, take(r.manager, MIB));
    set_mode(r.manager, ACRE_MODE_AUTO);
    acre_capture *scope = open_scope(r.manager);
    acre_handle *a = take(r.manager, MIB);
    assert_int_equal(scope_of(scope).usage.allocations, 1);
    close_scope(r.manager, scope);
    acre_handle *b = take(r.manager, MIB);
    assert_int_equal(place_of(r.manager, b).pool_index, ACRE_POOL_INDEX_PERSISTENT);
    drop_all(r.manager, (acre_handle *[]){a, b}, 2);
    destroy(r.manager, scope);
    rig_close(&r);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(room_freed_in_a_scope_serves_it_again),
        cmocka_unit_test(nobody_else_gets_room_of_a_scope),
        cmocka_unit_test(a_scope_takes_no_room_of_others),
        cmocka_unit_test(a_scope_opened_again_has_the_room_it_holds),
        cmocka_unit_test(the_innermost_scope_serves_and_scopes_close_in_any_order),
        cmocka_unit_test(nothing_gives_pages_of_a_scope_back_before_it_is_destroyed),
        cmocka_unit_test(a_reservation_in_a_scope_gives_no_page_back),
        cmocka_unit_test(a_shortage_outside_leaves_a_scope_alone),
        cmocka_unit_test(a_refusal_in_a_scope_leaves_everything_as_it_was),
        cmocka_unit_test(the_pools_of_a_scope_are_shaped_as_those_of_the_layout),
        cmocka_unit_test(a_cap_of_the_layout_is_one_of_the_scope_too),
        cmocka_unit_test(a_watermark_returns_no_page_of_a_scope),
        cmocka_unit_test(the_pages_of_a_destroyed_scope_are_flushed),
        cmocka_unit_test(an_arena_that_grows_in_a_scope_keeps_its_old_pages),
        cmocka_unit_test(windows_in_a_scope_take_pages_of_the_scope),
        cmocka_unit_test(a_size_match_does_not_lead_out_of_a_scope),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
