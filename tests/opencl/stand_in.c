// See stand_in.h. Built three times: whole, as a loader of OpenCL 1.2 (STAND_IN_VERSION 12), which
// has no shared virtual memory, and as one of 1.1, which cannot migrate buffers either.
#include "opencl/stand_in.h"

#include "storage/opencl/api.h"

#include <stdlib.h>
#include <string.h>

#ifndef STAND_IN_VERSION
#define STAND_IN_VERSION 20
#endif

// The functions are found by name; nothing declares them.
#pragma GCC diagnostic ignored "-Wmissing-prototypes"

#define EXPORTED __attribute__((visibility("default")))

EXPORTED stand_in acre_stand_in;

// What is no platform of the real loader.
static char empty_platforms[8];

static bool is_empty(const void *platform) {
    const char *address = platform;
    return address >= empty_platforms && address < empty_platforms + sizeof empty_platforms;
}

static const opencl_api *real(void) {
    static opencl_driver driver;
    if (driver.api.finish == NULL) {
        acre_error error = ACRE_ERROR_INIT;
        if (acre_opencl_open(&driver, NULL, true, &error) != ACRE_OK) {
            abort();
        }
    }
    return &driver.api;
}

// Counts a call. => what it fails with, or 0.
static int32_t call(const char *name) {
    stand_in *own = &acre_stand_in;
    own->calls++;
    bool fails = own->fail_at != 0 &&
                 (own->calls == own->fail_at || (own->and_after && own->calls > own->fail_at));
    fails = fails || (own->failing != NULL && strcmp(own->failing, name) == 0);
    return fails ? own->code : 0;
}

// One function that returns a code, and how many references live after it.
#define PASS(name, field, change, parameters, arguments)                                           \
    EXPORTED int32_t name parameters {                                                             \
        int32_t code = call(#name);                                                                \
        code = code != 0 ? code : real()->field arguments;                                         \
        acre_stand_in.live += code == 0 ? (change) : 0;                                            \
        return code;                                                                               \
    }

// One that returns an object.
#define MAKE(type, name, field, parameters, arguments)                                             \
    EXPORTED type name parameters {                                                                \
        *code = call(#name);                                                                       \
        type made = *code != 0 ? NULL : real()->field arguments;                                   \
        acre_stand_in.live += made != NULL;                                                        \
        return made;                                                                               \
    }

// ---- platforms and devices -------------------------------------------------------------------

EXPORTED int32_t clGetPlatformIDs(uint32_t capacity, opencl_platform *platforms, uint32_t *count) {
    const stand_in *own = &acre_stand_in;
    int32_t code = call("clGetPlatformIDs");
    uint32_t real_count = 0;
    if (code == 0 && own->no_platforms) {
        if (count != NULL) {
            *count = 0;
        }
        return own->says_zero ? 0 : OPENCL_PLATFORM_NOT_FOUND;
    }
    if (code == 0 && !own->empty_only) {
        code = real()->get_platform_ids(
            capacity > own->empty ? capacity - own->empty : 0,
            platforms != NULL && capacity > own->empty ? platforms + own->empty : NULL,
            &real_count);
    }
    for (uint32_t i = 0; code == 0 && platforms != NULL && i < own->empty && i < capacity; i++) {
        platforms[i] = (opencl_platform)(void *)&empty_platforms[i];
    }
    if (code == 0 && count != NULL) {
        *count = own->empty + real_count;
    }
    return code;
}

EXPORTED int32_t clGetDeviceIDs(opencl_platform platform, uint64_t type, uint32_t capacity,
                                opencl_device *devices, uint32_t *count) {
    int32_t code = call("clGetDeviceIDs");
    if (code == 0 && is_empty(platform)) {
        return OPENCL_DEVICE_NOT_FOUND;
    }
    return code != 0 ? code : real()->get_device_ids(platform, type, capacity, devices, count);
}

// => the lie about it, or NULL.
static const void *lie(uint32_t what, size_t *size) {
    static const uint64_t none = 0;
    const stand_in *own = &acre_stand_in;
    switch (what) {
    case OPENCL_DEVICE_VERSION:
        *size = own->version == NULL ? 0 : strlen(own->version) + 1;
        return own->version;
    case OPENCL_DEVICE_SVM_CAPABILITIES:
        *size = sizeof none;
        return own->no_svm ? &none : NULL;
    case OPENCL_DEVICE_MEM_BASE_ADDR_ALIGN:
        *size = sizeof own->alignment;
        return own->alignment != 0 ? &own->alignment : NULL;
    case OPENCL_DEVICE_GLOBAL_MEM_SIZE:
        *size = sizeof own->memory;
        return own->memory != 0 ? &own->memory : NULL;
    case OPENCL_DEVICE_MAX_MEM_ALLOC_SIZE:
        *size = sizeof own->largest;
        return own->largest != 0 ? &own->largest : NULL;
    default:
        return NULL;
    }
}

EXPORTED int32_t clGetDeviceInfo(opencl_device device, uint32_t what, size_t capacity, void *value,
                                 size_t *size) {
    int32_t code = call("clGetDeviceInfo");
    size_t length = 0;
    const void *told = lie(what, &length);
    if (code == 0 && told != NULL && capacity >= length) {
        memcpy(value, told, length);
        return 0;
    }
    return code != 0 ? code : real()->get_device_info(device, what, capacity, value, size);
}

PASS(clGetPlatformInfo, get_platform_info, 0,
     (opencl_platform platform, uint32_t what, size_t capacity, void *value, size_t *size),
     (platform, what, capacity, value, size))

// ---- contexts, queues and buffers --------------------------------------------------------------

MAKE(opencl_context, clCreateContext, create_context,
     (const intptr_t *properties, uint32_t count, const opencl_device *devices,
      void (*notify)(const char *, const void *, size_t, void *), void *user, int32_t *code),
     (properties, count, devices, notify, user, code))
PASS(clRetainContext, retain_context, 1, (opencl_context context), (context))
PASS(clReleaseContext, release_context, -1, (opencl_context context), (context))
MAKE(opencl_queue, clCreateCommandQueue, create_queue,
     (opencl_context context, opencl_device device, uint64_t properties, int32_t *code),
     (context, device, properties, code))
PASS(clRetainCommandQueue, retain_queue, 1, (opencl_queue queue), (queue))
PASS(clReleaseCommandQueue, release_queue, -1, (opencl_queue queue), (queue))
PASS(clGetCommandQueueInfo, get_queue_info, 0,
     (opencl_queue queue, uint32_t what, size_t capacity, void *value, size_t *size),
     (queue, what, capacity, value, size))
MAKE(opencl_buffer, clCreateBuffer, create_buffer,
     (opencl_context context, uint64_t flags, size_t size, void *host, int32_t *code),
     (context, flags, size, host, code))
MAKE(opencl_buffer, clCreateSubBuffer, create_sub_buffer,
     (opencl_buffer buffer, uint64_t flags, uint32_t type, const void *region, int32_t *code),
     (buffer, flags, type, region, code))
PASS(clReleaseMemObject, release_buffer, -1, (opencl_buffer buffer), (buffer))

// ---- work ------------------------------------------------------------------------------------

#if STAND_IN_VERSION >= 12
PASS(clEnqueueMigrateMemObjects, migrate, 0,
     (opencl_queue queue, uint32_t count, const opencl_buffer *buffers, uint64_t flags,
      uint32_t waits, const opencl_event *list, opencl_event *event),
     (queue, count, buffers, flags, waits, list, event))
#endif
PASS(clEnqueueCopyBuffer, copy_buffer, 0,
     (opencl_queue queue, opencl_buffer source, opencl_buffer target, size_t from, size_t to,
      size_t size, uint32_t waits, const opencl_event *list, opencl_event *event),
     (queue, source, target, from, to, size, waits, list, event))
PASS(clEnqueueReadBuffer, read_buffer, 0,
     (opencl_queue queue, opencl_buffer buffer, uint32_t blocking, size_t offset, size_t size,
      void *bytes, uint32_t waits, const opencl_event *list, opencl_event *event),
     (queue, buffer, blocking, offset, size, bytes, waits, list, event))
PASS(clEnqueueWriteBuffer, write_buffer, 0,
     (opencl_queue queue, opencl_buffer buffer, uint32_t blocking, size_t offset, size_t size,
      const void *bytes, uint32_t waits, const opencl_event *list, opencl_event *event),
     (queue, buffer, blocking, offset, size, bytes, waits, list, event))
PASS(clEnqueueMarkerWithWaitList, marker, 1,
     (opencl_queue queue, uint32_t waits, const opencl_event *list, opencl_event *event),
     (queue, waits, list, event))
PASS(clEnqueueBarrierWithWaitList, barrier, 0,
     (opencl_queue queue, uint32_t waits, const opencl_event *list, opencl_event *event),
     (queue, waits, list, event))
PASS(clWaitForEvents, wait_for_events, 0, (uint32_t count, const opencl_event *events),
     (count, events))
PASS(clReleaseEvent, release_event, -1, (opencl_event event), (event))
PASS(clFlush, flush, 0, (opencl_queue queue), (queue))

EXPORTED int32_t clFinish(opencl_queue queue) {
    int32_t code = call("clFinish");
    acre_stand_in.finishes++;
    return code != 0 ? code : real()->finish(queue);
}

EXPORTED int32_t clGetEventInfo(opencl_event event, uint32_t what, size_t capacity, void *value,
                                size_t *size) {
    int32_t code = call("clGetEventInfo");
    code = code != 0 ? code : real()->get_event_info(event, what, capacity, value, size);
    if (code == 0 && acre_stand_in.event_status != 0) {
        *(int32_t *)value = acre_stand_in.event_status;
    }
    return code;
}

#if STAND_IN_VERSION >= 20
EXPORTED void *clSVMAlloc(opencl_context context, uint64_t flags, size_t size, uint32_t alignment) {
    acre_stand_in.svm_alignment = alignment;
    void *memory =
        call("clSVMAlloc") != 0 ? NULL : real()->svm_alloc(context, flags, size, alignment);
    acre_stand_in.live += memory != NULL;
    return memory;
}

EXPORTED void clSVMFree(opencl_context context, void *memory) {
    if (call("clSVMFree") == 0) {
        real()->svm_free(context, memory);
        acre_stand_in.live--;
    }
}

PASS(clEnqueueSVMMemcpy, svm_copy, 0,
     (opencl_queue queue, uint32_t blocking, void *target, const void *source, size_t size,
      uint32_t waits, const opencl_event *list, opencl_event *event),
     (queue, blocking, target, source, size, waits, list, event))
#endif
