// Section 11, reports: per pool and for the manager, and lists of what is live.
#include "support.h"

static void a_pool_reports_usage_pages_and_marks(void **state) {
    (void)state;
    acre_pool_options pool = sliced_pool(1000, ACRE_UNSET, 5000);
    rig r = rig_sized(128 * MIB, 10, &pool, 1);
    acre_handle *h[3] = {take(r.manager, 395), take(r.manager, 601), take(r.manager, 7)};
    acre_pool_report report = pool_of(r.manager, 0);
    assert_int_equal(report.kind, ACRE_POOL_SLICED);
    assert_int_equal(report.page_size, 1000);
    assert_int_equal(report.max_slice_size, 1000);
    assert_int_equal(report.max_pool_size, 5000);
    assert_int_equal(report.dealloc_period, ACRE_UNSET);
    assert_int_equal(report.usage.allocations, 3);
    assert_int_equal(report.usage.in_use, 1003);
    assert_int_equal(report.usage.padding, 5 + 9 + 3);
    assert_int_equal(report.usage.reserved, 2000);
    assert_int_equal(report.pages, 2);
    assert_int_equal(report.pages_unmapped, 0);
    assert_int_equal(report.largest_alloc, 601);
    drop_all(r.manager, h, 3);
    acre_manager_cleanup(r.manager, ACRE_CLEANUP_EXPLICIT);
    report = pool_of(r.manager, 0);
    assert_int_equal(report.usage.allocations, 0);
    assert_int_equal(report.usage.in_use, 0);
    assert_int_equal(report.usage.padding, 0);
    assert_int_equal(report.usage.reserved, 0);
    assert_int_equal(report.pages, 0);
    assert_int_equal(report.pages_peak, 2);
    assert_int_equal(report.bytes_peak, 2000);
    assert_int_equal(report.largest_alloc, 601);
    assert_int_equal(report.free_slices, 0);
    assert_int_equal(report.largest_free, 0);
    rig_close(&r);
}

static void free_pieces_are_counted_and_the_largest_is_known(void **state) {
    (void)state;
    acre_pool_options pool = sliced_pool(1000, ACRE_UNSET, ACRE_UNSET);
    rig r = rig_sized(128 * MIB, 10, &pool, 1);
    acre_handle *h[5];
    for (size_t i = 0; i < 5; i++) {
        h[i] = take(r.manager, i < 4 ? 100 * (i + 1) : 450); // 100 200 300 400 450
    }
    assert_int_equal(pool_of(r.manager, 0).pages, 2); // 1000 and 450 of 1000
    assert_int_equal(pool_of(r.manager, 0).free_slices, 1);
    assert_int_equal(pool_of(r.manager, 0).largest_free, 550);
    acre_manager_release(r.manager, h[0]);
    acre_manager_release(r.manager, h[2]);
    assert_int_equal(pool_of(r.manager, 0).free_slices, 3);
    acre_manager_release(r.manager, h[1]);
    assert_int_equal(pool_of(r.manager, 0).free_slices, 2);
    assert_int_equal(pool_of(r.manager, 0).largest_free, 600);
    acre_manager_release(r.manager, h[3]);
    assert_int_equal(pool_of(r.manager, 0).largest_free, 1000);
    acre_manager_release(r.manager, h[4]);
    assert_int_equal(pool_of(r.manager, 0).free_slices, 2);
    rig_close(&r);
}

static void the_managers_numbers_are_the_sum_of_all_pools(void **state) {
    (void)state;
    acre_pool_options pools[] = {exclusive_pool(0), sliced_pool(4096, 1000, ACRE_UNSET),
                                 direct_pool(ACRE_UNSET)};
    rig r = rig_pools(pools, 3);
    acre_handle *h[6];
    h[0] = take(r.manager, 0);
    h[1] = take(r.manager, 999);
    h[2] = take(r.manager, 10001);
    set_mode(r.manager, ACRE_MODE_PERSISTENT);
    h[3] = take(r.manager, 77);
    set_mode(r.manager, ACRE_MODE_DEDICATED);
    h[4] = take(r.manager, 5);
    h[5] = take(r.manager, 6);
    acre_manager_release(r.manager, h[5]);
    snapshot all = snapshot_of(r.manager);
    acre_usage sum = {0};
    uint64_t pages = 0;
    for (size_t i = 0; i < all.count; i++) {
        sum.allocations += all.pools[i].usage.allocations;
        sum.in_use += all.pools[i].usage.in_use;
        sum.padding += all.pools[i].usage.padding;
        sum.reserved += all.pools[i].usage.reserved;
        pages += all.pools[i].pages;
    }
    assert_int_equal(all.report.usage.allocations, 5);
    assert_int_equal(all.report.usage.in_use, 999 + 10001 + 77 + 5);
    assert_int_equal(all.report.usage.padding, 25 + 15 + 19 + 27);
    assert_int_equal(all.report.usage.reserved, 4096 + 10016 + 96 + 32 + 32);
    assert_int_equal(sum.allocations, all.report.usage.allocations);
    assert_int_equal(sum.in_use, all.report.usage.in_use);
    assert_int_equal(sum.padding, all.report.usage.padding);
    assert_int_equal(sum.reserved, all.report.usage.reserved);
    assert_int_equal(pages, all.report.pages);
    assert_int_equal(all.report.bytes_allocated, all.report.usage.reserved);
    assert_int_equal(all.report.bytes_allocated, stats_of(r.storage).bytes_allocated);
    assert_int_equal(all.report.alignment, 32);
    assert_int_equal(all.report.largest_page, 128 * MIB);
    assert_int_equal(all.report.pool_count, 3);
    assert_int_equal(all.report.reservations, 6);
    drop_all(r.manager, h, 5);
    rig_close(&r);
}

static void pools_are_reported_in_routing_order_with_their_shape(void **state) {
    (void)state;
    acre_pool_options pools[] = {direct_pool(7 * MIB), exclusive_pool(4096),
                                 sliced_pool(MIB, 64 * KIB, 3 * MIB)};
    pools[1].dealloc_period = 50;
    pools[1].max_pool_size = 2 * MIB;
    rig r = rig_pools(pools, 3);
    assert_int_equal(pool_of(r.manager, 0).kind, ACRE_POOL_DIRECT);
    assert_int_equal(pool_of(r.manager, 0).reclaim_at, 7 * MIB);
    assert_int_equal(pool_of(r.manager, 1).kind, ACRE_POOL_EXCLUSIVE);
    assert_int_equal(pool_of(r.manager, 1).max_slice_size, 4096);
    assert_int_equal(pool_of(r.manager, 1).dealloc_period, 50);
    assert_int_equal(pool_of(r.manager, 1).max_pool_size, 2 * MIB);
    assert_int_equal(pool_of(r.manager, 2).kind, ACRE_POOL_SLICED);
    assert_int_equal(pool_of(r.manager, 2).max_slice_size, 64 * KIB);
    assert_int_equal(pool_of(r.manager, 2).max_pool_size, 3 * MIB);
    acre_pool_report report = ACRE_POOL_REPORT_INIT;
    acre_error error = ACRE_ERROR_INIT;
    assert_status(ACRE_INVALID_ARGUMENT, acre_manager_pool_report(r.manager, 3, &report, &error));
    assert_int_equal(error.status, ACRE_INVALID_ARGUMENT);
    rig_close(&r);
}

static void the_largest_allocations_are_listed_with_their_tags(void **state) {
    (void)state;
    acre_pool_options pools[] = {sliced_pool(4096, 1000, ACRE_UNSET), direct_pool(ACRE_UNSET)};
    rig r = rig_pools(pools, 2);
    const uint64_t sizes[] = {500, 90000, 700, 90000, 1, 0};
    const uint32_t tags[] = {7, 9, 0, 4, 5, 6};
    acre_handle *h[6];
    for (size_t i = 0; i < 6; i++) {
        acre_reservation reservation = ACRE_RESERVATION_INIT(sizes[i]);
        reservation.tag = tags[i];
        assert_ok(acre_manager_reserve_with(r.manager, &reservation, &h[i], NULL));
    }
    acre_allocation_info largest[8];
    assert_int_equal(acre_manager_largest(r.manager, largest, sizeof(acre_allocation_info), 1), 1);
    assert_int_equal(largest[0].tag, 4);
    assert_int_equal(acre_manager_largest(r.manager, NULL, sizeof(acre_allocation_info), 0), 0);
    assert_int_equal(acre_manager_largest(r.manager, largest, sizeof(acre_allocation_info), 3), 3);
    assert_int_equal(largest[0].size, 90000);
    assert_int_equal(largest[0].tag, 4); // ties by tag
    assert_int_equal(largest[0].pool_index, 1);
    assert_int_equal(largest[1].tag, 9);
    assert_int_equal(largest[2].size, 700);
    assert_int_equal(largest[2].padding, 4);
    assert_int_equal(largest[2].pool_index, 0);
    assert_int_equal(acre_manager_largest(r.manager, largest, sizeof(acre_allocation_info), 8),
                     5); // not the one of zero bytes
    assert_int_equal(largest[4].size, 1);
    assert_int_equal(largest[4].tag, 5);
    drop_all(r.manager, h, 6);
    assert_int_equal(acre_manager_largest(r.manager, largest, sizeof(acre_allocation_info), 8), 0);
    rig_close(&r);
}

typedef struct walk {
    acre_slice_info seen[16];
    size_t count;
} walk;

static void remember(void *context, const acre_slice_info *slice) {
    walk *w = context;
    assert_true(w->count < COUNT_OF(w->seen));
    w->seen[w->count++] = *slice;
}

//   page of pool 0   | live 100 | free 200 | live 300 | free 400 |
static void slices_are_visited_in_order_and_tile_their_pages(void **state) {
    (void)state;
    acre_pool_options pools[] = {sliced_pool(1000, ACRE_UNSET, ACRE_UNSET),
                                 direct_pool(ACRE_UNSET)};
    rig r = rig_sized(128 * MIB, 10, pools, 2);
    acre_handle *h[4] = {take(r.manager, 95), take(r.manager, 200), take(r.manager, 300),
                         take(r.manager, 2000)};
    acre_manager_release(r.manager, h[1]);
    walk w = {.count = 0};
    acre_manager_visit_slices(r.manager, remember, &w);
    assert_int_equal(w.count, 5);
    const uint64_t sizes[] = {100, 200, 300, 400, 2000};
    const uint64_t offsets[] = {0, 100, 300, 600, 0};
    const uint64_t requested[] = {95, 0, 300, 0, 2000};
    for (size_t i = 0; i < 5; i++) {
        assert_int_equal(w.seen[i].size, sizes[i]);
        assert_int_equal(w.seen[i].offset, offsets[i]);
        assert_int_equal(w.seen[i].requested, requested[i]);
        assert_int_equal(w.seen[i].live, requested[i] != 0);
        assert_int_equal(w.seen[i].pool_index, i == 4);
        assert_int_equal(w.seen[i].page_size, i == 4 ? 2000 : 1000);
    }
    acre_manager_release(r.manager, h[0]);
    acre_manager_release(r.manager, h[2]);
    acre_manager_release(r.manager, h[3]);
    rig_close(&r);
}

static void in_use_and_padding_are_the_padded_bytes_always(void **state) {
    (void)state;
    rig r = rig_preset(128 * MIB, 50, ACRE_LAYOUT_SUB_SLICES);
    acre_handle *h[100];
    uint64_t in_use = 0;
    uint64_t padded = 0;
    for (uint64_t i = 0; i < 100; i++) {
        uint64_t size = i * i * 37;
        h[i] = take(r.manager, size);
        in_use += size;
        padded += round_up(size, 50);
        assert_int_equal(usage_of(r.manager).in_use, in_use);
        assert_int_equal(usage_of(r.manager).in_use + usage_of(r.manager).padding, padded);
    }
    for (uint64_t i = 0; i < 100; i++) {
        acre_manager_release(r.manager, h[i]);
        in_use -= i * i * 37;
        padded -= round_up(i * i * 37, 50);
        assert_int_equal(usage_of(r.manager).in_use, in_use);
        assert_int_equal(usage_of(r.manager).in_use + usage_of(r.manager).padding, padded);
    }
    rig_close(&r);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_pool_reports_usage_pages_and_marks),
        cmocka_unit_test(free_pieces_are_counted_and_the_largest_is_known),
        cmocka_unit_test(the_managers_numbers_are_the_sum_of_all_pools),
        cmocka_unit_test(pools_are_reported_in_routing_order_with_their_shape),
        cmocka_unit_test(the_largest_allocations_are_listed_with_their_tags),
        cmocka_unit_test(slices_are_visited_in_order_and_tile_their_pages),
        cmocka_unit_test(in_use_and_padding_are_the_padded_bytes_always),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
