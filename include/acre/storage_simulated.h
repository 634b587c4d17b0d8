// A simulated device: for planning, replaying and tests.
#ifndef ACRE_STORAGE_SIMULATED_H
#define ACRE_STORAGE_SIMULATED_H

#include <acre/storage.h>

// Which operation a scripted failure hits.
typedef enum acre_simulated_call {
    ACRE_SIMULATED_ALLOC = 0,
    ACRE_SIMULATED_RESOURCE = 1,
    ACRE_SIMULATED_COPY = 2,
    ACRE_SIMULATED_RANGE_RESERVE = 3,
    ACRE_SIMULATED_MEMORY_CREATE = 4,
    ACRE_SIMULATED_MAP = 5,
    ACRE_SIMULATED_UNMAP = 6,
} acre_simulated_call;

typedef struct acre_simulated_storage_params {
    size_t struct_size;          // set by ACRE_SIMULATED_STORAGE_PARAMS_INIT
    uint64_t total_memory;       // bytes; more is OUT_OF_MEMORY; 0 = no limit
    uint64_t largest_allocation; // bytes of one page; more is OUT_OF_MEMORY; 0 = no limit
    uint64_t alignment;          // bytes pages start on, any integer; 0 = 2 MiB
    uint64_t slice_alignment;    // bytes slices should start on; 0 = 256
    bool deferred_frees;         // frees take effect at flush
    bool no_sub_slices;          // a page serves one allocation at a time
    uint64_t granularity;        // bytes of what is mapped at a time; 0 = 2 MiB
} acre_simulated_storage_params;

#if defined(__cplusplus)
#define ACRE_SIMULATED_STORAGE_PARAMS_INIT                                                         \
    (acre_simulated_storage_params{sizeof(acre_simulated_storage_params), 0, 0, 0, 0, false,       \
                                   false, 0})
#else
#define ACRE_SIMULATED_STORAGE_PARAMS_INIT                                                         \
    ((acre_simulated_storage_params){.struct_size = sizeof(acre_simulated_storage_params)})
#endif

ACRE_BEGIN_DECLS

// A device that is only bookkeeping: for planning, replaying and tests. It can map, and refuses
// with BACKEND_ERROR and a sentence what no driver allows: memory that is mapped twice or cut in
// two, addresses that are taken. `params` and `hooks` may be NULL.
ACRE_API ACRE_CHECKED acre_status acre_storage_simulated_create(
    const acre_simulated_storage_params *params, const acre_host_hooks *hooks,
    acre_storage **storage, acre_error *error);

// How often the operation was called, failures included. 0 for a storage of another kind.
ACRE_API uint64_t acre_storage_simulated_calls(const acre_storage *storage,
                                               acre_simulated_call call);

// Scripts a failure of native code -1: the `nth` call from now (1 = the next) alone, or with
// `and_after` every one from it on. nth = 0 clears the script. ALLOC and
// MEMORY_CREATE fail with OUT_OF_MEMORY, the others with BACKEND_ERROR. INVALID_ARGUMENT for a
// storage of another kind.
ACRE_API ACRE_CHECKED acre_status acre_storage_simulated_fail(acre_storage *storage,
                                                              acre_simulated_call call,
                                                              uint64_t nth, bool and_after,
                                                              acre_error *error);

ACRE_END_DECLS

#endif
