// What the pools see of a storage: checked operations, counted.
#ifndef ACRE_STORAGE_STORAGE_H
#define ACRE_STORAGE_STORAGE_H

#include <acre/storage.h>

#include "base/host.h"
#include "storage/script.h"

struct acre_storage {
    acre_storage_ops ops;
    void *context;
    acre_host host;
    acre_storage_limits limits;
    uint64_t alignment; // of every page
    acre_storage_stats stats;
    acre_script *script;          // of the back end's driver calls; NULL = it has none
    acre_resource_kind resources; // what its resources are; NONE = whatever the caller's table says
    char name[32];
};

// acre_storage_create for a back end of the library, whose driver calls `script` counts and whose
// resources are of one kind. => OK, or an error after the context was ended by ops->destroy.
acre_status acre_storage_make(const char *name, const acre_storage_ops *ops, void *context,
                              const acre_host_hooks *hooks, acre_script *script,
                              acre_resource_kind resources, acre_storage **storage,
                              acre_error *error);

// One page of `size` > 0 bytes. => OK, or what the back end says with its own code and text.
acre_status acre_storage_alloc(acre_storage *storage, uint64_t size, uint64_t *id,
                               acre_error *error);
void acre_storage_dealloc(acre_storage *storage, uint64_t id);
void acre_storage_flush(acre_storage *storage);

// Bytes held from the device now.
static inline uint64_t acre_storage_bytes(const acre_storage *storage) {
    return storage->ops.bytes_allocated(storage->context);
}
acre_status acre_storage_resource(acre_storage *storage, uint64_t id, uint64_t offset,
                                  uint64_t size, acre_resource *resource, acre_error *error);

// One copy of the storage's own queue; it has one.
acre_status acre_storage_copy(acre_storage *storage, const acre_resource *source,
                              const acre_resource *target, acre_error *error);

// Address ranges apart from memory: the operations of acre_storage_ops, checked and counted. Only
// on a storage that can map.
static inline bool acre_storage_can_map(const acre_storage *storage) {
    return storage->ops.map != NULL;
}

acre_status acre_storage_range_reserve(acre_storage *storage, uint64_t size, uint64_t *range,
                                       acre_error *error);
acre_status acre_storage_memory_create(acre_storage *storage, uint64_t size, uint64_t *memory,
                                       acre_error *error);
void acre_storage_memory_destroy(acre_storage *storage, uint64_t memory);
acre_status acre_storage_map(acre_storage *storage, uint64_t range, uint64_t offset,
                             const uint64_t *memories, uint64_t count, acre_error *error);
acre_status acre_storage_unmap(acre_storage *storage, uint64_t range, uint64_t offset,
                               uint64_t size, acre_error *error);

#endif
