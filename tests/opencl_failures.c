// Every call that the storage of OpenCL makes, failing in turn: what failed has changed nothing,
// the driver's own code comes through, and the storage goes on. Both kinds of pages.
#include "opencl_rig.h"

#include "storage/storage.h"

enum {
    SIZE = 4096,
    LOST = -36,
};

// A storage through the stand-in, with two pages that are written, an event and a second queue.
typedef struct fixture {
    stand_in *loader;
    host_probe *probe;
    acre_storage *storage;
    uint64_t pages[2];
    acre_resource bytes[2];
    uint64_t event;
    uint64_t stream;
    uint64_t made; // what the operation under test gave; 0 = nothing
} fixture;

static void fill(unsigned char *bytes, unsigned seed) {
    for (unsigned i = 0; i < SIZE; i++) {
        bytes[i] = (unsigned char)(i * 7 + seed);
    }
}

static void write_page(fixture *f, unsigned which, unsigned seed) {
    unsigned char bytes[SIZE];
    fill(bytes, seed);
    assert_ok(acre_storage_write(f->storage, &f->bytes[which], bytes, NULL));
}

static void check_page(fixture *f, unsigned which, unsigned seed) {
    unsigned char bytes[SIZE];
    unsigned char expected[SIZE];
    fill(expected, seed);
    assert_ok(acre_storage_read(f->storage, &f->bytes[which], bytes, NULL));
    assert_memory_equal(bytes, expected, SIZE);
}

static void open_fixture(fixture *f, bool svm) {
    *f = (fixture){.loader = opencl_stand_in(STAND_IN), .probe = host_probe_create()};
    acre_host_hooks hooks = host_probe_hooks(f->probe);
    acre_opencl_storage_params params = ACRE_OPENCL_STORAGE_PARAMS_INIT;
    params.library = STAND_IN;
    params.svm = svm;
    assert_ok(acre_storage_opencl_create(&params, &hooks, &f->storage, NULL));
    acre_error error = ACRE_ERROR_INIT;
    for (unsigned i = 0; i < 2; i++) {
        f->bytes[i] = ACRE_RESOURCE_INIT;
        assert_ok(acre_storage_alloc(f->storage, SIZE, &f->pages[i], &error));
        assert_ok(acre_storage_resource(f->storage, f->pages[i], 0, SIZE, &f->bytes[i], &error));
        write_page(f, i, i);
    }
    f->stream = opencl_stream_create(f->storage);
    assert_ok(f->storage->ops.event_record(f->storage->context, f->stream, &f->event, &error));
}

// The storage goes on: a page comes, is written and goes. Then everything ends.
static void close_fixture(fixture *f) {
    check_page(f, 0, 0);
    acre_error error = ACRE_ERROR_INIT;
    uint64_t page;
    assert_ok(acre_storage_alloc(f->storage, 3 * SIZE, &page, &error));
    acre_storage_dealloc(f->storage, page);
    opencl_stream_destroy(f->storage, f->stream);
    f->storage->ops.event_destroy(f->storage->context, f->event);
    for (unsigned i = 0; i < 2; i++) {
        acre_storage_dealloc(f->storage, f->pages[i]);
    }
    assert_int_equal(acre_storage_bytes(f->storage), 0);
    acre_storage_destroy(f->storage);
    assert_int_equal(f->loader->live, 0);
    host_probe_destroy(f->probe);
}

// ---- operations that say how they ended --------------------------------------------------------

static acre_status do_alloc(fixture *f, acre_error *error) {
    return acre_storage_alloc(f->storage, 2 * SIZE, &f->made, error);
}

static void undo_alloc(fixture *f) {
    acre_storage_dealloc(f->storage, f->made);
}

static acre_status do_copy(fixture *f, acre_error *error) {
    return acre_storage_copy(f->storage, &f->bytes[0], &f->bytes[1], error);
}

static void undo_copy(fixture *f) {
    check_page(f, 1, 0);
    write_page(f, 1, 1);
}

static acre_status do_write(fixture *f, acre_error *error) {
    unsigned char bytes[SIZE];
    fill(bytes, 5);
    return acre_storage_write(f->storage, &f->bytes[1], bytes, error);
}

static void undo_write(fixture *f) {
    check_page(f, 1, 5);
    write_page(f, 1, 1);
}

static acre_status do_read(fixture *f, acre_error *error) {
    unsigned char bytes[SIZE];
    return acre_storage_read(f->storage, &f->bytes[0], bytes, error);
}

static acre_status do_wait(fixture *f, acre_error *error) {
    return acre_storage_wait(f->storage, error);
}

static acre_status do_stream_id(fixture *f, acre_error *error) {
    uint64_t id;
    return f->storage->ops.stream_id(f->storage->context, f->stream, &id, error);
}

static acre_status do_record(fixture *f, acre_error *error) {
    return f->storage->ops.event_record(f->storage->context, f->stream, &f->made, error);
}

static void undo_record(fixture *f) {
    f->storage->ops.event_destroy(f->storage->context, f->made);
}

static acre_status do_done(fixture *f, acre_error *error) {
    bool done = true;
    acre_status status = f->storage->ops.event_done(f->storage->context, f->event, &done, error);
    assert_true(done);
    return status;
}

static acre_status do_event_wait(fixture *f, acre_error *error) {
    return f->storage->ops.event_wait(f->storage->context, f->event, 0, error);
}

static acre_status do_sync(fixture *f, acre_error *error) {
    return f->storage->ops.event_sync(f->storage->context, f->event, error);
}

static acre_status do_sub_buffer(fixture *f, acre_error *error) {
    void *buffer = NULL;
    acre_status status = acre_storage_opencl_sub_buffer(f->storage, &f->bytes[0], &buffer, error);
    assert_true((status == ACRE_OK) == (buffer != NULL));
    f->made = (uint64_t)(uintptr_t)buffer;
    return status;
}

static void undo_sub_buffer(fixture *f) {
    assert_int_equal(opencl()->release_buffer((void *)(uintptr_t)f->made), 0);
    f->loader->live--; // it was let go behind the loader's back
}

typedef struct operation {
    acre_status (*run)(fixture *f, acre_error *error);
    void (*undo)(fixture *f); // after it succeeded; NULL = nothing to be undone
    uint64_t least;           // calls that it makes at least
    bool buffers;             // not for shared virtual memory
} operation;

static const operation operations[] = {
    {do_alloc, undo_alloc, 1, false},
    {do_copy, undo_copy, 1, false},
    {do_write, undo_write, 1, false},
    {do_read, NULL, 1, false},
    {do_sync, NULL, 1, false},
    {do_done, NULL, 2, false},
    {do_record, undo_record, 2, false},
    {do_event_wait, NULL, 1, false},
    {do_stream_id, NULL, 1, false},
    {do_wait, NULL, 2, false},
    {do_sub_buffer, undo_sub_buffer, 1, true},
};

static void each_call_fails_once(fixture *f, const operation *under_test, int64_t code,
                                 acre_status expected, const char *name) {
    bool met = true;
    uint64_t nth = 0;
    while (met) {
        nth++;
        acre_error error = ACRE_ERROR_INIT;
        uint64_t bytes = acre_storage_bytes(f->storage);
        uint64_t calls = acre_storage_calls(f->storage);
        uint64_t blocks = host_probe_blocks(f->probe);
        int64_t live = f->loader->live;
        f->made = 0;
        assert_ok(acre_storage_fail(f->storage, nth, false, code, NULL));
        acre_status status = under_test->run(f, &error);
        met = acre_storage_calls(f->storage) - calls >= nth;
        assert_ok(acre_storage_fail(f->storage, 0, false, 0, NULL));
        assert_status(met ? expected : ACRE_OK, status);
        if (!met) {
            break;
        }
        assert_int_equal(error.native_code, code == 0 ? -4 : code);
        assert_string_equal(error.native_text, name);
        assert_int_equal(f->made, 0);
        assert_int_equal(acre_storage_bytes(f->storage), bytes);
        assert_true(host_probe_blocks(f->probe) <= blocks + 1); // the set of queues keeps its room
        assert_int_equal(f->loader->live, live);
        check_page(f, 0, 0);
        check_page(f, 1, 1);
    }
    assert_true(nth > under_test->least);
    if (under_test->undo != NULL) {
        under_test->undo(f);
    }
}

static void a_failure_at_any_call_of_an_operation_changes_nothing(void **state) {
    (void)state;
    for (int svm = 0; svm <= (int)opencl_has_svm(); svm++) {
        for (int lost = 0; lost < 2; lost++) {
            fixture f;
            open_fixture(&f, svm == 1);
            for (size_t i = 0; i < COUNT_OF(operations); i++) {
                if (svm == 1 && operations[i].buffers) {
                    continue;
                }
                if (lost == 1) {
                    each_call_fails_once(&f, &operations[i], LOST, ACRE_BACKEND_ERROR,
                                         "CL_INVALID_COMMAND_QUEUE");
                } else {
                    each_call_fails_once(&f, &operations[i], 0, ACRE_OUT_OF_MEMORY,
                                         "CL_MEM_OBJECT_ALLOCATION_FAILURE");
                }
            }
            close_fixture(&f);
        }
    }
}

// ---- operations that cannot fail ---------------------------------------------------------------

static void a_page_that_the_driver_does_not_take_back_is_off_the_books(void **state) {
    (void)state;
    for (int svm = 0; svm <= (int)opencl_has_svm(); svm++) {
        fixture f;
        open_fixture(&f, svm == 1);
        uint64_t bytes = acre_storage_bytes(f.storage);
        uint64_t blocks = host_probe_blocks(f.probe);
        acre_error error = ACRE_ERROR_INIT;
        uint64_t page;
        assert_ok(acre_storage_alloc(f.storage, SIZE, &page, &error));
        // Behind the wait for the queue.
        assert_ok(acre_storage_fail(f.storage, 2, false, LOST, NULL));
        acre_storage_dealloc(f.storage, page);
        assert_int_equal(acre_storage_bytes(f.storage), bytes);
        assert_int_equal(host_probe_blocks(f.probe), blocks);
        f.loader->live--; // the driver has it for ever
        close_fixture(&f);
    }
}

// A driver frees shared memory at once, and one that could not be waited for may still be copying.
static void shared_memory_is_not_freed_under_a_copy_that_was_not_waited_for(void **state) {
    (void)state;
    if (!opencl_has_svm()) {
        return;
    }
    fixture f;
    open_fixture(&f, true);
    acre_error error = ACRE_ERROR_INIT;
    assert_ok(acre_storage_copy(f.storage, &f.bytes[0], &f.bytes[1], &error));
    assert_ok(acre_storage_fail(f.storage, 1, false, LOST, NULL));
    assert_status(ACRE_BACKEND_ERROR, acre_storage_wait(f.storage, NULL));
    uint64_t page;
    assert_ok(acre_storage_alloc(f.storage, SIZE, &page, &error));
    uint64_t finishes = f.loader->finishes;
    int64_t live = f.loader->live;
    acre_storage_dealloc(f.storage, page); // waits
    assert_int_equal(f.loader->finishes, finishes + 1);
    assert_int_equal(f.loader->live, live - 1);
    assert_ok(acre_storage_alloc(f.storage, SIZE, &page, &error));
    assert_ok(acre_storage_copy(f.storage, &f.bytes[0], &f.bytes[1], &error));
    assert_ok(acre_storage_fail(f.storage, 1, false, LOST, NULL));
    acre_storage_dealloc(f.storage, page); // cannot wait: the driver keeps it
    assert_int_equal(f.loader->live, live);
    f.loader->live--;
    close_fixture(&f);
}

static void an_event_that_the_driver_does_not_take_back_is_gone_all_the_same(void **state) {
    (void)state;
    fixture f;
    open_fixture(&f, false);
    acre_error error = ACRE_ERROR_INIT;
    uint64_t event;
    assert_ok(f.storage->ops.event_record(f.storage->context, 0, &event, &error));
    assert_ok(acre_storage_fail(f.storage, 1, false, LOST, NULL));
    f.storage->ops.event_destroy(f.storage->context, event);
    f.loader->live--;
    close_fixture(&f);
}

// ---- a device that is lost ---------------------------------------------------------------------

static void use_all(fixture *f) {
    for (size_t i = 0; i < COUNT_OF(operations); i++) {
        acre_error error = ACRE_ERROR_INIT;
        if ((f->bytes[0].kind == ACRE_RESOURCE_OPENCL || !operations[i].buffers) &&
            operations[i].run(f, &error) == ACRE_OK) {
            if (operations[i].run == do_alloc || operations[i].run == do_record ||
                operations[i].run == do_sub_buffer) {
                operations[i].undo(f);
            }
        }
    }
}

// From any call on, and to the end: nothing of the host's is lost, and no byte is on the books.
static void a_device_lost_at_any_call_ends_in_order(void **state) {
    (void)state;
    for (int svm = 0; svm <= (int)opencl_has_svm(); svm++) {
        bool met = true;
        for (uint64_t nth = 1; met; nth++) {
            fixture f;
            open_fixture(&f, svm == 1);
            uint64_t calls = acre_storage_calls(f.storage);
            assert_ok(acre_storage_fail(f.storage, nth, true, LOST, NULL));
            use_all(&f);
            met = acre_storage_calls(f.storage) - calls >= nth;
            f.storage->ops.event_destroy(f.storage->context, f.event);
            opencl_stream_destroy(f.storage, f.stream);
            acre_storage_dealloc(f.storage, f.pages[0]);
            acre_storage_dealloc(f.storage, f.pages[1]);
            assert_int_equal(acre_storage_bytes(f.storage), 0);
            acre_storage_destroy(f.storage);
            host_probe_destroy(f.probe);
        }
    }
}

// ---- what codes mean, and the host's memory
// --------------------------------------------------------

static void codes_of_the_driver_become_the_status_that_says_what_to_do(void **state) {
    (void)state;
    const struct {
        int64_t code;
        acre_status status;
        const char *name;
    } cases[] = {
        {-4, ACRE_OUT_OF_MEMORY, "CL_MEM_OBJECT_ALLOCATION_FAILURE"},
        {-5, ACRE_OUT_OF_MEMORY, "CL_OUT_OF_RESOURCES"},
        {-61, ACRE_OUT_OF_MEMORY, "CL_INVALID_BUFFER_SIZE"},
        {-6, ACRE_OUT_OF_HOST_MEMORY, "CL_OUT_OF_HOST_MEMORY"},
        {-2, ACRE_BACKEND_ERROR, "CL_DEVICE_NOT_AVAILABLE"},
        {-34, ACRE_BACKEND_ERROR, "CL_INVALID_CONTEXT"},
        {-12345, ACRE_BACKEND_ERROR, "an error that the OpenCL specification does not name"},
    };
    for (int svm = 0; svm <= (int)opencl_has_svm(); svm++) {
        acre_storage *storage = opencl_storage(NULL, svm == 1);
        for (size_t i = 0; i < COUNT_OF(cases); i++) {
            acre_error error = ACRE_ERROR_INIT;
            uint64_t id;
            assert_ok(acre_storage_fail(storage, 1, false, cases[i].code, NULL));
            assert_status(cases[i].status, acre_storage_alloc(storage, SIZE, &id, &error));
            assert_int_equal(error.native_code, cases[i].code);
            assert_string_equal(error.native_text, cases[i].name);
        }
        acre_storage_destroy(storage);
    }
}

static void host_memory_that_runs_out_takes_no_page(void **state) {
    (void)state;
    for (int svm = 0; svm <= (int)opencl_has_svm(); svm++) {
        fixture f;
        open_fixture(&f, svm == 1);
        int64_t live = f.loader->live;
        uint64_t bytes = acre_storage_bytes(f.storage);
        acre_error error = ACRE_ERROR_INIT;
        uint64_t id;
        host_probe_fail(f.probe, 1, false);
        assert_status(ACRE_OUT_OF_HOST_MEMORY, acre_storage_alloc(f.storage, SIZE, &id, &error));
        assert_int_equal(f.loader->live, live);
        assert_int_equal(acre_storage_bytes(f.storage), bytes);
        close_fixture(&f);
    }
}

int main(void) {
    int missing = opencl_missing();
    if (missing != 0) {
        return missing;
    }
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_failure_at_any_call_of_an_operation_changes_nothing),
        cmocka_unit_test(a_page_that_the_driver_does_not_take_back_is_off_the_books),
        cmocka_unit_test(shared_memory_is_not_freed_under_a_copy_that_was_not_waited_for),
        cmocka_unit_test(an_event_that_the_driver_does_not_take_back_is_gone_all_the_same),
        cmocka_unit_test(a_device_lost_at_any_call_ends_in_order),
        cmocka_unit_test(codes_of_the_driver_become_the_status_that_says_what_to_do),
        cmocka_unit_test(host_memory_that_runs_out_takes_no_page),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
