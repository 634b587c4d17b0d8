// Patterns in the bytes of host allocations: what an allocation holds says whose it is.
//
// Each allocation is filled with one 8-byte word, over and over: its number, and a check over the
// number. Bytes that do not fit tell an overlap, and the word that is found there tells by whom.
#ifndef ACRE_TRACE_PATTERN_H
#define ACRE_TRACE_PATTERN_H

#include <acre/status.h>

// Numbers are from 1 and below 2^40.
void acre_pattern_fill(void *bytes, uint64_t size, uint64_t number);

// => `size`, or the offset of the first byte that is not the pattern's.
uint64_t acre_pattern_check(const void *bytes, uint64_t size, uint64_t number);

// Whose pattern begins at or runs through `offset`, at any phase. => 0 when none can be told.
uint64_t acre_pattern_owner(const void *bytes, uint64_t size, uint64_t offset);

#endif
