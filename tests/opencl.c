// The storage of OpenCL at work: pages of both kinds, limits, resources, sub-buffers, and what a
// runtime does with them.
#include "opencl_rig.h"

#include "storage/storage.h"

static acre_storage *limited(bool svm, uint64_t total, uint64_t largest) {
    acre_opencl_storage_params params = ACRE_OPENCL_STORAGE_PARAMS_INIT;
    params.svm = svm;
    params.total_memory = total;
    params.largest_allocation = largest;
    acre_storage *storage = NULL;
    assert_ok(acre_storage_opencl_create(&params, NULL, &storage, NULL));
    return storage;
}

static acre_storage_limits limits_of(const acre_storage *storage) {
    acre_storage_limits limits = ACRE_STORAGE_LIMITS_INIT;
    acre_storage_limits_get(storage, &limits);
    return limits;
}

static acre_resource resolve(acre_manager *manager, const acre_handle *handle) {
    acre_resource resource = ACRE_RESOURCE_INIT;
    assert_ok(acre_manager_resolve(manager, handle, 0, 0, &resource, NULL));
    return resource;
}

static void write_words(acre_storage *storage, const acre_resource *resource, uint32_t first) {
    uint32_t *words = malloc(resource->size);
    assert_non_null(words);
    for (uint32_t i = 0; i < resource->size / 4; i++) {
        words[i] = first + i;
    }
    assert_ok(acre_storage_write(storage, resource, words, NULL));
    free(words);
}

static void check_words(acre_storage *storage, const acre_resource *resource, uint32_t first) {
    uint32_t *words = malloc(resource->size);
    assert_non_null(words);
    assert_ok(acre_storage_read(storage, resource, words, NULL));
    for (uint32_t i = 0; i < resource->size / 4; i++) {
        assert_int_equal(words[i], first + i);
    }
    free(words);
}

// ---- limits ----------------------------------------------------------------------------------

static void limits_are_the_devices_and_the_callers_tighten_them(void **state) {
    (void)state;
    stand_in *loader = opencl_stand_in(STAND_IN);
    loader->memory = 8 * GIB;
    loader->largest = 2 * GIB;
    loader->alignment = 512 * 8;
    acre_opencl_storage_params params = ACRE_OPENCL_STORAGE_PARAMS_INIT;
    params.library = STAND_IN;
    const struct {
        uint64_t total, largest, expected_total, expected_largest;
    } cases[] = {
        {0, 0, 8 * GIB, 2 * GIB},
        {3 * GIB, GIB, 3 * GIB, GIB},
        {GIB, 0, GIB, GIB},
        {100 * GIB, 100 * GIB, 8 * GIB, 2 * GIB},
    };
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        params.total_memory = cases[i].total;
        params.largest_allocation = cases[i].largest;
        acre_storage *storage = NULL;
        assert_ok(acre_storage_opencl_create(&params, NULL, &storage, NULL));
        acre_storage_limits limits = limits_of(storage);
        assert_int_equal(limits.total_memory, cases[i].expected_total);
        assert_int_equal(limits.largest_allocation, cases[i].expected_largest);
        assert_int_equal(limits.slice_alignment, 512);
        assert_false(limits.no_sub_slices);
        acre_storage_destroy(storage);
    }
    loader->alignment = 1; // bits
    acre_storage *storage = opencl_storage(STAND_IN, false);
    assert_int_equal(limits_of(storage).slice_alignment, 1);
    acre_storage_destroy(storage);
}

static void shared_memory_is_asked_for_at_no_more_than_every_driver_can_align(void **state) {
    (void)state;
    if (!opencl_has_svm()) {
        return;
    }
    stand_in *loader = opencl_stand_in(STAND_IN);
    loader->alignment = 512 * 8;
    acre_storage *storage = opencl_storage(STAND_IN, true);
    assert_int_equal(limits_of(storage).slice_alignment, 128);
    acre_error error = ACRE_ERROR_INIT;
    uint64_t id;
    assert_ok(acre_storage_alloc(storage, 1000, &id, &error));
    assert_int_equal(loader->svm_alignment, 128);
    acre_storage_dealloc(storage, id);
    acre_storage_destroy(storage);
    assert_int_equal(loader->live, 0);
}

static void what_passes_a_cap_is_refused_with_the_cap_and_without_a_call(void **state) {
    (void)state;
    for (int svm = 0; svm <= (int)opencl_has_svm(); svm++) {
        acre_storage *storage = limited(svm == 1, 3 * MIB, 2 * MIB);
        acre_error error = ACRE_ERROR_INIT;
        uint64_t a;
        uint64_t b;
        uint64_t calls = acre_storage_calls(storage);
        assert_status(ACRE_OUT_OF_MEMORY, acre_storage_alloc(storage, 2 * MIB + 1, &a, &error));
        assert_int_equal(error.capacity, 2 * MIB);
        assert_status(ACRE_OUT_OF_MEMORY, acre_storage_alloc(storage, UINT64_MAX, &a, &error));
        assert_int_equal(acre_storage_calls(storage), calls);
        assert_ok(acre_storage_alloc(storage, 2 * MIB, &a, &error));
        calls = acre_storage_calls(storage);
        assert_status(ACRE_OUT_OF_MEMORY, acre_storage_alloc(storage, MIB + 1, &b, &error));
        assert_int_equal(error.capacity, 3 * MIB);
        assert_int_equal(acre_storage_calls(storage), calls);
        assert_ok(acre_storage_alloc(storage, MIB, &b, &error));
        assert_int_equal(stats_of(storage).bytes_allocated, 3 * MIB);
        acre_storage_dealloc(storage, a);
        acre_storage_dealloc(storage, b);
        assert_int_equal(stats_of(storage).bytes_allocated, 0);
        acre_storage_destroy(storage);
    }
}

// ---- pages -----------------------------------------------------------------------------------

// A driver that allocates at the first use refuses the migration, not the creation.
static void memory_that_is_missing_is_found_out_by_the_reservation(void **state) {
    (void)state;
    stand_in *loader = opencl_stand_in(STAND_IN);
    acre_pool_options pool = direct_pool(ACRE_UNSET);
    rig r = rig_pools_on(opencl_storage(STAND_IN, false), 16 * MIB, 0, &pool, 1);
    int64_t live = loader->live;
    loader->failing = "clEnqueueMigrateMemObjects";
    loader->code = -4;
    acre_error error = refuse(r.manager, MIB, ACRE_OUT_OF_MEMORY);
    assert_int_equal(error.native_code, -4);
    assert_string_equal(error.native_text, "CL_MEM_OBJECT_ALLOCATION_FAILURE");
    assert_int_equal(loader->live, live);
    loader->failing = NULL;
    acre_manager_release(r.manager, take(r.manager, MIB));
    rig_close(&r);
    assert_int_equal(loader->live, 0);
}

static void naming_bytes_and_asking_for_limits_makes_no_call(void **state) {
    (void)state;
    for (int svm = 0; svm <= (int)opencl_has_svm(); svm++) {
        acre_storage *storage = opencl_storage(NULL, svm == 1);
        acre_error error = ACRE_ERROR_INIT;
        acre_resource resource = ACRE_RESOURCE_INIT;
        uint64_t id;
        assert_ok(acre_storage_alloc(storage, MIB, &id, &error));
        uint64_t calls = acre_storage_calls(storage);
        assert_true(calls > 0);
        assert_ok(acre_storage_resource(storage, id, 4096, 100, &resource, &error));
        assert_int_equal(resource.kind, svm == 1 ? ACRE_RESOURCE_OPENCL_SVM : ACRE_RESOURCE_OPENCL);
        assert_int_equal(resource.size, 100);
        assert_true(svm == 1 || resource.as.opencl.offset == 4096);
        (void)limits_of(storage);
        (void)acre_storage_bytes(storage);
        assert_int_equal(storage->ops.alignment(storage->context), storage->alignment);
        assert_int_equal(acre_storage_calls(storage), calls);
        acre_storage_dealloc(storage, id);
        acre_storage_destroy(storage);
    }
}

static void every_object_goes_back_to_the_driver(void **state) {
    (void)state;
    stand_in *loader = opencl_stand_in(STAND_IN);
    for (int svm = 0; svm <= (int)opencl_has_svm(); svm++) {
        acre_pool_options pools[] = {sliced_pool(MIB, ACRE_UNSET, ACRE_UNSET),
                                     direct_pool(ACRE_UNSET)};
        rig r = rig_pools_on(opencl_storage(STAND_IN, svm == 1), 16 * MIB, 0, pools, 2);
        acre_handle *h[20];
        int64_t live = loader->live;
        for (uint64_t i = 0; i < COUNT_OF(h); i++) {
            h[i] = take(r.manager, 1 + i * 150 * KIB);
        }
        assert_true(loader->live > live);
        drop_all(r.manager, h, COUNT_OF(h));
        acre_manager_cleanup(r.manager, ACRE_CLEANUP_EXPLICIT);
        assert_int_equal(loader->live, live);
        rig_close(&r);
        assert_int_equal(loader->live, 0);
    }
}

// ---- sub-buffers -----------------------------------------------------------------------------

static void a_sub_buffer_is_exactly_the_bytes_of_the_resource(void **state) {
    (void)state;
    enum {
        BUFFER_SIZE = 0x1102,
        BUFFER_PARENT = 0x1107,
        BUFFER_OFFSET = 0x1108,
    };
    acre_pool_options pool = sliced_pool(MIB, ACRE_UNSET, ACRE_UNSET);
    rig r = rig_pools_on(opencl_storage(NULL, false), 16 * MIB, 0, &pool, 1);
    acre_handle *before = take(r.manager, 100);
    acre_handle *handle = take(r.manager, 1000);
    acre_resource resource = resolve(r.manager, handle);
    assert_true(resource.as.opencl.offset > 0);
    void *buffer = NULL;
    assert_ok(acre_storage_opencl_sub_buffer(r.storage, &resource, &buffer, NULL));
    size_t size = 0;
    size_t offset = 0;
    void *parent = NULL;
    assert_int_equal(opencl()->buffer_info(buffer, BUFFER_SIZE, sizeof size, &size, NULL), 0);
    assert_int_equal(opencl()->buffer_info(buffer, BUFFER_OFFSET, sizeof offset, &offset, NULL), 0);
    assert_int_equal(opencl()->buffer_info(buffer, BUFFER_PARENT, sizeof parent, &parent, NULL), 0);
    assert_int_equal(size, 1000);
    assert_int_equal(offset, resource.as.opencl.offset);
    assert_ptr_equal(parent, resource.as.opencl.buffer);
    assert_int_equal(opencl()->release_buffer(buffer), 0);
    acre_manager_release(r.manager, before);
    acre_manager_release(r.manager, handle);
    rig_close(&r);
}

static void a_sub_buffer_of_what_is_not_aligned_or_no_buffer_is_refused(void **state) {
    (void)state;
    acre_pool_options pool = sliced_pool(MIB, ACRE_UNSET, ACRE_UNSET);
    rig r = rig_pools_on(opencl_storage(NULL, false), 16 * MIB, 4, &pool, 1);
    acre_handle *before = take(r.manager, 4);
    acre_handle *handle = take(r.manager, 1000);
    acre_handle *none = take(r.manager, 0);
    void *buffer = NULL;
    acre_error error = ACRE_ERROR_INIT;
    acre_resource resource = resolve(r.manager, handle);
    assert_int_equal(resource.as.opencl.offset, 4);
    uint64_t calls = acre_storage_calls(r.storage);
    assert_status(ACRE_INVALID_ARGUMENT,
                  acre_storage_opencl_sub_buffer(r.storage, &resource, &buffer, &error));
    assert_non_null(strstr(error.detail, "byte 4"));
    resource = resolve(r.manager, none);
    assert_status(ACRE_INVALID_ARGUMENT,
                  acre_storage_opencl_sub_buffer(r.storage, &resource, &buffer, &error));
    resource.kind = ACRE_RESOURCE_OPENCL_SVM;
    assert_status(ACRE_INVALID_ARGUMENT,
                  acre_storage_opencl_sub_buffer(r.storage, &resource, &buffer, &error));
    assert_int_equal(acre_storage_calls(r.storage), calls);
    assert_null(buffer);
    acre_manager_release(r.manager, before);
    acre_manager_release(r.manager, handle);
    acre_manager_release(r.manager, none);
    rig_close(&r);
}

static void a_storage_of_another_kind_has_no_opencl_objects(void **state) {
    (void)state;
    acre_storage *storage = simulated_device();
    acre_opencl_objects objects = ACRE_OPENCL_OBJECTS_INIT;
    acre_resource resource = ACRE_RESOURCE_INIT;
    void *buffer = NULL;
    assert_status(ACRE_INVALID_ARGUMENT, acre_storage_opencl_objects(storage, &objects, NULL));
    assert_status(ACRE_INVALID_ARGUMENT,
                  acre_storage_opencl_sub_buffer(storage, &resource, &buffer, NULL));
    acre_storage_destroy(storage);
}

static void kernels_reach_slices_by_sub_buffer_or_by_offset(void **state) {
    (void)state;
    const uint64_t alignments[] = {0, 4}; // the device's, and one that sub-buffers cannot follow
    for (size_t k = 0; k < COUNT_OF(alignments); k++) {
        acre_pool_options pool = sliced_pool(MIB, ACRE_UNSET, ACRE_UNSET);
        rig r = rig_pools_on(opencl_storage(NULL, false), 16 * MIB, alignments[k], &pool, 1);
        acre_handle *h[3] = {take(r.manager, 12), take(r.manager, 4000), take(r.manager, 12)};
        for (uint32_t i = 0; i < 3; i++) {
            acre_resource resource = resolve(r.manager, h[i]);
            write_words(r.storage, &resource, i * 1000);
        }
        acre_resource middle = resolve(r.manager, h[1]);
        opencl_add(r.storage, &middle, 77, true);
        assert_int_equal(opencl_added_through_sub_buffer(), k == 0);
        for (uint32_t i = 0; i < 3; i++) {
            acre_resource resource = resolve(r.manager, h[i]);
            check_words(r.storage, &resource, i * 1000 + (i == 1 ? 77 : 0));
        }
        drop_all(r.manager, h, 3);
        rig_close(&r);
    }
}

// ---- beside a program's own context
// ----------------------------------------------------------------

static void two_storages_of_one_context_serve_kernels_of_one_queue(void **state) {
    (void)state;
    acre_storage *first = opencl_storage(NULL, false);
    acre_opencl_objects theirs = opencl_objects_of(first);
    acre_opencl_storage_params params = ACRE_OPENCL_STORAGE_PARAMS_INIT;
    params.context = theirs.context;
    params.queue = theirs.queue;
    params.svm = opencl_has_svm();
    acre_storage *second = NULL;
    assert_ok(acre_storage_opencl_create(&params, NULL, &second, NULL));
    acre_storage *both[] = {first, second};
    acre_error error = ACRE_ERROR_INIT;
    uint64_t ids[2];
    acre_resource resources[2] = {ACRE_RESOURCE_INIT, ACRE_RESOURCE_INIT};
    for (uint32_t i = 0; i < 2; i++) {
        assert_ok(acre_storage_alloc(both[i], 4000, &ids[i], &error));
        assert_ok(acre_storage_resource(both[i], ids[i], 0, 4000, &resources[i], &error));
        write_words(both[i], &resources[i], i * 100);
        opencl_add(both[i], &resources[i], 5 + i, false);
    }
    for (uint32_t i = 0; i < 2; i++) {
        check_words(both[i], &resources[i], i * 100 + 5 + i);
        acre_storage_dealloc(both[i], ids[i]);
    }
    acre_storage_destroy(second);
    acre_storage_destroy(first);
}

int main(void) {
    int missing = opencl_missing();
    if (missing != 0) {
        return missing;
    }
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(limits_are_the_devices_and_the_callers_tighten_them),
        cmocka_unit_test(shared_memory_is_asked_for_at_no_more_than_every_driver_can_align),
        cmocka_unit_test(what_passes_a_cap_is_refused_with_the_cap_and_without_a_call),
        cmocka_unit_test(memory_that_is_missing_is_found_out_by_the_reservation),
        cmocka_unit_test(naming_bytes_and_asking_for_limits_makes_no_call),
        cmocka_unit_test(every_object_goes_back_to_the_driver),
        cmocka_unit_test(a_sub_buffer_is_exactly_the_bytes_of_the_resource),
        cmocka_unit_test(a_sub_buffer_of_what_is_not_aligned_or_no_buffer_is_refused),
        cmocka_unit_test(a_storage_of_another_kind_has_no_opencl_objects),
        cmocka_unit_test(kernels_reach_slices_by_sub_buffer_or_by_offset),
        cmocka_unit_test(two_storages_of_one_context_serve_kernels_of_one_queue),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
