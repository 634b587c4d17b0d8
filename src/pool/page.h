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

// A page's place in a list, by name; 0 = none.
typedef struct acre_page_links {
    uint32_t next, prev;
} acre_page_links;

typedef struct acre_page_list {
    uint32_t first, last;
} acre_page_list;

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
    acre_page_links held;
    acre_page_links idle;
    bool mapped; // has device memory; else it was carved under a dry run and not resolved since
    bool listed_idle;
    bool in_order; // exact.c: in the order of pages to reclaim
} acre_page;

static inline acre_page *acre_page_at(const acre_heap *heap, uint32_t name) {
    return acre_slab_at(&heap->pages, name);
}

// The lists differ in which links of a page they use: ACRE_PAGE_HELD or ACRE_PAGE_IDLE.
#define ACRE_PAGE_HELD offsetof(acre_page, held)
#define ACRE_PAGE_IDLE offsetof(acre_page, idle)

static inline acre_page_links *acre_page_links_of(const acre_heap *heap, uint32_t name,
                                                  size_t which) {
    return (acre_page_links *)(void *)((char *)acre_page_at(heap, name) + which);
}

static inline void acre_page_list_append(acre_page_list *list, const acre_heap *heap, uint32_t name,
                                         size_t which) {
    *acre_page_links_of(heap, name, which) = (acre_page_links){0, list->last};
    if (list->last != 0) {
        acre_page_links_of(heap, list->last, which)->next = name;
    } else {
        list->first = name;
    }
    list->last = name;
}

static inline void acre_page_list_unlink(acre_page_list *list, const acre_heap *heap, uint32_t name,
                                         size_t which) {
    const acre_page_links *links = acre_page_links_of(heap, name, which);
    if (links->prev != 0) {
        acre_page_links_of(heap, links->prev, which)->next = links->next;
    } else {
        list->first = links->next;
    }
    if (links->next != 0) {
        acre_page_links_of(heap, links->next, which)->prev = links->prev;
    } else {
        list->last = links->prev;
    }
}

static inline acre_slice *acre_heap_slice(const acre_heap *heap, uint32_t name) {
    return acre_slice_at(&heap->slices, name);
}

#endif
