// What is used of OpenCL, declared here so that nothing of it is needed to build, and the driver
// that it is reached through. tests/opencl_api.c holds these declarations against <CL/cl.h>.
#ifndef ACRE_STORAGE_OPENCL_API_H
#define ACRE_STORAGE_OPENCL_API_H

#include <acre/status.h>

#include "storage/script.h"

typedef struct opencl_platform_object *opencl_platform;
typedef struct opencl_device_object *opencl_device;
typedef struct opencl_context_object *opencl_context;
typedef struct opencl_queue_object *opencl_queue;
typedef struct opencl_buffer_object *opencl_buffer;
typedef struct opencl_event_object *opencl_event;

typedef struct opencl_region {
    size_t origin;
    size_t size;
} opencl_region;

enum {
    OPENCL_DEVICE_NOT_FOUND = -1,
    OPENCL_MEM_OBJECT_ALLOCATION_FAILURE = -4,
    OPENCL_OUT_OF_RESOURCES = -5,
    OPENCL_OUT_OF_HOST_MEMORY = -6,
    OPENCL_INVALID_BUFFER_SIZE = -61,
    OPENCL_PLATFORM_NOT_FOUND = -1001, // of the loader: no driver is installed

    OPENCL_PLATFORM_NAME = 0x0902,
    OPENCL_DEVICE_MAX_MEM_ALLOC_SIZE = 0x1010,
    OPENCL_DEVICE_MEM_BASE_ADDR_ALIGN = 0x1019, // in bits
    OPENCL_DEVICE_GLOBAL_MEM_SIZE = 0x101F,
    OPENCL_DEVICE_NAME = 0x102B,
    OPENCL_DRIVER_VERSION = 0x102D,
    OPENCL_DEVICE_VERSION = 0x102F,
    OPENCL_DEVICE_PLATFORM = 0x1031,
    OPENCL_DEVICE_SVM_CAPABILITIES = 0x1053,
    OPENCL_DEVICE_SVM_COARSE_GRAIN_BUFFER = 1,
    OPENCL_CONTEXT_PLATFORM = 0x1084,
    OPENCL_QUEUE_CONTEXT = 0x1090,
    OPENCL_QUEUE_DEVICE = 0x1091,
    OPENCL_QUEUE_PROPERTIES = 0x1093,
    OPENCL_QUEUE_OUT_OF_ORDER = 1,
    OPENCL_MEM_READ_WRITE = 1,
    OPENCL_MIGRATE_CONTENT_UNDEFINED = 2,
    OPENCL_BUFFER_CREATE_TYPE_REGION = 0x1220,
    OPENCL_EVENT_COMMAND_EXECUTION_STATUS = 0x11D3,
    OPENCL_COMPLETE = 0,
};

#define OPENCL_DEVICE_TYPE_ALL UINT64_C(0xFFFFFFFF)

// Functions as the driver has them; `code` receives what those say that return an object.
typedef struct opencl_api {
    int32_t (*get_platform_ids)(uint32_t capacity, opencl_platform *platforms, uint32_t *count);
    int32_t (*get_platform_info)(opencl_platform platform, uint32_t what, size_t capacity,
                                 void *value, size_t *size);
    int32_t (*get_device_ids)(opencl_platform platform, uint64_t type, uint32_t capacity,
                              opencl_device *devices, uint32_t *count);
    int32_t (*get_device_info)(opencl_device device, uint32_t what, size_t capacity, void *value,
                               size_t *size);
    opencl_context (*create_context)(const intptr_t *properties, uint32_t count,
                                     const opencl_device *devices,
                                     void (*notify)(const char *text, const void *data, size_t size,
                                                    void *user),
                                     void *user, int32_t *code);
    int32_t (*retain_context)(opencl_context context);
    int32_t (*release_context)(opencl_context context);
    opencl_queue (*create_queue)(opencl_context context, opencl_device device, uint64_t properties,
                                 int32_t *code);
    int32_t (*retain_queue)(opencl_queue queue);
    int32_t (*release_queue)(opencl_queue queue);
    int32_t (*get_queue_info)(opencl_queue queue, uint32_t what, size_t capacity, void *value,
                              size_t *size);
    opencl_buffer (*create_buffer)(opencl_context context, uint64_t flags, size_t size, void *host,
                                   int32_t *code);
    opencl_buffer (*create_sub_buffer)(opencl_buffer buffer, uint64_t flags, uint32_t type,
                                       const void *region, int32_t *code);
    int32_t (*release_buffer)(opencl_buffer buffer);
    int32_t (*migrate)(opencl_queue queue, uint32_t count, const opencl_buffer *buffers,
                       uint64_t flags, uint32_t waits, const opencl_event *wait_list,
                       opencl_event *event);
    int32_t (*copy_buffer)(opencl_queue queue, opencl_buffer source, opencl_buffer target,
                           size_t source_offset, size_t target_offset, size_t size, uint32_t waits,
                           const opencl_event *wait_list, opencl_event *event);
    int32_t (*read_buffer)(opencl_queue queue, opencl_buffer buffer, uint32_t blocking,
                           size_t offset, size_t size, void *bytes, uint32_t waits,
                           const opencl_event *wait_list, opencl_event *event);
    int32_t (*write_buffer)(opencl_queue queue, opencl_buffer buffer, uint32_t blocking,
                            size_t offset, size_t size, const void *bytes, uint32_t waits,
                            const opencl_event *wait_list, opencl_event *event);
    int32_t (*marker)(opencl_queue queue, uint32_t waits, const opencl_event *wait_list,
                      opencl_event *event);
    int32_t (*barrier)(opencl_queue queue, uint32_t waits, const opencl_event *wait_list,
                       opencl_event *event);
    int32_t (*get_event_info)(opencl_event event, uint32_t what, size_t capacity, void *value,
                              size_t *size);
    int32_t (*wait_for_events)(uint32_t count, const opencl_event *events);
    int32_t (*release_event)(opencl_event event);
    int32_t (*flush)(opencl_queue queue);
    int32_t (*finish)(opencl_queue queue);
    // Shared virtual memory; only where it was asked for.
    void *(*svm_alloc)(opencl_context context, uint64_t flags, size_t size, uint32_t alignment);
    void (*svm_free)(opencl_context context, void *memory);
    int32_t (*svm_copy)(opencl_queue queue, uint32_t blocking, void *target, const void *source,
                        size_t size, uint32_t waits, const opencl_event *wait_list,
                        opencl_event *event);
} opencl_api;

typedef struct opencl_driver {
    opencl_api api;
    acre_script script;
} opencl_driver;

// Opens a loader or driver. NULL = libOpenCL.so.1. => UNSUPPORTED when it is not to be had or lacks
// a function.
acre_status acre_opencl_open(opencl_driver *driver, const char *path, bool svm, acre_error *error);

// What to install where nothing of OpenCL is, as a clause.
extern const char acre_opencl_advice[];

// Counts a call. => the code that it fails with instead of reaching the driver, or 0.
static inline int32_t acre_opencl_ordered(opencl_driver *driver) {
    if (!acre_script_fails(&driver->script)) {
        return 0;
    }
    return driver->script.code == 0 ? OPENCL_MEM_OBJECT_ALLOCATION_FAILURE
                                    : (int32_t)driver->script.code;
}

// Every call of OpenCL is made by one of these, so that each can be made to fail. The first is for
// functions that return a code; the second sets `code` and is the object, NULL when there is none.
#define OPENCL_CALL(driver, code, function, ...)                                                   \
    ((code) = acre_opencl_ordered(driver),                                                         \
     (code) = (code) != 0 ? (code) : (driver)->api.function(__VA_ARGS__))
#define OPENCL_MAKE(driver, code, function, ...)                                                   \
    ((code) = acre_opencl_ordered(driver),                                                         \
     (code) != 0 ? NULL : (driver)->api.function(__VA_ARGS__, &(code)))

// => OUT_OF_MEMORY, OUT_OF_HOST_MEMORY or BACKEND_ERROR, by what the driver said.
acre_status acre_opencl_refused(acre_error *error, uint64_t size, int32_t code);

#endif
