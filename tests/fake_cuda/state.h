// What the files of the fake driver share: its objects, and how a call begins.
#ifndef ACRE_TESTS_FAKE_CUDA_STATE_H
#define ACRE_TESTS_FAKE_CUDA_STATE_H

#include "fake_cuda.h"

#include <stddef.h>

#define GRANULARITY (UINT64_C(2) << 20)

typedef enum object_kind {
    OBJECT_CONTEXT,
    OBJECT_ALLOCATION,
    OBJECT_POOL,
    OBJECT_RANGE,
    OBJECT_HANDLE,
    OBJECT_MAPPING,
    OBJECT_STREAM,
    OBJECT_EVENT,
    OBJECT_MODULE,
} object_kind;

typedef struct object {
    object_kind kind;
    struct object *next;
    struct object *context; // streams, events
    uint64_t address;       // allocations, ranges, mappings
    uint64_t size;          // those and handles; pools: bytes freed and kept
    struct object *pool;    // allocations: where from; mappings: their handle
    int file;               // handles
    int device;             // contexts
    int references;         // contexts: retained; handles: 1 for the caller, 1 for each mapping
    int handle_types;       // handles
    uint64_t threshold;     // pools: bytes they keep
    uint64_t id;            // streams
    bool accessible;        // mappings
    bool of_the_test;       // contexts, streams
    bool pending;           // events recorded while events are held
    bool capturing;         // streams
    bool broken;            // streams: their capture
} object;

// Ends the process: the driver was misused.
_Noreturn void misuse(const char *function, const char *what);

// A call begins. => 0, or the code it fails with.
typedef struct call {
    const char *name;
    int code;
} call;

call call_begin(const char *name, bool may_fail);
void call_end(const call *done);

// The first line of every function of the driver.
#define BEGIN_CALL(may_fail)                                                                       \
    __attribute__((cleanup(call_end))) const call this_call = call_begin(__func__, may_fail);      \
    if (this_call.code != 0) {                                                                     \
        return this_call.code;                                                                     \
    }
#define BEGIN() BEGIN_CALL(true)

object *object_create(object_kind kind);
void object_destroy(object *ended);
// => NULL when it is none of that kind that is alive.
object *object_find(object_kind kind, const void *pointer);
// The object of that kind that starts at, or has in it, an address.
object *object_at(object_kind kind, uint64_t address);
object *object_around(object_kind kind, uint64_t address);
object *object_first(void);
// Device memory that objects of these kinds hold.
uint64_t device_bytes(void);

// The primary context must be current.
object *need_context(const char *function);
// A stream that is alive, of the current context; NULL is the default one.
object *need_stream(const char *function, const void *stream);

// Device memory that may be touched has to be behind every byte.
void need_bytes(const char *function, uint64_t address, size_t size);

// A call that allocates, frees, waits or asks: while a stream is captured, other threads than
// relaxed ones break the capture. => 0 or 900.
int check_unsafe(void);
// The same for one that must not meet a captured stream at all; NULL = any stream.
int check_waits(const object *stream);
// Work given to a stream. => true when it goes into a capture instead.
bool is_captured(const object *stream);

object *primary_context(int device);
int thread_mode_exchange(int mode);

// ---- the functions of the driver -----------------------------------------------------------

typedef struct memory_properties {
    int type;
    int handle_types;
    int location_type;
    int location_id;
    void *win32;
    unsigned char flags[8];
} memory_properties;

typedef struct access_description {
    int location_type;
    int location_id;
    int flags;
} access_description;

int cuInit(unsigned flags);
int cuDriverGetVersion(int *version);
int cuGetErrorName(int code, const char **text);
int cuGetErrorString(int code, const char **text);
int cuGetProcAddress_v2(const char *name, void **function, int version, uint64_t flags,
                        int *status);
int cuDeviceGetCount(int *count);
int cuDeviceGet(int *device, int index);
int cuDeviceGetName(char *name, int capacity, int device);
int cuDeviceGetAttribute(int *value, int attribute, int device);
int cuDeviceTotalMem(size_t *bytes, int device);
int cuDevicePrimaryCtxRetain(void **context, int device);
int cuDevicePrimaryCtxRelease(int device);
int cuCtxPushCurrent(void *context);
int cuCtxPopCurrent(void **context);
int cuCtxSynchronize(void);
int cuThreadExchangeStreamCaptureMode(int *mode);

int cuMemAlloc(uint64_t *address, size_t size);
int cuMemFree(uint64_t address);
int cuMemPoolCreate(void **pool, const memory_properties *properties);
int cuMemPoolDestroy(void *pool);
int cuMemPoolSetAttribute(void *pool, int attribute, void *value);
int cuMemPoolTrimTo(void *pool, size_t keep);
int cuMemAllocFromPoolAsync(uint64_t *address, size_t size, void *pool, void *stream);
int cuMemFreeAsync(uint64_t address, void *stream);
int cuMemcpyDtoDAsync(uint64_t target, uint64_t source, size_t size, void *stream);
int cuMemcpyHtoDAsync(uint64_t target, const void *source, size_t size, void *stream);
int cuMemcpyDtoHAsync(void *target, uint64_t source, size_t size, void *stream);

int cuMemGetAllocationGranularity(size_t *granularity, const memory_properties *properties,
                                  int option);
int cuMemAddressReserve(uint64_t *address, size_t size, size_t alignment, uint64_t hint,
                        unsigned long long flags);
int cuMemAddressFree(uint64_t address, size_t size);
int cuMemCreate(uint64_t *handle, size_t size, const memory_properties *properties,
                unsigned long long flags);
int cuMemRelease(uint64_t handle);
int cuMemMap(uint64_t address, size_t size, size_t offset, uint64_t handle,
             unsigned long long flags);
int cuMemUnmap(uint64_t address, size_t size);
int cuMemSetAccess(uint64_t address, size_t size, const access_description *access, size_t count);
int cuMemExportToShareableHandle(void *exported, uint64_t handle, int type,
                                 unsigned long long flags);

int cuModuleLoadData(void **module, const void *image);
int cuModuleUnload(void *module);
int cuModuleGetFunction(void **function, void *module, const char *name);
int cuLaunchKernel(void *function, unsigned grid_x, unsigned grid_y, unsigned grid_z,
                   unsigned block_x, unsigned block_y, unsigned block_z, unsigned shared_bytes,
                   void *stream, void **parameters, void **extra);

int cuStreamCreate(void **stream, unsigned flags);
int cuStreamDestroy(void *stream);
int cuStreamSynchronize(void *stream);
int cuStreamGetCtx(void *stream, void **context);
int cuStreamGetId(void *stream, unsigned long long *id);
int cuStreamIsCapturing(void *stream, int *status);
int cuStreamWaitEvent(void *stream, void *event, unsigned flags);
int cuEventCreate(void **event, unsigned flags);
int cuEventDestroy(void *event);
int cuEventRecord(void *event, void *stream);
int cuEventQuery(void *event);
int cuEventSynchronize(void *event);

#endif
