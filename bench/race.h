// A race: the same requests through each subject, interleaved, repetition by repetition, so that
// what disturbs the machine disturbs all of them.
#ifndef ACRE_BENCH_RACE_H
#define ACRE_BENCH_RACE_H

#include "measure.h"
#include "subject.h"

#define BENCH_PAIRS 100000u // of a pass

// The passes of a turn, one after the other, each with requests of its own.
typedef enum bench_turn {
    BENCH_WARM,   // not timed: the caches hold what the one before needed
    BENCH_TIMED,  // as a whole, for the median
    BENCH_TICKED, // pair by pair, for the tails
    BENCH_TURNS
} bench_turn;

#define BENCH_DRAWN ((size_t)BENCH_TURNS * BENCH_PAIRS)

typedef struct bench_entry {
    const bench_subject *subject;
    void *on;
    void **blocks;
    uint32_t block_count; // those beyond NULL are released at the end
    bench_series median;  // of the time of a pair
    bench_tails tails;
} bench_entry;

typedef struct bench_race {
    bench *run;
    const char *workload;
    char size[16];
    uint32_t live; // how many allocations a subject that is linear has to look at
    bench_entry entries[BENCH_MAX_SUBJECTS];
    int count;
    uint64_t *sizes;   // BENCH_DRAWN
    uint32_t *victims; // BENCH_DRAWN
    uint32_t *ticks;   // BENCH_PAIRS
} bench_race;

typedef bool (*bench_loop_fn)(void *on, const bench_pass *pass);

// Fresh subjects that have all of `abilities` and whose figures the filter lets through, with room
// for `blocks` pointers. `label` is the size in the names. False when nobody is left: then there is
// nothing to end.
bool bench_race_begin(bench_race *race, bench *run, const char *workload, uint32_t label,
                      uint32_t live, uint32_t blocks, unsigned abilities, uint64_t page);

// How many pairs a pass of that subject has.
uint32_t bench_race_pairs(const bench_race *race, const bench_subject *subject);

// One pass of one entry with the requests drawn for that part of a turn. => nanoseconds a pair;
// after BENCH_TICKED the ticks of each pair are in race->ticks.
double bench_race_pass(bench_race *race, bench_entry *entry, bench_loop_fn loop, uint32_t depth,
                       bench_turn turn);

// All repetitions: in each, everybody has a turn, another one first each time. `pick` picks the
// loop of a subject; `draw` changes the requests before each repetition, and may be NULL.
typedef bench_loop_fn (*bench_pick_fn)(const bench_subject *subject);
typedef void (*bench_draw_fn)(bench_race *race, void *context);
void bench_race_run(bench_race *race, bench_pick_fn pick, bench_draw_fn draw, void *context,
                    uint32_t depth);

// Adds the figures, releases what the entries still hold and closes them.
void bench_race_end(bench_race *race);

#endif
