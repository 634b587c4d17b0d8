// Layouts: the ordered list of pools a manager routes to. The first pool that accepts a size
// serves it.
#ifndef ACRE_LAYOUT_H
#define ACRE_LAYOUT_H

#include <acre/status.h>

typedef enum acre_pool_kind {
    ACRE_POOL_SLICED = 0,     // pages carved into slices; free neighbours merge
    ACRE_POOL_EXCLUSIVE = 1,  // one page per allocation, reused for what fits
    ACRE_POOL_DIRECT = 2,     // one device allocation per request, reused for the exact size
    ACRE_POOL_PERSISTENT = 3, // reports only: weights, by exact size
    ACRE_POOL_DEDICATED = 4,  // reports only: a new device allocation per request
    ACRE_POOL_ADAPTIVE = 5,   // slices on pages sized to the requests that outgrew the last ones
} acre_pool_kind;

// One pool of an explicit layout. Sizes are bytes and rounded up to the alignment; ACRE_UNSET
// leaves an option at its default; 0 is a value.
typedef struct acre_pool_options {
    size_t struct_size; // set by the macros below
    acre_pool_kind kind;

    // Sliced: bytes of a page, at least 1. Adaptive: bytes of the smallest page, by default
    // 2 MiB; its other options stay unset.
    uint64_t page_size;
    // Sliced: the largest request it accepts. Default: page_size. A pool that has no cap and is
    // not strict also accepts a request within 20 % of page_size.
    uint64_t max_slice_size;
    // Exclusive: the largest request it accepts. Default: the manager's largest page.
    uint64_t max_alloc_size;
    // Sliced, exclusive: cap on the sum of page bytes. Default: none, the pool grows. A cap
    // smaller than a page shrinks the page to it; below the alignment there are no pages.
    uint64_t max_pool_size;
    // Sliced, exclusive: in counted reservations; a page found free 5 times in a row, looked at
    // every dealloc_period / 5, goes back. Default: only an explicit cleanup returns pages.
    uint64_t dealloc_period;
    // Direct: a watermark in bytes. A new allocation that would pass it first gives free ones
    // back, just enough. Default: none.
    uint64_t reclaim_at;
    // Sliced: accept nothing above max_slice_size.
    bool strict;
    // Sliced: a request over page_size / 4 that needs a page gets one of exactly its size, and
    // when the device refuses a full page, one exact page is tried.
    bool exact_large_slices;
    // The cap is a measurement: what the pool accepts is what it accepts without the cap.
    bool measured;
} acre_pool_options;

#if defined(__cplusplus)
#define ACRE_POOL_OPTIONS_INIT(kind, page, alloc)                                                  \
    (acre_pool_options{sizeof(acre_pool_options), kind, page, ACRE_UNSET, alloc, ACRE_UNSET,       \
                       ACRE_UNSET, ACRE_UNSET, false, false, false})
#else
#define ACRE_POOL_OPTIONS_INIT(pool_kind, page, alloc)                                             \
    ((acre_pool_options){.struct_size = sizeof(acre_pool_options),                                 \
                         .kind = (pool_kind),                                                      \
                         .page_size = (page),                                                      \
                         .max_slice_size = ACRE_UNSET,                                             \
                         .max_alloc_size = (alloc),                                                \
                         .max_pool_size = ACRE_UNSET,                                              \
                         .dealloc_period = ACRE_UNSET,                                             \
                         .reclaim_at = ACRE_UNSET})
#endif
#define ACRE_SLICED_POOL(page_bytes)                                                               \
    ACRE_POOL_OPTIONS_INIT(ACRE_POOL_SLICED, page_bytes, ACRE_UNSET)
#define ACRE_EXCLUSIVE_POOL(largest_bytes)                                                         \
    ACRE_POOL_OPTIONS_INIT(ACRE_POOL_EXCLUSIVE, ACRE_UNSET, largest_bytes)
#define ACRE_ADAPTIVE_POOL(smallest_bytes)                                                         \
    ACRE_POOL_OPTIONS_INIT(ACRE_POOL_ADAPTIVE, smallest_bytes, ACRE_UNSET)
#define ACRE_DIRECT_POOL ACRE_POOL_OPTIONS_INIT(ACRE_POOL_DIRECT, ACRE_UNSET, ACRE_UNSET)

typedef enum acre_layout_kind {
    ACRE_LAYOUT_DEFAULT = 0,         // adaptive, or exclusive pages where pages cannot be cut
    ACRE_LAYOUT_SUB_SLICES = 1,      // sliced pools of growing page size, large requests exact
    ACRE_LAYOUT_EXCLUSIVE_PAGES = 2, // one page per allocation, 24 size ranges
    ACRE_LAYOUT_EXPLICIT = 3,        // `pools` below
    ACRE_LAYOUT_ADAPTIVE = 4, // small requests apart, all others share pages that grow with them
} acre_layout_kind;

typedef struct acre_layout {
    size_t struct_size; // set by ACRE_LAYOUT_INIT
    acre_layout_kind kind;
    const acre_pool_options *pools; // explicit layouts: in routing order
    size_t pool_count;
} acre_layout;

#if defined(__cplusplus)
#define ACRE_LAYOUT_INIT(kind) (acre_layout{sizeof(acre_layout), kind, nullptr, 0})
#else
#define ACRE_LAYOUT_INIT(layout_kind)                                                              \
    ((acre_layout){.struct_size = sizeof(acre_layout), .kind = (layout_kind)})
#endif

#endif
