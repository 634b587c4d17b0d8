// Replays that measure before they hold anything.
//
//   dry passes on growing pools --> each pool's peak --> the same pools capped at it --> real
//   passes
#include <acre/dry_run.h>
#include <acre/report.h>

#include "detail.h"
#include "replay.h"

// The pools of the layout. Those of an adaptive pool that it outgrew come behind them and have no
// cap of their own.
typedef struct plan {
    acre_pool_options *pools; // as measured
    acre_pool_report *before; // at the end of the dry passes
    size_t count;
} plan;

acre_status acre_replay_run_dry(acre_replay *run, acre_error *error) {
    run->dry = true;
    acre_dry_run_begin();
    acre_status status = acre_replay_run_passes(run, error);
    acre_dry_run_end();
    run->dry = false;
    return status;
}

static acre_status begin(plan *measured, acre_replay *run, acre_error *error) {
    acre_report report = ACRE_REPORT_INIT;
    acre_manager_report(run->manager, &report);
    measured->count = report.pool_count;
    measured->pools = acre_trace_alloc(&run->hooks, measured->count * sizeof(*measured->pools) + 1);
    measured->before =
        acre_trace_alloc(&run->hooks, measured->count * sizeof(*measured->before) + 1);
    if (!measured->pools || !measured->before)
        return acre_trace_fail_no_memory(error, measured->count * sizeof(*measured->before));
    return ACRE_OK;
}

static void end(plan *measured, acre_replay *run) {
    size_t count = measured->count;
    acre_trace_free(&run->hooks, measured->pools, count * sizeof(*measured->pools) + 1);
    acre_trace_free(&run->hooks, measured->before, count * sizeof(*measured->before) + 1);
}

static acre_status measure(plan *measured, acre_replay *run, acre_error *error) {
    for (uint32_t i = 0; i < measured->count; i++) {
        measured->before[i] = ACRE_POOL_REPORT_INIT;
        acre_status status = acre_manager_pool_report(run->manager, i, &measured->before[i], error);
        if (status != ACRE_OK)
            return status;
    }
    return acre_manager_measured_pools(run->manager, measured->pools, sizeof(*measured->pools),
                                       measured->count, &measured->count, error);
}

// Before anything is replayed: without a cap there is nothing to compare.
static acre_status check_caps(const plan *measured, acre_error *error) {
    for (size_t i = 0; i < measured->count; i++) {
        if (measured->pools[i].measured)
            return ACRE_OK;
    }
    return acre_trace_fail(error, ACRE_UNSUPPORTED,
                           "no pool of the layout has a cap, so a plan has nothing to cap");
}

static acre_status install(const plan *measured, acre_replay *run, acre_error *error) {
    acre_layout layout = ACRE_LAYOUT_INIT(ACRE_LAYOUT_EXPLICIT);
    layout.pools = measured->pools;
    layout.pool_count = measured->count;
    return acre_manager_install_layout(run->manager, &layout, error);
}

// A replay that damage ended has reached no peak to compare.
static acre_status compare(const plan *measured, acre_replay *run, acre_error *error) {
    acre_replay_result *result = &run->result;
    if (result->damage != ACRE_REPLAY_INTACT)
        return ACRE_OK;
    for (uint32_t i = 0; i < measured->count; i++) {
        if (!measured->pools[i].measured)
            continue;
        const acre_pool_report *before = &measured->before[i];
        acre_pool_report after = ACRE_POOL_REPORT_INIT;
        acre_status status = acre_manager_pool_report(run->manager, i, &after, error);
        if (status != ACRE_OK)
            return status;
        if (run->options.plan_results && result->plan_pools < run->options.plan_capacity)
            run->options.plan_results[result->plan_pools] =
                (acre_replay_pool){.index = i,
                                   .kind = before->kind,
                                   .page_size = before->page_size,
                                   .largest = before->max_slice_size,
                                   .peak_measured = before->bytes_peak,
                                   .peak_replayed = after.bytes_peak};
        result->plan_pools++;
        result->plan_unequal += before->bytes_peak != after.bytes_peak;
    }
    return ACRE_OK;
}

// The real passes begin with fresh numbers, but for the refusals.
static acre_status replay_capped(acre_replay *run, acre_error *error) {
    run->passes_before = run->result.passes;
    run->result.passes = 0;
    run->result.padding_bytes_at_peak = 0;
    run->result.pages_peak = 0;
    run->peak_noted = 0;
    return acre_replay_run_passes(run, error);
}

acre_status acre_replay_run_plan(acre_replay *run, acre_error *error) {
    plan measured = {NULL, NULL, 0};
    acre_status status = begin(&measured, run, error);
    if (status == ACRE_OK)
        status = measure(&measured, run, error);
    if (status == ACRE_OK)
        status = check_caps(&measured, error);
    if (status == ACRE_OK)
        status = acre_replay_run_dry(run, error);
    if (status == ACRE_OK)
        status = measure(&measured, run, error);
    if (status == ACRE_OK)
        status = install(&measured, run, error);
    if (status == ACRE_OK)
        status = replay_capped(run, error);
    if (status == ACRE_OK)
        status = compare(&measured, run, error);
    end(&measured, run);
    return status;
}
