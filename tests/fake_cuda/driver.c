// The fake driver itself: its functions by name, devices, contexts; its objects, and how a call
// begins and fails.
#include "state.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define FUNCTION(name, since)                                                                      \
    { #name, since, (void (*)(void))name, 0 }

static struct function {
    const char *name;
    int since;
    void (*address)(void);
    uint64_t calls;
} functions[] = {
    FUNCTION(cuInit, 2000),
    FUNCTION(cuDriverGetVersion, 2020),
    FUNCTION(cuGetProcAddress_v2, 12000),
    FUNCTION(cuDeviceGetCount, 2000),
    FUNCTION(cuDeviceGet, 2000),
    FUNCTION(cuDeviceGetName, 2000),
    FUNCTION(cuDeviceGetAttribute, 2000),
    FUNCTION(cuDeviceTotalMem, 3020),
    FUNCTION(cuDevicePrimaryCtxRetain, 7000),
    FUNCTION(cuDevicePrimaryCtxRelease, 11000),
    FUNCTION(cuCtxPushCurrent, 4000),
    FUNCTION(cuCtxPopCurrent, 4000),
    FUNCTION(cuCtxSynchronize, 2000),
    FUNCTION(cuThreadExchangeStreamCaptureMode, 10010),
    FUNCTION(cuMemAlloc, 3020),
    FUNCTION(cuMemFree, 3020),
    FUNCTION(cuMemPoolCreate, 11020),
    FUNCTION(cuMemPoolDestroy, 11020),
    FUNCTION(cuMemPoolSetAttribute, 11020),
    FUNCTION(cuMemPoolTrimTo, 11020),
    FUNCTION(cuMemAllocFromPoolAsync, 11020),
    FUNCTION(cuMemFreeAsync, 11020),
    FUNCTION(cuMemcpyDtoDAsync, 3020),
    FUNCTION(cuMemcpyHtoDAsync, 3020),
    FUNCTION(cuMemcpyDtoHAsync, 3020),
    FUNCTION(cuMemGetAllocationGranularity, 10020),
    FUNCTION(cuMemAddressReserve, 10020),
    FUNCTION(cuMemAddressFree, 10020),
    FUNCTION(cuMemCreate, 10020),
    FUNCTION(cuMemRelease, 10020),
    FUNCTION(cuMemMap, 10020),
    FUNCTION(cuMemUnmap, 10020),
    FUNCTION(cuMemSetAccess, 10020),
    FUNCTION(cuMemExportToShareableHandle, 10020),
    FUNCTION(cuModuleLoadData, 2000),
    FUNCTION(cuModuleUnload, 2000),
    FUNCTION(cuModuleGetFunction, 2000),
    FUNCTION(cuLaunchKernel, 4000),
    FUNCTION(cuStreamCreate, 2000),
    FUNCTION(cuStreamDestroy, 4000),
    FUNCTION(cuStreamSynchronize, 2000),
    FUNCTION(cuStreamGetCtx, 9020),
    FUNCTION(cuStreamGetId, 12000),
    FUNCTION(cuStreamIsCapturing, 10000),
    FUNCTION(cuStreamWaitEvent, 3020),
    FUNCTION(cuEventCreate, 2000),
    FUNCTION(cuEventDestroy, 4000),
    FUNCTION(cuEventRecord, 2000),
    FUNCTION(cuEventQuery, 2000),
    FUNCTION(cuEventSynchronize, 2000),
};

#define FUNCTION_COUNT (sizeof functions / sizeof functions[0])

static const fake_cuda_knobs at_first = {
    .version = 13000, .devices = 2, .memory = UINT64_C(64) << 30, .fail_code = 2};

static fake_cuda_knobs knobs = {
    .version = 13000, .devices = 2, .memory = UINT64_C(64) << 30, .fail_code = 2};
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static object *objects;
static uint64_t all_calls;
static uint64_t all_streams;

static _Thread_local object *contexts[16]; // of this thread; the last one is current
static _Thread_local int context_count;
static _Thread_local int capture_mode;

// ---- calls ---------------------------------------------------------------------------------

_Noreturn void misuse(const char *function, const char *what) {
    fprintf(stderr, "fake CUDA driver: %s: %s\n", function, what);
    abort();
}

static struct function *find_function(const char *name) {
    for (size_t i = 0; i < FUNCTION_COUNT; i++) {
        if (strcmp(functions[i].name, name) == 0) {
            return &functions[i];
        }
    }
    return NULL;
}

call call_begin(const char *name, bool may_fail) {
    pthread_mutex_lock(&lock);
    struct function *called = find_function(name);
    if (called == NULL) {
        misuse(name, "is not in the table of functions");
    }
    called->calls++;
    all_calls++;
    call begun = {name, 0};
    if (may_fail && knobs.fail_at != 0) {
        bool now = knobs.fail_at == 1;
        // The order stays at 1 when every later call fails, too.
        knobs.fail_at -= now && knobs.and_after ? 0 : 1;
        begun.code = now ? knobs.fail_code : 0;
        knobs.failed = knobs.failed || now;
    }
    return begun;
}

void call_end(const call *done) {
    (void)done;
    pthread_mutex_unlock(&lock);
}

// ---- objects -------------------------------------------------------------------------------

object *object_create(object_kind kind) {
    object *made = calloc(1, sizeof *made);
    if (made == NULL) {
        misuse("calloc", "no host memory");
    }
    made->kind = kind;
    made->file = -1;
    made->next = objects;
    objects = made;
    made->id = kind == OBJECT_STREAM ? 100 + ++all_streams : 0;
    return made;
}

void object_destroy(object *ended) {
    object **link = &objects;
    while (*link != ended) {
        link = &(*link)->next;
    }
    *link = ended->next;
    if (ended->kind == OBJECT_ALLOCATION || ended->kind == OBJECT_RANGE) {
        munmap((void *)(uintptr_t)ended->address, ended->size);
    }
    if (ended->file >= 0) {
        close(ended->file);
    }
    free(ended);
}

object *object_find(object_kind kind, const void *pointer) {
    for (object *it = objects; it != NULL; it = it->next) {
        if (it == pointer && it->kind == kind) {
            return it;
        }
    }
    return NULL;
}

object *object_at(object_kind kind, uint64_t address) {
    object *found = object_around(kind, address);
    return found != NULL && found->address == address ? found : NULL;
}

object *object_around(object_kind kind, uint64_t address) {
    for (object *it = objects; it != NULL; it = it->next) {
        if (it->kind == kind && address >= it->address && address - it->address < it->size) {
            return it;
        }
    }
    return NULL;
}

object *object_first(void) {
    return objects;
}

uint64_t device_bytes(void) {
    uint64_t bytes = 0;
    for (const object *it = objects; it != NULL; it = it->next) {
        bool holds =
            it->kind == OBJECT_ALLOCATION || it->kind == OBJECT_HANDLE || it->kind == OBJECT_POOL;
        bytes += holds ? it->size : 0;
    }
    return bytes;
}

// ---- contexts ------------------------------------------------------------------------------

object *primary_context(int device) {
    for (object *it = objects; it != NULL; it = it->next) {
        if (it->kind == OBJECT_CONTEXT && !it->of_the_test && it->device == device) {
            return it;
        }
    }
    object *made = object_create(OBJECT_CONTEXT);
    made->device = device;
    return made;
}

object *need_context(const char *function) {
    object *current = context_count == 0 ? NULL : contexts[context_count - 1];
    if (current == NULL || current->of_the_test || current->references == 0) {
        misuse(function, "the primary context is not current, or not retained");
    }
    return current;
}

object *need_stream(const char *function, const void *stream) {
    const object *context = need_context(function);
    if (stream == NULL) {
        return NULL;
    }
    object *found = object_find(OBJECT_STREAM, stream);
    if (found == NULL || found->context != context) {
        misuse(function, "a stream that is none, or of another context");
    }
    return found;
}

static void check_leaks(const object *context) {
    for (const object *it = objects; it != NULL && !knobs.allow_leaks; it = it->next) {
        if (it->kind != OBJECT_CONTEXT && !it->of_the_test &&
            (it->context == NULL || it->context == context)) {
            fprintf(stderr, "fake CUDA driver: an object of kind %d is left\n", (int)it->kind);
            misuse("cuDevicePrimaryCtxRelease", "the context ends with objects in it");
        }
    }
}

int cuDevicePrimaryCtxRetain(void **context, int device) {
    BEGIN();
    object *primary = primary_context(device);
    primary->references++;
    *context = primary;
    return 0;
}

int cuDevicePrimaryCtxRelease(int device) {
    BEGIN();
    object *primary = primary_context(device);
    if (primary->references == 0) {
        misuse(__func__, "the context is not retained");
    }
    if (--primary->references == 0) {
        check_leaks(primary);
    }
    return 0;
}

int cuCtxPushCurrent(void *context) {
    BEGIN();
    object *pushed = object_find(OBJECT_CONTEXT, context);
    if (pushed == NULL || context_count == (int)(sizeof contexts / sizeof contexts[0])) {
        misuse(__func__, "no context, or too many of them");
    }
    contexts[context_count++] = pushed;
    return 0;
}

// Never fails on order: what follows would be the fault of the order.
int cuCtxPopCurrent(void **context) {
    BEGIN_CALL(false);
    if (context_count == 0) {
        misuse(__func__, "this thread has no context");
    }
    *context = contexts[--context_count];
    return 0;
}

int cuThreadExchangeStreamCaptureMode(int *mode) {
    BEGIN_CALL(false);
    need_context(__func__);
    *mode = thread_mode_exchange(*mode);
    return 0;
}

int thread_mode_exchange(int mode) {
    int before = capture_mode;
    capture_mode = mode;
    return before;
}

// ---- the driver and its devices ------------------------------------------------------------

int cuInit(unsigned flags) {
    (void)flags;
    BEGIN();
    return knobs.init_result;
}

int cuDriverGetVersion(int *version) {
    BEGIN();
    *version = knobs.version;
    return 0;
}

static const struct error_text {
    int code;
    const char *name;
    const char *text;
} error_texts[] = {
    {1, "CUDA_ERROR_INVALID_VALUE", "invalid argument"},
    {2, "CUDA_ERROR_OUT_OF_MEMORY", "out of memory"},
    {34, "CUDA_ERROR_STUB_LIBRARY", "CUDA driver is a stub library"},
    {100, "CUDA_ERROR_NO_DEVICE", "no CUDA-capable device is detected"},
    {101, "CUDA_ERROR_INVALID_DEVICE", "invalid device ordinal"},
    {600, "CUDA_ERROR_NOT_READY", "device not ready"},
    {700, "CUDA_ERROR_ILLEGAL_ADDRESS", "an illegal memory access was encountered"},
    {801, "CUDA_ERROR_NOT_SUPPORTED", "operation not supported"},
    {900, "CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED",
     "operation not permitted when stream is capturing"},
};

static const struct error_text *find_error(int code) {
    for (size_t i = 0; i < sizeof error_texts / sizeof error_texts[0]; i++) {
        if (error_texts[i].code == code) {
            return &error_texts[i];
        }
    }
    return NULL;
}

int cuGetErrorName(int code, const char **text) {
    const struct error_text *found = find_error(code);
    *text = found == NULL ? NULL : found->name;
    return found == NULL ? 1 : 0;
}

int cuGetErrorString(int code, const char **text) {
    const struct error_text *found = find_error(code);
    *text = found == NULL ? NULL : found->text;
    return found == NULL ? 1 : 0;
}

int cuGetProcAddress_v2(const char *name, void **function, int version, uint64_t flags,
                        int *status) {
    (void)flags;
    BEGIN();
    const struct function *found = find_function(name);
    bool hidden = knobs.hidden != NULL && strcmp(knobs.hidden, name) == 0;
    *function = NULL;
    *status = 1; // not found
    if (found == NULL || hidden || version < found->since || version > knobs.version) {
        return found == NULL || hidden ? 500 : 0; // CUDA_ERROR_NOT_FOUND
    }
    memcpy(function, &found->address, sizeof found->address);
    *status = 0;
    return 0;
}

int cuDeviceGetCount(int *count) {
    BEGIN();
    *count = knobs.devices;
    return 0;
}

int cuDeviceGet(int *device, int index) {
    BEGIN();
    *device = index;
    return index >= 0 && index < knobs.devices ? 0 : 101;
}

int cuDeviceGetName(char *name, int capacity, int device) {
    BEGIN();
    snprintf(name, (size_t)capacity, "Fake device %d", device);
    return 0;
}

int cuDeviceGetAttribute(int *value, int attribute, int device) {
    (void)device;
    BEGIN();
    *value = attribute == 102   ? !knobs.no_mapping
             : attribute == 103 ? !knobs.no_export
             : attribute == 115 ? !knobs.no_pools
                                : 0;
    return 0;
}

int cuDeviceTotalMem(size_t *bytes, int device) {
    (void)device;
    BEGIN();
    *bytes = knobs.memory;
    return 0;
}

// ---- knobs ---------------------------------------------------------------------------------

fake_cuda_knobs *fake_cuda(void) {
    return &knobs;
}

void fake_cuda_reset(void) {
    while (objects != NULL) {
        object_destroy(objects);
    }
    for (size_t i = 0; i < FUNCTION_COUNT; i++) {
        functions[i].calls = 0;
    }
    knobs = at_first;
    all_calls = 0;
    context_count = 0;
    capture_mode = 0;
}

uint64_t fake_cuda_calls(const char *name) {
    const struct function *found = name == NULL ? NULL : find_function(name);
    if (name != NULL && found == NULL) {
        misuse(name, "is not in the table of functions");
    }
    return name == NULL ? all_calls : found->calls;
}

uint64_t fake_cuda_live(void) {
    uint64_t count = 0;
    for (const object *it = objects; it != NULL; it = it->next) {
        count += it->kind == OBJECT_CONTEXT ? it->references > 0 : !it->of_the_test;
    }
    return count;
}

uint64_t fake_cuda_bytes(void) {
    return device_bytes();
}

void *fake_cuda_context_create(void) {
    object *made = object_create(OBJECT_CONTEXT);
    made->of_the_test = true;
    return made;
}

void fake_cuda_set_current(void *context) {
    contexts[0] = context;
    context_count = context == NULL ? 0 : 1;
}

void *fake_cuda_current(void) {
    return context_count == 0 ? NULL : contexts[context_count - 1];
}

int fake_cuda_capture_mode(void) {
    return capture_mode;
}
