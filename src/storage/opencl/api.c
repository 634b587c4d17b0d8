#include "storage/opencl/api.h"

#include "base/error.h"
#include "storage/library.h"

#include <stdio.h>

const char acre_opencl_advice[] =
    "install an OpenCL driver, such as the GPU vendor's or pocl-opencl-icd, and ocl-icd-libopencl1";

#define FUNCTION(name, field)                                                                      \
    { name, offsetof(opencl_api, field) }

static const acre_library_function functions[] = {
    FUNCTION("clGetPlatformIDs", get_platform_ids),
    FUNCTION("clGetPlatformInfo", get_platform_info),
    FUNCTION("clGetDeviceIDs", get_device_ids),
    FUNCTION("clGetDeviceInfo", get_device_info),
    FUNCTION("clCreateContext", create_context),
    FUNCTION("clRetainContext", retain_context),
    FUNCTION("clReleaseContext", release_context),
    FUNCTION("clCreateCommandQueue", create_queue),
    FUNCTION("clRetainCommandQueue", retain_queue),
    FUNCTION("clReleaseCommandQueue", release_queue),
    FUNCTION("clGetCommandQueueInfo", get_queue_info),
    FUNCTION("clCreateBuffer", create_buffer),
    FUNCTION("clCreateSubBuffer", create_sub_buffer),
    FUNCTION("clReleaseMemObject", release_buffer),
    FUNCTION("clEnqueueMigrateMemObjects", migrate),
    FUNCTION("clEnqueueCopyBuffer", copy_buffer),
    FUNCTION("clEnqueueReadBuffer", read_buffer),
    FUNCTION("clEnqueueWriteBuffer", write_buffer),
    FUNCTION("clEnqueueMarkerWithWaitList", marker),
    FUNCTION("clEnqueueBarrierWithWaitList", barrier),
    FUNCTION("clGetEventInfo", get_event_info),
    FUNCTION("clWaitForEvents", wait_for_events),
    FUNCTION("clReleaseEvent", release_event),
    FUNCTION("clFlush", flush),
    FUNCTION("clFinish", finish),
};

static const acre_library_function svm_functions[] = {
    FUNCTION("clSVMAlloc", svm_alloc),
    FUNCTION("clSVMFree", svm_free),
    FUNCTION("clEnqueueSVMMemcpy", svm_copy),
};

acre_status acre_opencl_open(opencl_driver *driver, const char *path, bool svm, acre_error *error) {
    void *library = NULL;
    acre_status status = acre_library_open(path == NULL ? "libOpenCL.so.1" : path,
                                           acre_opencl_advice, &library, error);
    if (status == ACRE_OK) {
        status = acre_library_functions(library, functions, sizeof functions / sizeof functions[0],
                                        &driver->api, "a loader of OpenCL 1.2 or later is needed",
                                        error);
    }
    if (status == ACRE_OK && svm) {
        status = acre_library_functions(
            library, svm_functions, sizeof svm_functions / sizeof svm_functions[0], &driver->api,
            "shared virtual memory needs a loader of OpenCL 2.0 or later", error);
    }
    return status;
}

// What the functions above are specified to say, and what loaders and drivers say beside it.
static const struct {
    int32_t code;
    const char *name;
} names[] = {
    {-1, "CL_DEVICE_NOT_FOUND"},
    {-2, "CL_DEVICE_NOT_AVAILABLE"},
    {-4, "CL_MEM_OBJECT_ALLOCATION_FAILURE"},
    {-5, "CL_OUT_OF_RESOURCES"},
    {-6, "CL_OUT_OF_HOST_MEMORY"},
    {-8, "CL_MEM_COPY_OVERLAP"},
    {-12, "CL_MAP_FAILURE"},
    {-13, "CL_MISALIGNED_SUB_BUFFER_OFFSET"},
    {-14, "CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST"},
    {-30, "CL_INVALID_VALUE"},
    {-31, "CL_INVALID_DEVICE_TYPE"},
    {-32, "CL_INVALID_PLATFORM"},
    {-33, "CL_INVALID_DEVICE"},
    {-34, "CL_INVALID_CONTEXT"},
    {-35, "CL_INVALID_QUEUE_PROPERTIES"},
    {-36, "CL_INVALID_COMMAND_QUEUE"},
    {-37, "CL_INVALID_HOST_PTR"},
    {-38, "CL_INVALID_MEM_OBJECT"},
    {-57, "CL_INVALID_EVENT_WAIT_LIST"},
    {-58, "CL_INVALID_EVENT"},
    {-59, "CL_INVALID_OPERATION"},
    {-61, "CL_INVALID_BUFFER_SIZE"},
    {-64, "CL_INVALID_PROPERTY"},
    {-1001, "CL_PLATFORM_NOT_FOUND_KHR"},
    {-9999, "NVIDIA's error of an illegal access by a kernel"},
};

static const char *name_of(int32_t code) {
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        if (names[i].code == code) {
            return names[i].name;
        }
    }
    return "an error that the OpenCL specification does not name";
}

acre_status acre_opencl_refused(acre_error *error, uint64_t size, int32_t code) {
    acre_status status = code == OPENCL_MEM_OBJECT_ALLOCATION_FAILURE ||
                                 code == OPENCL_OUT_OF_RESOURCES ||
                                 code == OPENCL_INVALID_BUFFER_SIZE
                             ? ACRE_OUT_OF_MEMORY
                         : code == OPENCL_OUT_OF_HOST_MEMORY ? ACRE_OUT_OF_HOST_MEMORY
                                                             : ACRE_BACKEND_ERROR;
    return acre_error_native(error, status, size, code, name_of(code));
}
