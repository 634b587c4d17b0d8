// Clocks, repeatable numbers, and the program's end when something cannot be.
#include "measure.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

static double read_clock(clockid_t clock) {
    struct timespec now;
    clock_gettime(clock, &now);
    return (double)now.tv_sec * 1e9 + (double)now.tv_nsec;
}

double bench_now(void) {
    return read_clock(CLOCK_MONOTONIC);
}

double bench_thread_now(void) {
    return read_clock(CLOCK_THREAD_CPUTIME_ID);
}

double bench_process_now(void) {
    return read_clock(CLOCK_PROCESS_CPUTIME_ID);
}

double bench_tick_ns(void) {
    static double tick;
    if (tick == 0) {
        double start = bench_now();
        uint64_t first = bench_ticks();
        double end = start;
        while (end - start < 2e7) {
            end = bench_now();
        }
        tick = (end - start) / (double)(bench_ticks() - first);
    }
    return tick;
}

static int compare_values(const void *a, const void *b) {
    double x = *(const double *)a;
    double y = *(const double *)b;
    return (x > y) - (x < y);
}

static int compare_ticks(const void *a, const void *b) {
    uint32_t x = *(const uint32_t *)a;
    uint32_t y = *(const uint32_t *)b;
    return (x > y) - (x < y);
}

void bench_sort(double *values, size_t count) {
    qsort(values, count, sizeof *values, compare_values);
}

void bench_sort_ticks(uint32_t *ticks, size_t count) {
    qsort(ticks, count, sizeof *ticks, compare_ticks);
}

uint64_t bench_random_next(bench_random *random) {
    random->state ^= random->state >> 12;
    random->state ^= random->state << 25;
    random->state ^= random->state >> 27;
    return random->state * UINT64_C(0x2545f4914f6cdd1d);
}

uint32_t bench_random_below(bench_random *random, uint32_t bound) {
    return (uint32_t)(((bench_random_next(random) >> 32) * bound) >> 32);
}

// The inverse of the distribution function of a Pareto distribution with exponent 1/2, cut at both
// ends: x = low / (1 - u * (1 - sqrt(low / high)))^2, where sqrt(256 B / 4 MiB) is 1/128.
uint64_t bench_random_size(bench_random *random) {
    double u = (double)(bench_random_next(random) >> 11) * 0x1p-53;
    double root = 1 - u * (1 - 1.0 / 128);
    return (uint64_t)(256 / (root * root));
}

void *bench_alloc(size_t count, size_t size) {
    void *memory = calloc(count > 0 ? count : 1, size);
    if (memory == NULL) {
        bench_fail("no host memory for %zu elements of %zu bytes", count, size);
    }
    return memory;
}

void bench_fail(const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    fputs("acre-bench: ", stderr);
    vfprintf(stderr, format, arguments);
    fputc('\n', stderr);
    va_end(arguments);
    exit(1);
}
