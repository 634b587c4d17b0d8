// Pages: one device allocation each, and its place in the two lists of its pool.
//
//   held   every page, in order of creation
//   idle   pages that emptied, in the order in which their idling counts from. A page that is
//          used again stays listed until it is next looked at, so that taking and freeing the
//          only slice of a page costs no list work.
#ifndef ACRE_POOL_PAGE_H
#define ACRE_POOL_PAGE_H

#include "pool/heap.h"

typedef struct acre_pool acre_pool;

typedef struct acre_page {
    acre_pool *pool;
    uint64_t id;         // the storage's
    uint64_t size;       // bytes
    uint64_t sequence;   // pages are numbered as they are made
    uint64_t idle_since; // the pool's checks when idling began to count
    uint64_t busy_at;    // the pool's checks when it was last taken from idle
    uint32_t first;      // the slice at offset 0
    uint32_t live;       // live slices
    uint32_t guards;     // while > 0 the page stays as it is and its free room is not handed out
    uint32_t next, prev; // held
    uint32_t idle_next, idle_prev;
    bool mapped; // has device memory; else it was carved under a dry run and not resolved since
    bool listed_idle;
    bool in_order; // exact.c: in the order of pages to reclaim
} acre_page;

static inline acre_page *acre_page_at(const acre_heap *heap, uint32_t name) {
    return acre_slab_at(&heap->pages, name);
}

static inline acre_slice *acre_heap_slice(const acre_heap *heap, uint32_t name) {
    return acre_slice_at(&heap->slices, name);
}

#endif
