// Workloads whose order is the point.
//
//   w3  stack: 1,000 power-law requests, released in reverse
//   w4  10,000 small holes; the request fits only behind all of them
#include "race.h"

#include <stdlib.h>

#define STACK 1000u
#define HOLES 10000u

static bench_loop_fn pick_stack(const bench_subject *subject) {
    return subject->stack;
}

static void time_stack(bench *run) {
    bench_race race;
    if (!bench_race_begin(&race, run, "w3", STACK, STACK, STACK, 0, BENCH_PAGE)) {
        return;
    }
    bench_random random = BENCH_RANDOM_INIT;
    for (uint32_t i = 0; i < STACK; i++) {
        uint64_t size = bench_random_size(&random);
        for (uint32_t turn = 0; turn < BENCH_TURNS; turn++) {
            race.sizes[turn * BENCH_PAIRS + i] = size;
        }
    }
    bench_race_run(&race, pick_stack, NULL, NULL, STACK);
    for (int i = 0; i < race.count; i++) {
        race.entries[i].block_count = 0; // released by the loop
    }
    bench_race_end(&race);
}

static bench_loop_fn pick_probe(const bench_subject *subject) {
    return subject->probe;
}

static void time_last_fit(bench *run) {
    bench_race race;
    if (!bench_race_begin(&race, run, "w4", HOLES, 2 * HOLES, 2 * HOLES, 0, BENCH_PAGE)) {
        return;
    }
    uint64_t *small = bench_alloc(2 * (size_t)HOLES, sizeof *small);
    for (uint32_t i = 0; i < 2 * HOLES; i++) {
        small[i] = 4096;
    }
    for (int i = 0; i < race.count; i++) {
        bench_entry *entry = &race.entries[i];
        bench_fill(entry->subject, entry->on, entry->blocks, small, 2 * HOLES);
        for (uint32_t j = 0; j < 2 * HOLES; j += 2) {
            entry->subject->release(entry->on, entry->blocks[j]);
            entry->blocks[j] = NULL;
        }
    }
    free(small);
    for (size_t i = 0; i < BENCH_DRAWN; i++) {
        race.sizes[i] = 8192 + 4096 * (i & 1);
    }
    bench_race_run(&race, pick_probe, NULL, NULL, 0);
    bench_race_end(&race);
}

void bench_orders(bench *run) {
    time_stack(run);
    time_last_fit(run);
}
