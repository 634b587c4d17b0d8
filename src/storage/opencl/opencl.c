#include "storage/opencl/opencl.h"

#include "base/bits.h"
#include "base/error.h"
#include "base/structs.h"
#include "storage/storage.h"

static void opencl_flush(void *context) {
    (void)context; // frees are immediate
}

static uint64_t opencl_alignment(void *context) {
    return ((const opencl_storage *)context)->alignment;
}

static uint64_t opencl_bytes_allocated(void *context) {
    return ((const opencl_storage *)context)->bytes;
}

static void opencl_limits(void *context, acre_storage_limits *limits) {
    const opencl_storage *own = context;
    limits->total_memory = own->total_memory == UINT64_MAX ? 0 : own->total_memory;
    limits->largest_allocation =
        own->largest_allocation == UINT64_MAX ? 0 : own->largest_allocation;
    limits->slice_alignment = own->alignment;
}

static void opencl_destroy(void *context) {
    opencl_storage *own = context;
    acre_opencl_streams_close(own);
    acre_opencl_context_close(own);
    acre_host host = own->host;
    acre_host_free(&host, own, sizeof *own, _Alignof(opencl_storage));
}

static acre_storage_ops make_ops(bool svm) {
    acre_storage_ops ops = ACRE_STORAGE_OPS_INIT;
    ops.alloc = svm ? acre_opencl_svm_alloc : acre_opencl_alloc;
    ops.dealloc = svm ? acre_opencl_svm_dealloc : acre_opencl_dealloc;
    ops.flush = opencl_flush;
    ops.resource = svm ? acre_opencl_svm_resource : acre_opencl_resource;
    ops.alignment = opencl_alignment;
    ops.bytes_allocated = opencl_bytes_allocated;
    ops.limits = opencl_limits;
    ops.destroy = opencl_destroy;
    ops.copy = svm ? acre_opencl_svm_copy : acre_opencl_copy;
    ops.wait = acre_opencl_wait;
    ops.write = svm ? acre_opencl_svm_write : acre_opencl_write;
    ops.read = svm ? acre_opencl_svm_read : acre_opencl_read;
    ops.stream_id = acre_opencl_stream_id;
    ops.event_record = acre_opencl_event_record;
    ops.event_done = acre_opencl_event_done;
    ops.event_wait = acre_opencl_event_wait;
    ops.event_sync = acre_opencl_event_sync;
    ops.event_destroy = acre_opencl_event_destroy;
    return ops;
}

// The smaller of two limits, of which 0 = none.
static uint64_t stricter(uint64_t a, uint64_t b) {
    return acre_min(a == 0 ? UINT64_MAX : a, b == 0 ? UINT64_MAX : b);
}

static acre_status open_device(opencl_storage *own, const acre_opencl_storage_params *params,
                               acre_error *error) {
    acre_status status = acre_opencl_open(&own->driver, params->library, params->svm, error);
    if (status == ACRE_OK) {
        status = acre_opencl_context_open(own, params, error);
    }
    if (status != ACRE_OK) {
        return status;
    }
    own->total_memory = stricter(own->facts.total_memory, params->total_memory);
    own->largest_allocation = acre_min(
        stricter(own->facts.largest_allocation, params->largest_allocation), own->total_memory);
    own->alignment =
        params->svm ? acre_opencl_svm_alignment(&own->facts) : own->facts.base_alignment;
    return ACRE_OK;
}

static acre_status create(const acre_opencl_storage_params *params, const acre_host_hooks *hooks,
                          acre_storage **storage, acre_error *error) {
    acre_opencl_storage_params own = ACRE_OPENCL_STORAGE_PARAMS_INIT;
    if (params != NULL && !acre_struct_read(&own, sizeof own, params)) {
        return acre_error_set(error, ACRE_UNSUPPORTED,
                              "the OpenCL storage has parameters this version does not know");
    }
    acre_host host;
    acre_status status = acre_host_init(&host, hooks, error);
    if (status != ACRE_OK) {
        return status;
    }
    opencl_storage *made = acre_host_alloc_zeroed(&host, sizeof *made, _Alignof(opencl_storage));
    if (made == NULL) {
        return acre_error_refuse(error, ACRE_OUT_OF_HOST_MEMORY, sizeof *made);
    }
    made->host = host;
    status = open_device(made, &own, error);
    if (status != ACRE_OK) {
        acre_host_free(&host, made, sizeof *made, _Alignof(opencl_storage));
        return status;
    }
    acre_storage_ops ops = make_ops(own.svm);
    return acre_storage_make(
        own.svm ? "opencl-svm" : "opencl", &ops, made, hooks, &made->driver.script,
        own.svm ? ACRE_RESOURCE_OPENCL_SVM : ACRE_RESOURCE_OPENCL, storage, error);
}

acre_status acre_storage_opencl_create(const acre_opencl_storage_params *params,
                                       const acre_host_hooks *hooks, acre_storage **storage,
                                       acre_error *error) {
    acre_error local;
    acre_error *detail = acre_error_open(error, &local);
    return acre_error_close(error, detail, create(params, hooks, storage, detail));
}

// => NULL, with the detail, for a storage of another kind.
static opencl_storage *own_of(const acre_storage *storage, acre_error *error) {
    if (storage->ops.destroy == opencl_destroy) {
        return storage->context;
    }
    acre_error_describe(error, ACRE_INVALID_ARGUMENT, "storage %s is not of OpenCL", storage->name);
    return NULL;
}

acre_status acre_storage_opencl_objects(const acre_storage *storage, acre_opencl_objects *objects,
                                        acre_error *error) {
    acre_error local;
    acre_error *detail = acre_error_open(error, &local);
    const opencl_storage *own = own_of(storage, detail);
    if (own == NULL) {
        return acre_error_close(error, detail, ACRE_INVALID_ARGUMENT);
    }
    acre_opencl_objects found = ACRE_OPENCL_OBJECTS_INIT;
    found.platform = own->platform;
    found.device = own->device;
    found.context = own->context;
    found.queue = own->queue;
    acre_struct_write(objects, &found, sizeof found);
    return ACRE_OK;
}

acre_status acre_storage_opencl_sub_buffer(acre_storage *storage, const acre_resource *resource,
                                           void **buffer, acre_error *error) {
    acre_error local;
    acre_error *detail = acre_error_open(error, &local);
    opencl_storage *own = own_of(storage, detail);
    return acre_error_close(error, detail,
                            own == NULL ? ACRE_INVALID_ARGUMENT
                                        : acre_opencl_sub_buffer(own, resource, buffer, detail));
}
