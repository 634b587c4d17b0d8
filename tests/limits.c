// Section 6, limits on a manager: soft, hard, and the callback that may ask for one more try.
#include "support.h"

static rig limited_rig(uint64_t soft, uint64_t hard) {
    static acre_pool_options pool;
    pool = exclusive_pool(ACRE_UNSET);
    acre_layout layout = explicit_layout(&pool, 1);
    acre_manager_options options = plain_options(128 * MIB, 32);
    options.layout = &layout;
    options.soft_limit = soft;
    options.hard_limit = hard;
    return rig_on(simulated_device(), &options);
}

static void above_the_soft_limit_free_pages_go_back_first(void **state) {
    (void)state;
    rig r = limited_rig(3 * MIB, 0);
    acre_handle *h[2] = {take(r.manager, MIB), take(r.manager, 2 * MIB)};
    drop_all(r.manager, h, 2);
    assert_int_equal(usage_of(r.manager).reserved, 3 * MIB); // at the limit, not above it
    acre_handle *a = take(r.manager, 3 * MIB);
    assert_int_equal(usage_of(r.manager).reserved, 3 * MIB);
    assert_int_equal(stats_of(r.storage).bytes_peak, 3 * MIB);
    acre_manager_release(r.manager, a);
    rig_close(&r);
}

static void without_a_soft_limit_free_pages_stay(void **state) {
    (void)state;
    rig r = limited_rig(0, 0);
    acre_handle *h[2] = {take(r.manager, MIB), take(r.manager, 2 * MIB)};
    drop_all(r.manager, h, 2);
    acre_handle *a = take(r.manager, 3 * MIB);
    assert_int_equal(usage_of(r.manager).reserved, 6 * MIB);
    acre_manager_release(r.manager, a);
    rig_close(&r);
}

static void live_memory_is_served_above_the_soft_limit(void **state) {
    (void)state;
    rig r = limited_rig(2 * MIB, 0);
    acre_handle *h[4];
    for (size_t i = 0; i < 4; i++) {
        h[i] = take(r.manager, MIB);
    }
    assert_int_equal(usage_of(r.manager).reserved, 4 * MIB);
    drop_all(r.manager, h, 4);
    rig_close(&r);
}

static void room_already_held_is_used_above_the_soft_limit(void **state) {
    (void)state;
    rig r = limited_rig(MIB, 0);
    acre_handle *h[2] = {take(r.manager, MIB), take(r.manager, MIB)};
    acre_manager_release(r.manager, h[0]);
    h[0] = take(r.manager, MIB);
    assert_int_equal(device_calls(r.storage), 2);
    drop_all(r.manager, h, 2);
    rig_close(&r);
}

static void the_hard_limit_refuses_without_asking_the_device(void **state) {
    (void)state;
    rig r = limited_rig(0, 3 * MIB);
    acre_handle *a = take(r.manager, 2 * MIB);
    snapshot before = snapshot_of(r.manager);
    acre_error error = refuse(r.manager, MIB + 32, ACRE_OUT_OF_MEMORY);
    assert_int_equal(error.size, MIB + 32);
    assert_int_equal(error.capacity, 3 * MIB);
    assert_int_equal(device_calls(r.storage), 1);
    snapshot after = snapshot_of(r.manager);
    assert_same_state(&before, &after);
    acre_handle *b = take(r.manager, MIB); // to the byte
    assert_int_equal(usage_of(r.manager).reserved, 3 * MIB);
    acre_manager_release(r.manager, a);
    acre_manager_release(r.manager, b);
    rig_close(&r);
}

static void the_hard_limit_gives_free_pages_back_before_it_refuses(void **state) {
    (void)state;
    rig r = limited_rig(0, 3 * MIB);
    acre_manager_release(r.manager, take(r.manager, 2 * MIB));
    acre_handle *a = take(r.manager, 3 * MIB);
    assert_int_equal(usage_of(r.manager).reserved, 3 * MIB);
    assert_int_equal(stats_of(r.storage).bytes_peak, 3 * MIB);
    acre_manager_release(r.manager, a);
    rig_close(&r);
}

static void the_hard_limit_counts_every_pool(void **state) {
    (void)state;
    rig r = limited_rig(0, 3 * MIB);
    acre_handle *h[3];
    h[0] = take(r.manager, MIB);
    set_mode(r.manager, ACRE_MODE_PERSISTENT);
    h[1] = take(r.manager, MIB);
    set_mode(r.manager, ACRE_MODE_DEDICATED);
    h[2] = take(r.manager, MIB);
    (void)refuse(r.manager, 32, ACRE_OUT_OF_MEMORY);
    set_mode(r.manager, ACRE_MODE_PERSISTENT);
    (void)refuse(r.manager, 32, ACRE_OUT_OF_MEMORY);
    drop_all(r.manager, h, 3);
    rig_close(&r);
}

static void a_zero_sized_request_passes_every_limit(void **state) {
    (void)state;
    rig r = limited_rig(32, 32);
    acre_handle *h[2] = {take(r.manager, 32), take(r.manager, 0)};
    drop_all(r.manager, h, 2);
    rig_close(&r);
}

static void limits_can_be_changed_and_taken_away(void **state) {
    (void)state;
    rig r = limited_rig(0, MIB);
    (void)refuse(r.manager, 2 * MIB, ACRE_OUT_OF_MEMORY);
    acre_manager_set_limits(r.manager, 0, 2 * MIB);
    acre_handle *a = take(r.manager, 2 * MIB);
    acre_manager_set_limits(r.manager, 0, MIB); // what is above it stays
    assert_int_equal(usage_of(r.manager).reserved, 2 * MIB);
    (void)refuse(r.manager, 32, ACRE_OUT_OF_MEMORY);
    acre_manager_set_limits(r.manager, 0, 0);
    acre_handle *b = take(r.manager, 2 * MIB);
    acre_manager_release(r.manager, a);
    acre_manager_release(r.manager, b);
    rig_close(&r);
}

// ---- the callback --------------------------------------------------------------------------

typedef struct rescue {
    acre_handle *release; // what it can spare
    bool retry;
    int calls;
    uint64_t size;
    uint64_t reserved;
    uint64_t raise_to; // a new hard limit; 0 = none
} rescue;

static bool come_to_rescue(void *context, acre_manager *manager, uint64_t size) {
    rescue *h = context;
    h->calls++;
    h->size = size;
    h->reserved = usage_of(manager).reserved;
    if (h->release != NULL) {
        acre_manager_release(manager, h->release);
        h->release = NULL;
        acre_manager_cleanup(manager, ACRE_CLEANUP_EXPLICIT);
    }
    if (h->raise_to != 0) {
        acre_manager_set_limits(manager, 0, h->raise_to);
    }
    return h->retry;
}

static rig rescue_rig(rescue *h, uint64_t total, uint64_t hard) {
    static acre_pool_options pool;
    pool = exclusive_pool(ACRE_UNSET);
    acre_layout layout = explicit_layout(&pool, 1);
    acre_manager_options options = plain_options(128 * MIB, 32);
    options.layout = &layout;
    options.hard_limit = hard;
    options.out_of_memory = come_to_rescue;
    options.out_of_memory_context = h;
    return rig_on(limited_device(total, 0), &options);
}

static void a_callback_that_frees_something_gets_the_request_served(void **state) {
    (void)state;
    for (int by_device = 0; by_device < 2; by_device++) {
        rescue h = {.retry = true};
        rig r = rescue_rig(&h, by_device ? 2 * MIB : 0, by_device ? 0 : 2 * MIB);
        h.release = take(r.manager, 2 * MIB);
        acre_handle *a = take(r.manager, MIB + 5);
        assert_int_equal(h.calls, 1);
        assert_int_equal(h.size, MIB + 5);
        assert_int_equal(h.reserved, 2 * MIB);
        assert_int_equal(usage_of(r.manager).reserved, MIB + 32);
        acre_manager_release(r.manager, a);
        rig_close(&r);
    }
}

static void the_callback_asks_for_one_more_try_and_no_second(void **state) {
    (void)state;
    rescue h = {.retry = true};
    rig r = rescue_rig(&h, 2 * MIB, 0);
    acre_handle *a = take(r.manager, 2 * MIB);
    uint64_t calls = device_calls(r.storage);
    (void)refuse(r.manager, MIB, ACRE_OUT_OF_MEMORY);
    assert_int_equal(h.calls, 1);
    assert_int_equal(device_calls(r.storage), calls + 2);
    acre_manager_release(r.manager, a);
    rig_close(&r);
}

static void a_callback_that_does_not_ask_for_a_try_gets_none(void **state) {
    (void)state;
    rescue h = {.retry = false};
    rig r = rescue_rig(&h, 2 * MIB, 0);
    h.release = take(r.manager, 2 * MIB);
    (void)refuse(r.manager, MIB, ACRE_OUT_OF_MEMORY);
    assert_int_equal(h.calls, 1);
    acre_handle *a = take(r.manager, MIB); // what it freed serves the next
    assert_int_equal(h.calls, 1);
    acre_manager_release(r.manager, a);
    rig_close(&r);
}

static void the_callback_is_not_asked_when_giving_back_free_pages_helps(void **state) {
    (void)state;
    rescue h = {.retry = true};
    rig r = rescue_rig(&h, 2 * MIB, 0);
    acre_manager_release(r.manager, take(r.manager, MIB));
    acre_handle *a = take(r.manager, 2 * MIB);
    assert_int_equal(h.calls, 0);
    acre_manager_release(r.manager, a);
    rig_close(&r);
}

static void the_callback_may_raise_the_hard_limit(void **state) {
    (void)state;
    rescue h = {.retry = true, .raise_to = 4 * MIB};
    rig r = rescue_rig(&h, 0, MIB);
    acre_handle *a = take(r.manager, 2 * MIB);
    assert_int_equal(h.calls, 1);
    acre_manager_release(r.manager, a);
    rig_close(&r);
}

static void the_callback_is_not_asked_about_sizes_caps_or_forbidden_pages(void **state) {
    (void)state;
    rescue h = {.retry = true};
    acre_pool_options pool = sliced_pool(MIB, ACRE_UNSET, MIB);
    acre_layout layout = explicit_layout(&pool, 1);
    acre_manager_options options = plain_options(128 * MIB, 32);
    options.layout = &layout;
    options.out_of_memory = come_to_rescue;
    options.out_of_memory_context = &h;
    rig r = rig_on(limited_device(2 * MIB, 0), &options);
    acre_handle *a = take(r.manager, MIB);
    (void)refuse(r.manager, MIB, ACRE_POOL_CAPACITY_EXCEEDED);
    (void)refuse(r.manager, 2 * MIB, ACRE_BUFFER_TOO_BIG);
    (void)refuse_with(r.manager, MIB, 0, ACRE_PAGES_FORBIDDEN, ACRE_PAGE_UPDATE_FORBIDDEN);
    assert_int_equal(h.calls, 0);
    acre_manager_release(r.manager, a);
    rig_close(&r);
}

static void reaching_the_soft_limit_is_not_passing_it(void **state) {
    (void)state;
    rig r = limited_rig(3 * MIB, 0);
    acre_manager_release(r.manager, take(r.manager, MIB));
    acre_handle *a = take(r.manager, 2 * MIB);
    assert_int_equal(usage_of(r.manager).reserved, 3 * MIB);
    assert_int_equal(stats_of(r.storage).deallocs, 0);
    acre_manager_release(r.manager, a);
    rig_close(&r);
}

static bool release_only(void *context, acre_manager *manager, uint64_t size) {
    (void)manager, (void)size;
    acre_handle **spare = context;
    acre_handle_release(*spare); // as any thread may: taken in by the second try
    *spare = NULL;
    return true;
}

static void what_the_callback_releases_by_handle_serves_the_second_try(void **state) {
    (void)state;
    acre_pool_options pools[] = {exclusive_pool(ACRE_UNSET), direct_pool(ACRE_UNSET)};
    for (size_t k = 0; k < 2; k++) {
        for (uint64_t size = MIB; size <= 2 * MIB; size += MIB) { // less than what went, and it all
            acre_handle *spare = NULL;
            acre_layout layout = explicit_layout(&pools[k], 1);
            acre_manager_options options = plain_options(128 * MIB, 32);
            options.layout = &layout;
            options.out_of_memory = release_only;
            options.out_of_memory_context = &spare;
            rig r = rig_on(limited_device(2 * MIB, 0), &options);
            spare = take(r.manager, 2 * MIB);
            acre_handle *a = take(r.manager, size);
            assert_null(spare);
            assert_int_equal(usage_of(r.manager).allocations, 1);
            acre_manager_release(r.manager, a);
            rig_close(&r);
        }
    }
}

static void what_a_cap_refuses_gives_nothing_back_for_the_soft_limit(void **state) {
    (void)state;
    acre_pool_options pools[] = {sliced_pool(MIB, ACRE_UNSET, 2 * MIB), exclusive_pool(64 * MIB)};
    pools[1].max_pool_size = 8 * MIB;
    rig r = rig_pools(pools, 2);
    acre_handle *a = take(r.manager, 3 * MIB);
    acre_handle *b = take(r.manager, 5 * MIB);
    acre_manager_release(r.manager, a);
    acre_manager_set_limits(r.manager, MIB, 0);
    (void)refuse(r.manager, 20 * MIB, ACRE_POOL_CAPACITY_EXCEEDED);
    assert_int_equal(report_of(r.manager).pages, 2);
    acre_manager_release(r.manager, b);
    rig_close(&r);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_a_cap_refuses_gives_nothing_back_for_the_soft_limit),
        cmocka_unit_test(above_the_soft_limit_free_pages_go_back_first),
        cmocka_unit_test(reaching_the_soft_limit_is_not_passing_it),
        cmocka_unit_test(without_a_soft_limit_free_pages_stay),
        cmocka_unit_test(live_memory_is_served_above_the_soft_limit),
        cmocka_unit_test(room_already_held_is_used_above_the_soft_limit),
        cmocka_unit_test(the_hard_limit_refuses_without_asking_the_device),
        cmocka_unit_test(the_hard_limit_gives_free_pages_back_before_it_refuses),
        cmocka_unit_test(the_hard_limit_counts_every_pool),
        cmocka_unit_test(a_zero_sized_request_passes_every_limit),
        cmocka_unit_test(limits_can_be_changed_and_taken_away),
        cmocka_unit_test(a_callback_that_frees_something_gets_the_request_served),
        cmocka_unit_test(the_callback_asks_for_one_more_try_and_no_second),
        cmocka_unit_test(a_callback_that_does_not_ask_for_a_try_gets_none),
        cmocka_unit_test(the_callback_is_not_asked_when_giving_back_free_pages_helps),
        cmocka_unit_test(the_callback_may_raise_the_hard_limit),
        cmocka_unit_test(what_the_callback_releases_by_handle_serves_the_second_try),
        cmocka_unit_test(the_callback_is_not_asked_about_sizes_caps_or_forbidden_pages),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
