// How many pages of each size a pool holds, live or free: for "does it have this size already?".
#ifndef ACRE_POOL_SIZE_COUNTS_H
#define ACRE_POOL_SIZE_COUNTS_H

#include "base/host.h"

typedef struct acre_size_count {
    uint64_t size; // 0 = empty place
    uint64_t count;
} acre_size_count;

// Open addressing with linear probing; at most half full.
typedef struct acre_size_counts {
    acre_host *host;
    acre_size_count *places;
    uint32_t capacity; // a power of two, or 0
    uint32_t used;     // places with a size, whatever its count
} acre_size_counts;

void acre_size_counts_destroy(acre_size_counts *counts);

// Makes the next acre_size_counts_add succeed. => false: no host memory.
bool acre_size_counts_prepare(acre_size_counts *counts);
void acre_size_counts_add(acre_size_counts *counts, uint64_t size);
void acre_size_counts_remove(acre_size_counts *counts, uint64_t size);
bool acre_size_counts_has(const acre_size_counts *counts, uint64_t size);

#endif
