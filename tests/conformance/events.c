// Points on the timelines of streams.
#include "suite.h"

#include "storage/storage.h"

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

static void sync_with(acre_storage *storage, uint64_t event) {
    acre_error error = ACRE_ERROR_INIT;
    assert_ok(storage->ops.event_sync(storage->context, event, &error));
}

static void an_event_that_was_waited_for_is_done_and_so_is_the_work_before_it(void **state) {
    const subject *about = *state;
    rig r = suite_rig(about);
    filled a = take_filled(about, &r, 4 * MIB, 1);
    acre_resource resource = resolve(r.manager, a.handle);
    for (uint32_t i = 0; i < 10 && about->add != NULL; i++) {
        about->add(r.storage, &resource, 1, false);
    }
    uint64_t event = record(r.storage, 0);
    sync_with(r.storage, event);
    assert_true(is_done(r.storage, event));
    r.storage->ops.event_destroy(r.storage->context, event);
    check_resource(about, r.storage, &resource, 1, about->add != NULL ? 10 : 0);
    acre_manager_release(r.manager, a.handle);
    rig_close(&r);
}

// The second stream is held back by the device until the first has come to the event.
static void a_stream_that_waits_on_the_device_comes_after_what_it_waits_for(void **state) {
    const subject *about = *state;
    if (about->stream_create == NULL) {
        return; // its subject says so: the device has one stream
    }
    rig r = suite_rig(about);
    filled a = take_filled(about, &r, 8 * MIB, 2);
    acre_resource resource = resolve(r.manager, a.handle);
    uint64_t stream = about->stream_create(r.storage);
    acre_error error = ACRE_ERROR_INIT;
    for (uint32_t i = 0; i < 10 && about->add != NULL; i++) {
        about->add(r.storage, &resource, 1, false);
    }
    uint64_t first = record(r.storage, 0);
    assert_ok(r.storage->ops.event_wait(r.storage->context, first, stream, &error));
    uint64_t second = record(r.storage, stream);
    sync_with(r.storage, second);
    assert_true(is_done(r.storage, first));
    r.storage->ops.event_destroy(r.storage->context, first);
    r.storage->ops.event_destroy(r.storage->context, second);
    check_resource(about, r.storage, &resource, 2, about->add != NULL ? 10 : 0);
    about->stream_destroy(r.storage, stream);
    acre_manager_release(r.manager, a.handle);
    rig_close(&r);
}

static void each_stream_has_an_id_that_stays_its_own(void **state) {
    const subject *about = *state;
    acre_storage *storage = suite_storage(about, TOTAL, LARGEST);
    acre_error error = ACRE_ERROR_INIT;
    uint64_t own = 0;
    uint64_t again = 0;
    assert_ok(storage->ops.stream_id(storage->context, 0, &own, &error));
    assert_ok(storage->ops.stream_id(storage->context, 0, &again, &error));
    assert_int_equal(own, again);
    for (int i = 0; i < 20 && about->stream_create != NULL; i++) {
        uint64_t stream = about->stream_create(storage);
        uint64_t id = 0;
        assert_ok(storage->ops.stream_id(storage->context, stream, &id, &error));
        assert_int_not_equal(id, own);
        about->stream_destroy(storage, stream);
    }
    acre_storage_destroy(storage);
}

static void thousands_of_events_come_and_go(void **state) {
    const subject *about = *state;
    acre_storage *storage = suite_storage(about, TOTAL, LARGEST);
    uint64_t events[16];
    for (size_t i = 0; i < 2000; i++) {
        uint64_t *event = &events[i % COUNT_OF(events)];
        if (i >= COUNT_OF(events)) {
            storage->ops.event_destroy(storage->context, *event);
        }
        *event = record(storage, 0);
    }
    sync_with(storage, events[1999 % COUNT_OF(events)]);
    for (size_t i = 0; i < COUNT_OF(events); i++) {
        assert_true(is_done(storage, events[i]));
        storage->ops.event_destroy(storage->context, events[i]);
    }
    acre_storage_destroy(storage);
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(an_event_that_was_waited_for_is_done_and_so_is_the_work_before_it),
    cmocka_unit_test(a_stream_that_waits_on_the_device_comes_after_what_it_waits_for),
    cmocka_unit_test(each_stream_has_an_id_that_stays_its_own),
    cmocka_unit_test(thousands_of_events_come_and_go),
};

const part events_part = {tests, COUNT_OF(tests), false, true, false};
