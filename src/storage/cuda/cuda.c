// Creation of the storage, its end, and its table of operations.
#include "storage/cuda/cuda.h"

#include "base/error.h"
#include "base/structs.h"
#include "storage/storage.h"

#include <stdio.h>

// Bytes that every address cuMemAlloc and cuMemAllocAsync give is a multiple of.
#define ALIGNMENT 256

// ---- what is told without asking the driver ------------------------------------------------

static uint64_t cuda_alignment(void *context) {
    const acre_cuda *own = context;
    return own->params.memory == ACRE_CUDA_VIRTUAL ? own->granularity : ALIGNMENT;
}

static uint64_t cuda_granularity(void *context) {
    return ((const acre_cuda *)context)->granularity;
}

static uint64_t cuda_bytes_allocated(void *context) {
    return ((const acre_cuda *)context)->bytes;
}

static void cuda_limits(void *context, acre_storage_limits *limits) {
    const acre_cuda *own = context;
    limits->total_memory = own->params.total_memory;
    limits->largest_allocation = own->params.largest_allocation;
    limits->slice_alignment = ALIGNMENT;
}

// ---- creation ------------------------------------------------------------------------------

static acre_status read_params(acre_cuda_storage_params *own,
                               const acre_cuda_storage_params *params, acre_error *error) {
    if (params != NULL && !acre_struct_read(own, sizeof *own, params)) {
        return acre_error_set(error, ACRE_UNSUPPORTED,
                              "the CUDA storage has parameters this version does not know");
    }
    if ((unsigned)own->memory > ACRE_CUDA_VIRTUAL) {
        return acre_error_set(error, ACRE_INVALID_ARGUMENT,
                              "the CUDA storage knows no memory of kind %d", (int)own->memory);
    }
    if (own->device < 0) {
        return acre_error_set(error, ACRE_INVALID_ARGUMENT, "there is no CUDA device %d",
                              (int)own->device);
    }
    return ACRE_OK;
}

static acre_status check_abilities(const acre_cuda *own, acre_error *error) {
    const char *missing = NULL;
    if (own->params.memory == ACRE_CUDA_VIRTUAL && !own->can_map) {
        missing = "virtual memory management: use ACRE_CUDA_PLAIN";
    } else if (own->params.memory == ACRE_CUDA_STREAM_ORDERED && !own->can_pool) {
        missing = "memory pools: use ACRE_CUDA_PLAIN";
    } else if (own->params.exportable && !(own->can_map && own->can_export)) {
        missing = "memory that is shared by a file descriptor: leave exportable out";
    }
    return missing == NULL ? ACRE_OK
                           : acre_error_set(error, ACRE_UNSUPPORTED, "CUDA device %d has no %s",
                                            (int)own->params.device, missing);
}

static void settle_limits(acre_cuda *own) {
    acre_cuda_storage_params *params = &own->params;
    if (params->total_memory == 0 || params->total_memory > own->device_memory) {
        params->total_memory = own->device_memory;
    }
    if (params->largest_allocation == 0 || params->largest_allocation > params->total_memory) {
        params->largest_allocation = params->total_memory;
    }
}

// The caller's stream, and one of the storage's own where it is needed.
static acre_status open_streams(acre_cuda *own, acre_error *error) {
    acre_cuda_result code = ACRE_CUDA_SUCCESS;
    own->stream = own->params.stream;
    if (own->stream != NULL) {
        acre_cuda_context context = NULL;
        code = acre_cuda_call(own, stream_get_context(own->stream, &context));
        if (code == ACRE_CUDA_SUCCESS && context != own->context) {
            return acre_error_set(error, ACRE_INVALID_ARGUMENT,
                                  "the stream is of another context than the primary one of CUDA "
                                  "device %d: make it with that one current",
                                  (int)own->params.device);
        }
    }
    if (code == ACRE_CUDA_SUCCESS &&
        (own->stream == NULL || own->params.memory == ACRE_CUDA_STREAM_ORDERED)) {
        code = acre_cuda_call(own, stream_create(&own->own_stream, ACRE_CUDA_STREAM_NON_BLOCKING));
    }
    own->stream = own->stream == NULL ? own->own_stream : own->stream;
    return acre_cuda_status(own, 0, code, error);
}

// A pool that keeps what it freed until a flush.
static acre_cuda_result open_pool(acre_cuda *own) {
    acre_cuda_pool_properties properties = {
        .type = ACRE_CUDA_ALLOCATION_PINNED,
        .location = {ACRE_CUDA_LOCATION_DEVICE, own->device},
    };
    uint64_t keep = UINT64_MAX;
    acre_cuda_result code = acre_cuda_call(own, pool_create(&own->pool, &properties));
    if (code == ACRE_CUDA_SUCCESS) {
        code = acre_cuda_call(
            own, pool_set_attribute(own->pool, ACRE_CUDA_POOL_RELEASE_THRESHOLD, &keep));
    }
    return code;
}

// Ends what open_objects began, in whole or in part. Between enter and leave.
static void close_objects(acre_cuda *own) {
    if (own->module != NULL) {
        (void)acre_cuda_call(own, module_unload(own->module));
    }
    if (own->pool != NULL) {
        (void)acre_cuda_call(own, pool_destroy(own->pool));
    }
    if (own->own_stream != NULL) {
        (void)acre_cuda_call(own, stream_destroy(own->own_stream));
    }
}

static acre_status open_objects(acre_cuda *own, acre_error *error) {
    int mode;
    acre_cuda_result code = acre_cuda_enter(own, &mode);
    if (code != ACRE_CUDA_SUCCESS) {
        return acre_cuda_refused(&own->api, 0, code, error);
    }
    acre_status status = open_streams(own, error);
    if (status == ACRE_OK) {
        code = acre_cuda_find_granularity(own);
        if (code == ACRE_CUDA_SUCCESS && own->params.memory == ACRE_CUDA_STREAM_ORDERED) {
            code = open_pool(own);
        }
        status = acre_cuda_status(own, 0, code, error);
    }
    if (status != ACRE_OK) {
        close_objects(own);
    }
    acre_cuda_leave(own, &mode);
    return status;
}

static acre_status open_device(acre_cuda *own, acre_error *error) {
    acre_status status = acre_cuda_open(own->params.library, &own->api, error);
    if (status == ACRE_OK) {
        status = acre_cuda_find_device(own, (uint32_t)own->params.device, error);
    }
    if (status == ACRE_OK) {
        status = check_abilities(own, error);
    }
    if (status != ACRE_OK) {
        return status;
    }
    settle_limits(own);
    acre_cuda_result code = acre_cuda_call(own, primary_retain(&own->context, own->device));
    if (code != ACRE_CUDA_SUCCESS) {
        return acre_cuda_refused(&own->api, 0, code, error);
    }
    status = open_objects(own, error);
    if (status != ACRE_OK) {
        (void)acre_cuda_call(own, primary_release(own->device));
    }
    return status;
}

// A driver that cannot be reached any more keeps what it has; our own records end all the same.
static void cuda_destroy(void *context) {
    acre_cuda *own = context;
    int mode;
    bool reachable = acre_cuda_enter(own, &mode) == ACRE_CUDA_SUCCESS;
    acre_cuda_pages_end(own, reachable);
    acre_cuda_events_end(own, reachable);
    if (reachable) {
        if (own->own_stream != NULL) {
            (void)acre_cuda_call(own, stream_synchronize(own->own_stream));
        }
        close_objects(own);
        acre_cuda_leave(own, &mode);
    }
    (void)acre_cuda_call(own, primary_release(own->device));
    acre_host host = own->host;
    acre_host_free(&host, own, sizeof *own, _Alignof(acre_cuda));
}

static acre_storage_ops make_ops(const acre_cuda *own) {
    acre_storage_ops ops = ACRE_STORAGE_OPS_INIT;
    ops.alloc = acre_cuda_alloc;
    ops.dealloc = acre_cuda_dealloc;
    ops.flush = acre_cuda_flush;
    ops.resource = acre_cuda_resource;
    ops.alignment = cuda_alignment;
    ops.bytes_allocated = cuda_bytes_allocated;
    ops.limits = cuda_limits;
    ops.destroy = cuda_destroy;
    ops.copy = acre_cuda_copy;
    ops.wait = acre_cuda_wait;
    ops.write = acre_cuda_write;
    ops.read = acre_cuda_read;
    ops.stream_id = acre_cuda_stream_id;
    ops.event_record = acre_cuda_event_record;
    ops.event_done = acre_cuda_event_done;
    ops.event_wait = acre_cuda_event_wait;
    ops.event_sync = acre_cuda_event_sync;
    ops.event_destroy = acre_cuda_event_destroy;
    if (own->can_map) {
        ops.granularity = cuda_granularity;
        ops.range_reserve = acre_cuda_range_reserve;
        ops.range_release = acre_cuda_range_release;
        ops.memory_create = acre_cuda_memory_create;
        ops.memory_destroy = acre_cuda_memory_destroy;
        ops.map = acre_cuda_map;
        ops.unmap = acre_cuda_unmap;
    }
    return ops;
}

static const char *name_of(acre_cuda_memory memory) {
    return memory == ACRE_CUDA_PLAIN            ? "cuda"
           : memory == ACRE_CUDA_STREAM_ORDERED ? "cuda, stream-ordered"
                                                : "cuda, virtual";
}

static acre_status create(const acre_cuda_storage_params *params, const acre_host_hooks *hooks,
                          acre_storage **storage, acre_error *error) {
    acre_error_refuse(error, ACRE_OK, 0);
    acre_cuda_storage_params own = ACRE_CUDA_STORAGE_PARAMS_INIT;
    acre_host host;
    acre_status status = read_params(&own, params, error);
    if (status == ACRE_OK) {
        status = acre_host_init(&host, hooks, error);
    }
    if (status != ACRE_OK) {
        return status;
    }
    acre_cuda *made = acre_host_alloc_zeroed(&host, sizeof *made, _Alignof(acre_cuda));
    if (made == NULL) {
        return acre_error_refuse(error, ACRE_OUT_OF_HOST_MEMORY, sizeof *made);
    }
    made->host = host;
    made->params = own;
    status = open_device(made, error);
    if (status != ACRE_OK) {
        acre_host_free(&host, made, sizeof *made, _Alignof(acre_cuda));
        return status;
    }
    acre_storage_ops ops = make_ops(made);
    return acre_storage_make(name_of(own.memory), &ops, made, hooks, &made->script,
                             ACRE_RESOURCE_CUDA, storage, error);
}

acre_status acre_storage_cuda_create(const acre_cuda_storage_params *params,
                                     const acre_host_hooks *hooks, acre_storage **storage,
                                     acre_error *error) {
    acre_error local;
    acre_error *detail = acre_error_open(error, &local);
    return acre_error_close(error, detail, create(params, hooks, storage, detail));
}

// ---- what a program needs of it ------------------------------------------------------------

acre_cuda *acre_cuda_of(const acre_storage *storage) {
    return storage->ops.alloc == acre_cuda_alloc ? storage->context : NULL;
}

acre_status acre_storage_cuda_objects(const acre_storage *storage, acre_cuda_objects *objects,
                                      acre_error *error) {
    const acre_cuda *own = acre_cuda_of(storage);
    if (own == NULL) {
        acre_error local;
        acre_error *detail = acre_error_open(error, &local);
        return acre_error_close(error, detail,
                                acre_error_set(detail, ACRE_INVALID_ARGUMENT,
                                               "storage %s is none of CUDA",
                                               acre_storage_name(storage)));
    }
    acre_cuda_objects own_objects = ACRE_CUDA_OBJECTS_INIT;
    own_objects.context = own->context;
    own_objects.stream = own->stream;
    own_objects.device = own->device;
    acre_struct_write(objects, &own_objects, sizeof own_objects);
    return ACRE_OK;
}
