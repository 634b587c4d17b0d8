// The declarations of src/storage/opencl/api.h against those of <CL/cl.h>, where that is.
#include "opencl_rig.h"

#include "storage/opencl/api.h"

#if defined(__has_include)
#if __has_include(<CL/cl.h>)
#define CL_TARGET_OPENCL_VERSION          300
#define CL_USE_DEPRECATED_OPENCL_1_2_APIS // clCreateCommandQueue
#include <CL/cl.h>
#define HAS_HEADER 1
#endif
#endif

#if defined(HAS_HEADER)

#define SAME(own, theirs)                                                                          \
    _Static_assert((long long)(own) == (long long)(theirs), "another value than " #theirs)

SAME(OPENCL_DEVICE_NOT_FOUND, CL_DEVICE_NOT_FOUND);
SAME(OPENCL_MEM_OBJECT_ALLOCATION_FAILURE, CL_MEM_OBJECT_ALLOCATION_FAILURE);
SAME(OPENCL_OUT_OF_RESOURCES, CL_OUT_OF_RESOURCES);
SAME(OPENCL_OUT_OF_HOST_MEMORY, CL_OUT_OF_HOST_MEMORY);
SAME(OPENCL_INVALID_BUFFER_SIZE, CL_INVALID_BUFFER_SIZE);
SAME(OPENCL_PLATFORM_NAME, CL_PLATFORM_NAME);
SAME(OPENCL_DEVICE_MAX_MEM_ALLOC_SIZE, CL_DEVICE_MAX_MEM_ALLOC_SIZE);
SAME(OPENCL_DEVICE_MEM_BASE_ADDR_ALIGN, CL_DEVICE_MEM_BASE_ADDR_ALIGN);
SAME(OPENCL_DEVICE_GLOBAL_MEM_SIZE, CL_DEVICE_GLOBAL_MEM_SIZE);
SAME(OPENCL_DEVICE_NAME, CL_DEVICE_NAME);
SAME(OPENCL_DRIVER_VERSION, CL_DRIVER_VERSION);
SAME(OPENCL_DEVICE_VERSION, CL_DEVICE_VERSION);
SAME(OPENCL_DEVICE_PLATFORM, CL_DEVICE_PLATFORM);
SAME(OPENCL_DEVICE_SVM_CAPABILITIES, CL_DEVICE_SVM_CAPABILITIES);
SAME(OPENCL_DEVICE_SVM_COARSE_GRAIN_BUFFER, CL_DEVICE_SVM_COARSE_GRAIN_BUFFER);
SAME(OPENCL_DEVICE_TYPE_ALL, CL_DEVICE_TYPE_ALL);
SAME(OPENCL_CONTEXT_PLATFORM, CL_CONTEXT_PLATFORM);
SAME(OPENCL_QUEUE_CONTEXT, CL_QUEUE_CONTEXT);
SAME(OPENCL_QUEUE_DEVICE, CL_QUEUE_DEVICE);
SAME(OPENCL_QUEUE_PROPERTIES, CL_QUEUE_PROPERTIES);
SAME(OPENCL_QUEUE_OUT_OF_ORDER, CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE);
SAME(OPENCL_MEM_READ_WRITE, CL_MEM_READ_WRITE);
SAME(OPENCL_MIGRATE_CONTENT_UNDEFINED, CL_MIGRATE_MEM_OBJECT_CONTENT_UNDEFINED);
SAME(OPENCL_BUFFER_CREATE_TYPE_REGION, CL_BUFFER_CREATE_TYPE_REGION);
SAME(OPENCL_EVENT_COMMAND_EXECUTION_STATUS, CL_EVENT_COMMAND_EXECUTION_STATUS);
SAME(OPENCL_COMPLETE, CL_COMPLETE);

SAME(sizeof(opencl_region), sizeof(cl_buffer_region));
SAME(offsetof(opencl_region, origin), offsetof(cl_buffer_region, origin));
SAME(offsetof(opencl_region, size), offsetof(cl_buffer_region, size));

// The types that the declarations are written with.
SAME(sizeof(int32_t), sizeof(cl_int));
SAME(sizeof(uint32_t), sizeof(cl_uint));
SAME(sizeof(uint32_t), sizeof(cl_bool));
SAME(sizeof(uint32_t), sizeof(cl_device_info));
SAME(sizeof(uint32_t), sizeof(cl_buffer_create_type));
SAME(sizeof(uint64_t), sizeof(cl_ulong));
SAME(sizeof(uint64_t), sizeof(cl_device_type));
SAME(sizeof(uint64_t), sizeof(cl_mem_flags));
SAME(sizeof(uint64_t), sizeof(cl_mem_migration_flags));
SAME(sizeof(uint64_t), sizeof(cl_command_queue_properties));
SAME(sizeof(uint64_t), sizeof(cl_device_svm_capabilities));
SAME(sizeof(intptr_t), sizeof(cl_context_properties));
SAME(sizeof(opencl_buffer), sizeof(cl_mem));
SAME(sizeof(opencl_event), sizeof(cl_event));

// Each function takes as many arguments as its declaration here: a call with values of the types
// above is accepted by the real one.
#define ACCEPTS(call) (void)sizeof(call)

static void the_real_functions_take_what_the_declarations_here_say(void **state) {
    (void)state;
    void *p = NULL;
    ACCEPTS(clGetPlatformIDs(1u, p, p));
    ACCEPTS(clGetPlatformInfo(p, 1u, sizeof p, p, p));
    ACCEPTS(clGetDeviceIDs(p, UINT64_C(1), 1u, p, p));
    ACCEPTS(clGetDeviceInfo(p, 1u, sizeof p, p, p));
    ACCEPTS(clCreateContext(p, 1u, p, NULL, p, p));
    ACCEPTS(clCreateCommandQueue(p, p, UINT64_C(1), p));
    ACCEPTS(clGetCommandQueueInfo(p, 1u, sizeof p, p, p));
    ACCEPTS(clCreateBuffer(p, UINT64_C(1), sizeof p, p, p));
    ACCEPTS(clCreateSubBuffer(p, UINT64_C(1), 1u, p, p));
    ACCEPTS(clEnqueueMigrateMemObjects(p, 1u, p, UINT64_C(1), 1u, p, p));
    ACCEPTS(clEnqueueCopyBuffer(p, p, p, sizeof p, sizeof p, sizeof p, 1u, p, p));
    ACCEPTS(clEnqueueReadBuffer(p, p, 1u, sizeof p, sizeof p, p, 1u, p, p));
    ACCEPTS(clEnqueueWriteBuffer(p, p, 1u, sizeof p, sizeof p, p, 1u, p, p));
    ACCEPTS(clEnqueueMarkerWithWaitList(p, 1u, p, p));
    ACCEPTS(clEnqueueBarrierWithWaitList(p, 1u, p, p));
    ACCEPTS(clGetEventInfo(p, 1u, sizeof p, p, p));
    ACCEPTS(clWaitForEvents(1u, p));
    ACCEPTS(clSVMAlloc(p, UINT64_C(1), sizeof p, 1u));
    ACCEPTS((clSVMFree(p, p), 0));
    ACCEPTS(clEnqueueSVMMemcpy(p, 1u, p, p, sizeof p, 1u, p, p));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_real_functions_take_what_the_declarations_here_say),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

#else

int main(void) {
    fputs("opencl_api: <CL/cl.h> is not here (opencl-c-headers)\n", stderr);
    return 77;
}

#endif
