// What is used of the CUDA driver API: own declarations of it, after the reference manual of CUDA
// 12.0, so that nothing of CUDA is needed to build. tests/cuda_abi.c holds them against <cuda.h>
// where there is one.
#ifndef ACRE_STORAGE_CUDA_API_H
#define ACRE_STORAGE_CUDA_API_H

#include <acre/status.h>

// The oldest driver that is taken, and the version whose functions are asked of any later one:
// what a function does and takes is then the same whatever driver is installed.
#define ACRE_CUDA_VERSION 12000

typedef int acre_cuda_result;  // CUresult
typedef int acre_cuda_ordinal; // CUdevice
typedef struct CUctx_st *acre_cuda_context;
typedef struct CUstream_st *acre_cuda_stream;
typedef struct CUevent_st *acre_cuda_event;
typedef struct CUmemPoolHandle_st *acre_cuda_pool;
typedef struct CUmod_st *acre_cuda_module;
typedef struct CUfunc_st *acre_cuda_function;

enum { // of CUresult
    ACRE_CUDA_SUCCESS = 0,
    ACRE_CUDA_INVALID_VALUE = 1,
    ACRE_CUDA_OUT_OF_MEMORY = 2,
    ACRE_CUDA_STUB_LIBRARY = 34,
    ACRE_CUDA_NO_DEVICE = 100,
    ACRE_CUDA_INVALID_CONTEXT = 201,
    ACRE_CUDA_NOT_READY = 600,
    ACRE_CUDA_STREAM_CAPTURE_UNSUPPORTED = 900,
};

enum {
    ACRE_CUDA_ATTRIBUTE_VIRTUAL_MEMORY = 102,
    ACRE_CUDA_ATTRIBUTE_EXPORT_DESCRIPTOR = 103,
    ACRE_CUDA_ATTRIBUTE_MEMORY_POOLS = 115,

    ACRE_CUDA_STREAM_NON_BLOCKING = 1,
    ACRE_CUDA_EVENT_DISABLE_TIMING = 2,
    ACRE_CUDA_CAPTURE_STATUS_NONE = 0,
    ACRE_CUDA_CAPTURE_MODE_RELAXED = 2,

    ACRE_CUDA_ALLOCATION_PINNED = 1,
    ACRE_CUDA_LOCATION_DEVICE = 1,
    ACRE_CUDA_HANDLE_NONE = 0,
    ACRE_CUDA_HANDLE_DESCRIPTOR = 1,
    ACRE_CUDA_GRANULARITY_RECOMMENDED = 1,
    ACRE_CUDA_ACCESS_READ_WRITE = 3,
    ACRE_CUDA_POOL_RELEASE_THRESHOLD = 4,
};

typedef struct acre_cuda_location { // CUmemLocation
    int type;
    int id;
} acre_cuda_location;

typedef struct acre_cuda_memory_properties { // CUmemAllocationProp
    int type;
    int handle_types;
    acre_cuda_location location;
    void *win32_meta_data;
    unsigned char flags[8];
} acre_cuda_memory_properties;

typedef struct acre_cuda_access { // CUmemAccessDesc
    acre_cuda_location location;
    int flags;
} acre_cuda_access;

typedef struct acre_cuda_pool_properties { // CUmemPoolProps
    int type;
    int handle_types;
    acre_cuda_location location;
    void *win32_attributes;
    unsigned char reserved[64];
} acre_cuda_pool_properties;

// X(own name, the driver's name, parameters). A device address is a uint64_t, and so is the handle
// of memory without an address.
#define ACRE_CUDA_FUNCTIONS(X)                                                                     \
    X(device_get_count, "cuDeviceGetCount", (int *count))                                          \
    X(device_get, "cuDeviceGet", (acre_cuda_ordinal * device, int index))                          \
    X(device_get_name, "cuDeviceGetName", (char *name, int capacity, acre_cuda_ordinal device))    \
    X(device_get_attribute, "cuDeviceGetAttribute",                                                \
      (int *value, int attribute, acre_cuda_ordinal device))                                       \
    X(device_total_memory, "cuDeviceTotalMem", (size_t * bytes, acre_cuda_ordinal device))         \
    X(primary_retain, "cuDevicePrimaryCtxRetain",                                                  \
      (acre_cuda_context * context, acre_cuda_ordinal device))                                     \
    X(primary_release, "cuDevicePrimaryCtxRelease", (acre_cuda_ordinal device))                    \
    X(context_push, "cuCtxPushCurrent", (acre_cuda_context context))                               \
    X(context_pop, "cuCtxPopCurrent", (acre_cuda_context * context))                               \
    X(context_synchronize, "cuCtxSynchronize", (void))                                             \
    X(capture_mode_exchange, "cuThreadExchangeStreamCaptureMode", (int *mode))                     \
    X(memory_alloc, "cuMemAlloc", (uint64_t * address, size_t size))                               \
    X(memory_free, "cuMemFree", (uint64_t address))                                                \
    X(pool_create, "cuMemPoolCreate",                                                              \
      (acre_cuda_pool * pool, const acre_cuda_pool_properties *properties))                        \
    X(pool_destroy, "cuMemPoolDestroy", (acre_cuda_pool pool))                                     \
    X(pool_set_attribute, "cuMemPoolSetAttribute",                                                 \
      (acre_cuda_pool pool, int attribute, void *value))                                           \
    X(pool_trim, "cuMemPoolTrimTo", (acre_cuda_pool pool, size_t keep))                            \
    X(pool_alloc, "cuMemAllocFromPoolAsync",                                                       \
      (uint64_t * address, size_t size, acre_cuda_pool pool, acre_cuda_stream stream))             \
    X(pool_free, "cuMemFreeAsync", (uint64_t address, acre_cuda_stream stream))                    \
    X(granularity, "cuMemGetAllocationGranularity",                                                \
      (size_t * granularity, const acre_cuda_memory_properties *properties, int option))           \
    X(range_reserve, "cuMemAddressReserve",                                                        \
      (uint64_t * address, size_t size, size_t alignment, uint64_t hint,                           \
       unsigned long long flags))                                                                  \
    X(range_free, "cuMemAddressFree", (uint64_t address, size_t size))                             \
    X(handle_create, "cuMemCreate",                                                                \
      (uint64_t * handle, size_t size, const acre_cuda_memory_properties *properties,              \
       unsigned long long flags))                                                                  \
    X(handle_release, "cuMemRelease", (uint64_t handle))                                           \
    X(map, "cuMemMap",                                                                             \
      (uint64_t address, size_t size, size_t offset, uint64_t handle, unsigned long long flags))   \
    X(unmap, "cuMemUnmap", (uint64_t address, size_t size))                                        \
    X(set_access, "cuMemSetAccess",                                                                \
      (uint64_t address, size_t size, const acre_cuda_access *access, size_t count))               \
    X(handle_export, "cuMemExportToShareableHandle",                                               \
      (void *exported, uint64_t handle, int type, unsigned long long flags))                       \
    X(copy, "cuMemcpyDtoDAsync",                                                                   \
      (uint64_t target, uint64_t source, size_t size, acre_cuda_stream stream))                    \
    X(copy_in, "cuMemcpyHtoDAsync",                                                                \
      (uint64_t target, const void *source, size_t size, acre_cuda_stream stream))                 \
    X(copy_out, "cuMemcpyDtoHAsync",                                                               \
      (void *target, uint64_t source, size_t size, acre_cuda_stream stream))                       \
    X(module_load, "cuModuleLoadData", (acre_cuda_module * module, const void *image))             \
    X(module_unload, "cuModuleUnload", (acre_cuda_module module))                                  \
    X(module_function, "cuModuleGetFunction",                                                      \
      (acre_cuda_function * function, acre_cuda_module module, const char *name))                  \
    X(launch, "cuLaunchKernel",                                                                    \
      (acre_cuda_function function, unsigned grid_x, unsigned grid_y, unsigned grid_z,             \
       unsigned block_x, unsigned block_y, unsigned block_z, unsigned shared_bytes,                \
       acre_cuda_stream stream, void **parameters, void **extra))                                  \
    X(stream_create, "cuStreamCreate", (acre_cuda_stream * stream, unsigned flags))                \
    X(stream_destroy, "cuStreamDestroy", (acre_cuda_stream stream))                                \
    X(stream_synchronize, "cuStreamSynchronize", (acre_cuda_stream stream))                        \
    X(stream_get_context, "cuStreamGetCtx",                                                        \
      (acre_cuda_stream stream, acre_cuda_context * context))                                      \
    X(stream_get_id, "cuStreamGetId", (acre_cuda_stream stream, unsigned long long *id))           \
    X(stream_is_capturing, "cuStreamIsCapturing", (acre_cuda_stream stream, int *status))          \
    X(stream_wait_event, "cuStreamWaitEvent",                                                      \
      (acre_cuda_stream stream, acre_cuda_event event, unsigned flags))                            \
    X(event_create, "cuEventCreate", (acre_cuda_event * event, unsigned flags))                    \
    X(event_destroy, "cuEventDestroy", (acre_cuda_event event))                                    \
    X(event_record, "cuEventRecord", (acre_cuda_event event, acre_cuda_stream stream))             \
    X(event_query, "cuEventQuery", (acre_cuda_event event))                                        \
    X(event_synchronize, "cuEventSynchronize", (acre_cuda_event event))

typedef struct acre_cuda_api {
    // Taken from the library by their names, since any driver has them.
    acre_cuda_result (*init)(unsigned flags);
    acre_cuda_result (*driver_version)(int *version);
    acre_cuda_result (*error_name)(acre_cuda_result code, const char **text);
    acre_cuda_result (*error_text)(acre_cuda_result code, const char **text);
    // By name and version.
    acre_cuda_result (*function)(const char *name, void **function, int version, uint64_t flags,
                                 int *status);
#define ACRE_CUDA_MEMBER(name, driver_name, parameters) acre_cuda_result(*name) parameters;
    ACRE_CUDA_FUNCTIONS(ACRE_CUDA_MEMBER)
#undef ACRE_CUDA_MEMBER
} acre_cuda_api;

// Opens the driver (NULL = libcuda.so.1) and starts it. => UNSUPPORTED, with what to install, when
// there is none, a stub or one too old, or it finds no device; BACKEND_ERROR, what it said.
acre_status acre_cuda_open(const char *path, acre_cuda_api *api, acre_error *error);

// => OUT_OF_MEMORY for the driver's own, BACKEND_ERROR for every other code, with its name and
// text.
acre_status acre_cuda_refused(const acre_cuda_api *api, uint64_t size, acre_cuda_result code,
                              acre_error *error);

#endif
