#include <acre/acre.h>
#include <acre/trace.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "trace_rig.h"

static void a_replay_counts_the_peak_and_what_there_was_then(void **state) {
    (void)state;
    acre_trace_program *program = program_of(small_trace);
    for (uint32_t passes = 1; passes <= 4; passes++) {
        acre_storage *storage = simulated(1 << 20);
        acre_replay_options options = ACRE_REPLAY_OPTIONS_INIT;
        options.passes = passes;
        acre_replay_result result = replay_direct(program, storage, &options);
        assert_int_equal(result.events, 7);
        assert_int_equal(result.passes, passes);
        assert_int_equal(result.peak_live_bytes, 1690);
        assert_int_equal(result.peak_reserved_bytes, 2048);
        assert_int_equal(result.pages_peak, 3);
        assert_int_equal(result.padding_bytes_at_peak, 156 + 168);
        // The manager is kept: later passes find every page there.
        assert_int_equal(result.device_allocs, 3);
        assert_int_equal(result.device_frees, 0);
        assert_int_equal(result.device_refused, 0);
        assert_int_equal(result.failed, 0);
        assert_true(result.ns_per_event_first > 0 && result.ns_per_event_warm > 0);
        acre_storage_stats stats = ACRE_STORAGE_STATS_INIT;
        acre_storage_stats_get(storage, &stats);
        assert_int_equal(stats.bytes_allocated, 0); // the manager is gone
        acre_storage_destroy(storage);
    }
    acre_trace_program_destroy(program);
}

// 1.5 of 2 MiB live, then 10 MiB: the old page is emptied in the first pass; the second finds pages
// that hold both. The array has room for two passes of three.
static void what_relocations_did_is_told_pass_by_pass(void **state) {
    (void)state;
    acre_trace_program *program = program_of("0,0,allocate,0x1,1572864,0\n"
                                             "0,0,allocate,0x2,10485760,0\n"
                                             "0,0,free,0x1,1572864,0\n"
                                             "0,0,free,0x2,10485760,0\n");
    acre_storage *storage = simulated(UINT64_C(1) << 30);
    acre_layout layout = ACRE_LAYOUT_INIT(ACRE_LAYOUT_ADAPTIVE);
    acre_manager_options manager = ACRE_MANAGER_OPTIONS_INIT;
    manager.layout = &layout;
    manager.relocation = ACRE_RELOCATION_COMPACT;
    acre_replay_pass passes[3] = {{9, 9, 9}, {9, 9, 9}, {9, 9, 9}};
    acre_replay_options options = ACRE_REPLAY_OPTIONS_INIT;
    options.pass_results = passes;
    options.pass_capacity = 2;
    acre_replay_result result = ACRE_REPLAY_RESULT_INIT;
    assert_int_equal(acre_replay_run(program, storage, &manager, &options, &result, NULL), ACRE_OK);
    const acre_replay_pass expected[3] = {{1, 1572864, 1}, {0, 0, 0}, {9, 9, 9}};
    assert_memory_equal(passes, expected, sizeof(expected));
    acre_storage_destroy(storage);
    acre_trace_program_destroy(program);
}

static void without_options_there_are_three_passes(void **state) {
    (void)state;
    acre_trace_program *program = program_of(small_trace);
    acre_storage *storage = simulated(UINT64_C(1) << 30);
    acre_replay_result result = ACRE_REPLAY_RESULT_INIT;
    assert_int_equal(acre_replay_run(program, storage, NULL, NULL, &result, NULL), ACRE_OK);
    assert_int_equal(result.passes, 3);
    acre_storage_destroy(storage);
    acre_trace_program_destroy(program);
}

static void a_refused_request_is_counted_and_its_free_passed_over(void **state) {
    (void)state;
    acre_trace_program *program = program_of("0,0,allocate,0x1,512,0\n"
                                             "0,0,allocate,0x2,800,0\n" // over the device
                                             "0,0,allocate,0x3,256,0\n"
                                             "0,0,free,0x2,800,0\n"
                                             "0,0,free,0x3,256,0\n");
    acre_storage *storage = simulated(1024);
    acre_replay_options options = ACRE_REPLAY_OPTIONS_INIT;
    options.passes = 2;
    acre_replay_result result = replay_direct(program, storage, &options);
    assert_int_equal(result.failed, 2);
    assert_int_equal(result.first_failed_status, ACRE_OUT_OF_MEMORY);
    assert_int_equal(result.first_failed_line, 3);
    assert_int_equal(result.first_failed_size, 800);
    assert_true(strlen(result.first_failed_text) > 0);
    assert_int_equal(result.peak_reserved_bytes, 768);
    assert_true(result.device_refused > 0);
    acre_storage_destroy(storage);
    acre_trace_program_destroy(program);
}

static void pages_that_come_below_the_peak_do_not_change_what_there_was_then(void **state) {
    (void)state;
    acre_trace_program *program = program_of("0,0,allocate,0x1,1000,0\n"
                                             "0,0,allocate,0x2,100,0\n"
                                             "0,0,allocate,0x3,600,0\n" // 2048, all there is
                                             "0,0,free,0x1,1000,0\n"
                                             "0,0,free,0x2,100,0\n"
                                             "0,0,free,0x3,600,0\n"
                                             "0,0,allocate,0x4,1500,0\n"); // for it the others go
    acre_storage *storage = simulated(2048);
    acre_replay_options options = ACRE_REPLAY_OPTIONS_INIT;
    options.passes = 1;
    acre_replay_result result = replay_direct(program, storage, &options);
    assert_int_equal(result.peak_reserved_bytes, 2048);
    assert_int_equal(result.pages_peak, 3);
    assert_int_equal(result.padding_bytes_at_peak, 24 + 156 + 168);
    assert_int_equal(result.device_allocs, 4);
    assert_int_equal(result.device_frees, 3);
    assert_int_equal(result.device_refused, 1);
    assert_int_equal(result.failed, 0);
    acre_storage_destroy(storage);
    acre_trace_program_destroy(program);
}

typedef struct heard {
    unsigned reserves, frees, others;
} heard;

static void listen(void *context, const acre_event *event) {
    heard *counts = context;
    if (event->kind == ACRE_EVENT_RESERVE)
        counts->reserves++;
    else if (event->kind == ACRE_EVENT_FREE)
        counts->frees++;
    else
        counts->others++;
}

static void the_callers_listener_hears_what_it_asked_for(void **state) {
    (void)state;
    acre_trace_program *program = program_of(small_trace);
    static const uint32_t masks[] = {ACRE_EVENT_FREE, ACRE_EVENT_RESERVE | ACRE_EVENT_FREE, 0};
    for (int i = 0; i < 3; i++) {
        acre_storage *storage = simulated(UINT64_C(1) << 30);
        heard counts = {0};
        acre_manager_options manager = ACRE_MANAGER_OPTIONS_INIT;
        manager.event = listen;
        manager.event_context = &counts;
        manager.event_mask = masks[i];
        acre_replay_options options = ACRE_REPLAY_OPTIONS_INIT;
        options.passes = 2;
        acre_replay_result result = ACRE_REPLAY_RESULT_INIT;
        assert_int_equal(acre_replay_run(program, storage, &manager, &options, &result, NULL),
                         ACRE_OK);
        assert_int_equal(counts.reserves, i == 0 ? 0 : 8);
        assert_int_equal(counts.frees, 8); // what was left at the end of a pass included
        assert_true((counts.others > 0) == (i == 2));
        assert_true(result.pages_peak > 0);
        acre_storage_destroy(storage);
    }
    acre_trace_program_destroy(program);
}

static void progress_runs_to_the_events_of_all_passes(void **state) {
    (void)state;
    acre_trace_program *program = program_of(small_trace);
    acre_storage *storage = simulated(1 << 20);
    seen_progress seen = {0};
    acre_replay_options options = ACRE_REPLAY_OPTIONS_INIT;
    options.passes = 5;
    options.progress = see_progress;
    options.progress_context = &seen;
    (void)replay_direct(program, storage, &options);
    assert_int_equal(seen.total, 35);
    assert_int_equal(seen.last, 35);
    assert_int_equal(seen.calls, 5);
    acre_storage_destroy(storage);
    acre_trace_program_destroy(program);
}

// The stream that a replay served, recorded, is the stream that was replayed.
static void a_recorded_replay_of_a_real_trace_is_that_trace(void **state) {
    (void)state;
    char original[1024];
    (void)snprintf(original, sizeof(original), "%s", trace_bundled("gnn_neighbor.csv.gz"));
    acre_trace_program *program = load(original);
    const char *copy = trace_path("copy.csv.gz");
    acre_trace_recorder *recorder = NULL;
    assert_int_equal(acre_trace_recorder_open(copy, NULL, &recorder, NULL), ACRE_OK);
    acre_manager_options manager = ACRE_MANAGER_OPTIONS_INIT;
    manager.event = acre_trace_recorder_listen;
    manager.event_context = recorder;
    manager.event_mask = ACRE_TRACE_RECORDER_EVENTS;
    acre_replay_options options = ACRE_REPLAY_OPTIONS_INIT;
    options.passes = 1;
    acre_replay_result result = ACRE_REPLAY_RESULT_INIT;
    acre_storage *storage = simulated(UINT64_C(80) << 30);
    assert_int_equal(acre_replay_run(program, storage, &manager, &options, &result, NULL), ACRE_OK);
    acre_storage_destroy(storage);
    acre_trace_program_destroy(program);
    assert_int_equal(acre_trace_recorder_close(recorder, NULL), ACRE_OK);

    acre_trace_reader *readers[2] = {NULL, NULL};
    assert_int_equal(acre_trace_reader_open(original, NULL, &readers[0], NULL), ACRE_OK);
    assert_int_equal(acre_trace_reader_open(copy, NULL, &readers[1], NULL), ACRE_OK);
    acre_trace_event events[2] = {ACRE_TRACE_EVENT_INIT, ACRE_TRACE_EVENT_INIT};
    bool more[2] = {true, true};
    uint64_t count = 0;
    for (;;) {
        for (int i = 0; i < 2; i++)
            assert_int_equal(acre_trace_reader_next(readers[i], &events[i], &more[i], NULL),
                             ACRE_OK);
        if (!more[0])
            break;
        assert_true(more[1]);
        // The bundled traces number their pointers as a recorder does.
        assert_int_equal(events[0].action, events[1].action);
        assert_int_equal(events[0].pointer, events[1].pointer);
        assert_int_equal(events[0].size, events[1].size);
        count++;
    }
    assert_int_equal(count, result.events);
    for (; more[1]; count++) { // what the replay released at the end of its pass
        assert_int_equal(events[1].action, ACRE_TRACE_FREE);
        assert_int_equal(acre_trace_reader_next(readers[1], &events[1], &more[1], NULL), ACRE_OK);
    }
    assert_int_equal(count, result.events + 3);
    acre_trace_reader_close(readers[0]);
    acre_trace_reader_close(readers[1]);
}

// ---- errors --------------------------------------------------------------------------------

static void a_manager_that_cannot_be_made_is_the_replays_error(void **state) {
    (void)state;
    acre_trace_program *program = program_of(small_trace);
    acre_storage *storage = simulated(1 << 20);
    acre_layout layout = ACRE_LAYOUT_INIT(ACRE_LAYOUT_EXPLICIT); // of no pools
    acre_manager_options manager = ACRE_MANAGER_OPTIONS_INIT;
    manager.layout = &layout;
    manager.alignment = UINT64_MAX;
    acre_replay_result result = ACRE_REPLAY_RESULT_INIT;
    acre_error error = ACRE_ERROR_INIT;
    assert_int_not_equal(acre_replay_run(program, storage, &manager, NULL, &result, &error),
                         ACRE_OK);
    assert_int_equal(result.events, 0);
    acre_storage_destroy(storage);
    acre_trace_program_destroy(program);
}

static void host_memory_of_the_replays_own_that_runs_out_is_an_error(void **state) {
    (void)state;
    acre_trace_program *program = program_of(small_trace);
    acre_status status = ACRE_OUT_OF_HOST_MEMORY;
    for (uint64_t nth = 1; status != ACRE_OK; nth++) {
        assert_true(nth < 10);
        trace_memory memory;
        trace_memory_begin(&memory, nth);
        acre_storage *storage = host(1 << 20);
        acre_replay_options options = ACRE_REPLAY_OPTIONS_INIT;
        options.hooks = &memory.hooks;
        options.verify = true;
        acre_replay_result result = ACRE_REPLAY_RESULT_INIT;
        status = acre_replay_run(program, storage, NULL, &options, &result, NULL);
        assert_int_equal(status, nth <= memory.calls ? ACRE_OUT_OF_HOST_MEMORY : ACRE_OK);
        assert_int_equal(memory.held, 0);
        acre_storage_destroy(storage);
    }
    acre_trace_program_destroy(program);
}

// The manager's host memory, at every call: some requests fail, the replay never does.
static void host_memory_of_the_manager_that_runs_out_fails_requests_only(void **state) {
    (void)state;
    acre_trace_program *program = program_of(small_trace);
    bool ran_out = true;
    for (uint64_t nth = 1; ran_out; nth++) {
        assert_true(nth < 1000);
        trace_memory memory;
        trace_memory_begin(&memory, nth);
        acre_storage *storage = simulated(1 << 20);
        acre_manager_options manager = ACRE_MANAGER_OPTIONS_INIT;
        manager.hooks = &memory.hooks;
        acre_replay_result result = ACRE_REPLAY_RESULT_INIT;
        acre_status status = acre_replay_run(program, storage, &manager, NULL, &result, NULL);
        ran_out = nth <= memory.calls;
        assert_true(status == ACRE_OK || (ran_out && status == ACRE_OUT_OF_HOST_MEMORY));
        if (status == ACRE_OK)
            assert_true(result.failed <= 1);
        if (!ran_out)
            assert_int_equal(result.failed, 0);
        assert_int_equal(memory.held, 0);
        acre_storage_destroy(storage);
    }
    acre_trace_program_destroy(program);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_replay_counts_the_peak_and_what_there_was_then),
        cmocka_unit_test(what_relocations_did_is_told_pass_by_pass),
        cmocka_unit_test(without_options_there_are_three_passes),
        cmocka_unit_test(a_refused_request_is_counted_and_its_free_passed_over),
        cmocka_unit_test(pages_that_come_below_the_peak_do_not_change_what_there_was_then),
        cmocka_unit_test(the_callers_listener_hears_what_it_asked_for),
        cmocka_unit_test(progress_runs_to_the_events_of_all_passes),
        cmocka_unit_test(a_recorded_replay_of_a_real_trace_is_that_trace),
        cmocka_unit_test(a_manager_that_cannot_be_made_is_the_replays_error),
        cmocka_unit_test(host_memory_of_the_replays_own_that_runs_out_is_an_error),
        cmocka_unit_test(host_memory_of_the_manager_that_runs_out_fails_requests_only),
    };
    return cmocka_run_group_tests(tests, trace_files_begin, trace_files_end);
}
