// Which pages to empty, and which stretch of a page: choices over plain data, without a manager.
#ifndef ACRE_RELOCATION_PLAN_H
#define ACRE_RELOCATION_PLAN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

// A page that may be emptied.
typedef struct acre_source_page {
    uint64_t size;     // bytes that go back
    uint64_t live;     // bytes to copy before
    uint64_t sequence; // its age: tells equal ones apart
    uint32_t name;
} acre_source_page;

// Whether element `a` comes before `b`; never both ways.
typedef bool (*acre_before_fn)(const void *a, const void *b);

// Sorts in place, without memory of its own: the C library's qsort may ask for some.
void acre_relocation_sort(void *elements, size_t count, size_t size, acre_before_fn before);

// Orders pages: fewest live bytes to copy per byte given back first, of equal ones the oldest.
void acre_relocation_order(acre_source_page *pages, size_t count);

// A run of a page, in order of offset.
typedef struct acre_source_run {
    uint64_t size; // bytes
    bool live;
    uint32_t name;
} acre_source_run;

// Runs [first, end) of a page.
typedef struct acre_stretch {
    size_t first, end;
    uint64_t live; // bytes of live runs among them
} acre_stretch;

// => whether the runs hold a stretch of at least `size` bytes; `*stretch` is the one with the
// fewest live bytes, the first among equals.
bool acre_relocation_stretch(const acre_source_run *runs, size_t count, uint64_t size,
                             acre_stretch *stretch);

#endif
