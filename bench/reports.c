// What it costs to look.
//
//   report-pools  acre_manager_report of a manager with 1 to 1,000 pools
//   report-live   acre_manager_report and acre_manager_pool_report with 1,000 to 100,000 live
#include "managers.h"
#include "race.h"

#include <stdlib.h>

#define CALLS 2000u

static double time_report(acre_manager *manager, bool pool_too) {
    uint64_t seen = 0;
    double start = bench_thread_now();
    for (uint32_t i = 0; i < CALLS; i++) {
        acre_report report = ACRE_REPORT_INIT;
        acre_manager_report(manager, &report);
        seen += report.usage.allocations;
        if (pool_too) {
            acre_pool_report pool = ACRE_POOL_REPORT_INIT;
            if (acre_manager_pool_report(manager, 0, &pool, NULL) != ACRE_OK) {
                bench_fail("no report of pool 0");
            }
            seen -= pool.usage.allocations;
        }
    }
    double took = (bench_thread_now() - start) / CALLS;
    if (pool_too && seen != 0) { // everything lives in the only pool
        bench_fail("the reports contradict each other");
    }
    return took;
}

static void measure(bench *run, const char *name, acre_manager *manager, bool pool_too) {
    bench_series series = {0};
    for (int i = 0; i < run->options.repetitions; i++) {
        bench_series_add(&series, time_report(manager, pool_too));
    }
    bench_figure_add(run, name, &series, "ns");
}

// Pools of 1 MiB, 2 MiB, ... a page, the first of which holds something.
static void time_pools(bench *run, uint32_t count) {
    char name[BENCH_NAME];
    char size[16];
    bench_name(name, "report-pools", bench_size_name(count, size), "acre", "ns");
    if (!bench_wants(run, name)) {
        return;
    }
    bench_progress(run, "report-pools", size);
    acre_pool_options *pools = bench_alloc(count, sizeof *pools);
    for (uint32_t i = 0; i < count; i++) {
        pools[i] = ACRE_SLICED_POOL((uint64_t)(i + 1) << 20);
    }
    acre_layout layout = ACRE_LAYOUT_INIT(ACRE_LAYOUT_EXPLICIT);
    layout.pools = pools;
    layout.pool_count = count;
    bench_manager *on = bench_manager_open(&layout, BENCH_LARGE_PAGE);
    acre_handle *kept = bench_reserve(on->manager, 4096);
    measure(run, name, on->manager, false);
    acre_manager_release(on->manager, kept);
    bench_manager_close(on);
    free(pools);
}

static void time_live(bench *run, uint32_t live) {
    char name[BENCH_NAME];
    char size[16];
    bench_name(name, "report-live", bench_size_name(live, size), "acre", "ns");
    if (!bench_wants(run, name)) {
        return;
    }
    bench_progress(run, "report-live", size);
    bench_manager *on = bench_manager_open_sliced(BENCH_PAGE);
    acre_handle **handles = bench_alloc(live, sizeof *handles);
    bench_random random = BENCH_RANDOM_INIT;
    for (uint32_t i = 0; i < live; i++) {
        handles[i] = bench_reserve(on->manager, bench_random_size(&random));
    }
    measure(run, name, on->manager, true);
    for (uint32_t i = 0; i < live; i++) {
        acre_manager_release(on->manager, handles[i]);
    }
    bench_manager_close(on);
    free(handles);
}

void bench_reports(bench *run) {
    time_pools(run, 1);
    time_pools(run, 10);
    time_pools(run, 100);
    time_pools(run, 1000);
    time_live(run, 1000);
    time_live(run, 10000);
    time_live(run, 100000);
}
