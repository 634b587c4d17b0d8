// Heap: what the pools of one manager share: the storage, the records, the alignment, the totals.
#ifndef ACRE_POOL_HEAP_H
#define ACRE_POOL_HEAP_H

#include <acre/event.h>

#include "base/slab.h"
#include "carve/slice.h"
#include "storage/storage.h"

typedef struct acre_heap {
    acre_host *host;
    acre_storage *storage;
    acre_slab slices;
    acre_slab pages;
    uint64_t alignment;
    uint64_t alignment_mask; // alignment - 1 when that is a power of two, else 0
    uint64_t largest_page;   // bytes, a multiple of the alignment
    uint64_t pages_held;
    uint64_t reserved;      // bytes of all pages held
    uint64_t reserved_most; // the most that was
    uint64_t hard_limit;    // never exceeded by `reserved`
    uint64_t reservations;  // counted: allow and add-only ones
    uint64_t page_sequence; // pages made so far
    // Counted reservations before which a request needs nothing but room: no cleanup is due, the
    // layout serves, nobody listens, the alignment is a power of two. One comparison instead of
    // many (acre_manager_update_quiet).
    uint64_t quiet_until;
    bool cleanup_wanted; // a pool that returns pages at once has an idle one
    acre_event_fn event; // NULL = nobody listens to pages
    uint32_t event_mask;
    void *event_context;
} acre_heap;

static inline void acre_heap_want_cleanup(acre_heap *heap) {
    heap->cleanup_wanted = true;
    heap->quiet_until = 0;
}

// A size rounded up to the alignment. size <= largest_page, so that it cannot wrap.
static inline uint64_t acre_heap_padded(const acre_heap *heap, uint64_t size) {
    uint64_t mask = heap->alignment_mask;
    if (acre_likely(mask != 0 || heap->alignment == 1)) {
        return (size + mask) & ~mask;
    }
    return acre_round_up(size, heap->alignment);
}

#endif
