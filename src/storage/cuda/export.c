// Memory for other processes.
#include "storage/cuda/cuda.h"

#include "base/error.h"

// The memory behind a resource, and where the resource starts in it. Exports are rare: all memories
// are looked through. => NULL: there is none, or the resource is not in one alone.
static const acre_cuda_backing *find_backing(const acre_cuda *own, const acre_resource *resource,
                                             uint64_t *offset) {
    for (const acre_cuda_backing *it = own->backings; it != NULL; it = it->next) {
        if (it->range == NULL) {
            continue;
        }
        uint64_t start = it->range->base + it->offset;
        if (resource->as.cuda >= start && resource->as.cuda - start < it->size) {
            *offset = resource->as.cuda - start;
            return resource->size <= it->size - *offset ? it : NULL;
        }
    }
    return NULL;
}

static acre_status export(acre_storage *storage, const acre_resource *resource, int *descriptor,
                          uint64_t *offset, acre_error *error) {
    acre_error_refuse(error, ACRE_OK, resource->size);
    acre_cuda *own = acre_cuda_of(storage);
    if (own == NULL || own->params.memory != ACRE_CUDA_VIRTUAL || !own->params.exportable) {
        return acre_error_set(error, ACRE_UNSUPPORTED,
                              "storage %s exports no memory: create one with ACRE_CUDA_VIRTUAL and "
                              "exportable",
                              acre_storage_name(storage));
    }
    uint64_t start = 0;
    const acre_cuda_backing *backing =
        resource->kind == ACRE_RESOURCE_CUDA ? find_backing(own, resource, &start) : NULL;
    if (backing == NULL) {
        return acre_error_set(error, ACRE_INVALID_ARGUMENT,
                              "the resource is not in one memory of this storage");
    }
    int mode;
    int exported = -1;
    acre_cuda_result code = acre_cuda_enter(own, &mode);
    if (code == ACRE_CUDA_SUCCESS) {
        code = acre_cuda_call(
            own, handle_export(&exported, backing->handle, ACRE_CUDA_HANDLE_DESCRIPTOR, 0));
        acre_cuda_leave(own, &mode);
    }
    if (code == ACRE_CUDA_SUCCESS) {
        *descriptor = exported;
        *offset = start;
    }
    return acre_cuda_status(own, resource->size, code, error);
}

acre_status acre_storage_cuda_export(acre_storage *storage, const acre_resource *resource,
                                     int *descriptor, uint64_t *offset, acre_error *error) {
    acre_error local;
    acre_error *detail = acre_error_open(error, &local);
    return acre_error_close(error, detail, export(storage, resource, descriptor, offset, detail));
}
