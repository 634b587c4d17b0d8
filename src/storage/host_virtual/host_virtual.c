// Storage of host memory apart from addresses. All memory is one file without a name; each memory
// has bytes of it that no other ever had, and a range is reserved addresses that such bytes are
// mapped into:
//
//   file     | m0 | m1 | m2 |    | m4 |  ...      m3 was destroyed: its bytes went back, the
//                 \    \  \                       hole stays a hole
//   range    |    | m1 |  | m2 | m0 |    |
//
// The file is sparse: it may grow to 2^63 bytes, and costs what is behind memory that was touched.
// A page of the manager is a range of its own with one memory in it.
#include "storage/storage.h"

#include <acre/storage_host.h>

#include "base/bits.h"
#include "base/error.h"
#include "base/os.h"
#include "base/structs.h"
#include "storage/backend.h"
#include "storage/host/bytes.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#define DEFAULT_GRANULARITY (UINT64_C(2) << 20)

typedef struct virtual_memory {
    uint64_t offset; // of its bytes in the file
    uint64_t size;
} virtual_memory;

typedef struct virtual_range {
    char *base;
    uint64_t size;
    virtual_memory *page; // the memory of a page; NULL = a range of the caller's
} virtual_range;

typedef struct virtual_storage {
    acre_host host;
    acre_host_virtual_storage_params params;
    int file;
    uint64_t file_page; // bytes of one page of the file
    uint64_t file_size;
    uint64_t file_end; // where the next memory's bytes start
    uint64_t bytes;
    acre_script script;
} virtual_storage;

// Every call of the system goes through one of these two, so that it can be made to fail.
static int fails(virtual_storage *own) {
    return acre_script_fails(&own->script) ? acre_host_scripted(&own->script) : 0;
}

static int map_bytes(virtual_storage *own, char *at, const virtual_memory *memory, uint64_t size) {
    int code = fails(own);
    return code != 0 ? code : acre_os_addresses_map(at, size, own->file, memory->offset);
}

// ---- memory --------------------------------------------------------------------------------

// Makes the file reach `end`. It doubles, so that most memories cost no call.
static int extend_file(virtual_storage *own, uint64_t end) {
    if (end <= own->file_size) {
        return 0;
    }
    uint64_t size = acre_add_saturating(end, end);
    if (size > INT64_MAX) {
        return ENOMEM;
    }
    size = acre_round_up(size, own->file_page);
    int code = fails(own);
    code = code != 0 ? code : acre_os_file_resize(own->file, size);
    own->file_size = code == 0 ? size : own->file_size;
    return code;
}

// => NULL with the error.
static virtual_memory *create_memory(virtual_storage *own, uint64_t size, acre_error *error) {
    uint64_t total = own->params.total_memory;
    bool too_large = size > acre_round_up(own->params.largest_allocation, own->file_page);
    if (too_large || own->bytes > total || size > total - own->bytes) {
        acre_error_native(error, ACRE_OUT_OF_MEMORY, size, 0, "");
        error->capacity = too_large ? own->params.largest_allocation : total;
        return NULL;
    }
    virtual_memory *made = acre_host_alloc(&own->host, sizeof *made, _Alignof(virtual_memory));
    if (made == NULL) {
        acre_error_refuse(error, ACRE_OUT_OF_HOST_MEMORY, sizeof *made);
        return NULL;
    }
    int code = extend_file(own, acre_add_saturating(own->file_end, size));
    if (code != 0) {
        acre_host_free(&own->host, made, sizeof *made, _Alignof(virtual_memory));
        acre_host_refused(error, size, code);
        return NULL;
    }
    *made = (virtual_memory){own->file_end, size};
    own->file_end += size;
    own->bytes += size;
    return made;
}

static void destroy_memory(virtual_storage *own, virtual_memory *memory) {
    // What cannot go back now goes with the file; nothing else is to be done about it.
    (void)acre_os_file_discard(own->file, memory->offset, memory->size);
    own->bytes -= memory->size;
    acre_host_free(&own->host, memory, sizeof *memory, _Alignof(virtual_memory));
}

static acre_status virtual_memory_create(void *context, uint64_t size, uint64_t *memory,
                                         acre_error *error) {
    virtual_memory *made = create_memory(context, size, error);
    *memory = (uint64_t)(uintptr_t)made;
    return made != NULL ? ACRE_OK : error->status;
}

static void virtual_memory_destroy(void *context, uint64_t memory) {
    destroy_memory(context, (virtual_memory *)(uintptr_t)memory);
}

// ---- ranges --------------------------------------------------------------------------------

// => NULL with the error.
static virtual_range *reserve(virtual_storage *own, uint64_t size, uint64_t alignment,
                              acre_error *error) {
    virtual_range *made = acre_host_alloc(&own->host, sizeof *made, _Alignof(virtual_range));
    if (made == NULL) {
        acre_error_refuse(error, ACRE_OUT_OF_HOST_MEMORY, sizeof *made);
        return NULL;
    }
    int code = fails(own);
    char *base = code != 0 ? NULL : acre_os_addresses_reserve(size, alignment);
    if (base == NULL) {
        code = code != 0 ? code : errno;
        acre_host_free(&own->host, made, sizeof *made, _Alignof(virtual_range));
        acre_host_refused(error, size, code);
        return NULL;
    }
    *made = (virtual_range){base, size, NULL};
    return made;
}

static void release(virtual_storage *own, virtual_range *range) {
    acre_os_addresses_release(range->base, range->size);
    acre_host_free(&own->host, range, sizeof *range, _Alignof(virtual_range));
}

static acre_status virtual_range_reserve(void *context, uint64_t size, uint64_t *range,
                                         acre_error *error) {
    virtual_storage *own = context;
    // From a multiple of the granularity on, where that is a power of two: huge pages need it.
    uint64_t alignment =
        acre_is_power_of_two(own->params.granularity) ? own->params.granularity : own->file_page;
    virtual_range *made = reserve(own, size, alignment, error);
    *range = (uint64_t)(uintptr_t)made;
    return made != NULL ? ACRE_OK : error->status;
}

static void virtual_range_release(void *context, uint64_t range) {
    release(context, (virtual_range *)(uintptr_t)range);
}

// How many of the memories from `first` on follow each other in the file: one call maps them.
static uint64_t count_adjacent(const uint64_t *memories, uint64_t first, uint64_t count,
                               uint64_t *bytes) {
    const virtual_memory *start = (const virtual_memory *)(uintptr_t)memories[first];
    uint64_t end = first + 1;
    *bytes = start->size;
    while (end < count) {
        const virtual_memory *next = (const virtual_memory *)(uintptr_t)memories[end];
        if (next->offset != start->offset + *bytes) {
            break;
        }
        *bytes += next->size;
        end++;
    }
    return end - first;
}

static acre_status virtual_map(void *context, uint64_t range, uint64_t offset,
                               const uint64_t *memories, uint64_t count, acre_error *error) {
    virtual_storage *own = context;
    char *start = ((const virtual_range *)(uintptr_t)range)->base + offset;
    uint64_t done = 0;
    for (uint64_t i = 0; i < count;) {
        uint64_t bytes;
        uint64_t adjacent = count_adjacent(memories, i, count, &bytes);
        int code =
            map_bytes(own, start + done, (const virtual_memory *)(uintptr_t)memories[i], bytes);
        if (code != 0) {
            if (done > 0) { // the mappings made so far, all or none
                (void)acre_os_addresses_clear(start, done);
            }
            return acre_host_refused(error, bytes, code);
        }
        done += bytes;
        i += adjacent;
    }
    return ACRE_OK;
}

static acre_status virtual_unmap(void *context, uint64_t range, uint64_t offset, uint64_t size,
                                 acre_error *error) {
    virtual_storage *own = context;
    int code = fails(own);
    code = code != 0 ? code
                     : acre_os_addresses_clear(
                           ((const virtual_range *)(uintptr_t)range)->base + offset, size);
    return code == 0 ? ACRE_OK : acre_host_refused(error, size, code);
}

// ---- pages ---------------------------------------------------------------------------------

static acre_status virtual_alloc(void *context, uint64_t size, uint64_t *id, acre_error *error) {
    virtual_storage *own = context;
    uint64_t rounded = acre_round_up(size, own->file_page);
    virtual_range *range = reserve(own, rounded, own->file_page, error);
    if (range == NULL) {
        return error->status;
    }
    virtual_memory *memory = create_memory(own, rounded, error);
    if (memory != NULL) {
        int code = map_bytes(own, range->base, memory, rounded);
        if (code == 0) {
            range->page = memory;
            *id = (uint64_t)(uintptr_t)range;
            return ACRE_OK;
        }
        destroy_memory(own, memory);
        acre_host_refused(error, size, code);
    }
    release(own, range);
    return error->status;
}

static void virtual_dealloc(void *context, uint64_t id) {
    virtual_range *range = (virtual_range *)(uintptr_t)id;
    virtual_memory *memory = range->page;
    release(context, range);
    destroy_memory(context, memory);
}

static void virtual_flush(void *context) {
    (void)context; // frees are immediate
}

static acre_status virtual_resource(void *context, uint64_t id, uint64_t offset, uint64_t size,
                                    acre_resource *resource, acre_error *error) {
    (void)context;
    (void)error;
    resource->kind = ACRE_RESOURCE_HOST;
    resource->size = size;
    resource->as.host = ((const virtual_range *)(uintptr_t)id)->base + offset;
    return ACRE_OK;
}

// ---- the storage ---------------------------------------------------------------------------

static uint64_t virtual_alignment(void *context) {
    return ((const virtual_storage *)context)->file_page;
}

static uint64_t virtual_granularity(void *context) {
    return ((const virtual_storage *)context)->params.granularity;
}

static uint64_t virtual_bytes_allocated(void *context) {
    return ((const virtual_storage *)context)->bytes;
}

static void virtual_limits(void *context, acre_storage_limits *limits) {
    const virtual_storage *own = context;
    limits->total_memory = own->params.total_memory;
    limits->largest_allocation = own->params.largest_allocation;
    limits->slice_alignment = 256;
}

static void virtual_destroy(void *context) {
    virtual_storage *own = context;
    acre_os_file_close(own->file);
    acre_host host = own->host;
    acre_host_free(&host, own, sizeof *own, _Alignof(virtual_storage));
}

static acre_status read_params(acre_host_virtual_storage_params *own,
                               const acre_host_virtual_storage_params *params, acre_error *error) {
    if (params != NULL && !acre_struct_read(own, sizeof *own, params)) {
        return acre_error_set(error, ACRE_UNSUPPORTED,
                              "the host virtual storage has parameters this version does not know");
    }
    if (own->total_memory == 0) {
        uint64_t physical = acre_os_physical_memory();
        own->total_memory = physical == 0 ? INT64_MAX : physical;
    }
    if (own->largest_allocation == 0 || own->largest_allocation > own->total_memory) {
        own->largest_allocation = own->total_memory;
    }
    return ACRE_OK;
}

// Opens the file and settles the granularity, which is a multiple of the file's page.
static acre_status open_file(virtual_storage *own, acre_error *error) {
    int code = acre_os_file_open(own->params.huge_pages, &own->file, &own->file_page);
    if (code != 0) {
        acre_error_native(error, ACRE_UNSUPPORTED, 0, code, strerror(code));
        snprintf(error->detail, sizeof error->detail, "%s",
                 own->params.huge_pages
                     ? "the system has no huge pages to map: see /proc/sys/vm/nr_hugepages"
                     : "the system cannot make a file without a name (memfd_create)");
        return ACRE_UNSUPPORTED;
    }
    uint64_t *granularity = &own->params.granularity;
    if (*granularity == 0) {
        *granularity = acre_round_up(DEFAULT_GRANULARITY, own->file_page);
    }
    if (*granularity % own->file_page != 0) {
        acre_os_file_close(own->file);
        return acre_error_set(error, ACRE_INVALID_ARGUMENT,
                              "the host virtual storage's granularity is no multiple of %llu bytes",
                              (unsigned long long)own->file_page);
    }
    return ACRE_OK;
}

static acre_storage_ops make_ops(void) {
    acre_storage_ops ops = ACRE_STORAGE_OPS_INIT;
    ops.alloc = virtual_alloc;
    ops.dealloc = virtual_dealloc;
    ops.flush = virtual_flush;
    ops.resource = virtual_resource;
    ops.alignment = virtual_alignment;
    ops.bytes_allocated = virtual_bytes_allocated;
    ops.limits = virtual_limits;
    ops.destroy = virtual_destroy;
    ops.copy = acre_host_copy;
    ops.write = acre_host_write;
    ops.read = acre_host_read;
    ops.granularity = virtual_granularity;
    ops.range_reserve = virtual_range_reserve;
    ops.range_release = virtual_range_release;
    ops.memory_create = virtual_memory_create;
    ops.memory_destroy = virtual_memory_destroy;
    ops.map = virtual_map;
    ops.unmap = virtual_unmap;
    return ops;
}

static acre_status create(const acre_host_virtual_storage_params *params,
                          const acre_host_hooks *hooks, acre_storage **storage, acre_error *error) {
    acre_host_virtual_storage_params own = ACRE_HOST_VIRTUAL_STORAGE_PARAMS_INIT;
    acre_host host;
    acre_status status = read_params(&own, params, error);
    if (status == ACRE_OK) {
        status = acre_host_init(&host, hooks, error);
    }
    if (status != ACRE_OK) {
        return status;
    }
    virtual_storage *made = acre_host_alloc_zeroed(&host, sizeof *made, _Alignof(virtual_storage));
    if (made == NULL) {
        return acre_error_refuse(error, ACRE_OUT_OF_HOST_MEMORY, sizeof *made);
    }
    made->host = host;
    made->params = own;
    status = open_file(made, error);
    if (status != ACRE_OK) {
        acre_host_free(&host, made, sizeof *made, _Alignof(virtual_storage));
        return status;
    }
    acre_storage_ops ops = make_ops();
    return acre_storage_make("host-virtual", &ops, made, hooks, &made->script, ACRE_RESOURCE_HOST,
                             storage, error);
}

acre_status acre_storage_host_virtual_create(const acre_host_virtual_storage_params *params,
                                             const acre_host_hooks *hooks, acre_storage **storage,
                                             acre_error *error) {
    acre_error local;
    acre_error *detail = acre_error_open(error, &local);
    return acre_error_close(error, detail, create(params, hooks, storage, detail));
}

acre_status acre_host_virtual_device(acre_device_info *info, acre_error *error) {
    virtual_storage probe = {.params = ACRE_HOST_VIRTUAL_STORAGE_PARAMS_INIT};
    acre_status status = open_file(&probe, error);
    if (status != ACRE_OK) {
        return status;
    }
    acre_os_file_close(probe.file);
    acre_host_describe(info);
    snprintf(info->driver, sizeof info->driver, "host memory, memfd");
    info->granularity = probe.params.granularity;
    return ACRE_OK;
}
