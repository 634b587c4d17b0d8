// Replays that hold nothing, and plans: measured dry, capped at what was measured, replayed.
#include <acre/dry_run.h>

#include <string.h>

#include "trace_rig.h"

static const acre_layout_kind presets[] = {ACRE_LAYOUT_SUB_SLICES, ACRE_LAYOUT_EXCLUSIVE_PAGES,
                                           ACRE_LAYOUT_ADAPTIVE};
static const char *const bundled[] = {"gnn_neighbor.csv.gz", "resnet50_train.csv.gz",
                                      "streams_overlap.csv.gz"};

// On a fresh simulated device of 80 GiB.
static acre_replay_result replay_preset(const acre_trace_program *program, acre_layout_kind kind,
                                        const acre_replay_options *options) {
    acre_storage *storage = simulated(UINT64_C(80) << 30);
    acre_layout layout = ACRE_LAYOUT_INIT(kind);
    acre_manager_options manager = ACRE_MANAGER_OPTIONS_INIT;
    manager.layout = &layout;
    manager.largest_page = UINT64_C(20) << 30;
    acre_error error = ACRE_ERROR_INIT;
    acre_replay_result result = ACRE_REPLAY_RESULT_INIT;
    if (acre_replay_run(program, storage, &manager, options, &result, &error) != ACRE_OK)
        fail_msg("%s: %s", acre_status_name(error.status), error.detail);
    acre_storage_stats stats = ACRE_STORAGE_STATS_INIT;
    acre_storage_stats_get(storage, &stats);
    assert_int_equal(stats.bytes_allocated, 0);
    assert_int_equal(stats.bytes_peak, result.peak_reserved_bytes);
    assert_false(acre_dry_run_is_open());
    acre_storage_destroy(storage);
    return result;
}

static void a_dry_run_plans_the_real_peak_and_takes_no_device_memory(void **state) {
    (void)state;
    for (size_t t = 0; t < sizeof(bundled) / sizeof(*bundled); t++) {
        acre_trace_program *program = load(trace_bundled(bundled[t]));
        for (size_t k = 0; k < sizeof(presets) / sizeof(*presets); k++) {
            acre_replay_options options = ACRE_REPLAY_OPTIONS_INIT;
            acre_replay_result real = replay_preset(program, presets[k], &options);
            options.dry_run = true;
            acre_replay_result dry = replay_preset(program, presets[k], &options);
            assert_int_equal(real.planned_peak_bytes, 0);
            assert_int_equal(dry.peak_reserved_bytes, 0);
            assert_int_equal(dry.device_allocs, 0);
            assert_int_equal(dry.device_frees, 0);
            assert_int_equal(dry.failed, 0);
            assert_int_equal(dry.planned_peak_bytes, real.peak_reserved_bytes);
            assert_int_equal(dry.padding_bytes_at_peak, real.padding_bytes_at_peak);
            assert_int_equal(dry.pages_peak, real.pages_peak);
        }
        acre_trace_program_destroy(program);
    }
}

static void a_dry_run_plans_what_the_device_would_refuse(void **state) {
    (void)state;
    acre_trace_program *program = program_of(small_trace);
    acre_storage *storage = simulated(1024);
    acre_replay_options options = ACRE_REPLAY_OPTIONS_INIT;
    options.dry_run = true;
    acre_replay_result result = replay_direct(program, storage, &options);
    assert_int_equal(result.failed, 0);
    assert_int_equal(result.device_refused, 0);
    assert_int_equal(result.planned_peak_bytes, 2048);
    assert_int_equal(result.pages_peak, 3);
    acre_storage_destroy(storage);
    acre_trace_program_destroy(program);
}

static void a_plan_replays_every_capped_pool_at_the_peak_it_measured(void **state) {
    (void)state;
    static const uint32_t capped[] = {7, 24, 2}; // the arena has no cap
    for (size_t t = 0; t < sizeof(bundled) / sizeof(*bundled); t++) {
        acre_trace_program *program = load(trace_bundled(bundled[t]));
        for (size_t k = 0; k < sizeof(presets) / sizeof(*presets); k++) {
            acre_replay_pool pools[32];
            acre_replay_options options = ACRE_REPLAY_OPTIONS_INIT;
            options.plan = true;
            options.plan_results = pools;
            options.plan_capacity = 32;
            acre_replay_result result = replay_preset(program, presets[k], &options);
            assert_int_equal(result.passes, 3);
            assert_int_equal(result.failed, 0);
            assert_int_equal(result.plan_pools, capped[k]);
            assert_int_equal(result.plan_unequal, 0);
            assert_int_equal(result.planned_peak_bytes, result.peak_reserved_bytes);
            for (uint32_t i = 0; i < capped[k]; i++) {
                assert_int_equal(pools[i].index, i);
                assert_int_equal(pools[i].peak_replayed, pools[i].peak_measured);
                assert_int_equal(pools[i].page_size == ACRE_UNSET,
                                 pools[i].kind == ACRE_POOL_EXCLUSIVE);
            }
        }
        acre_trace_program_destroy(program);
    }
}

// A device of 1024 bytes for 256 + 768 + 1024: the last is refused in the real passes. With a
// direct pool for all but the first, what is capped still comes to what it measured.
static void a_plan_that_the_device_cannot_hold_is_told_pool_by_pool(void **state) {
    (void)state;
    acre_trace_program *program = program_of("0,0,allocate,0x1,256,0\n"
                                             "0,0,allocate,0x2,768,0\n"
                                             "0,0,allocate,0x3,1024,0\n");
    const acre_pool_options layout_pools[] = {ACRE_EXCLUSIVE_POOL(256), ACRE_DIRECT_POOL};
    acre_layout layout = ACRE_LAYOUT_INIT(ACRE_LAYOUT_EXPLICIT);
    layout.pools = layout_pools;
    layout.pool_count = 2;
    const acre_pool_options other_pools[] = {ACRE_EXCLUSIVE_POOL(256), ACRE_EXCLUSIVE_POOL(1024)};
    acre_layout other = layout;
    other.pools = other_pools;
    for (int with = 0; with < 2; with++) {
        acre_storage *storage = simulated(1024);
        acre_manager_options manager = ACRE_MANAGER_OPTIONS_INIT;
        manager.layout = with == 0 ? &layout : &other;
        manager.alignment = 256;
        acre_replay_pool pools[2] = {{.index = 9}, {.index = 9}};
        acre_replay_options options = ACRE_REPLAY_OPTIONS_INIT;
        options.passes = 2;
        options.plan = true;
        options.plan_results = pools;
        options.plan_capacity = 2;
        acre_replay_result result = ACRE_REPLAY_RESULT_INIT;
        assert_int_equal(acre_replay_run(program, storage, &manager, &options, &result, NULL),
                         ACRE_OK);
        assert_int_equal(result.failed, 2); // real passes only; the dry ones are refused nothing
        assert_int_equal(result.planned_peak_bytes, 2048);
        assert_int_equal(result.plan_pools, with == 0 ? 1 : 2);
        assert_int_equal(result.plan_unequal, with);
        assert_int_equal(pools[0].index, 0);
        assert_int_equal(pools[0].kind, ACRE_POOL_EXCLUSIVE);
        assert_int_equal(pools[0].page_size, ACRE_UNSET);
        assert_int_equal(pools[0].largest, 256);
        assert_int_equal(pools[0].peak_measured, 256);
        assert_int_equal(pools[0].peak_replayed, 256);
        assert_int_equal(pools[1].index, with == 0 ? 9 : 1);
        assert_int_equal(pools[1].peak_measured, with == 0 ? 0 : 1792);
        assert_int_equal(pools[1].peak_replayed, with == 0 ? 0 : 768);
        acre_storage_destroy(storage);
    }
    acre_trace_program_destroy(program);
}

static void a_plan_fills_in_as_many_pools_as_there_is_room_for(void **state) {
    (void)state;
    acre_trace_program *program = program_of(small_trace);
    acre_replay_pool pools[2] = {{.index = 9}, {.index = 9}};
    acre_replay_options options = ACRE_REPLAY_OPTIONS_INIT;
    options.plan = true;
    assert_int_equal(replay_preset(program, ACRE_LAYOUT_ADAPTIVE, &options).plan_pools, 2);
    options.plan_results = pools;
    options.plan_capacity = 1;
    acre_replay_result result = replay_preset(program, ACRE_LAYOUT_ADAPTIVE, &options);
    assert_int_equal(result.plan_pools, 2);
    assert_int_equal(pools[0].index, 0);
    assert_int_equal(pools[1].index, 9);
    acre_trace_program_destroy(program);
}

static void progress_of_a_plan_runs_over_its_dry_and_its_real_passes(void **state) {
    (void)state;
    acre_trace_program *program = program_of(small_trace);
    seen_progress seen = {0};
    acre_replay_options options = ACRE_REPLAY_OPTIONS_INIT;
    options.passes = 2;
    options.plan = true;
    options.progress = see_progress;
    options.progress_context = &seen;
    (void)replay_preset(program, ACRE_LAYOUT_ADAPTIVE, &options);
    assert_int_equal(seen.total, 28);
    assert_int_equal(seen.last, 28);
    assert_int_equal(seen.calls, 4);
    acre_trace_program_destroy(program);
}

static void a_plan_verifies_its_real_passes(void **state) {
    (void)state;
    acre_trace_program *program = program_of(small_trace);
    acre_storage *storage = host(UINT64_C(1) << 28);
    acre_replay_options options = ACRE_REPLAY_OPTIONS_INIT;
    options.plan = true;
    options.verify = true;
    acre_replay_result result = ACRE_REPLAY_RESULT_INIT;
    assert_int_equal(acre_replay_run(program, storage, NULL, &options, &result, NULL), ACRE_OK);
    assert_int_equal(result.damage, ACRE_REPLAY_INTACT);
    assert_int_equal(result.passes, 3);
    assert_int_equal(result.plan_unequal, 0);
    assert_true(result.peak_reserved_bytes > 0);
    acre_storage_destroy(storage);
    acre_trace_program_destroy(program);
}

static void a_plan_without_a_cap_is_unsupported_and_replays_nothing(void **state) {
    (void)state;
    acre_trace_program *program = program_of(small_trace);
    const acre_pool_options direct[] = {ACRE_DIRECT_POOL};
    acre_layout layout = ACRE_LAYOUT_INIT(ACRE_LAYOUT_EXPLICIT);
    layout.pools = direct;
    layout.pool_count = 1;
    acre_manager_options manager = ACRE_MANAGER_OPTIONS_INIT;
    manager.layout = &layout;
    acre_storage *storage = simulated(1 << 20);
    acre_replay_options options = ACRE_REPLAY_OPTIONS_INIT;
    options.plan = true;
    acre_replay_result result = ACRE_REPLAY_RESULT_INIT;
    acre_error error = ACRE_ERROR_INIT;
    assert_int_equal(acre_replay_run(program, storage, &manager, &options, &result, &error),
                     ACRE_UNSUPPORTED);
    assert_non_null(strstr(error.detail, "nothing to cap"));
    assert_int_equal(result.events, 0); // untouched
    assert_false(acre_dry_run_is_open());
    acre_storage_destroy(storage);
    acre_trace_program_destroy(program);
}

static void a_dry_run_goes_neither_with_verification_nor_with_a_plan(void **state) {
    (void)state;
    acre_trace_program *program = program_of(small_trace);
    for (int with = 0; with < 2; with++) {
        acre_storage *storage = host(1 << 20);
        acre_replay_options options = ACRE_REPLAY_OPTIONS_INIT;
        options.dry_run = true;
        options.verify = with == 0;
        options.plan = with == 1;
        acre_replay_result result = ACRE_REPLAY_RESULT_INIT;
        acre_error error = ACRE_ERROR_INIT;
        assert_int_equal(acre_replay_run(program, storage, NULL, &options, &result, &error),
                         ACRE_INVALID_ARGUMENT);
        assert_int_equal(error.status, ACRE_INVALID_ARGUMENT);
        assert_int_equal(result.events, 0);
        acre_storage_destroy(storage);
    }
    acre_trace_program_destroy(program);
}

// Both the replay's own tables and, as requests that fail, the manager's.
static void host_memory_that_runs_out_in_a_plan_leaves_no_dry_run_open(void **state) {
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
        acre_replay_options options = ACRE_REPLAY_OPTIONS_INIT;
        options.hooks = &memory.hooks;
        options.plan = true;
        acre_replay_result result = ACRE_REPLAY_RESULT_INIT;
        acre_status status = acre_replay_run(program, storage, &manager, &options, &result, NULL);
        ran_out = nth <= memory.calls;
        assert_true(status == ACRE_OK || (ran_out && status == ACRE_OUT_OF_HOST_MEMORY));
        if (!ran_out) {
            assert_int_equal(result.failed, 0);
            assert_int_equal(result.plan_unequal, 0);
        }
        assert_false(acre_dry_run_is_open());
        assert_int_equal(memory.held, 0);
        acre_storage_destroy(storage);
    }
    acre_trace_program_destroy(program);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_dry_run_plans_the_real_peak_and_takes_no_device_memory),
        cmocka_unit_test(a_dry_run_plans_what_the_device_would_refuse),
        cmocka_unit_test(a_plan_replays_every_capped_pool_at_the_peak_it_measured),
        cmocka_unit_test(a_plan_that_the_device_cannot_hold_is_told_pool_by_pool),
        cmocka_unit_test(a_plan_fills_in_as_many_pools_as_there_is_room_for),
        cmocka_unit_test(progress_of_a_plan_runs_over_its_dry_and_its_real_passes),
        cmocka_unit_test(a_plan_verifies_its_real_passes),
        cmocka_unit_test(a_plan_without_a_cap_is_unsupported_and_replays_nothing),
        cmocka_unit_test(a_dry_run_goes_neither_with_verification_nor_with_a_plan),
        cmocka_unit_test(host_memory_that_runs_out_in_a_plan_leaves_no_dry_run_open),
    };
    return cmocka_run_group_tests(tests, trace_files_begin, trace_files_end);
}
