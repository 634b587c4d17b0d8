#include "storage/simulated/mapping.h"

#include "base/error.h"
#include "base/os.h"

#include <assert.h>

typedef struct simulated_range {
    uint32_t *granules; // name of the memory mapped at each; 0 = none
    uint32_t mapped;    // granules that have one
    uint32_t unused;    // the slab's
    uint64_t count;     // granules
    uint64_t padding;
} simulated_range;

typedef struct simulated_memory {
    uint64_t size;
    uint32_t mapped; // 1 while it is somewhere
    uint32_t unused; // the slab's
    uint64_t range;  // where, while it is
    uint64_t offset;
} simulated_memory;

static_assert(sizeof(simulated_range) % 16 == 0 && sizeof(simulated_memory) % 16 == 0,
              "records of a slab are multiples of 16 bytes");

static const uint64_t range_mark = UINT64_C(1) << 32;

void acre_simulated_mapping_init(acre_simulated_mapping *mapping, acre_host *host,
                                 uint64_t granularity) {
    acre_slab_init(&mapping->ranges, host, mapping, sizeof(simulated_range));
    acre_slab_init(&mapping->memories, host, mapping, sizeof(simulated_memory));
    mapping->granularity = granularity;
}

void acre_simulated_mapping_destroy(acre_simulated_mapping *mapping) {
    acre_slab_destroy(&mapping->ranges);
    acre_slab_destroy(&mapping->memories);
}

static simulated_range *range_at(const acre_simulated_mapping *mapping, uint64_t range) {
    return acre_slab_at(&mapping->ranges, (uint32_t)range);
}

static simulated_memory *memory_at(const acre_simulated_mapping *mapping, uint64_t memory) {
    return acre_slab_at(&mapping->memories, (uint32_t)memory);
}

static acre_status wrong(acre_error *error, uint64_t size, const char *what) {
    return acre_error_native(error, ACRE_BACKEND_ERROR, size, 0, what);
}

static bool is_multiple(const acre_simulated_mapping *mapping, uint64_t bytes) {
    return bytes % mapping->granularity == 0;
}

bool acre_simulated_is_mapped(const acre_simulated_mapping *mapping, uint64_t range,
                              uint64_t offset, uint64_t size) {
    const simulated_range *own = range_at(mapping, range);
    uint64_t first = offset / mapping->granularity;
    uint64_t last = (offset + size - 1) / mapping->granularity;
    return last < own->count && own->granules[first] != 0 && own->granules[last] != 0;
}

acre_status acre_simulated_reserve(acre_simulated_mapping *mapping, uint64_t size, uint64_t *range,
                                   acre_error *error) {
    if (size == 0 || !is_multiple(mapping, size)) {
        return wrong(error, size, "a range is a multiple of the granularity");
    }
    if (!acre_slab_prepare(&mapping->ranges, 1)) {
        return acre_error_refuse(error, ACRE_OUT_OF_HOST_MEMORY, sizeof(simulated_range));
    }
    uint64_t count = size / mapping->granularity;
    // Straight from the system: a range may be much larger than what is ever mapped into it.
    uint32_t *granules =
        count > UINT64_MAX / sizeof *granules ? NULL : acre_os_map(count * sizeof *granules);
    if (granules == NULL) {
        return wrong(error, size, "no addresses left");
    }
    uint32_t name = acre_slab_take(&mapping->ranges);
    *range_at(mapping, name) = (simulated_range){granules, 0, 0, count, 0};
    *range = range_mark | name;
    return ACRE_OK;
}

void acre_simulated_release(acre_simulated_mapping *mapping, uint64_t range) {
    simulated_range *own = range_at(mapping, range);
    assert(own->mapped == 0);
    acre_os_unmap(own->granules, own->count * sizeof *own->granules);
    acre_slab_give(&mapping->ranges, (uint32_t)range);
}

acre_status acre_simulated_create(acre_simulated_mapping *mapping, uint64_t size, uint64_t *memory,
                                  acre_error *error) {
    if (size == 0 || !is_multiple(mapping, size)) {
        return wrong(error, size, "memory is a multiple of the granularity");
    }
    if (!acre_slab_prepare(&mapping->memories, 1)) {
        return acre_error_refuse(error, ACRE_OUT_OF_HOST_MEMORY, sizeof(simulated_memory));
    }
    uint32_t name = acre_slab_take(&mapping->memories);
    *memory_at(mapping, name) = (simulated_memory){size, 0, 0, 0, 0};
    *memory = name;
    return ACRE_OK;
}

uint64_t acre_simulated_destroy(acre_simulated_mapping *mapping, uint64_t memory) {
    simulated_memory *own = memory_at(mapping, memory);
    assert(own->mapped == 0);
    uint64_t size = own->size;
    acre_slab_give(&mapping->memories, (uint32_t)memory);
    return size;
}

// => NULL when the memory may be mapped at granule `at`, else what is wrong.
static const char *refuse_map(const simulated_range *range, uint64_t at,
                              const simulated_memory *memory, uint64_t granules) {
    if (memory->mapped != 0) {
        return "memory that is mapped already";
    }
    if (at > range->count || granules > range->count - at) {
        return "bytes beyond the range";
    }
    for (uint64_t k = 0; k < granules; k++) {
        if (range->granules[at + k] != 0) {
            return "addresses where something is mapped";
        }
    }
    return NULL;
}

static void clear(acre_simulated_mapping *mapping, simulated_range *range, uint64_t at) {
    memory_at(mapping, range->granules[at])->mapped = 0;
    range->granules[at] = 0;
    range->mapped--;
}

acre_status acre_simulated_map(acre_simulated_mapping *mapping, uint64_t range, uint64_t offset,
                               const uint64_t *memories, uint64_t count, acre_error *error) {
    simulated_range *own = range_at(mapping, range);
    if (!is_multiple(mapping, offset)) {
        return wrong(error, 0, "an offset that is no multiple of the granularity");
    }
    uint64_t at = offset / mapping->granularity;
    for (uint64_t i = 0; i < count; i++) {
        simulated_memory *memory = memory_at(mapping, memories[i]);
        uint64_t granules = memory->size / mapping->granularity;
        const char *why = refuse_map(own, at, memory, granules);
        if (why != NULL) {
            while (at > offset / mapping->granularity) { // all or none
                clear(mapping, own, --at);
            }
            return wrong(error, 0, why);
        }
        memory->mapped = 1;
        memory->range = range;
        memory->offset = at * mapping->granularity;
        for (uint64_t k = 0; k < granules; k++) {
            own->granules[at++] = (uint32_t)memories[i];
        }
        own->mapped += (uint32_t)granules;
    }
    return ACRE_OK;
}

// => NULL when nothing mapped there is cut in two, else what is wrong.
static const char *refuse_unmap(const acre_simulated_mapping *mapping, const simulated_range *range,
                                uint64_t offset, uint64_t size) {
    uint64_t total = range->count * mapping->granularity;
    if (!is_multiple(mapping, offset) || !is_multiple(mapping, size)) {
        return "bytes that are no multiple of the granularity";
    }
    if (offset > total || size > total - offset) {
        return "bytes beyond the range";
    }
    for (uint64_t at = offset; at < offset + size; at += mapping->granularity) {
        uint32_t name = range->granules[at / mapping->granularity];
        if (name == 0) {
            continue;
        }
        const simulated_memory *memory = memory_at(mapping, name);
        if (memory->offset < offset || memory->offset + memory->size > offset + size) {
            return "memory that would be cut in two";
        }
    }
    return NULL;
}

acre_status acre_simulated_unmap(acre_simulated_mapping *mapping, uint64_t range, uint64_t offset,
                                 uint64_t size, acre_error *error) {
    simulated_range *own = range_at(mapping, range);
    const char *why = refuse_unmap(mapping, own, offset, size);
    if (why != NULL) {
        return wrong(error, size, why);
    }
    for (uint64_t at = offset; at < offset + size; at += mapping->granularity) {
        if (own->granules[at / mapping->granularity] != 0) {
            clear(mapping, own, at / mapping->granularity);
        }
    }
    return ACRE_OK;
}
