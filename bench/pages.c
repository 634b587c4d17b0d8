// Scale in pages: each page holds one allocation of just over half its size. Releasing a random one
// and reserving it again must cost the same whether there are 10 pages or 70,000, but for what a
// cache miss costs; adding a page must not get dearer either.
#include "race.h"

#include <stdlib.h>

#define PAGE (UINT64_C(2) << 20)
#define SIZE (UINT64_C(1100) << 10)

static void draw(bench_race *race, void *context) {
    bench_random *random = context;
    for (size_t i = 0; i < BENCH_DRAWN; i++) {
        race->victims[i] = bench_random_below(random, race->live);
    }
}

static bench_loop_fn pick(const bench_subject *subject) {
    return subject->replace;
}

// Fills a fresh one. => nanoseconds a page. The release at the end is not timed.
static double add_pages(const bench_subject *subject, void **blocks, uint32_t pages) {
    void *on = subject->open(subject, PAGE);
    double start = bench_thread_now();
    for (uint32_t i = 0; i < pages; i++) {
        blocks[i] = subject->reserve(on, SIZE);
        if (blocks[i] == NULL) {
            bench_fail("%s refused a page", subject->who);
        }
    }
    double took = bench_thread_now() - start;
    for (uint32_t i = 0; i < pages; i++) {
        subject->release(on, blocks[i]);
    }
    subject->close(on);
    return took / pages;
}

static void time_replacing(bench *run, uint32_t pages) {
    bench_race race;
    if (!bench_race_begin(&race, run, "pages", pages, pages, pages, BENCH_PAGE_EACH, PAGE)) {
        return;
    }
    bench_random random = BENCH_RANDOM_INIT;
    for (size_t i = 0; i < BENCH_DRAWN; i++) {
        race.sizes[i] = SIZE;
    }
    for (int i = 0; i < race.count; i++) {
        bench_fill(race.entries[i].subject, race.entries[i].on, race.entries[i].blocks, race.sizes,
                   pages);
    }
    bench_race_run(&race, pick, draw, &random, 0);
    bench_race_end(&race);
}

// A linear subject looks at all pages for each new one: it is left out.
static void time_adding(bench *run, uint32_t pages) {
    int known = 0;
    const bench_subject *const *subjects = bench_subjects(&known);
    void **blocks = bench_alloc(pages, sizeof *blocks);
    bench_series series[BENCH_MAX_SUBJECTS] = {0};
    char names[BENCH_MAX_SUBJECTS][BENCH_NAME];
    char size[16];
    bench_size_name(pages, size);
    for (int i = 0; i < known; i++) {
        bench_name(names[i], "pages-add", size, subjects[i]->who, "ns");
    }
    for (int repetition = 0; repetition < run->options.repetitions; repetition++) {
        for (int i = 0; i < known; i++) {
            bool can = (subjects[i]->abilities & BENCH_PAGE_EACH) != 0 && !subjects[i]->linear;
            if (can && bench_wants(run, names[i])) {
                bench_series_add(&series[i], add_pages(subjects[i], blocks, pages));
            }
        }
    }
    for (int i = 0; i < known; i++) {
        bench_figure_add(run, names[i], &series[i], "ns");
    }
    free(blocks);
}

void bench_pages(bench *run) {
    static const uint32_t counts[] = {10, 100, 1000, 10000, 70000};
    for (size_t i = 0; i < sizeof counts / sizeof *counts; i++) {
        time_replacing(run, counts[i]);
        if (counts[i] >= 1000) { // fewer are added too fast for the clock
            time_adding(run, counts[i]);
        }
    }
}
