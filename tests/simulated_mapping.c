// The simulated device refuses what no driver allows, and says what is wrong with the call.
#include "support.h"

#include "storage/storage.h"

enum {
    GRANULE = 1000 // any integer will do
};

typedef struct mapped {
    acre_storage *storage;
    uint64_t range; // ten granules
    uint64_t one;   // memory of one granule
    uint64_t two;   // and of two
} mapped;

static mapped begin(void) {
    acre_simulated_storage_params params = ACRE_SIMULATED_STORAGE_PARAMS_INIT;
    params.granularity = GRANULE;
    mapped made = {NULL, 0, 0, 0};
    acre_error error = ACRE_ERROR_INIT;
    assert_ok(acre_storage_simulated_create(&params, NULL, &made.storage, NULL));
    assert_ok(acre_storage_range_reserve(made.storage, 10 * GRANULE, &made.range, &error));
    assert_ok(acre_storage_memory_create(made.storage, GRANULE, &made.one, &error));
    assert_ok(acre_storage_memory_create(made.storage, 2 * GRANULE, &made.two, &error));
    return made;
}

static void end(mapped *ended) {
    acre_error error = ACRE_ERROR_INIT;
    assert_ok(acre_storage_unmap(ended->storage, ended->range, 0, 10 * GRANULE, &error));
    acre_storage_memory_destroy(ended->storage, ended->one);
    acre_storage_memory_destroy(ended->storage, ended->two);
    ended->storage->ops.range_release(ended->storage->context, ended->range);
    assert_int_equal(stats_of(ended->storage).bytes_allocated, 0);
    acre_storage_destroy(ended->storage);
}

static acre_error map(mapped *in, uint64_t offset, const uint64_t *memories, uint64_t count) {
    acre_error error = ACRE_ERROR_INIT;
    acre_status status = acre_storage_map(in->storage, in->range, offset, memories, count, &error);
    assert_int_equal(status, error.status);
    return error;
}

static acre_error unmap(mapped *in, uint64_t offset, uint64_t size) {
    acre_error error = ACRE_ERROR_INIT;
    acre_status status = acre_storage_unmap(in->storage, in->range, offset, size, &error);
    assert_int_equal(status, error.status);
    return error;
}

static void assert_wrong(acre_error error, const char *what) {
    assert_status(ACRE_BACKEND_ERROR, error.status);
    if (strstr(error.native_text, what) == NULL) {
        print_error("\"%s\" does not say %s\n", error.native_text, what);
    }
    assert_non_null(strstr(error.native_text, what));
}

static void memory_is_mapped_at_one_place_at_a_time(void **state) {
    (void)state;
    mapped m = begin();
    assert_ok(map(&m, 0, &m.one, 1).status);
    assert_wrong(map(&m, 5 * GRANULE, &m.one, 1), "mapped already");
    const uint64_t twice[] = {m.two, m.two};
    assert_wrong(map(&m, 5 * GRANULE, twice, 2), "mapped already");
    assert_ok(map(&m, 5 * GRANULE, &m.two, 1).status); // the refusal left it as it was
    end(&m);
}

static void addresses_hold_one_memory_at_a_time(void **state) {
    (void)state;
    mapped m = begin();
    assert_ok(map(&m, 3 * GRANULE, &m.one, 1).status);
    assert_wrong(map(&m, 3 * GRANULE, &m.two, 1), "something is mapped");
    assert_wrong(map(&m, 2 * GRANULE, &m.two, 1), "something is mapped");
    assert_ok(map(&m, 4 * GRANULE, &m.two, 1).status);
    end(&m);
}

static void nothing_reaches_beyond_a_range(void **state) {
    (void)state;
    mapped m = begin();
    assert_wrong(map(&m, 9 * GRANULE, &m.two, 1), "beyond");
    assert_wrong(map(&m, 11 * GRANULE, &m.one, 1), "beyond");
    assert_wrong(unmap(&m, 9 * GRANULE, 2 * GRANULE), "beyond");
    assert_wrong(unmap(&m, 0, UINT64_MAX / GRANULE * GRANULE), "beyond");
    assert_ok(map(&m, 8 * GRANULE, &m.two, 1).status);
    end(&m);
}

static void no_memory_is_cut_in_two(void **state) {
    (void)state;
    mapped m = begin();
    assert_ok(map(&m, 4 * GRANULE, &m.two, 1).status);
    assert_wrong(unmap(&m, 0, 5 * GRANULE), "cut in two");
    assert_wrong(unmap(&m, 5 * GRANULE, GRANULE), "cut in two");
    acre_error error = ACRE_ERROR_INIT;
    acre_resource resource = ACRE_RESOURCE_INIT;
    assert_ok(
        acre_storage_resource(m.storage, m.range, 4 * GRANULE, 2 * GRANULE, &resource, &error));
    assert_ok(unmap(&m, 4 * GRANULE, 2 * GRANULE).status);
    end(&m);
}

static void sizes_and_offsets_are_multiples_of_the_granularity(void **state) {
    (void)state;
    mapped m = begin();
    acre_error error = ACRE_ERROR_INIT;
    uint64_t made = 0;
    assert_status(ACRE_BACKEND_ERROR,
                  acre_storage_memory_create(m.storage, GRANULE + 1, &made, &error));
    assert_wrong(error, "granularity");
    assert_status(ACRE_BACKEND_ERROR,
                  acre_storage_range_reserve(m.storage, GRANULE - 1, &made, &error));
    assert_wrong(error, "granularity");
    assert_wrong(map(&m, 1, &m.one, 1), "granularity");
    assert_wrong(unmap(&m, GRANULE / 2, GRANULE), "granularity");
    end(&m);
}

static void bytes_that_are_not_mapped_are_no_resource(void **state) {
    (void)state;
    mapped m = begin();
    assert_ok(map(&m, 4 * GRANULE, &m.two, 1).status);
    acre_resource resource = ACRE_RESOURCE_INIT;
    acre_error error = ACRE_ERROR_INIT;
    assert_ok(acre_storage_resource(m.storage, m.range, 4 * GRANULE + 1, 2 * GRANULE - 1, &resource,
                                    &error));
    assert_int_equal(resource.as.simulated.page, m.range);
    assert_int_equal(resource.as.simulated.offset, 4 * GRANULE + 1);
    assert_status(ACRE_BACKEND_ERROR, acre_storage_resource(m.storage, m.range, 4 * GRANULE + 1,
                                                            2 * GRANULE, &resource, &error));
    assert_wrong(error, "not mapped");
    assert_status(ACRE_BACKEND_ERROR,
                  acre_storage_resource(m.storage, m.range, 4 * GRANULE - 1, 2, &resource, &error));
    end(&m);
}

static void each_operation_fails_on_order(void **state) {
    (void)state;
    mapped m = begin();
    acre_error error = ACRE_ERROR_INIT;
    uint64_t made = 0;
    assert_ok(acre_storage_simulated_fail(m.storage, ACRE_SIMULATED_RANGE_RESERVE, 1, false, NULL));
    assert_status(ACRE_BACKEND_ERROR,
                  acre_storage_range_reserve(m.storage, GRANULE, &made, &error));
    assert_ok(acre_storage_simulated_fail(m.storage, ACRE_SIMULATED_MEMORY_CREATE, 1, false, NULL));
    assert_status(ACRE_OUT_OF_MEMORY,
                  acre_storage_memory_create(m.storage, GRANULE, &made, &error));
    assert_ok(acre_storage_simulated_fail(m.storage, ACRE_SIMULATED_MAP, 1, false, NULL));
    assert_wrong(map(&m, 0, &m.one, 1), "scripted");
    assert_ok(map(&m, 0, &m.one, 1).status);
    assert_ok(acre_storage_simulated_fail(m.storage, ACRE_SIMULATED_UNMAP, 1, false, NULL));
    assert_wrong(unmap(&m, 0, GRANULE), "scripted");
    assert_int_equal(acre_storage_simulated_calls(m.storage, ACRE_SIMULATED_MAP), 2);
    assert_int_equal(acre_storage_simulated_calls(m.storage, ACRE_SIMULATED_UNMAP), 1);
    assert_int_equal(acre_storage_simulated_calls(m.storage, ACRE_SIMULATED_MEMORY_CREATE), 3);
    end(&m);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(memory_is_mapped_at_one_place_at_a_time),
        cmocka_unit_test(addresses_hold_one_memory_at_a_time),
        cmocka_unit_test(nothing_reaches_beyond_a_range),
        cmocka_unit_test(no_memory_is_cut_in_two),
        cmocka_unit_test(sizes_and_offsets_are_multiples_of_the_granularity),
        cmocka_unit_test(bytes_that_are_not_mapped_are_no_resource),
        cmocka_unit_test(each_operation_fails_on_order),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
