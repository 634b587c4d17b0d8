// Outcomes and their detail.
//
// Every call that can fail returns an acre_status and takes an optional acre_error. The status is
// what a program branches on; the error holds the numbers behind it, and acre_error_format turns
// them into a sentence for a person. No string is built unless it is asked for, so an expected
// outcome, such as "no room without a new page", costs a few stores.
//
// Wherever a function takes an acre_error, NULL is allowed; other pointers must not be NULL unless
// the function says so.
//
// After any error, live allocations, routing and page sizes are as they were before the call, and
// the object can be used on.
#ifndef ACRE_STATUS_H
#define ACRE_STATUS_H

#include <acre/base.h>

// X(number, NAME, what happened, what to do next). Numbers never change once released.
#define ACRE_STATUS_LIST(X)                                                                        \
    X(0, OK, "success", "nothing to do")                                                           \
    X(1, BUFFER_TOO_BIG, "no pool of the layout accepts a size this large",                        \
      "split the buffer, or install a layout with larger pages")                                   \
    X(2, OUT_OF_MEMORY, "the device has no room for another page",                                 \
      "release buffers, run a cleanup, or raise the limit, then ask again")                        \
    X(3, NOT_FOUND, "the handle names no allocation of this manager",                              \
      "reserve or bind the handle before looking it up")                                           \
    X(4, POOL_CAPACITY_EXCEEDED, "the pool is at its cap",                                         \
      "release buffers of this pool, raise its cap, or add a growable pool behind it")             \
    X(5, PAGE_UPDATE_FORBIDDEN, "the room already held cannot serve the request",                  \
      "allow the reservation to add pages, or reserve the room beforehand")                        \
    X(6, PAGE_SIZES_EXHAUSTED, "every page size slot of the arena is taken",                       \
      "relocate, so that outdated pages drain, or release old buffers")                            \
    X(7, POOLS_IN_USE, "allocations still live in the pools to be replaced",                       \
      "release them, then install the layout again")                                               \
    X(8, STORAGE_MAPPING_FAILED, "device memory could not be put behind the allocation",           \
      "free device memory, then resolve the handle again")                                         \
    X(9, INVALID_ARGUMENT, "an argument is out of range",                                          \
      "correct the argument that the message names")                                               \
    X(10, UNSUPPORTED, "the storage or this version cannot do that",                               \
      "choose what the message names, or another storage")                                         \
    X(11, BACKEND_ERROR, "the device's driver reported an error",                                  \
      "look up the native code in the driver's documentation")                                     \
    X(12, OUT_OF_HOST_MEMORY, "the host-memory hooks returned no memory",                          \
      "free host memory, then repeat the call")                                                    \
    X(13, IO_ERROR, "a file could not be read or written", "check the path and its permissions")   \
    X(14, MALFORMED_INPUT, "the input does not follow its format",                                 \
      "mend the place that the message names")

typedef enum acre_status {
#define ACRE_STATUS_ENUM(number, name, text, next) ACRE_##name = number,
    ACRE_STATUS_LIST(ACRE_STATUS_ENUM)
#undef ACRE_STATUS_ENUM
} acre_status;

// The detail of one error. Fields that an error does not concern are 0.
typedef struct acre_error {
    size_t struct_size; // set by ACRE_ERROR_INIT
    acre_status status;
    acre_status cause; // of a spill, what the last pool said; of a mapping, what the storage said
    uint64_t size;     // bytes asked for
    uint64_t capacity; // bytes of the cap or limit that refused
    uint64_t in_use;   // requested bytes of live allocations behind the refusal
    uint64_t reserved; // OUT_OF_MEMORY: bytes of all pages the manager holds
    uint64_t free;     // OUT_OF_MEMORY: bytes of those that are free, in pieces
    uint64_t largest_free;   // OUT_OF_MEMORY: bytes of the largest free piece
    uint64_t cause_capacity; // bytes of the cap or limit behind the cause
    int64_t native_code;     // the back end's own code
    char native_text[96];    // the back end's own text
    char detail[160];        // which argument, key or place is meant
} acre_error;

#if defined(__cplusplus)
#define ACRE_ERROR_INIT                                                                            \
    (acre_error{sizeof(acre_error), ACRE_OK, ACRE_OK, 0, 0, 0, 0, 0, 0, 0, 0, {0}, {0}})
#else
#define ACRE_ERROR_INIT ((acre_error){.struct_size = sizeof(acre_error)})
#endif

ACRE_BEGIN_DECLS

// The status's name as written in the list above, such as "OUT_OF_MEMORY"; "UNKNOWN" for a number
// that is not in the list. Any thread; the string is static.
ACRE_API const char *acre_status_name(acre_status status);

// What happened, as a clause. Any thread; static.
ACRE_API const char *acre_status_text(acre_status status);

// What the caller can do next, as a clause. Any thread; static.
ACRE_API const char *acre_status_advice(acre_status status);

// Writes the error as a sentence with its sizes, the native code and text, and what to do next.
// Works like snprintf: at most `capacity` bytes with the final 0, returns the length the whole
// text has. `buffer` may be NULL when `capacity` is 0. Any thread.
ACRE_API size_t acre_error_format(const acre_error *error, char *buffer, size_t capacity);

ACRE_END_DECLS

#endif
