// Section 2, the table of operations: what is needed is checked once, at creation.
#include "support.h"

typedef struct device {
    uint64_t allocs;
    uint64_t destroyed;
} device;

static acre_status dev_alloc(void *context, uint64_t size, uint64_t *id, acre_error *error) {
    (void)size, (void)error;
    device *d = context;
    *id = ++d->allocs;
    return ACRE_OK;
}

static void dev_dealloc(void *context, uint64_t id) {
    (void)context, (void)id;
}

static void dev_flush(void *context) {
    (void)context;
}

static acre_status dev_resource(void *context, uint64_t id, uint64_t offset, uint64_t size,
                                acre_resource *resource, acre_error *error) {
    (void)context, (void)error;
    resource->kind = ACRE_RESOURCE_SIMULATED;
    resource->size = size;
    resource->as.simulated.page = id;
    resource->as.simulated.offset = offset;
    return ACRE_OK;
}

static uint64_t dev_alignment(void *context) {
    (void)context;
    return 64;
}

static uint64_t dev_bytes(void *context) {
    (void)context;
    return 0;
}

static void dev_limits(void *context, acre_storage_limits *limits) {
    (void)context;
    limits->total_memory = 4096;
    limits->largest_allocation = 1000;
    limits->slice_alignment = 16;
}

static void dev_destroy(void *context) {
    device *d = context;
    d->destroyed++;
}

static acre_storage_ops needed_ops(void) {
    acre_storage_ops ops = ACRE_STORAGE_OPS_INIT;
    ops.alloc = dev_alloc;
    ops.dealloc = dev_dealloc;
    ops.flush = dev_flush;
    ops.resource = dev_resource;
    ops.alignment = dev_alignment;
    ops.bytes_allocated = dev_bytes;
    return ops;
}

static void assert_refused(acre_status expected, const acre_storage_ops *ops, const char *named) {
    device d = {0};
    acre_storage *storage = NULL;
    acre_error error = ACRE_ERROR_INIT;
    assert_status(expected, acre_storage_create("dev", ops, &d, NULL, &storage, &error));
    assert_null(storage);
    assert_int_equal(error.status, expected);
    if (named != NULL) {
        if (strstr(error.detail, named) == NULL) {
            print_error("\"%s\" does not name %s\n", error.detail, named);
        }
        assert_non_null(strstr(error.detail, named));
    }
    assert_int_equal(d.destroyed, 0); // the context stays the caller's
}

static void each_needed_operation_that_is_missing_is_named(void **state) {
    (void)state;
    acre_storage_ops ops = needed_ops();
    ops.alloc = NULL;
    assert_refused(ACRE_INVALID_ARGUMENT, &ops, "alloc");
    ops = needed_ops();
    ops.dealloc = NULL;
    assert_refused(ACRE_INVALID_ARGUMENT, &ops, "dealloc");
    ops = needed_ops();
    ops.flush = NULL;
    assert_refused(ACRE_INVALID_ARGUMENT, &ops, "flush");
    ops = needed_ops();
    ops.resource = NULL;
    assert_refused(ACRE_INVALID_ARGUMENT, &ops, "resource");
    ops = needed_ops();
    ops.alignment = NULL;
    assert_refused(ACRE_INVALID_ARGUMENT, &ops, "alignment");
    ops = needed_ops();
    ops.bytes_allocated = NULL;
    assert_refused(ACRE_INVALID_ARGUMENT, &ops, "bytes_allocated");
}

// Some operations make no sense alone; which of them is missing is said.
static void half_a_group_of_operations_is_refused_by_the_name_of_what_is_missing(void **state) {
    (void)state;
    static const struct {
        size_t given;
        const char *missing;
    } cases[] = {
        {offsetof(acre_storage_ops, write), "read"},
        {offsetof(acre_storage_ops, read), "write"},
        {offsetof(acre_storage_ops, map), "granularity"},
        {offsetof(acre_storage_ops, range_reserve), "granularity"},
        {offsetof(acre_storage_ops, event_record), "stream_id"},
        {offsetof(acre_storage_ops, event_destroy), "stream_id"},
    };
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        acre_storage_ops ops = needed_ops();
        // Never called: any function will do.
        memcpy((char *)&ops + cases[i].given, &ops.flush, sizeof ops.flush);
        assert_refused(ACRE_INVALID_ARGUMENT, &ops, cases[i].missing);
    }
}

static uint64_t no_granularity(void *context) {
    (void)context;
    return 0;
}

static void a_granularity_of_nothing_is_refused(void **state) {
    (void)state;
    acre_storage_ops ops = needed_ops();
    const size_t mapping[] = {
        offsetof(acre_storage_ops, range_reserve), offsetof(acre_storage_ops, range_release),
        offsetof(acre_storage_ops, memory_create), offsetof(acre_storage_ops, memory_destroy),
        offsetof(acre_storage_ops, map),           offsetof(acre_storage_ops, unmap),
    };
    for (size_t i = 0; i < COUNT_OF(mapping); i++) {
        memcpy((char *)&ops + mapping[i], &ops.flush, sizeof ops.flush);
    }
    ops.granularity = no_granularity;
    assert_refused(ACRE_INVALID_ARGUMENT, &ops, "granularity");
}

static void what_a_storage_cannot_do_is_unsupported(void **state) {
    (void)state;
    device d = {0};
    acre_storage_ops ops = needed_ops();
    acre_storage *storage = NULL;
    assert_ok(acre_storage_create("dev", &ops, &d, NULL, &storage, NULL));
    acre_resource resource = ACRE_RESOURCE_INIT;
    resource.kind = ACRE_RESOURCE_SIMULATED;
    resource.size = 4;
    uint32_t word = 7;
    acre_error error = ACRE_ERROR_INIT;
    assert_status(ACRE_UNSUPPORTED, acre_storage_write(storage, &resource, &word, &error));
    assert_non_null(strstr(error.detail, "dev"));
    assert_status(ACRE_UNSUPPORTED, acre_storage_read(storage, &resource, &word, &error));
    assert_int_equal(word, 7);
    assert_status(ACRE_UNSUPPORTED, acre_storage_fail(storage, 1, false, 0, &error));
    assert_non_null(strstr(error.detail, "dev"));
    assert_int_equal(acre_storage_calls(storage), 0);
    assert_ok(acre_storage_wait(storage, NULL)); // nothing to wait for
    acre_storage_destroy(storage);
}

// The handle of one would be the address of another.
static void bytes_of_another_kind_of_storage_are_refused(void **state) {
    (void)state;
    acre_storage *storage = NULL;
    assert_ok(acre_storage_host_create(NULL, NULL, &storage, NULL));
    for (int kind = ACRE_RESOURCE_SIMULATED; kind <= ACRE_RESOURCE_VULKAN + 1; kind++) {
        acre_resource resource = ACRE_RESOURCE_INIT;
        resource.kind = (acre_resource_kind)kind;
        resource.size = 4;
        resource.as.words[0] = 1;
        uint32_t word = 7;
        acre_error error = ACRE_ERROR_INIT;
        assert_status(ACRE_INVALID_ARGUMENT, acre_storage_write(storage, &resource, &word, &error));
        assert_non_null(strstr(error.detail, "kind"));
        assert_status(ACRE_INVALID_ARGUMENT, acre_storage_read(storage, &resource, &word, &error));
        assert_int_equal(word, 7);
    }
    acre_storage_destroy(storage);
}

static void a_code_that_no_driver_has_is_no_failure_on_order(void **state) {
    (void)state;
    acre_storage *storage = NULL;
    assert_ok(acre_storage_host_virtual_create(NULL, NULL, &storage, NULL));
    const int64_t codes[] = {INT64_MIN, INT64_MAX, INT64_C(1) << 32, -(INT64_C(1) << 40)};
    acre_error error = ACRE_ERROR_INIT;
    for (size_t i = 0; i < COUNT_OF(codes); i++) {
        assert_status(ACRE_INVALID_ARGUMENT, acre_storage_fail(storage, 1, true, codes[i], &error));
    }
    acre_pool_options pool = direct_pool(ACRE_UNSET);
    rig r = rig_pools_on(storage, MIB, 32, &pool, 1);
    acre_manager_release(r.manager, take(r.manager, 1000)); // none was taken down
    rig_close(&r);
}

static void a_table_of_another_version_is_unsupported(void **state) {
    (void)state;
    acre_storage_ops ops = needed_ops();
    ops.version = ACRE_STORAGE_OPS_VERSION + 1;
    assert_refused(ACRE_UNSUPPORTED, &ops, NULL);
}

static void a_table_of_a_smaller_older_struct_is_accepted(void **state) {
    (void)state;
    device d = {0};
    acre_storage_ops ops = needed_ops();
    ops.limits = dev_limits; // beyond what the older struct has: not to be looked at
    ops.destroy = dev_destroy;
    ops.struct_size = offsetof(acre_storage_ops, limits);
    acre_storage *storage = NULL;
    assert_ok(acre_storage_create("dev", &ops, &d, NULL, &storage, NULL));
    acre_storage_limits limits = ACRE_STORAGE_LIMITS_INIT;
    acre_storage_limits_get(storage, &limits);
    assert_int_equal(limits.total_memory, 0);
    acre_storage_destroy(storage);
    assert_int_equal(d.destroyed, 0);
}

static void a_table_too_small_for_a_needed_operation_lacks_it(void **state) {
    (void)state;
    acre_storage_ops ops = needed_ops();
    ops.struct_size = offsetof(acre_storage_ops, bytes_allocated);
    assert_refused(ACRE_INVALID_ARGUMENT, &ops, "bytes_allocated");
}

static void a_larger_table_is_accepted_when_what_is_unknown_is_zero(void **state) {
    (void)state;
    struct {
        acre_storage_ops ops;
        uint64_t more[4];
    } newer;
    memset(&newer, 0, sizeof(newer));
    newer.ops = needed_ops();
    newer.ops.struct_size = sizeof(newer);
    device d = {0};
    acre_storage *storage = NULL;
    assert_ok(acre_storage_create("dev", &newer.ops, &d, NULL, &storage, NULL));
    acre_storage_destroy(storage);
    newer.more[3] = 1;
    assert_refused(ACRE_UNSUPPORTED, &newer.ops, NULL);
}

static void the_context_is_ended_once_with_the_storage(void **state) {
    (void)state;
    device d = {0};
    acre_storage_ops ops = needed_ops();
    ops.destroy = dev_destroy;
    acre_storage *storage = NULL;
    assert_ok(acre_storage_create("dev", &ops, &d, NULL, &storage, NULL));
    memset(&ops, 0, sizeof(ops)); // the table was copied
    acre_storage_destroy(storage);
    assert_int_equal(d.destroyed, 1);
}

static void the_name_is_copied_and_kept_to_31_bytes(void **state) {
    (void)state;
    char name[64] = "heap";
    device d = {0};
    acre_storage_ops ops = needed_ops();
    acre_storage *storage = NULL;
    assert_ok(acre_storage_create(name, &ops, &d, NULL, &storage, NULL));
    name[0] = 'X';
    assert_string_equal(acre_storage_name(storage), "heap");
    acre_storage_destroy(storage);
    memset(name, 'n', sizeof(name) - 1);
    assert_ok(acre_storage_create(name, &ops, &d, NULL, &storage, NULL));
    assert_int_equal(strlen(acre_storage_name(storage)), 31);
    acre_storage_destroy(storage);
}

static void limits_that_a_back_end_knows_reach_the_manager(void **state) {
    (void)state;
    device d = {0};
    acre_storage_ops ops = needed_ops();
    ops.limits = dev_limits;
    acre_storage *storage = NULL;
    assert_ok(acre_storage_create("dev", &ops, &d, NULL, &storage, NULL));
    acre_storage_limits limits = ACRE_STORAGE_LIMITS_INIT;
    acre_storage_limits_get(storage, &limits);
    assert_int_equal(limits.total_memory, 4096);
    assert_int_equal(limits.largest_allocation, 1000);
    assert_int_equal(limits.slice_alignment, 16);
    assert_false(limits.no_sub_slices);
    acre_manager_options options = plain_options(0, 0);
    rig r = rig_on(storage, &options);
    assert_int_equal(report_of(r.manager).alignment, 16);
    assert_int_equal(report_of(r.manager).largest_page, 992); // 1000 rounded down to 16
    rig_close(&r);
}

static void without_a_slice_alignment_the_page_alignment_is_the_managers(void **state) {
    (void)state;
    device d = {0};
    acre_storage_ops ops = needed_ops();
    acre_storage *storage = NULL;
    assert_ok(acre_storage_create("dev", &ops, &d, NULL, &storage, NULL));
    acre_manager_options options = plain_options(1000, 0);
    rig r = rig_on(storage, &options);
    assert_int_equal(report_of(r.manager).alignment, 64);
    assert_int_equal(report_of(r.manager).largest_page, 960);
    rig_close(&r);
}

static void the_largest_page_is_rounded_down_and_at_least_the_alignment(void **state) {
    (void)state;
    const uint64_t cases[][3] = {{1003, 50, 1000}, {1000, 50, 1000}, {30, 50, 50},
                                 {1, 32, 32},      {99, 10, 90},     {7, 1, 7}};
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        acre_pool_options pool = direct_pool(ACRE_UNSET);
        rig r = rig_sized(cases[i][0], cases[i][1], &pool, 1);
        assert_int_equal(report_of(r.manager).largest_page, cases[i][2]);
        rig_close(&r);
    }
}

static void a_larger_caller_struct_with_unknown_settings_is_unsupported(void **state) {
    (void)state;
    acre_pool_options pool = sliced_pool(MIB, ACRE_UNSET, ACRE_UNSET);
    rig r = rig_pools(&pool, 1);
    struct {
        acre_reservation reservation;
        uint64_t more;
    } newer;
    memset(&newer, 0, sizeof(newer));
    acre_reservation known = ACRE_RESERVATION_INIT(100);
    newer.reservation = known;
    newer.reservation.struct_size = sizeof(newer);
    acre_handle *handle = NULL;
    assert_ok(acre_manager_reserve_with(r.manager, &newer.reservation, &handle, NULL));
    acre_manager_release(r.manager, handle);
    newer.more = 5;
    acre_error error = ACRE_ERROR_INIT;
    assert_status(ACRE_UNSUPPORTED,
                  acre_manager_reserve_with(r.manager, &newer.reservation, &handle, &error));
    assert_int_equal(usage_of(r.manager).allocations, 0);
    rig_close(&r);
}

static void a_smaller_caller_struct_keeps_the_defaults_of_what_it_lacks(void **state) {
    (void)state;
    acre_pool_options pool = sliced_pool(MIB, ACRE_UNSET, ACRE_UNSET);
    rig r = rig_pools(&pool, 1);
    acre_reservation older = ACRE_RESERVATION_INIT(100);
    older.struct_size = offsetof(acre_reservation, alignment);
    older.alignment = GIB; // not of that struct
    older.page_update = ACRE_PAGES_FORBIDDEN;
    acre_handle *handle = NULL;
    assert_ok(acre_manager_reserve_with(r.manager, &older, &handle, NULL));
    acre_manager_release(r.manager, handle);
    rig_close(&r);
}

// A list made by a caller of another version is walked by that version's size.
static void a_list_of_larger_or_smaller_pool_options_is_read_by_its_own_size(void **state) {
    (void)state;
    struct {
        acre_pool_options pool;
        uint64_t more;
    } newer[2];
    memset(newer, 0, sizeof(newer));
    newer[0].pool = exclusive_pool(1024);
    newer[1].pool = sliced_pool(MIB, ACRE_UNSET, ACRE_UNSET);
    newer[0].pool.struct_size = newer[1].pool.struct_size = sizeof(newer[0]);
    acre_layout layout = explicit_layout(&newer[0].pool, 2);
    acre_manager_options options = plain_options(128 * MIB, 32);
    options.layout = &layout;
    rig r = rig_on(simulated_device(), &options);
    assert_int_equal(pool_of(r.manager, 0).kind, ACRE_POOL_EXCLUSIVE);
    assert_int_equal(pool_of(r.manager, 1).page_size, MIB);
    newer[1].more = 1;
    assert_status(ACRE_UNSUPPORTED, acre_manager_install_layout(r.manager, &layout, NULL));
    assert_int_equal(report_of(r.manager).pool_count, 2);
    rig_close(&r);

    enum {
        OLD = offsetof(acre_pool_options, strict)
    };
    _Alignas(acre_pool_options) unsigned char older[2 * OLD];
    for (size_t i = 0; i < 2; i++) {
        acre_pool_options pool = sliced_pool((i + 1) * 1024, ACRE_UNSET, ACRE_UNSET);
        pool.struct_size = OLD;
        memcpy(older + i * OLD, &pool, OLD);
    }
    layout.pools = (const acre_pool_options *)(const void *)older;
    r = rig_on(simulated_device(), &options);
    assert_int_equal(pool_of(r.manager, 0).page_size, 1024);
    assert_int_equal(pool_of(r.manager, 1).page_size, 2048);
    rig_close(&r);
}

static uint64_t no_alignment(void *context) {
    (void)context;
    return 0;
}

static void a_storage_without_operations_or_alignment_is_refused(void **state) {
    (void)state;
    assert_refused(ACRE_INVALID_ARGUMENT, NULL, NULL);
    acre_storage_ops ops = needed_ops();
    ops.alignment = no_alignment;
    assert_refused(ACRE_INVALID_ARGUMENT, &ops, "alignment");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_needed_operation_that_is_missing_is_named),
        cmocka_unit_test(a_storage_without_operations_or_alignment_is_refused),
        cmocka_unit_test(half_a_group_of_operations_is_refused_by_the_name_of_what_is_missing),
        cmocka_unit_test(a_granularity_of_nothing_is_refused),
        cmocka_unit_test(what_a_storage_cannot_do_is_unsupported),
        cmocka_unit_test(bytes_of_another_kind_of_storage_are_refused),
        cmocka_unit_test(a_code_that_no_driver_has_is_no_failure_on_order),
        cmocka_unit_test(a_table_of_another_version_is_unsupported),
        cmocka_unit_test(a_table_of_a_smaller_older_struct_is_accepted),
        cmocka_unit_test(a_table_too_small_for_a_needed_operation_lacks_it),
        cmocka_unit_test(a_larger_table_is_accepted_when_what_is_unknown_is_zero),
        cmocka_unit_test(the_context_is_ended_once_with_the_storage),
        cmocka_unit_test(the_name_is_copied_and_kept_to_31_bytes),
        cmocka_unit_test(limits_that_a_back_end_knows_reach_the_manager),
        cmocka_unit_test(without_a_slice_alignment_the_page_alignment_is_the_managers),
        cmocka_unit_test(the_largest_page_is_rounded_down_and_at_least_the_alignment),
        cmocka_unit_test(a_larger_caller_struct_with_unknown_settings_is_unsupported),
        cmocka_unit_test(a_smaller_caller_struct_keeps_the_defaults_of_what_it_lacks),
        cmocka_unit_test(a_list_of_larger_or_smaller_pool_options_is_read_by_its_own_size),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
