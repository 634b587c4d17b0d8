// Streams of OpenCL: queues that are named to the storage, and points on their timelines.
#define _POSIX_C_SOURCE 200809L // nanosleep

#include "opencl_rig.h"

#include "storage/storage.h"

#include <time.h>

enum {
    QUEUE_REFERENCES = 0x1092,
    QUEUES = 50,
};

static uint64_t id_of(acre_storage *storage, uint64_t stream) {
    acre_error error = ACRE_ERROR_INIT;
    uint64_t id = 0;
    assert_ok(storage->ops.stream_id(storage->context, stream, &id, &error));
    return id;
}

static uint64_t record(acre_storage *storage, uint64_t stream) {
    acre_error error = ACRE_ERROR_INIT;
    uint64_t event = 0;
    assert_ok(storage->ops.event_record(storage->context, stream, &event, &error));
    return event;
}

static bool is_done(acre_storage *storage, uint64_t event) {
    acre_error error = ACRE_ERROR_INIT;
    bool done = false;
    assert_ok(storage->ops.event_done(storage->context, event, &done, &error));
    return done;
}

// Whether the event stays ahead for a while in which a device with nothing to wait for gets there.
static bool stays_ahead(acre_storage *storage, uint64_t event) {
    const struct timespec a_while = {.tv_nsec = 20000000};
    (void)nanosleep(&a_while, NULL);
    return !is_done(storage, event);
}

static void sync_with(acre_storage *storage, uint64_t event) {
    acre_error error = ACRE_ERROR_INIT;
    assert_ok(storage->ops.event_sync(storage->context, event, &error));
}

static void end_event(acre_storage *storage, uint64_t event) {
    storage->ops.event_destroy(storage->context, event);
}

static uint32_t references(uint64_t stream) {
    uint32_t count = 0;
    assert_int_equal(opencl()->queue_info((void *)(uintptr_t)stream, QUEUE_REFERENCES, sizeof count,
                                          &count, NULL),
                     0);
    return count;
}

// Holds a queue back until let_go; everything given to it from now on waits.
static void *hold(const acre_storage *storage, uint64_t stream) {
    int32_t code;
    void *gate = opencl()->create_user_event(opencl_objects_of(storage).context, &code);
    assert_int_equal(code, 0);
    assert_int_equal(opencl()->barrier((void *)(uintptr_t)stream, 1, &gate, NULL), 0);
    return gate;
}

static void let_go(void *gate) {
    assert_int_equal(opencl()->set_user_event(gate, 0), 0);
    assert_int_equal(opencl()->release_event(gate), 0);
}

// ---- ids -------------------------------------------------------------------------------------

static void stream_0_is_the_storages_own_queue(void **state) {
    (void)state;
    acre_storage *storage = opencl_storage(NULL, false);
    uint64_t queue = (uint64_t)(uintptr_t)opencl_objects_of(storage).queue;
    uint32_t before = references(queue);
    assert_int_equal(id_of(storage, 0), id_of(storage, queue));
    assert_int_equal(references(queue), before);
    acre_storage_destroy(storage);
}

static void no_queue_gets_the_id_of_one_that_is_gone(void **state) {
    (void)state;
    acre_storage *storage = opencl_storage(NULL, false);
    uint64_t ids[QUEUES];
    for (size_t i = 0; i < QUEUES; i++) {
        uint64_t stream = opencl_stream_create(storage);
        ids[i] = id_of(storage, stream);
        assert_int_equal(id_of(storage, stream), ids[i]);
        assert_int_not_equal(ids[i], id_of(storage, 0));
        opencl_stream_destroy(storage, stream);
        for (size_t j = 0; j < i; j++) {
            assert_int_not_equal(ids[j], ids[i]);
        }
    }
    acre_storage_destroy(storage);
}

static void a_queue_is_kept_once_and_until_the_storage_goes(void **state) {
    (void)state;
    acre_storage *first = opencl_storage(NULL, false);
    acre_opencl_objects theirs = opencl_objects_of(first);
    acre_opencl_storage_params params = ACRE_OPENCL_STORAGE_PARAMS_INIT;
    params.context = theirs.context;
    params.queue = theirs.queue;
    acre_storage *second = NULL;
    assert_ok(acre_storage_opencl_create(&params, NULL, &second, NULL));
    uint64_t streams[QUEUES];
    uint32_t before = 0;
    for (size_t i = 0; i < QUEUES; i++) {
        streams[i] = opencl_stream_create(second);
        before = references(streams[i]);
        (void)id_of(second, streams[i]);
    }
    for (size_t i = 0; i < QUEUES; i++) {
        (void)id_of(second, streams[i]);
        assert_int_equal(references(streams[i]), before + 1);
    }
    acre_storage_destroy(second);
    for (size_t i = 0; i < QUEUES; i++) {
        assert_int_equal(references(streams[i]), before);
        opencl_stream_destroy(first, streams[i]);
    }
    acre_storage_destroy(first);
}

static void a_queue_that_cannot_be_kept_gets_no_id_and_is_asked_again(void **state) {
    (void)state;
    host_probe *probe = host_probe_create();
    acre_host_hooks hooks = host_probe_hooks(probe);
    acre_storage *storage = NULL;
    assert_ok(acre_storage_opencl_create(NULL, &hooks, &storage, NULL));
    uint64_t stream = opencl_stream_create(storage);
    uint32_t before = references(stream);
    acre_error error = ACRE_ERROR_INIT;
    uint64_t id = 7;
    host_probe_fail(probe, 1, false);
    assert_status(ACRE_OUT_OF_HOST_MEMORY,
                  storage->ops.stream_id(storage->context, stream, &id, &error));
    assert_ok(acre_storage_fail(storage, 1, false, -36, NULL));
    assert_status(ACRE_BACKEND_ERROR,
                  storage->ops.stream_id(storage->context, stream, &id, &error));
    assert_int_equal(id, 7);
    assert_int_equal(references(stream), before);
    (void)id_of(storage, stream);
    assert_int_equal(references(stream), before + 1);
    opencl_stream_destroy(storage, stream);
    acre_storage_destroy(storage);
    host_probe_destroy(probe);
}

// ---- events ----------------------------------------------------------------------------------

static void an_event_is_done_when_the_work_before_it_is(void **state) {
    (void)state;
    acre_storage *storage = opencl_storage(NULL, false);
    uint64_t stream = opencl_stream_create(storage);
    uint64_t before = record(storage, stream);
    void *gate = hold(storage, stream);
    uint64_t after = record(storage, stream);
    sync_with(storage, before);
    assert_true(is_done(storage, before));
    assert_true(stays_ahead(storage, after));
    let_go(gate);
    sync_with(storage, after);
    assert_true(is_done(storage, after));
    end_event(storage, before);
    end_event(storage, after);
    opencl_stream_destroy(storage, stream);
    acre_storage_destroy(storage);
}

// Nobody flushes the held queue but event_record itself.
static void a_stream_waits_on_the_device_for_another(void **state) {
    (void)state;
    acre_storage *storage = opencl_storage(NULL, false);
    acre_error error = ACRE_ERROR_INIT;
    uint64_t held = opencl_stream_create(storage);
    uint64_t other = opencl_stream_create(storage);
    void *gate = hold(storage, held);
    uint64_t first = record(storage, held);
    assert_ok(storage->ops.event_wait(storage->context, first, other, &error));
    uint64_t second = record(storage, other);
    assert_true(stays_ahead(storage, second));
    let_go(gate);
    sync_with(storage, second);
    assert_true(is_done(storage, first));
    end_event(storage, first);
    end_event(storage, second);
    opencl_stream_destroy(storage, held);
    opencl_stream_destroy(storage, other);
    acre_storage_destroy(storage);
}

static void an_event_that_is_done_was_waited_for(void **state) {
    (void)state;
    stand_in *loader = opencl_stand_in(STAND_IN);
    acre_storage *storage = opencl_storage(STAND_IN, false);
    uint64_t event = record(storage, 0);
    sync_with(storage, event);
    loader->failing = "clWaitForEvents";
    loader->code = -5;
    bool done = false;
    acre_error error = ACRE_ERROR_INIT;
    assert_status(ACRE_OUT_OF_MEMORY,
                  storage->ops.event_done(storage->context, event, &done, &error));
    assert_false(done);
    loader->failing = NULL;
    assert_true(is_done(storage, event));
    end_event(storage, event);
    acre_storage_destroy(storage);
    assert_int_equal(loader->live, 0);
}

static void work_that_ended_in_an_error_says_so_when_its_event_is_asked(void **state) {
    (void)state;
    stand_in *loader = opencl_stand_in(STAND_IN);
    acre_storage *storage = opencl_storage(STAND_IN, false);
    uint64_t event = record(storage, 0);
    loader->event_status = -9999;
    bool done = false;
    acre_error error = ACRE_ERROR_INIT;
    assert_status(ACRE_BACKEND_ERROR,
                  storage->ops.event_done(storage->context, event, &done, &error));
    assert_int_equal(error.native_code, -9999);
    assert_false(done);
    loader->event_status = 1; // running
    assert_false(is_done(storage, event));
    loader->event_status = 0;
    end_event(storage, event);
    acre_storage_destroy(storage);
    assert_int_equal(loader->live, 0);
}

static void waiting_for_the_device_waits_for_every_queue_that_was_named(void **state) {
    (void)state;
    stand_in *loader = opencl_stand_in(STAND_IN);
    acre_storage *storage = opencl_storage(STAND_IN, false);
    uint64_t stream = opencl_stream_create(storage);
    uint64_t finishes = loader->finishes;
    assert_ok(acre_storage_wait(storage, NULL));
    assert_int_equal(loader->finishes, finishes + 1);
    (void)id_of(storage, stream);
    assert_ok(acre_storage_wait(storage, NULL));
    assert_int_equal(loader->finishes, finishes + 3);
    opencl_stream_destroy(storage, stream);
    acre_storage_destroy(storage);
    assert_int_equal(loader->live, 0);
}

int main(void) {
    int missing = opencl_missing();
    if (missing != 0) {
        return missing;
    }
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(stream_0_is_the_storages_own_queue),
        cmocka_unit_test(no_queue_gets_the_id_of_one_that_is_gone),
        cmocka_unit_test(a_queue_is_kept_once_and_until_the_storage_goes),
        cmocka_unit_test(a_queue_that_cannot_be_kept_gets_no_id_and_is_asked_again),
        cmocka_unit_test(an_event_is_done_when_the_work_before_it_is),
        cmocka_unit_test(a_stream_waits_on_the_device_for_another),
        cmocka_unit_test(an_event_that_is_done_was_waited_for),
        cmocka_unit_test(work_that_ended_in_an_error_says_so_when_its_event_is_asked),
        cmocka_unit_test(waiting_for_the_device_waits_for_every_queue_that_was_named),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
