// Section 15, a device that refuses: free pages of every pool go back, the request is tried once
// more if that returned at least one page, and the manager works on as before.
#include "support.h"

static void a_request_that_nothing_could_help_is_tried_once(void **state) {
    (void)state;
    acre_pool_options pool = direct_pool(ACRE_UNSET);
    rig r = rig_pools_on(limited_device(4 * MIB, 0), 128 * MIB, 32, &pool, 1);
    acre_handle *a = take(r.manager, 3 * MIB);
    snapshot before = snapshot_of(r.manager);
    (void)refuse(r.manager, 2 * MIB, ACRE_OUT_OF_MEMORY);
    assert_int_equal(device_calls(r.storage), 2);
    snapshot after = snapshot_of(r.manager);
    assert_same_state(&before, &after);
    assert_int_equal(after.pools[0].pages_peak, before.pools[0].pages_peak);
    acre_handle *b = take(r.manager, MIB);
    acre_manager_release(r.manager, a);
    acre_manager_release(r.manager, b);
    rig_close(&r);
}

static void returned_pages_are_worth_one_more_try(void **state) {
    (void)state;
    acre_pool_options pool = direct_pool(ACRE_UNSET);
    rig r = rig_pools_on(limited_device(4 * MIB, 0), 128 * MIB, 32, &pool, 1);
    acre_manager_release(r.manager, take(r.manager, 3 * MIB));
    acre_handle *a = take(r.manager, 2 * MIB);
    assert_int_equal(device_calls(r.storage), 3); // one, refused, tried again
    assert_int_equal(usage_of(r.manager).reserved, 2 * MIB);
    acre_manager_release(r.manager, a);
    rig_close(&r);
}

static void pages_given_back_in_vain_stay_given_back(void **state) {
    (void)state;
    acre_pool_options pool = direct_pool(ACRE_UNSET);
    rig r = rig_pools_on(limited_device(4 * MIB, 0), 128 * MIB, 32, &pool, 1);
    acre_handle *live = take(r.manager, 2 * MIB);
    acre_manager_release(r.manager, take(r.manager, MIB));
    acre_error error = refuse(r.manager, 3 * MIB, ACRE_OUT_OF_MEMORY);
    assert_int_equal(device_calls(r.storage), 4);
    assert_int_equal(usage_of(r.manager).reserved, 2 * MIB);
    assert_int_equal(error.reserved, 2 * MIB);
    acre_handle *next = take(r.manager, 2 * MIB);
    acre_manager_release(r.manager, live);
    acre_manager_release(r.manager, next);
    rig_close(&r);
}

// One free page in each pool: 1 + 0.5 + 1.5 + 1 + 0.5 MiB of 5.
static void free_pages_of_every_pool_go_back_flushed(void **state) {
    (void)state;
    for (int deferred = 0; deferred < 2; deferred++) {
        acre_simulated_storage_params params = ACRE_SIMULATED_STORAGE_PARAMS_INIT;
        params.total_memory = 5 * MIB;
        params.deferred_frees = deferred == 1;
        acre_storage *storage = NULL;
        assert_ok(acre_storage_simulated_create(&params, NULL, &storage, NULL));
        acre_pool_options pools[] = {sliced_pool(MIB, 64 * KIB, ACRE_UNSET),
                                     exclusive_pool(MIB / 2), direct_pool(ACRE_UNSET)};
        rig r = rig_pools_on(storage, 128 * MIB, 32, pools, 3);
        acre_handle *h[5];
        h[0] = take(r.manager, 1000);
        h[1] = take(r.manager, MIB / 2);
        h[2] = take(r.manager, 3 * MIB / 2);
        set_mode(r.manager, ACRE_MODE_PERSISTENT);
        h[3] = take(r.manager, MIB);
        set_mode(r.manager, ACRE_MODE_DEDICATED);
        h[4] = take(r.manager, MIB / 2);
        set_mode(r.manager, ACRE_MODE_AUTO);
        set_mode(r.manager, ACRE_MODE_AUTO);
        drop_all(r.manager, h, 5);
        acre_handle *all = take(r.manager, 5 * MIB);
        assert_int_equal(usage_of(r.manager).reserved, 5 * MIB);
        assert_int_equal(report_of(r.manager).pages, 1);
        assert_int_equal(stats_of(r.storage).bytes_allocated, 5 * MIB);
        acre_manager_release(r.manager, all);
        rig_close(&r);
    }
}

static void an_add_only_reservation_gives_nothing_back(void **state) {
    (void)state;
    acre_pool_options pool = direct_pool(ACRE_UNSET);
    rig r = rig_pools_on(limited_device(4 * MIB, 0), 128 * MIB, 32, &pool, 1);
    acre_manager_release(r.manager, take(r.manager, 3 * MIB));
    (void)refuse_with(r.manager, 2 * MIB, 0, ACRE_PAGES_ADD_ONLY, ACRE_OUT_OF_MEMORY);
    assert_int_equal(device_calls(r.storage), 2);
    assert_int_equal(usage_of(r.manager).reserved, 3 * MIB);
    rig_close(&r);
}

// Pool 0 is full; pool 1 would serve the spill once pool 2 gave its free page back.
static void the_second_try_spills_too(void **state) {
    (void)state;
    acre_pool_options pools[] = {sliced_pool(MIB, ACRE_UNSET, MIB), exclusive_pool(MIB),
                                 direct_pool(ACRE_UNSET)};
    rig r = rig_pools_on(limited_device(4 * MIB, 0), 128 * MIB, 32, pools, 3);
    acre_handle *full = take(r.manager, MIB);
    acre_manager_release(r.manager, take(r.manager, 3 * MIB));
    acre_handle *spilled = take(r.manager, MIB);
    assert_int_equal(place_of(r.manager, spilled).pool_index, 1);
    assert_int_equal(usage_of(r.manager).reserved, 2 * MIB);
    acre_manager_release(r.manager, full);
    acre_manager_release(r.manager, spilled);
    rig_close(&r);
}

// The whole request: the page given back may be of the full pool itself, which then has room.
static void the_second_try_begins_at_the_first_pool(void **state) {
    (void)state;
    acre_pool_options pools[] = {exclusive_pool(MIB), direct_pool(ACRE_UNSET)};
    pools[0].max_pool_size = MIB;
    rig r = rig_pools_on(limited_device(MIB, 0), 128 * MIB, 32, pools, 2);
    acre_manager_release(r.manager, take(r.manager, MIB / 2)); // a free page too small
    acre_handle *a = take(r.manager, MIB);
    assert_int_equal(place_of(r.manager, a).pool_index, 0);
    assert_int_equal(usage_of(r.manager).reserved, MIB);
    acre_manager_release(r.manager, a);
    rig_close(&r);
}

static void an_exact_page_is_tried_after_pages_were_given_back_too(void **state) {
    (void)state;
    acre_pool_options pools[] = {exact_pool(4 * MIB), direct_pool(ACRE_UNSET)};
    rig r = rig_pools_on(limited_device(6 * MIB, 0), 128 * MIB, 32, pools, 2);
    acre_handle *big = take(r.manager, 5 * MIB); // direct
    acre_handle *half = take(r.manager, MIB);    // the exact page after the full one was refused
    assert_int_equal(usage_of(r.manager).reserved, 6 * MIB);
    acre_manager_release(r.manager, half);
    acre_manager_release(r.manager, big);
    acre_handle *again = take(r.manager, 3 * MIB); // over a quarter: an exact page at once
    assert_int_equal(usage_of(r.manager).reserved, 3 * MIB);
    acre_manager_release(r.manager, again);
    rig_close(&r);
}

static void persistent_and_dedicated_requests_are_tried_again_as_well(void **state) {
    (void)state;
    const acre_mode modes[] = {ACRE_MODE_PERSISTENT, ACRE_MODE_DEDICATED};
    for (size_t i = 0; i < 2; i++) {
        acre_pool_options pool = sliced_pool(3 * MIB, ACRE_UNSET, ACRE_UNSET);
        rig r = rig_pools_on(limited_device(4 * MIB, 0), 128 * MIB, 32, &pool, 1);
        acre_manager_release(r.manager, take(r.manager, 1000));
        set_mode(r.manager, modes[i]);
        acre_handle *a = take(r.manager, 4 * MIB);
        assert_int_equal(usage_of(r.manager).reserved, 4 * MIB);
        acre_manager_release(r.manager, a);
        rig_close(&r);
    }
}

static acre_status broken_alloc(void *context, uint64_t size, uint64_t *id, acre_error *error) {
    (void)size;
    uint64_t *calls = context;
    if (++*calls > 1) {
        error->native_code = 719;
        snprintf(error->native_text, sizeof(error->native_text), "launch failed");
        return ACRE_BACKEND_ERROR;
    }
    *id = 1;
    return ACRE_OK;
}

static void broken_dealloc(void *context, uint64_t id) {
    (void)context;
    (void)id;
}

static void broken_flush(void *context) {
    (void)context;
}

static acre_status broken_resource(void *context, uint64_t id, uint64_t offset, uint64_t size,
                                   acre_resource *resource, acre_error *error) {
    (void)context, (void)id, (void)offset, (void)size, (void)resource, (void)error;
    return ACRE_OK;
}

static uint64_t broken_alignment(void *context) {
    (void)context;
    return 256;
}

static uint64_t broken_bytes(void *context) {
    (void)context;
    return 0;
}

static void a_back_ends_own_error_is_not_tried_again(void **state) {
    (void)state;
    acre_storage_ops ops = ACRE_STORAGE_OPS_INIT;
    ops.alloc = broken_alloc;
    ops.dealloc = broken_dealloc;
    ops.flush = broken_flush;
    ops.resource = broken_resource;
    ops.alignment = broken_alignment;
    ops.bytes_allocated = broken_bytes;
    uint64_t calls = 0;
    acre_storage *storage = NULL;
    assert_ok(acre_storage_create("broken", &ops, &calls, NULL, &storage, NULL));
    acre_pool_options pool = direct_pool(ACRE_UNSET);
    acre_layout layout = explicit_layout(&pool, 1);
    acre_manager_options options = plain_options(MIB, 32);
    options.layout = &layout;
    rig r = rig_on(storage, &options);
    acre_manager_release(r.manager, take(r.manager, 1024)); // a free page that could go back
    acre_error error = refuse(r.manager, 2048, ACRE_BACKEND_ERROR);
    assert_int_equal(error.native_code, 719);
    assert_string_equal(error.native_text, "launch failed");
    assert_int_equal(calls, 2);
    assert_int_equal(usage_of(r.manager).reserved, 1024);
    acre_manager_release(r.manager, take(r.manager, 1024));
    rig_close(&r);
}

static void a_second_try_that_succeeds_reports_no_error(void **state) {
    (void)state;
    acre_pool_options pool = direct_pool(ACRE_UNSET);
    rig r = rig_pools_on(limited_device(4 * MIB, 0), 128 * MIB, 32, &pool, 1);
    acre_manager_release(r.manager, take(r.manager, 3 * MIB));
    acre_error error = ACRE_ERROR_INIT;
    acre_handle *a = NULL;
    assert_ok(acre_manager_reserve(r.manager, 2 * MIB, &a, &error));
    assert_int_equal(error.status, ACRE_OK);
    assert_int_equal(error.native_code, 0);
    acre_manager_release(r.manager, a);
    rig_close(&r);
}

// The periodic cleanup gave a page back, and the driver has put that off: 3 of 4 MiB.
static void frees_that_were_put_off_are_pushed_before_a_refusal(void **state) {
    (void)state;
    acre_simulated_storage_params params = ACRE_SIMULATED_STORAGE_PARAMS_INIT;
    params.total_memory = 4 * MIB;
    params.deferred_frees = true;
    acre_storage *storage = NULL;
    assert_ok(acre_storage_simulated_create(&params, NULL, &storage, NULL));
    acre_pool_options pools[] = {exclusive_pool(1024), exclusive_pool(3 * MIB),
                                 direct_pool(ACRE_UNSET)};
    pools[1].dealloc_period = 5;
    rig r = rig_pools_on(storage, 128 * MIB, 32, pools, 3);
    acre_handle *live = take(r.manager, 1024);
    acre_manager_release(r.manager, take(r.manager, 3 * MIB));
    for (int i = 0; i < 8; i++) {
        acre_manager_release(r.manager, take(r.manager, 0));
    }
    assert_int_equal(pool_of(r.manager, 1).pages, 0);
    acre_handle *a = take(r.manager, 4 * MIB - 1024);
    assert_int_equal(stats_of(r.storage).bytes_allocated, 4 * MIB);
    acre_manager_release(r.manager, a);
    acre_manager_release(r.manager, live);
    rig_close(&r);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_request_that_nothing_could_help_is_tried_once),
        cmocka_unit_test(returned_pages_are_worth_one_more_try),
        cmocka_unit_test(pages_given_back_in_vain_stay_given_back),
        cmocka_unit_test(free_pages_of_every_pool_go_back_flushed),
        cmocka_unit_test(frees_that_were_put_off_are_pushed_before_a_refusal),
        cmocka_unit_test(an_add_only_reservation_gives_nothing_back),
        cmocka_unit_test(the_second_try_spills_too),
        cmocka_unit_test(the_second_try_begins_at_the_first_pool),
        cmocka_unit_test(an_exact_page_is_tried_after_pages_were_given_back_too),
        cmocka_unit_test(persistent_and_dedicated_requests_are_tried_again_as_well),
        cmocka_unit_test(a_back_ends_own_error_is_not_tried_again),
        cmocka_unit_test(a_second_try_that_succeeds_reports_no_error),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
