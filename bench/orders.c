// Workloads whose order is the point.
//
//   w3     stack: 1,000 power-law requests, released in reverse
//   w4     10,000 small holes; the request fits only behind all of them
//   reuse  1,000 live; each is released and asked for again at once, in 50 rounds
#include "bench.h"

#include <stdlib.h>

#define LARGE_PAGE (UINT64_C(1) << 36)
#define STACK      1000u
#define HOLES      10000u
#define ROUNDS     50

static void time_stack(bench *run, const char *name) {
    if (!bench_wants(run, name)) {
        return;
    }
    static acre_handle *handles[STACK];
    static uint64_t sizes[STACK];
    bench_random random = {UINT64_C(0x9e3779b97f4a7c15)};
    bench_manager on = bench_manager_create(LARGE_PAGE);
    for (uint32_t i = 0; i < STACK; i++) {
        sizes[i] = bench_random_size(&random);
    }
    double times[16];
    for (int repetition = 0; repetition < run->options.repetitions; repetition++) {
        double start = bench_now();
        for (int round = 0; round < 100; round++) {
            for (uint32_t i = 0; i < STACK; i++) {
                handles[i] = bench_reserve(on.manager, sizes[i]);
            }
            for (uint32_t i = STACK; i-- > 0;) {
                acre_manager_release(on.manager, handles[i]);
            }
        }
        times[repetition] = (bench_now() - start) / (100 * STACK);
    }
    bench_figure_add(run, name, bench_median(times, run->options.repetitions), "ns");
    bench_manager_destroy(&on);
}

static void time_last_fit(bench *run, const char *name) {
    if (!bench_wants(run, name)) {
        return;
    }
    static acre_handle *handles[2 * HOLES];
    bench_manager on = bench_manager_create(LARGE_PAGE);
    for (uint32_t i = 0; i < 2 * HOLES; i++) {
        handles[i] = bench_reserve(on.manager, 4096);
    }
    for (uint32_t i = 0; i < 2 * HOLES; i += 2) {
        acre_manager_release(on.manager, handles[i]);
    }
    double times[16];
    for (int repetition = 0; repetition < run->options.repetitions; repetition++) {
        double start = bench_now();
        for (uint32_t i = 0; i < 100000; i++) {
            acre_manager_release(on.manager, bench_reserve(on.manager, 8192 + 4096 * (i & 1)));
        }
        times[repetition] = (bench_now() - start) / 100000;
    }
    bench_figure_add(run, name, bench_median(times, run->options.repetitions), "ns");
    for (uint32_t i = 1; i < 2 * HOLES; i += 2) {
        acre_manager_release(on.manager, handles[i]);
    }
    bench_manager_destroy(&on);
}

// => the highest end after the round; counts requests that came back to their place.
static uint64_t reuse_round(acre_manager *manager, acre_handle **handles, const uint64_t *sizes,
                            uint64_t *same) {
    uint64_t highest = 0;
    for (uint32_t i = 0; i < STACK; i++) {
        acre_place before = ACRE_PLACE_INIT;
        acre_place after = ACRE_PLACE_INIT;
        if (acre_manager_get_place(manager, handles[i], &before, NULL) != ACRE_OK) {
            exit(1);
        }
        acre_manager_release(manager, handles[i]);
        handles[i] = bench_reserve(manager, sizes[i]);
        if (acre_manager_get_place(manager, handles[i], &after, NULL) != ACRE_OK) {
            exit(1);
        }
        *same += before.page == after.page && before.offset == after.offset;
        uint64_t ends = after.offset + after.size + after.padding;
        highest = ends > highest ? ends : highest;
    }
    return highest;
}

static void measure_reuse(bench *run, const char *percent, const char *creep) {
    if (!bench_wants(run, percent) && !bench_wants(run, creep)) {
        return;
    }
    static acre_handle *handles[STACK];
    static uint64_t sizes[STACK];
    bench_random random = {UINT64_C(0x9e3779b97f4a7c15)};
    bench_manager on = bench_manager_create(LARGE_PAGE);
    for (uint32_t i = 0; i < STACK; i++) {
        sizes[i] = bench_random_size(&random);
        handles[i] = bench_reserve(on.manager, sizes[i]);
    }
    for (uint32_t i = 0; i < STACK; i += 3) { // holes that might tempt
        acre_manager_release(on.manager, handles[i]);
        sizes[i] = bench_random_size(&random);
        handles[i] = bench_reserve(on.manager, sizes[i]);
    }
    uint64_t same = 0;
    uint64_t first = reuse_round(on.manager, handles, sizes, &same);
    uint64_t last = first;
    for (int round = 1; round < ROUNDS; round++) {
        last = reuse_round(on.manager, handles, sizes, &same);
    }
    bench_figure_add(run, percent, 100.0 * (double)same / (ROUNDS * (double)STACK), "percent");
    bench_figure_add(run, creep, (double)last / (double)first, "ratio");
    for (uint32_t i = 0; i < STACK; i++) {
        acre_manager_release(on.manager, handles[i]);
    }
    bench_manager_destroy(&on);
}

void bench_orders(bench *run) {
    time_stack(run, "w3.1k.acre.ns");
    time_last_fit(run, "w4.10k.acre.ns");
    measure_reuse(run, "reuse.1k.acre.percent", "reuse.1k.acre.ratio");
}
