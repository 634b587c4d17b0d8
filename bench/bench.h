// The benchmark program, as its own files see it.
#ifndef ACRE_BENCH_BENCH_H
#define ACRE_BENCH_BENCH_H

#include <acre/acre.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

// What the command line asked for.
typedef struct bench_options {
    const char *filter; // figures whose name holds it; NULL = all
    FILE *json;         // NULL = none
    int repetitions;
} bench_options;

// Figures in the order they were measured.
typedef struct bench_figure {
    char name[64]; // <workload>.<size>.<who>.<measure>
    double value;
    const char *unit;
} bench_figure;

#define BENCH_MAX_FIGURES 64

typedef struct bench {
    bench_options options;
    bench_figure figures[BENCH_MAX_FIGURES];
    int count;
} bench;

// Whether the filter lets a figure of that name be measured.
bool bench_wants(const bench *run, const char *name);
void bench_figure_add(bench *run, const char *name, double value, const char *unit);

// Nanoseconds of a clock that only goes forward.
double bench_now(void);
double bench_median(double *values, int count);

// A repeatable source of numbers (xorshift64*), and sizes as programs ask for them: a bounded
// Pareto distribution from 256 B to 4 MiB with a mean of about 32 KiB.
typedef struct bench_random {
    uint64_t state;
} bench_random;

uint64_t bench_random_next(bench_random *random);
uint64_t bench_random_size(bench_random *random);

// A manager on a simulated device with one growable sliced pool of `page` bytes a page. Ends the
// program with a sentence when it cannot be made.
typedef struct bench_manager {
    acre_storage *storage;
    acre_manager *manager;
} bench_manager;

bench_manager bench_manager_create(uint64_t page);
void bench_manager_destroy(bench_manager *made);

// Reserves or ends the program with the error.
acre_handle *bench_reserve(acre_manager *manager, uint64_t size);

void bench_churn(bench *run);    // w1, w2, footprint, slice
void bench_orders(bench *run);   // w3, w4, reuse
void bench_refusals(bench *run); // miss

#endif
