// Making a Vulkan storage: what is missing is said, what was begun is undone, and a device of the
// caller's is looked at before it is used.
#include "vulkan_rig.h"

#include "storage/storage.h"
#include "storage/vulkan/api.h"

static acre_vulkan_storage_params through(const char *library) {
    acre_vulkan_storage_params params = ACRE_VULKAN_STORAGE_PARAMS_INIT;
    params.library = library;
    return params;
}

static acre_error refuse_create(const acre_vulkan_storage_params *params, acre_status expected) {
    acre_storage *storage = NULL;
    acre_error error = ACRE_ERROR_INIT;
    assert_status(expected, acre_storage_vulkan_create(params, NULL, &storage, &error));
    assert_null(storage);
    assert_int_equal(error.status, expected);
    return error;
}

static void assert_says(const acre_error *error, const char *words) {
    if (strstr(error->detail, words) == NULL) {
        fail_msg("\"%s\" does not say \"%s\"", error->detail, words);
    }
}

// ---- what is missing -----------------------------------------------------------------------

static void no_loader_is_unsupported_and_says_what_to_install(void **state) {
    (void)state;
    acre_vulkan_storage_params params = through("/nowhere/libvulkan.so.1");
    acre_error error = refuse_create(&params, ACRE_UNSUPPORTED);
    assert_says(&error, "/nowhere/libvulkan.so.1");
    assert_says(&error, "libvulkan1");
    assert_true(strlen(error.native_text) > 0);
}

static void a_library_that_is_no_loader_is_unsupported(void **state) {
    (void)state;
    acre_vulkan_storage_params params = through("libm.so.6");
    acre_error error = refuse_create(&params, ACRE_UNSUPPORTED);
    assert_says(&error, "vkGetInstanceProcAddr");
}

static void a_loader_that_is_too_old_is_unsupported_with_its_version(void **state) {
    (void)state;
    vulkan_stand_in *stand_in = vulkan_stand_in_at(STAND_IN);
    acre_vulkan_storage_params params = through(STAND_IN);
    stand_in->version = ACRE_VK_VERSION(1, 1);
    acre_error error = refuse_create(&params, ACRE_UNSUPPORTED);
    assert_says(&error, "version 1.1");
    stand_in->version_1_0 = true;
    error = refuse_create(&params, ACRE_UNSUPPORTED);
    assert_says(&error, "version 1.0");
    assert_int_equal(stand_in->live, 0);
}

static void no_driver_is_unsupported_with_the_loaders_own_code(void **state) {
    (void)state;
    vulkan_stand_in_at(STAND_IN)->no_driver = true;
    acre_vulkan_storage_params params = through(STAND_IN);
    acre_error error = refuse_create(&params, ACRE_UNSUPPORTED);
    assert_int_equal(error.native_code, -9);
    assert_string_equal(error.native_text, "VK_ERROR_INCOMPATIBLE_DRIVER");
    assert_says(&error, "mesa-vulkan-drivers");
}

static void a_loader_without_devices_is_unsupported(void **state) {
    (void)state;
    vulkan_stand_in *stand_in = vulkan_stand_in_at(STAND_IN);
    stand_in->no_devices = true;
    acre_vulkan_storage_params params = through(STAND_IN);
    acre_error error = refuse_create(&params, ACRE_UNSUPPORTED);
    assert_says(&error, "no Vulkan device");
    assert_int_equal(error.native_code, 0);
    assert_int_equal(stand_in->live, 0);
}

static void a_device_number_past_the_last_is_an_invalid_argument(void **state) {
    (void)state;
    acre_vulkan_storage_params params = ACRE_VULKAN_STORAGE_PARAMS_INIT;
    params.device = 1000;
    acre_error error = refuse_create(&params, ACRE_INVALID_ARGUMENT);
    assert_says(&error, "vulkan:1000");
}

static void a_device_that_is_too_old_is_unsupported_with_its_version(void **state) {
    (void)state;
    vulkan_stand_in *stand_in = vulkan_stand_in_at(STAND_IN);
    stand_in->device_version = ACRE_VK_VERSION(1, 1);
    acre_vulkan_storage_params params = through(STAND_IN);
    acre_error error = refuse_create(&params, ACRE_UNSUPPORTED);
    assert_says(&error, "Vulkan 1.1");
    assert_int_equal(stand_in->live, 0);
}

static void a_device_without_timelines_or_compute_is_unsupported(void **state) {
    (void)state;
    vulkan_stand_in *stand_in = vulkan_stand_in_at(STAND_IN);
    acre_vulkan_storage_params params = through(STAND_IN);
    stand_in->no_timeline = true;
    acre_error error = refuse_create(&params, ACRE_UNSUPPORTED);
    assert_says(&error, "timeline semaphores");
    *stand_in = (vulkan_stand_in){.no_compute = true};
    error = refuse_create(&params, ACRE_UNSUPPORTED);
    assert_says(&error, "no queue that computes");
    assert_int_equal(stand_in->live, 0);
}

static void a_function_that_the_driver_lacks_is_named(void **state) {
    (void)state;
    static const char *const names[] = {"vkCreateInstance", "vkDestroyInstance", "vkCreateDevice",
                                        "vkGetDeviceProcAddr", "vkWaitSemaphores"};
    vulkan_stand_in *stand_in = vulkan_stand_in_at(STAND_IN);
    acre_vulkan_storage_params params = through(STAND_IN);
    for (size_t i = 0; i < COUNT_OF(names); i++) {
        stand_in->lacking = names[i];
        acre_error error = refuse_create(&params, ACRE_UNSUPPORTED);
        assert_says(&error, names[i]);
    }
}

static void parameters_of_a_later_version_are_unsupported(void **state) {
    (void)state;
    struct {
        acre_vulkan_storage_params params;
        uint64_t unknown;
    } later = {ACRE_VULKAN_STORAGE_PARAMS_INIT, 1};
    later.params.struct_size = sizeof later;
    (void)refuse_create(&later.params, ACRE_UNSUPPORTED);
    acre_vulkan_objects objects = ACRE_VULKAN_OBJECTS_INIT;
    objects.struct_size = 0;
    acre_vulkan_storage_params params = ACRE_VULKAN_STORAGE_PARAMS_INIT;
    params.objects = &objects;
    (void)refuse_create(&params, ACRE_UNSUPPORTED);
}

// ---- what was begun is undone --------------------------------------------------------------

static void each_failure_of_creation(vulkan_stand_in *stand_in, const acre_vulkan_objects *objects,
                                     bool and_after) {
    int64_t before = stand_in->live;
    acre_vulkan_storage_params params = through(STAND_IN);
    params.objects = objects;
    acre_storage *storage = NULL;
    static const struct {
        int32_t code;
        acre_status status;
    } failures[] = {{-1, ACRE_OUT_OF_HOST_MEMORY}, {-2, ACRE_OUT_OF_MEMORY},
                    {-3, ACRE_BACKEND_ERROR},      {-4, ACRE_BACKEND_ERROR},
                    {-10, ACRE_OUT_OF_MEMORY},     {-12345, ACRE_BACKEND_ERROR}};
    for (size_t i = 0; i < COUNT_OF(failures); i++) {
        acre_status status = ACRE_BACKEND_ERROR;
        uint64_t nth = 0;
        while (status != ACRE_OK) {
            *stand_in = (vulkan_stand_in){
                .live = before, .fail_at = ++nth, .and_after = and_after, .code = failures[i].code};
            acre_error error = ACRE_ERROR_INIT;
            status = acre_storage_vulkan_create(&params, NULL, &storage, &error);
            if (status != ACRE_OK) {
                assert_status(failures[i].status, status);
                assert_int_equal(error.native_code, failures[i].code);
                assert_true(strlen(error.native_text) > 0);
                assert_int_equal(stand_in->live, before);
            }
        }
        assert_true(nth > (objects == NULL ? 10 : 5)); // each of the calls was met
        acre_storage_destroy(storage);
        assert_int_equal(stand_in->live, before);
    }
    *stand_in = (vulkan_stand_in){.live = before};
}

static void a_driver_that_fails_at_any_call_of_creation_leaves_nothing_behind(void **state) {
    (void)state;
    vulkan_stand_in *stand_in = vulkan_stand_in_at(STAND_IN);
    each_failure_of_creation(stand_in, NULL, false);
    each_failure_of_creation(stand_in, NULL, true);
}

static void a_driver_that_fails_on_the_callers_device_leaves_the_device(void **state) {
    (void)state;
    vulkan_stand_in *stand_in = vulkan_stand_in_at(STAND_IN);
    vulkan_callers_device device = vulkan_callers_device_make(STAND_IN);
    each_failure_of_creation(stand_in, &device.objects, false);
    vulkan_callers_device_end(&device);
    assert_int_equal(stand_in->live, 0);
}

static void host_memory_that_fails_at_any_call_of_creation_leaves_nothing_behind(void **state) {
    (void)state;
    vulkan_stand_in *stand_in = vulkan_stand_in_at(STAND_IN);
    acre_vulkan_storage_params params = through(STAND_IN);
    acre_storage *storage = NULL;
    uint64_t nth = 1;
    for (;; nth++) {
        host_probe *probe = host_probe_create();
        acre_host_hooks hooks = host_probe_hooks(probe);
        host_probe_fail(probe, nth, false);
        acre_status status = acre_storage_vulkan_create(&params, &hooks, &storage, NULL);
        if (status == ACRE_OK) {
            acre_storage_destroy(storage);
            host_probe_destroy(probe);
            break;
        }
        assert_status(ACRE_OUT_OF_HOST_MEMORY, status);
        assert_int_equal(stand_in->live, 0);
        host_probe_destroy(probe);
    }
    assert_true(nth > 4);
    assert_int_equal(stand_in->live, 0);
}

// ---- the caller's device -------------------------------------------------------------------

static void an_object_that_is_missing_is_named(void **state) {
    (void)state;
    vulkan_callers_device device = vulkan_callers_device_make(NULL);
    acre_vulkan_storage_params params = ACRE_VULKAN_STORAGE_PARAMS_INIT;
    const char *const names[] = {"instance", "physical", "device", "queue"};
    for (size_t i = 0; i < COUNT_OF(names); i++) {
        acre_vulkan_objects objects = device.objects;
        *(i == 0   ? &objects.instance
          : i == 1 ? &objects.physical
          : i == 2 ? &objects.device
                   : &objects.queue) = NULL;
        params.objects = &objects;
        acre_error error = refuse_create(&params, ACRE_INVALID_ARGUMENT);
        assert_says(&error, names[i]);
    }
    vulkan_callers_device_end(&device);
}

static void a_family_that_does_not_compute_is_an_invalid_argument(void **state) {
    (void)state;
    vulkan_callers_device device = vulkan_callers_device_make(NULL);
    acre_vulkan_objects objects = device.objects;
    objects.queue_family = 99;
    acre_vulkan_storage_params params = ACRE_VULKAN_STORAGE_PARAMS_INIT;
    params.objects = &objects;
    acre_error error = refuse_create(&params, ACRE_INVALID_ARGUMENT);
    assert_says(&error, "queue_family 99");
    vulkan_callers_device_end(&device);
}

static void what_the_device_does_not_have_cannot_be_on(void **state) {
    (void)state;
    vulkan_stand_in *stand_in = vulkan_stand_in_at(STAND_IN);
    vulkan_callers_device device = vulkan_callers_device_make(STAND_IN);
    stand_in->no_address = true;
    stand_in->has_budget = false;
    acre_vulkan_objects objects = device.objects;
    acre_vulkan_storage_params params = ACRE_VULKAN_STORAGE_PARAMS_INIT;
    params.objects = &objects;
    objects.device_address = true;
    acre_error error = refuse_create(&params, ACRE_INVALID_ARGUMENT);
    assert_says(&error, "device_address");
    stand_in->no_address = false;
    objects.device_address = false;
    params.buffer_usage = ACRE_VK_BUFFER_DEVICE_ADDRESS;
    error = refuse_create(&params, ACRE_INVALID_ARGUMENT);
    assert_says(&error, "buffer_usage");
    vulkan_callers_device_end(&device);
    assert_int_equal(stand_in->live, 0);
}

// The function to look functions up with is the caller's: no loader is opened.
static void a_callers_lookup_needs_no_library(void **state) {
    (void)state;
    (void)vulkan_stand_in_at(STAND_IN);
    vulkan_callers_device device = vulkan_callers_device_make(STAND_IN);
    acre_vulkan_storage_params params = through("/nowhere/libvulkan.so.1");
    params.objects = &device.objects;
    acre_storage *storage = NULL;
    assert_ok(acre_storage_vulkan_create(&params, NULL, &storage, NULL));
    acre_storage_destroy(storage);
    vulkan_callers_device_end(&device);
}

static void the_callers_objects_are_given_back_and_outlive_the_storage(void **state) {
    (void)state;
    vulkan_stand_in *stand_in = vulkan_stand_in_at(STAND_IN);
    vulkan_callers_device device = vulkan_callers_device_make(STAND_IN);
    acre_vulkan_storage_params params = ACRE_VULKAN_STORAGE_PARAMS_INIT;
    params.objects = &device.objects;
    for (int i = 0; i < 3; i++) {
        acre_storage *storage = NULL;
        assert_ok(acre_storage_vulkan_create(&params, NULL, &storage, NULL));
        acre_vulkan_objects objects = vulkan_objects_of(storage);
        assert_memory_equal(&objects, &device.objects, sizeof objects);
        acre_storage_destroy(storage);
        assert_int_equal(stand_in->live, 2); // the instance and the device
    }
    vulkan_callers_device_end(&device);
    assert_int_equal(stand_in->live, 0);
}

static void objects_of_another_kind_of_storage_are_an_invalid_argument(void **state) {
    (void)state;
    acre_storage *storage = simulated_device();
    acre_vulkan_objects objects = ACRE_VULKAN_OBJECTS_INIT;
    acre_error error = ACRE_ERROR_INIT;
    assert_status(ACRE_INVALID_ARGUMENT, acre_storage_vulkan_objects(storage, &objects, &error));
    assert_says(&error, "simulated");
    assert_null(objects.device);
    acre_storage_destroy(storage);
}

static void the_storages_own_objects_are_all_there(void **state) {
    (void)state;
    acre_storage *storage = NULL;
    assert_ok(acre_storage_vulkan_create(NULL, NULL, &storage, NULL));
    acre_vulkan_objects objects = vulkan_objects_of(storage);
    assert_non_null(objects.instance);
    assert_non_null(objects.physical);
    assert_non_null(objects.device);
    assert_non_null(objects.queue);
    assert_true(objects.get_instance_proc_addr != NULL);
    acre_storage_destroy(storage);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(no_loader_is_unsupported_and_says_what_to_install),
        cmocka_unit_test(a_library_that_is_no_loader_is_unsupported),
        cmocka_unit_test(a_loader_that_is_too_old_is_unsupported_with_its_version),
        cmocka_unit_test(no_driver_is_unsupported_with_the_loaders_own_code),
        cmocka_unit_test(objects_of_another_kind_of_storage_are_an_invalid_argument),
        cmocka_unit_test(parameters_of_a_later_version_are_unsupported),
        cmocka_unit_test(a_loader_without_devices_is_unsupported),
        cmocka_unit_test(a_device_number_past_the_last_is_an_invalid_argument),
        cmocka_unit_test(a_device_that_is_too_old_is_unsupported_with_its_version),
        cmocka_unit_test(a_device_without_timelines_or_compute_is_unsupported),
        cmocka_unit_test(a_function_that_the_driver_lacks_is_named),
        cmocka_unit_test(a_driver_that_fails_at_any_call_of_creation_leaves_nothing_behind),
        cmocka_unit_test(a_driver_that_fails_on_the_callers_device_leaves_the_device),
        cmocka_unit_test(host_memory_that_fails_at_any_call_of_creation_leaves_nothing_behind),
        cmocka_unit_test(an_object_that_is_missing_is_named),
        cmocka_unit_test(a_family_that_does_not_compute_is_an_invalid_argument),
        cmocka_unit_test(what_the_device_does_not_have_cannot_be_on),
        cmocka_unit_test(a_callers_lookup_needs_no_library),
        cmocka_unit_test(the_callers_objects_are_given_back_and_outlive_the_storage),
        cmocka_unit_test(the_storages_own_objects_are_all_there),
    };
    int missing = vulkan_missing();
    return missing != 0 ? missing : cmocka_run_group_tests(tests, NULL, NULL);
}
