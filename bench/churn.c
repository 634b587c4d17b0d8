// Workloads that replace random allocations by new ones while a number of them lives.
//
//   w1  4 KiB each, 1,000 live
//   w2  power-law sizes, 1,000 to 100,000 live
#include "race.h"

#include <stdlib.h>

// A subject that is linear is warm after that many nanoseconds at the latest.
#define LONGEST_WARMING 2e10

typedef struct churn {
    uint32_t live;
    bool fixed;
    bench_random random;
} churn;

static uint64_t next_size(churn *work) {
    return work->fixed ? 4096 : bench_random_size(&work->random);
}

static void draw(bench_race *race, void *context) {
    churn *work = context;
    for (size_t i = 0; i < BENCH_DRAWN; i++) {
        race->sizes[i] = next_size(work);
        race->victims[i] = bench_random_below(&work->random, work->live);
    }
}

static bench_loop_fn pick(const bench_subject *subject) {
    return subject->replace;
}

// Steady means that every allocation was replaced several times. All subjects see the same
// requests; a linear one sees only the first of each drawing.
static void warm(bench_race *race, churn *work) {
    double linear_since[BENCH_MAX_SUBJECTS] = {0};
    uint32_t done[BENCH_MAX_SUBJECTS] = {0};
    uint32_t enough = 3 * work->live;
    for (bool all_warm = false; !all_warm;) {
        all_warm = true;
        draw(race, work);
        for (int i = 0; i < race->count; i++) {
            bench_entry *entry = &race->entries[i];
            bool linear = entry->subject->linear;
            if (done[i] >= (linear && race->run->options.quick ? work->live : enough) ||
                (linear && linear_since[i] > LONGEST_WARMING)) {
                continue;
            }
            double start = bench_now();
            bench_race_pass(race, entry, entry->subject->replace, 0, BENCH_WARM);
            linear_since[i] += bench_now() - start;
            done[i] += bench_race_pairs(race, entry->subject);
            all_warm = false;
        }
    }
}

static void time_churn(bench *run, const char *workload, uint32_t live, bool fixed) {
    bench_race race;
    churn work = {live, fixed, BENCH_RANDOM_INIT};
    if (!bench_race_begin(&race, run, workload, live, live, live, fixed ? 0 : BENCH_ANY_SIZE,
                          BENCH_PAGE)) {
        return;
    }
    uint64_t *sizes = bench_alloc(live, sizeof *sizes);
    for (uint32_t i = 0; i < live; i++) {
        sizes[i] = next_size(&work);
    }
    for (int i = 0; i < race.count; i++) {
        bench_fill(race.entries[i].subject, race.entries[i].on, race.entries[i].blocks, sizes,
                   live);
    }
    free(sizes);
    warm(&race, &work);
    bench_race_run(&race, pick, draw, &work, 0);
    bench_race_end(&race);
}

void bench_churn(bench *run) {
    time_churn(run, "w1", 1000, true);
    time_churn(run, "w2", 1000, false);
    time_churn(run, "w2", 10000, false);
    time_churn(run, "w2", 100000, false);
}
