// What the parts of the conformance suite share. Each part is a list of tests that get their
// subject as the state.
#ifndef ACRE_TESTS_CONFORMANCE_SUITE_H
#define ACRE_TESTS_CONFORMANCE_SUITE_H

#include "subject.h"

enum {
    TOTAL = 64 << 20,   // bytes that a device of the suite holds at most
    LARGEST = 16 << 20, // of one page
    PAGE = 2 << 20,     // of the sliced pool
};

typedef struct part {
    const struct CMUnitTest *tests;
    size_t count;
    bool maps; // only for subjects that can map
    bool events;
    bool fails; // only for subjects whose calls can be made to fail
} part;

extern const part pages_part;
extern const part bytes_part;
extern const part relocation_part;
extern const part lazy_part;
extern const part mapping_part;
extern const part events_part;
extern const part limits_part;
extern const part failures_part;

// A storage of the subject, or the test fails with what it said.
acre_storage *suite_storage(const subject *about, uint64_t total, uint64_t largest);

// A device of TOTAL and LARGEST bytes, and a manager on it: sliced pages of PAGE bytes for up to a
// quarter of it, direct ones for the rest, on the device's own alignment.
rig suite_rig(const subject *about);

// Bytes that a page of `size` counts on the device.
uint64_t page_bytes(const subject *about, acre_storage *storage, uint64_t size);

acre_resource resolve(acre_manager *manager, const acre_handle *handle);

// An allocation filled with a pattern of its own.
typedef struct filled {
    acre_handle *handle;
    uint64_t size;
    uint32_t seed;
} filled;

// Word `at` of the pattern of `seed`.
uint32_t pattern_word(uint32_t seed, uint64_t at);

void fill_resource(const subject *about, acre_storage *storage, const acre_resource *resource,
                   uint32_t seed);
// Checks that each 32-bit word is the pattern's plus `added`, and the odd bytes at the end.
void check_resource(const subject *about, acre_storage *storage, const acre_resource *resource,
                    uint32_t seed, uint32_t added);

// Reserves and fills, or fails the test.
filled take_filled(const subject *about, rig *r, uint64_t size, uint32_t seed);
void check_filled(const subject *about, rig *r, const filled *allocation);

#endif
