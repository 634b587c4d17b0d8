// Memory of the fake driver with an address from the start, and copies.
#include "state.h"

#include <string.h>
#include <sys/mman.h>

// Bytes at a fresh address. => NULL: more than the device has.
static object *allocate(size_t size, object *pool) {
    uint64_t kept = pool == NULL ? 0 : pool->size;
    uint64_t held = device_bytes();
    if (size >
        fake_cuda()->memory + kept - (held < fake_cuda()->memory ? held : fake_cuda()->memory)) {
        return NULL;
    }
    void *bytes = mmap(NULL, size, PROT_READ | PROT_WRITE,
                       MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (bytes == MAP_FAILED) {
        return NULL;
    }
    object *made = object_create(OBJECT_ALLOCATION);
    made->address = (uint64_t)(uintptr_t)bytes;
    made->size = size;
    made->pool = pool;
    if (pool != NULL) {
        pool->size -= size < kept ? size : kept;
    }
    return made;
}

int cuMemAlloc(uint64_t *address, size_t size) {
    BEGIN();
    need_context(__func__);
    int code = check_unsafe();
    if (code != 0) {
        return code;
    }
    if (size == 0) {
        return 1;
    }
    const object *made = allocate(size, NULL);
    if (made == NULL) {
        return 2;
    }
    *address = made->address;
    return 0;
}

int cuMemFree(uint64_t address) {
    BEGIN();
    need_context(__func__);
    int code = check_unsafe();
    if (code != 0) {
        return code;
    }
    object *freed = object_at(OBJECT_ALLOCATION, address);
    if (freed == NULL || freed->pool != NULL) {
        misuse(__func__, "no allocation starts there");
    }
    object_destroy(freed);
    return 0;
}

// ---- pools ---------------------------------------------------------------------------------

static object *need_pool(const char *function, const void *pool) {
    object *found = object_find(OBJECT_POOL, pool);
    if (found == NULL) {
        misuse(function, "no such pool");
    }
    return found;
}

int cuMemPoolCreate(void **pool, const memory_properties *properties) {
    BEGIN();
    need_context(__func__);
    if (fake_cuda()->no_pools) {
        return 801;
    }
    if (properties->type != 1 || properties->location_type != 1) {
        return 1;
    }
    *pool = object_create(OBJECT_POOL);
    return 0;
}

int cuMemPoolDestroy(void *pool) {
    BEGIN();
    object *ended = need_pool(__func__, pool);
    for (const object *it = object_first(); it != NULL; it = it->next) {
        if (it->kind == OBJECT_ALLOCATION && it->pool == ended && !fake_cuda()->allow_leaks) {
            misuse(__func__, "allocations of the pool are left");
        }
    }
    object_destroy(ended);
    return 0;
}

int cuMemPoolSetAttribute(void *pool, int attribute, void *value) {
    BEGIN();
    object *changed = need_pool(__func__, pool);
    if (attribute != 4) {
        return 1;
    }
    memcpy(&changed->threshold, value, sizeof changed->threshold);
    return 0;
}

int cuMemPoolTrimTo(void *pool, size_t keep) {
    BEGIN();
    need_context(__func__);
    int code = check_unsafe();
    if (code != 0) {
        return code;
    }
    object *trimmed = need_pool(__func__, pool);
    trimmed->size = trimmed->size < keep ? trimmed->size : keep;
    return 0;
}

int cuMemAllocFromPoolAsync(uint64_t *address, size_t size, void *pool, void *stream) {
    BEGIN();
    object *on = need_stream(__func__, stream);
    if (is_captured(on)) {
        return 0;
    }
    const object *made = size == 0 ? NULL : allocate(size, need_pool(__func__, pool));
    if (made == NULL) {
        return size == 0 ? 1 : 2;
    }
    *address = made->address;
    return 0;
}

int cuMemFreeAsync(uint64_t address, void *stream) {
    BEGIN();
    object *on = need_stream(__func__, stream);
    if (is_captured(on)) {
        return 0;
    }
    object *freed = object_at(OBJECT_ALLOCATION, address);
    if (freed == NULL || freed->pool == NULL) {
        misuse(__func__, "no allocation of a pool starts there");
    }
    uint64_t kept = freed->pool->size + freed->size;
    freed->pool->size = kept < freed->pool->threshold ? kept : freed->pool->threshold;
    object_destroy(freed);
    return 0;
}

// ---- copies --------------------------------------------------------------------------------

void need_bytes(const char *function, uint64_t address, size_t size) {
    const object *allocation = object_around(OBJECT_ALLOCATION, address);
    if (allocation != NULL && address + size <= allocation->address + allocation->size) {
        return;
    }
    for (uint64_t at = address; at < address + size;) {
        const object *mapping = object_around(OBJECT_MAPPING, at);
        if (mapping == NULL || !mapping->accessible) {
            misuse(function, "bytes that are not on the device");
        }
        at = mapping->address + mapping->size;
    }
}

int cuMemcpyDtoDAsync(uint64_t target, uint64_t source, size_t size, void *stream) {
    BEGIN();
    if (is_captured(need_stream(__func__, stream))) {
        return 0;
    }
    need_bytes(__func__, target, size);
    need_bytes(__func__, source, size);
    memcpy((void *)(uintptr_t)target, (const void *)(uintptr_t)source, size);
    return 0;
}

int cuMemcpyHtoDAsync(uint64_t target, const void *source, size_t size, void *stream) {
    BEGIN();
    if (is_captured(need_stream(__func__, stream))) {
        return 0;
    }
    need_bytes(__func__, target, size);
    memcpy((void *)(uintptr_t)target, source, size);
    return 0;
}

int cuMemcpyDtoHAsync(void *target, uint64_t source, size_t size, void *stream) {
    BEGIN();
    if (is_captured(need_stream(__func__, stream))) {
        return 0;
    }
    need_bytes(__func__, source, size);
    memcpy(target, (const void *)(uintptr_t)source, size);
    return 0;
}
