// Sizes as people write them.
#ifndef ACRE_CLI_SIZE_H
#define ACRE_CLI_SIZE_H

#include <stdbool.h>
#include <stdint.h>

// Reads a number of bytes with an optional unit: B, K or KiB, M or MiB, G or GiB, T or TiB.
// => False, with a clause on what is wrong in `*why`.
bool size_parse(const char *text, uint64_t *size, const char **why);

typedef struct size_text {
    char text[16];
} size_text;

// Three digits and a unit, such as "5.12 GiB"; below 1 KiB all digits, such as "640 B".
size_text size_format(uint64_t size);

#endif
