// Capture scopes: room for a recorded graph, and for nobody else.
//
// A graph replays against the addresses that it was recorded with, long after the program let go of
// them. What is reserved while a scope is open comes from pages of the scope's own; room that is
// freed there serves later reservations of the scope, as it does within the recording, and nobody
// else until the scope is destroyed, which is done once the graph is gone. Meanwhile no cleanup, no
// relocation and no shortage of memory touches those pages.
//
//   create   begin      end      begin      end                     destroy
//              |  records |        | records |    replays             |
//              +----------+        +---------+    ...                 v  what is free goes back;
//   serves:    the scope    layout   the scope    layout               live ones when released
//
// While a scope is open
// - every reservation is served by it, the innermost when several are open; those that allow page
//   updates only add pages (ACRE_PAGES_ADD_ONLY); those of no bytes come from where they always do;
// - its pools are those of the layout that was in force when it was made, each with a cap of its
//   own, and one more, which serves persistent and dedicated windows one page per allocation;
// - a cleanup that the program asks for works on all other memory.
// An allocation made before the scope, and freed in it, is not the scope's: a graph that reads it
// needs a guard (acre/guard.h).
//
// All functions are manager operations: the manager's thread calls them.
#ifndef ACRE_CAPTURE_H
#define ACRE_CAPTURE_H

#include <acre/manager.h>
#include <acre/report.h>

typedef struct acre_capture acre_capture;

// The index, in reports, of the `place`-th pool of scope `number`.
#define ACRE_POOL_INDEX_CAPTURE(number, place) (((uint32_t)(number) << 16) | (uint32_t)(place))

typedef struct acre_capture_report {
    size_t struct_size;  // set by ACRE_CAPTURE_REPORT_INIT
    uint32_t number;     // of the scope, from 1; that of a scope that is gone is used again
    uint32_t pool_count; // pools with an index (ACRE_POOL_INDEX_CAPTURE), from place 0; the one for
                         // persistent and dedicated windows is at place 0xffff
    acre_usage usage;    // of all its pools together
    uint64_t pages;
    bool open;
} acre_capture_report;

#if defined(__cplusplus)
#define ACRE_CAPTURE_REPORT_INIT                                                                   \
    (acre_capture_report{sizeof(acre_capture_report), 0, 0, {0, 0, 0, 0}, 0, false})
#else
#define ACRE_CAPTURE_REPORT_INIT ((acre_capture_report){.struct_size = sizeof(acre_capture_report)})
#endif

ACRE_BEGIN_DECLS

// A scope, closed and without pages. OUT_OF_HOST_MEMORY; UNSUPPORTED: 65,534 exist.
ACRE_API ACRE_CHECKED acre_status acre_manager_capture_create(acre_manager *manager,
                                                              acre_capture **capture,
                                                              acre_error *error);

// Opens the scope, also again: what it holds then serves what is recorded next, so graphs that
// share a scope replay in the order of their recording, one at a time. INVALID_ARGUMENT: it is open
// already, or its manager was destroyed.
ACRE_API ACRE_CHECKED acre_status acre_capture_begin(acre_capture *capture, acre_error *error);

// Closes it; scopes close in any order. INVALID_ARGUMENT: it is not open, or its manager was
// destroyed.
ACRE_API ACRE_CHECKED acre_status acre_capture_end(acre_capture *capture, acre_error *error);

// Ends the scope, closing it first if need be: its free pages go back at once, flushed; those with
// live allocations or guards when these are gone. The pointer is gone in any case. NULL is allowed.
// Also after the manager was destroyed, which gave the pages back; the host hooks must live until
// then.
ACRE_API void acre_capture_destroy(acre_capture *capture);

// INVALID_ARGUMENT: its manager was destroyed.
ACRE_API ACRE_CHECKED acre_status acre_capture_get_report(acre_capture *capture,
                                                          acre_capture_report *report,
                                                          acre_error *error);

ACRE_END_DECLS

#endif
