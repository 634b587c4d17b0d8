// What to know of a machine before reading tails.
//
//   timer          two readings of the timer of single operations: every tail includes one
//   interruptions  how often the machine itself takes a microsecond and more, and how long: an
//                  operation of 100 ns meets one in 1,000 when there are 10 in a millisecond
#include "measure.h"
#include "race.h"

#define WATCHED 2e7 // ns
#define GAP     1000

static void time_timer(bench *run, const char *name) {
    bench_series series = {0};
    for (int i = 0; i < run->options.repetitions; i++) {
        uint64_t start = bench_ticks();
        uint64_t last = start;
        for (uint32_t j = 0; j < BENCH_PAIRS; j++) {
            last = bench_ticks();
        }
        bench_series_add(&series, (double)(last - start) * bench_tick_ns() / BENCH_PAIRS);
    }
    bench_figure_add(run, name, &series, "ns");
}

static void count_interruptions(bench *run, const char *rate_name, const char *length_name) {
    static uint32_t gaps[BENCH_PAIRS];
    bench_series rate = {0};
    bench_series length = {0};
    double tick = bench_tick_ns();
    for (int i = 0; i < run->options.repetitions; i++) {
        uint32_t count = 0;
        uint64_t start = bench_ticks();
        uint64_t end = start + (uint64_t)(WATCHED / tick);
        for (uint64_t before = start, now = start; now < end && count < BENCH_PAIRS; before = now) {
            now = bench_ticks();
            uint32_t gap = bench_ticks_between(before, now);
            if (gap * tick > GAP) {
                gaps[count++] = gap;
            }
        }
        bench_series_add(&rate, count / (WATCHED / 1e6));
        if (count > 0) {
            uint32_t middle = count / 2;
            bench_sort_ticks(gaps, count);
            bench_series_add(&length, gaps[middle] * tick);
        }
    }
    bench_figure_add(run, rate_name, &rate, "1/ms");
    bench_figure_add(run, length_name, &length, "ns");
}

void bench_timer(bench *run) {
    static const char *const names[] = {"timer.1.clock.ns", "interruptions.1.clock.rate",
                                        "interruptions.1.clock.ns"};
    if (bench_wants(run, names[0])) {
        time_timer(run, names[0]);
    }
    if (bench_wants(run, names[1]) || bench_wants(run, names[2])) {
        count_interruptions(run, names[1], names[2]);
    }
}
