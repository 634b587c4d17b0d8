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

// The first operation of a group of which some are there and some are not, NULL when there is none.
static const char *half_a_group(const acre_storage_ops *ops) {
    const struct {
        const char *name;
        bool here;
        int group;
    } optional[] = {
        {"write", ops->write != NULL, 0},
        {"read", ops->read != NULL, 0},
        {"granularity", ops->granularity != NULL, 1},
        {"range_reserve", ops->range_reserve != NULL, 1},
        {"range_release", ops->range_release != NULL, 1},
        {"memory_create", ops->memory_create != NULL, 1},
        {"memory_destroy", ops->memory_destroy != NULL, 1},
        {"map", ops->map != NULL, 1},
        {"unmap", ops->unmap != NULL, 1},
        {"stream_id", ops->stream_id != NULL, 2},
        {"event_record", ops->event_record != NULL, 2},
        {"event_done", ops->event_done != NULL, 2},
        {"event_wait", ops->event_wait != NULL, 2},
        {"event_sync", ops->event_sync != NULL, 2},
        {"event_destroy", ops->event_destroy != NULL, 2},
    };
    bool any[3] = {false, false, false};
    for (size_t i = 0; i < sizeof optional / sizeof optional[0]; i++) {
        any[optional[i].group] = any[optional[i].group] || optional[i].here;
    }
    for (size_t i = 0; i < sizeof optional / sizeof optional[0]; i++) {
        if (any[optional[i].group] && !optional[i].here) {
            return optional[i].name;
        }
    }
    return NULL;
}

static acre_status read_ops(acre_storage_ops *own, const acre_storage_ops *ops, void *context,
                            acre_error *error) {
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
    missing = half_a_group(own);
    if (missing != NULL) {
        return acre_error_set(error, ACRE_INVALID_ARGUMENT,
                              "the storage lacks the operation %s, which others need", missing);
    }
    if (own->granularity != NULL && own->granularity(context) == 0) {
        return acre_error_set(error, ACRE_INVALID_ARGUMENT, "the storage's granularity is 0");
    }
    return ACRE_OK;
}

static acre_status create(const char *name, const acre_storage_ops *ops, void *context,
                          const acre_host_hooks *hooks, acre_storage **storage, acre_error *error) {
    acre_storage_ops own = ACRE_STORAGE_OPS_INIT;
    acre_status status = read_ops(&own, ops, context, error);
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

acre_status acre_storage_make(const char *name, const acre_storage_ops *ops, void *context,
                              const acre_host_hooks *hooks, acre_script *script,
                              acre_resource_kind resources, acre_storage **storage,
                              acre_error *error) {
    acre_status status = create(name, ops, context, hooks, storage, error);
    if (status != ACRE_OK) {
        ops->destroy(context);
        return status;
    }
    (*storage)->script = script;
    (*storage)->resources = resources;
    return ACRE_OK;
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

static void note_peak(acre_storage *storage) {
    uint64_t held = acre_storage_bytes(storage);
    storage->stats.bytes_peak = held > storage->stats.bytes_peak ? held : storage->stats.bytes_peak;
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
    note_peak(storage);
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

// ---- what programs call, too ---------------------------------------------------------------

static acre_status wait_for(acre_storage *storage, acre_error *error) {
    acre_error_refuse(error, ACRE_OK, 0);
    if (storage->ops.wait == NULL) {
        return ACRE_OK;
    }
    return error->status = backend_status(storage->ops.wait(storage->context, error));
}

acre_status acre_storage_wait(acre_storage *storage, acre_error *error) {
    acre_error local;
    acre_error *detail = acre_error_open(error, &local);
    return acre_error_close(error, detail, wait_for(storage, detail));
}

// => other than OK when there is nothing to be done for `resource`.
static acre_status check_bytes(const acre_storage *storage, const acre_resource *resource,
                               const void *bytes, acre_error *error) {
    acre_error_refuse(error, ACRE_OK, resource->size);
    if (storage->ops.write == NULL) {
        return acre_error_set(error, ACRE_UNSUPPORTED,
                              "storage %s has no way to read and write its bytes", storage->name);
    }
    if (bytes == NULL && resource->size > 0) {
        return acre_error_set(error, ACRE_INVALID_ARGUMENT, "the bytes are NULL");
    }
    // Another kind's handle would be taken for an address.
    if (resource->size > 0 && storage->resources != ACRE_RESOURCE_NONE &&
        resource->kind != storage->resources) {
        return acre_error_set(error, ACRE_INVALID_ARGUMENT,
                              "the resource is of another kind of storage than %s", storage->name);
    }
    return ACRE_OK;
}

// What the back end says of bytes. That a resource is none of its own is the caller's to mend.
static acre_status bytes_status(acre_status status) {
    return status == ACRE_INVALID_ARGUMENT ? status : backend_status(status);
}

acre_status acre_storage_write(acre_storage *storage, const acre_resource *target,
                               const void *bytes, acre_error *error) {
    acre_error local;
    acre_error *detail = acre_error_open(error, &local);
    acre_status status = check_bytes(storage, target, bytes, detail);
    if (status == ACRE_OK && target->size > 0) {
        status = bytes_status(storage->ops.write(storage->context, target, bytes, detail));
        detail->status = status;
    }
    return acre_error_close(error, detail, status);
}

acre_status acre_storage_read(acre_storage *storage, const acre_resource *source, void *bytes,
                              acre_error *error) {
    acre_error local;
    acre_error *detail = acre_error_open(error, &local);
    acre_status status = check_bytes(storage, source, bytes, detail);
    if (status == ACRE_OK && source->size > 0) {
        status = bytes_status(storage->ops.read(storage->context, source, bytes, detail));
        detail->status = status;
    }
    return acre_error_close(error, detail, status);
}

static acre_status order_failure(acre_storage *storage, uint64_t nth, bool and_after,
                                 int64_t native_code, acre_error *error) {
    if (storage->script == NULL) {
        return acre_error_set(error, ACRE_UNSUPPORTED,
                              "storage %s makes no calls that can be made to fail", storage->name);
    }
    if (native_code < INT32_MIN || native_code > INT32_MAX) { // cut to that it may mean success
        return acre_error_set(error, ACRE_INVALID_ARGUMENT,
                              "drivers have codes of 32 bits, which %lld is not",
                              (long long)native_code);
    }
    acre_script_order(storage->script, nth, and_after, native_code);
    return ACRE_OK;
}

acre_status acre_storage_fail(acre_storage *storage, uint64_t nth, bool and_after,
                              int64_t native_code, acre_error *error) {
    acre_error local;
    acre_error *detail = acre_error_open(error, &local);
    return acre_error_close(error, detail,
                            order_failure(storage, nth, and_after, native_code, detail));
}

uint64_t acre_storage_calls(const acre_storage *storage) {
    return storage->script == NULL ? 0 : storage->script->calls;
}

// ---- address ranges apart from memory ------------------------------------------------------

acre_status acre_storage_range_reserve(acre_storage *storage, uint64_t size, uint64_t *range,
                                       acre_error *error) {
    acre_error_refuse(error, ACRE_OK, size);
    return error->status =
               backend_status(storage->ops.range_reserve(storage->context, size, range, error));
}

acre_status acre_storage_memory_create(acre_storage *storage, uint64_t size, uint64_t *memory,
                                       acre_error *error) {
    acre_error_refuse(error, ACRE_OK, size);
    acre_status status =
        backend_status(storage->ops.memory_create(storage->context, size, memory, error));
    error->status = status;
    error->size = size;
    if (status == ACRE_OK) {
        storage->stats.allocs++;
        note_peak(storage);
    } else {
        storage->stats.refused++;
    }
    return status;
}

void acre_storage_memory_destroy(acre_storage *storage, uint64_t memory) {
    storage->stats.deallocs++;
    storage->ops.memory_destroy(storage->context, memory);
}

acre_status acre_storage_map(acre_storage *storage, uint64_t range, uint64_t offset,
                             const uint64_t *memories, uint64_t count, acre_error *error) {
    acre_error_refuse(error, ACRE_OK, 0);
    acre_status status =
        backend_status(storage->ops.map(storage->context, range, offset, memories, count, error));
    storage->stats.maps += status == ACRE_OK;
    return error->status = status;
}

acre_status acre_storage_unmap(acre_storage *storage, uint64_t range, uint64_t offset,
                               uint64_t size, acre_error *error) {
    acre_error_refuse(error, ACRE_OK, size);
    acre_status status =
        backend_status(storage->ops.unmap(storage->context, range, offset, size, error));
    storage->stats.unmaps += status == ACRE_OK;
    return error->status = status;
}
