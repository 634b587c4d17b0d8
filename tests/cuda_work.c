// The CUDA storage beside the work of a program, on the fake driver: what it calls and leaves
// alone, copies, captures.
#include "cuda_rig.h"

// ---- what costs no call, and what it leaves alone --------------------------------------------

static void a_warm_reservation_and_its_resolution_call_no_driver(void **state) {
    (void)state;
    for (size_t i = 0; i < COUNT_OF(all_memories); i++) {
        acre_storage *storage = storage_of(all_memories[i]);
        acre_manager_options options = plain_options(64 * MIB, 256);
        acre_manager *manager = NULL;
        assert_ok(acre_manager_create(storage, &options, &manager, NULL));
        acre_manager_release(manager, take(manager, MIB));
        uint64_t calls = fake_cuda_calls(NULL);
        acre_handle *handle = take(manager, MIB);
        acre_resource resource = ACRE_RESOURCE_INIT;
        assert_ok(acre_manager_resolve(manager, handle, 0, 0, &resource, NULL));
        acre_manager_release(manager, handle);
        acre_storage_limits limits = ACRE_STORAGE_LIMITS_INIT;
        acre_storage_limits_get(storage, &limits);
        acre_storage_stats stats = stats_of(storage);
        assert_true(stats.bytes_allocated > 0);
        assert_int_equal(fake_cuda_calls(NULL), calls);
        acre_manager_destroy(manager);
        close_storage(storage);
    }
}

static void a_limit_below_what_is_live_refuses_until_enough_is_released(void **state) {
    (void)state;
    acre_storage *storage = storage_of(ACRE_CUDA_VIRTUAL);
    acre_manager_options options = plain_options(64 * MIB, 256);
    acre_pool_options pool = direct_pool(ACRE_UNSET);
    acre_layout layout = explicit_layout(&pool, 1);
    options.layout = &layout;
    rig own = rig_on(storage, &options);
    acre_handle *first = take(own.manager, 8 * MIB);
    acre_handle *second = take(own.manager, 8 * MIB);
    acre_manager_set_limits(own.manager, 0, 4 * MIB);
    refuse(own.manager, 2 * MIB, ACRE_OUT_OF_MEMORY);
    acre_manager_release(own.manager, first);
    acre_manager_cleanup(own.manager, ACRE_CLEANUP_EXPLICIT);
    refuse(own.manager, 2 * MIB, ACRE_OUT_OF_MEMORY);
    acre_manager_release(own.manager, second);
    acre_manager_cleanup(own.manager, ACRE_CLEANUP_EXPLICIT);
    acre_manager_release(own.manager, take(own.manager, 2 * MIB));
    rig_close(&own);
    assert_int_equal(fake_cuda_live(), 0);
}

// Every operation once. `stream` is recorded on and waited with.
static void do_everything(acre_storage *storage, void *stream) {
    acre_error error = ACRE_ERROR_INIT;
    uint64_t on = (uint64_t)(uintptr_t)stream;
    uint64_t page = page_of(storage, 2 * MIB);
    acre_resource first = resource_of(storage, page, 0, KIB);
    acre_resource second = resource_of(storage, page, KIB, KIB);
    fill(storage, &first, 5);
    assert_ok(acre_storage_copy(storage, &first, &second, &error));
    expect_bytes(storage, &second, 5);
    uint64_t range = range_of(storage, 8 * MIB);
    uint64_t memory = memory_of(storage, 2 * MIB);
    assert_ok(acre_storage_map(storage, range, 0, &memory, 1, &error));
    assert_ok(acre_storage_unmap(storage, range, 0, 8 * MIB, &error));
    acre_storage_memory_destroy(storage, memory);
    storage->ops.range_release(storage->context, range);
    uint64_t id = 0;
    uint64_t event = 0;
    bool done = false;
    assert_ok(storage->ops.stream_id(storage->context, on, &id, &error));
    assert_ok(storage->ops.event_record(storage->context, on, &event, &error));
    assert_ok(storage->ops.event_done(storage->context, event, &done, &error));
    assert_true(done);
    assert_ok(storage->ops.event_wait(storage->context, event, on, &error));
    assert_ok(storage->ops.event_sync(storage->context, event, &error));
    storage->ops.event_destroy(storage->context, event);
    acre_storage_dealloc(storage, page);
    acre_storage_flush(storage);
}

static void the_callers_context_stays_current_through_everything(void **state) {
    (void)state;
    for (size_t i = 0; i < COUNT_OF(all_memories); i++) {
        fake_cuda_reset();
        void *callers = fake_cuda_context_create();
        fake_cuda_set_current(callers);
        acre_storage *storage = storage_of(all_memories[i]);
        acre_cuda_objects objects = ACRE_CUDA_OBJECTS_INIT;
        assert_ok(acre_storage_cuda_objects(storage, &objects, NULL));
        do_everything(storage, objects.stream);
        assert_ok(acre_storage_wait(storage, NULL));
        assert_ptr_equal(fake_cuda_current(), callers);
        assert_int_equal(fake_cuda_capture_mode(), 0);
        acre_storage_destroy(storage);
        assert_ptr_equal(fake_cuda_current(), callers);
        assert_int_equal(fake_cuda_calls("cuCtxPushCurrent"), fake_cuda_calls("cuCtxPopCurrent"));
        assert_int_equal(fake_cuda_live(), 0);
    }
}

// ---- copies ----------------------------------------------------------------------------------

// Many small copies are few launches, made when somebody waits; every byte of them arrives.
static void small_copies_are_gathered_into_launches(void **state) {
    (void)state;
    enum {
        COPIES = 300
    };
    acre_storage *storage = storage_of(ACRE_CUDA_PLAIN);
    uint64_t from = page_of(storage, MIB);
    uint64_t to = page_of(storage, MIB);
    for (unsigned i = 0; i < COPIES; i++) {
        acre_resource source = resource_of(storage, from, i * 1024, 1000 - i);
        fill(storage, &source, (unsigned char)(i + 1));
    }
    acre_error error = ACRE_ERROR_INIT;
    for (unsigned i = 0; i < COPIES; i++) { // to a place far from the next one's
        acre_resource source = resource_of(storage, from, i * 1024, 1000 - i);
        acre_resource target = resource_of(storage, to, i * 77 % COPIES * 1024, 1000 - i);
        assert_ok(acre_storage_copy(storage, &source, &target, &error));
    }
    assert_int_equal(fake_cuda_calls("cuLaunchKernel"), 2);
    assert_ok(acre_storage_wait(storage, NULL));
    assert_int_equal(fake_cuda_calls("cuLaunchKernel"), 3);
    assert_int_equal(fake_cuda_calls("cuModuleLoadData"), 1);
    assert_int_equal(fake_cuda_calls("cuMemcpyDtoDAsync"), 0);
    for (unsigned i = 0; i < COPIES; i++) {
        acre_resource target = resource_of(storage, to, i * 77 % COPIES * 1024, 1000 - i);
        expect_bytes(storage, &target, (unsigned char)(i + 1));
    }
    acre_storage_dealloc(storage, from);
    acre_storage_dealloc(storage, to);
    close_storage(storage);
}

// Whatever looks at the bytes, or ends them, comes after the copies that were asked for before.
static void gathered_copies_come_before_whatever_depends_on_them(void **state) {
    (void)state;
    for (int next = 0; next < 5; next++) {
        acre_storage *storage = storage_of(ACRE_CUDA_PLAIN);
        uint64_t pages[2] = {page_of(storage, MIB), page_of(storage, MIB)};
        acre_resource source = resource_of(storage, pages[0], 0, 5000);
        acre_resource target = resource_of(storage, pages[1], 0, 5000);
        acre_resource other = resource_of(storage, pages[1], 8192, 8);
        acre_error error = ACRE_ERROR_INIT;
        fill(storage, &source, 9);
        assert_ok(acre_storage_copy(storage, &source, &target, &error));
        assert_int_equal(fake_cuda_calls("cuLaunchKernel"), next);
        uint64_t event = 0;
        if (next == 0) {
            expect_bytes(storage, &target, 9);
        } else if (next == 1) {
            fill(storage, &other, 1);
        } else if (next == 2) {
            assert_ok(storage->ops.event_record(storage->context, 0, &event, &error));
            storage->ops.event_destroy(storage->context, event);
        } else if (next == 3) {
            acre_storage_dealloc(storage, pages[1]);
            pages[1] = page_of(storage, MIB);
        } else {
            assert_ok(acre_storage_wait(storage, NULL));
        }
        assert_int_equal(fake_cuda_calls("cuLaunchKernel"), next + 1);
        assert_ok(acre_storage_wait(storage, NULL));
        assert_int_equal(fake_cuda_calls("cuLaunchKernel"), next + 1); // once
        acre_storage_dealloc(storage, pages[0]);
        acre_storage_dealloc(storage, pages[1]);
        close_storage(storage);
    }
}

// What begins the copies may be something else, and fail there: whoever waits for them is told.
static void copies_that_were_lost_on_the_way_are_told_to_who_waits(void **state) {
    (void)state;
    acre_storage *storage = storage_of(ACRE_CUDA_PLAIN);
    uint64_t page = page_of(storage, MIB);
    uint64_t other = page_of(storage, MIB);
    acre_error error = ACRE_ERROR_INIT;
    acre_resource source = resource_of(storage, page, 0, 100);
    acre_resource target = resource_of(storage, page, 4096, 100);
    assert_ok(acre_storage_copy(storage, &source, &target, &error));
    assert_ok(acre_storage_wait(storage, NULL)); // the kernel is there
    assert_ok(acre_storage_copy(storage, &source, &target, &error));
    assert_ok(acre_storage_fail(storage, 4, false, 719, NULL)); // the launch
    acre_storage_dealloc(storage, other);
    assert_ok(acre_storage_fail(storage, 0, false, 0, NULL));
    assert_status(ACRE_BACKEND_ERROR, acre_storage_wait(storage, &error));
    assert_int_equal(error.native_code, 719);
    assert_ok(acre_storage_wait(storage, NULL)); // once
    acre_storage_dealloc(storage, page);
    close_storage(storage);
}

static void copies_that_the_kernel_cannot_make_are_the_drivers(void **state) {
    (void)state;
    acre_storage *storage = storage_of(ACRE_CUDA_PLAIN);
    uint64_t page = page_of(storage, MIB);
    acre_error error = ACRE_ERROR_INIT;
    acre_resource source = resource_of(storage, page, 8, 100); // loads are of 16 bytes
    acre_resource target = resource_of(storage, page, 4096, 100);
    fill(storage, &source, 3);
    assert_ok(acre_storage_copy(storage, &source, &target, &error));
    assert_int_equal(fake_cuda_calls("cuMemcpyDtoDAsync"), 1);
    assert_int_equal(fake_cuda_calls("cuModuleLoadData"), 0);
    expect_bytes(storage, &target, 3);
    fake_cuda()->no_kernels = true;
    for (unsigned i = 0; i < 3; i++) {
        source = resource_of(storage, page, 16, 100);
        fill(storage, &source, (unsigned char)(4 + i));
        assert_ok(acre_storage_copy(storage, &source, &target, &error));
        expect_bytes(storage, &target, (unsigned char)(4 + i));
    }
    assert_int_equal(fake_cuda_calls("cuMemcpyDtoDAsync"), 4);
    assert_int_equal(fake_cuda_calls("cuModuleLoadData"), 1); // not asked again
    acre_storage_dealloc(storage, page);
    close_storage(storage);
}

// A launch that fails is told to whoever waits, and is not made later, when its places may be
// somebody else's.
static void a_launch_that_fails_is_told_and_over(void **state) {
    (void)state;
    acre_storage *storage = storage_of(ACRE_CUDA_PLAIN);
    uint64_t page = page_of(storage, MIB);
    acre_error error = ACRE_ERROR_INIT;
    acre_resource source = resource_of(storage, page, 0, 100);
    acre_resource target = resource_of(storage, page, 4096, 100);
    for (uint64_t nth = 1; nth <= 4; nth++) { // entering takes two calls, the launch is the fourth
        assert_ok(acre_storage_copy(storage, &source, &target, &error));
        assert_ok(acre_storage_fail(storage, nth, false, 719, NULL));
        assert_status(ACRE_BACKEND_ERROR, acre_storage_wait(storage, &error));
        assert_int_equal(error.native_code, 719);
        assert_ok(acre_storage_fail(storage, 0, false, 0, NULL));
        assert_ok(acre_storage_wait(storage, NULL));
        assert_int_equal(fake_cuda_calls("cuLaunchKernel"), 0);
    }
    acre_storage_dealloc(storage, page);
    close_storage(storage);
}

// ---- captures --------------------------------------------------------------------------------

static void a_capture_of_another_stream_survives_everything(void **state) {
    (void)state;
    for (size_t i = 0; i < COUNT_OF(all_memories); i++) {
        void *captured = fake_cuda_stream_create(NULL);
        fake_cuda_capture_begin(captured);
        acre_cuda_storage_params params = fake_params(all_memories[i]);
        params.stream = fake_cuda_stream_create(NULL);
        acre_storage *storage = storage_with(&params);
        do_everything(storage, params.stream);
        close_storage(storage);
        assert_true(fake_cuda_capture_end(captured));
        assert_int_equal(fake_cuda()->captured, 0);
        fake_cuda_stream_destroy(captured);
        fake_cuda_stream_destroy(params.stream);
    }
}

// Without a named stream, giving back a page that is not plain waits for the device, which would
// end the capture; growth does not.
static void growth_leaves_captures_alone_also_without_a_named_stream(void **state) {
    (void)state;
    for (size_t i = 0; i < COUNT_OF(all_memories); i++) {
        acre_storage *storage = storage_of(all_memories[i]);
        void *captured = fake_cuda_stream_create(NULL);
        fake_cuda_capture_begin(captured);
        uint64_t page = page_of(storage, 2 * MIB);
        assert_true(fake_cuda_capture_end(captured));
        uint64_t waits = fake_cuda_calls("cuCtxSynchronize");
        acre_storage_dealloc(storage, page);
        assert_int_equal(fake_cuda_calls("cuCtxSynchronize") - waits,
                         all_memories[i] == ACRE_CUDA_PLAIN ? 0 : 1);
        close_storage(storage);
        fake_cuda_stream_destroy(captured);
    }
}

static void a_storage_grows_while_its_own_stream_is_captured(void **state) {
    (void)state;
    for (size_t i = 0; i < COUNT_OF(all_memories); i++) {
        acre_cuda_storage_params params = fake_params(all_memories[i]);
        params.stream = fake_cuda_stream_create(NULL);
        acre_storage *storage = storage_with(&params);
        uint64_t before = page_of(storage, 2 * MIB);
        fake_cuda_capture_begin(params.stream);
        uint64_t page = page_of(storage, 2 * MIB);
        acre_storage_dealloc(storage, before);
        acre_storage_flush(storage);
        // What goes back behind a captured stream is put off, and counts until then.
        bool put_off = all_memories[i] != ACRE_CUDA_PLAIN;
        assert_int_equal(acre_storage_bytes(storage), put_off ? 4 * MIB : 2 * MIB);
        assert_true(fake_cuda_capture_end(params.stream));
        assert_int_equal(fake_cuda()->captured, 0);
        acre_storage_flush(storage);
        assert_int_equal(acre_storage_bytes(storage), 2 * MIB);
        assert_int_equal(fake_cuda_bytes(), 2 * MIB);
        acre_storage_dealloc(storage, page);
        close_storage(storage);
        fake_cuda_stream_destroy(params.stream);
    }
}

static void frees_that_are_still_put_off_end_with_the_storage(void **state) {
    (void)state;
    for (size_t i = 0; i < COUNT_OF(all_memories); i++) {
        acre_cuda_storage_params params = fake_params(all_memories[i]);
        params.stream = fake_cuda_stream_create(NULL);
        acre_storage *storage = storage_with(&params);
        uint64_t page = page_of(storage, 2 * MIB);
        fake_cuda_capture_begin(params.stream);
        acre_storage_dealloc(storage, page);
        acre_storage_destroy(storage);
        assert_true(fake_cuda_capture_end(params.stream));
        assert_int_equal(fake_cuda()->captured, 0);
        assert_int_equal(fake_cuda_live(), 0);
        fake_cuda_stream_destroy(params.stream);
    }
}

// Expects that a call was refused because a stream is captured.
static void expect_captured(acre_status status, const acre_error *error) {
    assert_status(ACRE_BACKEND_ERROR, status);
    assert_int_equal(error->native_code, 900);
}

static void work_that_would_become_part_of_a_graph_is_refused(void **state) {
    (void)state;
    acre_cuda_storage_params params = fake_params(ACRE_CUDA_PLAIN);
    params.stream = fake_cuda_stream_create(NULL);
    acre_storage *storage = storage_with(&params);
    uint64_t on = (uint64_t)(uintptr_t)params.stream;
    uint64_t page = page_of(storage, 2 * MIB);
    acre_resource first = resource_of(storage, page, 0, 8);
    acre_resource second = resource_of(storage, page, 8, 8);
    acre_error error = ACRE_ERROR_INIT;
    uint64_t event = 0;
    uint64_t later = 0;
    char bytes[8] = {0};
    assert_ok(storage->ops.event_record(storage->context, on, &event, &error));
    fake_cuda_capture_begin(params.stream);
    expect_captured(acre_storage_copy(storage, &first, &second, &error), &error);
    assert_non_null(strstr(error.detail, "being captured"));
    expect_captured(acre_storage_write(storage, &first, bytes, &error), &error);
    expect_captured(acre_storage_read(storage, &first, bytes, &error), &error);
    expect_captured(storage->ops.event_record(storage->context, on, &later, &error), &error);
    expect_captured(storage->ops.event_wait(storage->context, event, on, &error), &error);
    // A copy that is gathered is told when it is to begin and to who waits, and is not made later.
    acre_resource far = resource_of(storage, page, 64, 8);
    assert_ok(acre_storage_copy(storage, &first, &far, &error));
    expect_captured(storage->ops.event_record(storage->context, 0, &later, &error), &error);
    assert_int_equal(fake_cuda_calls("cuLaunchKernel"), 0);
    assert_true(fake_cuda_capture_end(params.stream));
    assert_int_equal(fake_cuda()->captured, 0);
    expect_captured(acre_storage_wait(storage, &error), &error);
    assert_ok(acre_storage_wait(storage, NULL));
    assert_int_equal(fake_cuda_calls("cuLaunchKernel"), 0);
    storage->ops.event_destroy(storage->context, event);
    acre_storage_dealloc(storage, page);
    close_storage(storage);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(a_warm_reservation_and_its_resolution_call_no_driver, reset_driver),
        cmocka_unit_test_setup(a_limit_below_what_is_live_refuses_until_enough_is_released,
                               reset_driver),
        cmocka_unit_test_setup(the_callers_context_stays_current_through_everything, reset_driver),
        cmocka_unit_test_setup(small_copies_are_gathered_into_launches, reset_driver),
        cmocka_unit_test_setup(gathered_copies_come_before_whatever_depends_on_them, reset_driver),
        cmocka_unit_test_setup(copies_that_were_lost_on_the_way_are_told_to_who_waits,
                               reset_driver),
        cmocka_unit_test_setup(copies_that_the_kernel_cannot_make_are_the_drivers, reset_driver),
        cmocka_unit_test_setup(a_launch_that_fails_is_told_and_over, reset_driver),
        cmocka_unit_test_setup(a_capture_of_another_stream_survives_everything, reset_driver),
        cmocka_unit_test_setup(growth_leaves_captures_alone_also_without_a_named_stream,
                               reset_driver),
        cmocka_unit_test_setup(a_storage_grows_while_its_own_stream_is_captured, reset_driver),
        cmocka_unit_test_setup(frees_that_are_still_put_off_end_with_the_storage, reset_driver),
        cmocka_unit_test_setup(work_that_would_become_part_of_a_graph_is_refused, reset_driver),
    };
    return cmocka_run_group_tests(tests, NULL, reset_driver);
}
