// What room w2 costs.
//
//   footprint  on the device: highest end offset over the peak of live bytes, on one large page
//   slice      on the host: bytes of the books, slab capacity and handle included, per allocation
#include "race.h"

#include <stdlib.h>

#define ROUNDS_FOOTPRINT 20u // replacements of each allocation
#define ROUNDS_BOOKS     4u

// Replaces a block by one of a random size.
static void replace(bench_entry *entry, uint64_t *sizes, uint32_t victim, bench_random *random) {
    sizes[victim] = bench_random_size(random);
    entry->subject->release(entry->on, entry->blocks[victim]);
    entry->blocks[victim] = entry->subject->reserve(entry->on, sizes[victim]);
    if (entry->blocks[victim] == NULL) {
        bench_fail("%s refused a request", entry->subject->who);
    }
}

static uint64_t end_of(bench_entry *entry, uint32_t i) {
    bench_place place = {0, 0, 0};
    if (!entry->subject->place(entry->on, entry->blocks[i], &place)) {
        bench_fail("%s does not know where an allocation is", entry->subject->who);
    }
    return place.end;
}

static double footprint(bench_entry *entry, uint64_t *sizes, uint32_t live, uint32_t pairs,
                        bench_random *random) {
    uint64_t in_use = 0;
    uint64_t highest = 0;
    for (uint32_t i = 0; i < live; i++) {
        uint64_t end = end_of(entry, i);
        in_use += sizes[i];
        highest = end > highest ? end : highest;
    }
    uint64_t peak = in_use;
    for (uint32_t i = 0; i < pairs; i++) {
        uint32_t victim = bench_random_below(random, live);
        in_use -= sizes[victim];
        replace(entry, sizes, victim, random);
        in_use += sizes[victim];
        uint64_t end = end_of(entry, victim);
        highest = end > highest ? end : highest;
        peak = in_use > peak ? in_use : peak;
    }
    return (double)highest / (double)peak;
}

// A replacing of everything, over and over, on a fresh subject.
static double measure(const bench_subject *subject, bool books, uint32_t live, uint64_t seed) {
    bench_random random = {seed};
    uint64_t *sizes = bench_alloc(live, sizeof *sizes);
    bench_entry entry = {.subject = subject, .blocks = bench_alloc(live, sizeof(void *))};
    double measured = 0;
    entry.on = subject->open(subject, books ? BENCH_PAGE : BENCH_LARGE_PAGE);
    for (uint32_t i = 0; i < live; i++) {
        sizes[i] = bench_random_size(&random);
    }
    bench_fill(subject, entry.on, entry.blocks, sizes, live);
    if (books) {
        for (uint32_t i = 0; i < ROUNDS_BOOKS * live; i++) {
            uint32_t victim = bench_random_below(&random, live);
            replace(&entry, sizes, victim, &random);
        }
        measured = (double)subject->host_bytes(entry.on) / live;
    } else {
        measured = footprint(&entry, sizes, live, ROUNDS_FOOTPRINT * live, &random);
    }
    for (uint32_t i = 0; i < live; i++) {
        subject->release(entry.on, entry.blocks[i]);
    }
    subject->close(entry.on);
    free(entry.blocks);
    free(sizes);
    return measured;
}

// Each repetition has a seed of its own, since what is measured does not depend on the clock.
static void measure_all(bench *run, bool books, uint32_t live, unsigned abilities) {
    const char *workload = books ? "slice" : "footprint";
    const char *unit = books ? "bytes" : "ratio";
    int known = 0;
    const bench_subject *const *subjects = bench_subjects(&known);
    for (int i = 0; i < known; i++) {
        char name[BENCH_NAME];
        char size[16];
        bench_name(name, workload, bench_size_name(live, size), subjects[i]->who, unit);
        if ((subjects[i]->abilities & abilities) != abilities || !bench_wants(run, name)) {
            continue;
        }
        bench_progress(run, workload, subjects[i]->who);
        int repetitions = run->options.repetitions;
        if (subjects[i]->linear || books) { // one takes seconds
            repetitions = (repetitions + 2) / 3;
        }
        bench_series series = {0};
        bench_random seeds = BENCH_RANDOM_INIT;
        for (int j = 0; j < repetitions; j++) {
            bench_series_add(&series, measure(subjects[i], books, live, bench_random_next(&seeds)));
        }
        bench_figure_add(run, name, &series, unit);
    }
}

void bench_space(bench *run) {
    measure_all(run, false, 10000, BENCH_PLACES | BENCH_ONE_POOL | BENCH_ANY_SIZE);
    measure_all(run, true, 100000, BENCH_HOST_BYTES | BENCH_ANY_SIZE);
}
