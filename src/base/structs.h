// Parameter structs that grow: the caller's struct_size says what it knows, ours what we know.
#ifndef ACRE_BASE_STRUCTS_H
#define ACRE_BASE_STRUCTS_H

#include <stdbool.h>
#include <stddef.h>
#include <string.h>

// Copies a caller's parameter struct over `own`, which holds our defaults. The shorter of the two
// is read. False when the caller asks for what we do not know: bytes beyond our struct that are
// not zero, or no size at all.
static inline bool acre_struct_read(void *own, size_t own_size, const void *theirs) {
    size_t size;
    memcpy(&size, theirs, sizeof size);
    if (size < sizeof size) {
        return false;
    }
    for (size_t i = own_size; i < size; i++) {
        if (((const unsigned char *)theirs)[i] != 0) {
            return false;
        }
    }
    memcpy(own, theirs, size < own_size ? size : own_size);
    memcpy(own, &own_size, sizeof own_size);
    return true;
}

// Fills a caller's output struct from `own`, as far as the caller knows it; the rest of a longer
// one becomes zero. struct_size stays the caller's.
static inline void acre_struct_write(void *theirs, const void *own, size_t own_size) {
    size_t size;
    memcpy(&size, theirs, sizeof size);
    if (size <= sizeof size) {
        return;
    }
    size_t known = size < own_size ? size : own_size;
    memcpy((char *)theirs + sizeof size, (const char *)own + sizeof size, known - sizeof size);
    if (size > known) {
        memset((char *)theirs + known, 0, size - known);
    }
}

#endif
