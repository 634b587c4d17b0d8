// Structs of other versions of the library: shorter, longer, without a size.
#include "attack/attack.h"

// A struct followed by fields that this version does not know.
#define LATER(type, name, init)                                                                    \
    struct {                                                                                       \
        type known;                                                                                \
        unsigned char unknown[24];                                                                 \
    } name = {.known = init};                                                                      \
    name.known.struct_size = sizeof name

static void a_parameter_struct_without_a_size_is_unsupported(void **state) {
    (void)state;
    bench at = make(NULL);
    for (size_t size = 0; size < sizeof(size_t); size++) {
        acre_reservation reservation = ACRE_RESERVATION_INIT(64);
        acre_layout layout = ACRE_LAYOUT_INIT(ACRE_LAYOUT_DEFAULT);
        acre_pool_options pool = ACRE_SLICED_POOL(1024);
        acre_manager_options options = ACRE_MANAGER_OPTIONS_INIT;
        acre_host_hooks hooks = ACRE_HOST_HOOKS_INIT;
        acre_storage_ops ops = ACRE_STORAGE_OPS_INIT;
        acre_config config = ACRE_CONFIG_INIT;
        acre_simulated_storage_params params = ACRE_SIMULATED_STORAGE_PARAMS_INIT;
        acre_layout list = list_of(&pool, 1);
        acre_handle *handle = NULL;
        acre_manager *manager = NULL;
        acre_storage *storage = NULL;
        reservation.struct_size = layout.struct_size = pool.struct_size = size;
        options.struct_size = hooks.struct_size = ops.struct_size = size;
        config.struct_size = params.struct_size = size;
        assert_int_equal(ACRE_UNSUPPORTED,
                         acre_manager_reserve_with(at.manager, &reservation, &handle, NULL));
        assert_int_equal(ACRE_UNSUPPORTED, acre_manager_install_layout(at.manager, &layout, NULL));
        assert_int_equal(ACRE_UNSUPPORTED, acre_manager_install_layout(at.manager, &list, NULL));
        assert_int_equal(ACRE_UNSUPPORTED,
                         acre_manager_create(at.storage, &options, &manager, NULL));
        assert_int_equal(ACRE_UNSUPPORTED, acre_handle_create(&hooks, &handle, NULL));
        assert_int_equal(ACRE_UNSUPPORTED,
                         acre_storage_create("x", &ops, NULL, NULL, &storage, NULL));
        assert_int_equal(ACRE_UNSUPPORTED, acre_config_parse(&config, "log_level:full", NULL));
        assert_int_equal(ACRE_UNSUPPORTED,
                         acre_storage_simulated_create(&params, NULL, &storage, NULL));
        assert_null(handle);
        assert_null(manager);
        assert_null(storage);
    }
    assert_usable(at.manager);
    end(&at);
}

static void a_shorter_reservation_gets_the_defaults_of_what_it_lacks(void **state) {
    (void)state;
    bench at = make(NULL);
    acre_reservation reservation = ACRE_RESERVATION_INIT(64);
    acre_handle *handle = NULL;
    reservation.struct_size = offsetof(acre_reservation, alignment);
    reservation.alignment = UINT64_MAX; // beyond what the caller says it has
    reservation.page_update = (acre_page_update)77;
    assert_int_equal(ACRE_OK, acre_manager_reserve_with(at.manager, &reservation, &handle, NULL));
    acre_manager_release(at.manager, handle);
    end(&at);
}

static void a_longer_reservation_is_served_while_its_unknown_fields_are_zero(void **state) {
    (void)state;
    bench at = make(NULL);
    LATER(acre_reservation, later, ACRE_RESERVATION_INIT(64));
    acre_handle *handle = NULL;
    assert_int_equal(ACRE_OK, acre_manager_reserve_with(at.manager, &later.known, &handle, NULL));
    acre_manager_release(at.manager, handle);
    for (size_t i = 0; i < sizeof later.unknown; i++) {
        memset(later.unknown, 0, sizeof later.unknown);
        later.unknown[i] = 1;
        assert_int_equal(ACRE_UNSUPPORTED,
                         acre_manager_reserve_with(at.manager, &later.known, &handle, NULL));
    }
    assert_usable(at.manager);
    end(&at);
}

static void a_list_of_longer_pool_options_is_read_at_their_own_distance(void **state) {
    (void)state;
    struct {
        acre_pool_options known;
        unsigned char unknown[24];
    } pools[2] = {{.known = ACRE_SLICED_POOL(1024)}, {.known = ACRE_SLICED_POOL(4096)}};
    acre_pool_report report = ACRE_POOL_REPORT_INIT;
    bench at = make(NULL);
    pools[0].known.struct_size = pools[1].known.struct_size = sizeof pools[0];
    acre_layout layout = list_of(&pools[0].known, 2);
    assert_int_equal(ACRE_OK, acre_manager_install_layout(at.manager, &layout, NULL));
    assert_int_equal(ACRE_OK, acre_manager_pool_report(at.manager, 1, &report, NULL));
    assert_int_equal(4096, report.page_size);
    pools[1].unknown[3] = 1;
    assert_int_equal(ACRE_UNSUPPORTED, acre_manager_install_layout(at.manager, &layout, NULL));
    end(&at);
}

static void output_structs_are_filled_no_further_than_the_caller_says(void **state) {
    (void)state;
    bench at = make(NULL);
    acre_handle *handle = NULL;
    assert_int_equal(ACRE_OK, acre_manager_reserve(at.manager, 1000, &handle, NULL));
    for (size_t size = 0; size <= sizeof(acre_report); size++) {
        _Alignas(16) unsigned char bytes[sizeof(acre_report) + 8];
        memset(bytes, 0xa5, sizeof bytes);
        memcpy(bytes, &size, sizeof size);
        acre_manager_report(at.manager, (acre_report *)(void *)bytes);
        for (size_t i = size < sizeof size ? sizeof size : size; i < sizeof bytes; i++) {
            assert_int_equal(0xa5, bytes[i]);
        }
    }
    acre_place place = ACRE_PLACE_INIT;
    acre_resource resource = ACRE_RESOURCE_INIT;
    place.struct_size = resource.struct_size = 0;
    place.size = resource.size = 7;
    assert_int_equal(ACRE_OK, acre_manager_get_place(at.manager, handle, &place, NULL));
    assert_int_equal(ACRE_OK, acre_manager_resolve(at.manager, handle, 0, 0, &resource, NULL));
    assert_int_equal(7, place.size);
    assert_int_equal(7, resource.size);
    acre_manager_release(at.manager, handle);
    end(&at);
}

static void an_error_of_any_size_is_filled_as_far_as_it_reaches(void **state) {
    (void)state;
    bench at = make(NULL);
    acre_handle *handle = NULL;
    for (size_t size = 0; size <= sizeof(acre_error) + 16; size++) {
        _Alignas(16) unsigned char bytes[sizeof(acre_error) + 24];
        memset(bytes, 0xa5, sizeof bytes);
        memcpy(bytes, &size, sizeof size);
        acre_error *error = (acre_error *)(void *)bytes;
        assert_int_equal(ACRE_BUFFER_TOO_BIG,
                         acre_manager_reserve(at.manager, UINT64_MAX, &handle, error));
        for (size_t i = size < sizeof size ? sizeof size : size; i < sizeof bytes; i++) {
            assert_int_equal(0xa5, bytes[i]);
        }
        if (size >= offsetof(acre_error, capacity)) {
            assert_int_equal(ACRE_BUFFER_TOO_BIG, error->status);
            assert_true(error->size == UINT64_MAX);
        }
        char text[400];
        acre_error_format(error, text, sizeof text);
    }
    end(&at);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_parameter_struct_without_a_size_is_unsupported),
        cmocka_unit_test(a_shorter_reservation_gets_the_defaults_of_what_it_lacks),
        cmocka_unit_test(a_longer_reservation_is_served_while_its_unknown_fields_are_zero),
        cmocka_unit_test(a_list_of_longer_pool_options_is_read_at_their_own_distance),
        cmocka_unit_test(output_structs_are_filled_no_further_than_the_caller_says),
        cmocka_unit_test(an_error_of_any_size_is_filled_as_far_as_it_reaches),
    };
    return cmocka_run_group_tests_name("attack_structs", tests, NULL, NULL);
}
