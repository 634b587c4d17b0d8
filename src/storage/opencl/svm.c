// Pages of coarse-grained shared virtual memory: an address that kernels and the storage's copies
// know, and that the host must not touch without mapping it.
//
// OpenCL 2.0 has no call that puts memory behind it at once, as there is for buffers; a driver that
// puts that off says so at the first copy or kernel.
#include "storage/opencl/opencl.h"

#include "base/bits.h"
#include "base/error.h"

uint64_t acre_opencl_svm_alignment(const opencl_facts *facts) {
    // Every driver must be able to align to its largest type, 128 bytes in the full profile, and
    // none need do more. Buffers are aligned to that type at least, so that it is no more than
    // their alignment where it is smaller.
    return acre_min(facts->base_alignment, 128);
}

acre_status acre_opencl_svm_alloc(void *context, uint64_t size, uint64_t *id, acre_error *error) {
    opencl_storage *own = context;
    opencl_page *page = acre_opencl_page_admit(own, size, error);
    if (page == NULL) {
        return error->status;
    }
    int32_t code = acre_opencl_ordered(&own->driver);
    page->memory.svm = code != 0
                           ? NULL
                           : own->driver.api.svm_alloc(own->context, OPENCL_MEM_READ_WRITE,
                                                       (size_t)size, (uint32_t)own->alignment);
    if (page->memory.svm == NULL) {
        acre_opencl_page_drop(own, page);
        // The function has no code to return.
        return acre_opencl_refused(error, size,
                                   code != 0 ? code : OPENCL_MEM_OBJECT_ALLOCATION_FAILURE);
    }
    acre_opencl_page_keep(own, page, id);
    return ACRE_OK;
}

void acre_opencl_svm_dealloc(void *context, uint64_t id) {
    opencl_storage *own = context;
    opencl_page *page = acre_opencl_page(id);
    // Shared memory is freed at once, under whatever works on it. What cannot be waited for is left
    // to the driver.
    acre_error ignored = ACRE_ERROR_INIT;
    if (acre_opencl_wait(own, &ignored) == ACRE_OK && acre_opencl_ordered(&own->driver) == 0) {
        own->driver.api.svm_free(own->context, page->memory.svm);
    }
    own->bytes -= page->size;
    acre_opencl_page_drop(own, page);
}

acre_status acre_opencl_svm_resource(void *context, uint64_t id, uint64_t offset, uint64_t size,
                                     acre_resource *resource, acre_error *error) {
    (void)context;
    (void)error;
    resource->kind = ACRE_RESOURCE_OPENCL_SVM;
    resource->size = size;
    resource->as.host = acre_opencl_page(id)->memory.svm + offset;
    return ACRE_OK;
}
