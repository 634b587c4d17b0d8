// Free room of the model: what the gaps between its allocations hold.
#include "model/reference.h"

// Whether [start, end) has `size` bytes at a multiple of `step`.
static bool gap_fits(uint64_t start, uint64_t end, uint64_t size, uint64_t step) {
    uint64_t skip = start % step == 0 ? 0 : step - start % step;
    return skip <= end - start && size <= end - start - skip;
}

static bool page_fits(const reference *ref, const model_page *page, uint64_t size, uint64_t step) {
    uint64_t start = 0;
    for (int at = page->first; at >= 0; at = ref->allocations[at].next) {
        if (gap_fits(start, ref->allocations[at].offset, size, step)) {
            return true;
        }
        start = ref->allocations[at].offset + ref->allocations[at].run;
    }
    return gap_fits(start, page->size, size, step);
}

uint64_t reference_room(const reference *ref, uint32_t pool, uint64_t padded, uint64_t step) {
    bool cuts = model_cuts(&ref->pools[pool]);
    bool exclusive = ref->pools[pool].options.kind == ACRE_POOL_EXCLUSIVE;
    if (cuts && padded > ref->pools[pool].page_size) {
        return 0; // also where a page is larger than those carved now
    }
    uint64_t best = 0;
    for (int i = 0; i < ref->page_end; i++) {
        const model_page *page = &ref->pages[i];
        if (!page->used || page->pool != pool || page->guards > 0) {
            continue;
        }
        if (cuts) {
            if (page_fits(ref, page, padded, step)) {
                return page->size;
            }
        } else if (page->live == 0 && page->size >= padded && (exclusive || page->size == padded) &&
                   (best == 0 || page->size < best)) {
            best = page->size;
        }
    }
    return best;
}

void reference_free_room(const reference *ref, uint32_t pool, bool withheld, uint64_t *pieces,
                         uint64_t *bytes, uint64_t *largest) {
    *pieces = *bytes = *largest = 0;
    for (int i = 0; i < ref->page_end; i++) {
        const model_page *page = &ref->pages[i];
        if (!page->used || page->pool != pool || (page->guards > 0 && !withheld)) {
            continue;
        }
        uint64_t start = 0;
        for (int at = page->first;; at = ref->allocations[at].next) {
            uint64_t end = at >= 0 ? ref->allocations[at].offset : page->size;
            if (end > start) {
                (*pieces)++;
                *bytes += end - start;
                *largest = end - start > *largest ? end - start : *largest;
            }
            if (at < 0) {
                break;
            }
            start = end + ref->allocations[at].run;
        }
    }
}

// ---- what lives on a page ------------------------------------------------------------------

int reference_new_allocation(reference *ref) {
    int index = 0;
    while (ref->allocations[index].used) {
        index++;
    }
    ref->allocation_end = index >= ref->allocation_end ? index + 1 : ref->allocation_end;
    return index;
}

void reference_trim(reference *ref) {
    while (ref->allocation_end > 0 && !ref->allocations[ref->allocation_end - 1].used) {
        ref->allocation_end--;
    }
}

void reference_link(reference *ref, int index) {
    model_page *page = &ref->pages[ref->allocations[index].page];
    int *link = &page->first;
    while (*link >= 0 && ref->allocations[*link].offset < ref->allocations[index].offset) {
        link = &ref->allocations[*link].next;
    }
    ref->allocations[index].next = *link;
    *link = index;
    page->live++;
}

void reference_unlink(reference *ref, int index) {
    model_page *page = &ref->pages[ref->allocations[index].page];
    int *link = &page->first;
    while (*link != index) {
        link = &ref->allocations[*link].next;
    }
    *link = ref->allocations[index].next;
    page->live--;
}
