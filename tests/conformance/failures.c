// Failures of the driver, at every call it is asked: a clear error, live bytes as they were,
// nothing lost, and a manager that goes on.
#include "suite.h"

static void fail_at(acre_storage *storage, uint64_t nth, bool and_after, int64_t code) {
    assert_ok(acre_storage_fail(storage, nth, and_after, code, NULL));
}

static void no_memory_left_keeps_the_drivers_own_code(void **state) {
    const subject *about = *state;
    rig r = suite_rig(about);
    fail_at(r.storage, 1, true, 0);
    acre_error error = refuse(r.manager, 5 * MIB, ACRE_OUT_OF_MEMORY);
    assert_int_not_equal(error.native_code, 0);
    assert_true(strlen(error.native_text) > 0);
    fail_at(r.storage, 0, false, 0);
    filled a = take_filled(about, &r, 5 * MIB, 1);
    check_filled(about, &r, &a);
    acre_manager_release(r.manager, a.handle);
    rig_close(&r);
}

static void any_other_failure_is_a_backend_error_with_its_code(void **state) {
    const subject *about = *state;
    rig r = suite_rig(about);
    fail_at(r.storage, 1, false, about->lost_code);
    acre_handle *handle = NULL;
    acre_error error = ACRE_ERROR_INIT;
    acre_status status = acre_manager_reserve(r.manager, 5 * MIB, &handle, &error);
    if (about->no_bytes) { // the simulated device's failed allocations are out of memory
        assert_status(ACRE_OUT_OF_MEMORY, status);
    } else {
        assert_status(ACRE_BACKEND_ERROR, status);
    }
    assert_int_equal(error.native_code, about->lost_code);
    assert_true(strlen(error.native_text) > 0);
    check(r.manager);
    assert_int_equal(stats_of(r.storage).bytes_allocated, 0);
    rig_close(&r);
}

enum {
    KEPT = 6
};

// What a program does: reserve, write, move, give back. Whatever call fails, it goes on with what
// it has. => whether every step succeeded.
typedef struct program {
    const subject *about;
    rig r;
    filled kept[KEPT];
    bool written[KEPT];
    bool failed;
} program;

static void note(program *run, acre_status status) {
    if (status != ACRE_OK) {
        run->failed = true;
        assert_true(status == ACRE_BACKEND_ERROR || status == ACRE_OUT_OF_MEMORY ||
                    status == ACRE_STORAGE_MAPPING_FAILED);
    }
}

static void reserve_and_write(program *run, uint32_t i, uint64_t size) {
    filled *made = &run->kept[i];
    *made = (filled){NULL, size, i + 1};
    acre_error error = ACRE_ERROR_INIT;
    acre_status status = acre_manager_reserve(run->r.manager, size, &made->handle, &error);
    note(run, status);
    if (status != ACRE_OK) {
        assert_int_not_equal(error.native_code, 0);
        made->handle = NULL;
        return;
    }
    acre_resource resource = ACRE_RESOURCE_INIT;
    status = acre_manager_resolve(run->r.manager, made->handle, 0, 0, &resource, NULL);
    note(run, status);
    if (status != ACRE_OK || run->about->no_bytes) {
        return;
    }
    uint32_t *pattern = malloc(size + 4);
    assert_non_null(pattern);
    for (uint64_t w = 0; w < size / 4 + 1; w++) {
        pattern[w] = pattern_word(i + 1, w);
    }
    status = acre_storage_write(run->r.storage, &resource, pattern, NULL);
    note(run, status);
    run->written[i] = status == ACRE_OK;
    free(pattern);
}

static void run_program(program *run) {
    for (uint32_t i = 0; i < 4; i++) {
        reserve_and_write(run, i, 200 * KIB + i);
    }
    reserve_and_write(run, 4, 5 * MIB / 2);
    acre_relocation_options options = ACRE_RELOCATION_OPTIONS_INIT;
    options.room = ACRE_RELOCATION_ROOM_MAY_ADD;
    note(run, acre_manager_relocate(run->r.manager, &options, NULL, NULL));
    if (run->kept[0].handle != NULL) {
        acre_manager_release(run->r.manager, run->kept[0].handle);
        run->kept[0].handle = NULL;
    }
    acre_manager_cleanup(run->r.manager, ACRE_CLEANUP_EXPLICIT);
    reserve_and_write(run, 5, 300 * KIB);
}

static void begin_program(program *run, const subject *about) {
    *run = (program){.about = about};
    acre_layout layout = ACRE_LAYOUT_INIT(ACRE_LAYOUT_ADAPTIVE);
    acre_manager_options options = plain_options(0, 0);
    options.layout = &layout;
    run->r = rig_on(suite_storage(about, TOTAL, LARGEST), &options);
}

// Checks everything that was written, and that all goes back.
static void end_program(program *run) {
    check(run->r.manager);
    for (uint32_t i = 0; i < KEPT; i++) {
        if (run->kept[i].handle == NULL) {
            continue;
        }
        if (run->written[i]) {
            check_filled(run->about, &run->r, &run->kept[i]);
        }
        acre_manager_release(run->r.manager, run->kept[i].handle);
    }
    acre_manager_cleanup(run->r.manager, ACRE_CLEANUP_EXPLICIT);
    assert_int_equal(stats_of(run->r.storage).bytes_allocated, 0);
    filled again = take_filled(run->about, &run->r, 2 * MIB, 77);
    check_filled(run->about, &run->r, &again);
    acre_manager_release(run->r.manager, again.handle);
    rig_close(&run->r);
}

static void one_failure_at_each_call(const subject *about, int64_t code) {
    bool met = true;
    uint64_t failed = 0;
    for (uint64_t nth = 1; met; nth++) {
        program run;
        begin_program(&run, about);
        uint64_t calls = acre_storage_calls(run.r.storage);
        fail_at(run.r.storage, nth, false, code);
        run_program(&run);
        met = acre_storage_calls(run.r.storage) - calls >= nth;
        fail_at(run.r.storage, 0, false, 0);
        assert_true(met || !run.failed);
        failed += run.failed;
        end_program(&run);
        assert_true(nth < 2000);
    }
    assert_true(failed > 0);
}

static void no_memory_left_at_any_call_loses_nothing(void **state) {
    one_failure_at_each_call(*state, 0);
}

static void another_failure_at_any_call_loses_nothing(void **state) {
    const subject *about = *state;
    one_failure_at_each_call(about, about->lost_code);
}

// Every call fails from one on: the device is gone. What was given back while it was gone is off
// the books, room that is held still serves, and all of it ends in order.
static void a_device_lost_at_any_call_leaves_books_in_order(void **state) {
    const subject *about = *state;
    bool met = true;
    for (uint64_t nth = 1; met; nth += 3) {
        program run;
        begin_program(&run, about);
        uint64_t calls = acre_storage_calls(run.r.storage);
        fail_at(run.r.storage, nth, true, about->lost_code);
        run_program(&run);
        met = acre_storage_calls(run.r.storage) - calls >= nth;
        check(run.r.manager);
        for (uint32_t i = 0; i < KEPT; i++) {
            if (run.kept[i].handle != NULL) {
                acre_manager_release(run.r.manager, run.kept[i].handle);
            }
        }
        acre_manager_cleanup(run.r.manager, ACRE_CLEANUP_EXPLICIT);
        rig_close(&run.r); // still gone
        assert_true(nth < 2000);
    }
}

static void a_device_that_comes_back_serves_on(void **state) {
    const subject *about = *state;
    rig r = suite_rig(about);
    filled a = take_filled(about, &r, 300 * KIB, 1);
    fail_at(r.storage, 1, true, about->lost_code);
    acre_handle *small = take(r.manager, 1000); // room held needs no call
    acre_handle *none = NULL;
    assert_true(acre_manager_reserve(r.manager, 5 * MIB, &none, NULL) != ACRE_OK);
    acre_manager_release(r.manager, small);
    fail_at(r.storage, 0, false, 0);
    filled b = take_filled(about, &r, 5 * MIB, 2);
    check_filled(about, &r, &a);
    check_filled(about, &r, &b);
    acre_manager_release(r.manager, a.handle);
    acre_manager_release(r.manager, b.handle);
    rig_close(&r);
}

static void reserving_and_releasing_room_that_is_held_makes_no_call(void **state) {
    rig r = suite_rig(*state);
    acre_handle *kept = take(r.manager, 1000);
    uint64_t calls = acre_storage_calls(r.storage);
    for (uint64_t i = 0; i < 100; i++) {
        acre_handle *handle = take(r.manager, 1 + i * 300);
        acre_manager_release(r.manager, handle);
    }
    assert_int_equal(acre_storage_calls(r.storage), calls);
    acre_manager_release(r.manager, kept);
    rig_close(&r);
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(no_memory_left_keeps_the_drivers_own_code),
    cmocka_unit_test(any_other_failure_is_a_backend_error_with_its_code),
    cmocka_unit_test(no_memory_left_at_any_call_loses_nothing),
    cmocka_unit_test(another_failure_at_any_call_loses_nothing),
    cmocka_unit_test(a_device_lost_at_any_call_leaves_books_in_order),
    cmocka_unit_test(a_device_that_comes_back_serves_on),
    cmocka_unit_test(reserving_and_releasing_room_that_is_held_makes_no_call),
};

const part failures_part = {tests, COUNT_OF(tests), false, false, true};
