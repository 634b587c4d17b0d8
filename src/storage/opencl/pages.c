// Pages that are buffers.
#include "storage/opencl/opencl.h"

#include "base/error.h"

// ---- what both kinds of page share -----------------------------------------------------------

opencl_page *acre_opencl_page_admit(opencl_storage *own, uint64_t size, acre_error *error) {
    uint64_t capacity =
        size > own->largest_allocation ? own->largest_allocation : own->total_memory;
    if (size > capacity || own->bytes > capacity - size) {
        acre_error_native(error, ACRE_OUT_OF_MEMORY, size, 0, "");
        error->capacity = capacity;
        return NULL;
    }
    opencl_page *page = acre_host_alloc(&own->host, sizeof *page, _Alignof(opencl_page));
    if (page == NULL) {
        acre_error_refuse(error, ACRE_OUT_OF_HOST_MEMORY, sizeof *page);
        return NULL;
    }
    page->size = size;
    return page;
}

void acre_opencl_page_keep(opencl_storage *own, opencl_page *page, uint64_t *id) {
    own->bytes += page->size;
    *id = (uint64_t)(uintptr_t)page;
}

void acre_opencl_page_drop(opencl_storage *own, opencl_page *page) {
    acre_host_free(&own->host, page, sizeof *page, _Alignof(opencl_page));
}

// ---- buffers -------------------------------------------------------------------------------

// Most drivers put memory behind a buffer at its first use, so that one without memory would be
// found out by a kernel, long after the reservation was told that all is well. Moving the buffer to
// the device, without contents, makes them do it here; it costs a wait for the queue.
static int32_t commit(opencl_storage *own, opencl_buffer buffer) {
    int32_t code;
    OPENCL_CALL(&own->driver, code, migrate, own->queue, 1, &buffer,
                OPENCL_MIGRATE_CONTENT_UNDEFINED, 0, NULL, NULL);
    return code != 0 ? code : OPENCL_CALL(&own->driver, code, finish, own->queue);
}

acre_status acre_opencl_alloc(void *context, uint64_t size, uint64_t *id, acre_error *error) {
    opencl_storage *own = context;
    opencl_page *page = acre_opencl_page_admit(own, size, error);
    if (page == NULL) {
        return error->status;
    }
    int32_t code;
    opencl_buffer buffer = OPENCL_MAKE(&own->driver, code, create_buffer, own->context,
                                       OPENCL_MEM_READ_WRITE, (size_t)size, NULL);
    if (code == 0) {
        code = commit(own, buffer);
        if (code != 0) {
            int32_t ignored; // it is not ours any more, whatever the driver says
            OPENCL_CALL(&own->driver, ignored, release_buffer, buffer);
        }
    }
    if (code != 0) {
        acre_opencl_page_drop(own, page);
        return acre_opencl_refused(error, size, code);
    }
    page->memory.buffer = buffer;
    acre_opencl_page_keep(own, page, id);
    return ACRE_OK;
}

void acre_opencl_dealloc(void *context, uint64_t id) {
    opencl_storage *own = context;
    opencl_page *page = acre_opencl_page(id);
    // The driver is to keep a buffer until its commands are done; PoCL 3.1 forgets that for kernels
    // on sub-buffers, whose bytes then land in whoever gets the memory next.
    acre_error ignored = ACRE_ERROR_INIT;
    (void)acre_opencl_wait(own, &ignored);
    int32_t code; // nobody could do anything about it
    OPENCL_CALL(&own->driver, code, release_buffer, page->memory.buffer);
    own->bytes -= page->size;
    acre_opencl_page_drop(own, page);
}

acre_status acre_opencl_resource(void *context, uint64_t id, uint64_t offset, uint64_t size,
                                 acre_resource *resource, acre_error *error) {
    (void)context;
    (void)error;
    resource->kind = ACRE_RESOURCE_OPENCL;
    resource->size = size;
    resource->as.opencl.buffer = acre_opencl_page(id)->memory.buffer;
    resource->as.opencl.offset = offset;
    return ACRE_OK;
}

acre_status acre_opencl_sub_buffer(opencl_storage *own, const acre_resource *resource,
                                   void **buffer, acre_error *error) {
    acre_error_refuse(error, ACRE_OK, resource->size);
    if (resource->kind != ACRE_RESOURCE_OPENCL) {
        return acre_error_set(error, ACRE_INVALID_ARGUMENT,
                              "the resource is no part of an OpenCL buffer");
    }
    uint64_t alignment = own->facts.base_alignment;
    if (resource->as.opencl.offset % alignment != 0) {
        return acre_error_set(
            error, ACRE_INVALID_ARGUMENT,
            "the resource starts at byte %llu of its buffer, which is no multiple "
            "of the %llu that sub-buffers need",
            (unsigned long long)resource->as.opencl.offset, (unsigned long long)alignment);
    }
    const opencl_region region = {(size_t)resource->as.opencl.offset, (size_t)resource->size};
    int32_t code;
    opencl_buffer made =
        OPENCL_MAKE(&own->driver, code, create_sub_buffer, resource->as.opencl.buffer,
                    OPENCL_MEM_READ_WRITE, OPENCL_BUFFER_CREATE_TYPE_REGION, &region);
    if (code != 0) {
        return acre_opencl_refused(error, resource->size, code);
    }
    *buffer = made;
    return ACRE_OK;
}
