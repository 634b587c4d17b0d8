// Pages: counted, given back, aligned, of the size asked for, as many as a program wants.
#include "suite.h"

static void a_storage_has_a_name_and_counts_from_zero(void **state) {
    acre_storage *storage = suite_storage(*state, TOTAL, LARGEST);
    assert_true(strlen(acre_storage_name(storage)) > 0);
    acre_storage_stats stats = stats_of(storage);
    assert_int_equal(stats.allocs + stats.refused + stats.deallocs, 0);
    assert_int_equal(stats.bytes_allocated + stats.bytes_peak, 0);
    assert_int_equal(stats.maps + stats.unmaps + stats.copies, 0);
    acre_storage_destroy(storage);
}

static void pages_are_counted_and_all_go_back(void **state) {
    const subject *about = *state;
    rig r = suite_rig(about);
    acre_handle *h[3] = {take(r.manager, 100), take(r.manager, 3 * MIB), take(r.manager, 5 * MIB)};
    uint64_t held = page_bytes(about, r.storage, PAGE) + page_bytes(about, r.storage, 3 * MIB) +
                    page_bytes(about, r.storage, 5 * MIB);
    assert_int_equal(stats_of(r.storage).allocs, 3);
    assert_int_equal(stats_of(r.storage).bytes_allocated, held);
    assert_int_equal(report_of(r.manager).bytes_allocated, held);
    drop_all(r.manager, h, 3);
    acre_manager_cleanup(r.manager, ACRE_CLEANUP_EXPLICIT);
    assert_int_equal(stats_of(r.storage).deallocs, 3);
    assert_int_equal(stats_of(r.storage).bytes_allocated, 0);
    assert_int_equal(stats_of(r.storage).bytes_peak, held);
    rig_close(&r);
}

// How the device gives a resource a place: two that overlap are equal in all but that.
static uint64_t place_in(const acre_resource *resource, uint64_t *page) {
    *page = 0;
    switch (resource->kind) {
    case ACRE_RESOURCE_SIMULATED:
        *page = resource->as.simulated.page;
        return resource->as.simulated.offset;
    case ACRE_RESOURCE_OPENCL:
        *page = (uintptr_t)resource->as.opencl.buffer;
        return resource->as.opencl.offset;
    case ACRE_RESOURCE_VULKAN:
        *page = resource->as.vulkan.buffer;
        return resource->as.vulkan.offset;
    case ACRE_RESOURCE_CUDA:
        return resource->as.cuda;
    default:
        return (uintptr_t)resource->as.host;
    }
}

static void a_resource_has_the_requested_size_and_the_slice_alignment(void **state) {
    rig r = suite_rig(*state);
    acre_storage_limits limits = ACRE_STORAGE_LIMITS_INIT;
    acre_storage_limits_get(r.storage, &limits);
    uint64_t alignment = limits.slice_alignment != 0 ? limits.slice_alignment : 1;
    const uint64_t sizes[] = {1, 31, 100, 5000, 100001, 3000001};
    acre_handle *h[COUNT_OF(sizes)];
    for (size_t i = 0; i < COUNT_OF(sizes); i++) {
        h[i] = take(r.manager, sizes[i]);
        acre_resource resource = resolve(r.manager, h[i]);
        uint64_t page;
        assert_int_equal(resource.size, sizes[i]);
        assert_int_equal(place_in(&resource, &page) % alignment, 0);
    }
    drop_all(r.manager, h, COUNT_OF(sizes));
    rig_close(&r);
}

static void a_zero_sized_allocation_takes_no_memory(void **state) {
    rig r = suite_rig(*state);
    acre_handle *none = take(r.manager, 0);
    acre_resource resource = resolve(r.manager, none);
    assert_int_equal(resource.kind, ACRE_RESOURCE_NONE);
    assert_int_equal(resource.size, 0);
    assert_int_equal(stats_of(r.storage).allocs, 0);
    acre_manager_release(r.manager, none);
    rig_close(&r);
}

static void no_two_live_resources_overlap(void **state) {
    enum {
        LIVE = 60
    };
    rig r = suite_rig(*state);
    acre_handle *h[LIVE];
    acre_resource at[LIVE];
    for (size_t i = 0; i < LIVE; i++) {
        h[i] = take(r.manager, 1 + (i * 7919) % 20000);
        if (i % 3 == 2) { // holes, so that rooms are used again
            acre_manager_release(r.manager, h[i - 1]);
            h[i - 1] = take(r.manager, 1 + ((i - 1) * 7919) % 20000 / 2);
        }
    }
    for (size_t i = 0; i < LIVE; i++) {
        at[i] = resolve(r.manager, h[i]);
        for (size_t j = 0; j < i; j++) {
            uint64_t page_i;
            uint64_t page_j;
            uint64_t a = place_in(&at[i], &page_i);
            uint64_t b = place_in(&at[j], &page_j);
            assert_true(page_i != page_j || a + at[i].size <= b || b + at[j].size <= a);
        }
    }
    drop_all(r.manager, h, LIVE);
    rig_close(&r);
}

static void a_resource_names_the_same_bytes_every_time(void **state) {
    rig r = suite_rig(*state);
    acre_handle *a = take(r.manager, 1000);
    acre_resource first = resolve(r.manager, a);
    acre_handle *b = take(r.manager, 30000);
    acre_resource again = resolve(r.manager, a);
    assert_memory_equal(&first.as, &again.as, sizeof first.as);
    acre_manager_release(r.manager, a);
    acre_manager_release(r.manager, b);
    rig_close(&r);
}

static void two_managers_share_one_device(void **state) {
    const subject *about = *state;
    rig r = suite_rig(about);
    acre_layout layout = ACRE_LAYOUT_INIT(ACRE_LAYOUT_EXPLICIT);
    acre_pool_options pool = direct_pool(ACRE_UNSET);
    layout.pools = &pool;
    layout.pool_count = 1;
    acre_manager_options options = plain_options(0, 0);
    options.layout = &layout;
    acre_manager *second = NULL;
    assert_ok(acre_manager_create(r.storage, &options, &second, NULL));
    acre_handle *h[4];
    for (size_t i = 0; i < COUNT_OF(h); i++) {
        h[i] = take(i % 2 == 0 ? r.manager : second, LARGEST);
    }
    (void)refuse(r.manager, MIB, ACRE_OUT_OF_MEMORY);
    acre_manager_release(second, h[1]);
    acre_manager_release(second, h[3]);
    acre_manager_destroy(second);
    assert_int_equal(stats_of(r.storage).bytes_allocated,
                     2 * page_bytes(about, r.storage, LARGEST));
    acre_handle *more = take(r.manager, MIB);
    acre_manager_release(r.manager, more);
    acre_manager_release(r.manager, h[0]);
    acre_manager_release(r.manager, h[2]);
    rig_close(&r);
}

static void hundreds_of_pages_come_and_go(void **state) {
    enum {
        PAGES = 300
    };
    const subject *about = *state;
    acre_pool_options pool = direct_pool(ACRE_UNSET);
    rig r = rig_pools_on(suite_storage(about, 2 * GIB, LARGEST), 0, 0, &pool, 1);
    filled all[PAGES];
    for (uint32_t i = 0; i < PAGES; i++) {
        all[i] = take_filled(about, &r, 60 * KIB + 4 * i, i);
    }
    assert_int_equal(stats_of(r.storage).allocs, PAGES);
    for (uint32_t i = 0; i < PAGES; i++) {
        check_filled(about, &r, &all[i]);
        acre_manager_release(r.manager, all[i].handle);
    }
    acre_manager_cleanup(r.manager, ACRE_CLEANUP_EXPLICIT);
    assert_int_equal(stats_of(r.storage).bytes_allocated, 0);
    rig_close(&r);
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(a_storage_has_a_name_and_counts_from_zero),
    cmocka_unit_test(pages_are_counted_and_all_go_back),
    cmocka_unit_test(a_resource_has_the_requested_size_and_the_slice_alignment),
    cmocka_unit_test(a_zero_sized_allocation_takes_no_memory),
    cmocka_unit_test(no_two_live_resources_overlap),
    cmocka_unit_test(a_resource_names_the_same_bytes_every_time),
    cmocka_unit_test(two_managers_share_one_device),
    cmocka_unit_test(hundreds_of_pages_come_and_go),
};

const part pages_part = {tests, COUNT_OF(tests), false, false, false};
