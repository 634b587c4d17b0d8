#include "storage/storage.h"

#include "base/error.h"
#include "base/structs.h"

#include <stdio.h>
#include <string.h>

// => the first needed operation that is missing, NULL when all are there.
static const char *missing_operation(const acre_storage_ops *ops) {
    if (ops->alloc == NULL) {
        return "alloc";
    }
    if (ops->dealloc == NULL) {
        return "dealloc";
    }
    if (ops->flush == NULL) {
        return "flush";
    }
    if (ops->resource == NULL) {
        return "resource";
    }
    if (ops->alignment == NULL) {
        return "alignment";
    }
    return ops->bytes_allocated == NULL ? "bytes_allocated" : NULL;
}

static acre_status read_ops(acre_storage_ops *own, const acre_storage_ops *ops, acre_error *error) {
    if (ops == NULL) {
        return acre_error_set(error, ACRE_INVALID_ARGUMENT,
                              "the storage needs a table of operations");
    }
    if (!acre_struct_read(own, sizeof *own, ops)) {
        return acre_error_set(error, ACRE_UNSUPPORTED,
                              "the storage's table has operations this version does not know");
    }
    if (own->version != ACRE_STORAGE_OPS_VERSION) {
        return acre_error_set(error, ACRE_UNSUPPORTED,
                              "the storage's table is of version %u, this library knows %u",
                              (unsigned)own->version, (unsigned)ACRE_STORAGE_OPS_VERSION);
    }
    const char *missing = missing_operation(own);
    if (missing != NULL) {
        return acre_error_set(error, ACRE_INVALID_ARGUMENT, "the storage lacks the operation %s",
                              missing);
    }
    return ACRE_OK;
}

static acre_status create(const char *name, const acre_storage_ops *ops, void *context,
                          const acre_host_hooks *hooks, acre_storage **storage, acre_error *error) {
    acre_storage_ops own = ACRE_STORAGE_OPS_INIT;
    acre_status status = read_ops(&own, ops, error);
    if (status != ACRE_OK) {
        return status;
    }
    acre_host host;
    status = acre_host_init(&host, hooks, error);
    if (status != ACRE_OK) {
        return status;
    }
    uint64_t alignment = own.alignment(context);
    if (alignment == 0) {
        return acre_error_set(error, ACRE_INVALID_ARGUMENT, "the storage's alignment is 0");
    }
    acre_storage *made = acre_host_alloc_zeroed(&host, sizeof *made, _Alignof(acre_storage));
    if (made == NULL) {
        return acre_error_refuse(error, ACRE_OUT_OF_HOST_MEMORY, sizeof *made);
    }
    made->ops = own;
    made->context = context;
    made->host = host;
    made->alignment = alignment;
    made->limits = ACRE_STORAGE_LIMITS_INIT;
    if (own.limits != NULL) {
        own.limits(context, &made->limits);
    }
    made->stats = ACRE_STORAGE_STATS_INIT;
    made->stats.bytes_allocated = made->stats.bytes_peak = own.bytes_allocated(context);
    snprintf(made->name, sizeof made->name, "%s", name == NULL ? "storage" : name);
    *storage = made;
    return ACRE_OK;
}

acre_status acre_storage_create(const char *name, const acre_storage_ops *ops, void *context,
                                const acre_host_hooks *hooks, acre_storage **storage,
                                acre_error *error) {
    acre_error local;
    acre_error *detail = acre_error_open(error, &local);
    return acre_error_close(error, detail, create(name, ops, context, hooks, storage, detail));
}

void acre_storage_destroy(acre_storage *storage) {
    if (storage == NULL) {
        return;
    }
    if (storage->ops.destroy != NULL) {
        storage->ops.destroy(storage->context);
    }
    acre_host host = storage->host;
    acre_host_free(&host, storage, sizeof *storage, _Alignof(acre_storage));
}

const char *acre_storage_name(const acre_storage *storage) {
    return storage->name;
}

void acre_storage_limits_get(const acre_storage *storage, acre_storage_limits *limits) {
    acre_struct_write(limits, &storage->limits, sizeof storage->limits);
}

void acre_storage_stats_get(const acre_storage *storage, acre_storage_stats *stats) {
    acre_storage_stats own = storage->stats;
    own.bytes_allocated = acre_storage_bytes(storage);
    acre_struct_write(stats, &own, sizeof own);
}

// A back end's refusal is one of three: another status would be taken for a decision of a pool.
static acre_status backend_status(acre_status status) {
    return status == ACRE_OK || status == ACRE_OUT_OF_MEMORY || status == ACRE_OUT_OF_HOST_MEMORY
               ? status
               : ACRE_BACKEND_ERROR;
}

acre_status acre_storage_alloc(acre_storage *storage, uint64_t size, uint64_t *id,
                               acre_error *error) {
    acre_error_refuse(error, ACRE_OK, size);
    acre_status status = backend_status(storage->ops.alloc(storage->context, size, id, error));
    error->status = status;
    error->size = size;
    if (status != ACRE_OK) {
        storage->stats.refused++;
        return status;
    }
    storage->stats.allocs++;
    uint64_t held = acre_storage_bytes(storage);
    storage->stats.bytes_peak = held > storage->stats.bytes_peak ? held : storage->stats.bytes_peak;
    return ACRE_OK;
}

void acre_storage_dealloc(acre_storage *storage, uint64_t id) {
    storage->stats.deallocs++;
    storage->ops.dealloc(storage->context, id);
}

void acre_storage_flush(acre_storage *storage) {
    storage->stats.flushes++;
    storage->ops.flush(storage->context);
}

acre_status acre_storage_resource(acre_storage *storage, uint64_t id, uint64_t offset,
                                  uint64_t size, acre_resource *resource, acre_error *error) {
    acre_error_refuse(error, ACRE_OK, size);
    acre_status status =
        backend_status(storage->ops.resource(storage->context, id, offset, size, resource, error));
    error->status = status;
    return status;
}

acre_status acre_storage_copy(acre_storage *storage, const acre_resource *source,
                              const acre_resource *target, acre_error *error) {
    acre_error_refuse(error, ACRE_OK, source->size);
    acre_status status = storage->ops.copy(storage->context, source, target, error);
    error->status = status;
    if (status == ACRE_OK) {
        storage->stats.copies++;
        storage->stats.bytes_copied += source->size;
    }
    return status;
}

acre_status acre_storage_wait(acre_storage *storage, acre_error *error) {
    if (storage->ops.wait == NULL) {
        return ACRE_OK;
    }
    acre_error_refuse(error, ACRE_OK, 0);
    acre_status status = storage->ops.wait(storage->context, error);
    error->status = status;
    return status;
}
