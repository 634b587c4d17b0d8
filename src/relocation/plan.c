#include "relocation/plan.h"

// ---- order ---------------------------------------------------------------------------------

static void swap(unsigned char *a, unsigned char *b, size_t size) {
    for (size_t i = 0; i < size; i++) {
        unsigned char kept = a[i];
        a[i] = b[i];
        b[i] = kept;
    }
}

// Lets the element at `at` sink in a heap whose first is the one that comes last.
static void sink(unsigned char *elements, size_t at, size_t count, size_t size,
                 acre_before_fn before) {
    for (;;) {
        size_t child = 2 * at + 1;
        if (child >= count) {
            return;
        }
        if (child + 1 < count && before(elements + child * size, elements + (child + 1) * size)) {
            child++;
        }
        if (!before(elements + at * size, elements + child * size)) {
            return;
        }
        swap(elements + at * size, elements + child * size, size);
        at = child;
    }
}

void acre_relocation_sort(void *elements, size_t count, size_t size, acre_before_fn before) {
    unsigned char *bytes = elements;
    for (size_t at = count / 2; at-- > 0;) {
        sink(bytes, at, count, size, before);
    }
    for (size_t last = count; last-- > 1;) {
        swap(bytes, bytes + last * size, size);
        sink(bytes, 0, last, size, before);
    }
}

__extension__ typedef unsigned __int128 wide;

static bool costs_less(const void *left, const void *right) {
    const acre_source_page *a = left;
    const acre_source_page *b = right;
    wide one = (wide)a->live * b->size; // live / size, compared crosswise
    wide two = (wide)b->live * a->size;
    return one != two ? one < two : a->sequence < b->sequence;
}

void acre_relocation_order(acre_source_page *pages, size_t count) {
    acre_relocation_sort(pages, count, sizeof *pages, costs_less);
}

// ---- stretches -----------------------------------------------------------------------------

bool acre_relocation_stretch(const acre_source_run *runs, size_t count, uint64_t size,
                             acre_stretch *stretch) {
    bool found = false;
    uint64_t bytes = 0; // of runs [first, end)
    uint64_t live = 0;
    size_t first = 0;
    for (size_t end = 0; end < count; end++) {
        bytes += runs[end].size;
        live += runs[end].live ? runs[end].size : 0;
        while (bytes - runs[first].size >= size) { // without its first run it is still enough
            bytes -= runs[first].size;
            live -= runs[first].live ? runs[first].size : 0;
            first++;
        }
        if (bytes >= size && (!found || live < stretch->live)) {
            found = true;
            *stretch = (acre_stretch){first, end + 1, live};
        }
    }
    return found;
}
