// Random numbers of the model tests: the same sequence for the same seed on every machine.
#ifndef ACRE_TESTS_MODEL_DICE_H
#define ACRE_TESTS_MODEL_DICE_H

#include <stdbool.h>
#include <stdint.h>

typedef struct model_dice {
    uint64_t state;
} model_dice;

// splitmix64
static inline uint64_t dice_roll(model_dice *dice) {
    uint64_t z = dice->state += UINT64_C(0x9e3779b97f4a7c15);
    z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
    return z ^ z >> 31;
}

// => a number below `bound`, which is at least 1
static inline uint64_t dice_below(model_dice *dice, uint64_t bound) {
    return dice_roll(dice) % bound;
}

static inline bool dice_chance(model_dice *dice, unsigned percent) {
    return dice_below(dice, 100) < percent;
}

// => one of the numbers
#define DICE_PICK(dice, ...)                                                                       \
    ((const uint64_t[]){__VA_ARGS__}[dice_below(dice, sizeof((const uint64_t[]){__VA_ARGS__}) /    \
                                                          sizeof(uint64_t))])

#endif
