// Pages: blocks that the manager asked for, found by their buffer, too.
#ifndef ACRE_STORAGE_VULKAN_PAGES_H
#define ACRE_STORAGE_VULKAN_PAGES_H

#include "storage/vulkan/block.h"
#include "storage/vulkan/events.h"

typedef struct acre_vulkan_page {
    acre_vulkan_block block;
    uint64_t used;                 // the timeline behind the last own copy that touches it
    struct acre_vulkan_page *next; // in its bucket, or among those given back
} acre_vulkan_page;

typedef struct acre_vulkan_pages {
    acre_vulkan_context *device;
    acre_vulkan_streams *streams;
    acre_vulkan_memory_type type;
    uint32_t usage;          // of every buffer
    uint64_t total;          // bytes held at most
    uint64_t largest;        // bytes of one page at most
    uint64_t largest_memory; // bytes of one memory, as the device says
    uint64_t alignment;      // of every page
    uint64_t bytes;          // held now
    uint32_t count;
    uint32_t bucket_count; // a power of two
    acre_vulkan_page **buckets;
    acre_vulkan_page *given_back; // that could not be waited for
} acre_vulkan_pages;

// Chooses the memory type and settles the limits. => INVALID_ARGUMENT when no type has all that is
// required, or the usage needs what is off.
acre_status acre_vulkan_pages_begin(acre_vulkan_pages *pages, acre_vulkan_streams *streams,
                                    const acre_vulkan_storage_params *params, acre_error *error);
// The device is idle.
void acre_vulkan_pages_end(acre_vulkan_pages *pages);

acre_status acre_vulkan_pages_alloc(acre_vulkan_pages *pages, uint64_t size, uint64_t *id,
                                    acre_error *error);
void acre_vulkan_pages_dealloc(acre_vulkan_pages *pages, uint64_t id);
// Frees what was given back and could not be waited for then.
void acre_vulkan_pages_flush(acre_vulkan_pages *pages);

// => the page of a buffer, NULL when it is none of this storage.
acre_vulkan_page *acre_vulkan_pages_find(const acre_vulkan_pages *pages, uint64_t buffer);

// Bytes that slices start on a multiple of, so that each may be bound as a storage buffer and, on
// memory that is not coherent, written by the host alone.
uint64_t acre_vulkan_slice_alignment(const acre_vulkan_pages *pages);

#endif
