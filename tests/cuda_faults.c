// The CUDA storage when the driver, the device or host memory fails at every single call: an
// operation that failed has changed nothing, and the storage can be used on.
#include "cuda_rig.h"

#include <unistd.h>

// A storage with something of everything in it:
//
//   range   | m0 | m1 |    | m2 |    ...        m3 is mapped nowhere
typedef struct scene {
    acre_storage *storage;
    uint64_t page;
    uint64_t range;
    uint64_t memories[4];
    uint64_t event;
} scene;

static scene scene_open(acre_cuda_memory memory, const acre_host_hooks *hooks) {
    scene made = {0};
    acre_cuda_storage_params params = fake_params(memory);
    params.exportable = true;
    acre_error error = ACRE_ERROR_INIT;
    assert_ok(acre_storage_cuda_create(&params, hooks, &made.storage, &error));
    made.page = page_of(made.storage, 2 * MIB);
    made.range = range_of(made.storage, 16 * MIB);
    for (size_t i = 0; i < COUNT_OF(made.memories); i++) {
        made.memories[i] = memory_of(made.storage, 2 * MIB);
    }
    assert_ok(acre_storage_map(made.storage, made.range, 0, made.memories, 2, &error));
    assert_ok(acre_storage_map(made.storage, made.range, 6 * MIB, made.memories + 2, 1, &error));
    acre_storage_ops *ops = &made.storage->ops;
    assert_ok(ops->event_record(made.storage->context, 0, &made.event, &error));
    acre_resource mapped = resource_of(made.storage, made.range, 0, 4 * MIB);
    fill(made.storage, &mapped, 11);
    // The kernel is there: without it copies are made all the same, so its absence is no failure.
    acre_resource source = resource_of(made.storage, made.page, 0, 16);
    acre_resource target = resource_of(made.storage, made.page, 16, 16);
    assert_ok(acre_storage_copy(made.storage, &source, &target, &error));
    assert_ok(acre_storage_wait(made.storage, NULL));
    return made;
}

static void scene_take_apart(scene *ended) {
    acre_storage *storage = ended->storage;
    acre_error error = ACRE_ERROR_INIT;
    storage->ops.event_destroy(storage->context, ended->event);
    // A lost device may say no.
    (void)!acre_storage_unmap(storage, ended->range, 0, 16 * MIB, &error);
    for (size_t i = 0; i < COUNT_OF(ended->memories); i++) {
        acre_storage_memory_destroy(storage, ended->memories[i]);
    }
    storage->ops.range_release(storage->context, ended->range);
    acre_storage_dealloc(storage, ended->page);
    acre_storage_flush(storage);
}

// The mapped memory is where it was, with its bytes.
static void check_mapped(const scene *in) {
    acre_resource mapped = resource_of(in->storage, in->range, 0, 4 * MIB);
    expect_bytes(in->storage, &mapped, 11);
    acre_resource behind = resource_of(in->storage, in->range, 6 * MIB, 2 * MIB);
    fill(in->storage, &behind, 12);
}

static void disarm(const scene *in) {
    assert_ok(acre_storage_fail(in->storage, 0, false, 0, NULL));
}

// ---- operations that say whether they failed -------------------------------------------------

// Each is undone when it succeeds.

static acre_status try_alloc(scene *in, acre_error *error) {
    uint64_t page = 0;
    acre_status status = acre_storage_alloc(in->storage, 4 * MIB, &page, error);
    disarm(in);
    if (status == ACRE_OK) {
        acre_storage_dealloc(in->storage, page);
        acre_storage_flush(in->storage);
    }
    return status;
}

// At an address that makes it a copy of the driver's.
static acre_status try_copy(scene *in, acre_error *error) {
    acre_resource source = resource_of(in->storage, in->page, 8, KIB - 8);
    acre_resource target = resource_of(in->storage, in->page, KIB, KIB - 8);
    return acre_storage_copy(in->storage, &source, &target, error);
}

static acre_status try_copy_gathered(scene *in, acre_error *error) {
    acre_resource source = resource_of(in->storage, in->page, 0, KIB);
    acre_resource target = resource_of(in->storage, in->page, KIB, KIB);
    acre_status status = acre_storage_copy(in->storage, &source, &target, error);
    return status != ACRE_OK ? status : acre_storage_wait(in->storage, error);
}

static acre_status try_wait(scene *in, acre_error *error) {
    return acre_storage_wait(in->storage, error);
}

static acre_status try_write(scene *in, acre_error *error) {
    acre_resource target = resource_of(in->storage, in->page, 0, 4);
    return acre_storage_write(in->storage, &target, "abc", error);
}

static acre_status try_read(scene *in, acre_error *error) {
    char bytes[4];
    acre_resource source = resource_of(in->storage, in->page, 0, 4);
    return acre_storage_read(in->storage, &source, bytes, error);
}

static acre_status try_range(scene *in, acre_error *error) {
    uint64_t range = 0;
    acre_status status = acre_storage_range_reserve(in->storage, 8 * MIB, &range, error);
    disarm(in);
    if (status == ACRE_OK) {
        in->storage->ops.range_release(in->storage->context, range);
    }
    return status;
}

static acre_status try_memory(scene *in, acre_error *error) {
    uint64_t memory = 0;
    acre_status status = acre_storage_memory_create(in->storage, 8 * MIB, &memory, error);
    disarm(in);
    if (status == ACRE_OK) {
        acre_storage_memory_destroy(in->storage, memory);
    }
    return status;
}

// Three memories at once: what is mapped before the one that fails has to go again.
static acre_status try_map(scene *in, acre_error *error) {
    uint64_t memories[3] = {in->memories[3], 0, 0};
    acre_error ignored = ACRE_ERROR_INIT;
    acre_script *script = in->storage->script;
    uint64_t armed = script->fail_at - script->calls;
    bool was_armed = script->fail_at != 0;
    disarm(in);
    memories[1] = memory_of(in->storage, 2 * MIB);
    memories[2] = memory_of(in->storage, 2 * MIB);
    assert_ok(acre_storage_fail(in->storage, was_armed ? armed : 0, false, 0, NULL));
    acre_status status = acre_storage_map(in->storage, in->range, 8 * MIB, memories, 3, error);
    disarm(in);
    if (status == ACRE_OK) {
        assert_ok(acre_storage_unmap(in->storage, in->range, 8 * MIB, 6 * MIB, &ignored));
    }
    acre_storage_memory_destroy(in->storage, memories[1]);
    acre_storage_memory_destroy(in->storage, memories[2]);
    return status;
}

// Two runs: when the second stays, the first comes back.
static acre_status try_unmap(scene *in, acre_error *error) {
    acre_error ignored = ACRE_ERROR_INIT;
    acre_status status = acre_storage_unmap(in->storage, in->range, 0, 16 * MIB, error);
    disarm(in);
    if (status == ACRE_OK) {
        assert_ok(acre_storage_map(in->storage, in->range, 0, in->memories, 2, &ignored));
        assert_ok(acre_storage_map(in->storage, in->range, 6 * MIB, in->memories + 2, 1, &ignored));
    }
    return status;
}

static acre_status try_stream_id(scene *in, acre_error *error) {
    uint64_t id = 0;
    return in->storage->ops.stream_id(in->storage->context, 0, &id, error);
}

static acre_status try_record(scene *in, acre_error *error) {
    uint64_t event = 0;
    acre_status status = in->storage->ops.event_record(in->storage->context, 0, &event, error);
    if (status == ACRE_OK) {
        in->storage->ops.event_destroy(in->storage->context, event);
    }
    return status;
}

static acre_status try_done(scene *in, acre_error *error) {
    bool done = false;
    return in->storage->ops.event_done(in->storage->context, in->event, &done, error);
}

static acre_status try_event_wait(scene *in, acre_error *error) {
    return in->storage->ops.event_wait(in->storage->context, in->event, 0, error);
}

static acre_status try_event_sync(scene *in, acre_error *error) {
    return in->storage->ops.event_sync(in->storage->context, in->event, error);
}

static acre_status try_export(scene *in, acre_error *error) {
    int file = -1;
    uint64_t offset = 0;
    acre_resource resource = resource_of(in->storage, in->page, 0, KIB);
    acre_status status = acre_storage_cuda_export(in->storage, &resource, &file, &offset, error);
    if (status == ACRE_OK) {
        close(file);
    }
    return status;
}

typedef struct operation {
    const char *name;
    acre_status (*attempt)(scene *in, acre_error *error);
    bool virtual_only;
    bool keeps_one; // an event, to be used later
} operation;

static const operation operations[] = {
    {"alloc", try_alloc, false, false},
    {"copy", try_copy, false, false},
    {"copy gathered", try_copy_gathered, false, false},
    {"wait", try_wait, false, false},
    {"write", try_write, false, false},
    {"read", try_read, false, false},
    {"range_reserve", try_range, false, false},
    {"memory_create", try_memory, false, false},
    {"map", try_map, false, false},
    {"unmap", try_unmap, false, false},
    {"stream_id", try_stream_id, false, false},
    {"event_record", try_record, false, true},
    {"event_done", try_done, false, false},
    {"event_wait", try_event_wait, false, false},
    {"event_sync", try_event_sync, false, false},
    {"export", try_export, true, false},
};

// One attempt with its `nth` call failing. => whether it made that many calls.
static bool attempt_failing(const operation *tried, scene *in, uint64_t nth) {
    acre_error error = ACRE_ERROR_INIT;
    uint64_t bytes = acre_storage_bytes(in->storage);
    uint64_t live = fake_cuda_live();
    uint64_t device_bytes = fake_cuda_bytes();
    assert_ok(acre_storage_fail(in->storage, nth, false, 0, NULL));
    acre_status status = tried->attempt(in, &error);
    bool failed = status != ACRE_OK;
    disarm(in);
    if (failed) {
        assert_status(ACRE_OUT_OF_MEMORY, status);
        assert_int_equal(error.native_code, 2);
        assert_true(error.native_text[0] != '\0');
    }
    acre_storage_flush(in->storage); // a pool keeps what was not given out after all
    assert_int_equal(acre_storage_bytes(in->storage), bytes);
    assert_true(fake_cuda_live() - live <= (tried->keeps_one ? 1 : 0));
    assert_int_equal(fake_cuda_bytes(), device_bytes);
    assert_null(fake_cuda_current());
    assert_int_equal(fake_cuda_capture_mode(), 0);
    check_mapped(in);
    return failed;
}

static void a_failure_at_any_call_of_an_operation_changes_nothing(void **state) {
    (void)state;
    for (size_t i = 0; i < COUNT_OF(all_memories); i++) {
        fake_cuda_reset();
        scene in = scene_open(all_memories[i], NULL);
        for (size_t k = 0; k < COUNT_OF(operations); k++) {
            if (operations[k].virtual_only && all_memories[i] != ACRE_CUDA_VIRTUAL) {
                continue;
            }
            uint64_t nth = 1;
            while (attempt_failing(&operations[k], &in, nth)) {
                nth++;
            }
            if (nth < 4) { // to the driver takes two calls, and it does one thing at least
                fail_msg("%s failed at %d calls only", operations[k].name, (int)nth - 1);
            }
        }
        scene_take_apart(&in);
        close_storage(in.storage);
    }
}

static void host_memory_that_runs_out_in_an_operation_changes_nothing(void **state) {
    (void)state;
    for (size_t i = 0; i < COUNT_OF(all_memories); i++) {
        fake_cuda_reset();
        host_probe *probe = host_probe_create();
        acre_host_hooks hooks = host_probe_hooks(probe);
        scene in = scene_open(all_memories[i], &hooks);
        for (size_t k = 0; k < COUNT_OF(operations); k++) {
            bool export = operations[k].virtual_only && all_memories[i] != ACRE_CUDA_VIRTUAL;
            // It reserves memories for itself before.
            if (export || operations[k].attempt == try_map) {
                continue;
            }
            for (uint64_t nth = 1;; nth++) {
                acre_error error = ACRE_ERROR_INIT;
                uint64_t live = fake_cuda_live();
                host_probe_fail(probe, nth, false);
                acre_status status = operations[k].attempt(&in, &error);
                bool failed = host_probe_failed(probe);
                host_probe_fail(probe, 0, false);
                assert_status(failed ? ACRE_OUT_OF_HOST_MEMORY : ACRE_OK, status);
                assert_true(fake_cuda_live() - live <= (operations[k].keeps_one ? 1 : 0));
                if (!failed) {
                    break;
                }
            }
        }
        scene_take_apart(&in);
        close_storage(in.storage);
        host_probe_destroy(probe);
    }
}

// ---- giving back -----------------------------------------------------------------------------

// Gives everything back with call `nth` of it failing. => whether there was such a call.
static bool give_back_failing(acre_cuda_memory memory, uint64_t nth) {
    fake_cuda_reset();
    fake_cuda()->allow_leaks = true;
    host_probe *probe = host_probe_create();
    acre_host_hooks hooks = host_probe_hooks(probe);
    scene in = scene_open(memory, &hooks);
    uint64_t last = acre_storage_calls(in.storage) + nth;
    assert_ok(acre_storage_fail(in.storage, nth, false, 999, NULL));
    // An unmap says when it fails, and is made again.
    acre_error error = ACRE_ERROR_INIT;
    if (acre_storage_unmap(in.storage, in.range, 0, 16 * MIB, &error) != ACRE_OK) {
        assert_int_equal(error.native_code, 999);
        check_mapped(&in);
    }
    scene_take_apart(&in);
    bool failed = acre_storage_calls(in.storage) >= last;
    disarm(&in);
    assert_int_equal(acre_storage_bytes(in.storage), 0);
    uint64_t page = page_of(in.storage, 2 * MIB);
    acre_resource resource = resource_of(in.storage, page, 0, KIB);
    fill(in.storage, &resource, 1);
    expect_bytes(in.storage, &resource, 1);
    acre_storage_dealloc(in.storage, page);
    acre_storage_destroy(in.storage);
    assert_null(fake_cuda_current());
    assert_int_equal(fake_cuda_capture_mode(), 0);
    host_probe_destroy(probe);
    return failed;
}

static void a_failure_at_any_call_that_gives_back_leaves_the_books_right(void **state) {
    (void)state;
    for (size_t i = 0; i < COUNT_OF(all_memories); i++) {
        uint64_t nth = 1;
        while (give_back_failing(all_memories[i], nth)) {
            nth++;
        }
        assert_true(nth > 20);
        assert_int_equal(fake_cuda_live(), 0); // of the last one, where nothing failed
    }
}

static void a_failure_at_any_call_of_the_end_of_a_storage_leaves_no_host_memory(void **state) {
    (void)state;
    for (size_t i = 0; i < COUNT_OF(all_memories); i++) {
        for (uint64_t nth = 1; nth < 12; nth++) {
            fake_cuda_reset();
            fake_cuda()->allow_leaks = true;
            host_probe *probe = host_probe_create();
            acre_host_hooks hooks = host_probe_hooks(probe);
            scene in = scene_open(all_memories[i], &hooks);
            scene_take_apart(&in);
            assert_ok(acre_storage_fail(in.storage, nth, nth % 2 == 0, 999, NULL));
            acre_storage_destroy(in.storage);
            assert_null(fake_cuda_current());
            assert_int_equal(fake_cuda_capture_mode(), 0);
            host_probe_destroy(probe);
        }
    }
}

// ---- a lost device ---------------------------------------------------------------------------

// Every call from `nth` on fails, whatever is done. => whether it came so far.
static bool lose_device(acre_cuda_memory memory, uint64_t nth) {
    fake_cuda_reset();
    fake_cuda()->allow_leaks = true;
    host_probe *probe = host_probe_create();
    acre_host_hooks hooks = host_probe_hooks(probe);
    scene in = scene_open(memory, &hooks);
    uint64_t last = acre_storage_calls(in.storage) + nth;
    acre_error error = ACRE_ERROR_INIT;
    uint64_t bytes = acre_storage_bytes(in.storage);
    for (size_t k = 0; k < COUNT_OF(operations); k++) {
        bool skip = operations[k].virtual_only && memory != ACRE_CUDA_VIRTUAL;
        if (skip || operations[k].attempt == try_map) {
            continue;
        }
        uint64_t calls = acre_storage_calls(in.storage);
        assert_ok(acre_storage_fail(in.storage, last > calls ? last - calls : 1, true, 700, NULL));
        acre_status status = operations[k].attempt(&in, &error);
        if (status != ACRE_OK) {
            assert_status(ACRE_BACKEND_ERROR, status);
            assert_int_equal(error.native_code, 700);
        }
        assert_int_equal(acre_storage_bytes(in.storage), bytes);
    }
    bool lost = acre_storage_calls(in.storage) >= last;
    assert_ok(acre_storage_fail(in.storage, 1, true, 700, NULL));
    scene_take_apart(&in);
    assert_int_equal(acre_storage_bytes(in.storage), 0);
    acre_storage_destroy(in.storage);
    assert_null(fake_cuda_current());
    assert_int_equal(fake_cuda_capture_mode(), 0);
    host_probe_destroy(probe);
    return lost;
}

static void a_lost_device_keeps_the_books_and_can_be_let_go(void **state) {
    (void)state;
    for (size_t i = 0; i < COUNT_OF(all_memories); i++) {
        uint64_t nth = 1;
        while (lose_device(all_memories[i], nth)) {
            nth++;
        }
        assert_true(nth > 40);
    }
}

static void a_manager_on_a_lost_device_ends_like_any_other(void **state) {
    (void)state;
    for (size_t i = 0; i < COUNT_OF(all_memories); i++) {
        fake_cuda_reset();
        fake_cuda()->allow_leaks = true;
        acre_storage *storage = storage_of(all_memories[i]);
        acre_manager_options options = plain_options(64 * MIB, 256);
        rig own = rig_on(storage, &options);
        acre_handle *handle = take(own.manager, MIB);
        assert_ok(acre_storage_fail(storage, 1, true, 700, NULL));
        acre_error error = refuse(own.manager, 48 * MIB, ACRE_BACKEND_ERROR);
        assert_int_equal(error.native_code, 700);
        acre_manager_release(own.manager, handle);
        rig_close(&own);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_failure_at_any_call_of_an_operation_changes_nothing),
        cmocka_unit_test(host_memory_that_runs_out_in_an_operation_changes_nothing),
        cmocka_unit_test(a_failure_at_any_call_that_gives_back_leaves_the_books_right),
        cmocka_unit_test(a_failure_at_any_call_of_the_end_of_a_storage_leaves_no_host_memory),
        cmocka_unit_test(a_lost_device_keeps_the_books_and_can_be_let_go),
        cmocka_unit_test(a_manager_on_a_lost_device_ends_like_any_other),
    };
    return cmocka_run_group_tests(tests, NULL, reset_driver);
}
