#include "pool/size_counts.h"

#include <string.h>

void acre_size_counts_destroy(acre_size_counts *counts) {
    acre_host_free(counts->host, counts->places, counts->capacity * sizeof *counts->places, 16);
    counts->places = NULL;
    counts->capacity = counts->used = 0;
}

// => the place of a size, or the empty one where it would go.
static acre_size_count *place_of(const acre_size_counts *counts, uint64_t size) {
    uint32_t mask = counts->capacity - 1;
    uint32_t at = (uint32_t)((size * UINT64_C(0x9e3779b97f4a7c15)) >> 32) & mask;
    while (counts->places[at].size != 0 && counts->places[at].size != size) {
        at = (at + 1) & mask;
    }
    return &counts->places[at];
}

bool acre_size_counts_prepare(acre_size_counts *counts) {
    if ((counts->used + 1) * 2 <= counts->capacity) {
        return true;
    }
    // Sizes that no page has any more are left behind, so that the table follows what is held.
    uint32_t kept = 0;
    for (uint32_t i = 0; i < counts->capacity; i++) {
        kept += counts->places[i].count > 0;
    }
    acre_size_counts grown = {counts->host, NULL, 16, kept};
    while (grown.capacity < (kept + 1) * 4) {
        grown.capacity *= 2;
    }
    grown.places = acre_host_alloc_zeroed(counts->host, grown.capacity * sizeof *grown.places, 16);
    if (grown.places == NULL) {
        return false;
    }
    for (uint32_t i = 0; i < counts->capacity; i++) {
        if (counts->places[i].count > 0) {
            *place_of(&grown, counts->places[i].size) = counts->places[i];
        }
    }
    acre_size_counts_destroy(counts);
    *counts = grown;
    return true;
}

void acre_size_counts_add(acre_size_counts *counts, uint64_t size) {
    acre_size_count *place = place_of(counts, size);
    if (place->size == 0) {
        place->size = size;
        counts->used++;
    }
    place->count++;
}

void acre_size_counts_remove(acre_size_counts *counts, uint64_t size) {
    place_of(counts, size)->count--;
}

bool acre_size_counts_has(const acre_size_counts *counts, uint64_t size) {
    return counts->capacity != 0 && place_of(counts, size)->count > 0;
}
