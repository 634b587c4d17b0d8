// The CUDA storage: what creation needs and refuses, and which devices there are.
#include "cuda_rig.h"

#include <acre/devices.h>

// Expects a refusal whose texts hold `words`, and that nothing is left of it.
static acre_error refused(const acre_cuda_storage_params *params, acre_status expected,
                          const char *words) {
    acre_error error = ACRE_ERROR_INIT;
    acre_storage *storage = NULL;
    assert_status(expected, acre_storage_cuda_create(params, NULL, &storage, &error));
    assert_null(storage);
    assert_string_equal(acre_status_name(error.status), acre_status_name(expected));
    if (strstr(error.detail, words) == NULL && strstr(error.native_text, words) == NULL) {
        fail_msg("\"%s\" is not in \"%s\" \"%s\"", words, error.detail, error.native_text);
    }
    assert_int_equal(fake_cuda_live(), 0);
    assert_null(fake_cuda_current());
    return error;
}

// ---- the driver ----------------------------------------------------------------------------

static void a_driver_that_is_missing_is_unsupported_and_says_what_to_install(void **state) {
    (void)state;
    acre_cuda_storage_params params = fake_params(ACRE_CUDA_PLAIN);
    params.library = "/nowhere/libcuda.so.1";
    acre_error error = refused(&params, ACRE_UNSUPPORTED, "install NVIDIA's driver");
    assert_non_null(strstr(error.native_text, "/nowhere/libcuda.so.1"));
    params.library = "libc.so.6";
    refused(&params, ACRE_UNSUPPORTED, "lacks cuInit: install NVIDIA's driver");
}

static void a_stub_of_the_driver_is_unsupported(void **state) {
    (void)state;
    acre_cuda_storage_params params = fake_params(ACRE_CUDA_PLAIN);
    fake_cuda()->init_result = 34;
    acre_error error = refused(&params, ACRE_UNSUPPORTED, "stub");
    assert_int_equal(error.native_code, 34);
    assert_non_null(strstr(error.native_text, "CUDA_ERROR_STUB_LIBRARY"));
    assert_non_null(strstr(error.detail, "install NVIDIA's driver"));
}

static void a_driver_older_than_12_0_is_unsupported_and_named(void **state) {
    (void)state;
    acre_cuda_storage_params params = fake_params(ACRE_CUDA_PLAIN);
    fake_cuda()->version = 11080;
    refused(&params, ACRE_UNSUPPORTED, "CUDA 11.8, and 12.0 is needed: install");
    fake_cuda()->version = 12000;
    close_storage(storage_with(&params));
}

static void a_driver_that_lacks_a_function_is_unsupported_and_the_function_named(void **state) {
    (void)state;
    acre_cuda_storage_params params = fake_params(ACRE_CUDA_PLAIN);
    fake_cuda()->hidden = "cuMemSetAccess";
    refused(&params, ACRE_UNSUPPORTED, "lacks cuMemSetAccess: install");
}

static void a_driver_that_does_not_start_says_why(void **state) {
    (void)state;
    acre_cuda_storage_params params = fake_params(ACRE_CUDA_PLAIN);
    fake_cuda()->init_result = 999;
    acre_error error = refused(&params, ACRE_BACKEND_ERROR, "no name for");
    assert_int_equal(error.native_code, 999);
}

// ---- devices and what they can do ----------------------------------------------------------

static void a_driver_without_devices_is_unsupported(void **state) {
    (void)state;
    acre_cuda_storage_params params = fake_params(ACRE_CUDA_PLAIN);
    fake_cuda()->init_result = 100;
    refused(&params, ACRE_UNSUPPORTED, "CUDA_VISIBLE_DEVICES");
    fake_cuda()->init_result = 0;
    fake_cuda()->devices = 0;
    refused(&params, ACRE_UNSUPPORTED, "CUDA_VISIBLE_DEVICES");
}

static void a_device_past_the_last_one_is_an_invalid_argument(void **state) {
    (void)state;
    acre_cuda_storage_params params = fake_params(ACRE_CUDA_PLAIN);
    params.device = 2;
    refused(&params, ACRE_INVALID_ARGUMENT, "no CUDA device 2, the last one is 1");
    params.device = -1;
    refused(&params, ACRE_INVALID_ARGUMENT, "no CUDA device -1");
    params.device = 1;
    acre_storage *storage = storage_with(&params);
    acre_cuda_objects objects = ACRE_CUDA_OBJECTS_INIT;
    assert_ok(acre_storage_cuda_objects(storage, &objects, NULL));
    assert_int_equal(objects.device, 1);
    close_storage(storage);
}

static void what_the_device_lacks_is_unsupported_and_named(void **state) {
    (void)state;
    acre_cuda_storage_params params = fake_params(ACRE_CUDA_VIRTUAL);
    fake_cuda()->no_mapping = true;
    refused(&params, ACRE_UNSUPPORTED, "no virtual memory management");
    params.memory = ACRE_CUDA_STREAM_ORDERED;
    fake_cuda()->no_pools = true;
    refused(&params, ACRE_UNSUPPORTED, "no memory pools");
    params.memory = ACRE_CUDA_PLAIN;
    acre_storage *storage = storage_with(&params);
    assert_false(acre_storage_can_map(storage));
    close_storage(storage);
    fake_cuda()->no_mapping = false;
    fake_cuda()->no_export = true;
    params.exportable = true;
    refused(&params, ACRE_UNSUPPORTED, "file descriptor");
}

// ---- parameters ----------------------------------------------------------------------------

static void parameters_out_of_range_are_refused(void **state) {
    (void)state;
    acre_cuda_storage_params params = fake_params((acre_cuda_memory)3);
    refused(&params, ACRE_INVALID_ARGUMENT, "memory of kind 3");
    struct {
        acre_cuda_storage_params known;
        uint64_t later;
    } longer = {fake_params(ACRE_CUDA_PLAIN), 1};
    longer.known.struct_size = sizeof longer;
    refused(&longer.known, ACRE_UNSUPPORTED, "parameters this version does not know");
}

static void a_stream_of_another_context_is_refused(void **state) {
    (void)state;
    acre_cuda_storage_params params = fake_params(ACRE_CUDA_PLAIN);
    params.stream = fake_cuda_stream_create(fake_cuda_context_create());
    refused(&params, ACRE_INVALID_ARGUMENT, "another context");
}

static void the_callers_stream_serves_and_stays(void **state) {
    (void)state;
    for (size_t i = 0; i < COUNT_OF(all_memories); i++) {
        acre_cuda_storage_params params = fake_params(all_memories[i]);
        params.stream = fake_cuda_stream_create(NULL);
        acre_storage *storage = storage_with(&params);
        acre_cuda_objects objects = ACRE_CUDA_OBJECTS_INIT;
        assert_ok(acre_storage_cuda_objects(storage, &objects, NULL));
        assert_ptr_equal(objects.stream, params.stream);
        assert_non_null(objects.context);
        close_storage(storage);
        fake_cuda_stream_destroy(params.stream);
    }
}

static void limits_are_those_of_the_device_unless_told(void **state) {
    (void)state;
    acre_cuda_storage_params params = fake_params(ACRE_CUDA_PLAIN);
    acre_storage_limits limits = ACRE_STORAGE_LIMITS_INIT;
    acre_storage *storage = storage_with(&params);
    acre_storage_limits_get(storage, &limits);
    assert_int_equal(limits.total_memory, 64 * GIB);
    assert_int_equal(limits.largest_allocation, 64 * GIB);
    assert_int_equal(limits.slice_alignment, 256);
    close_storage(storage);
    params.total_memory = 4 * GIB;
    params.largest_allocation = GIB;
    storage = storage_with(&params);
    acre_storage_limits_get(storage, &limits);
    assert_int_equal(limits.total_memory, 4 * GIB);
    assert_int_equal(limits.largest_allocation, GIB);
    close_storage(storage);
}

static void objects_of_a_storage_of_another_kind_are_refused(void **state) {
    (void)state;
    acre_storage *storage = simulated_device();
    acre_cuda_objects objects = ACRE_CUDA_OBJECTS_INIT;
    acre_error error = ACRE_ERROR_INIT;
    assert_status(ACRE_INVALID_ARGUMENT, acre_storage_cuda_objects(storage, &objects, &error));
    assert_non_null(strstr(error.detail, "none of CUDA"));
    acre_storage_destroy(storage);
}

// ---- failures ------------------------------------------------------------------------------

static void a_driver_that_fails_in_a_creation_leaves_nothing_behind(void **state) {
    (void)state;
    for (size_t i = 0; i < COUNT_OF(all_memories); i++) {
        for (uint64_t nth = 1;; nth++) {
            fake_cuda_reset();
            acre_cuda_storage_params params = fake_params(all_memories[i]);
            params.stream = nth % 2 == 0 ? fake_cuda_stream_create(NULL) : NULL;
            fake_cuda()->fail_at = nth;
            acre_error error = ACRE_ERROR_INIT;
            acre_storage *storage = NULL;
            acre_status status = acre_storage_cuda_create(&params, NULL, &storage, &error);
            if (!fake_cuda()->failed) {
                assert_ok(status);
                fake_cuda()->fail_at = 0;
                close_storage(storage);
                assert_true(nth > 50);
                break;
            }
            assert_true(status != ACRE_OK && error.detail[0] + error.native_text[0] != 0);
            assert_int_equal(fake_cuda_live(), 0);
            assert_null(fake_cuda_current());
        }
    }
}

static void a_driver_that_is_lost_in_a_creation_leaves_no_host_memory_behind(void **state) {
    (void)state;
    for (uint64_t nth = 1;; nth++) {
        fake_cuda_reset();
        fake_cuda()->allow_leaks = true;
        fake_cuda()->fail_at = nth;
        fake_cuda()->and_after = true;
        host_probe *probe = host_probe_create();
        acre_host_hooks hooks = host_probe_hooks(probe);
        acre_cuda_storage_params params = fake_params(ACRE_CUDA_STREAM_ORDERED);
        acre_storage *storage = NULL;
        acre_status status = acre_storage_cuda_create(&params, &hooks, &storage, NULL);
        bool failed = fake_cuda()->failed;
        assert_int_equal(status == ACRE_OK, !failed);
        acre_storage_destroy(storage);
        assert_null(fake_cuda_current());
        host_probe_destroy(probe);
        if (!failed) {
            break;
        }
    }
}

static void host_memory_that_runs_out_in_a_creation_leaves_nothing_behind(void **state) {
    (void)state;
    acre_cuda_storage_params params = fake_params(ACRE_CUDA_VIRTUAL);
    for (uint64_t nth = 1;; nth++) {
        host_probe *probe = host_probe_create();
        acre_host_hooks hooks = host_probe_hooks(probe);
        host_probe_fail(probe, nth, false);
        acre_storage *storage = NULL;
        acre_status status = acre_storage_cuda_create(&params, &hooks, &storage, NULL);
        bool failed = host_probe_failed(probe);
        assert_status(failed ? ACRE_OUT_OF_HOST_MEMORY : ACRE_OK, status);
        if (!failed) {
            close_storage(storage);
        }
        assert_int_equal(fake_cuda_live(), 0);
        host_probe_destroy(probe);
        if (!failed) {
            assert_true(nth > 2);
            break;
        }
    }
}

// ---- acre/devices.h: the library path of this test has the fake driver as libcuda.so.1 ------

static void devices_are_counted_and_described(void **state) {
    (void)state;
    uint32_t count = 0;
    acre_device_info info = ACRE_DEVICE_INFO_INIT;
    assert_ok(acre_backend_devices(ACRE_BACKEND_CUDA, &count, NULL));
    assert_int_equal(count, 2);
    assert_ok(acre_backend_device(ACRE_BACKEND_CUDA, 1, &info, NULL));
    assert_string_equal(info.name, "Fake device 1");
    assert_string_equal(info.driver, "CUDA 13.0");
    assert_int_equal(info.total_memory, 64 * GIB);
    assert_int_equal(info.largest_allocation, 64 * GIB);
    assert_int_equal(info.granularity, 2 * MIB);
    fake_cuda()->no_mapping = true;
    assert_ok(acre_backend_device(ACRE_BACKEND_CUDA, 0, &info, NULL));
    assert_int_equal(info.granularity, 0);
    assert_status(ACRE_INVALID_ARGUMENT, acre_backend_device(ACRE_BACKEND_CUDA, 2, &info, NULL));
    fake_cuda()->devices = 0;
    assert_status(ACRE_UNSUPPORTED, acre_backend_devices(ACRE_BACKEND_CUDA, &count, NULL));
}

static void a_driver_that_fails_when_asked_for_devices_says_why(void **state) {
    (void)state;
    for (uint64_t nth = 1;; nth++) {
        fake_cuda_reset();
        fake_cuda()->fail_at = nth;
        fake_cuda()->fail_code = 700;
        acre_device_info info = ACRE_DEVICE_INFO_INIT;
        acre_error error = ACRE_ERROR_INIT;
        acre_status status = acre_backend_device(ACRE_BACKEND_CUDA, 0, &info, &error);
        if (!fake_cuda()->failed) {
            assert_ok(status);
            break;
        }
        assert_true(status == ACRE_BACKEND_ERROR || status == ACRE_UNSUPPORTED);
        assert_true(error.native_code == 700 || error.detail[0] != '\0');
        assert_int_equal(fake_cuda_live(), 0);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(a_driver_that_is_missing_is_unsupported_and_says_what_to_install,
                               reset_driver),
        cmocka_unit_test_setup(a_stub_of_the_driver_is_unsupported, reset_driver),
        cmocka_unit_test_setup(a_driver_older_than_12_0_is_unsupported_and_named, reset_driver),
        cmocka_unit_test_setup(a_driver_that_lacks_a_function_is_unsupported_and_the_function_named,
                               reset_driver),
        cmocka_unit_test_setup(a_driver_that_does_not_start_says_why, reset_driver),
        cmocka_unit_test_setup(a_driver_without_devices_is_unsupported, reset_driver),
        cmocka_unit_test_setup(a_device_past_the_last_one_is_an_invalid_argument, reset_driver),
        cmocka_unit_test_setup(what_the_device_lacks_is_unsupported_and_named, reset_driver),
        cmocka_unit_test_setup(parameters_out_of_range_are_refused, reset_driver),
        cmocka_unit_test_setup(a_stream_of_another_context_is_refused, reset_driver),
        cmocka_unit_test_setup(the_callers_stream_serves_and_stays, reset_driver),
        cmocka_unit_test_setup(limits_are_those_of_the_device_unless_told, reset_driver),
        cmocka_unit_test_setup(objects_of_a_storage_of_another_kind_are_refused, reset_driver),
        cmocka_unit_test_setup(a_driver_that_fails_in_a_creation_leaves_nothing_behind,
                               reset_driver),
        cmocka_unit_test_setup(a_driver_that_is_lost_in_a_creation_leaves_no_host_memory_behind,
                               reset_driver),
        cmocka_unit_test_setup(host_memory_that_runs_out_in_a_creation_leaves_nothing_behind,
                               reset_driver),
        cmocka_unit_test_setup(devices_are_counted_and_described, reset_driver),
        cmocka_unit_test_setup(a_driver_that_fails_when_asked_for_devices_says_why, reset_driver),
    };
    return cmocka_run_group_tests(tests, NULL, reset_driver);
}
