#define _DEFAULT_SOURCE // symlink

#include <acre/acre.h>
#include <acre/trace.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "trace_files.h"

static acre_trace_recorder *open_fine(const char *path) {
    acre_error error = ACRE_ERROR_INIT;
    acre_trace_recorder *recorder = NULL;
    if (acre_trace_recorder_open(path, NULL, &recorder, &error) != ACRE_OK)
        fail_msg("%s", error.detail);
    return recorder;
}

static void tell(acre_trace_recorder *recorder, acre_event_kind kind, uint32_t allocation,
                 uint64_t size, uint64_t stream) {
    acre_event event = {.struct_size = sizeof(event),
                        .kind = kind,
                        .allocation = allocation,
                        .size = size,
                        .stream = stream};
    acre_trace_recorder_listen(recorder, &event);
}

// The lines of a file without their times, which are checked to never go back.
static char *read_without_times(const char *path) {
    char *text = trace_read(path);
    char *kept = malloc(strlen(text) + 1);
    assert_non_null(kept);
    size_t used = 0;
    char last[32] = "";
    for (char *line = text; *line;) {
        char *end = strchr(line, '\n');
        char *time = strchr(line, ',') + 1;
        char *behind = strchr(time, ',');
        if (line != text) {
            char now[32];
            assert_int_equal(behind - time, strlen("00:00:00.000000"));
            (void)snprintf(now, sizeof(now), "%.15s", time);
            assert_true(strcmp(last, now) <= 0);
            memcpy(last, now, sizeof(last));
        }
        used += (size_t)sprintf(kept + used, "%.*s%.*s\n", (int)(time - line), line,
                                (int)(end - behind - 1), behind + 1);
        line = end + 1;
    }
    free(text);
    return kept;
}

static void allocations_are_numbered_and_a_free_names_the_stream_that_allocated(void **state) {
    (void)state;
    static const char *const names[] = {"events.csv", "events.csv.gz"};
    for (int i = 0; i < 2; i++) {
        const char *path = trace_path(names[i]);
        acre_trace_recorder *recorder = open_fine(path);
        tell(recorder, ACRE_EVENT_RESERVE, 0, 100, 5);
        tell(recorder, ACRE_EVENT_RESERVE, 1, 200, 6);
        tell(recorder, ACRE_EVENT_FREE, 0, 100, 0);
        tell(recorder, ACRE_EVENT_RESERVE, 0, 300, 7); // the manager's number is used again
        tell(recorder, ACRE_EVENT_REFUSE, 0, 999, 8);
        tell(recorder, ACRE_EVENT_PAGE_ADD, 0, 4096, 0);
        tell(recorder, ACRE_EVENT_RESERVE, 70000, 0, 9);
        tell(recorder, ACRE_EVENT_FREE, 0, 300, 0);
        tell(recorder, ACRE_EVENT_FREE, 0, 300, 0);     // nothing that it knows
        tell(recorder, ACRE_EVENT_FREE, 90000, 300, 0); // nor this
        tell(recorder, ACRE_EVENT_FREE, 70000, 0, 0);
        tell(recorder, ACRE_EVENT_FREE, 1, 200, 0);
        assert_int_equal(acre_trace_recorder_close(recorder, NULL), ACRE_OK);
        char *text = read_without_times(path);
        assert_string_equal(text, "Thread,Action,Pointer,Size,Stream\n"
                                  "0,allocate,0x1,100,5\n"
                                  "0,allocate,0x2,200,6\n"
                                  "0,free,0x1,100,5\n"
                                  "0,allocate,0x3,300,7\n"
                                  "0,allocate failure,(nil),999,8\n"
                                  "0,allocate,0x4,0,9\n"
                                  "0,free,0x3,300,7\n"
                                  "0,free,0x4,0,9\n"
                                  "0,free,0x2,200,6\n");
        free(text);
    }
}

static void what_a_manager_serves_is_recorded(void **state) {
    (void)state;
    const char *path = trace_path("manager.csv");
    acre_trace_recorder_options options = ACRE_TRACE_RECORDER_OPTIONS_INIT;
    options.thread = 42;
    acre_trace_recorder *recorder = NULL;
    assert_int_equal(acre_trace_recorder_open(path, &options, &recorder, NULL), ACRE_OK);

    acre_storage *storage = NULL;
    acre_simulated_storage_params params = ACRE_SIMULATED_STORAGE_PARAMS_INIT;
    params.total_memory = 1 << 20;
    assert_int_equal(acre_storage_simulated_create(&params, NULL, &storage, NULL), ACRE_OK);
    acre_manager_options manager_options = ACRE_MANAGER_OPTIONS_INIT;
    manager_options.event = acre_trace_recorder_listen;
    manager_options.event_context = recorder;
    manager_options.event_mask = ACRE_TRACE_RECORDER_EVENTS;
    acre_manager *manager = NULL;
    assert_int_equal(acre_manager_create(storage, &manager_options, &manager, NULL), ACRE_OK);

    acre_handle *handles[2] = {NULL, NULL};
    for (int i = 0; i < 2; i++) {
        acre_reservation reservation = ACRE_RESERVATION_INIT(1000 + (uint64_t)i);
        reservation.stream = 3 + (uint64_t)i;
        assert_int_equal(acre_manager_reserve_with(manager, &reservation, &handles[i], NULL),
                         ACRE_OK);
    }
    acre_handle *refused = NULL;
    assert_int_not_equal(acre_manager_reserve(manager, UINT64_C(1) << 40, &refused, NULL), ACRE_OK);
    acre_handle_release(handles[1]); // from any thread: taken in by the next operation
    acre_manager_cleanup(manager, ACRE_CLEANUP_EXPLICIT);
    acre_manager_release(manager, handles[0]);
    acre_manager_destroy(manager);
    acre_storage_destroy(storage);
    assert_int_equal(acre_trace_recorder_close(recorder, NULL), ACRE_OK);

    char *text = read_without_times(path);
    assert_string_equal(text, "Thread,Action,Pointer,Size,Stream\n"
                              "42,allocate,0x1,1000,3\n"
                              "42,allocate,0x2,1001,4\n"
                              "42,allocate failure,(nil),1099511627776,0\n"
                              "42,free,0x2,1001,4\n"
                              "42,free,0x1,1000,3\n");
    free(text);
}

static void a_full_disk_is_kept_for_close_and_never_disturbs(void **state) {
    (void)state;
    const char *path = trace_path("full.csv");
    if (access("/dev/full", W_OK) != 0)
        skip();
    assert_int_equal(symlink("/dev/full", path), 0);
    acre_trace_recorder *recorder = open_fine(path);
    for (unsigned i = 0; i < 100000; i++) {
        tell(recorder, ACRE_EVENT_RESERVE, i & 7, i, 0);
        tell(recorder, ACRE_EVENT_FREE, i & 7, i, 0);
    }
    acre_error error = ACRE_ERROR_INIT;
    assert_int_equal(acre_trace_recorder_close(recorder, &error), ACRE_IO_ERROR);
    assert_non_null(strstr(error.detail, "cannot be written: No space left on device"));
}

static void its_table_grows_with_what_lives_not_with_what_was_served(void **state) {
    (void)state;
    trace_memory memory;
    trace_memory_begin(&memory, 0);
    acre_trace_recorder_options options = ACRE_TRACE_RECORDER_OPTIONS_INIT;
    options.hooks = &memory.hooks;
    acre_trace_recorder *recorder = NULL;
    assert_int_equal(acre_trace_recorder_open(trace_path("table.csv"), &options, &recorder, NULL),
                     ACRE_OK);
    uint64_t held = 0;
    for (unsigned i = 0; i < 200000; i++) {
        tell(recorder, ACRE_EVENT_RESERVE, i & 255, i, 0);
        tell(recorder, ACRE_EVENT_FREE, i & 255, i, 0);
        if (i == 1000)
            held = memory.held;
    }
    assert_int_equal(memory.held, held);
    tell(recorder, ACRE_EVENT_RESERVE, 4095, 1, 0);
    assert_true(memory.held - held <= UINT64_C(16) * 4096);
    assert_int_equal(acre_trace_recorder_close(recorder, NULL), ACRE_OK);
    assert_int_equal(memory.held, 0);
}

static void host_memory_that_runs_out_at_any_call_ends_the_recording_only(void **state) {
    (void)state;
    acre_status status = ACRE_OUT_OF_HOST_MEMORY;
    for (uint64_t nth = 1; status != ACRE_OK; nth++) {
        assert_true(nth < 100);
        trace_memory memory;
        trace_memory_begin(&memory, nth);
        acre_trace_recorder_options options = ACRE_TRACE_RECORDER_OPTIONS_INIT;
        options.hooks = &memory.hooks;
        acre_trace_recorder *recorder = NULL;
        const char *path = trace_path("memory.csv.gz");
        acre_error error = ACRE_ERROR_INIT;
        status = acre_trace_recorder_open(path, &options, &recorder, &error);
        if (status == ACRE_OK) {
            for (uint32_t i = 0; i < 1000; i++)
                tell(recorder, ACRE_EVENT_RESERVE, i, i, 0);
            status = acre_trace_recorder_close(recorder, &error);
            free(trace_read(path)); // what was recorded is a whole file
        }
        bool ran_out = nth <= memory.calls;
        assert_int_equal(status, ran_out ? ACRE_OUT_OF_HOST_MEMORY : ACRE_OK);
        assert_int_equal(error.status, ran_out ? ACRE_OUT_OF_HOST_MEMORY : ACRE_OK);
        assert_int_equal(memory.held, 0);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(allocations_are_numbered_and_a_free_names_the_stream_that_allocated),
        cmocka_unit_test(what_a_manager_serves_is_recorded),
        cmocka_unit_test(a_full_disk_is_kept_for_close_and_never_disturbs),
        cmocka_unit_test(its_table_grows_with_what_lives_not_with_what_was_served),
        cmocka_unit_test(host_memory_that_runs_out_at_any_call_ends_the_recording_only),
    };
    return cmocka_run_group_tests(tests, trace_files_begin, trace_files_end);
}
