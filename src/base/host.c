#include "base/host.h"

#include "base/error.h"
#include "base/os.h"
#include "base/structs.h"

#include <string.h>

static void *default_alloc(void *context, size_t size, size_t alignment) {
    (void)context;
    return acre_os_alloc(size, alignment);
}

static void default_free(void *context, void *memory, size_t size, size_t alignment) {
    (void)context;
    (void)size;
    (void)alignment;
    acre_os_free(memory);
}

acre_status acre_host_init(acre_host *host, const acre_host_hooks *hooks, acre_error *error) {
    host->bytes = 0;
    host->hooks = ACRE_HOST_HOOKS_INIT;
    host->hooks.alloc = default_alloc;
    host->hooks.free = default_free;
    if (hooks == NULL) {
        return ACRE_OK;
    }
    host->hooks = ACRE_HOST_HOOKS_INIT;
    if (!acre_struct_read(&host->hooks, sizeof host->hooks, hooks)) {
        return acre_error_set(error, ACRE_UNSUPPORTED,
                              "the host hooks have fields this version does not know");
    }
    if (host->hooks.alloc == NULL || host->hooks.free == NULL) {
        return acre_error_set(error, ACRE_INVALID_ARGUMENT, "the host hooks need alloc and free");
    }
    return ACRE_OK;
}

// aligned_alloc, which hooks may be made of, wants sizes that are multiples of the alignment.
static size_t whole(size_t size, size_t alignment) {
    return (size + alignment - 1) & ~(alignment - 1);
}

void *acre_host_alloc(acre_host *host, size_t size, size_t alignment) {
    size = whole(size, alignment);
    void *memory = host->hooks.alloc(host->hooks.context, size, alignment);
    if (memory != NULL) {
        host->bytes += size;
    }
    return memory;
}

void *acre_host_alloc_zeroed(acre_host *host, size_t size, size_t alignment) {
    void *memory = acre_host_alloc(host, size, alignment);
    if (memory != NULL) {
        memset(memory, 0, size);
    }
    return memory;
}

void acre_host_free(acre_host *host, void *memory, size_t size, size_t alignment) {
    if (memory != NULL) {
        host->bytes -= whole(size, alignment);
        acre_host_free_uncounted(&host->hooks, memory, size, alignment);
    }
}

void acre_host_free_uncounted(const acre_host_hooks *hooks, void *memory, size_t size,
                              size_t alignment) {
    hooks->free(hooks->context, memory, whole(size, alignment), alignment);
}

bool acre_host_grow(acre_host *host, void *array_pointer, size_t element_size, uint32_t used,
                    uint32_t needed, uint32_t *capacity) {
    if (needed <= *capacity) {
        return true;
    }
    uint64_t wanted = *capacity < 8 ? 8 : (uint64_t)*capacity * 2;
    while (wanted < needed) {
        wanted *= 2;
    }
    if (wanted > UINT32_MAX) {
        return false; // no index may wrap
    }
    void *old;
    memcpy(&old, array_pointer, sizeof old);
    void *grown = acre_host_alloc(host, wanted * element_size, _Alignof(max_align_t));
    if (grown == NULL) {
        return false;
    }
    if (old != NULL) {
        memcpy(grown, old, used * element_size);
        acre_host_free(host, old, *capacity * element_size, _Alignof(max_align_t));
    }
    memcpy(array_pointer, &grown, sizeof grown);
    *capacity = (uint32_t)wanted;
    return true;
}
