// Making a storage of OpenCL: loaders and devices that are missing, old or broken, the caller's own
// context, and every call and every piece of host memory that may fail on the way.
#include "opencl_rig.h"

static acre_opencl_storage_params through(const char *library) {
    acre_opencl_storage_params params = ACRE_OPENCL_STORAGE_PARAMS_INIT;
    params.library = library;
    return params;
}

// Expects a refusal and returns its detail.
static acre_error refused(const acre_opencl_storage_params *params, acre_status expected) {
    acre_storage *storage = NULL;
    acre_error error = ACRE_ERROR_INIT;
    assert_status(expected, acre_storage_opencl_create(params, NULL, &storage, &error));
    assert_status(expected, error.status);
    assert_null(storage);
    return error;
}

static void accepted(const acre_opencl_storage_params *params) {
    acre_storage *storage = NULL;
    assert_ok(acre_storage_opencl_create(params, NULL, &storage, NULL));
    acre_storage_destroy(storage);
}

static void assert_says(const acre_error *error, const char *words) {
    if (strstr(error->detail, words) == NULL) {
        fail_msg("\"%s\" does not say \"%s\"", error->detail, words);
    }
}

// ---- what is missing -------------------------------------------------------------------------

static void a_loader_that_is_not_there_is_unsupported_with_what_to_install(void **state) {
    (void)state;
    acre_opencl_storage_params params = through("/nowhere/libOpenCL.so.1");
    acre_error error = refused(&params, ACRE_UNSUPPORTED);
    assert_says(&error, "/nowhere/libOpenCL.so.1");
    assert_says(&error, "install an OpenCL driver, such as");
    assert_true(strlen(error.native_text) > 0);
}

static void no_platform_is_unsupported_however_the_loader_says_it(void **state) {
    (void)state;
    stand_in *loader = opencl_stand_in(STAND_IN);
    acre_opencl_storage_params params = through(STAND_IN);
    loader->no_platforms = true;
    acre_error error = refused(&params, ACRE_UNSUPPORTED);
    assert_says(&error, "no OpenCL platform");
    assert_says(&error, "install an OpenCL driver, such as");
    assert_int_equal(error.native_code, -1001);
    loader->says_zero = true;
    error = refused(&params, ACRE_UNSUPPORTED);
    assert_says(&error, "install an OpenCL driver, such as");
    assert_int_equal(loader->live, 0);
}

static void platforms_without_devices_are_unsupported_where_there_are_no_others(void **state) {
    (void)state;
    stand_in *loader = opencl_stand_in(STAND_IN);
    acre_opencl_storage_params params = through(STAND_IN);
    loader->empty = 2;
    loader->empty_only = true;
    acre_error error = refused(&params, ACRE_UNSUPPORTED);
    assert_says(&error, "no OpenCL platform has a device");
    assert_says(&error, "install an OpenCL driver, such as");
}

static void a_platform_without_devices_takes_no_number(void **state) {
    (void)state;
    stand_in *loader = opencl_stand_in(STAND_IN);
    acre_storage *plain = opencl_storage(STAND_IN, false);
    loader->empty = 3;
    acre_storage *behind = opencl_storage(STAND_IN, false);
    assert_ptr_equal(opencl_objects_of(plain).device, opencl_objects_of(behind).device);
    assert_ptr_equal(opencl_objects_of(plain).platform, opencl_objects_of(behind).platform);
    acre_storage_destroy(plain);
    acre_storage_destroy(behind);
}

static void a_loader_that_lacks_a_function_is_unsupported_by_its_name(void **state) {
    (void)state;
    acre_opencl_storage_params params = through(STAND_IN_11);
    acre_error error = refused(&params, ACRE_UNSUPPORTED);
    assert_says(&error, "clEnqueueMigrateMemObjects");
    assert_says(&error, "1.2");
}

static void a_loader_of_1_2_serves_buffers_and_no_shared_memory(void **state) {
    (void)state;
    (void)opencl_stand_in(STAND_IN_12);
    acre_opencl_storage_params params = through(STAND_IN_12);
    accepted(&params);
    params.svm = true;
    acre_error error = refused(&params, ACRE_UNSUPPORTED);
    assert_says(&error, "clSVMAlloc");
    assert_says(&error, "2.0");
}

static void a_device_of_an_old_version_is_unsupported_by_its_version(void **state) {
    (void)state;
    stand_in *loader = opencl_stand_in(STAND_IN);
    acre_opencl_storage_params params = through(STAND_IN);
    loader->version = "OpenCL 1.1 somebody's";
    acre_error error = refused(&params, ACRE_UNSUPPORTED);
    assert_says(&error, "speaks OpenCL 1.1");
    loader->version = "something else";
    (void)refused(&params, ACRE_UNSUPPORTED);
    loader->version = "OpenCL 1.2 somebody's";
    accepted(&params);
    params.svm = true;
    error = refused(&params, ACRE_UNSUPPORTED);
    assert_says(&error, "needs 2.0");
    assert_int_equal(loader->live, 0);
}

static void a_device_without_shared_memory_is_unsupported_for_it_alone(void **state) {
    (void)state;
    stand_in *loader = opencl_stand_in(STAND_IN);
    acre_opencl_storage_params params = through(STAND_IN);
    loader->no_svm = true;
    accepted(&params);
    params.svm = true;
    acre_error error = refused(&params, ACRE_UNSUPPORTED);
    assert_says(&error, "coarse-grained");
    assert_int_equal(loader->live, 0);
}

static void a_device_past_the_last_is_an_invalid_argument(void **state) {
    (void)state;
    uint32_t count = 0;
    assert_ok(acre_backend_devices(ACRE_BACKEND_OPENCL, &count, NULL));
    acre_opencl_storage_params params = ACRE_OPENCL_STORAGE_PARAMS_INIT;
    params.device = count;
    acre_error error = refused(&params, ACRE_INVALID_ARGUMENT);
    assert_says(&error, "there is no OpenCL device");
    params.device = UINT32_MAX;
    (void)refused(&params, ACRE_INVALID_ARGUMENT);
    params.device = count - 1;
    accepted(&params);
}

static void parameters_of_a_later_version_are_unsupported(void **state) {
    (void)state;
    struct {
        acre_opencl_storage_params known;
        uint64_t unknown;
    } later = {.known = ACRE_OPENCL_STORAGE_PARAMS_INIT, .unknown = 1};
    later.known.struct_size = sizeof later;
    (void)refused(&later.known, ACRE_UNSUPPORTED);
    later.unknown = 0;
    accepted(&later.known);
    accepted(NULL);
}

static void every_device_is_described(void **state) {
    (void)state;
    uint32_t count = 0;
    assert_ok(acre_backend_devices(ACRE_BACKEND_OPENCL, &count, NULL));
    assert_true(count > 0);
    for (uint32_t i = 0; i < count; i++) {
        acre_device_info info = ACRE_DEVICE_INFO_INIT;
        assert_ok(acre_backend_device(ACRE_BACKEND_OPENCL, i, &info, NULL));
        assert_true(strlen(info.name) > 0 && strlen(info.driver) > 0);
        assert_true(info.total_memory > 0 && info.largest_allocation > 0);
        assert_int_equal(info.granularity, 0);
    }
    acre_device_info info = ACRE_DEVICE_INFO_INIT;
    assert_status(ACRE_INVALID_ARGUMENT,
                  acre_backend_device(ACRE_BACKEND_OPENCL, count, &info, NULL));
}

// ---- the caller's context and queue
// --------------------------------------------------------------

enum {
    CONTEXT_REFERENCES = 0x1080,
    QUEUE_REFERENCES = 0x1092,
    OUT_OF_ORDER = 1,
};

static uint32_t references(const acre_opencl_objects *objects, bool of_queue) {
    uint32_t count = 0;
    int32_t code = of_queue ? opencl()->queue_info(objects->queue, QUEUE_REFERENCES, sizeof count,
                                                   &count, NULL)
                            : opencl()->context_info(objects->context, CONTEXT_REFERENCES,
                                                     sizeof count, &count, NULL);
    assert_int_equal(code, 0);
    return count;
}

static void a_context_of_the_callers_is_kept_until_the_storage_goes(void **state) {
    (void)state;
    acre_storage *first = opencl_storage(NULL, false);
    acre_opencl_objects theirs = opencl_objects_of(first);
    uint32_t contexts = references(&theirs, false);
    uint32_t queues = references(&theirs, true);
    acre_opencl_storage_params params = ACRE_OPENCL_STORAGE_PARAMS_INIT;
    params.context = theirs.context;
    params.queue = theirs.queue;
    params.device = 12345; // not looked at
    acre_storage *second = NULL;
    assert_ok(acre_storage_opencl_create(&params, NULL, &second, NULL));
    acre_opencl_objects objects = opencl_objects_of(second);
    assert_ptr_equal(objects.context, theirs.context);
    assert_ptr_equal(objects.queue, theirs.queue);
    assert_ptr_equal(objects.device, theirs.device);
    assert_ptr_equal(objects.platform, theirs.platform);
    assert_int_equal(references(&theirs, false), contexts + 1);
    assert_int_equal(references(&theirs, true), queues + 1);
    acre_storage_destroy(second);
    assert_int_equal(references(&theirs, false), contexts);
    assert_int_equal(references(&theirs, true), queues);
    acre_storage_destroy(first);
}

static void a_context_without_a_queue_or_a_queue_alone_is_refused(void **state) {
    (void)state;
    acre_storage *first = opencl_storage(NULL, false);
    acre_opencl_objects theirs = opencl_objects_of(first);
    acre_opencl_storage_params params = ACRE_OPENCL_STORAGE_PARAMS_INIT;
    params.context = theirs.context;
    (void)refused(&params, ACRE_INVALID_ARGUMENT);
    params.context = NULL;
    params.queue = theirs.queue;
    (void)refused(&params, ACRE_INVALID_ARGUMENT);
    acre_storage_destroy(first);
}

static void a_queue_of_another_context_is_refused(void **state) {
    (void)state;
    acre_storage *first = opencl_storage(NULL, false);
    acre_storage *second = opencl_storage(NULL, false);
    acre_opencl_storage_params params = ACRE_OPENCL_STORAGE_PARAMS_INIT;
    params.context = opencl_objects_of(first).context;
    params.queue = opencl_objects_of(second).queue;
    acre_error error = refused(&params, ACRE_INVALID_ARGUMENT);
    assert_says(&error, "another context");
    acre_storage_destroy(first);
    acre_storage_destroy(second);
}

static void a_queue_out_of_order_is_refused(void **state) {
    (void)state;
    acre_storage *first = opencl_storage(NULL, false);
    acre_opencl_objects theirs = opencl_objects_of(first);
    int32_t code;
    void *queue = opencl()->create_queue(theirs.context, theirs.device, OUT_OF_ORDER, &code);
    if (code == 0) { // a device may have none
        acre_opencl_storage_params params = ACRE_OPENCL_STORAGE_PARAMS_INIT;
        params.context = theirs.context;
        params.queue = queue;
        acre_error error = refused(&params, ACRE_INVALID_ARGUMENT);
        assert_says(&error, "out of order");
        assert_int_equal(opencl()->release_queue(queue), 0);
    }
    acre_storage_destroy(first);
}

// ---- failures on the way -----------------------------------------------------------------------

// Makes a storage with call `nth` of the driver failing. => whether that call was made.
static bool create_failing(stand_in *loader, const acre_opencl_storage_params *params, uint64_t nth,
                           bool and_after) {
    host_probe *probe = host_probe_create();
    acre_host_hooks hooks = host_probe_hooks(probe);
    acre_storage *storage = NULL;
    acre_error error = ACRE_ERROR_INIT;
    int64_t live = loader->live;
    loader->calls = 0;
    loader->fail_at = nth;
    loader->and_after = and_after;
    loader->code = -36;
    acre_status status = acre_storage_opencl_create(params, &hooks, &storage, &error);
    bool met = loader->calls >= nth;
    loader->fail_at = 0;
    assert_status(met ? ACRE_BACKEND_ERROR : ACRE_OK, status);
    if (met) {
        assert_int_equal(error.native_code, -36);
        assert_string_equal(error.native_text, "CL_INVALID_COMMAND_QUEUE");
        assert_null(storage);
        // What could not be let go stays with a driver that is gone, and only there.
        assert_true(and_after || loader->live == live);
    }
    acre_storage_destroy(storage);
    host_probe_destroy(probe);
    return met;
}

static void a_failure_at_any_call_of_creation_leaves_nothing_behind(void **state) {
    (void)state;
    stand_in *loader = opencl_stand_in(STAND_IN);
    acre_opencl_storage_params params = through(STAND_IN);
    for (int svm = 0; svm <= (int)opencl_has_svm(); svm++) {
        params.svm = svm == 1;
        uint64_t nth = 1;
        while (create_failing(loader, &params, nth, false)) {
            nth++;
        }
        assert_true(nth > 8);
        assert_int_equal(loader->live, 0);
        for (uint64_t from = 1; from < nth; from++) {
            assert_true(create_failing(loader, &params, from, true));
        }
        loader->live = 0;
    }
    acre_storage_destroy(opencl_storage(STAND_IN, false));
    assert_int_equal(loader->live, 0);
}

static void a_failure_at_any_call_leaves_the_callers_context_as_it_was(void **state) {
    (void)state;
    stand_in *loader = opencl_stand_in(STAND_IN);
    acre_storage *first = opencl_storage(NULL, false);
    acre_opencl_objects theirs = opencl_objects_of(first);
    uint32_t contexts = references(&theirs, false);
    uint32_t queues = references(&theirs, true);
    acre_opencl_storage_params params = through(STAND_IN);
    params.context = theirs.context;
    params.queue = theirs.queue;
    uint64_t nth = 1;
    while (create_failing(loader, &params, nth, false)) {
        assert_int_equal(references(&theirs, false), contexts);
        assert_int_equal(references(&theirs, true), queues);
        nth++;
    }
    assert_true(nth > 8);
    assert_int_equal(references(&theirs, false), contexts);
    assert_int_equal(references(&theirs, true), queues);
    acre_storage_destroy(first);
}

static void host_memory_that_runs_out_at_any_place_leaves_nothing_behind(void **state) {
    (void)state;
    stand_in *loader = opencl_stand_in(STAND_IN);
    acre_opencl_storage_params params = through(STAND_IN);
    bool failed = true;
    uint64_t nth = 1;
    for (; failed; nth++) {
        host_probe *probe = host_probe_create();
        acre_host_hooks hooks = host_probe_hooks(probe);
        host_probe_fail(probe, nth, false);
        acre_storage *storage = NULL;
        acre_status status = acre_storage_opencl_create(&params, &hooks, &storage, NULL);
        failed = host_probe_failed(probe);
        assert_status(failed ? ACRE_OUT_OF_HOST_MEMORY : ACRE_OK, status);
        acre_storage_destroy(storage);
        assert_int_equal(loader->live, 0);
        host_probe_destroy(probe);
    }
    assert_true(nth > 4);
}

int main(void) {
    int missing = opencl_missing();
    if (missing != 0) {
        return missing;
    }
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_loader_that_is_not_there_is_unsupported_with_what_to_install),
        cmocka_unit_test(no_platform_is_unsupported_however_the_loader_says_it),
        cmocka_unit_test(platforms_without_devices_are_unsupported_where_there_are_no_others),
        cmocka_unit_test(a_platform_without_devices_takes_no_number),
        cmocka_unit_test(a_loader_that_lacks_a_function_is_unsupported_by_its_name),
        cmocka_unit_test(a_loader_of_1_2_serves_buffers_and_no_shared_memory),
        cmocka_unit_test(a_device_of_an_old_version_is_unsupported_by_its_version),
        cmocka_unit_test(a_device_without_shared_memory_is_unsupported_for_it_alone),
        cmocka_unit_test(a_device_past_the_last_is_an_invalid_argument),
        cmocka_unit_test(parameters_of_a_later_version_are_unsupported),
        cmocka_unit_test(every_device_is_described),
        cmocka_unit_test(a_context_of_the_callers_is_kept_until_the_storage_goes),
        cmocka_unit_test(a_context_without_a_queue_or_a_queue_alone_is_refused),
        cmocka_unit_test(a_queue_of_another_context_is_refused),
        cmocka_unit_test(a_queue_out_of_order_is_refused),
        cmocka_unit_test(a_failure_at_any_call_of_creation_leaves_nothing_behind),
        cmocka_unit_test(a_failure_at_any_call_leaves_the_callers_context_as_it_was),
        cmocka_unit_test(host_memory_that_runs_out_at_any_place_leaves_nothing_behind),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
