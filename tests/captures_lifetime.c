// Section 7, capture scopes: callbacks within them, what outlives them and what they outlive,
// reports and errors.
#include "captures_rig.h"

// ---- callbacks -----------------------------------------------------------------------------

typedef struct rescue {
    acre_capture *scope;
    acre_handle *held;
    bool destroys; // with what it holds; or only ends it
    int calls;
} rescue;

static bool let_the_scope_go(void *context, acre_manager *manager, uint64_t size) {
    rescue *own = context;
    (void)size;
    own->calls++;
    if (own->destroys) {
        acre_manager_release(manager, own->held);
        acre_capture_destroy(own->scope);
    } else {
        assert_ok(acre_capture_end(own->scope, NULL));
    }
    return true;
}

// Ended, it leaves the request to the layout's own free room; destroyed, it also gives its page
// back, of which the layout then has a new one.
static void a_callback_may_end_the_scope_that_is_short_of_memory(void **state) {
    (void)state;
    for (int destroys = 0; destroys < 2; destroys++) {
        rescue own = {.destroys = destroys == 1};
        acre_pool_options pool = sliced_pool(MIB, ACRE_UNSET, ACRE_UNSET);
        acre_layout layout = explicit_layout(&pool, 1);
        acre_manager_options options = plain_options(MIB, 32);
        options.layout = &layout;
        options.out_of_memory = let_the_scope_go;
        options.out_of_memory_context = &own;
        rig r = rig_on(limited_device(2 * MIB, MIB), &options);
        acre_handle *outside = take(r.manager, MIB);
        own.scope = open_scope(r.manager);
        own.held = take(r.manager, 600 * KIB);
        if (!own.destroys) {
            acre_manager_release(r.manager, outside);
        }
        acre_handle *a = take(r.manager, 700 * KIB);
        assert_int_equal(place_of(r.manager, a).pool_index, 0);
        assert_int_equal(own.calls, 1);
        check(r.manager);
        acre_manager_release(r.manager, a);
        acre_manager_release(r.manager, own.destroys ? outside : own.held);
        if (!own.destroys) {
            destroy(r.manager, own.scope);
        }
        rig_close(&r);
    }
}

// ---- lives ---------------------------------------------------------------------------------

typedef struct opening {
    acre_capture *scope;
    acre_handle *let_go;
} opening;

static bool open_and_ask_again(void *context, acre_manager *manager, uint64_t size) {
    (void)size;
    opening *own = context;
    acre_manager_set_limits(manager, 0, 0);
    assert_ok(acre_capture_begin(own->scope, NULL));
    acre_manager_release(manager, own->let_go);
    return true;
}

// The rest of the request is the scope's: the page that the callback emptied does not go back.
static void a_callback_may_open_a_scope(void **state) {
    (void)state;
    opening own = {NULL, NULL};
    acre_pool_options pools[] = {sliced_pool(MIB, MIB, ACRE_UNSET), direct_pool(ACRE_UNSET)};
    acre_layout layout = explicit_layout(pools, 2);
    acre_manager_options options = plain_options(128 * MIB, 32);
    options.layout = &layout;
    options.out_of_memory = open_and_ask_again;
    options.out_of_memory_context = &own;
    options.hard_limit = 2 * MIB;
    rig r = rig_on(simulated_device(), &options);
    own.scope = make(r.manager);
    acre_handle *a = take(r.manager, MIB);
    own.let_go = take(r.manager, MIB);
    acre_handle *b = take(r.manager, 3 * MIB);
    assert_int_equal(scope_of(own.scope).usage.allocations, 1);
    assert_int_equal(stats_of(r.storage).deallocs, 0);
    drop_all(r.manager, (acre_handle *[]){a, b}, 2);
    destroy(r.manager, own.scope);
    rig_close(&r);
}

static void what_outlives_a_scope_keeps_its_page_until_it_is_released(void **state) {
    (void)state;
    for (size_t i = 0; i < RIGS; i++) {
        rig r = rig_of(i);
        acre_capture *scope = open_scope(r.manager);
        acre_handle *kept = take(r.manager, 300 * KIB);
        acre_handle *nothing = take(r.manager, 0);
        acre_place place = place_of(r.manager, kept);
        close_scope(r.manager, scope);
        destroy(r.manager, scope);
        assert_int_equal(report_of(r.manager).captures, 1);
        assert_true(same_place(place, place_of(r.manager, kept)));
        acre_handle *other = take(r.manager, 300 * KIB);
        assert_int_not_equal(place_of(r.manager, other).page, place.page);
        acre_handle_release(kept); // as another thread does
        uint64_t before = usage_of(r.manager).reserved;
        acre_manager_release(r.manager, take(r.manager, 300 * KIB)); // may return pages
        assert_true(usage_of(r.manager).reserved < before + 300 * KIB);
        assert_int_equal(report_of(r.manager).captures, 0);
        drop_all(r.manager, (acre_handle *[]){other, nothing}, 2);
        rig_close(&r);
    }
}

// The only thing that lives is on a page of a size outgrown, or was reserved in a window.
static void what_outlives_a_scope_may_be_anywhere_in_it(void **state) {
    (void)state;
    for (int window = 0; window < 2; window++) {
        rig r = rig_preset(128 * MIB, 32, ACRE_LAYOUT_ADAPTIVE);
        acre_capture *scope = open_scope(r.manager);
        set_mode(r.manager, window == 1 ? ACRE_MODE_PERSISTENT : ACRE_MODE_AUTO);
        acre_handle *kept = take(r.manager, MIB);
        set_mode(r.manager, ACRE_MODE_AUTO);
        acre_manager_release(r.manager, take(r.manager, 20 * MIB)); // the arena goes over
        acre_place place = place_of(r.manager, kept);
        destroy(r.manager, scope);
        acre_manager_cleanup(r.manager, ACRE_CLEANUP_PERIODIC); // nothing is due any more
        assert_int_equal(report_of(r.manager).pages, 1);
        place.pool_index = place_of(r.manager, kept).pool_index;
        assert_true(same_place(place, place_of(r.manager, kept)));
        acre_manager_release(r.manager, kept);
        acre_manager_cleanup(r.manager, ACRE_CLEANUP_PERIODIC);
        assert_int_equal(report_of(r.manager).pages, 0);
        assert_int_equal(report_of(r.manager).captures, 0);
        rig_close(&r);
    }
}

static void a_guard_in_a_destroyed_scope_keeps_its_page(void **state) {
    (void)state;
    rig r = rig_of(0);
    acre_capture *scope = open_scope(r.manager);
    acre_handle *a = take(r.manager, MIB);
    acre_guard *guard = NULL;
    assert_ok(acre_manager_guard(r.manager, a, &guard, NULL));
    acre_manager_release(r.manager, a);
    destroy(r.manager, scope);
    acre_manager_cleanup(r.manager, ACRE_CLEANUP_EXPLICIT);
    assert_true(usage_of(r.manager).reserved >= MIB);
    acre_guard_release(guard);
    acre_manager_cleanup(r.manager, ACRE_CLEANUP_PERIODIC);
    assert_int_equal(usage_of(r.manager).reserved, 0);
    assert_int_equal(report_of(r.manager).captures, 0);
    rig_close(&r);
}

static void a_bind_leaves_the_allocation_in_its_scope(void **state) {
    (void)state;
    rig r = rig_of(0);
    acre_capture *scope = open_scope(r.manager);
    acre_handle *reserved = take(r.manager, MIB);
    acre_place place = place_of(r.manager, reserved);
    close_scope(r.manager, scope);
    acre_handle *assigned = NULL;
    assert_ok(acre_manager_handle_create(r.manager, &assigned, NULL));
    assert_ok(acre_manager_bind(r.manager, reserved, assigned, 7, NULL));
    assert_true(same_place(place, place_of(r.manager, assigned)));
    drop_all(r.manager, (acre_handle *[]){reserved, assigned}, 2);
    assert_int_equal(scope_of(scope).usage.allocations, 0);
    assert_true(scope_of(scope).usage.reserved >= MIB);
    destroy(r.manager, scope);
    rig_close(&r);
}

static void relocations_leave_scopes_alone(void **state) {
    (void)state;
    acre_manager_options options = plain_options(128 * MIB, 32);
    options.relocation = ACRE_RELOCATION_COMPACT;
    rig r = rig_on(simulated_device(), &options);
    acre_capture *scope = open_scope(r.manager);
    acre_handle *recorded[] = {take(r.manager, MIB), take(r.manager, 3 * MIB),
                               take(r.manager, 9 * MIB)}; // on three sizes of pages
    acre_place places[COUNT_OF(recorded)];
    for (size_t i = 0; i < COUNT_OF(recorded); i++) {
        places[i] = place_of(r.manager, recorded[i]);
    }
    close_scope(r.manager, scope);
    acre_handle *a = take(r.manager, MIB);
    acre_handle *b = take(r.manager, 9 * MIB);
    acre_relocation_options all = ACRE_RELOCATION_OPTIONS_INIT;
    all.room = ACRE_RELOCATION_ROOM_MAY_ADD;
    all.compact = true;
    acre_relocation_report report = ACRE_RELOCATION_REPORT_INIT;
    assert_ok(acre_manager_relocate(r.manager, &all, &report, NULL));
    assert_true(report_of(r.manager).moves > 0); // outside
    for (size_t i = 0; i < COUNT_OF(recorded); i++) {
        assert_true(same_place(places[i], place_of(r.manager, recorded[i])));
    }
    assert_int_equal(scope_of(scope).pages, 3);
    drop_all(r.manager, recorded, COUNT_OF(recorded));
    drop_all(r.manager, (acre_handle *[]){a, b}, 2);
    destroy(r.manager, scope);
    rig_close(&r);
}

static void a_layout_is_installed_beside_a_scope(void **state) {
    (void)state;
    rig r = rig_of(0);
    acre_capture *scope = open_scope(r.manager);
    acre_handle *a = take(r.manager, MIB);
    acre_place place = place_of(r.manager, a);
    acre_layout layout = ACRE_LAYOUT_INIT(ACRE_LAYOUT_EXCLUSIVE_PAGES);
    assert_ok(acre_manager_install_layout(r.manager, &layout, NULL));
    check(r.manager);
    acre_handle *b = take(r.manager, MIB); // by the pools that the scope was made with
    assert_int_equal(scope_of(scope).usage.allocations, 2);
    assert_true(same_place(place, place_of(r.manager, a)));
    close_scope(r.manager, scope);
    drop_all(r.manager, (acre_handle *[]){a, b}, 2);
    destroy(r.manager, scope);
    rig_close(&r);
}

static void a_dry_run_in_a_scope_takes_no_device_memory(void **state) {
    (void)state;
    rig r = rig_of(0);
    acre_capture *scope = open_scope(r.manager);
    acre_dry_run_begin();
    acre_handle *a = take(r.manager, MIB);
    acre_dry_run_end();
    assert_int_equal(stats_of(r.storage).bytes_allocated, 0);
    acre_resource resource = ACRE_RESOURCE_INIT;
    assert_ok(acre_manager_resolve(r.manager, a, 0, 0, &resource, NULL));
    assert_int_equal(stats_of(r.storage).bytes_allocated, scope_of(scope).usage.reserved);
    acre_manager_release(r.manager, a);
    destroy(r.manager, scope);
    rig_close(&r);
}

static void a_scope_may_outlive_its_manager(void **state) {
    (void)state;
    acre_storage *storage = simulated_device();
    acre_manager_options options = plain_options(128 * MIB, 32);
    acre_manager *manager = NULL;
    assert_ok(acre_manager_create(storage, &options, &manager, NULL));
    acre_capture *open = open_scope(manager);
    acre_capture *closed = make(manager);
    acre_handle *a = take(manager, MIB);
    acre_capture *ended = open_scope(manager);
    acre_handle *b = take(manager, MIB);
    acre_capture_destroy(ended); // with an allocation
    acre_manager_destroy(manager);
    assert_int_equal(stats_of(storage).bytes_allocated, 0);
    acre_capture_report report = ACRE_CAPTURE_REPORT_INIT;
    assert_status(ACRE_INVALID_ARGUMENT, acre_capture_get_report(open, &report, NULL));
    assert_status(ACRE_INVALID_ARGUMENT, acre_capture_end(open, NULL));
    assert_status(ACRE_INVALID_ARGUMENT, acre_capture_begin(closed, NULL));
    acre_capture_destroy(open);
    acre_capture_destroy(closed);
    acre_capture_destroy(NULL);
    acre_handle_release(a);
    acre_handle_release(b);
    acre_storage_destroy(storage);
}

// ---- looking at it, and errors -------------------------------------------------------------

static void count_slices(void *context, const acre_slice_info *slice) {
    uint64_t *live = context;
    *live += slice->live && slice->pool_index >= ACRE_POOL_INDEX_CAPTURE(1, 0);
}

static void reports_count_what_scopes_hold(void **state) {
    (void)state;
    rig r = rig_of(0);
    acre_handle *outside = take(r.manager, MIB);
    uint64_t reserved = usage_of(r.manager).reserved;
    acre_capture *first = make(r.manager);
    acre_capture *second = open_scope(r.manager);
    acre_handle *a = take(r.manager, 5 * MIB);
    acre_handle *b = take(r.manager, 6 * MIB);
    acre_capture_report scope = scope_of(second);
    assert_int_equal(scope.number, 2);
    assert_true(scope.open);
    assert_int_equal(scope.usage.allocations, 2);
    assert_int_equal(scope.usage.in_use, 11 * MIB);
    acre_report whole = report_of(r.manager);
    assert_int_equal(whole.captures, 2);
    assert_int_equal(whole.usage.reserved, reserved + scope.usage.reserved);
    assert_int_equal(whole.pages, 1 + scope.pages);
    uint64_t in_use = 0;
    for (uint32_t i = 0; i < scope.pool_count; i++) {
        in_use += pool_of(r.manager, ACRE_POOL_INDEX_CAPTURE(2, i)).usage.in_use;
    }
    assert_int_equal(in_use, 11 * MIB);
    acre_pool_report none = ACRE_POOL_REPORT_INIT;
    assert_status(ACRE_INVALID_ARGUMENT,
                  acre_manager_pool_report(r.manager, ACRE_POOL_INDEX_CAPTURE(2, scope.pool_count),
                                           &none, NULL));
    assert_status(ACRE_INVALID_ARGUMENT,
                  acre_manager_pool_report(r.manager, ACRE_POOL_INDEX_CAPTURE(3, 0), &none, NULL));
    uint64_t live = 0;
    acre_manager_visit_slices(r.manager, count_slices, &live);
    assert_int_equal(live, 2);
    char text[16384];
    assert_true(acre_manager_report_write(r.manager, ACRE_REPORT_JSON, text, sizeof text) <
                sizeof text);
    assert_non_null(strstr(text, "\"pool\": \"c2.0\""));
    drop_all(r.manager, (acre_handle *[]){outside, a, b}, 3);
    destroy(r.manager, first);
    assert_int_equal(scope_of(second).number, 2);
    acre_capture *third = make(r.manager);
    assert_int_equal(scope_of(third).number, 1); // that of the one that is gone
    destroy(r.manager, second);
    destroy(r.manager, third);
    rig_close(&r);
}

static void a_scope_opens_and_closes_once_at_a_time(void **state) {
    (void)state;
    rig r = rig_of(0);
    acre_capture *scope = make(r.manager);
    acre_error error = ACRE_ERROR_INIT;
    assert_status(ACRE_INVALID_ARGUMENT, acre_capture_end(scope, &error));
    assert_non_null(strstr(error.detail, "not open"));
    assert_ok(acre_capture_begin(scope, NULL));
    assert_status(ACRE_INVALID_ARGUMENT, acre_capture_begin(scope, &error));
    assert_non_null(strstr(error.detail, "open already"));
    close_scope(r.manager, scope);
    assert_status(ACRE_INVALID_ARGUMENT, acre_capture_end(scope, NULL));
    destroy(r.manager, scope);
    rig_close(&r);
}

static void a_scope_without_host_memory_is_refused_and_leaves_nothing(void **state) {
    (void)state;
    host_probe *probe = host_probe_create();
    acre_host_hooks hooks = host_probe_hooks(probe);
    acre_manager_options options = plain_options(128 * MIB, 32);
    options.hooks = &hooks;
    rig r = rig_on(simulated_device(), &options);
    uint64_t met = 0;
    for (uint64_t nth = 1;; nth++) {
        uint64_t blocks = host_probe_blocks(probe);
        host_probe_fail(probe, nth, false);
        acre_capture *scope = NULL;
        acre_status status = acre_manager_capture_create(r.manager, &scope, NULL);
        bool failed = host_probe_failed(probe);
        host_probe_fail(probe, 0, false);
        check(r.manager);
        if (!failed) {
            assert_ok(status);
            destroy(r.manager, scope);
            break;
        }
        met++;
        assert_status(ACRE_OUT_OF_HOST_MEMORY, status);
        assert_int_equal(report_of(r.manager).captures, 0);
        assert_true(host_probe_blocks(probe) <= blocks + 1); // the list of scopes may have grown
    }
    assert_true(met > 3);
    rig_close(&r);
    host_probe_destroy(probe);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_callback_may_end_the_scope_that_is_short_of_memory),
        cmocka_unit_test(a_callback_may_open_a_scope),
        cmocka_unit_test(what_outlives_a_scope_keeps_its_page_until_it_is_released),
        cmocka_unit_test(what_outlives_a_scope_may_be_anywhere_in_it),
        cmocka_unit_test(a_guard_in_a_destroyed_scope_keeps_its_page),
        cmocka_unit_test(a_bind_leaves_the_allocation_in_its_scope),
        cmocka_unit_test(relocations_leave_scopes_alone),
        cmocka_unit_test(a_layout_is_installed_beside_a_scope),
        cmocka_unit_test(a_dry_run_in_a_scope_takes_no_device_memory),
        cmocka_unit_test(a_scope_may_outlive_its_manager),
        cmocka_unit_test(reports_count_what_scopes_hold),
        cmocka_unit_test(a_scope_opens_and_closes_once_at_a_time),
        cmocka_unit_test(a_scope_without_host_memory_is_refused_and_leaves_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
