// Filling in acre_error. Internal functions always get one; public ones open and close it.
#ifndef ACRE_BASE_ERROR_H
#define ACRE_BASE_ERROR_H

#include <acre/status.h>

#include "base/bits.h"

// Where internal code writes the detail: the caller's struct when it is one we know, else `local`,
// which acre_error_close copies as far as the caller's struct reaches.
static inline acre_error *acre_error_open(acre_error *theirs, acre_error *local) {
    if (acre_likely(theirs != NULL && theirs->struct_size == sizeof *theirs)) {
        return theirs;
    }
    local->struct_size = sizeof *local;
    return local;
}

// => status, after handing the detail to a caller whose struct has another size.
acre_status acre_error_publish(acre_error *theirs, const acre_error *local, acre_status status);

static inline acre_status acre_error_close(acre_error *theirs, const acre_error *local,
                                           acre_status status) {
    if (acre_likely(status == ACRE_OK || theirs == NULL || theirs->struct_size == sizeof *theirs)) {
        return status;
    }
    return acre_error_publish(theirs, local, status);
}

// Clears the fields and sets status and size; builds no text, so that an expected refusal stays
// cheap. => status
static inline acre_status acre_error_refuse(acre_error *error, acre_status status, uint64_t size) {
    error->status = status;
    error->cause = ACRE_OK;
    error->size = size;
    error->capacity = 0;
    error->in_use = 0;
    error->reserved = 0;
    error->free = 0;
    error->largest_free = 0;
    error->cause_capacity = 0;
    error->native_code = 0;
    error->native_text[0] = '\0';
    error->detail[0] = '\0';
    return status;
}

// The same with a detail in printf's manner, cut to what fits. A macro, so that a reader (and an
// analyzer) sees that the value is the status.
#define acre_error_set(error, status, ...)                                                         \
    (acre_error_describe((error), (status), __VA_ARGS__), (status))
__attribute__((format(printf, 3, 4))) void
acre_error_describe(acre_error *error, acre_status status, const char *format, ...);

// Sets the back end's own code and text. => status
acre_status acre_error_native(acre_error *error, acre_status status, uint64_t size, int64_t code,
                              const char *text);

#endif
