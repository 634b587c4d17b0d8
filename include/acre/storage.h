// Storage: where pages come from. One storage is one heap of one device, reached through a table
// of operations.
//
// A storage and the managers on it are used by one thread at a time. It must outlive its managers.
#ifndef ACRE_STORAGE_H
#define ACRE_STORAGE_H

#include <acre/host.h>
#include <acre/status.h>

typedef enum acre_resource_kind {
    ACRE_RESOURCE_NONE = 0,      // zero bytes: nothing to hand to a kernel
    ACRE_RESOURCE_HOST = 1,      // as.host: an address of this process
    ACRE_RESOURCE_SIMULATED = 2, // as.simulated: a page and an offset; no bytes exist
} acre_resource_kind;

// What a kernel is given: `size` bytes of device memory, named the way the back end names them.
typedef struct acre_resource {
    size_t struct_size; // set by ACRE_RESOURCE_INIT
    acre_resource_kind kind;
    uint64_t size; // bytes
    union {
        void *host;
        struct {
            uint64_t page;   // the storage's id of the page
            uint64_t offset; // bytes into it
        } simulated;
        uint64_t words[6]; // keeps the size of the struct while back ends are added
    } as;
} acre_resource;

#if defined(__cplusplus)
#define ACRE_RESOURCE_INIT (acre_resource{sizeof(acre_resource), ACRE_RESOURCE_NONE, 0, {nullptr}})
#else
#define ACRE_RESOURCE_INIT ((acre_resource){.struct_size = sizeof(acre_resource)})
#endif

// What a device can do at most.
typedef struct acre_storage_limits {
    size_t struct_size;          // set by ACRE_STORAGE_LIMITS_INIT
    uint64_t total_memory;       // bytes; 0 = unknown
    uint64_t largest_allocation; // bytes of one page; 0 = total_memory
    uint64_t slice_alignment;    // bytes, what slices should start on; 0 = the page alignment
    bool no_sub_slices;          // a page serves one allocation at a time
} acre_storage_limits;

#if defined(__cplusplus)
#define ACRE_STORAGE_LIMITS_INIT (acre_storage_limits{sizeof(acre_storage_limits), 0, 0, 0, false})
#else
#define ACRE_STORAGE_LIMITS_INIT ((acre_storage_limits){.struct_size = sizeof(acre_storage_limits)})
#endif

#define ACRE_STORAGE_OPS_VERSION 1

// The operations of a back end. The table is copied at creation. `alloc`, `dealloc`, `flush`,
// `resource`, `alignment` and `bytes_allocated` are needed; the others may be NULL.
//
// The library never sees the bytes: it passes ids, offsets and sizes. `error` is never NULL; an
// operation that fails fills in native_code and native_text where the back end has them, and
// returns ACRE_OUT_OF_MEMORY for the device's own out-of-memory, ACRE_OUT_OF_HOST_MEMORY for the
// host's, and ACRE_BACKEND_ERROR for the rest (any other status is taken for that).
typedef struct acre_storage_ops {
    size_t struct_size; // set by ACRE_STORAGE_OPS_INIT
    uint32_t version;   // ACRE_STORAGE_OPS_VERSION

    // One device allocation of `size` > 0 bytes. On success `*id` names it until `dealloc`.
    acre_status (*alloc)(void *context, uint64_t size, uint64_t *id, acre_error *error);
    // Gives an allocation back. It may be put off until `flush`.
    void (*dealloc)(void *context, uint64_t id);
    // Pushes frees that were put off to the driver.
    void (*flush)(void *context);
    // Names bytes [offset, offset + size) of an allocation for a kernel; size > 0.
    acre_status (*resource)(void *context, uint64_t id, uint64_t offset, uint64_t size,
                            acre_resource *resource, acre_error *error);
    // Bytes that every page starts on a multiple of; at least 1, constant.
    uint64_t (*alignment)(void *context);
    // Bytes held from the device now, frees that were put off included.
    uint64_t (*bytes_allocated)(void *context);

    // Optional: fills in what is known; the other fields of the struct arrive as 0.
    void (*limits)(void *context, acre_storage_limits *limits);
    // Optional: called once by acre_storage_destroy.
    void (*destroy)(void *context);

    // Optional: copies the bytes of `source` to `target`, of the same size and not overlapping,
    // both named by `resource`. The device is done with both. The copy may go on behind the call;
    // then there is a `wait`.
    acre_status (*copy)(void *context, const acre_resource *source, const acre_resource *target,
                        acre_error *error);
    // Optional: waits for all work of the device, copies included. NULL: there is nothing to wait
    // for, and copies are done when `copy` returns.
    acre_status (*wait)(void *context, acre_error *error);
} acre_storage_ops;

#if defined(__cplusplus)
#define ACRE_STORAGE_OPS_INIT                                                                      \
    (acre_storage_ops{sizeof(acre_storage_ops), ACRE_STORAGE_OPS_VERSION, nullptr, nullptr,        \
                      nullptr, nullptr, nullptr, nullptr, nullptr, nullptr, nullptr, nullptr})
#else
#define ACRE_STORAGE_OPS_INIT                                                                      \
    ((acre_storage_ops){.struct_size = sizeof(acre_storage_ops),                                   \
                        .version = ACRE_STORAGE_OPS_VERSION})
#endif

// Counters of one storage since its creation, kept for every back end alike.
typedef struct acre_storage_stats {
    size_t struct_size;       // set by ACRE_STORAGE_STATS_INIT
    uint64_t allocs;          // allocations the device gave
    uint64_t refused;         // allocations the device refused
    uint64_t deallocs;        // allocations given back
    uint64_t flushes;         // calls of flush
    uint64_t bytes_allocated; // held from the device now
    uint64_t bytes_peak;      // the most it held after any allocation
    uint64_t copies;          // made by the operation `copy`
    uint64_t bytes_copied;    // of those
} acre_storage_stats;

#if defined(__cplusplus)
#define ACRE_STORAGE_STATS_INIT                                                                    \
    (acre_storage_stats{sizeof(acre_storage_stats), 0, 0, 0, 0, 0, 0, 0, 0})
#else
#define ACRE_STORAGE_STATS_INIT ((acre_storage_stats){.struct_size = sizeof(acre_storage_stats)})
#endif

typedef struct acre_storage acre_storage;

ACRE_BEGIN_DECLS

// A storage over the caller's own back end. `name` (copied, at most 31 bytes) is shown in logs and
// reports; `hooks` may be NULL. INVALID_ARGUMENT names an operation that is missing;
// UNSUPPORTED when the table is of a version this library does not know. On an error the context
// stays the caller's; on success `destroy`, if given, ends it.
ACRE_API ACRE_CHECKED acre_status acre_storage_create(const char *name, const acre_storage_ops *ops,
                                                      void *context, const acre_host_hooks *hooks,
                                                      acre_storage **storage, acre_error *error);

// Ends a storage that no manager uses any more. NULL is allowed.
ACRE_API void acre_storage_destroy(acre_storage *storage);

// The name given at creation, what the device can do, and the counters. The storage's thread.
ACRE_API const char *acre_storage_name(const acre_storage *storage);
ACRE_API void acre_storage_limits_get(const acre_storage *storage, acre_storage_limits *limits);
ACRE_API void acre_storage_stats_get(const acre_storage *storage, acre_storage_stats *stats);

// ---- host bytes ----------------------------------------------------------------------------

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

// Pages are bytes of this process. Fresh pages are zero and cost memory once they are touched.
// `params` and `hooks` may be NULL; the hooks serve the bookkeeping, not the pages.
ACRE_API ACRE_CHECKED acre_status acre_storage_host_create(const acre_host_storage_params *params,
                                                           const acre_host_hooks *hooks,
                                                           acre_storage **storage,
                                                           acre_error *error);

// ---- simulated -----------------------------------------------------------------------------

// Which operation a scripted failure hits.
typedef enum acre_simulated_call {
    ACRE_SIMULATED_ALLOC = 0,
    ACRE_SIMULATED_RESOURCE = 1,
    ACRE_SIMULATED_COPY = 2,
} acre_simulated_call;

typedef struct acre_simulated_storage_params {
    size_t struct_size;          // set by ACRE_SIMULATED_STORAGE_PARAMS_INIT
    uint64_t total_memory;       // bytes; more is OUT_OF_MEMORY; 0 = no limit
    uint64_t largest_allocation; // bytes of one page; more is OUT_OF_MEMORY; 0 = no limit
    uint64_t alignment;          // bytes pages start on, any integer; 0 = 2 MiB
    uint64_t slice_alignment;    // bytes slices should start on; 0 = 256
    bool deferred_frees;         // frees take effect at flush
    bool no_sub_slices;          // a page serves one allocation at a time
} acre_simulated_storage_params;

#if defined(__cplusplus)
#define ACRE_SIMULATED_STORAGE_PARAMS_INIT                                                         \
    (acre_simulated_storage_params{sizeof(acre_simulated_storage_params), 0, 0, 0, 0, false, false})
#else
#define ACRE_SIMULATED_STORAGE_PARAMS_INIT                                                         \
    ((acre_simulated_storage_params){.struct_size = sizeof(acre_simulated_storage_params)})
#endif

// A device that is only bookkeeping: for planning, replaying and tests. `params` and `hooks` may
// be NULL.
ACRE_API ACRE_CHECKED acre_status acre_storage_simulated_create(
    const acre_simulated_storage_params *params, const acre_host_hooks *hooks,
    acre_storage **storage, acre_error *error);

// How often the operation was called, failures included. 0 for a storage of another kind.
ACRE_API uint64_t acre_storage_simulated_calls(const acre_storage *storage,
                                               acre_simulated_call call);

// Scripts a failure of native code -1: the `nth` call from now (1 = the next) alone, or with
// `and_after` every one from it on. nth = 0 clears the script. ALLOC fails with OUT_OF_MEMORY,
// RESOURCE and COPY with BACKEND_ERROR. INVALID_ARGUMENT for a storage of another kind.
ACRE_API ACRE_CHECKED acre_status acre_storage_simulated_fail(acre_storage *storage,
                                                              acre_simulated_call call,
                                                              uint64_t nth, bool and_after,
                                                              acre_error *error);

ACRE_END_DECLS

#endif
