// The CUDA storage on the fake driver: pages, ranges, copies, streams, captures.
#include "cuda_rig.h"

#include <sys/mman.h>
#include <unistd.h>

// ---- pages ---------------------------------------------------------------------------------

static void pages_hold_their_bytes_in_all_three_ways(void **state) {
    (void)state;
    for (size_t i = 0; i < COUNT_OF(all_memories); i++) {
        acre_storage *storage = storage_of(all_memories[i]);
        uint64_t page = page_of(storage, 3 * MIB);
        acre_resource first = resource_of(storage, page, 0, MIB);
        acre_resource last = resource_of(storage, page, 2 * MIB, MIB);
        assert_int_equal(first.kind, ACRE_RESOURCE_CUDA);
        assert_int_equal(last.as.cuda, first.as.cuda + 2 * MIB);
        assert_int_equal(first.as.cuda % 256, 0);
        acre_error error = ACRE_ERROR_INIT;
        fill(storage, &first, 7);
        assert_ok(acre_storage_copy(storage, &first, &last, &error));
        assert_ok(acre_storage_wait(storage, NULL));
        expect_bytes(storage, &last, 7);
        acre_storage_dealloc(storage, page);
        acre_storage_flush(storage);
        assert_int_equal(fake_cuda_bytes(), 0);
        close_storage(storage);
    }
}

static void virtual_pages_count_in_multiples_of_the_granularity(void **state) {
    (void)state;
    acre_storage *storage = storage_of(ACRE_CUDA_VIRTUAL);
    uint64_t page = page_of(storage, 1);
    assert_int_equal(acre_storage_bytes(storage), 2 * MIB);
    assert_int_equal(storage->alignment, 2 * MIB);
    assert_int_equal(resource_of(storage, page, 0, 1).as.cuda % (2 * MIB), 0);
    acre_storage_dealloc(storage, page);
    close_storage(storage);
}

// Expects a refusal of a page, by the limit of `capacity` bytes, without a call of the driver.
static void refuse_page(acre_storage *storage, uint64_t size, uint64_t capacity) {
    acre_error error = ACRE_ERROR_INIT;
    uint64_t calls = fake_cuda_calls(NULL);
    uint64_t page = 42;
    assert_status(ACRE_OUT_OF_MEMORY, acre_storage_alloc(storage, size, &page, &error));
    assert_int_equal(error.capacity, capacity);
    assert_int_equal(error.size, size);
    assert_int_equal(page, 42);
    assert_int_equal(fake_cuda_calls(NULL), calls);
}

static void caps_are_kept_and_name_their_capacity(void **state) {
    (void)state;
    for (size_t i = 0; i < COUNT_OF(all_memories); i++) {
        acre_cuda_storage_params params = fake_params(all_memories[i]);
        params.total_memory = 10 * MIB;
        params.largest_allocation = 6 * MIB;
        acre_storage *storage = storage_with(&params);
        refuse_page(storage, 6 * MIB + 1, 6 * MIB);
        refuse_page(storage, UINT64_MAX, 6 * MIB);
        uint64_t page = page_of(storage, 6 * MIB);
        refuse_page(storage, 4 * MIB + 1, 10 * MIB);
        uint64_t rest = page_of(storage, 4 * MIB);
        refuse_page(storage, 1, 10 * MIB);
        acre_storage_dealloc(storage, rest);
        acre_storage_dealloc(storage, page);
        close_storage(storage);
    }
}

static void ranges_share_the_cap_with_pages(void **state) {
    (void)state;
    acre_cuda_storage_params params = fake_params(ACRE_CUDA_PLAIN);
    params.total_memory = 10 * MIB;
    params.largest_allocation = 8 * MIB;
    acre_storage *storage = storage_with(&params);
    uint64_t page = page_of(storage, 7 * MIB);
    uint64_t memory = memory_of(storage, 2 * MIB);
    acre_error error = ACRE_ERROR_INIT;
    uint64_t more = 0;
    assert_status(ACRE_OUT_OF_MEMORY, acre_storage_memory_create(storage, 2 * MIB, &more, &error));
    assert_int_equal(error.capacity, 10 * MIB);
    assert_status(ACRE_OUT_OF_MEMORY, acre_storage_memory_create(storage, 10 * MIB, &more, &error));
    assert_int_equal(error.capacity, 8 * MIB);
    acre_storage_memory_destroy(storage, memory);
    acre_storage_dealloc(storage, page);
    close_storage(storage);
}

static void the_devices_own_refusal_has_its_code_and_text(void **state) {
    (void)state;
    for (size_t i = 0; i < COUNT_OF(all_memories); i++) {
        fake_cuda()->memory = 64 * GIB;
        acre_storage *storage = storage_of(all_memories[i]);
        fake_cuda()->memory = 8 * MIB; // others took the rest
        acre_error error = ACRE_ERROR_INIT;
        uint64_t page = 0;
        assert_status(ACRE_OUT_OF_MEMORY, acre_storage_alloc(storage, 16 * MIB, &page, &error));
        assert_int_equal(error.native_code, 2);
        assert_string_equal(error.native_text, "CUDA_ERROR_OUT_OF_MEMORY: out of memory");
        assert_int_equal(error.size, 16 * MIB);
        assert_ok(acre_storage_fail(storage, 3, false, 700, NULL));
        assert_status(ACRE_BACKEND_ERROR, acre_storage_alloc(storage, MIB, &page, &error));
        assert_int_equal(error.native_code, 700);
        assert_non_null(strstr(error.native_text, "CUDA_ERROR_ILLEGAL_ADDRESS"));
        close_storage(storage);
    }
}

static void a_limit_above_the_devices_memory_is_the_devices(void **state) {
    (void)state;
    acre_cuda_storage_params params = fake_params(ACRE_CUDA_PLAIN);
    params.total_memory = UINT64_MAX;
    acre_storage *storage = storage_with(&params);
    acre_storage_limits limits = ACRE_STORAGE_LIMITS_INIT;
    acre_storage_limits_get(storage, &limits);
    assert_int_equal(limits.total_memory, 64 * GIB);
    assert_int_equal(limits.largest_allocation, 64 * GIB);
    close_storage(storage);
}

static void freed_stream_ordered_pages_serve_the_next_until_a_flush(void **state) {
    (void)state;
    acre_storage *storage = storage_of(ACRE_CUDA_STREAM_ORDERED);
    acre_storage_dealloc(storage, page_of(storage, 8 * MIB));
    assert_int_equal(acre_storage_bytes(storage), 0);
    assert_int_equal(fake_cuda_bytes(), 8 * MIB);
    uint64_t page = page_of(storage, 6 * MIB);
    assert_int_equal(fake_cuda_bytes(), 8 * MIB);
    acre_storage_flush(storage);
    assert_int_equal(fake_cuda_bytes(), 6 * MIB);
    acre_storage_dealloc(storage, page);
    close_storage(storage);
}

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

// ---- ranges ----------------------------------------------------------------------------------

typedef struct granules {
    uint64_t range;
    uint64_t memories[16];
} granules;

static granules granules_of(acre_storage *storage) {
    granules made = {range_of(storage, 64 * MIB), {0}};
    for (size_t i = 0; i < COUNT_OF(made.memories); i++) {
        made.memories[i] = memory_of(storage, 2 * MIB);
    }
    return made;
}

static void granules_end(acre_storage *storage, granules *ended) {
    for (size_t i = 0; i < COUNT_OF(ended->memories); i++) {
        acre_storage_memory_destroy(storage, ended->memories[i]);
    }
    storage->ops.range_release(storage->context, ended->range);
}

static void growth_by_many_memories_gives_access_once_and_unmaps_once(void **state) {
    (void)state;
    acre_storage *storage = storage_of(ACRE_CUDA_PLAIN);
    granules made = granules_of(storage);
    acre_error error = ACRE_ERROR_INIT;
    assert_ok(acre_storage_map(storage, made.range, 4 * MIB, made.memories, 16, &error));
    assert_int_equal(fake_cuda_calls("cuMemMap"), 16);
    assert_int_equal(fake_cuda_calls("cuMemSetAccess"), 1);
    acre_resource all = resource_of(storage, made.range, 4 * MIB, 32 * MIB);
    fill(storage, &all, 9);
    expect_bytes(storage, &all, 9);
    assert_ok(acre_storage_unmap(storage, made.range, 4 * MIB, 32 * MIB, &error));
    assert_int_equal(fake_cuda_calls("cuMemUnmap"), 1);
    granules_end(storage, &made);
    close_storage(storage);
}

static void an_unmap_over_holes_takes_one_call_for_each_run(void **state) {
    (void)state;
    acre_storage *storage = storage_of(ACRE_CUDA_PLAIN);
    granules made = granules_of(storage);
    acre_error error = ACRE_ERROR_INIT;
    assert_ok(acre_storage_map(storage, made.range, 2 * MIB, made.memories, 2, &error));
    assert_ok(acre_storage_map(storage, made.range, 10 * MIB, made.memories + 2, 3, &error));
    assert_ok(acre_storage_unmap(storage, made.range, 0, 64 * MIB, &error));
    assert_int_equal(fake_cuda_calls("cuMemUnmap"), 2);
    assert_ok(acre_storage_unmap(storage, made.range, 0, 64 * MIB, &error));
    assert_ok(acre_storage_unmap(storage, made.range, 0, 0, &error));
    assert_int_equal(fake_cuda_calls("cuMemUnmap"), 2);
    granules_end(storage, &made);
    close_storage(storage);
}

static void memory_keeps_its_bytes_when_it_is_mapped_elsewhere(void **state) {
    (void)state;
    acre_storage *storage = storage_of(ACRE_CUDA_PLAIN);
    granules made = granules_of(storage);
    acre_error error = ACRE_ERROR_INIT;
    assert_ok(acre_storage_map(storage, made.range, 0, made.memories, 1, &error));
    acre_resource here = resource_of(storage, made.range, 0, 2 * MIB);
    fill(storage, &here, 3);
    assert_ok(acre_storage_unmap(storage, made.range, 0, 2 * MIB, &error));
    assert_ok(acre_storage_map(storage, made.range, 62 * MIB, made.memories, 1, &error));
    acre_resource there = resource_of(storage, made.range, 62 * MIB, 2 * MIB);
    expect_bytes(storage, &there, 3);
    assert_ok(acre_storage_unmap(storage, made.range, 62 * MIB, 2 * MIB, &error));
    granules_end(storage, &made);
    close_storage(storage);
}

static void mappings_that_no_driver_allows_are_refused_without_asking_it(void **state) {
    (void)state;
    acre_storage *storage = storage_of(ACRE_CUDA_PLAIN);
    granules made = granules_of(storage);
    uint64_t wide = memory_of(storage, 4 * MIB);
    acre_error error = ACRE_ERROR_INIT;
    const uint64_t twice[] = {made.memories[1], made.memories[1]};
    assert_ok(acre_storage_map(storage, made.range, 4 * MIB, &wide, 1, &error));
    uint64_t calls = fake_cuda_calls(NULL);
    const struct {
        uint64_t offset;
        const uint64_t *memories;
        uint64_t count;
    } wrong[] = {
        {MIB, made.memories, 1},         {62 * MIB, made.memories, 2}, {66 * MIB, made.memories, 1},
        {0, made.memories, 3},           {6 * MIB, made.memories, 1},  {8 * MIB, &wide, 1},
        {UINT64_MAX, made.memories, 16}, {8 * MIB, twice, 2},
    };
    for (size_t i = 0; i < COUNT_OF(wrong); i++) {
        assert_status(ACRE_BACKEND_ERROR,
                      acre_storage_map(storage, made.range, wrong[i].offset, wrong[i].memories,
                                       wrong[i].count, &error));
        assert_true(error.native_text[0] != '\0');
    }
    assert_status(ACRE_BACKEND_ERROR,
                  acre_storage_unmap(storage, made.range, 6 * MIB, 2 * MIB, &error));
    assert_status(ACRE_BACKEND_ERROR, acre_storage_unmap(storage, made.range, 0, 6 * MIB, &error));
    assert_status(ACRE_BACKEND_ERROR, acre_storage_unmap(storage, made.range, 0, 66 * MIB, &error));
    assert_status(ACRE_BACKEND_ERROR, acre_storage_unmap(storage, made.range, 0, 5, &error));
    uint64_t none = 0;
    assert_status(ACRE_BACKEND_ERROR, acre_storage_range_reserve(storage, 0, &none, &error));
    assert_status(ACRE_BACKEND_ERROR, acre_storage_range_reserve(storage, 5, &none, &error));
    assert_status(ACRE_BACKEND_ERROR, acre_storage_memory_create(storage, 5, &none, &error));
    assert_int_equal(fake_cuda_calls(NULL), calls);
    assert_ok(acre_storage_map(storage, made.range, 8 * MIB, made.memories, 16, &error));
    assert_ok(acre_storage_unmap(storage, made.range, 0, 64 * MIB, &error));
    acre_storage_memory_destroy(storage, wide);
    granules_end(storage, &made);
    close_storage(storage);
}

// ---- streams and events ------------------------------------------------------------------------

static void streams_have_ids_of_their_own(void **state) {
    (void)state;
    acre_storage *storage = storage_of(ACRE_CUDA_PLAIN);
    void *streams[] = {fake_cuda_stream_create(NULL), fake_cuda_stream_create(NULL), NULL};
    uint64_t ids[3] = {0};
    acre_error error = ACRE_ERROR_INIT;
    for (size_t i = 0; i < COUNT_OF(streams); i++) {
        uint64_t stream = (uint64_t)(uintptr_t)streams[i];
        assert_ok(storage->ops.stream_id(storage->context, stream, &ids[i], &error));
    }
    assert_true(ids[0] != ids[1] && ids[1] != ids[2] && ids[0] != ids[2]);
    close_storage(storage);
}

static void events_are_passed_in_time_and_used_again(void **state) {
    (void)state;
    acre_storage *storage = storage_of(ACRE_CUDA_PLAIN);
    acre_error error = ACRE_ERROR_INIT;
    uint64_t events[4] = {0};
    bool done = true;
    fake_cuda()->hold_events = true;
    for (int round = 0; round < 3; round++) {
        for (size_t i = 0; i < COUNT_OF(events); i++) {
            assert_ok(storage->ops.event_record(storage->context, 0, &events[i], &error));
        }
        assert_ok(storage->ops.event_done(storage->context, events[0], &done, &error));
        assert_false(done);
        assert_ok(storage->ops.event_sync(storage->context, events[0], &error));
        assert_ok(storage->ops.event_done(storage->context, events[0], &done, &error));
        assert_true(done);
        for (size_t i = 0; i < COUNT_OF(events); i++) {
            storage->ops.event_destroy(storage->context, events[i]);
        }
    }
    assert_int_equal(fake_cuda_calls("cuEventCreate"), COUNT_OF(events));
    assert_int_equal(fake_cuda_calls("cuEventRecord"), 3 * COUNT_OF(events));
    close_storage(storage);
}

// ---- sharing -----------------------------------------------------------------------------------

static void exported_memory_shows_the_bytes_of_the_resource(void **state) {
    (void)state;
    acre_cuda_storage_params params = fake_params(ACRE_CUDA_VIRTUAL);
    params.exportable = true;
    acre_storage *storage = storage_with(&params);
    uint64_t other = page_of(storage, 4 * MIB);
    uint64_t page = page_of(storage, 4 * MIB);
    acre_resource part = resource_of(storage, page, 3 * MIB, KIB);
    fill(storage, &part, 77);
    int file = -1;
    uint64_t offset = 0;
    assert_ok(acre_storage_cuda_export(storage, &part, &file, &offset, NULL));
    assert_int_equal(offset, 3 * MIB);
    const char *bytes = mmap(NULL, 4 * MIB, PROT_READ, MAP_SHARED, file, 0);
    assert_true(bytes != MAP_FAILED);
    assert_int_equal(bytes[offset], 77);
    assert_int_equal(bytes[offset + KIB - 1], 77);
    munmap((void *)(uintptr_t)bytes, 4 * MIB);
    close(file);
    acre_storage_dealloc(storage, page);
    acre_storage_dealloc(storage, other);
    close_storage(storage);
}

static void an_export_of_what_cannot_be_shared_is_refused(void **state) {
    (void)state;
    acre_cuda_storage_params params = fake_params(ACRE_CUDA_VIRTUAL);
    acre_storage *storage = storage_with(&params);
    uint64_t page = page_of(storage, 2 * MIB);
    acre_resource resource = resource_of(storage, page, 0, KIB);
    acre_error error = ACRE_ERROR_INIT;
    int file = -1;
    uint64_t offset = 0;
    assert_status(ACRE_UNSUPPORTED,
                  acre_storage_cuda_export(storage, &resource, &file, &offset, &error));
    assert_non_null(strstr(error.detail, "exportable"));
    params.exportable = true;
    acre_storage *shared = storage_with(&params);
    assert_status(ACRE_INVALID_ARGUMENT,
                  acre_storage_cuda_export(shared, &resource, &file, &offset, &error));
    uint64_t own = page_of(shared, 2 * MIB);
    acre_resource long_one = resource_of(shared, own, MIB, MIB);
    long_one.size = 2 * MIB;
    assert_status(ACRE_INVALID_ARGUMENT,
                  acre_storage_cuda_export(shared, &long_one, &file, &offset, &error));
    acre_storage *other = simulated_device();
    assert_status(ACRE_UNSUPPORTED,
                  acre_storage_cuda_export(other, &resource, &file, &offset, &error));
    assert_int_equal(file, -1);
    acre_storage_destroy(other);
    acre_storage_dealloc(shared, own);
    acre_storage_destroy(shared);
    acre_storage_dealloc(storage, page);
    close_storage(storage);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(pages_hold_their_bytes_in_all_three_ways, reset_driver),
        cmocka_unit_test_setup(virtual_pages_count_in_multiples_of_the_granularity, reset_driver),
        cmocka_unit_test_setup(caps_are_kept_and_name_their_capacity, reset_driver),
        cmocka_unit_test_setup(ranges_share_the_cap_with_pages, reset_driver),
        cmocka_unit_test_setup(the_devices_own_refusal_has_its_code_and_text, reset_driver),
        cmocka_unit_test_setup(a_limit_above_the_devices_memory_is_the_devices, reset_driver),
        cmocka_unit_test_setup(freed_stream_ordered_pages_serve_the_next_until_a_flush,
                               reset_driver),
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
        cmocka_unit_test_setup(growth_by_many_memories_gives_access_once_and_unmaps_once,
                               reset_driver),
        cmocka_unit_test_setup(an_unmap_over_holes_takes_one_call_for_each_run, reset_driver),
        cmocka_unit_test_setup(memory_keeps_its_bytes_when_it_is_mapped_elsewhere, reset_driver),
        cmocka_unit_test_setup(mappings_that_no_driver_allows_are_refused_without_asking_it,
                               reset_driver),
        cmocka_unit_test_setup(streams_have_ids_of_their_own, reset_driver),
        cmocka_unit_test_setup(events_are_passed_in_time_and_used_again, reset_driver),
        cmocka_unit_test_setup(exported_memory_shows_the_bytes_of_the_resource, reset_driver),
        cmocka_unit_test_setup(an_export_of_what_cannot_be_shared_is_refused, reset_driver),
    };
    return cmocka_run_group_tests(tests, NULL, reset_driver);
}
