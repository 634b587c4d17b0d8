// Dry runs: measuring what a workload would hold, at no device memory.
//
// While a dry run is open anywhere in the process, pages are carved without device memory. They
// count in every report and mark. One gets its memory when an allocation on it is first resolved:
// the page whole, a persistent, direct or dedicated slice alone. A launch that is skipped resolves
// nothing and so costs nothing; one that must execute, such as a tuning measurement, runs inside a
// real run of its thread, resolves, and gets what it touches.
//
//   dry run open?   in a real run of this thread?   launch mode
//   no              either                          execute
//   yes             no                              skip
//   yes             yes                             execute
//
// How memory is carved depends on the dry run alone. Both kinds nest. The counters are the only
// state of the library outside its objects, so a process links one copy of it.
#ifndef ACRE_DRY_RUN_H
#define ACRE_DRY_RUN_H

#include <acre/base.h>

typedef enum acre_launch_mode {
    ACRE_LAUNCH_EXECUTE = 0,
    ACRE_LAUNCH_SKIP = 1,
} acre_launch_mode;

ACRE_BEGIN_DECLS

// Opens a dry run for the whole process. Any thread.
ACRE_API void acre_dry_run_begin(void);

// Closes one; without an open one nothing happens. Pages carved meanwhile stay without memory until
// they are resolved. Any thread, not only the one that opened it.
ACRE_API void acre_dry_run_end(void);

// Whether a dry run is open. Any thread.
ACRE_API bool acre_dry_run_is_open(void);

// Opens and closes a real run of the calling thread; closing without an open one does nothing.
ACRE_API void acre_real_run_begin(void);
ACRE_API void acre_real_run_end(void);

// What a runtime does with a launch on the calling thread now.
ACRE_API acre_launch_mode acre_launch_mode_now(void);

ACRE_END_DECLS

#endif
