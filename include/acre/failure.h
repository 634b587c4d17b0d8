// Failures: what went wrong, why, and which bytes no longer hold what the program thinks.
//
// A failed launch leaves buffers unwritten. A program that tells the manager so (taint) can ask,
// before it reads a buffer, whether its bytes are sound, and let the reader fail with a failure
// that the first one caused, instead of computing on garbage:
//
//   copy failed <---- kernel not launched <---- result not read       each knows its causes
//        |                    |
//   claims bytes of      claims bytes of
//   the target           the output
//
// Failures and their causes form a graph without cycles: a failure's causes are given when it is
// made and never change. There is no object for the graph as a whole; every failure keeps its
// causes alive, and goes when no range, no later failure and no caller holds it. Failures know no
// manager: they may be made before one, shared by several, and outlive them all.
#ifndef ACRE_FAILURE_H
#define ACRE_FAILURE_H

#include <acre/handle.h>
#include <acre/host.h>
#include <acre/manager.h>
#include <acre/status.h>

typedef struct acre_failure acre_failure;

#define ACRE_FAILURE_MESSAGE_MAX 65535   // bytes of a message, without the final 0
#define ACRE_FAILURE_CAUSES_MAX  1048576 // causes of one failure; a chain has no limit

typedef struct acre_failure_params {
    size_t struct_size;          // set by ACRE_FAILURE_PARAMS_INIT
    const char *message;         // UTF-8, copied; may be empty, not NULL
    int64_t code;                // the caller's own, such as a driver's
    acre_failure *const *causes; // retained; may be NULL when there are none
    size_t cause_count;
} acre_failure_params;

#if defined(__cplusplus)
#define ACRE_FAILURE_PARAMS_INIT                                                                   \
    (acre_failure_params{sizeof(acre_failure_params), nullptr, 0, nullptr, 0})
#else
#define ACRE_FAILURE_PARAMS_INIT ((acre_failure_params){.struct_size = sizeof(acre_failure_params)})
#endif

ACRE_BEGIN_DECLS

// ---- failures: any thread ------------------------------------------------------------------

// A failure with one reference, the caller's. `hooks` may be NULL and are copied; their context
// must outlive the failure, and their functions be callable on every thread that makes, prints or
// releases it.
// INVALID_ARGUMENT: no message, a NULL cause, or more than the limits above; UNSUPPORTED: a struct
// of a later version; OUT_OF_HOST_MEMORY. No reference is taken on an error.
ACRE_API ACRE_CHECKED acre_status acre_failure_create(const acre_failure_params *params,
                                                      const acre_host_hooks *hooks,
                                                      acre_failure **failure, acre_error *error);

// One more reference; returns `failure`.
ACRE_API acre_failure *acre_failure_retain(acre_failure *failure);

// One reference less; with the last one the failure goes, and lets its causes go. NULL is allowed.
// A chain may be of any length: the stack does not grow with it.
ACRE_API void acre_failure_release(acre_failure *failure);

// Good as long as the failure is held.
ACRE_API const char *acre_failure_get_message(const acre_failure *failure);

ACRE_API int64_t acre_failure_get_code(const acre_failure *failure);

ACRE_API size_t acre_failure_get_cause_count(const acre_failure *failure);

// The cause at `index`, in the order given; NULL behind the last. Held by `failure`: retain it to
// keep it longer.
ACRE_API acre_failure *acre_failure_get_cause(const acre_failure *failure, size_t index);

// Writes the failure and everything that led to it, nearest first, each failure once, in a line of
// its own that names its causes by their numbers:
//
//   [1] the loss was not read (code 0), because of [2], [3]
//   [2] kernel softmax was not launched (code 0), because of [4]
//   [3] kernel relu was not launched (code 0), because of [4]
//   [4] the copy to the device failed (code 700)
//
// Works like snprintf: at most `capacity` bytes with the final 0, returns the length the whole
// text has. `buffer` may be NULL when `capacity` is 0, `failure` may be NULL. Messages are written
// as they are, so one of several lines takes several. Takes as many steps as there are failures
// and causes. From the 17th failure on it takes memory from the hooks of `failure`; when they have
// none, causes that have no number yet are written as [?] and not followed, and a last line says
// so.
ACRE_API size_t acre_failure_format(const acre_failure *failure, char *buffer, size_t capacity);

// ---- claims: the manager's thread ----------------------------------------------------------
//
// A claim says: these bytes of this allocation are not what the program thinks, because of that
// failure. Ranges are half-open, [start, end), in bytes of the requested size. At most one failure
// claims a byte, the latest. A claim holds its failure. Claims belong to the allocation: every
// handle of it sees them; they go when a bind gives it away, when it is freed (no later allocation
// in its room sees them) and when the manager is destroyed.
//
// Common to the three: an empty range does nothing, wherever it is. A handle that names no
// allocation of this manager (NULL, uninitialised, stale, freed, foreign) has no claims, and
// nothing is done to it: no error, whatever the range.

// Lets `failure` claim [start, end), in place of others' claims on those bytes. Ranges of one
// failure that touch become one.
// INVALID_ARGUMENT: no failure, a reversed range, or one that ends past the requested size;
// OUT_OF_HOST_MEMORY, from the manager's hooks. Every claim is then as it was.
// Cost: a look-up, a binary search, and moving the claims behind the range.
ACRE_API ACRE_CHECKED acre_status acre_manager_taint(acre_manager *manager,
                                                     const acre_handle *handle, uint64_t start,
                                                     uint64_t end, acre_failure *failure,
                                                     acre_error *error);

// [start, end) was written: releases the claims on exactly those bytes. A claim that reaches
// beyond is cut, one that reaches beyond on both sides becomes two. Errors as above; cutting a
// claim in two may need host memory.
ACRE_API ACRE_CHECKED acre_status acre_manager_written(acre_manager *manager,
                                                       const acre_handle *handle, uint64_t start,
                                                       uint64_t end, acre_error *error);

// The failure that claims any byte of [start, end), the first by offset; NULL when none does. No
// bytes are claimed past the requested size, and none lie in a reversed range. The claim holds the
// failure: it is good until the manager's next operation; retain it to keep it longer, or make it
// the cause of another. While nothing of the manager is tainted it looks nothing up.
ACRE_API acre_failure *acre_manager_get_failure(acre_manager *manager, const acre_handle *handle,
                                                uint64_t start, uint64_t end);

ACRE_END_DECLS

#endif
