// OpenCL: memory of one device through libOpenCL.so.1, which is opened when a storage is made.
// Nothing of OpenCL is needed to build against this header or to start a program.
#ifndef ACRE_STORAGE_OPENCL_H
#define ACRE_STORAGE_OPENCL_H

#include <acre/storage.h>

typedef struct acre_opencl_storage_params {
    size_t struct_size; // set by ACRE_OPENCL_STORAGE_PARAMS_INIT
    uint32_t device;    // its number over all platforms, as acre_device_info counts them
    // cl_context and an in-order cl_command_queue of it, both or neither; the storage retains
    // them, and `device` is not looked at. NULL = its own.
    void *context;
    void *queue;
    bool svm;                    // coarse-grained shared virtual memory instead of buffers
    uint64_t total_memory;       // bytes it will hold at most; 0 = the device's memory
    uint64_t largest_allocation; // bytes of one page; 0 = the device's largest
    const char *library;         // path of the loader or driver; NULL = libOpenCL.so.1
} acre_opencl_storage_params;

#if defined(__cplusplus)
#define ACRE_OPENCL_STORAGE_PARAMS_INIT                                                            \
    (acre_opencl_storage_params{sizeof(acre_opencl_storage_params), 0, nullptr, nullptr, false, 0, \
                                0, nullptr})
#else
#define ACRE_OPENCL_STORAGE_PARAMS_INIT                                                            \
    ((acre_opencl_storage_params){.struct_size = sizeof(acre_opencl_storage_params)})
#endif

// What a program needs to enqueue work on the same device. They live as long as the storage.
typedef struct acre_opencl_objects {
    size_t struct_size; // set by ACRE_OPENCL_OBJECTS_INIT
    void *platform;     // cl_platform_id
    void *device;       // cl_device_id
    void *context;      // cl_context
    void *queue;        // cl_command_queue of copies
} acre_opencl_objects;

#if defined(__cplusplus)
#define ACRE_OPENCL_OBJECTS_INIT                                                                   \
    (acre_opencl_objects{sizeof(acre_opencl_objects), nullptr, nullptr, nullptr, nullptr})
#else
#define ACRE_OPENCL_OBJECTS_INIT ((acre_opencl_objects){.struct_size = sizeof(acre_opencl_objects)})
#endif

ACRE_BEGIN_DECLS

// A storage of one device. Resources are ACRE_RESOURCE_OPENCL, with `svm` ACRE_RESOURCE_OPENCL_SVM.
// Slices start where a sub-buffer may (CL_DEVICE_MEM_BASE_ADDR_ALIGN; with `svm` on 128 bytes where
// that is less), unless a manager is given a smaller alignment. `params` and `hooks` may be NULL.
//
// Streams are queues of the context; the storage retains each that it was asked the id of until it
// is destroyed. Waiting for the device finishes those and the storage's own queue, no others.
//
// UNSUPPORTED: no loader, one without what is needed (OpenCL 1.2; 2.0 for `svm`), no platform, or a
// device without coarse-grained SVM; the text says which and what to install. INVALID_ARGUMENT: no
// such device, a context without a queue, or a queue that is out of order or of another context.
// BACKEND_ERROR: what the driver said.
ACRE_API ACRE_CHECKED acre_status
acre_storage_opencl_create(const acre_opencl_storage_params *params, const acre_host_hooks *hooks,
                           acre_storage **storage, acre_error *error);

// INVALID_ARGUMENT for a storage of another kind.
ACRE_API ACRE_CHECKED acre_status acre_storage_opencl_objects(const acre_storage *storage,
                                                              acre_opencl_objects *objects,
                                                              acre_error *error);

// A sub-buffer (cl_mem) over exactly the bytes of `resource`, for a kernel argument. The caller
// releases it with clReleaseMemObject before the allocation is released. INVALID_ARGUMENT when the
// resource does not start on the device's CL_DEVICE_MEM_BASE_ADDR_ALIGN or is no buffer's.
ACRE_API ACRE_CHECKED acre_status acre_storage_opencl_sub_buffer(acre_storage *storage,
                                                                 const acre_resource *resource,
                                                                 void **buffer, acre_error *error);

ACRE_END_DECLS

#endif
