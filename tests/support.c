#include "support.h"

acre_storage *limited_device(uint64_t total, uint64_t largest) {
    acre_simulated_storage_params params = ACRE_SIMULATED_STORAGE_PARAMS_INIT;
    params.total_memory = total;
    params.largest_allocation = largest;
    acre_storage *storage = NULL;
    assert_ok(acre_storage_simulated_create(&params, NULL, &storage, NULL));
    assert_non_null(storage);
    return storage;
}

acre_storage *simulated_device(void) {
    return limited_device(0, 0);
}

acre_manager_options plain_options(uint64_t largest_page, uint64_t alignment) {
    static const acre_config defaults = {.struct_size = sizeof(acre_config)};
    acre_manager_options options = ACRE_MANAGER_OPTIONS_INIT;
    options.name = "test";
    options.largest_page = largest_page;
    options.alignment = alignment;
    options.config = &defaults;
    return options;
}

acre_layout explicit_layout(const acre_pool_options *pools, size_t count) {
    acre_layout layout = ACRE_LAYOUT_INIT(ACRE_LAYOUT_EXPLICIT);
    layout.pools = pools;
    layout.pool_count = count;
    return layout;
}

rig rig_on(acre_storage *storage, const acre_manager_options *options) {
    rig made = {.storage = storage};
    acre_error error = ACRE_ERROR_INIT;
    acre_status status = acre_manager_create(storage, options, &made.manager, &error);
    if (status != ACRE_OK) {
        print_error("no manager: %s\n", error.detail);
    }
    assert_ok(status);
    assert_non_null(made.manager);
    return made;
}

rig rig_pools_on(acre_storage *storage, uint64_t largest_page, uint64_t alignment,
                 const acre_pool_options *pools, size_t count) {
    acre_layout layout = explicit_layout(pools, count);
    acre_manager_options options = plain_options(largest_page, alignment);
    options.layout = &layout;
    return rig_on(storage, &options);
}

rig rig_sized(uint64_t largest_page, uint64_t alignment, const acre_pool_options *pools,
              size_t count) {
    return rig_pools_on(simulated_device(), largest_page, alignment, pools, count);
}

rig rig_pools(const acre_pool_options *pools, size_t count) {
    return rig_sized(128 * MIB, 32, pools, count);
}

rig rig_preset(uint64_t largest_page, uint64_t alignment, acre_layout_kind kind) {
    acre_layout layout = ACRE_LAYOUT_INIT(kind);
    acre_manager_options options = plain_options(largest_page, alignment);
    options.layout = &layout;
    return rig_on(simulated_device(), &options);
}

void rig_close(rig *closed) {
    check(closed->manager);
    acre_manager_destroy(closed->manager);
    acre_storage_stats stats = stats_of(closed->storage);
    assert_int_equal(stats.bytes_allocated, 0);
    assert_int_equal(stats.allocs, stats.deallocs);
    acre_storage_destroy(closed->storage);
    closed->manager = NULL;
    closed->storage = NULL;
}

acre_pool_options sliced_pool(uint64_t page, uint64_t slice, uint64_t cap) {
    acre_pool_options pool = ACRE_SLICED_POOL(page);
    pool.max_slice_size = slice;
    pool.max_pool_size = cap;
    return pool;
}

acre_pool_options exact_pool(uint64_t page) {
    acre_pool_options pool = ACRE_SLICED_POOL(page);
    pool.exact_large_slices = true;
    return pool;
}

acre_pool_options exclusive_pool(uint64_t largest) {
    acre_pool_options pool = ACRE_EXCLUSIVE_POOL(largest);
    return pool;
}

acre_pool_options direct_pool(uint64_t reclaim_at) {
    acre_pool_options pool = ACRE_DIRECT_POOL;
    pool.reclaim_at = reclaim_at;
    return pool;
}

acre_handle *take_with(acre_manager *manager, uint64_t size, uint64_t alignment,
                       acre_page_update update) {
    acre_reservation reservation = ACRE_RESERVATION_INIT(size);
    reservation.alignment = alignment;
    reservation.page_update = update;
    acre_handle *handle = NULL;
    assert_ok(acre_manager_reserve_with(manager, &reservation, &handle, NULL));
    assert_non_null(handle);
    return handle;
}

acre_handle *take(acre_manager *manager, uint64_t size) {
    acre_handle *handle = NULL;
    assert_ok(acre_manager_reserve(manager, size, &handle, NULL));
    assert_non_null(handle);
    return handle;
}

acre_error refuse_with(acre_manager *manager, uint64_t size, uint64_t alignment,
                       acre_page_update update, acre_status expected) {
    acre_reservation reservation = ACRE_RESERVATION_INIT(size);
    reservation.alignment = alignment;
    reservation.page_update = update;
    acre_handle *handle = NULL;
    acre_error error = ACRE_ERROR_INIT;
    assert_status(expected, acre_manager_reserve_with(manager, &reservation, &handle, &error));
    assert_status(expected, error.status);
    check(manager);
    return error;
}

acre_error refuse(acre_manager *manager, uint64_t size, acre_status expected) {
    return refuse_with(manager, size, 0, ACRE_PAGES_ALLOW, expected);
}

void drop_all(acre_manager *manager, acre_handle **handles, size_t count) {
    for (size_t i = 0; i < count; i++) {
        acre_manager_release(manager, handles[i]);
        handles[i] = NULL;
    }
}

void set_mode(acre_manager *manager, acre_mode mode) {
    assert_ok(acre_manager_set_mode(manager, mode, NULL));
}

void check(acre_manager *manager) {
    acre_error error = ACRE_ERROR_INIT;
    acre_status status = acre_manager_check(manager, &error);
    if (status != ACRE_OK) {
        print_error("check: %s\n", error.detail);
    }
    assert_ok(status);
}

acre_report report_of(acre_manager *manager) {
    acre_report report = ACRE_REPORT_INIT;
    acre_manager_report(manager, &report);
    return report;
}

acre_usage usage_of(acre_manager *manager) {
    return report_of(manager).usage;
}

acre_pool_report pool_of(acre_manager *manager, uint32_t index) {
    acre_pool_report report = ACRE_POOL_REPORT_INIT;
    assert_ok(acre_manager_pool_report(manager, index, &report, NULL));
    return report;
}

acre_place place_of(acre_manager *manager, const acre_handle *handle) {
    acre_place place = ACRE_PLACE_INIT;
    assert_ok(acre_manager_get_place(manager, handle, &place, NULL));
    return place;
}

uint64_t cursor_of(acre_manager *manager, const acre_handle *handle) {
    uint64_t cursor = UINT64_MAX;
    assert_ok(acre_manager_get_cursor(manager, handle, &cursor, NULL));
    return cursor;
}

bool same_place(acre_place a, acre_place b) {
    return a.pool_index == b.pool_index && a.page == b.page && a.offset == b.offset;
}

acre_storage_stats stats_of(const acre_storage *storage) {
    acre_storage_stats stats = ACRE_STORAGE_STATS_INIT;
    acre_storage_stats_get(storage, &stats);
    return stats;
}

uint64_t device_calls(const acre_storage *storage) {
    return acre_storage_simulated_calls(storage, ACRE_SIMULATED_ALLOC);
}

uint64_t round_up(uint64_t size, uint64_t alignment) {
    return (size + alignment - 1) / alignment * alignment;
}

snapshot snapshot_of(acre_manager *manager) {
    snapshot taken = {.report = report_of(manager)};
    assert_true(taken.report.pool_count + 2 <= COUNT_OF(taken.pools));
    for (uint32_t i = 0; i < taken.report.pool_count; i++) {
        taken.pools[taken.count++] = pool_of(manager, i);
    }
    taken.pools[taken.count++] = pool_of(manager, ACRE_POOL_INDEX_PERSISTENT);
    taken.pools[taken.count++] = pool_of(manager, ACRE_POOL_INDEX_DEDICATED);
    return taken;
}

static void assert_same_usage(acre_usage a, acre_usage b) {
    assert_int_equal(a.allocations, b.allocations);
    assert_int_equal(a.in_use, b.in_use);
    assert_int_equal(a.padding, b.padding);
    assert_int_equal(a.reserved, b.reserved);
}

void assert_same_state(const snapshot *a, const snapshot *b) {
    assert_same_usage(a->report.usage, b->report.usage);
    assert_int_equal(a->report.pages, b->report.pages);
    assert_int_equal(a->report.bytes_allocated, b->report.bytes_allocated);
    assert_int_equal(a->count, b->count);
    for (size_t i = 0; i < a->count; i++) {
        const acre_pool_report *p = &a->pools[i];
        const acre_pool_report *q = &b->pools[i];
        assert_int_equal(p->kind, q->kind);
        assert_int_equal(p->page_size, q->page_size);
        assert_int_equal(p->max_slice_size, q->max_slice_size);
        assert_int_equal(p->max_pool_size, q->max_pool_size);
        assert_same_usage(p->usage, q->usage);
        assert_int_equal(p->pages, q->pages);
        assert_int_equal(p->free_slices, q->free_slices);
        assert_int_equal(p->largest_free, q->largest_free);
    }
}

void assert_unchanged(const snapshot *a, const snapshot *b) {
    assert_same_state(a, b);
    assert_int_equal(a->report.reservations, b->report.reservations);
    assert_int_equal(a->report.bytes_peak, b->report.bytes_peak);
    for (size_t i = 0; i < a->count; i++) {
        assert_int_equal(a->pools[i].pages_peak, b->pools[i].pages_peak);
        assert_int_equal(a->pools[i].bytes_peak, b->pools[i].bytes_peak);
        assert_int_equal(a->pools[i].largest_alloc, b->pools[i].largest_alloc);
    }
}
