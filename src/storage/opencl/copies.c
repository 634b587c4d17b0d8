// Copies on the storage's queue. It is in order: a copy sees what those before it left.
#include "storage/opencl/opencl.h"

#include "base/error.h"

static acre_status outcome(acre_error *error, const acre_resource *resource, int32_t code) {
    return code == 0 ? ACRE_OK : acre_opencl_refused(error, resource->size, code);
}

acre_status acre_opencl_copy(void *context, const acre_resource *source,
                             const acre_resource *target, acre_error *error) {
    opencl_storage *own = context;
    int32_t code;
    OPENCL_CALL(&own->driver, code, copy_buffer, own->queue, source->as.opencl.buffer,
                target->as.opencl.buffer, (size_t)source->as.opencl.offset,
                (size_t)target->as.opencl.offset, (size_t)source->size, 0, NULL, NULL);
    return outcome(error, source, code);
}

acre_status acre_opencl_write(void *context, const acre_resource *target, const void *bytes,
                              acre_error *error) {
    opencl_storage *own = context;
    int32_t code;
    OPENCL_CALL(&own->driver, code, write_buffer, own->queue, target->as.opencl.buffer, true,
                (size_t)target->as.opencl.offset, (size_t)target->size, bytes, 0, NULL, NULL);
    return outcome(error, target, code);
}

acre_status acre_opencl_read(void *context, const acre_resource *source, void *bytes,
                             acre_error *error) {
    opencl_storage *own = context;
    int32_t code;
    OPENCL_CALL(&own->driver, code, read_buffer, own->queue, source->as.opencl.buffer, true,
                (size_t)source->as.opencl.offset, (size_t)source->size, bytes, 0, NULL, NULL);
    return outcome(error, source, code);
}

// Shared virtual memory is copied by address, to and from the host too.
static int32_t copy_at(opencl_storage *own, bool blocking, void *target, const void *source,
                       uint64_t size) {
    int32_t code;
    return OPENCL_CALL(&own->driver, code, svm_copy, own->queue, blocking, target, source,
                       (size_t)size, 0, NULL, NULL);
}

acre_status acre_opencl_svm_copy(void *context, const acre_resource *source,
                                 const acre_resource *target, acre_error *error) {
    return outcome(error, source,
                   copy_at(context, false, target->as.host, source->as.host, source->size));
}

acre_status acre_opencl_svm_write(void *context, const acre_resource *target, const void *bytes,
                                  acre_error *error) {
    return outcome(error, target, copy_at(context, true, target->as.host, bytes, target->size));
}

acre_status acre_opencl_svm_read(void *context, const acre_resource *source, void *bytes,
                                 acre_error *error) {
    return outcome(error, source, copy_at(context, true, bytes, source->as.host, source->size));
}

// OpenCL cannot wait for a device, only for queues: the storage's and those that were named to it.
acre_status acre_opencl_wait(void *context, acre_error *error) {
    opencl_storage *own = context;
    int32_t code;
    OPENCL_CALL(&own->driver, code, finish, own->queue);
    for (uint32_t i = 0; code == 0 && i < own->streams.capacity; i++) {
        if (own->streams.slots[i] != NULL) {
            OPENCL_CALL(&own->driver, code, finish, own->streams.slots[i]);
        }
    }
    return code == 0 ? ACRE_OK : acre_opencl_refused(error, 0, code);
}
