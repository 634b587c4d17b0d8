// Which devices this machine has, and why others are missing.
#include "support.h"

static void every_back_end_has_a_name_of_its_own(void **state) {
    (void)state;
    for (int i = 0; i < ACRE_BACKEND_COUNT; i++) {
        assert_true(strlen(acre_backend_name((acre_backend)i)) > 0);
        for (int j = 0; j < i; j++) {
            assert_string_not_equal(acre_backend_name((acre_backend)i),
                                    acre_backend_name((acre_backend)j));
        }
    }
    assert_null(acre_backend_name((acre_backend)ACRE_BACKEND_COUNT));
    assert_null(acre_backend_name((acre_backend)-1));
}

static void a_back_end_has_devices_or_says_what_is_missing(void **state) {
    (void)state;
    for (int i = 0; i < ACRE_BACKEND_COUNT; i++) {
        uint32_t count = 77;
        acre_error error = ACRE_ERROR_INIT;
        acre_status status = acre_backend_devices((acre_backend)i, &count, &error);
        if (status == ACRE_OK) {
            assert_true(count >= 1 && count < 77);
            continue;
        }
        assert_status(ACRE_UNSUPPORTED, status);
        assert_int_equal(count, 77);
        assert_true(strlen(error.detail) > 0);
    }
}

static void every_device_there_is_can_be_described(void **state) {
    (void)state;
    for (int i = 0; i < ACRE_BACKEND_COUNT; i++) {
        uint32_t count = 0;
        if (acre_backend_devices((acre_backend)i, &count, NULL) != ACRE_OK) {
            continue;
        }
        for (uint32_t index = 0; index < count; index++) {
            acre_device_info info = ACRE_DEVICE_INFO_INIT;
            assert_ok(acre_backend_device((acre_backend)i, index, &info, NULL));
            assert_true(strlen(info.name) > 0 && strlen(info.driver) > 0);
            assert_true(info.largest_allocation <= info.total_memory);
            assert_true(i == ACRE_BACKEND_SIMULATED || info.total_memory > 0);
        }
        acre_device_info info = ACRE_DEVICE_INFO_INIT;
        acre_error error = ACRE_ERROR_INIT;
        assert_status(ACRE_INVALID_ARGUMENT,
                      acre_backend_device((acre_backend)i, count, &info, &error));
        assert_non_null(strstr(error.detail, acre_backend_name((acre_backend)i)));
        assert_int_equal(info.name[0], 0);
    }
}

static void a_back_end_that_does_not_exist_is_an_invalid_argument(void **state) {
    (void)state;
    uint32_t count = 0;
    acre_device_info info = ACRE_DEVICE_INFO_INIT;
    assert_status(ACRE_INVALID_ARGUMENT,
                  acre_backend_devices((acre_backend)ACRE_BACKEND_COUNT, &count, NULL));
    assert_status(ACRE_INVALID_ARGUMENT, acre_backend_device((acre_backend)-1, 0, &info, NULL));
}

// Of the host's two storages, only one can map.
static void granularity_is_known_where_memory_can_be_mapped(void **state) {
    (void)state;
    acre_device_info info = ACRE_DEVICE_INFO_INIT;
    assert_ok(acre_backend_device(ACRE_BACKEND_HOST, 0, &info, NULL));
    assert_int_equal(info.granularity, 0);
    assert_ok(acre_backend_device(ACRE_BACKEND_HOST_VIRTUAL, 0, &info, NULL));
    assert_int_equal(info.granularity, 2 * MIB);
    assert_ok(acre_backend_device(ACRE_BACKEND_SIMULATED, 0, &info, NULL));
    assert_int_equal(info.granularity, 2 * MIB);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_back_end_has_a_name_of_its_own),
        cmocka_unit_test(a_back_end_has_devices_or_says_what_is_missing),
        cmocka_unit_test(every_device_there_is_can_be_described),
        cmocka_unit_test(a_back_end_that_does_not_exist_is_an_invalid_argument),
        cmocka_unit_test(granularity_is_known_where_memory_can_be_mapped),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
