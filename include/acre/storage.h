// Storage: where pages come from. One storage is one heap of one device, reached through a table
// of operations.
//
// A storage and the managers on it are used by one thread at a time. It must outlive its managers.
#ifndef ACRE_STORAGE_H
#define ACRE_STORAGE_H

#include <acre/host.h>
#include <acre/status.h>

typedef enum acre_resource_kind {
    ACRE_RESOURCE_NONE = 0,       // zero bytes: nothing to hand to a kernel
    ACRE_RESOURCE_HOST = 1,       // as.host: an address of this process
    ACRE_RESOURCE_SIMULATED = 2,  // as.simulated: a page and an offset; no bytes exist
    ACRE_RESOURCE_CUDA = 3,       // as.cuda: a CUdeviceptr
    ACRE_RESOURCE_OPENCL = 4,     // as.opencl: a buffer and an offset into it
    ACRE_RESOURCE_OPENCL_SVM = 5, // as.host: for clSetKernelArgSVMPointer, not to be read directly
    ACRE_RESOURCE_VULKAN = 6,     // as.vulkan: a buffer, an offset into it, an address
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
        uint64_t cuda;
        struct {
            void *buffer;    // cl_mem
            uint64_t offset; // bytes into it
        } opencl;
        struct {
            uint64_t buffer;  // VkBuffer
            uint64_t offset;  // bytes into it
            uint64_t address; // VkDeviceAddress of the first byte; 0 = the device has none
        } vulkan;
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
    uint64_t largest_allocation; // bytes of one page, or memory to be mapped; 0 = total_memory
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
// `resource`, `alignment` and `bytes_allocated` are needed; the others may be NULL, those of one
// group together.
//
// The library never sees the bytes: it passes ids, offsets and sizes. `error` is never NULL; an
// operation that fails fills in native_code and native_text where the back end has them, and
// returns ACRE_OUT_OF_MEMORY for the device's own out-of-memory, ACRE_OUT_OF_HOST_MEMORY for the
// host's, and ACRE_BACKEND_ERROR for the rest (any other status is taken for that). An operation
// that failed has changed nothing.
typedef struct acre_storage_ops {
    size_t struct_size; // set by ACRE_STORAGE_OPS_INIT
    uint32_t version;   // ACRE_STORAGE_OPS_VERSION

    // One device allocation of `size` > 0 bytes. On success `*id` names it until `dealloc`.
    acre_status (*alloc)(void *context, uint64_t size, uint64_t *id, acre_error *error);
    // Gives an allocation back. The device may still be at work on it that was given to it before:
    // the back end frees it behind that work, or waits. It may be put off until `flush`.
    void (*dealloc)(void *context, uint64_t id);
    // Pushes frees that were put off to the driver.
    void (*flush)(void *context);
    // Names bytes [offset, offset + size) of an allocation, or of a range (below), for a kernel;
    // size > 0.
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

    // Copies, optional. `copy` copies the bytes of `source` to `target`, of the same size and not
    // overlapping, both named by `resource`. The device is done with both. The copy may go on
    // behind the call; then there is a `wait`.
    acre_status (*copy)(void *context, const acre_resource *source, const acre_resource *target,
                        acre_error *error);
    // Optional: waits for all work of the device, copies included. NULL: there is nothing to wait
    // for, and copies are done when `copy` returns.
    acre_status (*wait)(void *context, acre_error *error);

    // Bytes to and from the host, optional, both or neither: all of the resource, done when the
    // call returns, after every copy made before it.
    acre_status (*write)(void *context, const acre_resource *target, const void *bytes,
                         acre_error *error);
    acre_status (*read)(void *context, const acre_resource *source, void *bytes, acre_error *error);

    // Address ranges apart from memory, optional, all or none. Memory is created without an
    // address, mapped into ranges that were reserved without memory, and mapped elsewhere later,
    // its bytes coming along. Sizes and offsets are multiples of `granularity`, in bytes, constant.
    uint64_t (*granularity)(void *context);
    acre_status (*range_reserve)(void *context, uint64_t size, uint64_t *range, acre_error *error);
    // Nothing is mapped into it any more.
    void (*range_release)(void *context, uint64_t range);
    // `size` > 0 bytes of memory, which count in `bytes_allocated`.
    acre_status (*memory_create)(void *context, uint64_t size, uint64_t *memory, acre_error *error);
    // It is mapped nowhere.
    void (*memory_destroy)(void *context, uint64_t memory);
    // Maps `count` > 0 memories, each mapped nowhere, one behind the other from `offset` on, where
    // nothing is mapped. All or, after an error, none.
    acre_status (*map)(void *context, uint64_t range, uint64_t offset, const uint64_t *memories,
                       uint64_t count, acre_error *error);
    // Unmaps all that is mapped in [offset, offset + size), which cuts no memory in two. The device
    // is done with those bytes.
    acre_status (*unmap)(void *context, uint64_t range, uint64_t offset, uint64_t size,
                         acre_error *error);

    // Points on the timelines of streams, optional, all or none. A stream is the back end's own
    // handle as a number; 0 is its default one. None of these waits but event_sync.
    //
    // `*id` is the stream's for ever: no later stream gets it.
    acre_status (*stream_id)(void *context, uint64_t stream, uint64_t *id, acre_error *error);
    // `*event` is the point behind all work that the stream was given so far.
    acre_status (*event_record)(void *context, uint64_t stream, uint64_t *event, acre_error *error);
    // Whether the device has passed it.
    acre_status (*event_done)(void *context, uint64_t event, bool *done, acre_error *error);
    // Makes the device hold back what `stream` is given from now on until the event has passed.
    acre_status (*event_wait)(void *context, uint64_t event, uint64_t stream, acre_error *error);
    // Makes the host wait until it has passed.
    acre_status (*event_sync)(void *context, uint64_t event, acre_error *error);
    void (*event_destroy)(void *context, uint64_t event);
} acre_storage_ops;

#if defined(__cplusplus)
#define ACRE_STORAGE_OPS_INIT                                                                      \
    (acre_storage_ops{sizeof(acre_storage_ops),                                                    \
                      ACRE_STORAGE_OPS_VERSION,                                                    \
                      nullptr,                                                                     \
                      nullptr,                                                                     \
                      nullptr,                                                                     \
                      nullptr,                                                                     \
                      nullptr,                                                                     \
                      nullptr,                                                                     \
                      nullptr,                                                                     \
                      nullptr,                                                                     \
                      nullptr,                                                                     \
                      nullptr,                                                                     \
                      nullptr,                                                                     \
                      nullptr,                                                                     \
                      nullptr,                                                                     \
                      nullptr,                                                                     \
                      nullptr,                                                                     \
                      nullptr,                                                                     \
                      nullptr,                                                                     \
                      nullptr,                                                                     \
                      nullptr,                                                                     \
                      nullptr,                                                                     \
                      nullptr,                                                                     \
                      nullptr,                                                                     \
                      nullptr,                                                                     \
                      nullptr,                                                                     \
                      nullptr})
#else
#define ACRE_STORAGE_OPS_INIT                                                                      \
    ((acre_storage_ops){.struct_size = sizeof(acre_storage_ops),                                   \
                        .version = ACRE_STORAGE_OPS_VERSION})
#endif

// Counters of one storage since its creation, kept for every back end alike.
typedef struct acre_storage_stats {
    size_t struct_size;       // set by ACRE_STORAGE_STATS_INIT
    uint64_t allocs;          // allocations, and memories to be mapped, that the device gave
    uint64_t refused;         // allocations the device refused
    uint64_t deallocs;        // allocations given back
    uint64_t flushes;         // calls of flush
    uint64_t bytes_allocated; // held from the device now
    uint64_t bytes_peak;      // the most it held after any allocation
    uint64_t copies;          // made by the operation `copy`
    uint64_t bytes_copied;    // of those
    uint64_t maps;            // calls of the operation `map` that succeeded
    uint64_t unmaps;          // and of `unmap`
} acre_storage_stats;

#if defined(__cplusplus)
#define ACRE_STORAGE_STATS_INIT                                                                    \
    (acre_storage_stats{sizeof(acre_storage_stats), 0, 0, 0, 0, 0, 0, 0, 0, 0, 0})
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

// Copies bytes of this process into all of `target`, which acre_manager_resolve gave, or all of
// `source` out of it. The bytes are there when the call returns; work of the device that touches
// them must be done before. Not meant for data in bulk. UNSUPPORTED when the back end cannot;
// INVALID_ARGUMENT for a resource of another kind of storage, or bytes that are NULL; and what the
// back end fails with. The storage's thread.
ACRE_API ACRE_CHECKED acre_status acre_storage_write(acre_storage *storage,
                                                     const acre_resource *target, const void *bytes,
                                                     acre_error *error);
ACRE_API ACRE_CHECKED acre_status acre_storage_read(acre_storage *storage,
                                                    const acre_resource *source, void *bytes,
                                                    acre_error *error);

// Waits until the device is done with all its work, copies included.
ACRE_API ACRE_CHECKED acre_status acre_storage_wait(acre_storage *storage, acre_error *error);

// Failures on order, so that a program can be tested for what it does then. The `nth` call from
// now (1 = the next) that the storage makes to the driver fails without reaching it, with
// `and_after` every later one too; nth = 0 ends that. `native_code` is what the driver says; 0 =
// its code for no memory left. UNSUPPORTED for a storage made by acre_storage_create;
// INVALID_ARGUMENT for a code of more than 32 bits.
ACRE_API ACRE_CHECKED acre_status acre_storage_fail(acre_storage *storage, uint64_t nth,
                                                    bool and_after, int64_t native_code,
                                                    acre_error *error);

// How many such calls the storage has made, failed ones included; 0 for one made by
// acre_storage_create.
ACRE_API uint64_t acre_storage_calls(const acre_storage *storage);

ACRE_END_DECLS

#endif
