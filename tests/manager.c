// Section 1, what a manager is made of: options, their defaults, and what is refused.
#include "support.h"

static void assert_refused(acre_storage *storage, const acre_manager_options *options,
                           acre_status expected, const char *named) {
    acre_manager *manager = NULL;
    acre_error error = ACRE_ERROR_INIT;
    assert_status(expected, acre_manager_create(storage, options, &manager, &error));
    assert_null(manager);
    assert_int_equal(error.status, expected);
    if (strstr(error.detail, named) == NULL) {
        print_error("\"%s\" does not name %s\n", error.detail, named);
    }
    assert_non_null(strstr(error.detail, named));
    assert_int_equal(stats_of(storage).allocs, 0);
}

static void without_options_the_device_says_it_all(void **state) {
    (void)state;
    unsetenv("ACRE_CONF");
    rig r = rig_on(limited_device(80 * GIB, 20 * GIB), NULL);
    acre_report report = report_of(r.manager);
    assert_int_equal(report.alignment, 256);
    assert_int_equal(report.largest_page, 20 * GIB);
    assert_int_equal(report.total_memory, 80 * GIB);
    assert_int_equal(acre_manager_get_mode(r.manager), ACRE_MODE_AUTO);
    char text[8192];
    acre_manager_report_write(r.manager, ACRE_REPORT_TEXT, text, sizeof(text));
    assert_non_null(strstr(text, "acre")); // its name
    acre_manager_release(r.manager, take(r.manager, 1000));
    rig_close(&r);
}

static void without_a_largest_allocation_the_total_is_the_largest_page(void **state) {
    (void)state;
    acre_manager_options options = plain_options(0, 1000);
    rig r = rig_on(limited_device(MIB, 0), &options);
    assert_int_equal(report_of(r.manager).largest_page, MIB / 1000 * 1000);
    rig_close(&r);
}

static void a_device_that_knows_no_limit_still_serves(void **state) {
    (void)state;
    acre_manager_options options = plain_options(0, 0);
    rig r = rig_on(simulated_device(), &options);
    assert_int_equal(report_of(r.manager).total_memory, 0);
    acre_handle *a = take(r.manager, 100 * GIB);
    acre_manager_release(r.manager, a);
    rig_close(&r);
}

static void a_total_in_the_options_goes_before_the_devices(void **state) {
    (void)state;
    acre_manager_options options = plain_options(0, 32);
    options.total_memory = 3 * MIB;
    rig r = rig_on(simulated_device(), &options);
    assert_int_equal(report_of(r.manager).total_memory, 3 * MIB);
    assert_int_equal(report_of(r.manager).largest_page, 3 * MIB);
    rig_close(&r);
}

static void options_are_copied(void **state) {
    (void)state;
    char name[] = "decoder";
    acre_pool_options pools[] = {sliced_pool(MIB, ACRE_UNSET, ACRE_UNSET)};
    acre_layout layout = explicit_layout(pools, 1);
    acre_manager_options options = plain_options(128 * MIB, 32);
    options.name = name;
    options.layout = &layout;
    rig r = rig_on(simulated_device(), &options);
    memset(name, 'x', sizeof(name) - 1);
    memset(pools, 0xff, sizeof(pools));
    memset(&layout, 0xff, sizeof(layout));
    memset(&options, 0xff, sizeof(options));
    acre_manager_release(r.manager, take(r.manager, 1000));
    assert_int_equal(usage_of(r.manager).reserved, MIB);
    char text[8192];
    acre_manager_report_write(r.manager, ACRE_REPORT_TEXT, text, sizeof(text));
    assert_non_null(strstr(text, "decoder"));
    rig_close(&r);
}

static void what_cannot_be_is_refused_by_name(void **state) {
    (void)state;
    acre_storage *storage = simulated_device();
    acre_manager_options options = plain_options(128 * MIB, 32);
    options.base_mode = (acre_mode)9;
    assert_refused(storage, &options, ACRE_INVALID_ARGUMENT, "base_mode");

    options = plain_options(128 * MIB, 32);
    acre_layout layout = ACRE_LAYOUT_INIT((acre_layout_kind)99);
    options.layout = &layout;
    assert_refused(storage, &options, ACRE_INVALID_ARGUMENT, "layout");

    layout = explicit_layout(NULL, 0);
    assert_refused(storage, &options, ACRE_INVALID_ARGUMENT, "layout");

    options = plain_options(128 * MIB, 32);
    acre_host_hooks hooks = ACRE_HOST_HOOKS_INIT;
    options.hooks = &hooks;
    assert_refused(storage, &options, ACRE_INVALID_ARGUMENT, "hooks");

    options = plain_options(128 * MIB, 32);
    acre_config config = ACRE_CONFIG_INIT;
    config.persistent_memory = (acre_persistent_memory)77;
    options.config = &config;
    assert_refused(storage, &options, ACRE_INVALID_ARGUMENT, "persistent_memory");
    acre_storage_destroy(storage);

    acre_manager *manager = NULL;
    assert_status(ACRE_INVALID_ARGUMENT, acre_manager_create(NULL, NULL, &manager, NULL));
    assert_null(manager);
}

static void options_of_a_later_version_are_unsupported_unless_zero(void **state) {
    (void)state;
    struct {
        acre_manager_options options;
        uint64_t more;
    } newer;
    memset(&newer, 0, sizeof(newer));
    newer.options = plain_options(128 * MIB, 32);
    newer.options.struct_size = sizeof(newer);
    rig r = rig_on(simulated_device(), &newer.options);
    newer.more = 1;
    acre_manager *manager = NULL;
    assert_status(ACRE_UNSUPPORTED, acre_manager_create(r.storage, &newer.options, &manager, NULL));
    assert_null(manager);
    rig_close(&r);
}

static void an_option_of_another_kind_of_pool_is_refused(void **state) {
    (void)state;
    acre_storage *storage = simulated_device();
    acre_manager_options options = plain_options(128 * MIB, 32);
    acre_pool_options pool = direct_pool(ACRE_UNSET);
    pool.max_pool_size = MIB; // which would never be kept to
    acre_layout layout = explicit_layout(&pool, 1);
    options.layout = &layout;
    assert_refused(storage, &options, ACRE_INVALID_ARGUMENT, "max_pool_size");
    pool = direct_pool(ACRE_UNSET);
    pool.dealloc_period = 5;
    assert_refused(storage, &options, ACRE_INVALID_ARGUMENT, "dealloc_period");
    pool = exclusive_pool(MIB);
    pool.reclaim_at = MIB;
    assert_refused(storage, &options, ACRE_INVALID_ARGUMENT, "reclaim_at");
    pool = exclusive_pool(MIB);
    pool.page_size = MIB;
    assert_refused(storage, &options, ACRE_INVALID_ARGUMENT, "page_size");
    pool = exclusive_pool(MIB);
    pool.max_slice_size = MIB;
    assert_refused(storage, &options, ACRE_INVALID_ARGUMENT, "max_slice_size");
    pool = exclusive_pool(MIB);
    pool.strict = true;
    assert_refused(storage, &options, ACRE_INVALID_ARGUMENT, "strict");
    pool = exclusive_pool(MIB);
    pool.exact_large_slices = true;
    assert_refused(storage, &options, ACRE_INVALID_ARGUMENT, "exact_large_slices");
    pool = sliced_pool(MIB, ACRE_UNSET, ACRE_UNSET);
    pool.max_alloc_size = MIB;
    assert_refused(storage, &options, ACRE_INVALID_ARGUMENT, "max_alloc_size");
    acre_storage_destroy(storage);
}

static void the_version_of_the_library_is_that_of_its_headers(void **state) {
    (void)state;
    char version[32];
    snprintf(version, sizeof(version), "%d.%d.%d", ACRE_VERSION_MAJOR, ACRE_VERSION_MINOR,
             ACRE_VERSION_PATCH);
    assert_string_equal(acre_version(), version);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(without_options_the_device_says_it_all),
        cmocka_unit_test(without_a_largest_allocation_the_total_is_the_largest_page),
        cmocka_unit_test(a_device_that_knows_no_limit_still_serves),
        cmocka_unit_test(a_total_in_the_options_goes_before_the_devices),
        cmocka_unit_test(options_are_copied),
        cmocka_unit_test(what_cannot_be_is_refused_by_name),
        cmocka_unit_test(options_of_a_later_version_are_unsupported_unless_zero),
        cmocka_unit_test(an_option_of_another_kind_of_pool_is_refused),
        cmocka_unit_test(the_version_of_the_library_is_that_of_its_headers),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
