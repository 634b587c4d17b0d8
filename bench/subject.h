// Who is measured: allocators behind one table, so that a workload treats them all alike.
//
//   acre              one growable sliced pool on the simulated device
//   acre-<layout>     the same manager on a layout
//   model             scan, merge every page first, rebuild the slice list on a split
//   mimalloc, jemalloc   host allocators, for scale
#ifndef ACRE_BENCH_SUBJECT_H
#define ACRE_BENCH_SUBJECT_H

#include "bench.h"

#define BENCH_MAX_SUBJECTS 16

// Pages of the growable sliced pool, and one that holds everything.
#define BENCH_PAGE       (UINT64_C(64) << 20)
#define BENCH_LARGE_PAGE (UINT64_C(1) << 36)

// What a subject has to do with, a bit each.
typedef enum bench_ability {
    BENCH_ANY_SIZE = 1,    // it keeps what it needs when sizes seldom repeat
    BENCH_REFUSES = 2,     // it can be asked without taking more from the system
    BENCH_PLACES = 4,      // it tells where an allocation is
    BENCH_ONE_POOL = 8,    // all that it holds are pages of one size, which can be chosen
    BENCH_PAGE_EACH = 16,  // allocations of just over half a page get a page each
    BENCH_HOST_BYTES = 32, // it tells the size of its books
} bench_ability;

// A run over prepared requests. With `ticks` each pair is timed by itself, which takes longer.
typedef struct bench_pass {
    void **blocks;
    const uint64_t *sizes;
    const uint32_t *victims; // indices of blocks
    uint32_t pairs;
    uint32_t depth; // of a stack
    uint32_t *ticks;
} bench_pass;

typedef struct bench_place {
    uint64_t page;
    uint64_t offset;
    uint64_t end; // with padding
} bench_place;

// Loops return false when a request that should be served was refused.
typedef struct bench_subject {
    const char *who;
    unsigned abilities; // bench_ability
    bool linear;        // its cost grows with what lives: it gets fewer pairs
    int layout;         // Acre's: an acre_layout_kind

    // A fresh one. `page` is the page size of one that has BENCH_ONE_POOL. Ends the program when
    // it cannot be made.
    void *(*open)(const struct bench_subject *subject, uint64_t page);
    void (*close)(void *on); // everything was released

    void *(*reserve)(void *on, uint64_t size);
    void (*release)(void *on, void *block);
    // Reserves on a fresh one. NULL: one by one.
    bool (*fill)(void *on, void **blocks, const uint64_t *sizes, uint32_t count);

    // Releases blocks[victims[i]] and reserves sizes[i] in its stead.
    bool (*replace)(void *on, const bench_pass *pass);
    // Reserves `depth` blocks and releases them in reverse, over and over.
    bool (*stack)(void *on, const bench_pass *pass);
    // Reserves sizes[i] and releases it at once.
    bool (*probe)(void *on, const bench_pass *pass);
    // Asks for sizes[i] within what is held; false when one is served.
    bool (*refuse)(void *on, const bench_pass *pass);
    // One such request that may be served; NULL = refused.
    void *(*reserve_held)(void *on, uint64_t size);

    bool (*place)(void *on, void *block, bench_place *place);
    uint64_t (*host_bytes)(void *on);
} bench_subject;

// All that this machine has, in the order of the table's columns; notes who is missing, and why.
void bench_subjects_find(bench *run);
const bench_subject *const *bench_subjects(int *count);
const bench_subject *bench_subject_named(const char *who); // NULL: missing

extern const bench_subject bench_acre;
extern const bench_subject bench_acre_sub_slices;
extern const bench_subject bench_acre_adaptive;
extern const bench_subject bench_acre_exclusive;
extern const bench_subject bench_acre_direct;
extern const bench_subject bench_model;
// NULL when the library is not here; `reason` says why.
const bench_subject *bench_mimalloc_load(char *reason, size_t size);
const bench_subject *bench_jemalloc_load(char *reason, size_t size);

// Fills a fresh subject, or ends the program.
void bench_fill(const bench_subject *subject, void *on, void **blocks, const uint64_t *sizes,
                uint32_t count);

#endif
