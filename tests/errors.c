// Section 15: each error says what happened, with which numbers, and what the caller can do next.
#include "support.h"

static const struct {
    int number;
    const char *name;
} released[] = {
    {0, "OK"},
    {1, "BUFFER_TOO_BIG"},
    {2, "OUT_OF_MEMORY"},
    {3, "NOT_FOUND"},
    {4, "POOL_CAPACITY_EXCEEDED"},
    {5, "PAGE_UPDATE_FORBIDDEN"},
    {6, "PAGE_SIZES_EXHAUSTED"},
    {7, "POOLS_IN_USE"},
    {8, "STORAGE_MAPPING_FAILED"},
    {9, "INVALID_ARGUMENT"},
    {10, "UNSUPPORTED"},
    {11, "BACKEND_ERROR"},
    {12, "OUT_OF_HOST_MEMORY"},
};

static void every_status_has_a_fixed_number_a_name_a_text_and_advice(void **state) {
    (void)state;
    for (size_t i = 0; i < COUNT_OF(released); i++) {
        acre_status status = (acre_status)released[i].number;
        assert_string_equal(acre_status_name(status), released[i].name);
        assert_true(strlen(acre_status_text(status)) > 0);
        assert_true(strlen(acre_status_advice(status)) > 0);
    }
}

static void a_number_outside_the_list_is_unknown(void **state) {
    (void)state;
    const int strange[] = {-1, 1000, 1 << 30};
    for (size_t i = 0; i < COUNT_OF(strange); i++) {
        assert_string_equal(acre_status_name((acre_status)strange[i]), "UNKNOWN");
        assert_non_null(acre_status_text((acre_status)strange[i]));
        assert_non_null(acre_status_advice((acre_status)strange[i]));
    }
}

static const char *text_of(const acre_error *error) {
    static char text[1024];
    size_t length = acre_error_format(error, text, sizeof(text));
    assert_int_equal(length, strlen(text));
    return text;
}

static void assert_says(const acre_error *error, const char *part) {
    const char *text = text_of(error);
    if (strstr(text, part) == NULL) {
        print_error("\"%s\" lacks \"%s\"\n", text, part);
    }
    assert_non_null(strstr(text, part));
}

static void every_error_text_ends_with_what_to_do_next(void **state) {
    (void)state;
    for (size_t i = 1; i < COUNT_OF(released); i++) {
        acre_error error = ACRE_ERROR_INIT;
        error.status = (acre_status)released[i].number;
        error.size = 12345;
        assert_says(&error, acre_status_text(error.status));
        assert_says(&error, acre_status_advice(error.status));
    }
}

static void formatting_works_like_snprintf(void **state) {
    (void)state;
    acre_error error = ACRE_ERROR_INIT;
    error.status = ACRE_NOT_FOUND;
    char whole[512];
    size_t length = acre_error_format(&error, whole, sizeof(whole));
    assert_int_equal(length, strlen(whole));
    assert_int_equal(acre_error_format(&error, NULL, 0), length);
    for (size_t room = 1; room <= length + 1; room++) {
        char part[512];
        memset(part, '#', sizeof(part));
        assert_int_equal(acre_error_format(&error, part, room), length);
        assert_int_equal(strlen(part), room - 1);
        assert_memory_equal(part, whole, room - 1);
        assert_int_equal(part[room], '#');
    }
}

//   page   | a 512 K | free 256 K | b 128 K | free 128 K |    1 MiB, of 1 MiB on the device
static void out_of_memory_says_what_is_live_reserved_and_free_in_pieces(void **state) {
    (void)state;
    acre_pool_options pool = sliced_pool(MIB, ACRE_UNSET, ACRE_UNSET);
    rig r = rig_pools_on(limited_device(MIB, 0), 128 * MIB, 32, &pool, 1);
    acre_handle *h[3] = {take(r.manager, 512 * KIB), take(r.manager, 256 * KIB),
                         take(r.manager, 128 * KIB)};
    acre_manager_release(r.manager, h[1]);
    acre_error error = refuse(r.manager, 300 * KIB, ACRE_OUT_OF_MEMORY);
    assert_int_equal(error.size, 300 * KIB);
    assert_int_equal(error.in_use, 640 * KIB);
    assert_int_equal(error.reserved, MIB);
    assert_int_equal(error.free, 384 * KIB);
    assert_int_equal(error.largest_free, 256 * KIB);
    assert_says(&error, "live");
    assert_says(&error, "reserved");
    assert_says(&error, "free");
    assert_says(&error, "largest");
    const char *text = text_of(&error);
    // each figure in full or as a person writes it
    assert_true(strstr(text, "655360") != NULL || strstr(text, "640") != NULL);
    assert_true(strstr(text, "1048576") != NULL || strstr(text, "1 MiB") != NULL ||
                strstr(text, "1.0") != NULL);
    assert_true(strstr(text, "393216") != NULL || strstr(text, "384") != NULL);
    assert_true(strstr(text, "262144") != NULL || strstr(text, "256") != NULL);
    acre_manager_release(r.manager, h[0]);
    acre_manager_release(r.manager, h[2]);
    rig_close(&r);
}

static void out_of_memory_counts_the_free_room_of_every_pool(void **state) {
    (void)state;
    acre_pool_options pools[] = {sliced_pool(MIB, 64 * KIB, ACRE_UNSET), exclusive_pool(MIB / 2),
                                 direct_pool(ACRE_UNSET)};
    rig r = rig_pools_on(limited_device(4 * MIB, 0), 128 * MIB, 32, pools, 3);
    acre_handle *h[4] = {take(r.manager, 1000), take(r.manager, MIB / 2), take(r.manager, 2 * MIB),
                         NULL};
    set_mode(r.manager, ACRE_MODE_PERSISTENT);
    h[3] = take(r.manager, MIB / 2);
    set_mode(r.manager, ACRE_MODE_AUTO);
    drop_all(r.manager, &h[1], 3);
    acre_error error = refuse_with(r.manager, 3 * MIB, 0, ACRE_PAGES_ADD_ONLY, ACRE_OUT_OF_MEMORY);
    assert_int_equal(error.in_use, 1000);
    assert_int_equal(error.reserved, 4 * MIB);
    assert_int_equal(error.free, 4 * MIB - 1024);
    assert_int_equal(error.largest_free, 2 * MIB);
    acre_manager_release(r.manager, h[0]);
    rig_close(&r);
}

static void a_size_no_pool_accepts_is_named(void **state) {
    (void)state;
    acre_pool_options pool = sliced_pool(MIB, ACRE_UNSET, ACRE_UNSET);
    rig r = rig_pools(&pool, 1);
    acre_error error = refuse(r.manager, 123456789, ACRE_BUFFER_TOO_BIG);
    assert_int_equal(error.size, 123456789);
    assert_int_equal(device_calls(r.storage), 0);
    rig_close(&r);
}

static void a_full_pool_and_its_cause_are_both_in_the_text(void **state) {
    (void)state;
    acre_pool_options pools[] = {sliced_pool(MIB, ACRE_UNSET, MIB), direct_pool(ACRE_UNSET)};
    rig r = rig_pools_on(limited_device(MIB, 0), 128 * MIB, 32, pools, 2);
    acre_handle *a = take(r.manager, MIB);
    acre_error error = refuse(r.manager, MIB, ACRE_POOL_CAPACITY_EXCEEDED);
    assert_int_equal(error.cause, ACRE_OUT_OF_MEMORY);
    assert_says(&error, acre_status_text(ACRE_POOL_CAPACITY_EXCEEDED));
    assert_says(&error, acre_status_text(ACRE_OUT_OF_MEMORY));
    acre_manager_release(r.manager, a);
    rig_close(&r);
}

static void the_devices_own_code_and_text_stay_with_the_error(void **state) {
    (void)state;
    acre_pool_options pool = direct_pool(ACRE_UNSET);
    rig r = rig_pools(&pool, 1);
    assert_ok(acre_storage_simulated_fail(r.storage, ACRE_SIMULATED_ALLOC, 1, false, NULL));
    acre_error error = refuse(r.manager, 1024, ACRE_OUT_OF_MEMORY);
    assert_int_equal(error.native_code, -1);
    assert_says(&error, "-1");
    acre_manager_release(r.manager, take(r.manager, 1024));
    rig_close(&r);
}

static void an_error_is_not_needed(void **state) {
    (void)state;
    acre_pool_options pool = sliced_pool(MIB, ACRE_UNSET, MIB);
    rig r = rig_pools(&pool, 1);
    acre_handle *handle = NULL;
    assert_status(ACRE_BUFFER_TOO_BIG, acre_manager_reserve(r.manager, GIB, &handle, NULL));
    acre_handle *a = take(r.manager, MIB);
    assert_status(ACRE_POOL_CAPACITY_EXCEEDED, acre_manager_reserve(r.manager, MIB, &handle, NULL));
    assert_null(handle);
    acre_manager_release(r.manager, a);
    rig_close(&r);
}

// A caller built against a smaller struct: the fields it does not have are not written.
static void a_smaller_error_struct_is_filled_as_far_as_it_goes(void **state) {
    (void)state;
    acre_pool_options pool = sliced_pool(MIB, ACRE_UNSET, MIB);
    rig r = rig_pools(&pool, 1);
    acre_handle *a = take(r.manager, MIB);
    acre_error error;
    memset(&error, 0x5a, sizeof(error));
    error.struct_size = offsetof(acre_error, in_use);
    acre_handle *handle = NULL;
    assert_status(ACRE_POOL_CAPACITY_EXCEEDED,
                  acre_manager_reserve(r.manager, 32, &handle, &error));
    assert_int_equal(error.struct_size, offsetof(acre_error, in_use));
    assert_int_equal(error.status, ACRE_POOL_CAPACITY_EXCEEDED);
    assert_int_equal(error.capacity, MIB);
    assert_int_equal(error.in_use, UINT64_C(0x5a5a5a5a5a5a5a5a));
    assert_int_equal(error.detail[0], 0x5a);
    acre_manager_release(r.manager, a);
    rig_close(&r);
}

static void one_error_does_not_mix_with_the_next(void **state) {
    (void)state;
    acre_pool_options pool = sliced_pool(MIB, ACRE_UNSET, ACRE_UNSET);
    rig r = rig_pools(&pool, 1);
    acre_error error = ACRE_ERROR_INIT;
    acre_handle *handle = NULL;
    assert_status(ACRE_BUFFER_TOO_BIG, acre_manager_reserve(r.manager, GIB, &handle, &error));
    assert_int_equal(error.size, GIB);
    assert_status(ACRE_BUFFER_TOO_BIG, acre_manager_reserve(r.manager, 2 * MIB, &handle, &error));
    assert_int_equal(error.size, 2 * MIB);
    assert_int_equal(error.native_code, 0);
    rig_close(&r);
}

static void the_text_holds_the_detail(void **state) {
    (void)state;
    acre_config config = ACRE_CONFIG_INIT;
    acre_error error = ACRE_ERROR_INIT;
    assert_status(ACRE_INVALID_ARGUMENT, acre_config_parse(&config, "speed:11", &error));
    assert_says(&error, error.detail);
    assert_says(&error, "speed");
    assert_says(&error, acre_status_advice(ACRE_INVALID_ARGUMENT));
}

// The numbers of a capped pool are named as its own when the spill then runs the device out of
// memory.
static void the_text_of_a_failed_spill_does_not_call_one_pools_bytes_live(void **state) {
    (void)state;
    acre_pool_options pools[] = {sliced_pool(MIB, ACRE_UNSET, MIB),
                                 sliced_pool(64 * MIB, ACRE_UNSET, ACRE_UNSET)};
    rig r = rig_pools_on(limited_device(70 * MIB, 0), 64 * MIB, 32, pools, 2);
    acre_handle *h[] = {take(r.manager, MIB), take(r.manager, 50 * MIB),
                        take(r.manager, 13 * MIB + MIB / 2)};
    acre_error error = refuse(r.manager, MIB, ACRE_POOL_CAPACITY_EXCEEDED);
    assert_int_equal(error.cause, ACRE_OUT_OF_MEMORY);
    char text[600];
    acre_error_format(&error, text, sizeof text);
    assert_non_null(strstr(text, "in use there 1 MiB"));
    assert_non_null(strstr(text, "reserved 65 MiB"));
    assert_null(strstr(text, "live"));
    drop_all(r.manager, h, 3);
    rig_close(&r);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_text_of_a_failed_spill_does_not_call_one_pools_bytes_live),
        cmocka_unit_test(every_status_has_a_fixed_number_a_name_a_text_and_advice),
        cmocka_unit_test(a_number_outside_the_list_is_unknown),
        cmocka_unit_test(every_error_text_ends_with_what_to_do_next),
        cmocka_unit_test(formatting_works_like_snprintf),
        cmocka_unit_test(out_of_memory_says_what_is_live_reserved_and_free_in_pieces),
        cmocka_unit_test(out_of_memory_counts_the_free_room_of_every_pool),
        cmocka_unit_test(a_size_no_pool_accepts_is_named),
        cmocka_unit_test(a_full_pool_and_its_cause_are_both_in_the_text),
        cmocka_unit_test(the_text_holds_the_detail),
        cmocka_unit_test(the_devices_own_code_and_text_stay_with_the_error),
        cmocka_unit_test(an_error_is_not_needed),
        cmocka_unit_test(a_smaller_error_struct_is_filled_as_far_as_it_goes),
        cmocka_unit_test(one_error_does_not_mix_with_the_next),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
