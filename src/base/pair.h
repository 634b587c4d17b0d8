// Two values side by side, written as one.
//
// What limits a hot path that finds its records in the cache is how many stores wait for it, not
// how many instructions there are: two counters or names that lie together are one store here.
// Whoever reads one of them alone soon after does not wait; who reads both as one must not have
// written them apart just before.
#ifndef ACRE_BASE_PAIR_H
#define ACRE_BASE_PAIR_H

#include <stdint.h>
#include <string.h>

// Stores two words at `at`.
static inline void acre_store_words(void *at, uint32_t first, uint32_t second) {
#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
    uint64_t both = first | (uint64_t)second << 32;
#else
    uint64_t both = (uint64_t)first << 32 | second;
#endif
    memcpy(at, &both, sizeof both);
}

typedef uint64_t acre_pair __attribute__((vector_size(16)));

static inline void acre_store_pair(void *at, uint64_t first, uint64_t second) {
    acre_pair both = {first, second};
    memcpy(at, &both, sizeof both);
}

static inline void acre_add_pair(void *at, uint64_t first, uint64_t second) {
    acre_pair both;
    memcpy(&both, at, sizeof both);
    both += (acre_pair){first, second};
    memcpy(at, &both, sizeof both);
}

static inline void acre_subtract_pair(void *at, uint64_t first, uint64_t second) {
    acre_pair both;
    memcpy(&both, at, sizeof both);
    both -= (acre_pair){first, second};
    memcpy(at, &both, sizeof both);
}

#endif
