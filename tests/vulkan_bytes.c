// Bytes of the Vulkan storage: written and read by the host, copied, and what orders work on
// streams.
#include "vulkan_rig.h"

#include "storage/storage.h"
#include "storage/vulkan/api.h"

enum {
    LOCAL = ACRE_VK_DEVICE_LOCAL,
    VISIBLE = ACRE_VK_HOST_VISIBLE,
    COHERENT = ACRE_VK_HOST_COHERENT,
};

static vulkan_stand_in *stand_in;

static acre_storage *make_through(const vulkan_stand_in *as) {
    stand_in = vulkan_stand_in_at(STAND_IN);
    return vulkan_make_through(STAND_IN, as);
}

static void end_through(acre_storage *storage) {
    acre_storage_destroy(storage);
    assert_int_equal(stand_in->live, 0);
    assert_int_equal(stand_in->faults, 0);
}

// ---- bytes ---------------------------------------------------------------------------------

// At offsets and sizes of every kind; what is beside them stays.
static void write_around(acre_storage *storage) {
    static const uint64_t at[][2] = {
        {0, 1},   {1, 1},       {63, 2},      {64, 64},          {100, 1000},  {4095, 4097},
        {1, MIB}, {7, MIB - 1}, {3, MIB + 1}, {64, 3 * MIB + 5}, {0, 4 * MIB},
    };
    uint64_t id = vulkan_page(storage, 4 * MIB);
    for (size_t i = 0; i < COUNT_OF(at); i++) {
        uint64_t offset = at[i][0];
        uint64_t end = offset + at[i][1];
        vulkan_fill(storage, id, 0, 4 * MIB, 1);
        vulkan_fill(storage, id, offset, end - offset, 2);
        vulkan_check_filled(storage, id, offset, end - offset, 2);
        if (offset > 0) {
            vulkan_check_filled(storage, id, 0, offset, 1);
        }
        if (end < 4 * MIB) {
            vulkan_check_filled(storage, id, end, 4 * MIB - end, 1);
        }
    }
    acre_storage_dealloc(storage, id);
    assert_int_equal(stats_of(storage).bytes_allocated, 0);
}

static void bytes_that_the_host_sees_are_written_in_place(void **state) {
    (void)state;
    acre_vulkan_storage_params params = ACRE_VULKAN_STORAGE_PARAMS_INIT;
    params.required = VISIBLE | COHERENT;
    acre_storage *storage = vulkan_make(&params);
    write_around(storage);
    acre_storage_destroy(storage);
}

static const vulkan_stand_in two_heaps = {
    .type_count = 2, .type_flags = {LOCAL, VISIBLE | COHERENT}, .heap_size = 64 << 20};

static void bytes_that_the_host_does_not_see_go_through_memory_that_it_does(void **state) {
    (void)state;
    acre_storage *storage = make_through(&two_heaps);
    assert_int_equal(stand_in->memories, 0);
    write_around(storage);
    assert_int_equal(stand_in->last_memory_type, 1); // the staging block's, made when needed
    assert_int_equal(stand_in->memories, 1);         // and kept
    end_through(storage);
}

static void caches_of_the_host_are_flushed_in_whole_atoms(void **state) {
    (void)state;
    acre_storage *storage = make_through(
        &(vulkan_stand_in){.type_count = 1, .type_flags = {VISIBLE}, .heap_size = 64 * MIB});
    acre_storage_limits limits = ACRE_STORAGE_LIMITS_INIT;
    acre_storage_limits_get(storage, &limits);
    assert_true(limits.slice_alignment >= 64); // two slices share no atom
    write_around(storage);
    assert_true(stand_in->flushes > 0 && stand_in->invalidations > stand_in->flushes);
    end_through(storage);
}

// ---- copies --------------------------------------------------------------------------------

// Each copy reads what the one before it wrote: a byte wanders through the page.
static void copies_that_follow_each_other_happen_in_their_order(void **state) {
    (void)state;
    enum {
        STEPS = 500,
        STEP = 4096
    };
    acre_storage *storage = vulkan_make(NULL);
    uint64_t id = vulkan_page(storage, (STEPS + 1) * STEP);
    vulkan_fill(storage, id, 0, (STEPS + 1) * STEP, 0);
    vulkan_fill(storage, id, 0, STEP, 7);
    acre_error error = ACRE_ERROR_INIT;
    for (uint64_t i = 0; i < STEPS; i++) {
        acre_resource from = vulkan_part(storage, id, i * STEP, STEP);
        acre_resource to = vulkan_part(storage, id, (i + 1) * STEP, STEP);
        assert_ok(acre_storage_copy(storage, &from, &to, &error));
    }
    vulkan_check_filled(storage, id, STEPS * STEP, STEP, 7); // a read comes after every copy
    assert_ok(acre_storage_wait(storage, NULL));
    vulkan_check_filled(storage, id, 0, (STEPS + 1) * STEP, 7);
    acre_storage_dealloc(storage, id);
    acre_storage_destroy(storage);
}

static void a_write_comes_after_the_copies_before_it(void **state) {
    (void)state;
    acre_storage *storage = vulkan_make(NULL);
    uint64_t a = vulkan_page(storage, 8 * MIB);
    uint64_t b = vulkan_page(storage, 8 * MIB);
    vulkan_fill(storage, a, 0, 8 * MIB, 1);
    acre_resource from = vulkan_part(storage, a, 0, 8 * MIB);
    acre_resource to = vulkan_part(storage, b, 0, 8 * MIB);
    acre_error error = ACRE_ERROR_INIT;
    for (int i = 0; i < 20; i++) {
        assert_ok(acre_storage_copy(storage, &from, &to, &error));
        vulkan_fill(storage, a, 8 * MIB - 100, 100, 2); // the copy took the bytes before
        vulkan_check_filled(storage, b, 8 * MIB - 100, 100, 1);
        vulkan_fill(storage, a, 8 * MIB - 100, 100, 1);
    }
    acre_storage_dealloc(storage, a);
    acre_storage_dealloc(storage, b);
    acre_storage_destroy(storage);
}

static void kernels_and_copies_on_one_queue_need_no_barrier_between_them(void **state) {
    (void)state;
    if (!vulkan_has_kernel()) {
        skip();
    }
    vulkan_callers_device device = vulkan_callers_device_make(NULL);
    vulkan_kernel *kernel = vulkan_kernel_make(&device.objects);
    acre_vulkan_storage_params params = ACRE_VULKAN_STORAGE_PARAMS_INIT;
    params.objects = &device.objects;
    acre_storage *storage = vulkan_make(&params);
    uint64_t a = vulkan_page(storage, MIB);
    uint64_t b = vulkan_page(storage, MIB);
    vulkan_fill(storage, a, 0, MIB, 0);
    acre_resource in = vulkan_part(storage, a, 0, MIB);
    acre_resource out = vulkan_part(storage, b, 0, MIB);
    acre_error error = ACRE_ERROR_INIT;
    for (int i = 0; i < 10; i++) {
        vulkan_kernel_add(kernel, NULL, &in, 0x01010101);
        assert_ok(acre_storage_copy(storage, &in, &out, &error));
        vulkan_kernel_add(kernel, NULL, &out, 0x01010101);
        assert_ok(acre_storage_copy(storage, &out, &in, &error));
    }
    vulkan_check_filled(storage, a, 0, MIB, 20);
    acre_storage_dealloc(storage, a);
    acre_storage_dealloc(storage, b);
    acre_storage_destroy(storage);
    vulkan_kernel_end(kernel);
    vulkan_callers_device_end(&device);
}

// Nothing waits for them here but what the storage does itself.
static void pages_and_storages_may_end_with_copies_under_way(void **state) {
    (void)state;
    acre_storage *storage = vulkan_make(NULL);
    acre_error error = ACRE_ERROR_INIT;
    for (int i = 0; i < 10; i++) {
        uint64_t a = vulkan_page(storage, 4 * MIB);
        uint64_t b = vulkan_page(storage, 4 * MIB);
        acre_resource from = vulkan_part(storage, a, 0, 4 * MIB);
        acre_resource to = vulkan_part(storage, b, 0, 4 * MIB);
        assert_ok(acre_storage_copy(storage, &from, &to, &error));
        acre_storage_dealloc(storage, a);
        acre_storage_dealloc(storage, b);
    }
    assert_int_equal(stats_of(storage).bytes_allocated, 0);
    acre_storage_destroy(storage);
}

// ---- streams -------------------------------------------------------------------------------

static void each_queue_has_a_timeline_of_its_own(void **state) {
    (void)state;
    stand_in = vulkan_stand_in_at(STAND_IN);
    stand_in->second_queue = true;
    vulkan_callers_device device = vulkan_callers_device_make(STAND_IN);
    assert_non_null(device.second_queue);
    acre_vulkan_storage_params params = ACRE_VULKAN_STORAGE_PARAMS_INIT;
    params.objects = &device.objects;
    acre_storage *storage = vulkan_make(&params);
    const acre_storage_ops *ops = &storage->ops;
    uint64_t second = (uint64_t)(uintptr_t)device.second_queue;
    acre_error error = ACRE_ERROR_INIT;
    uint64_t ids[3];
    const uint64_t streams[3] = {0, second, (uint64_t)(uintptr_t)device.objects.queue};
    for (size_t i = 0; i < 3; i++) {
        assert_ok(ops->stream_id(storage->context, streams[i], &ids[i], &error));
    }
    assert_int_equal(ids[0], ids[2]); // the storage's own queue is stream 0
    assert_int_not_equal(ids[0], ids[1]);
    for (int i = 0; i < 100; i++) {
        uint64_t here = 0;
        uint64_t there = 0;
        bool done = false;
        assert_ok(ops->event_record(storage->context, 0, &here, &error));
        assert_ok(ops->event_wait(storage->context, here, second, &error));
        assert_ok(ops->event_record(storage->context, second, &there, &error));
        assert_int_not_equal(here, there);
        assert_ok(ops->event_sync(storage->context, there, &error));
        assert_ok(ops->event_done(storage->context, here, &done, &error));
        assert_true(done); // what it waited for
        assert_ok(ops->event_wait(storage->context, there, 0, &error));
        ops->event_destroy(storage->context, here);
        ops->event_destroy(storage->context, there);
    }
    assert_ok(acre_storage_wait(storage, NULL));
    acre_storage_destroy(storage);
    vulkan_callers_device_end(&device);
    assert_int_equal(stand_in->live, 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(bytes_that_the_host_sees_are_written_in_place),
        cmocka_unit_test(bytes_that_the_host_does_not_see_go_through_memory_that_it_does),
        cmocka_unit_test(caches_of_the_host_are_flushed_in_whole_atoms),
        cmocka_unit_test(copies_that_follow_each_other_happen_in_their_order),
        cmocka_unit_test(a_write_comes_after_the_copies_before_it),
        cmocka_unit_test(kernels_and_copies_on_one_queue_need_no_barrier_between_them),
        cmocka_unit_test(pages_and_storages_may_end_with_copies_under_way),
        cmocka_unit_test(each_queue_has_a_timeline_of_its_own),
    };
    int missing = vulkan_missing();
    return missing != 0 ? missing : cmocka_run_group_tests(tests, NULL, NULL);
}
