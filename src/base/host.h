// Host memory through the caller's hooks, counted.
#ifndef ACRE_BASE_HOST_H
#define ACRE_BASE_HOST_H

#include <acre/host.h>
#include <acre/status.h>

typedef struct acre_host {
    acre_host_hooks hooks;
    uint64_t bytes; // held now
} acre_host;

// Copies the caller's hooks, or installs the C library's allocator for NULL.
// => INVALID_ARGUMENT when a hook is missing, UNSUPPORTED for a struct we do not know.
acre_status acre_host_init(acre_host *host, const acre_host_hooks *hooks, acre_error *error);

// => NULL when the hook has none. alignment is a power of two.
void *acre_host_alloc(acre_host *host, size_t size, size_t alignment);
// The same, zeroed.
void *acre_host_alloc_zeroed(acre_host *host, size_t size, size_t alignment);
// => NULL is allowed; size and alignment are those of the allocation.
void acre_host_free(acre_host *host, void *memory, size_t size, size_t alignment);

// The same for memory that nobody counts, by a copy of the hooks.
void acre_host_free_uncounted(const acre_host_hooks *hooks, void *memory, size_t size,
                              size_t alignment);

// Makes room for `needed` elements in an array that doubles as it grows.
// => false when the hook has no memory; the array is as it was.
bool acre_host_grow(acre_host *host, void *array_pointer, size_t element_size, uint32_t used,
                    uint32_t needed, uint32_t *capacity);

#endif
