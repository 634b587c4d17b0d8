// What it costs to let go: w1 with each of the two ways to do it, on the owner's thread.
#include "loops.h"
#include "managers.h"
#include "race.h"

#include <stdlib.h>

#define LIVE 1000u

BENCH_LOOP void *reserve(void *on, uint64_t size) {
    const bench_manager *made = on;
    acre_handle *handle = NULL;
    return acre_manager_reserve(made->manager, size, &handle, NULL) == ACRE_OK ? handle : NULL;
}

BENCH_LOOP void release_any(void *on, void *block) {
    (void)on;
    acre_handle_release(block);
}

BENCH_LOOP void release_owner(void *on, void *block) {
    const bench_manager *made = on;
    acre_manager_release(made->manager, block);
}

static bool replace(bench_manager *on, const bench_pass *pass, bool any) {
    return any ? bench_loop_replace(on, pass, NULL, reserve, release_any)
               : bench_loop_replace(on, pass, NULL, reserve, release_owner);
}

static double time_one(bench_manager *on, const bench_pass *pass, bool any) {
    double start = bench_thread_now();
    if (!replace(on, pass, any)) {
        bench_fail("release: a request was refused");
    }
    return (bench_thread_now() - start) / pass->pairs;
}

void bench_handles(bench *run) {
    static const char *const names[] = {"release-owner.1k.acre.ns", "release-any.1k.acre.ns",
                                        "release-any.1k.acre.extra"};
    if (!bench_wants(run, names[0]) && !bench_wants(run, names[1]) && !bench_wants(run, names[2])) {
        return;
    }
    bench_progress(run, "release", "1k");
    static void *blocks[2][LIVE];
    bench_manager *on[2];
    uint64_t *sizes = bench_alloc(BENCH_PAIRS, sizeof *sizes);
    uint32_t *victims = bench_alloc(BENCH_PAIRS, sizeof *victims);
    bench_random random = BENCH_RANDOM_INIT;
    for (uint32_t i = 0; i < BENCH_PAIRS; i++) {
        sizes[i] = 4096;
        victims[i] = bench_random_below(&random, LIVE);
    }
    bench_series series[3] = {0};
    for (int any = 0; any < 2; any++) {
        on[any] = bench_manager_open_sliced(BENCH_PAGE);
        bench_fill(&bench_acre, on[any], blocks[any], sizes, LIVE);
    }
    for (int i = -1; i < run->options.repetitions; i++) { // one more, to warm up
        double times[2];
        for (int any = 0; any < 2; any++) {
            bench_pass pass = {blocks[any], sizes, victims, BENCH_PAIRS, 0, NULL};
            times[any] = time_one(on[any], &pass, any != 0);
        }
        if (i >= 0) {
            bench_series_add(&series[0], times[0]);
            bench_series_add(&series[1], times[1]);
            bench_series_add(&series[2], times[1] - times[0]);
        }
    }
    for (int i = 0; i < 3; i++) {
        bench_figure_add(run, names[i], &series[i], "ns");
    }
    for (int any = 0; any < 2; any++) {
        for (uint32_t i = 0; i < LIVE; i++) {
            release_owner(on[any], blocks[any][i]);
        }
        bench_manager_close(on[any]);
    }
    free(sizes);
    free(victims);
}
