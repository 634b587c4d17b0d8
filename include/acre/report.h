// Reports: counters kept up to date by every operation, so that reading them costs O(pools).
//
// All functions here are manager operations: the manager's thread calls them, and they first take
// in what other threads released.
#ifndef ACRE_REPORT_H
#define ACRE_REPORT_H

#include <acre/layout.h>
#include <acre/manager.h>

// Numbers of the two pools that every manager has beside its layout.
#define ACRE_POOL_INDEX_PERSISTENT UINT32_C(0xfffffffe)
#define ACRE_POOL_INDEX_DEDICATED  UINT32_C(0xffffffff)

typedef struct acre_usage {
    uint64_t allocations; // live
    uint64_t in_use;      // bytes they were asked with
    uint64_t padding;     // bytes that rounding to the alignment added to them
    uint64_t reserved;    // bytes of all pages held
} acre_usage;

typedef struct acre_pool_report {
    size_t struct_size; // set by ACRE_POOL_REPORT_INIT
    acre_pool_kind kind;
    uint64_t page_size; // sliced, adaptive: bytes of a page, as shrunk by a cap; else ACRE_UNSET
    uint64_t max_slice_size; // bytes; what is near page_size may be accepted, too (acre/layout.h)
    uint64_t max_pool_size;  // cap in bytes; ACRE_UNSET = grows
    uint64_t dealloc_period; // counted reservations; ACRE_UNSET = explicit cleanup only
    uint64_t reclaim_at;     // direct: watermark in bytes; ACRE_UNSET = none
    acre_usage usage;
    uint64_t pages;
    uint64_t pages_peak;
    uint64_t bytes_peak;     // the most page bytes held at a time
    uint64_t pages_unmapped; // carved but without device memory
    uint64_t outdated_pages; // adaptive: pages of smaller sizes that wait to empty
    uint64_t largest_alloc;  // requested bytes of the largest allocation so far
    uint64_t free_slices;    // pieces of free room
    uint64_t largest_free;   // bytes of the largest piece
} acre_pool_report;

#if defined(__cplusplus)
#define ACRE_POOL_REPORT_INIT                                                                      \
    (acre_pool_report{sizeof(acre_pool_report),                                                    \
                      ACRE_POOL_SLICED,                                                            \
                      0,                                                                           \
                      0,                                                                           \
                      0,                                                                           \
                      0,                                                                           \
                      0,                                                                           \
                      {0, 0, 0, 0},                                                                \
                      0,                                                                           \
                      0,                                                                           \
                      0,                                                                           \
                      0,                                                                           \
                      0,                                                                           \
                      0,                                                                           \
                      0,                                                                           \
                      0})
#else
#define ACRE_POOL_REPORT_INIT ((acre_pool_report){.struct_size = sizeof(acre_pool_report)})
#endif

typedef struct acre_report {
    size_t struct_size; // set by ACRE_REPORT_INIT
    acre_usage usage;   // of all pools together
    uint64_t pages;
    uint64_t reservations;    // counted: allow and add-only ones
    uint64_t bytes_allocated; // what the storage holds from the device
    uint64_t bytes_peak;      // the most it held
    uint64_t total_memory;    // bytes of the device; 0 = unknown
    uint64_t largest_page;
    uint64_t alignment;
    uint64_t host_bytes; // bytes the manager holds through its host hooks
    uint32_t pool_count; // of the layout, then one for each outdated page size of its arena
    // What relocations (acre/relocation.h) did so far.
    uint64_t moves;
    uint64_t moved_bytes;
    uint64_t pages_given_back;
    uint32_t captures; // scopes (acre/capture.h), those destroyed that still hold pages included
} acre_report;

#if defined(__cplusplus)
#define ACRE_REPORT_INIT                                                                           \
    (acre_report{sizeof(acre_report), {0, 0, 0, 0}, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0})
#else
#define ACRE_REPORT_INIT ((acre_report){.struct_size = sizeof(acre_report)})
#endif

typedef enum acre_report_format {
    ACRE_REPORT_TEXT = 0,       // for people
    ACRE_REPORT_JSON = 1,       // for programs: one object
    ACRE_REPORT_PROMETHEUS = 2, // for monitoring: the text exposition format
} acre_report_format;

// One live allocation, for "what is so large?".
typedef struct acre_allocation_info {
    uint64_t size;       // requested bytes
    uint64_t padding;    // bytes
    uint32_t tag;        // of its reservation; 0 = none
    uint32_t pool_index; // as in acre_manager_pool_report
} acre_allocation_info;

// A run of bytes of a page, for maps and checks.
typedef struct acre_slice_info {
    uint32_t pool_index; // as in acre_manager_pool_report
    uint32_t page;       // names the page within the manager while it is held
    uint64_t page_size;  // sliced, adaptive: bytes of a page, as shrunk by a cap; else ACRE_UNSET
    uint64_t offset;     // bytes into the page
    uint64_t size;       // bytes of the run
    uint64_t requested;  // live: bytes asked for; free: 0
    uint32_t tag;        // live: the tag of its reservation
    bool live;
} acre_slice_info;

typedef void (*acre_slice_fn)(void *context, const acre_slice_info *slice);

ACRE_BEGIN_DECLS

// The whole manager.
ACRE_API void acre_manager_report(acre_manager *manager, acre_report *report);

// One pool: 0 … pool_count - 1, the layout's in routing order, then the outdated ones of an
// adaptive pool, which are sliced; one of the two fixed indices above; or one of a capture scope
// (acre/capture.h).
// INVALID_ARGUMENT for another index.
ACRE_API ACRE_CHECKED acre_status acre_manager_pool_report(acre_manager *manager, uint32_t index,
                                                           acre_pool_report *report,
                                                           acre_error *error);

// Writes the numbers of the manager and of all its pools in `format`; text for people leaves some
// out. Works like snprintf: at most `capacity` bytes with the
// final 0, returns the length of the whole text. `buffer` may be NULL when `capacity` is 0.
ACRE_API size_t acre_manager_report_write(acre_manager *manager, acre_report_format format,
                                          char *buffer, size_t capacity);

// The `capacity` largest live allocations, largest first, ties by tag and pool; returns how many
// were written. Those of zero bytes are left out. `info_size` is the size of one element. Cost: one
// pass over all live allocations, each compared with the `capacity` largest so far.
ACRE_API size_t acre_manager_largest(acre_manager *manager, acre_allocation_info *largest,
                                     size_t info_size, size_t capacity);

// Calls `visit` for every run of every page: pools in routing order, then persistent, dedicated,
// those of capture scopes;
// within a page by offset. `visit` must not call the manager.
ACRE_API void acre_manager_visit_slices(acre_manager *manager, acre_slice_fn visit, void *context);

// Checks the bookkeeping: runs tile their pages, live runs and handles name each other, free
// neighbours are merged and found, counters equal what they count. Cost: one pass over everything.
// INVALID_ARGUMENT names the first thing that does not hold, which is a fault of the library or of
// memory overwritten by the program.
ACRE_API ACRE_CHECKED acre_status acre_manager_check(acre_manager *manager, acre_error *error);

ACRE_END_DECLS

#endif
