// What every file of libacre-trace needs: host memory, structs of other sizes, error details.
#ifndef ACRE_TRACE_DETAIL_H
#define ACRE_TRACE_DETAIL_H

#include <acre/host.h>
#include <acre/status.h>

// All tables of this library are arrays of at most 8-byte members.
#define ACRE_TRACE_MEMORY_ALIGNMENT 16

// Copies the caller's hooks, or the C library's allocator for NULL.
// => INVALID_ARGUMENT when only one of the two functions is given.
acre_status acre_trace_hooks_take(const acre_host_hooks *given, acre_host_hooks *hooks,
                                  acre_error *error);

// => NULL when there is no memory.
void *acre_trace_alloc(const acre_host_hooks *hooks, size_t size);

// => `size` is what it was allocated with; NULL is allowed.
void acre_trace_free(const acre_host_hooks *hooks, void *memory, size_t size);

// Grows an array; the old one stays good on NULL.
void *acre_trace_grow(const acre_host_hooks *hooks, void *memory, size_t old_size, size_t new_size);

// Reads a caller's struct, which begins with its size, into `known`, which has its defaults.
// => UNSUPPORTED when the caller's is larger and says something there.
acre_status acre_trace_struct_read(void *known, size_t known_size, const void *given,
                                   const char *name, acre_error *error);

// Fills a caller's struct of any size from `known`.
void acre_trace_struct_write(void *given, const void *known, size_t known_size);

// Fills in `error`, if there is one, and returns `status`.
acre_status acre_trace_fail(acre_error *error, acre_status status, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
acre_status acre_trace_fail_no_memory(acre_error *error, size_t size);

// Hands a kept error to a caller.
acre_status acre_trace_fail_with(acre_error *error, const acre_error *kept);

// The end of a path that is too long for an error's detail: what a person recognises it by.
typedef struct acre_trace_short_path {
    char text[73];
} acre_trace_short_path;
acre_trace_short_path acre_trace_shorten(const char *path);

#endif
