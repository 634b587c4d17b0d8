// One suite over every storage: host bytes, simulated (frees at once and deferred), and one of the
// caller's own with malloc behind it.
#include "support.h"

enum {
    TOTAL = 4 << 20,
    LARGEST = 2 << 20,
    ALIGNMENT = 4096
};

// ---- the caller's own ----------------------------------------------------------------------

typedef struct own_page {
    void *bytes;
    uint64_t size;
} own_page;

typedef struct own_heap {
    own_page pages[4096];
    uint64_t held;
} own_heap;

static acre_status own_alloc(void *context, uint64_t size, uint64_t *id, acre_error *error) {
    own_heap *heap = context;
    if (size > LARGEST || heap->held + size > TOTAL) {
        error->native_code = 2;
        snprintf(error->native_text, sizeof(error->native_text), "heap is full");
        return ACRE_OUT_OF_MEMORY;
    }
    for (uint64_t i = 0; i < COUNT_OF(heap->pages); i++) {
        own_page *page = &heap->pages[i];
        if (page->bytes == NULL) {
            if (posix_memalign(&page->bytes, ALIGNMENT, size) != 0) {
                page->bytes = NULL;
                return ACRE_BACKEND_ERROR;
            }
            page->size = size;
            heap->held += size;
            *id = i;
            return ACRE_OK;
        }
    }
    return ACRE_BACKEND_ERROR;
}

static void own_dealloc(void *context, uint64_t id) {
    own_heap *heap = context;
    assert_non_null(heap->pages[id].bytes);
    heap->held -= heap->pages[id].size;
    free(heap->pages[id].bytes);
    heap->pages[id].bytes = NULL;
}

static void own_flush(void *context) {
    (void)context;
}

static acre_status own_resource(void *context, uint64_t id, uint64_t offset, uint64_t size,
                                acre_resource *resource, acre_error *error) {
    (void)error;
    own_heap *heap = context;
    assert_true(size > 0 && offset + size <= heap->pages[id].size);
    resource->kind = ACRE_RESOURCE_HOST;
    resource->size = size;
    resource->as.host = (char *)heap->pages[id].bytes + offset;
    return ACRE_OK;
}

static uint64_t own_alignment(void *context) {
    (void)context;
    return ALIGNMENT;
}

static uint64_t own_bytes(void *context) {
    own_heap *heap = context;
    return heap->held;
}

static void own_destroy(void *context) {
    own_heap *heap = context;
    assert_int_equal(heap->held, 0);
    free(heap);
}

static acre_storage *make_own(void) {
    acre_storage_ops ops = ACRE_STORAGE_OPS_INIT;
    ops.alloc = own_alloc;
    ops.dealloc = own_dealloc;
    ops.flush = own_flush;
    ops.resource = own_resource;
    ops.alignment = own_alignment;
    ops.bytes_allocated = own_bytes;
    ops.destroy = own_destroy;
    own_heap *heap = calloc(1, sizeof(*heap));
    assert_non_null(heap);
    acre_storage *storage = NULL;
    assert_ok(acre_storage_create("own", &ops, heap, NULL, &storage, NULL));
    return storage;
}

// ---- those of the library ------------------------------------------------------------------

static acre_storage *make_host(void) {
    acre_host_storage_params params = ACRE_HOST_STORAGE_PARAMS_INIT;
    params.total_memory = TOTAL;
    params.largest_allocation = LARGEST;
    params.alignment = ALIGNMENT;
    acre_storage *storage = NULL;
    assert_ok(acre_storage_host_create(&params, NULL, &storage, NULL));
    return storage;
}

static acre_storage *simulated(bool deferred) {
    acre_simulated_storage_params params = ACRE_SIMULATED_STORAGE_PARAMS_INIT;
    params.total_memory = TOTAL;
    params.largest_allocation = LARGEST;
    params.alignment = ALIGNMENT;
    params.deferred_frees = deferred;
    acre_storage *storage = NULL;
    assert_ok(acre_storage_simulated_create(&params, NULL, &storage, NULL));
    return storage;
}

static acre_storage *make_simulated(void) {
    return simulated(false);
}

static acre_storage *make_deferred(void) {
    return simulated(true);
}

typedef acre_storage *(*maker)(void);
static const maker makers[] = {make_host, make_simulated, make_deferred, make_own};

static rig storage_rig(size_t which) {
    acre_pool_options pools[] = {sliced_pool(64 * KIB, 16 * KIB, ACRE_UNSET),
                                 direct_pool(ACRE_UNSET)};
    return rig_pools_on(makers[which](), LARGEST, 32, pools, 2);
}

static acre_resource resolve(acre_manager *manager, acre_handle *handle) {
    acre_resource resource = ACRE_RESOURCE_INIT;
    assert_ok(acre_manager_resolve(manager, handle, 0, 0, &resource, NULL));
    return resource;
}

// ---- the suite -----------------------------------------------------------------------------

static void every_storage_has_a_name_and_counts_from_zero(void **state) {
    (void)state;
    for (size_t k = 0; k < COUNT_OF(makers); k++) {
        acre_storage *storage = makers[k]();
        assert_true(strlen(acre_storage_name(storage)) > 0);
        acre_storage_stats stats = stats_of(storage);
        assert_int_equal(stats.allocs + stats.refused + stats.deallocs, 0);
        assert_int_equal(stats.bytes_allocated + stats.bytes_peak, 0);
        acre_storage_destroy(storage);
    }
}

static void pages_are_counted_and_all_go_back(void **state) {
    (void)state;
    for (size_t k = 0; k < COUNT_OF(makers); k++) {
        rig r = storage_rig(k);
        acre_handle *h[3] = {take(r.manager, 100), take(r.manager, 100 * KIB),
                             take(r.manager, 200 * KIB)};
        assert_int_equal(stats_of(r.storage).allocs, 3);
        assert_int_equal(stats_of(r.storage).bytes_allocated, 364 * KIB);
        assert_int_equal(report_of(r.manager).bytes_allocated, 364 * KIB);
        drop_all(r.manager, h, 3);
        acre_manager_cleanup(r.manager, ACRE_CLEANUP_EXPLICIT);
        assert_int_equal(stats_of(r.storage).deallocs, 3);
        assert_int_equal(stats_of(r.storage).bytes_allocated, 0);
        assert_int_equal(stats_of(r.storage).bytes_peak, 364 * KIB);
        rig_close(&r);
    }
}

static void a_full_device_is_out_of_memory_and_serves_again_later(void **state) {
    (void)state;
    for (size_t k = 0; k < COUNT_OF(makers); k++) {
        rig r = storage_rig(k);
        acre_handle *h[2] = {take(r.manager, LARGEST), take(r.manager, LARGEST)};
        acre_error error = refuse(r.manager, LARGEST / 2, ACRE_OUT_OF_MEMORY);
        assert_int_equal(error.reserved, TOTAL);
        assert_int_equal(stats_of(r.storage).refused, 1);
        acre_manager_release(r.manager, h[0]);
        h[0] = take(r.manager, LARGEST / 2);
        assert_int_equal(stats_of(r.storage).bytes_allocated, LARGEST + LARGEST / 2);
        drop_all(r.manager, h, 2);
        rig_close(&r);
    }
}

static void a_resource_is_the_requested_size_and_aligned(void **state) {
    (void)state;
    for (size_t k = 0; k < COUNT_OF(makers); k++) {
        rig r = storage_rig(k);
        const uint64_t sizes[] = {1, 31, 100, 5000, 100001};
        acre_handle *h[COUNT_OF(sizes)];
        for (size_t i = 0; i < COUNT_OF(sizes); i++) {
            h[i] = take(r.manager, sizes[i]);
            acre_resource resource = resolve(r.manager, h[i]);
            assert_int_equal(resource.size, sizes[i]);
            if (resource.kind == ACRE_RESOURCE_HOST) {
                assert_int_equal((uintptr_t)resource.as.host % 32, 0);
                if (sizes[i] > 16 * KIB) {
                    assert_int_equal((uintptr_t)resource.as.host % ALIGNMENT, 0);
                }
            } else {
                assert_int_equal(resource.kind, ACRE_RESOURCE_SIMULATED);
                assert_int_equal(resource.as.simulated.offset % 32, 0);
            }
        }
        drop_all(r.manager, h, COUNT_OF(sizes));
        rig_close(&r);
    }
}

// Each byte is written through the resource and read back after all are: none is shared.
static void no_two_live_resources_share_a_byte(void **state) {
    (void)state;
    for (size_t k = 0; k < COUNT_OF(makers); k++) {
        rig r = storage_rig(k);
        enum {
            LIVE = 100
        };
        acre_handle *h[LIVE];
        acre_resource at[LIVE];
        uint64_t sizes[LIVE];
        for (size_t i = 0; i < LIVE; i++) {
            sizes[i] = 1 + (i * 7919) % 20000;
            h[i] = take(r.manager, sizes[i]);
            at[i] = resolve(r.manager, h[i]);
            if (i % 3 == 2) { // holes, so that rooms are used again
                acre_manager_release(r.manager, h[i - 1]);
                h[i - 1] = take(r.manager, sizes[i - 1] / 2 + 1);
                sizes[i - 1] = sizes[i - 1] / 2 + 1;
                at[i - 1] = resolve(r.manager, h[i - 1]);
            }
        }
        for (size_t i = 0; i < LIVE && at[0].kind == ACRE_RESOURCE_HOST; i++) {
            memset(at[i].as.host, (int)(i + 1), sizes[i]);
        }
        for (size_t i = 0; i < LIVE; i++) {
            assert_int_equal(at[i].size, sizes[i]);
            if (at[i].kind == ACRE_RESOURCE_HOST) {
                const unsigned char *bytes = at[i].as.host;
                for (uint64_t b = 0; b < sizes[i]; b++) {
                    assert_true(bytes[b] == (unsigned char)(i + 1));
                }
                continue;
            }
            for (size_t j = 0; j < i; j++) {
                uint64_t a = at[i].as.simulated.offset;
                uint64_t b = at[j].as.simulated.offset;
                assert_true(at[i].as.simulated.page != at[j].as.simulated.page ||
                            a + sizes[i] <= b || b + sizes[j] <= a);
            }
        }
        drop_all(r.manager, h, LIVE);
        rig_close(&r);
    }
}

static void a_resource_names_the_same_bytes_every_time(void **state) {
    (void)state;
    for (size_t k = 0; k < COUNT_OF(makers); k++) {
        rig r = storage_rig(k);
        acre_handle *a = take(r.manager, 1000);
        acre_resource first = resolve(r.manager, a);
        acre_handle *b = take(r.manager, 30000);
        acre_resource again = resolve(r.manager, a);
        assert_memory_equal(&first.as, &again.as, 16);
        acre_manager_release(r.manager, a);
        acre_manager_release(r.manager, b);
        rig_close(&r);
    }
}

static void two_managers_share_one_device(void **state) {
    (void)state;
    for (size_t k = 0; k < COUNT_OF(makers); k++) {
        rig r = storage_rig(k);
        acre_manager_options options = plain_options(LARGEST, 32);
        acre_manager *second = NULL;
        assert_ok(acre_manager_create(r.storage, &options, &second, NULL));
        acre_handle *a = take(r.manager, LARGEST);
        acre_handle *b = take(second, LARGEST);
        (void)refuse(r.manager, 100 * KIB, ACRE_OUT_OF_MEMORY);
        acre_manager_release(second, b);
        acre_manager_destroy(second);
        assert_int_equal(stats_of(r.storage).bytes_allocated, LARGEST);
        b = take(r.manager, 100 * KIB);
        acre_manager_release(r.manager, a);
        acre_manager_release(r.manager, b);
        rig_close(&r);
    }
}

static void fresh_host_pages_are_zero(void **state) {
    (void)state;
    rig r = storage_rig(0);
    acre_handle *a = take(r.manager, MIB);
    const unsigned char *bytes = resolve(r.manager, a).as.host;
    for (uint64_t i = 0; i < MIB; i++) {
        assert_true(bytes[i] == 0);
    }
    acre_manager_release(r.manager, a);
    rig_close(&r);
}

static void a_host_alignment_that_is_no_power_of_two_is_refused(void **state) {
    (void)state;
    acre_host_storage_params params = ACRE_HOST_STORAGE_PARAMS_INIT;
    params.alignment = 48;
    acre_storage *storage = NULL;
    acre_error error = ACRE_ERROR_INIT;
    assert_status(ACRE_INVALID_ARGUMENT, acre_storage_host_create(&params, NULL, &storage, &error));
    assert_null(storage);
    assert_non_null(strstr(error.detail, "alignment"));
}

static void a_host_page_beyond_any_address_space_is_out_of_memory(void **state) {
    (void)state;
    acre_host_storage_params params = ACRE_HOST_STORAGE_PARAMS_INIT;
    params.total_memory = UINT64_C(1) << 62;
    acre_storage *storage = NULL;
    assert_ok(acre_storage_host_create(&params, NULL, &storage, NULL));
    acre_pool_options pool = direct_pool(ACRE_UNSET);
    rig r = rig_pools_on(storage, UINT64_C(1) << 62, 32, &pool, 1);
    acre_error error = refuse(r.manager, UINT64_C(1) << 61, ACRE_OUT_OF_MEMORY);
    assert_int_not_equal(error.native_code, 0); // the system's own
    assert_int_equal(stats_of(r.storage).bytes_allocated, 0);
    acre_manager_release(r.manager, take(r.manager, 1000));
    rig_close(&r);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_storage_has_a_name_and_counts_from_zero),
        cmocka_unit_test(pages_are_counted_and_all_go_back),
        cmocka_unit_test(a_full_device_is_out_of_memory_and_serves_again_later),
        cmocka_unit_test(a_resource_is_the_requested_size_and_aligned),
        cmocka_unit_test(no_two_live_resources_share_a_byte),
        cmocka_unit_test(a_resource_names_the_same_bytes_every_time),
        cmocka_unit_test(two_managers_share_one_device),
        cmocka_unit_test(fresh_host_pages_are_zero),
        cmocka_unit_test(a_host_alignment_that_is_no_power_of_two_is_refused),
        cmocka_unit_test(a_host_page_beyond_any_address_space_is_out_of_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
