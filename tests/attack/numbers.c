// Enums out of range and numbers at the ends of 64 bits: each ends in the documented status and
// leaves the manager usable.
#include "attack/attack.h"

// ---- enums ---------------------------------------------------------------------------------

static void enums_out_of_range_are_invalid_arguments(void **state) {
    (void)state;
    bench at = make(NULL);
    const int wrong[] = {-1, 50, 100, INT32_MAX, INT32_MIN};
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        acre_reservation reservation = ACRE_RESERVATION_INIT(64);
        acre_layout layout = ACRE_LAYOUT_INIT((acre_layout_kind)wrong[i]);
        acre_pool_options pool = ACRE_SLICED_POOL(1024);
        acre_layout list = list_of(&pool, 1);
        acre_manager_options options = ACRE_MANAGER_OPTIONS_INIT;
        acre_config config = ACRE_CONFIG_INIT;
        acre_handle *handle = NULL;
        acre_manager *manager = NULL;
        reservation.page_update = (acre_page_update)wrong[i];
        pool.kind = (acre_pool_kind)wrong[i];
        options.base_mode = (acre_mode)wrong[i];
        options.config = &config;
        assert_int_equal(ACRE_INVALID_ARGUMENT,
                         acre_manager_reserve_with(at.manager, &reservation, &handle, NULL));
        assert_int_equal(ACRE_INVALID_ARGUMENT,
                         acre_manager_install_layout(at.manager, &layout, NULL));
        assert_int_equal(ACRE_INVALID_ARGUMENT,
                         acre_manager_install_layout(at.manager, &list, NULL));
        assert_int_equal(ACRE_INVALID_ARGUMENT,
                         acre_manager_set_mode(at.manager, (acre_mode)wrong[i], NULL));
        assert_int_equal(ACRE_INVALID_ARGUMENT,
                         acre_manager_create(at.storage, &options, &manager, NULL));
        options.base_mode = ACRE_MODE_AUTO;
        config.persistent_memory = (acre_persistent_memory)wrong[i];
        assert_int_equal(ACRE_INVALID_ARGUMENT,
                         acre_manager_create(at.storage, &options, &manager, NULL));
        config.persistent_memory = ACRE_PERSISTENT_ENABLED;
        config.log_level = (acre_log_level)wrong[i];
        assert_int_equal(ACRE_INVALID_ARGUMENT,
                         acre_manager_create(at.storage, &options, &manager, NULL));
        assert_int_equal(
            ACRE_INVALID_ARGUMENT,
            acre_storage_simulated_fail(at.storage, (acre_simulated_call)wrong[i], 1, false, NULL));
        assert_int_equal(0,
                         acre_storage_simulated_calls(at.storage, (acre_simulated_call)wrong[i]));
        if (wrong[i] < 0 || wrong[i] > 14) {
            assert_string_equal("UNKNOWN", acre_status_name((acre_status)wrong[i]));
        }
    }
    assert_usable(at.manager);
    end(&at);
}

static void a_layout_has_no_persistent_or_dedicated_pool(void **state) {
    (void)state;
    bench at = make(NULL);
    const acre_pool_kind kinds[] = {ACRE_POOL_PERSISTENT, ACRE_POOL_DEDICATED};
    for (size_t i = 0; i < 2; i++) {
        acre_pool_options pool = ACRE_POOL_OPTIONS_INIT(kinds[i], ACRE_UNSET, ACRE_UNSET);
        acre_layout layout = list_of(&pool, 1);
        assert_int_equal(ACRE_INVALID_ARGUMENT,
                         acre_manager_install_layout(at.manager, &layout, NULL));
    }
    end(&at);
}

// ---- numbers -------------------------------------------------------------------------------

static void sizes_at_the_end_of_64_bits_are_too_big_in_every_mode(void **state) {
    (void)state;
    const acre_mode modes[] = {ACRE_MODE_AUTO, ACRE_MODE_PERSISTENT, ACRE_MODE_DEDICATED};
    const uint64_t sizes[] = {UINT64_C(1) << 63, (UINT64_C(1) << 63) + 1, UINT64_MAX - 1,
                              UINT64_MAX};
    bench at = make(NULL);
    for (size_t m = 0; m < 3; m++) {
        assert_int_equal(ACRE_OK, acre_manager_set_mode(at.manager, modes[m], NULL));
        for (size_t s = 0; s < 4; s++) {
            acre_reservation reservation = ACRE_RESERVATION_INIT(sizes[s]);
            acre_handle *handle = NULL;
            assert_int_equal(ACRE_BUFFER_TOO_BIG,
                             acre_manager_reserve_with(at.manager, &reservation, &handle, NULL));
            reservation.page_update = ACRE_PAGES_FORBIDDEN;
            acre_error error = ACRE_ERROR_INIT;
            assert_int_equal(ACRE_PAGE_UPDATE_FORBIDDEN,
                             acre_manager_reserve_with(at.manager, &reservation, &handle, &error));
            assert_true(error.size == sizes[s]);
        }
    }
    assert_usable(at.manager);
    end(&at);
}

static void a_device_without_limits_gives_one_page_of_almost_2_to_the_64(void **state) {
    (void)state;
    acre_pool_options pool = ACRE_DIRECT_POOL;
    acre_layout layout = list_of(&pool, 1);
    acre_manager_options options = ACRE_MANAGER_OPTIONS_INIT;
    options.largest_page = UINT64_MAX;
    options.alignment = 256;
    options.layout = &layout;
    bench at = make(&options);
    acre_handle *all = NULL;
    acre_handle *more = NULL;
    assert_int_equal(ACRE_BUFFER_TOO_BIG,
                     acre_manager_reserve(at.manager, UINT64_MAX - 254, &all, NULL));
    assert_int_equal(ACRE_OK, acre_manager_reserve(at.manager, UINT64_MAX - 300, &all, NULL));
    assert_int_equal(ACRE_OUT_OF_MEMORY, acre_manager_reserve(at.manager, 256, &more, NULL));
    char text[4096];
    assert_true(acre_manager_report_write(at.manager, ACRE_REPORT_TEXT, text, sizeof text) > 0);
    acre_manager_release(at.manager, all);
    assert_int_equal(ACRE_OK, acre_manager_reserve(at.manager, 256, &more, NULL));
    acre_manager_release(at.manager, more);
    end(&at);
}

static void any_alignment_of_a_manager_is_lived_with(void **state) {
    (void)state;
    const uint64_t alignments[] = {3, 511, UINT64_C(1) << 40, UINT64_C(1) << 63, UINT64_MAX};
    const acre_layout_kind kinds[] = {ACRE_LAYOUT_SUB_SLICES, ACRE_LAYOUT_EXCLUSIVE_PAGES};
    for (size_t i = 0; i < 10; i++) {
        acre_manager_options options = ACRE_MANAGER_OPTIONS_INIT;
        acre_layout layout = ACRE_LAYOUT_INIT(kinds[i % 2]);
        acre_handle *handle = NULL;
        options.alignment = alignments[i / 2];
        options.layout = &layout;
        bench at = make(&options);
        assert_int_equal(ACRE_OK, acre_manager_reserve(at.manager, 1, &handle, NULL));
        assert_int_equal(ACRE_OK, acre_manager_check(at.manager, NULL));
        acre_manager_release(at.manager, handle);
        end(&at);
    }
}

static void alignments_above_the_storages_are_unsupported_and_below_met(void **state) {
    (void)state;
    bench at = make(NULL); // the storage's alignment is 2 MiB
    const uint64_t wrong[] = {2 * MIB + 1, UINT64_C(1) << 63, UINT64_MAX};
    acre_handle *handle = NULL;
    for (size_t i = 0; i < 3; i++) {
        acre_reservation reservation = ACRE_RESERVATION_INIT(0);
        reservation.alignment = wrong[i];
        assert_int_equal(ACRE_UNSUPPORTED,
                         acre_manager_reserve_with(at.manager, &reservation, &handle, NULL));
    }
    acre_reservation reservation = ACRE_RESERVATION_INIT(5000);
    reservation.alignment = 2 * MIB - 1; // the least common multiple with 256 is beyond any page
    for (int i = 0; i < 2; i++) {
        acre_place place = ACRE_PLACE_INIT;
        assert_int_equal(ACRE_OK,
                         acre_manager_reserve_with(at.manager, &reservation, &handle, NULL));
        assert_int_equal(ACRE_OK, acre_manager_get_place(at.manager, handle, &place, NULL));
        assert_int_equal(0, place.offset % (2 * MIB - 1));
        acre_handle_release(handle);
    }
    end(&at);
}

static void a_layout_has_1_to_4096_pools(void **state) {
    (void)state;
    const size_t counts[] = {0, 4097, 65536, 70000, SIZE_MAX};
    acre_pool_options *pools = malloc(70000 * sizeof *pools);
    assert_non_null(pools);
    for (size_t i = 0; i < 70000; i++) {
        pools[i] = ACRE_SLICED_POOL(1024);
    }
    bench at = make(NULL);
    for (size_t i = 0; i < 5; i++) {
        acre_layout layout = list_of(pools, counts[i]);
        assert_int_equal(ACRE_INVALID_ARGUMENT,
                         acre_manager_install_layout(at.manager, &layout, NULL));
    }
    acre_layout none = list_of(NULL, 1);
    assert_int_equal(ACRE_INVALID_ARGUMENT, acre_manager_install_layout(at.manager, &none, NULL));
    acre_layout most = list_of(pools, 4096);
    assert_int_equal(ACRE_OK, acre_manager_install_layout(at.manager, &most, NULL));
    assert_int_equal(ACRE_BUFFER_TOO_BIG,
                     acre_manager_reserve(at.manager, 5000, &(acre_handle *){NULL}, NULL));
    assert_usable(at.manager);
    free(pools);
    end(&at);
}

static void pool_options_at_the_ends_of_64_bits_are_refused_or_lived_with(void **state) {
    (void)state;
    bench at = make(NULL);
    const uint64_t numbers[] = {0, 1, UINT64_C(1) << 62, UINT64_C(1) << 63, UINT64_MAX - 1};
    for (size_t i = 0; i < 5; i++) {
        acre_pool_options pools[3] = {ACRE_SLICED_POOL(numbers[i]), ACRE_EXCLUSIVE_POOL(numbers[i]),
                                      ACRE_DIRECT_POOL};
        bool page_fits = numbers[i] != 0 && numbers[i] <= UINT64_C(1) << 47;
        acre_layout layout = list_of(pools, 3);
        assert_int_equal(page_fits ? ACRE_OK : ACRE_INVALID_ARGUMENT,
                         acre_manager_install_layout(at.manager, &layout, NULL));
        pools[0].page_size = 4096;
        pools[0].max_slice_size = pools[0].max_pool_size = numbers[i];
        pools[0].dealloc_period = pools[1].dealloc_period = numbers[i];
        pools[1].max_pool_size = pools[2].reclaim_at = numbers[i];
        assert_int_equal(ACRE_OK, acre_manager_install_layout(at.manager, &layout, NULL));
        for (uint64_t size = 0; size < 10000; size += 900) {
            acre_handle *handle = NULL;
            assert_int_equal(ACRE_OK, acre_manager_reserve(at.manager, size, &handle, NULL));
            acre_manager_release(at.manager, handle);
            acre_manager_cleanup(at.manager, ACRE_CLEANUP_PERIODIC);
        }
        assert_usable(at.manager);
    }
    end(&at);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(enums_out_of_range_are_invalid_arguments),
        cmocka_unit_test(a_layout_has_no_persistent_or_dedicated_pool),
        cmocka_unit_test(sizes_at_the_end_of_64_bits_are_too_big_in_every_mode),
        cmocka_unit_test(a_device_without_limits_gives_one_page_of_almost_2_to_the_64),
        cmocka_unit_test(any_alignment_of_a_manager_is_lived_with),
        cmocka_unit_test(alignments_above_the_storages_are_unsupported_and_below_met),
        cmocka_unit_test(a_layout_has_1_to_4096_pools),
        cmocka_unit_test(pool_options_at_the_ends_of_64_bits_are_refused_or_lived_with),
    };
    return cmocka_run_group_tests_name("attack_numbers", tests, NULL, NULL);
}
