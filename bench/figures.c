// The figures of a run: their names, which of them are wanted, their medians.
#include "bench.h"
#include "measure.h"

#include <stdlib.h>
#include <string.h>

bool bench_wants(const bench *run, const char *name) {
    static const char *const tails[] = {"", ".p99", ".p999", ".max"};
    if (run->options.filter == NULL) {
        return true;
    }
    for (size_t i = 0; i < sizeof tails / sizeof *tails; i++) {
        char whole[BENCH_NAME + 8];
        snprintf(whole, sizeof whole, "%s%s", name, tails[i]);
        if (strstr(whole, run->options.filter) != NULL) {
            return true;
        }
    }
    return false;
}

void bench_series_add(bench_series *series, double value) {
    if (series->count == BENCH_REPETITIONS) {
        bench_fail("a series of more than %d values", BENCH_REPETITIONS);
    }
    series->values[series->count++] = value;
}

static bench_figure *new_figure(bench *run) {
    if (run->count == run->capacity) {
        size_t capacity = run->capacity > 0 ? 2 * run->capacity : 256;
        bench_figure *figures = realloc(run->figures, capacity * sizeof *figures);
        if (figures == NULL) {
            bench_fail("no host memory for %zu figures", capacity);
        }
        run->figures = figures;
        run->capacity = capacity;
    }
    return &run->figures[run->count++];
}

void bench_figure_add(bench *run, const char *name, const bench_series *series, const char *unit) {
    if (series->count == 0 ||
        (run->options.filter != NULL && strstr(name, run->options.filter) == NULL)) {
        return;
    }
    if (bench_figure_find(run, name) != NULL) {
        bench_fail("two figures are called %s", name);
    }
    double values[BENCH_REPETITIONS];
    size_t count = (size_t)series->count;
    memcpy(values, series->values, count * sizeof *values);
    bench_sort(values, count);
    bench_figure *figure = new_figure(run);
    snprintf(figure->name, sizeof figure->name, "%s", name);
    figure->unit = unit;
    figure->value = values[count / 2];
    figure->low = values[0];
    figure->high = values[count - 1];
    figure->samples = series->count;
}

void bench_figure_fixed(bench *run, const char *name, double value, const char *unit) {
    bench_series once = {{value}, 1};
    bench_figure_add(run, name, &once, unit);
}

// A percentile is told only where the pass had operations enough to have seen it.
void bench_tails_add(bench_tails *tails, uint32_t *ticks, uint32_t count) {
    double tick = bench_tick_ns();
    uint32_t slowest_100th = count / 100;
    uint32_t slowest_1000th = count / 1000;
    bench_sort_ticks(ticks, count);
    if (slowest_100th > 0) {
        bench_series_add(&tails->p99, ticks[count - slowest_100th - 1] * tick);
    }
    if (slowest_1000th > 0) {
        bench_series_add(&tails->p999, ticks[count - slowest_1000th - 1] * tick);
    }
    bench_series_add(&tails->max, ticks[count - 1] * tick);
}

void bench_tails_figures(bench *run, const char *name, const bench_tails *tails) {
    const bench_series *series[] = {&tails->p99, &tails->p999, &tails->max};
    static const char *const ends[] = {"p99", "p999", "max"};
    for (size_t i = 0; i < sizeof ends / sizeof *ends; i++) {
        char whole[BENCH_NAME];
        snprintf(whole, sizeof whole, "%s.%s", name, ends[i]);
        bench_figure_add(run, whole, series[i], "ns");
    }
}

const bench_figure *bench_figure_find(const bench *run, const char *name) {
    for (size_t i = 0; i < run->count; i++) {
        if (strcmp(run->figures[i].name, name) == 0) {
            return &run->figures[i];
        }
    }
    return NULL;
}

const char *bench_size_name(uint32_t size, char text[16]) {
    if (size >= 1000 && size % 1000 == 0) {
        snprintf(text, 16, "%uk", size / 1000);
    } else {
        snprintf(text, 16, "%u", size);
    }
    return text;
}

const char *bench_name(char text[BENCH_NAME], const char *workload, const char *size,
                       const char *who, const char *measure) {
    snprintf(text, BENCH_NAME, "%s.%s.%s.%s", workload, size, who, measure);
    return text;
}

void bench_progress(const bench *run, const char *workload, const char *size) {
    fprintf(stderr, "%6.1f s  %s.%s\n", (bench_now() - run->started) / 1e9, workload, size);
}
