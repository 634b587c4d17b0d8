// Addresses and memory apart, as the driver's virtual memory management has them: memory is a file
// without a name, a range is reserved addresses.
#define _GNU_SOURCE // memfd_create
#include "state.h"

#include <sys/mman.h>
#include <unistd.h>

static object *handle_of(uint64_t handle) {
    return object_find(OBJECT_HANDLE, (const void *)(uintptr_t)handle);
}

static void drop_reference(object *handle) {
    if (--handle->references == 0) {
        object_destroy(handle);
    }
}

int cuMemGetAllocationGranularity(size_t *granularity, const memory_properties *properties,
                                  int option) {
    (void)properties;
    (void)option;
    BEGIN();
    *granularity = GRANULARITY;
    return fake_cuda()->no_mapping ? 801 : 0;
}

int cuMemAddressReserve(uint64_t *address, size_t size, size_t alignment, uint64_t hint,
                        unsigned long long flags) {
    (void)alignment;
    (void)hint;
    (void)flags;
    BEGIN();
    int code = check_unsafe();
    if (code != 0) {
        return code;
    }
    if (size == 0 || size % GRANULARITY != 0 || size > UINT64_C(1) << 46) {
        return size > UINT64_C(1) << 46 ? 2 : 1;
    }
    // More than is needed, and cut to a multiple of the granularity.
    char *base = mmap(NULL, size + GRANULARITY, PROT_NONE,
                      MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (base == MAP_FAILED) {
        return 2;
    }
    size_t skip = (GRANULARITY - (uintptr_t)base % GRANULARITY) % GRANULARITY;
    if (skip > 0) {
        munmap(base, skip);
    }
    munmap(base + skip + size, GRANULARITY - skip);
    object *made = object_create(OBJECT_RANGE);
    made->address = (uint64_t)(uintptr_t)(base + skip);
    made->size = size;
    *address = made->address;
    return 0;
}

int cuMemAddressFree(uint64_t address, size_t size) {
    BEGIN();
    int code = check_unsafe();
    if (code != 0) {
        return code;
    }
    object *range = object_at(OBJECT_RANGE, address);
    if (range == NULL || range->size != size) {
        misuse(__func__, "no range of that size starts there");
    }
    for (const object *it = object_first(); it != NULL; it = it->next) {
        if (it->kind == OBJECT_MAPPING && it->address >= address && it->address < address + size) {
            misuse(__func__, "something is mapped there");
        }
    }
    object_destroy(range);
    return 0;
}

int cuMemCreate(uint64_t *handle, size_t size, const memory_properties *properties,
                unsigned long long flags) {
    BEGIN();
    int code = check_unsafe();
    if (code != 0) {
        return code;
    }
    if (size == 0 || size % GRANULARITY != 0 || properties->type != 1 ||
        properties->location_type != 1 || flags != 0) {
        return 1;
    }
    uint64_t held = device_bytes();
    if (held > fake_cuda()->memory || size > fake_cuda()->memory - held) {
        return 2;
    }
    int file = memfd_create("fake_cuda", MFD_CLOEXEC);
    if (file < 0 || ftruncate(file, (off_t)size) != 0) {
        return 2;
    }
    object *made = object_create(OBJECT_HANDLE);
    made->file = file;
    made->size = size;
    made->references = 1;
    made->handle_types = properties->handle_types;
    *handle = (uint64_t)(uintptr_t)made;
    return 0;
}

int cuMemRelease(uint64_t handle) {
    BEGIN();
    int code = check_unsafe();
    if (code != 0) {
        return code;
    }
    object *released = handle_of(handle);
    if (released == NULL) {
        misuse(__func__, "no such memory");
    }
    drop_reference(released);
    return 0;
}

int cuMemMap(uint64_t address, size_t size, size_t offset, uint64_t handle,
             unsigned long long flags) {
    BEGIN();
    int code = check_unsafe();
    if (code != 0) {
        return code;
    }
    object *memory = handle_of(handle);
    const object *range = object_around(OBJECT_RANGE, address);
    if (memory == NULL || memory->size != size || offset != 0 || flags != 0) {
        misuse(__func__, "no such memory, or only a part of it");
    }
    if (memory->references != 1) {
        misuse(__func__, "the memory is mapped already");
    }
    if (range == NULL || size > range->address + range->size - address ||
        address % GRANULARITY != 0) {
        misuse(__func__, "addresses that are not reserved");
    }
    for (const object *it = object_first(); it != NULL; it = it->next) {
        if (it->kind == OBJECT_MAPPING && it->address < address + size &&
            address < it->address + it->size) {
            misuse(__func__, "something is mapped there");
        }
    }
    if (mmap((void *)(uintptr_t)address, size, PROT_NONE, MAP_SHARED | MAP_FIXED, memory->file,
             0) == MAP_FAILED) {
        return 2;
    }
    object *made = object_create(OBJECT_MAPPING);
    made->address = address;
    made->size = size;
    made->pool = memory;
    memory->references++;
    return 0;
}

// Whole mappings, without a hole, have to fill [address, address + size).
static void need_mappings(const char *function, uint64_t address, size_t size) {
    uint64_t at = address;
    while (at < address + size) {
        const object *mapping = object_at(OBJECT_MAPPING, at);
        if (mapping == NULL || mapping->size > address + size - at) {
            misuse(function, "a hole, or half a mapping");
        }
        at += mapping->size;
    }
}

int cuMemUnmap(uint64_t address, size_t size) {
    BEGIN();
    int code = check_unsafe();
    if (code != 0) {
        return code;
    }
    if (size == 0) {
        misuse(__func__, "nothing to unmap");
    }
    need_mappings(__func__, address, size);
    if (mmap((void *)(uintptr_t)address, size, PROT_NONE,
             MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED, -1, 0) == MAP_FAILED) {
        return 2;
    }
    for (uint64_t at = address; at < address + size;) {
        object *mapping = object_at(OBJECT_MAPPING, at);
        at += mapping->size;
        drop_reference(mapping->pool);
        object_destroy(mapping);
    }
    return 0;
}

int cuMemSetAccess(uint64_t address, size_t size, const access_description *access, size_t count) {
    BEGIN();
    int code = check_unsafe();
    if (code != 0) {
        return code;
    }
    need_mappings(__func__, address, size);
    if (count != 1 || access->location_type != 1 || access->flags != 3) {
        return 1;
    }
    if (mprotect((void *)(uintptr_t)address, size, PROT_READ | PROT_WRITE) != 0) {
        return 2;
    }
    for (uint64_t at = address; at < address + size;) {
        object *mapping = object_at(OBJECT_MAPPING, at);
        mapping->accessible = true;
        at += mapping->size;
    }
    return 0;
}

int cuMemExportToShareableHandle(void *exported, uint64_t handle, int type,
                                 unsigned long long flags) {
    BEGIN();
    const object *memory = handle_of(handle);
    if (memory == NULL || type != 1 || flags != 0 || (memory->handle_types & 1) == 0) {
        return 1;
    }
    int file = dup(memory->file);
    *(int *)exported = file;
    return file < 0 ? 304 : 0; // CUDA_ERROR_OPERATING_SYSTEM
}
