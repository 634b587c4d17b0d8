// CUDA: memory of an NVIDIA device through the driver (libcuda.so.1), which is opened when a
// storage is made. Nothing of CUDA is needed to build against this header or to start a program.
//
// Every function keeps the calling thread's current context as it was. A stream capture that is
// going on in the process survives everything but a wait for the device: acre_storage_wait, a
// relocation, and giving back a page that is not plain of a storage without a named stream. Inside
// a capture, reservations are add-only, so that no page is given back.
#ifndef ACRE_STORAGE_CUDA_H
#define ACRE_STORAGE_CUDA_H

#include <acre/storage.h>

// Where pages come from.
typedef enum acre_cuda_memory {
    ACRE_CUDA_PLAIN = 0,          // cuMemAlloc and cuMemFree; the free waits for the device
    ACRE_CUDA_STREAM_ORDERED = 1, // a memory pool of its own, on the storage's stream
    ACRE_CUDA_VIRTUAL = 2,        // an address range with memory mapped into it, for each page
} acre_cuda_memory;

typedef struct acre_cuda_storage_params {
    size_t struct_size; // set by ACRE_CUDA_STORAGE_PARAMS_INIT
    int32_t device;     // its number, from 0
    acre_cuda_memory memory;
    // CUstream of copies, and of the work that uses the memory; it outlives the storage. Its
    // context must be the device's primary one, which the storage retains. Pages that are not plain
    // are given back behind it. NULL = a stream of the storage's own for copies, and the whole
    // device is waited for before such a page goes.
    void *stream;
    uint64_t total_memory;       // bytes it will hold at most; 0, or more than that = the device's
    uint64_t largest_allocation; // bytes of one page or memory; 0 = total_memory
    bool exportable;             // memory that is mapped can be shared: acre_storage_cuda_export
    const char *library;         // path of the driver; NULL = libcuda.so.1
} acre_cuda_storage_params;

#if defined(__cplusplus)
#define ACRE_CUDA_STORAGE_PARAMS_INIT                                                              \
    (acre_cuda_storage_params{sizeof(acre_cuda_storage_params), 0, ACRE_CUDA_PLAIN, nullptr, 0, 0, \
                              false, nullptr})
#else
#define ACRE_CUDA_STORAGE_PARAMS_INIT                                                              \
    ((acre_cuda_storage_params){.struct_size = sizeof(acre_cuda_storage_params)})
#endif

// What a program needs to launch work on the same device.
typedef struct acre_cuda_objects {
    size_t struct_size; // set by ACRE_CUDA_OBJECTS_INIT
    void *context;      // CUcontext, the device's primary one
    void *stream;       // CUstream of copies
    int32_t device;     // CUdevice
} acre_cuda_objects;

#if defined(__cplusplus)
#define ACRE_CUDA_OBJECTS_INIT (acre_cuda_objects{sizeof(acre_cuda_objects), nullptr, nullptr, 0})
#else
#define ACRE_CUDA_OBJECTS_INIT ((acre_cuda_objects){.struct_size = sizeof(acre_cuda_objects)})
#endif

ACRE_BEGIN_DECLS

// A storage of one device. Resources are ACRE_RESOURCE_CUDA. Stream-ordered pages may be used on
// the storage's stream at once, and elsewhere, since their allocation is waited for. Ranges and
// mapping (acre_storage_ops) are there when the device has virtual memory management, whatever
// `memory` says. `params` and `hooks` may be NULL.
//
// UNSUPPORTED: no driver, a stub of it, one that is too old, or a device without what `memory` or
// `exportable` asks for; the text says which and what to install. INVALID_ARGUMENT: no such
// device, or a stream of another context. BACKEND_ERROR: what the driver said.
ACRE_API ACRE_CHECKED acre_status acre_storage_cuda_create(const acre_cuda_storage_params *params,
                                                           const acre_host_hooks *hooks,
                                                           acre_storage **storage,
                                                           acre_error *error);

// INVALID_ARGUMENT for a storage of another kind.
ACRE_API ACRE_CHECKED acre_status acre_storage_cuda_objects(const acre_storage *storage,
                                                            acre_cuda_objects *objects,
                                                            acre_error *error);

// A file descriptor that another process can import the memory behind `resource` with
// (CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR); the caller closes it. `offset` receives where the
// resource starts in that memory, in bytes. UNSUPPORTED for a storage that was not made with
// ACRE_CUDA_VIRTUAL and `exportable`; INVALID_ARGUMENT for a resource of another storage.
ACRE_API ACRE_CHECKED acre_status acre_storage_cuda_export(acre_storage *storage,
                                                           const acre_resource *resource,
                                                           int *descriptor, uint64_t *offset,
                                                           acre_error *error);

ACRE_END_DECLS

#endif
