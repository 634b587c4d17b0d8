// The timed loops. They are compiled into each subject, around its own two functions, so that no
// indirect call of the bench's stands between the clock and what is measured.
#ifndef ACRE_BENCH_LOOPS_H
#define ACRE_BENCH_LOOPS_H

#include "measure.h"
#include "subject.h"

#define BENCH_LOOP static inline __attribute__((always_inline))

typedef void *(*bench_reserve_fn)(void *on, uint64_t size); // NULL = refused
typedef void (*bench_release_fn)(void *on, void *block);

BENCH_LOOP bool bench_loop_replace(void *on, const bench_pass *pass, uint32_t *ticks,
                                   bench_reserve_fn reserve, bench_release_fn release) {
    uint64_t before = ticks != NULL ? bench_ticks() : 0;
    for (uint32_t i = 0; i < pass->pairs; i++) {
        void **block = &pass->blocks[pass->victims[i]];
        release(on, *block);
        *block = reserve(on, pass->sizes[i]);
        if (*block == NULL) {
            return false;
        }
        if (ticks != NULL) {
            uint64_t now = bench_ticks();
            ticks[i] = bench_ticks_between(before, now);
            before = now;
        }
    }
    return true;
}

// A pair is a reserve and, later, its release; the ticks of both are added.
BENCH_LOOP bool bench_loop_stack(void *on, const bench_pass *pass, uint32_t *ticks,
                                 bench_reserve_fn reserve, bench_release_fn release) {
    for (uint32_t first = 0; first + pass->depth <= pass->pairs; first += pass->depth) {
        uint64_t before = ticks != NULL ? bench_ticks() : 0;
        for (uint32_t i = 0; i < pass->depth; i++) {
            pass->blocks[i] = reserve(on, pass->sizes[i]);
            if (pass->blocks[i] == NULL) {
                return false;
            }
            if (ticks != NULL) {
                uint64_t now = bench_ticks();
                ticks[first + i] = bench_ticks_between(before, now);
                before = now;
            }
        }
        for (uint32_t i = pass->depth; i-- > 0;) {
            release(on, pass->blocks[i]);
            if (ticks != NULL) {
                uint64_t now = bench_ticks();
                ticks[first + i] += bench_ticks_between(before, now);
                before = now;
            }
        }
    }
    return true;
}

BENCH_LOOP bool bench_loop_probe(void *on, const bench_pass *pass, uint32_t *ticks,
                                 bench_reserve_fn reserve, bench_release_fn release) {
    uint64_t before = ticks != NULL ? bench_ticks() : 0;
    for (uint32_t i = 0; i < pass->pairs; i++) {
        void *block = reserve(on, pass->sizes[i]);
        if (block == NULL) {
            return false;
        }
        release(on, block);
        if (ticks != NULL) {
            uint64_t now = bench_ticks();
            ticks[i] = bench_ticks_between(before, now);
            before = now;
        }
    }
    return true;
}

BENCH_LOOP bool bench_loop_refuse(void *on, const bench_pass *pass, uint32_t *ticks,
                                  bench_reserve_fn reserve_held) {
    uint64_t before = ticks != NULL ? bench_ticks() : 0;
    for (uint32_t i = 0; i < pass->pairs; i++) {
        if (reserve_held(on, pass->sizes[i]) != NULL) {
            return false;
        }
        if (ticks != NULL) {
            uint64_t now = bench_ticks();
            ticks[i] = bench_ticks_between(before, now);
            before = now;
        }
    }
    return true;
}

// Functions <prefix>_replace, _stack and _probe. Whether there are ticks is known when a loop is
// compiled: without them nothing of the timer is left in it.
#define BENCH_DEFINE_LOOPS(prefix, reserve, release)                                               \
    static bool prefix##_replace(void *on, const bench_pass *pass) {                               \
        return pass->ticks == NULL ? bench_loop_replace(on, pass, NULL, reserve, release)          \
                                   : bench_loop_replace(on, pass, pass->ticks, reserve, release);  \
    }                                                                                              \
    static bool prefix##_stack(void *on, const bench_pass *pass) {                                 \
        return pass->ticks == NULL ? bench_loop_stack(on, pass, NULL, reserve, release)            \
                                   : bench_loop_stack(on, pass, pass->ticks, reserve, release);    \
    }                                                                                              \
    static bool prefix##_probe(void *on, const bench_pass *pass) {                                 \
        return pass->ticks == NULL ? bench_loop_probe(on, pass, NULL, reserve, release)            \
                                   : bench_loop_probe(on, pass, pass->ticks, reserve, release);    \
    }

#define BENCH_DEFINE_REFUSALS(prefix, reserve_held)                                                \
    static bool prefix##_refuse(void *on, const bench_pass *pass) {                                \
        return pass->ticks == NULL ? bench_loop_refuse(on, pass, NULL, reserve_held)               \
                                   : bench_loop_refuse(on, pass, pass->ticks, reserve_held);       \
    }

#endif
