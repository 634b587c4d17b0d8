// What the storages of host memory have beside the conformance suite.
#include "support.h"

#include "storage/storage.h"

static acre_resource resolve(acre_manager *manager, const acre_handle *handle) {
    acre_resource resource = ACRE_RESOURCE_INIT;
    assert_ok(acre_manager_resolve(manager, handle, 0, 0, &resource, NULL));
    return resource;
}

static acre_storage *make(bool virtual, uint64_t total) {
    acre_storage *storage = NULL;
    if (virtual) {
        acre_host_virtual_storage_params params = ACRE_HOST_VIRTUAL_STORAGE_PARAMS_INIT;
        params.total_memory = total;
        assert_ok(acre_storage_host_virtual_create(&params, NULL, &storage, NULL));
    } else {
        acre_host_storage_params params = ACRE_HOST_STORAGE_PARAMS_INIT;
        params.total_memory = total;
        assert_ok(acre_storage_host_create(&params, NULL, &storage, NULL));
    }
    return storage;
}

// Also those that another page had before.
static void fresh_pages_are_zero(void **state) {
    (void)state;
    for (int virtual = 0; virtual < 2; virtual ++) {
        acre_pool_options pool = direct_pool(ACRE_UNSET);
        rig r = rig_pools_on(make(virtual == 1, 0), 8 * MIB, 32, &pool, 1);
        for (int round = 0; round < 3; round++) {
            acre_handle *a = take(r.manager, MIB);
            unsigned char *bytes = resolve(r.manager, a).as.host;
            for (uint64_t i = 0; i < MIB; i++) {
                assert_true(bytes[i] == 0);
            }
            memset(bytes, 0xff, MIB);
            acre_manager_release(r.manager, a);
            acre_manager_cleanup(r.manager, ACRE_CLEANUP_EXPLICIT);
        }
        rig_close(&r);
    }
}

static void an_alignment_that_is_no_power_of_two_is_refused(void **state) {
    (void)state;
    acre_host_storage_params params = ACRE_HOST_STORAGE_PARAMS_INIT;
    params.alignment = 48;
    acre_storage *storage = NULL;
    acre_error error = ACRE_ERROR_INIT;
    assert_status(ACRE_INVALID_ARGUMENT, acre_storage_host_create(&params, NULL, &storage, &error));
    assert_null(storage);
    assert_non_null(strstr(error.detail, "alignment"));
}

static void an_alignment_larger_than_the_systems_page_is_kept(void **state) {
    (void)state;
    acre_host_storage_params params = ACRE_HOST_STORAGE_PARAMS_INIT;
    params.alignment = 64 * KIB;
    acre_storage *storage = NULL;
    assert_ok(acre_storage_host_create(&params, NULL, &storage, NULL));
    acre_pool_options pool = direct_pool(ACRE_UNSET);
    rig r = rig_pools_on(storage, MIB, 32, &pool, 1);
    for (uint64_t i = 1; i < 10; i++) {
        acre_handle *a = take(r.manager, i * 5000);
        assert_int_equal((uintptr_t)resolve(r.manager, a).as.host % (64 * KIB), 0);
        acre_manager_release(r.manager, a);
    }
    rig_close(&r);
}

static void a_page_beyond_any_address_space_is_out_of_memory(void **state) {
    (void)state;
    for (int virtual = 0; virtual < 2; virtual ++) {
        acre_pool_options pool = direct_pool(ACRE_UNSET);
        rig r =
            rig_pools_on(make(virtual == 1, UINT64_C(1) << 62), UINT64_C(1) << 62, 32, &pool, 1);
        acre_error error = refuse(r.manager, UINT64_C(1) << 61, ACRE_OUT_OF_MEMORY);
        assert_int_not_equal(error.native_code, 0); // the system's own
        assert_int_equal(stats_of(r.storage).bytes_allocated, 0);
        acre_manager_release(r.manager, take(r.manager, 1000));
        rig_close(&r);
    }
}

static void a_granularity_that_is_no_multiple_of_the_systems_page_is_refused(void **state) {
    (void)state;
    acre_host_virtual_storage_params params = ACRE_HOST_VIRTUAL_STORAGE_PARAMS_INIT;
    params.granularity = 5000;
    acre_storage *storage = NULL;
    acre_error error = ACRE_ERROR_INIT;
    assert_status(ACRE_INVALID_ARGUMENT,
                  acre_storage_host_virtual_create(&params, NULL, &storage, &error));
    assert_null(storage);
    assert_non_null(strstr(error.detail, "granularity"));
}

// Bytes of memory that this process has from the system, of files without a name included.
static uint64_t resident(void) {
    FILE *file = fopen("/proc/self/statm", "r");
    assert_non_null(file);
    char line[128];
    assert_non_null(fgets(line, sizeof line, file)); // pages: all, resident, ...
    (void)fclose(file);
    char *rest;
    (void)strtoull(line, &rest, 10);
    return strtoull(rest, NULL, 10) * 4096;
}

// What was destroyed is the system's again, not a part of the file that nobody looks at.
static void memory_that_is_given_back_is_the_systems_again(void **state) {
    (void)state;
    acre_storage *storage = make(true, 0);
    acre_error error = ACRE_ERROR_INIT;
    uint64_t range = 0;
    assert_ok(acre_storage_range_reserve(storage, 64 * MIB, &range, &error));
    uint64_t before = resident();
    for (int round = 0; round < 20; round++) {
        uint64_t memory = 0;
        acre_resource all = ACRE_RESOURCE_INIT;
        assert_ok(acre_storage_memory_create(storage, 64 * MIB, &memory, &error));
        assert_ok(acre_storage_map(storage, range, 0, &memory, 1, &error));
        assert_ok(acre_storage_resource(storage, range, 0, 64 * MIB, &all, &error));
        memset(all.as.host, 1, 64 * MIB);
        assert_true(resident() >= before + 60 * MIB && resident() < before + 128 * MIB);
        assert_ok(acre_storage_unmap(storage, range, 0, 64 * MIB, &error));
        acre_storage_memory_destroy(storage, memory);
    }
    assert_true(resident() < before + 32 * MIB);
    storage->ops.range_release(storage->context, range);
    acre_storage_destroy(storage);
}

// Huge pages from the system's reserve, which is empty on most machines: then the error says what
// is to be done, and a page is the sign that it is not.
static void huge_pages_serve_or_say_where_they_come_from(void **state) {
    (void)state;
    acre_host_virtual_storage_params params = ACRE_HOST_VIRTUAL_STORAGE_PARAMS_INIT;
    params.huge_pages = true;
    acre_storage *storage = NULL;
    acre_error error = ACRE_ERROR_INIT;
    acre_status status = acre_storage_host_virtual_create(&params, NULL, &storage, &error);
    if (status != ACRE_OK) {
        assert_status(ACRE_UNSUPPORTED, status);
        assert_non_null(strstr(error.detail, "nr_hugepages"));
        assert_int_not_equal(error.native_code, 0);
        return;
    }
    acre_pool_options pool = direct_pool(ACRE_UNSET);
    rig r = rig_pools_on(storage, 8 * MIB, 32, &pool, 1);
    acre_handle *handle = NULL;
    status = acre_manager_reserve(r.manager, 3 * MIB, &handle, &error);
    if (status == ACRE_OK) {
        assert_true(stats_of(r.storage).bytes_allocated % (2 * MIB) == 0);
        memset(resolve(r.manager, handle).as.host, 1, 3 * MIB);
        acre_manager_release(r.manager, handle);
    } else {
        assert_status(ACRE_OUT_OF_MEMORY, status);
        assert_int_not_equal(error.native_code, 0);
    }
    rig_close(&r);
}

static void host_memory_that_runs_out_changes_nothing(void **state) {
    (void)state;
    for (uint64_t nth = 1;; nth++) {
        host_probe *probe = host_probe_create();
        acre_host_hooks hooks = host_probe_hooks(probe);
        acre_storage *storage = NULL;
        acre_error error = ACRE_ERROR_INIT;
        host_probe_fail(probe, nth, false);
        acre_status status = acre_storage_host_virtual_create(NULL, &hooks, &storage, &error);
        if (status == ACRE_OK) {
            uint64_t page = 0;
            status = acre_storage_alloc(storage, MIB, &page, &error);
            if (status == ACRE_OK) {
                acre_storage_dealloc(storage, page);
            }
            assert_int_equal(stats_of(storage).bytes_allocated, 0);
            host_probe_fail(probe, 0, false);
            assert_ok(acre_storage_alloc(storage, MIB, &page, &error));
            acre_storage_dealloc(storage, page);
            acre_storage_destroy(storage);
        }
        host_probe_destroy(probe);
        if (status == ACRE_OK) {
            assert_true(nth > 3);
            break;
        }
        assert_status(ACRE_OUT_OF_HOST_MEMORY, status);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(fresh_pages_are_zero),
        cmocka_unit_test(an_alignment_that_is_no_power_of_two_is_refused),
        cmocka_unit_test(an_alignment_larger_than_the_systems_page_is_kept),
        cmocka_unit_test(a_page_beyond_any_address_space_is_out_of_memory),
        cmocka_unit_test(a_granularity_that_is_no_multiple_of_the_systems_page_is_refused),
        cmocka_unit_test(memory_that_is_given_back_is_the_systems_again),
        cmocka_unit_test(huge_pages_serve_or_say_where_they_come_from),
        cmocka_unit_test(host_memory_that_runs_out_changes_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
