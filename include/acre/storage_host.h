// Storages whose device is this machine: pages of host memory, and address ranges that memory is
// mapped into and moved about in.
#ifndef ACRE_STORAGE_HOST_H
#define ACRE_STORAGE_HOST_H

#include <acre/storage.h>

typedef struct acre_host_storage_params {
    size_t struct_size;          // set by ACRE_HOST_STORAGE_PARAMS_INIT
    uint64_t total_memory;       // bytes it will hold at most; 0 = the machine's physical memory
    uint64_t largest_allocation; // bytes of one page; 0 = total_memory
    uint64_t alignment;          // bytes pages start on, a power of two; 0 = 4096
} acre_host_storage_params;

#if defined(__cplusplus)
#define ACRE_HOST_STORAGE_PARAMS_INIT                                                              \
    (acre_host_storage_params{sizeof(acre_host_storage_params), 0, 0, 0})
#else
#define ACRE_HOST_STORAGE_PARAMS_INIT                                                              \
    ((acre_host_storage_params){.struct_size = sizeof(acre_host_storage_params)})
#endif

// What a storage of host memory that can be mapped is made with.
typedef struct acre_host_virtual_storage_params {
    size_t struct_size;          // set by ACRE_HOST_VIRTUAL_STORAGE_PARAMS_INIT
    uint64_t total_memory;       // bytes it will hold at most; 0 = the machine's physical memory
    uint64_t largest_allocation; // bytes of one page; 0 = total_memory
    uint64_t granularity;        // bytes, a multiple of the system's page size; 0 = 2 MiB
    // Huge pages from the system's reserve (/proc/sys/vm/nr_hugepages), of its default size, which
    // divides the granularity. Whether the reserve has any shows when memory is asked for.
    bool huge_pages;
} acre_host_virtual_storage_params;

#if defined(__cplusplus)
#define ACRE_HOST_VIRTUAL_STORAGE_PARAMS_INIT                                                      \
    (acre_host_virtual_storage_params{sizeof(acre_host_virtual_storage_params), 0, 0, 0, false})
#else
#define ACRE_HOST_VIRTUAL_STORAGE_PARAMS_INIT                                                      \
    ((acre_host_virtual_storage_params){.struct_size = sizeof(acre_host_virtual_storage_params)})
#endif

ACRE_BEGIN_DECLS

// Pages are bytes of this process. Fresh pages are zero and cost memory once they are touched.
// `params` and `hooks` may be NULL; the hooks serve the bookkeeping, not the pages.
ACRE_API ACRE_CHECKED acre_status acre_storage_host_create(const acre_host_storage_params *params,
                                                           const acre_host_hooks *hooks,
                                                           acre_storage **storage,
                                                           acre_error *error);

// The same with addresses apart from memory: ranges of reserved addresses, and memory of a file
// without a name (memfd) that is mapped into them and, bytes and all, elsewhere later. Pages come
// from there, too, and are rounded up to the system's page. `params` and `hooks` may be NULL.
// INVALID_ARGUMENT for a granularity that is no multiple of the page size; UNSUPPORTED where the
// system cannot, with why.
ACRE_API ACRE_CHECKED acre_status acre_storage_host_virtual_create(
    const acre_host_virtual_storage_params *params, const acre_host_hooks *hooks,
    acre_storage **storage, acre_error *error);

ACRE_END_DECLS

#endif
