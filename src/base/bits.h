// Integer helpers: bit scans, rounding, and arithmetic that saturates instead of wrapping.
#ifndef ACRE_BASE_BITS_H
#define ACRE_BASE_BITS_H

#include <stdbool.h>
#include <stdint.h>

#define acre_likely(condition)   __builtin_expect(!!(condition), 1)
#define acre_unlikely(condition) __builtin_expect(!!(condition), 0)

// What the caller has seen to: nothing is compiled for the other case.
#define acre_given(condition)                                                                      \
    do {                                                                                           \
        if (!(condition)) {                                                                        \
            __builtin_unreachable();                                                               \
        }                                                                                          \
    } while (0)

// Index of the highest set bit; value > 0.
static inline uint32_t acre_log2(uint64_t value) {
    return 63u ^ (uint32_t)__builtin_clzll(value); // one instruction, where 63 - clz is three
}

// Index of the lowest set bit; value > 0.
static inline uint32_t acre_lowest_bit(uint64_t value) {
    return (uint32_t)__builtin_ctzll(value);
}

static inline bool acre_is_power_of_two(uint64_t value) {
    return value != 0 && (value & (value - 1)) == 0;
}

static inline uint64_t acre_min(uint64_t a, uint64_t b) {
    return a < b ? a : b;
}

static inline uint64_t acre_max(uint64_t a, uint64_t b) {
    return a > b ? a : b;
}

static inline uint64_t acre_add_saturating(uint64_t a, uint64_t b) {
    return a > UINT64_MAX - b ? UINT64_MAX : a + b;
}

static inline uint64_t acre_round_down(uint64_t value, uint64_t alignment) {
    return value - value % alignment;
}

// The next multiple of alignment >= 1, or the last one below 2^64 when that does not exist.
static inline uint64_t acre_round_up(uint64_t value, uint64_t alignment) {
    uint64_t rest = value % alignment;
    if (rest == 0) {
        return value;
    }
    return value > UINT64_MAX - (alignment - rest) ? acre_round_down(UINT64_MAX, alignment)
                                                   : value + (alignment - rest);
}

// The greatest common divisor of a, b >= 1.
static inline uint64_t acre_gcd(uint64_t a, uint64_t b) {
    for (;;) {
        uint64_t rest = a % b;
        if (rest == 0) {
            return b;
        }
        a = b;
        b = rest;
    }
}

// The least common multiple of a, b >= 1; UINT64_MAX when it does not fit.
static inline uint64_t acre_lcm(uint64_t a, uint64_t b) {
    uint64_t factor = b / acre_gcd(a, b);
    return a > UINT64_MAX / factor ? UINT64_MAX : a * factor;
}

#endif
