// Storage of Vulkan device memory. From below: a device and its queue (device.h); streams, the
// queue's own among them (events.h); blocks of memory with a buffer (block.h), which pages are;
// copies in a ring of command buffers; and bytes for the host. Here they become one storage.
#include "storage/storage.h"

#include <acre/storage_vulkan.h>

#include "base/error.h"
#include "base/structs.h"
#include "storage/vulkan/bytes.h"

typedef struct vulkan_storage {
    acre_host host;
    acre_vulkan_context device;
    acre_vulkan_streams streams;
    acre_vulkan_pages pages;
    acre_vulkan_copies copies;
    acre_vulkan_bytes bytes;
} vulkan_storage;

static acre_status vulkan_alloc(void *context, uint64_t size, uint64_t *id, acre_error *error) {
    return acre_vulkan_pages_alloc(&((vulkan_storage *)context)->pages, size, id, error);
}

static void vulkan_dealloc(void *context, uint64_t id) {
    acre_vulkan_pages_dealloc(&((vulkan_storage *)context)->pages, id);
}

static void vulkan_flush(void *context) {
    acre_vulkan_pages_flush(&((vulkan_storage *)context)->pages);
}

static acre_status vulkan_resource(void *context, uint64_t id, uint64_t offset, uint64_t size,
                                   acre_resource *resource, acre_error *error) {
    (void)context;
    (void)error;
    const acre_vulkan_block *block = &((const acre_vulkan_page *)(uintptr_t)id)->block;
    resource->kind = ACRE_RESOURCE_VULKAN;
    resource->size = size;
    resource->as.vulkan.buffer = block->buffer;
    resource->as.vulkan.offset = offset;
    resource->as.vulkan.address = block->address == 0 ? 0 : block->address + offset;
    return ACRE_OK;
}

static uint64_t vulkan_alignment(void *context) {
    return ((const vulkan_storage *)context)->pages.alignment;
}

static uint64_t vulkan_bytes_allocated(void *context) {
    return ((const vulkan_storage *)context)->pages.bytes;
}

static void vulkan_limits(void *context, acre_storage_limits *limits) {
    const acre_vulkan_pages *pages = &((const vulkan_storage *)context)->pages;
    limits->total_memory = pages->total;
    limits->largest_allocation = pages->largest;
    limits->slice_alignment = acre_vulkan_slice_alignment(pages);
}

static acre_status vulkan_copy(void *context, const acre_resource *source,
                               const acre_resource *target, acre_error *error) {
    return acre_vulkan_bytes_copy(&((vulkan_storage *)context)->bytes, source, target, error);
}

static acre_status vulkan_wait(void *context, acre_error *error) {
    return acre_vulkan_wait_idle(&((vulkan_storage *)context)->streams, error);
}

static acre_status vulkan_write(void *context, const acre_resource *target, const void *bytes,
                                acre_error *error) {
    return acre_vulkan_bytes_write(&((vulkan_storage *)context)->bytes, target, bytes, error);
}

static acre_status vulkan_read(void *context, const acre_resource *source, void *bytes,
                               acre_error *error) {
    return acre_vulkan_bytes_read(&((vulkan_storage *)context)->bytes, source, bytes, error);
}

static acre_status vulkan_stream_id(void *context, uint64_t stream, uint64_t *id,
                                    acre_error *error) {
    (void)error;
    *id = acre_vulkan_stream_id(&((const vulkan_storage *)context)->streams, stream);
    return ACRE_OK;
}

static acre_status vulkan_event_record(void *context, uint64_t stream, uint64_t *event,
                                       acre_error *error) {
    return acre_vulkan_event_record(&((vulkan_storage *)context)->streams, stream, event, error);
}

static acre_status vulkan_event_done(void *context, uint64_t event, bool *done, acre_error *error) {
    return acre_vulkan_event_done(&((vulkan_storage *)context)->streams, event, done, error);
}

static acre_status vulkan_event_wait(void *context, uint64_t event, uint64_t stream,
                                     acre_error *error) {
    return acre_vulkan_event_wait(&((vulkan_storage *)context)->streams, event, stream, error);
}

static acre_status vulkan_event_sync(void *context, uint64_t event, acre_error *error) {
    return acre_vulkan_event_sync(&((vulkan_storage *)context)->streams, event, error);
}

static void vulkan_event_destroy(void *context, uint64_t event) {
    (void)context; // an event is two numbers
    (void)event;
}

// ---- the storage ---------------------------------------------------------------------------

// Ends what is there: also a storage that was not made to the end.
static void vulkan_destroy(void *context) {
    vulkan_storage *own = context;
    if (own->streams.capacity > 0) {
        // Whatever was to fail on order: nothing may end while the device still works on it. A
        // device that is really lost works on nothing.
        acre_error ignored = ACRE_ERROR_INIT;
        acre_script_order(&own->device.script, 0, false, 0);
        (void)acre_vulkan_wait_idle(&own->streams, &ignored);
        acre_vulkan_copies_end(&own->copies);
        acre_vulkan_bytes_end(&own->bytes);
        acre_vulkan_pages_end(&own->pages);
        acre_vulkan_streams_end(&own->streams);
    }
    acre_vulkan_close(&own->device);
    acre_host host = own->host;
    acre_host_free(&host, own, sizeof *own, _Alignof(vulkan_storage));
}

static acre_storage_ops make_ops(void) {
    acre_storage_ops ops = ACRE_STORAGE_OPS_INIT;
    ops.alloc = vulkan_alloc;
    ops.dealloc = vulkan_dealloc;
    ops.flush = vulkan_flush;
    ops.resource = vulkan_resource;
    ops.alignment = vulkan_alignment;
    ops.bytes_allocated = vulkan_bytes_allocated;
    ops.limits = vulkan_limits;
    ops.destroy = vulkan_destroy;
    ops.copy = vulkan_copy;
    ops.wait = vulkan_wait;
    ops.write = vulkan_write;
    ops.read = vulkan_read;
    ops.stream_id = vulkan_stream_id;
    ops.event_record = vulkan_event_record;
    ops.event_done = vulkan_event_done;
    ops.event_wait = vulkan_event_wait;
    ops.event_sync = vulkan_event_sync;
    ops.event_destroy = vulkan_event_destroy;
    return ops;
}

static acre_status read_params(acre_vulkan_storage_params *own, acre_vulkan_objects *objects,
                               const acre_vulkan_storage_params *params, acre_error *error) {
    if (params != NULL && !acre_struct_read(own, sizeof *own, params)) {
        return acre_error_set(error, ACRE_UNSUPPORTED,
                              "the Vulkan storage has parameters this version does not know");
    }
    if (own->objects != NULL && !acre_struct_read(objects, sizeof *objects, own->objects)) {
        return acre_error_set(error, ACRE_UNSUPPORTED,
                              "the caller's Vulkan objects have fields this version does not know");
    }
    return ACRE_OK;
}

static acre_status build(vulkan_storage *made, const acre_vulkan_storage_params *params,
                         const acre_vulkan_objects *objects, acre_error *error) {
    made->device.host = &made->host;
    made->streams.device = &made->device;
    acre_status status =
        params->objects == NULL
            ? acre_vulkan_device_make(&made->device, params->library, params->device, error)
            : acre_vulkan_device_adopt(&made->device, params->library, objects, error);
    status = status != ACRE_OK ? status
                               : acre_vulkan_streams_begin(&made->streams, &made->device, error);
    if (status != ACRE_OK) {
        return status;
    }
    acre_vulkan_bytes_begin(&made->bytes, &made->pages, &made->copies, &made->streams);
    status = acre_vulkan_pages_begin(&made->pages, &made->streams, params, error);
    return status != ACRE_OK ? status
                             : acre_vulkan_copies_begin(&made->copies, &made->streams, error);
}

static acre_status create(const acre_vulkan_storage_params *params, const acre_host_hooks *hooks,
                          acre_storage **storage, acre_error *error) {
    acre_vulkan_storage_params own = ACRE_VULKAN_STORAGE_PARAMS_INIT;
    acre_vulkan_objects objects = ACRE_VULKAN_OBJECTS_INIT;
    acre_host host;
    acre_status status = read_params(&own, &objects, params, error);
    status = status != ACRE_OK ? status : acre_host_init(&host, hooks, error);
    if (status != ACRE_OK) {
        return status;
    }
    vulkan_storage *made = acre_host_alloc_zeroed(&host, sizeof *made, _Alignof(vulkan_storage));
    if (made == NULL) {
        return acre_error_refuse(error, ACRE_OUT_OF_HOST_MEMORY, sizeof *made);
    }
    made->host = host;
    status = build(made, &own, &objects, error);
    if (status != ACRE_OK) {
        vulkan_destroy(made);
        return status;
    }
    acre_storage_ops ops = make_ops();
    return acre_storage_make("vulkan", &ops, made, hooks, &made->device.script,
                             ACRE_RESOURCE_VULKAN, storage, error);
}

acre_status acre_storage_vulkan_create(const acre_vulkan_storage_params *params,
                                       const acre_host_hooks *hooks, acre_storage **storage,
                                       acre_error *error) {
    acre_error local;
    acre_error *detail = acre_error_open(error, &local);
    return acre_error_close(error, detail, create(params, hooks, storage, detail));
}

acre_status acre_storage_vulkan_objects(const acre_storage *storage, acre_vulkan_objects *objects,
                                        acre_error *error) {
    if (storage->ops.alloc != vulkan_alloc) {
        acre_error local;
        acre_error *detail = acre_error_open(error, &local);
        return acre_error_close(error, detail,
                                acre_error_set(detail, ACRE_INVALID_ARGUMENT,
                                               "storage %s is not of Vulkan", storage->name));
    }
    const acre_vulkan_context *device = &((const vulkan_storage *)storage->context)->device;
    acre_vulkan_objects own = ACRE_VULKAN_OBJECTS_INIT;
    own.instance = device->instance;
    own.physical = device->physical;
    own.device = device->handle;
    own.queue = device->queue;
    own.queue_family = device->family;
    own.device_address = device->address;
    own.memory_budget = device->budget;
    own.get_instance_proc_addr = device->api.get_instance_proc_addr;
    acre_struct_write(objects, &own, sizeof own);
    return ACRE_OK;
}
