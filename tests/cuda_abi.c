// The library's own declarations of the CUDA driver API are those of NVIDIA's header.
#include "storage/cuda/api.h"

#include <assert.h>
#include <stddef.h>
#include <stdio.h>

#if defined(__has_include)
#if __has_include(<cuda.h>)
#include <cuda.h>
#define HAVE_CUDA_H 1
#endif
#endif

#if defined(HAVE_CUDA_H)
#define SAME(own, theirs) static_assert((long long)(own) == (long long)(theirs), #own)
#define SAME_FIELD(own_type, own, their_type, theirs)                                              \
    SAME(offsetof(own_type, own), offsetof(their_type, theirs));                                   \
    SAME(sizeof(((own_type *)0)->own), sizeof(((their_type *)0)->theirs))

SAME(ACRE_CUDA_SUCCESS, CUDA_SUCCESS);
SAME(ACRE_CUDA_OUT_OF_MEMORY, CUDA_ERROR_OUT_OF_MEMORY);
SAME(ACRE_CUDA_STUB_LIBRARY, CUDA_ERROR_STUB_LIBRARY);
SAME(ACRE_CUDA_NO_DEVICE, CUDA_ERROR_NO_DEVICE);
SAME(ACRE_CUDA_NOT_READY, CUDA_ERROR_NOT_READY);
SAME(ACRE_CUDA_STREAM_CAPTURE_UNSUPPORTED, CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED);

SAME(ACRE_CUDA_ATTRIBUTE_VIRTUAL_MEMORY, CU_DEVICE_ATTRIBUTE_VIRTUAL_MEMORY_MANAGEMENT_SUPPORTED);
SAME(ACRE_CUDA_ATTRIBUTE_EXPORT_DESCRIPTOR,
     CU_DEVICE_ATTRIBUTE_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR_SUPPORTED);
SAME(ACRE_CUDA_ATTRIBUTE_MEMORY_POOLS, CU_DEVICE_ATTRIBUTE_MEMORY_POOLS_SUPPORTED);
SAME(ACRE_CUDA_STREAM_NON_BLOCKING, CU_STREAM_NON_BLOCKING);
SAME(ACRE_CUDA_EVENT_DISABLE_TIMING, CU_EVENT_DISABLE_TIMING);
SAME(ACRE_CUDA_CAPTURE_STATUS_NONE, CU_STREAM_CAPTURE_STATUS_NONE);
SAME(ACRE_CUDA_CAPTURE_MODE_RELAXED, CU_STREAM_CAPTURE_MODE_RELAXED);
SAME(ACRE_CUDA_ALLOCATION_PINNED, CU_MEM_ALLOCATION_TYPE_PINNED);
SAME(ACRE_CUDA_LOCATION_DEVICE, CU_MEM_LOCATION_TYPE_DEVICE);
SAME(ACRE_CUDA_HANDLE_NONE, CU_MEM_HANDLE_TYPE_NONE);
SAME(ACRE_CUDA_HANDLE_DESCRIPTOR, CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR);
SAME(ACRE_CUDA_GRANULARITY_RECOMMENDED, CU_MEM_ALLOC_GRANULARITY_RECOMMENDED);
SAME(ACRE_CUDA_ACCESS_READ_WRITE, CU_MEM_ACCESS_FLAGS_PROT_READWRITE);
SAME(ACRE_CUDA_POOL_RELEASE_THRESHOLD, CU_MEMPOOL_ATTR_RELEASE_THRESHOLD);

SAME(sizeof(acre_cuda_result), sizeof(CUresult));
SAME(sizeof(acre_cuda_module), sizeof(CUmodule));
SAME(sizeof(acre_cuda_function), sizeof(CUfunction));
SAME(sizeof(acre_cuda_ordinal), sizeof(CUdevice));
SAME(sizeof(uint64_t), sizeof(CUdeviceptr));
SAME(sizeof(uint64_t), sizeof(CUmemGenericAllocationHandle));
SAME(sizeof(acre_cuda_context), sizeof(CUcontext));
SAME(sizeof(int), sizeof(CUdriverProcAddressQueryResult));

SAME(sizeof(acre_cuda_location), sizeof(CUmemLocation));
SAME_FIELD(acre_cuda_location, type, CUmemLocation, type);
SAME_FIELD(acre_cuda_location, id, CUmemLocation, id);

SAME(sizeof(acre_cuda_memory_properties), sizeof(CUmemAllocationProp));
SAME_FIELD(acre_cuda_memory_properties, type, CUmemAllocationProp, type);
SAME_FIELD(acre_cuda_memory_properties, handle_types, CUmemAllocationProp, requestedHandleTypes);
SAME_FIELD(acre_cuda_memory_properties, location, CUmemAllocationProp, location);
SAME_FIELD(acre_cuda_memory_properties, win32_meta_data, CUmemAllocationProp, win32HandleMetaData);
SAME_FIELD(acre_cuda_memory_properties, flags, CUmemAllocationProp, allocFlags);

SAME(sizeof(acre_cuda_access), sizeof(CUmemAccessDesc));
SAME_FIELD(acre_cuda_access, location, CUmemAccessDesc, location);
SAME_FIELD(acre_cuda_access, flags, CUmemAccessDesc, flags);

SAME(sizeof(acre_cuda_pool_properties), sizeof(CUmemPoolProps));
SAME_FIELD(acre_cuda_pool_properties, type, CUmemPoolProps, allocType);
SAME_FIELD(acre_cuda_pool_properties, handle_types, CUmemPoolProps, handleTypes);
SAME_FIELD(acre_cuda_pool_properties, location, CUmemPoolProps, location);
SAME_FIELD(acre_cuda_pool_properties, win32_attributes, CUmemPoolProps, win32SecurityAttributes);

int main(void) {
    return 0;
}
#else
int main(void) {
    puts("there is no <cuda.h> to compare with");
    return 77;
}
#endif
