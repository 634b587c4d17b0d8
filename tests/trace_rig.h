// For the tests of replays: streams made from a few lines, storages, and replays of known numbers.
#ifndef ACRE_TESTS_TRACE_RIG_H
#define ACRE_TESTS_TRACE_RIG_H

#include <acre/acre.h>
#include <acre/trace.h>

#include "trace_files.h"

// 7 events. On direct pools at alignment 256 it peaks at 2048 bytes in 3 pages.
extern const char small_trace[];

acre_trace_program *load(const char *path);

// Of lines below the header.
acre_trace_program *program_of(const char *lines);

acre_storage *simulated(uint64_t total);
acre_storage *host(uint64_t total);

// One direct pool at alignment 256: one device allocation per request, of known size.
acre_replay_result replay_direct(const acre_trace_program *program, acre_storage *storage,
                                 const acre_replay_options *options);

typedef struct seen_progress {
    uint64_t last, total;
    unsigned calls;
} seen_progress;

// A progress function whose context is a seen_progress. Asserts that it moves on.
void see_progress(void *context, uint64_t done, uint64_t total);

#endif
