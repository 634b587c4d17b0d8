// Faults reported against other allocators, kept as cases: what should have happened instead.
#include "support.h"

// pytorch#159674: device and largest page of 80 GiB; 60 GiB, freed, then 70 GiB.
static void free_pages_are_given_back_before_70_of_80_gib_are_refused(void **state) {
    (void)state;
    acre_pool_options direct = direct_pool(ACRE_UNSET);
    const acre_layout layouts[] = {ACRE_LAYOUT_INIT(ACRE_LAYOUT_SUB_SLICES),
                                   ACRE_LAYOUT_INIT(ACRE_LAYOUT_EXCLUSIVE_PAGES),
                                   explicit_layout(&direct, 1)};
    for (size_t i = 0; i < COUNT_OF(layouts); i++) {
        acre_manager_options options = plain_options(80 * GIB, 256);
        options.layout = &layouts[i];
        rig r = rig_on(limited_device(80 * GIB, 0), &options);
        acre_manager_release(r.manager, take(r.manager, 60 * GIB));
        acre_handle *a = take(r.manager, 70 * GIB);
        assert_int_equal(usage_of(r.manager).reserved, 70 * GIB);
        acre_manager_release(r.manager, a);
        rig_close(&r);
    }
}

// cubecl#1614: one tensor of 617,558,016 bytes.
static void one_large_tensor_reserves_no_more_than_a_hundredth_beyond_it(void **state) {
    (void)state;
    const uint64_t tensor = 617558016;
    acre_pool_options direct = direct_pool(ACRE_UNSET);
    acre_pool_options exclusive = exclusive_pool(ACRE_UNSET);
    const acre_layout layouts[] = {ACRE_LAYOUT_INIT(ACRE_LAYOUT_SUB_SLICES),
                                   ACRE_LAYOUT_INIT(ACRE_LAYOUT_EXCLUSIVE_PAGES),
                                   explicit_layout(&direct, 1), explicit_layout(&exclusive, 1)};
    for (size_t i = 0; i < COUNT_OF(layouts); i++) {
        acre_manager_options options = plain_options(4 * GIB, 256);
        options.layout = &layouts[i];
        rig r = rig_on(simulated_device(), &options);
        acre_handle *a = take(r.manager, tensor);
        assert_in_range(usage_of(r.manager).reserved, tensor, tensor + tensor / 100);
        acre_manager_release(r.manager, a);
        rig_close(&r);
    }
}

// cubecl#1438, #1531: the device refuses; the caller carries on.
static void after_a_refusal_the_manager_works_as_before(void **state) {
    (void)state;
    const acre_layout_kind kinds[] = {ACRE_LAYOUT_SUB_SLICES, ACRE_LAYOUT_EXCLUSIVE_PAGES};
    for (size_t k = 0; k < 2; k++) {
        acre_layout layout = ACRE_LAYOUT_INIT(kinds[k]);
        acre_manager_options options = plain_options(128 * MIB, 32);
        options.layout = &layout;
        rig r = rig_on(limited_device(64 * MIB, 0), &options);
        acre_handle *kept = take(r.manager, MIB); // at most a page of 8 MiB
        acre_place place = place_of(r.manager, kept);
        for (int i = 0; i < 10; i++) {
            acre_manager_release(r.manager, take(r.manager, 40 * MIB)); // free, and in the way
            acre_handle *a = take(r.manager, 50 * MIB);                 // reclaimed, tried again
            (void)refuse(r.manager, 60 * MIB, ACRE_OUT_OF_MEMORY);
            acre_manager_release(r.manager, a);
            assert_true(same_place(place_of(r.manager, kept), place));
        }
        acre_manager_release(r.manager, kept);
        rig_close(&r);
    }
}

// umpire#906, #846: sizes that are no multiple of the alignment, over and over.
static void sizes_that_are_no_multiple_of_the_alignment_converge(void **state) {
    (void)state;
    const uint64_t alignments[] = {10, 32, 50, 256};
    for (size_t k = 0; k < COUNT_OF(alignments); k++) {
        acre_pool_options pools[] = {sliced_pool(64 * KIB, ACRE_UNSET, ACRE_UNSET),
                                     direct_pool(ACRE_UNSET)};
        rig r = rig_sized(128 * MIB, alignments[k], pools, 2);
        acre_handle *h[64];
        uint64_t reserved = 0;
        for (int round = 0; round < 20; round++) {
            uint64_t padded = 0;
            for (uint64_t i = 0; i < 64; i++) {
                uint64_t size = 1 + (i * 2741) % 70000;
                h[i] = take(r.manager, size);
                padded += round_up(size, alignments[k]);
            }
            acre_usage usage = usage_of(r.manager);
            assert_int_equal(usage.in_use + usage.padding, padded);
            if (round == 0) {
                reserved = usage.reserved;
            }
            assert_int_equal(usage.reserved, reserved); // the second round needs no more
            drop_all(r.manager, h, 64);
        }
        rig_close(&r);
    }
}

// offset-allocator#11, #14: a request for nearly the whole page.
static void a_request_for_nearly_the_whole_page_is_served_when_it_fits(void **state) {
    (void)state;
    acre_pool_options pool = sliced_pool(MIB, ACRE_UNSET, MIB);
    rig r = rig_sized(128 * MIB, 1, &pool, 1);
    for (uint64_t left = 0; left < 300; left++) {
        acre_handle *whole = take(r.manager, MIB);
        acre_manager_release(r.manager, whole);
        acre_handle *small = left > 0 ? take(r.manager, left) : NULL;
        acre_handle *rest = take(r.manager, MIB - left);
        (void)refuse(r.manager, 1, ACRE_POOL_CAPACITY_EXCEEDED);
        if (small != NULL) {
            acre_place a = place_of(r.manager, small);
            acre_place b = place_of(r.manager, rest);
            assert_true(a.offset + left <= b.offset || b.offset + (MIB - left) <= a.offset);
        }
        acre_manager_release(r.manager, rest);
        acre_manager_release(r.manager, small);
    }
    assert_int_equal(device_calls(r.storage), 1);
    rig_close(&r);
}

// tlsf-bsd#4: free, then the same size. The hole between live slices is of exactly that size, and
// one a little larger, of the same size class, is free as well.
static void the_hole_of_exactly_the_size_is_found(void **state) {
    (void)state;
    for (uint64_t size = 32; size <= 32 * 200; size += 32 * 7) {
        acre_pool_options pool = sliced_pool(128 * KIB, ACRE_UNSET, 128 * KIB);
        rig r = rig_pools(&pool, 1);
        acre_handle *h[7] = {take(r.manager, size + 32),
                             take(r.manager, 32),
                             take(r.manager, size),
                             take(r.manager, 32),
                             take(r.manager, size + 64),
                             take(r.manager, 32),
                             NULL};
        acre_place place = place_of(r.manager, h[2]);
        acre_manager_release(r.manager, h[2]);
        acre_manager_release(r.manager, h[4]);
        acre_manager_release(r.manager, h[0]);
        h[0] = NULL;
        h[4] = NULL;
        h[2] = take(r.manager, size); // not the last freed, but the one that leaves no rest
        assert_true(same_place(place_of(r.manager, h[2]), place));
        drop_all(r.manager, h, 7);
        rig_close(&r);
    }
}

// UMF's CUDA provider: the driver's out-of-memory is the device's, not the host's.
static acre_status cuda_alloc(void *context, uint64_t size, uint64_t *id, acre_error *error) {
    (void)context, (void)size, (void)id;
    error->native_code = 2;
    snprintf(error->native_text, sizeof(error->native_text), "CUDA_ERROR_OUT_OF_MEMORY");
    return ACRE_OUT_OF_MEMORY;
}

static void no_dealloc(void *context, uint64_t id) {
    (void)context, (void)id;
}

static void no_flush(void *context) {
    (void)context;
}

static acre_status no_resource(void *context, uint64_t id, uint64_t offset, uint64_t size,
                               acre_resource *resource, acre_error *error) {
    (void)context, (void)id, (void)offset, (void)size, (void)resource, (void)error;
    return ACRE_BACKEND_ERROR;
}

static uint64_t no_alignment(void *context) {
    (void)context;
    return 512;
}

static uint64_t no_bytes(void *context) {
    (void)context;
    return 0;
}

static void the_drivers_out_of_memory_keeps_its_own_code(void **state) {
    (void)state;
    acre_storage_ops ops = ACRE_STORAGE_OPS_INIT;
    ops.alloc = cuda_alloc;
    ops.dealloc = no_dealloc;
    ops.flush = no_flush;
    ops.resource = no_resource;
    ops.alignment = no_alignment;
    ops.bytes_allocated = no_bytes;
    acre_storage *storage = NULL;
    assert_ok(acre_storage_create("cuda", &ops, NULL, NULL, &storage, NULL));
    acre_manager_options options = plain_options(GIB, 256);
    rig r = rig_on(storage, &options);
    acre_error error = refuse(r.manager, MIB, ACRE_OUT_OF_MEMORY);
    assert_int_equal(error.native_code, 2);
    assert_string_equal(error.native_text, "CUDA_ERROR_OUT_OF_MEMORY");
    char text[512];
    acre_error_format(&error, text, sizeof(text));
    assert_non_null(strstr(text, "CUDA_ERROR_OUT_OF_MEMORY"));
    rig_close(&r);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(free_pages_are_given_back_before_70_of_80_gib_are_refused),
        cmocka_unit_test(one_large_tensor_reserves_no_more_than_a_hundredth_beyond_it),
        cmocka_unit_test(after_a_refusal_the_manager_works_as_before),
        cmocka_unit_test(sizes_that_are_no_multiple_of_the_alignment_converge),
        cmocka_unit_test(a_request_for_nearly_the_whole_page_is_served_when_it_fits),
        cmocka_unit_test(the_hole_of_exactly_the_size_is_found),
        cmocka_unit_test(the_drivers_out_of_memory_keeps_its_own_code),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
