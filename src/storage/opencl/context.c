// The context and the queue of a storage: new ones for a device, or the caller's.
#include "storage/opencl/opencl.h"

#include "base/error.h"

static acre_status make(opencl_storage *own, uint32_t index, acre_error *error) {
    opencl_place place = {NULL, NULL};
    uint32_t count;
    acre_status status = acre_opencl_find(&own->driver, &own->host, index, &place, &count, error);
    if (status != ACRE_OK) {
        return status;
    }
    own->platform = place.platform;
    own->device = place.device;
    const intptr_t properties[] = {OPENCL_CONTEXT_PLATFORM, (intptr_t)place.platform, 0};
    int32_t code;
    own->context =
        OPENCL_MAKE(&own->driver, code, create_context, properties, 1, &own->device, NULL, NULL);
    if (code != 0) {
        return acre_opencl_refused(error, 0, code);
    }
    own->queue = OPENCL_MAKE(&own->driver, code, create_queue, own->context, own->device, 0);
    if (code != 0) {
        acre_status refused = acre_opencl_refused(error, 0, code);
        OPENCL_CALL(&own->driver, code, release_context, own->context);
        return refused;
    }
    return ACRE_OK;
}

// Reads what the caller's queue is of, and refuses one that the storage cannot work with.
static acre_status inspect(opencl_storage *own, acre_error *error) {
    opencl_context context = NULL;
    uint64_t properties = 0;
    int32_t code;
    OPENCL_CALL(&own->driver, code, get_queue_info, own->queue, OPENCL_QUEUE_CONTEXT,
                sizeof context, &context, NULL);
    if (code == 0) {
        OPENCL_CALL(&own->driver, code, get_queue_info, own->queue, OPENCL_QUEUE_PROPERTIES,
                    sizeof properties, &properties, NULL);
    }
    if (code == 0) {
        OPENCL_CALL(&own->driver, code, get_queue_info, own->queue, OPENCL_QUEUE_DEVICE,
                    sizeof own->device, &own->device, NULL);
    }
    if (code == 0) {
        OPENCL_CALL(&own->driver, code, get_device_info, own->device, OPENCL_DEVICE_PLATFORM,
                    sizeof own->platform, &own->platform, NULL);
    }
    if (code != 0) {
        return acre_opencl_refused(error, 0, code);
    }
    if (context != own->context) {
        return acre_error_set(error, ACRE_INVALID_ARGUMENT,
                              "the OpenCL queue is of another context than the one given");
    }
    if ((properties & OPENCL_QUEUE_OUT_OF_ORDER) != 0) {
        return acre_error_set(error, ACRE_INVALID_ARGUMENT,
                              "the OpenCL queue is out of order; the storage needs one in order");
    }
    return ACRE_OK;
}

static acre_status adopt(opencl_storage *own, const acre_opencl_storage_params *params,
                         acre_error *error) {
    if (params->context == NULL || params->queue == NULL) {
        return acre_error_set(error, ACRE_INVALID_ARGUMENT,
                              "an OpenCL context and a queue of it are given together or not at "
                              "all");
    }
    own->context = params->context;
    own->queue = params->queue;
    acre_status status = inspect(own, error);
    if (status != ACRE_OK) {
        return status;
    }
    int32_t code;
    OPENCL_CALL(&own->driver, code, retain_context, own->context);
    if (code != 0) {
        return acre_opencl_refused(error, 0, code);
    }
    OPENCL_CALL(&own->driver, code, retain_queue, own->queue);
    if (code != 0) {
        status = acre_opencl_refused(error, 0, code);
        OPENCL_CALL(&own->driver, code, release_context, own->context);
    }
    return status;
}

static acre_status check_device(const opencl_facts *facts, bool svm, acre_error *error) {
    uint32_t needed = svm ? 20 : 12;
    if (facts->version < needed) {
        return acre_error_set(error, ACRE_UNSUPPORTED,
                              "the device speaks OpenCL %u.%u, %s %u.%u: install a newer driver",
                              (unsigned)facts->version / 10, (unsigned)facts->version % 10,
                              svm ? "shared virtual memory needs" : "the storage needs",
                              (unsigned)needed / 10, (unsigned)needed % 10);
    }
    if (svm && !facts->svm) {
        return acre_error_set(
            error, ACRE_UNSUPPORTED,
            "the device has no coarse-grained shared virtual memory: use buffers");
    }
    return ACRE_OK;
}

acre_status acre_opencl_context_open(opencl_storage *own, const acre_opencl_storage_params *params,
                                     acre_error *error) {
    acre_status status = params->context == NULL && params->queue == NULL
                             ? make(own, params->device, error)
                             : adopt(own, params, error);
    if (status != ACRE_OK) {
        return status;
    }
    status = acre_opencl_learn(&own->driver, own->device, &own->facts, error);
    if (status == ACRE_OK) {
        status = check_device(&own->facts, params->svm, error);
    }
    if (status != ACRE_OK) {
        acre_opencl_context_close(own);
    }
    return status;
}

void acre_opencl_context_close(opencl_storage *own) {
    // A driver that cannot let go of them leaves nothing else to be done.
    int32_t code;
    OPENCL_CALL(&own->driver, code, release_queue, own->queue);
    OPENCL_CALL(&own->driver, code, release_context, own->context);
}
