// Workloads that replace random allocations by new ones while a number of them lives.
//
//   w1  4 KiB each, 1,000 live
//   w2  power-law sizes, 1,000 to 100,000 live
#include "bench.h"

#include <stdlib.h>

#define PAIRS      200000u // of a repetition
#define LARGE_PAGE (UINT64_C(1) << 36)

typedef struct churn {
    bench_manager on;
    acre_handle **handles;
    uint64_t *sizes;   // of the next PAIRS requests
    uint32_t *victims; // whom each of them replaces
    uint32_t live;
    bench_random random;
} churn;

static void draw(churn *work, bool fixed) {
    for (uint32_t i = 0; i < PAIRS; i++) {
        work->sizes[i] = fixed ? 4096 : bench_random_size(&work->random);
        work->victims[i] = (uint32_t)(bench_random_next(&work->random) % work->live);
    }
}

static churn begin(uint32_t live, bool fixed, uint64_t page) {
    churn work = {bench_manager_create(page),
                  calloc(live, sizeof(acre_handle *)),
                  calloc(PAIRS, sizeof(uint64_t)),
                  calloc(PAIRS, sizeof(uint32_t)),
                  live,
                  {UINT64_C(0x9e3779b97f4a7c15)}};
    if (work.handles == NULL || work.sizes == NULL || work.victims == NULL) {
        fprintf(stderr, "acre-bench: no memory\n");
        exit(1);
    }
    for (uint32_t i = 0; i < live; i++) {
        uint64_t size = fixed ? 4096 : bench_random_size(&work.random);
        work.handles[i] = bench_reserve(work.on.manager, size);
    }
    return work;
}

static void end(churn *work) {
    for (uint32_t i = 0; i < work->live; i++) {
        acre_manager_release(work->on.manager, work->handles[i]);
    }
    bench_manager_destroy(&work->on);
    free(work->handles);
    free(work->sizes);
    free(work->victims);
}

// => nanoseconds per release + reserve.
static double replace_all(churn *work) {
    acre_manager *manager = work->on.manager;
    double start = bench_now();
    for (uint32_t i = 0; i < PAIRS; i++) {
        acre_handle **handle = &work->handles[work->victims[i]];
        acre_manager_release(manager, *handle);
        *handle = bench_reserve(manager, work->sizes[i]);
    }
    return (bench_now() - start) / PAIRS;
}

static void time_churn(bench *run, const char *name, uint32_t live, bool fixed) {
    if (!bench_wants(run, name)) {
        return;
    }
    churn work = begin(live, fixed, LARGE_PAGE);
    // Steady means that every allocation was replaced several times.
    for (uint32_t pairs = 0; pairs < 3 * live + PAIRS; pairs += PAIRS) {
        draw(&work, fixed);
        replace_all(&work);
    }
    double times[16];
    for (int i = 0; i < run->options.repetitions; i++) {
        draw(&work, fixed);
        times[i] = replace_all(&work);
    }
    bench_figure_add(run, name, bench_median(times, run->options.repetitions), "ns");
    end(&work);
}

// Highest end of a live allocation over the peak of live bytes, on one large page.
static void measure_footprint(bench *run, const char *name, uint32_t live) {
    if (!bench_wants(run, name)) {
        return;
    }
    churn work = begin(live, false, LARGE_PAGE);
    uint64_t end_offset = 0;
    uint64_t peak = 0;
    uint64_t in_use = 0;
    for (int round = 0; round < 5; round++) {
        draw(&work, false);
        for (uint32_t i = 0; i < PAIRS; i++) {
            acre_handle **handle = &work.handles[work.victims[i]];
            acre_place place = ACRE_PLACE_INIT;
            acre_manager_release(work.on.manager, *handle);
            *handle = bench_reserve(work.on.manager, work.sizes[i]);
            if (acre_manager_get_place(work.on.manager, *handle, &place, NULL) != ACRE_OK) {
                exit(1);
            }
            uint64_t ends = place.offset + place.size + place.padding;
            end_offset = ends > end_offset ? ends : end_offset;
            if (i % 64 == 0) { // the report sums few pools, the peak is smooth
                acre_report report = ACRE_REPORT_INIT;
                acre_manager_report(work.on.manager, &report);
                in_use = report.usage.in_use;
                peak = in_use > peak ? in_use : peak;
            }
        }
    }
    bench_figure_add(run, name, (double)end_offset / (double)peak, "ratio");
    end(&work);
}

// Host bytes, slab capacity and handles included, per live allocation.
static void measure_books(bench *run, const char *name, uint32_t live) {
    if (!bench_wants(run, name)) {
        return;
    }
    churn work = begin(live, false, LARGE_PAGE);
    for (uint32_t pairs = 0; pairs < 3 * live; pairs += PAIRS) {
        draw(&work, false);
        replace_all(&work);
    }
    acre_report report = ACRE_REPORT_INIT;
    acre_manager_report(work.on.manager, &report);
    bench_figure_add(run, name, (double)report.host_bytes / live, "bytes");
    end(&work);
}

void bench_churn(bench *run) {
    time_churn(run, "w1.1k.acre.ns", 1000, true);
    time_churn(run, "w2.1k.acre.ns", 1000, false);
    time_churn(run, "w2.10k.acre.ns", 10000, false);
    time_churn(run, "w2.100k.acre.ns", 100000, false);
    measure_footprint(run, "footprint.10k.acre.ratio", 10000);
    measure_books(run, "slice.100k.acre.bytes", 100000);
}
