// The benchmark program, as its own files see it: what was asked for, and the figures.
#ifndef ACRE_BENCH_BENCH_H
#define ACRE_BENCH_BENCH_H

#include <acre/acre.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#define BENCH_REPETITIONS       9
#define BENCH_REPETITIONS_QUICK 3
#define BENCH_MAX_TRACES        32
#define BENCH_NAME              96 // bytes of a figure's name, with its final 0

// What the command line asked for.
typedef struct bench_options {
    const char *filter; // figures whose name holds it; NULL = all
    FILE *json;         // NULL = none
    const char *traces[BENCH_MAX_TRACES];
    int trace_count; // 0 = the bundled ones
    bool quick;
    bool no_peers; // neither mimalloc nor jemalloc is loaded
    int repetitions;
} bench_options;

// What the repetitions of one measurement gave.
typedef struct bench_series {
    double values[BENCH_REPETITIONS];
    int count;
} bench_series;

// The median of a series, with its ends.
typedef struct bench_figure {
    char name[BENCH_NAME]; // <workload>.<size>.<who>.<measure>
    const char *unit;
    double value;
    double low;
    double high;
    int samples;
} bench_figure;

// The ends of the distribution of single operations, pass by pass: in the median of the passes one
// of 100 takes as long as p99 says, and the slowest as long as max.
typedef struct bench_tails {
    bench_series p99;
    bench_series p999;
    bench_series max;
} bench_tails;

// Somebody whom this machine lacks.
typedef struct bench_missing {
    const char *who;
    char reason[160];
} bench_missing;

// Figures in the order in which they were measured.
typedef struct bench {
    bench_options options;
    bench_figure *figures;
    size_t count;
    size_t capacity;
    bench_missing missing[4];
    int missing_count;
    double started; // bench_now
} bench;

// ---- figures.c: the figures of a run ----------------------------------------------------------

// Whether the filter lets a figure be measured: that name, or one of its tails.
bool bench_wants(const bench *run, const char *name);
// One more value. A series that is full ends the program: it would be a fault of a workload.
void bench_series_add(bench_series *series, double value);
// Keeps a figure whose name the filter lets through. An empty series gives none; a name that was
// used before ends the program.
void bench_figure_add(bench *run, const char *name, const bench_series *series, const char *unit);
// The same for something that is the same however often it is measured.
void bench_figure_fixed(bench *run, const char *name, double value, const char *unit);
// One more pass, whose times in ticks (measure.h) are sorted here.
void bench_tails_add(bench_tails *tails, uint32_t *ticks, uint32_t count);
// As figures <name>.p99, <name>.p999 and <name>.max.
void bench_tails_figures(bench *run, const char *name, const bench_tails *tails);
// NULL when it was not measured.
const bench_figure *bench_figure_find(const bench *run, const char *name);
// "1k", "70k", "16": how a size stands in a name.
const char *bench_size_name(uint32_t size, char text[16]);
// <workload>.<size>.<who>.<measure>
const char *bench_name(char text[BENCH_NAME], const char *workload, const char *size,
                       const char *who, const char *measure);
// Tells on stderr what is being measured, and for how long the program has run.
void bench_progress(const bench *run, const char *workload, const char *size);

// ---- table.c, json.c: what is done with them ----------------------------------------------------

extern const char bench_commit[]; // what was built; the build writes it (commit.cmake)
void bench_table(const bench *run);
// False when the file cannot be written; errno says why.
bool bench_write_json(const bench *run);

// ---- the workloads, each file a few -------------------------------------------------------------

void bench_timer(bench *run);      // timer, interruptions
void bench_churn(bench *run);      // w1, w2
void bench_orders(bench *run);     // w3, w4
void bench_refusals(bench *run);   // miss
void bench_reuse(bench *run);      // reuse
void bench_space(bench *run);      // footprint, slice
void bench_pages(bench *run);      // pages
void bench_handles(bench *run);    // release
void bench_threads(bench *run);    // threads
void bench_reports(bench *run);    // report-pools, report-live
void bench_relocation(bench *run); // relocation
void bench_replay(bench *run);     // replay

#endif
