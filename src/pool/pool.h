// Pools: pages managed by one policy. The policies differ in four operations; pages, idling and
// counters are common.
#ifndef ACRE_POOL_POOL_H
#define ACRE_POOL_POOL_H

#include <acre/layout.h>
#include <acre/report.h>

#include "carve/carve.h"
#include "pool/page.h"
#include "pool/size_counts.h"

// A page found idle by this many checks in a row goes back.
#define ACRE_IDLE_CHECKS 5u

// Slice records that one reservation may need: a new page's and those of the cut.
#define ACRE_POOL_RECORDS (ACRE_CARVE_RECORDS + 1u)

_Static_assert(offsetof(acre_usage, in_use) == offsetof(acre_usage, allocations) + 8 &&
                   offsetof(acre_usage, allocations) == 0,
               "counted as one");

// What a pool that has no room for a request must make room for.
typedef struct acre_need {
    uint64_t size;   // requested bytes
    uint64_t padded; // rounded up to the alignment
    uint64_t step;   // the offset is a multiple of it
} acre_need;

typedef struct acre_pool_ops {
    // => a live slice of `padded` bytes (or of a whole page that has them) at a multiple of `step`
    // in the room held; none when no free slice of the pool fits. ACRE_POOL_RECORDS were prepared.
    acre_run (*reserve)(acre_pool *pool, uint64_t padded, uint64_t step);
    // The same from a new page, after `reserve` found no room. With `may_return` pages may go
    // back before. => POOL_CAPACITY_EXCEEDED, OUT_OF_MEMORY and what else the storage says; then
    // nothing was added.
    acre_status (*grow)(acre_pool *pool, const acre_need *need, bool may_return, acre_run *run,
                        acre_error *error);
    // Frees a live slice of a page. Never fails.
    void (*release)(acre_pool *pool, acre_page *page, acre_run run);
    // Bytes of the page that `grow` would ask for first.
    uint64_t (*growth)(const acre_pool *pool, const acre_need *need);
} acre_pool_ops;

struct acre_pool {
    const acre_pool_ops *ops;
    acre_heap *heap;
    // Acceptance: size <= accept_max, or near_low <= size <= near_high.
    uint64_t accept_max;
    uint64_t near_low;
    uint64_t near_high;
    // What every operation touches lies within lines: a counter across two would be waited for.
    _Alignas(64) acre_carve carve;
    _Alignas(64) acre_usage usage;
    uint64_t zero_sized; // live allocations without a page
    uint64_t largest_alloc;
    uint64_t pages;
    uint64_t pages_peak;
    uint64_t bytes_peak;
    uint64_t idle_pages; // with no live slice
    uint64_t guarded_pages;
    uint64_t unmapped_pages;   // carved without device memory
    uint64_t checks;           // periodic looks at the idle pages so far
    uint64_t next_check;       // counted reservations at which the next is due
    uint64_t page_size;        // sliced: of a full page, shrunk by the cap
    acre_pool_options options; // as given, rounded up to the alignment
    acre_pool_kind kind;
    uint32_t index;           // as in acre/report.h
    bool returns_at_once;     // idle pages wait for no period and no explicit cleanup
    struct acre_arena *arena; // adaptive: whose current pool it is or was
    acre_page_list held;
    acre_page_list idle;
    acre_size_counts *sizes; // of the pages held; NULL = nobody asks
    uint32_t *order;         // exact.c: idle pages by age, a heap
    uint32_t order_count, order_capacity;
};

// Makes a pool of the options' kind. => INVALID_ARGUMENT names pool and option. It holds no host
// memory until it gets a page.
acre_status acre_pool_init(acre_pool *pool, acre_heap *heap, uint32_t index,
                           const acre_pool_options *options, acre_error *error);

// Gives every page back and frees the pool's host memory, whatever lives there.
void acre_pool_destroy(acre_pool *pool);

static inline bool acre_pool_accepts(const acre_pool *pool, uint64_t size) {
    return size <= pool->accept_max || (size >= pool->near_low && size <= pool->near_high);
}

// Periodic: pages that idled long enough go back, if a check is due. Explicit: all idle pages.
// => how many went back.
uint64_t acre_pool_cleanup(acre_pool *pool, bool explicit_cleanup);

static inline bool acre_pool_is_capped(const acre_pool *pool) {
    return pool->options.max_pool_size != ACRE_UNSET;
}

// Whether a page of `bytes` would pass the cap.
static inline bool acre_pool_over_cap(const acre_pool *pool, uint64_t bytes) {
    uint64_t cap = pool->options.max_pool_size;
    return cap != ACRE_UNSET && (bytes > cap || pool->usage.reserved > cap - bytes);
}

// Counts a guard on a page; with the first one its free room is withheld.
void acre_pool_guard_page(acre_pool *pool, acre_page *page);

// Ends one; with the last one its free room is found again.
void acre_pool_unguard_page(acre_pool *pool, acre_page *page, uint32_t name);

// Puts device memory behind a page that has none. => STORAGE_MAPPING_FAILED with what the storage
// said as the cause; the page stays as it was.
acre_status acre_pool_map_page(acre_pool *pool, acre_page *page, acre_error *error);

// Whether the pool cannot add the page that a request would need.
bool acre_pool_is_full_for(const acre_pool *pool, const acre_need *need);

void acre_pool_report_fill(const acre_pool *pool, acre_pool_report *report);

// ---- for the policies ----------------------------------------------------------------------

// A new page, all free and idle. `smallest` is the least size a slice of it may have.
// => OUT_OF_MEMORY and what else the storage says, OUT_OF_HOST_MEMORY; nothing was added.
acre_status acre_pool_add_page(acre_pool *pool, uint64_t size, uint64_t smallest, uint32_t *page,
                               acre_error *error);

// Gives every page back, whatever lives there; the pool is not used any more.
void acre_pool_drop_pages(acre_pool *pool);

// Gives an idle page back to the storage.
void acre_pool_return_page(acre_pool *pool, uint32_t name);

// => POOL_CAPACITY_EXCEEDED with the numbers.
acre_status acre_pool_refuse_capacity(const acre_pool *pool, uint64_t padded, acre_error *error);

// Makes the free slice that covers a whole page live. => it; none for 0
acre_run acre_pool_occupy(acre_pool *pool, uint32_t slice);

// The reverse: enters the slice that covers a whole page into the index, unless it is guarded.
void acre_pool_free_page(acre_pool *pool, const acre_page *page, acre_run run);

void acre_pool_page_idles(acre_pool *pool, uint32_t name);

// Counts a slice that a page begins or ceases to hold.
static inline void acre_pool_hold(acre_pool *pool, acre_page *page) {
    if (page->live++ == 0) {
        page->busy_at = pool->checks;
        pool->idle_pages--;
    }
}

static inline void acre_pool_let_go(acre_pool *pool, acre_page *page, uint32_t name) {
    if (--page->live == 0) {
        acre_pool_page_idles(pool, name);
    }
}

// ---- for the manager -----------------------------------------------------------------------

// A slice taken makes its page's first run one of its own.
static inline void acre_pool_hold_taken(acre_pool *pool, acre_run run) {
    acre_page *page = acre_page_at(pool->heap, acre_slice_page(run.slice));
    if (acre_unlikely(run.slice->before == 0)) {
        page->first = run.name;
    }
    acre_pool_hold(pool, page);
}

// exact.c: enters an idle page into the order of pages to reclaim, when the pool reclaims.
void acre_exact_page_idles(acre_pool *pool, acre_page *page, uint32_t name);

extern const acre_pool_ops acre_sliced_pool_ops;
extern const acre_pool_ops acre_exclusive_pool_ops;
extern const acre_pool_ops acre_exact_pool_ops;
extern const acre_pool_ops acre_arena_pool_ops;

#endif
