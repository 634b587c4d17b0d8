#include "pattern.h"

#include <string.h>

enum {
    NUMBER_BITS = 40,
    WORD = 8,
    BLOCK = 4096, // copied over and over: it stays in the nearest cache
};

static uint64_t check_of(uint64_t number) {
    return (number * UINT64_C(0x9e3779b97f4a7c15) + UINT64_C(0x2545f4914f6cdd1d)) >> NUMBER_BITS;
}

static uint64_t word_of(uint64_t number) {
    return number | check_of(number) << NUMBER_BITS;
}

void acre_pattern_fill(void *bytes, uint64_t size, uint64_t number) {
    unsigned char *to = bytes;
    uint64_t word = word_of(number);
    uint64_t first = size < BLOCK ? size : BLOCK;
    for (uint64_t done = 0; done < first; done += WORD)
        memcpy(to + done, &word, first - done < WORD ? first - done : WORD);
    for (uint64_t done = first; done < size; done += BLOCK)
        memcpy(to + done, to, size - done < BLOCK ? size - done : BLOCK);
}

uint64_t acre_pattern_check(const void *bytes, uint64_t size, uint64_t number) {
    const unsigned char *from = bytes;
    unsigned char word[WORD];
    uint64_t value = word_of(number);
    memcpy(word, &value, WORD);
    // The first word is right, and every later byte is like the one a word before it.
    if (size <= WORD ? memcmp(from, word, size) == 0
                     : memcmp(from, word, WORD) == 0 && memcmp(from, from + WORD, size - WORD) == 0)
        return size;
    uint64_t offset = 0;
    while (from[offset] == word[offset % WORD])
        offset++;
    return offset;
}

uint64_t acre_pattern_owner(const void *bytes, uint64_t size, uint64_t offset) {
    if (size < WORD)
        return 0;
    if (offset > size - WORD)
        offset = size - WORD;
    uint64_t word;
    memcpy(&word, (const unsigned char *)bytes + offset, WORD);
    for (int phase = 0; phase < WORD; phase++) {
        uint64_t number = word & ((UINT64_C(1) << NUMBER_BITS) - 1);
        if (number != 0 && word == word_of(number))
            return number;
        word = word << 8 | word >> 56;
    }
    return 0;
}
