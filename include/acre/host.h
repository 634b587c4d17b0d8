// Where the library's own bookkeeping lives: host memory, from hooks that the caller may give.
#ifndef ACRE_HOST_H
#define ACRE_HOST_H

#include <acre/base.h>

// The hooks of one manager or storage. They are copied at creation; `context` must outlive the
// object and every handle made through it.
//
// Bookkeeping records come in blocks of 64 KiB aligned to 64 KiB, so `alloc` must honour the
// alignment (a power of two) it is given, as aligned_alloc does. It returns NULL when it has no
// memory; every operation survives that with ACRE_OUT_OF_HOST_MEMORY. `free` gets the size and
// alignment of the allocation back. Both are called on whichever thread runs the operation;
// `free` also on the thread that releases the last handle of a destroyed manager.
typedef struct acre_host_hooks {
    size_t struct_size; // set by ACRE_HOST_HOOKS_INIT
    void *(*alloc)(void *context, size_t size, size_t alignment);
    void (*free)(void *context, void *memory, size_t size, size_t alignment);
    void *context;
} acre_host_hooks;

#if defined(__cplusplus)
#define ACRE_HOST_HOOKS_INIT (acre_host_hooks{sizeof(acre_host_hooks), nullptr, nullptr, nullptr})
#else
#define ACRE_HOST_HOOKS_INIT ((acre_host_hooks){.struct_size = sizeof(acre_host_hooks)})
#endif

#endif
