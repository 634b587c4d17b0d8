// Clocks, repeatable numbers and the values between which a measurement lies.
#ifndef ACRE_BENCH_MEASURE_H
#define ACRE_BENCH_MEASURE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <time.h>

// Nanoseconds of a clock that only goes forward.
double bench_now(void);
// Nanoseconds of processor time that the calling thread, or all threads, have used: what others did
// on the core meanwhile is not in it.
double bench_thread_now(void);
double bench_process_now(void);

// A counter that is cheap to read, for single operations: its unit is bench_tick_ns() nanoseconds.
static inline uint64_t bench_ticks(void) {
#if defined(__x86_64__)
    return __builtin_ia32_rdtsc();
#else
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * UINT64_C(1000000000) + (uint64_t)now.tv_nsec;
#endif
}

// What passed between two readings, at most what 32 bits hold.
static inline uint32_t bench_ticks_between(uint64_t before, uint64_t after) {
    return after - before < UINT32_MAX ? (uint32_t)(after - before) : UINT32_MAX;
}

// Nanoseconds of a tick, measured against the clock at the first call.
double bench_tick_ns(void);

void bench_sort(double *values, size_t count);
void bench_sort_ticks(uint32_t *ticks, size_t count);

// A repeatable source of numbers (xorshift64*), and sizes as programs ask for them: a bounded
// Pareto distribution from 256 B to 4 MiB with a mean of about 32 KiB.
typedef struct bench_random {
    uint64_t state;
} bench_random;

#define BENCH_RANDOM_INIT ((bench_random){UINT64_C(0x9e3779b97f4a7c15)})

uint64_t bench_random_next(bench_random *random);
uint32_t bench_random_below(bench_random *random, uint32_t bound); // 0 for a bound of 0
uint64_t bench_random_size(bench_random *random);

// Zeroed host memory for the bench's own arrays, or the end of the program.
void *bench_alloc(size_t count, size_t size);
// Ends the program with a sentence.
_Noreturn void bench_fail(const char *format, ...) __attribute__((format(printf, 1, 2)));

#endif
