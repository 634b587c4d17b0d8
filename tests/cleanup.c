// Sections 3 and 6, cleanup: explicit gives back everything that nothing holds; what is held stays.
#include "support.h"

static rig exclusive_pages_rig(void) {
    return rig_preset(128 * MIB, 32, ACRE_LAYOUT_EXCLUSIVE_PAGES);
}

static void a_binding_taken_before_a_cleanup_still_resolves_after_it(void **state) {
    (void)state;
    rig r = exclusive_pages_rig();
    acre_handle *assigned = NULL;
    assert_ok(acre_manager_handle_create(r.manager, &assigned, NULL));
    acre_handle *h[3] = {take(r.manager, 1024), take(r.manager, 1024), take(r.manager, 1024)};
    assert_ok(acre_manager_bind(r.manager, h[1], assigned, 5, NULL));
    acre_binding *middle = acre_handle_binding(assigned);
    acre_place place = place_of(r.manager, assigned);
    acre_resource before = ACRE_RESOURCE_INIT;
    assert_ok(acre_manager_resolve(r.manager, assigned, 0, 0, &before, NULL));
    uint64_t reserved = usage_of(r.manager).reserved;
    acre_manager_release(r.manager, h[0]);
    acre_manager_release(r.manager, h[2]);

    acre_manager_cleanup(r.manager, ACRE_CLEANUP_EXPLICIT);

    assert_int_equal(cursor_of(r.manager, acre_binding_handle(middle)), 5);
    acre_resource after = ACRE_RESOURCE_INIT;
    assert_ok(acre_manager_resolve(r.manager, acre_binding_handle(middle), 0, 0, &after, NULL));
    assert_int_equal(after.size, 1024);
    assert_int_equal(after.as.simulated.page, before.as.simulated.page);
    assert_int_equal(after.as.simulated.offset, before.as.simulated.offset);
    assert_int_equal(place_of(r.manager, assigned).page, place.page);
    assert_int_equal(usage_of(r.manager).reserved, reserved - 2048);
    acre_binding_release(middle);
    acre_manager_release(r.manager, assigned);
    acre_manager_release(r.manager, h[1]);
    rig_close(&r);
}

static void a_binding_alone_keeps_its_page_over_a_cleanup(void **state) {
    (void)state;
    rig r = exclusive_pages_rig();
    acre_handle *h[3] = {take(r.manager, 1024), take(r.manager, 1024), take(r.manager, 1024)};
    acre_binding *middle = acre_handle_binding(h[1]);
    uint64_t reserved = usage_of(r.manager).reserved;
    drop_all(r.manager, h, 3);
    acre_manager_cleanup(r.manager, ACRE_CLEANUP_EXPLICIT);
    assert_int_equal(cursor_of(r.manager, acre_binding_handle(middle)), 0);
    acre_resource resource = ACRE_RESOURCE_INIT;
    assert_ok(acre_manager_resolve(r.manager, acre_binding_handle(middle), 0, 0, &resource, NULL));
    assert_int_equal(resource.size, 1024);
    assert_int_equal(usage_of(r.manager).reserved, reserved - 2048);
    acre_binding_release(middle);
    rig_close(&r);
}

typedef struct kept {
    acre_handle *handle;
    acre_place place;
    acre_resource resource;
} kept;

// Every third allocation of every pool stays over ten cleanups with new pages in between.
static void what_is_held_keeps_its_bytes_over_cleanups_in_every_pool(void **state) {
    (void)state;
    acre_pool_options pools[] = {sliced_pool(4096, 256, ACRE_UNSET), exclusive_pool(1024),
                                 direct_pool(ACRE_UNSET)};
    const uint64_t sizes[] = {100, 1000, 5000};
    rig r = rig_pools(pools, 3);
    kept list[200];
    size_t count = 0;
    for (uint64_t round = 0; round < 10; round++) {
        acre_handle *gone[64];
        size_t leaving = 0;
        for (uint64_t i = 0; i < 60; i++) {
            set_mode(r.manager, i % 5 == 3 ? ACRE_MODE_PERSISTENT : ACRE_MODE_AUTO);
            acre_handle *handle = take(r.manager, sizes[(i + round) % 3] + i);
            set_mode(r.manager, ACRE_MODE_AUTO);
            if (i % 3 == 0) {
                kept *k = &list[count++];
                *k = (kept){.handle = handle, .resource = ACRE_RESOURCE_INIT};
                k->place = place_of(r.manager, handle);
                assert_ok(acre_manager_resolve(r.manager, handle, 0, 0, &k->resource, NULL));
            } else {
                gone[leaving++] = handle;
            }
        }
        drop_all(r.manager, gone, leaving);
        acre_manager_cleanup(r.manager, ACRE_CLEANUP_EXPLICIT);
        check(r.manager);
        for (size_t i = 0; i < count; i++) {
            acre_resource now = ACRE_RESOURCE_INIT;
            assert_true(same_place(place_of(r.manager, list[i].handle), list[i].place));
            assert_ok(acre_manager_resolve(r.manager, list[i].handle, 0, 0, &now, NULL));
            assert_int_equal(now.size, list[i].resource.size);
            assert_int_equal(now.as.simulated.page, list[i].resource.as.simulated.page);
            assert_int_equal(now.as.simulated.offset, list[i].resource.as.simulated.offset);
        }
    }
    for (size_t i = 0; i < count; i++) {
        acre_manager_release(r.manager, list[i].handle);
    }
    acre_manager_cleanup(r.manager, ACRE_CLEANUP_EXPLICIT);
    assert_int_equal(usage_of(r.manager).reserved, 0);
    rig_close(&r);
}

static void an_explicit_cleanup_flushes_frees_that_were_put_off(void **state) {
    (void)state;
    acre_simulated_storage_params params = ACRE_SIMULATED_STORAGE_PARAMS_INIT;
    params.deferred_frees = true;
    acre_storage *storage = NULL;
    assert_ok(acre_storage_simulated_create(&params, NULL, &storage, NULL));
    acre_pool_options pool = sliced_pool(MIB, ACRE_UNSET, ACRE_UNSET);
    rig r = rig_pools_on(storage, 128 * MIB, 32, &pool, 1);
    acre_manager_release(r.manager, take(r.manager, 1000));
    acre_manager_cleanup(r.manager, ACRE_CLEANUP_EXPLICIT);
    assert_int_equal(usage_of(r.manager).reserved, 0);
    assert_int_equal(stats_of(r.storage).bytes_allocated, 0);
    assert_true(stats_of(r.storage).flushes >= 1);
    rig_close(&r);
}

static void a_page_with_a_live_slice_stays(void **state) {
    (void)state;
    acre_pool_options pool = sliced_pool(1024, ACRE_UNSET, ACRE_UNSET);
    rig r = rig_pools(&pool, 1);
    acre_handle *h[3] = {take(r.manager, 512), take(r.manager, 512), take(r.manager, 512)};
    acre_manager_release(r.manager, h[0]);
    acre_manager_release(r.manager, h[2]);
    acre_manager_cleanup(r.manager, ACRE_CLEANUP_EXPLICIT);
    assert_int_equal(usage_of(r.manager).reserved, 1024);
    assert_int_equal(pool_of(r.manager, 0).pages, 1);
    assert_int_equal(place_of(r.manager, h[1]).size, 512);
    acre_manager_release(r.manager, h[1]);
    rig_close(&r);
}

static void a_cleanup_takes_in_what_other_threads_released(void **state) {
    (void)state;
    acre_pool_options pool = sliced_pool(1024, ACRE_UNSET, ACRE_UNSET);
    rig r = rig_pools(&pool, 1);
    acre_handle_release(take(r.manager, 512));
    acre_manager_cleanup(r.manager, ACRE_CLEANUP_EXPLICIT);
    assert_int_equal(usage_of(r.manager).reserved, 0);
    rig_close(&r);
}

static void cleaning_up_nothing_changes_nothing(void **state) {
    (void)state;
    rig r = exclusive_pages_rig();
    acre_handle *a = take(r.manager, 1024);
    snapshot before = snapshot_of(r.manager);
    for (int i = 0; i < 3; i++) {
        acre_manager_cleanup(r.manager, ACRE_CLEANUP_EXPLICIT);
        acre_manager_cleanup(r.manager, ACRE_CLEANUP_PERIODIC);
    }
    snapshot after = snapshot_of(r.manager);
    assert_unchanged(&before, &after);
    acre_manager_release(r.manager, a);
    rig_close(&r);
}

static void zero_sized_allocations_live_through_a_cleanup(void **state) {
    (void)state;
    rig r = exclusive_pages_rig();
    acre_handle *none = take(r.manager, 0);
    acre_manager_cleanup(r.manager, ACRE_CLEANUP_EXPLICIT);
    assert_int_equal(place_of(r.manager, none).size, 0);
    assert_int_equal(usage_of(r.manager).allocations, 1);
    acre_manager_release(r.manager, none);
    acre_manager_cleanup(r.manager, ACRE_CLEANUP_EXPLICIT);
    assert_int_equal(usage_of(r.manager).allocations, 0);
    rig_close(&r);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_binding_taken_before_a_cleanup_still_resolves_after_it),
        cmocka_unit_test(a_binding_alone_keeps_its_page_over_a_cleanup),
        cmocka_unit_test(what_is_held_keeps_its_bytes_over_cleanups_in_every_pool),
        cmocka_unit_test(an_explicit_cleanup_flushes_frees_that_were_put_off),
        cmocka_unit_test(a_page_with_a_live_slice_stays),
        cmocka_unit_test(a_cleanup_takes_in_what_other_threads_released),
        cmocka_unit_test(cleaning_up_nothing_changes_nothing),
        cmocka_unit_test(zero_sized_allocations_live_through_a_cleanup),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
