#include "storage/vulkan/bytes.h"

#include "base/error.h"

#include <string.h>

#define STAGING_SIZE (UINT64_C(1) << 20)

void acre_vulkan_bytes_begin(acre_vulkan_bytes *bytes, acre_vulkan_pages *pages,
                             acre_vulkan_copies *copies, acre_vulkan_streams *streams) {
    *bytes = (acre_vulkan_bytes){
        .device = streams->device, .streams = streams, .pages = pages, .copies = copies};
}

void acre_vulkan_bytes_end(acre_vulkan_bytes *bytes) {
    acre_vulkan_block_end(bytes->device, &bytes->staging);
}

// The page of a resource, NULL with an error when it is none of this storage's or reaches beyond
// it.
static acre_vulkan_page *page_of(const acre_vulkan_bytes *bytes, const acre_resource *resource,
                                 acre_error *error) {
    acre_vulkan_page *page = resource->kind == ACRE_RESOURCE_VULKAN
                                 ? acre_vulkan_pages_find(bytes->pages, resource->as.vulkan.buffer)
                                 : NULL;
    if (page == NULL) {
        acre_error_describe(error, ACRE_INVALID_ARGUMENT, "the resource is of another storage");
        return NULL;
    }
    uint64_t size = page->block.size;
    if (resource->as.vulkan.offset > size || resource->size > size - resource->as.vulkan.offset) {
        acre_error_describe(error, ACRE_INVALID_ARGUMENT, "the resource reaches beyond its page");
        return NULL;
    }
    return page;
}

acre_status acre_vulkan_bytes_copy(acre_vulkan_bytes *bytes, const acre_resource *source,
                                   const acre_resource *target, acre_error *error) {
    acre_vulkan_page *from = page_of(bytes, source, error);
    acre_vulkan_page *to = from == NULL ? NULL : page_of(bytes, target, error);
    if (to == NULL) {
        return ACRE_INVALID_ARGUMENT;
    }
    acre_vulkan_copy copy = {
        from->block.buffer,
        to->block.buffer,
        {source->as.vulkan.offset, target->as.vulkan.offset, source->size},
    };
    uint64_t value = 0;
    acre_status status = acre_vulkan_copies_submit(bytes->copies, &copy, &value, error);
    if (status == ACRE_OK) {
        from->used = to->used = value;
    }
    return status;
}

// ---- what the host sees --------------------------------------------------------------------

typedef acre_vk_result (*sync_ranges)(void *device, uint32_t count,
                                      const acre_vk_mapped_range *ranges);

// Flushes or invalidates the host's view of those bytes, in whole atoms.
static acre_status sync_view(acre_vulkan_bytes *bytes, sync_ranges sync,
                             const acre_vulkan_block *block, uint64_t offset, uint64_t size,
                             acre_error *error) {
    acre_vulkan_context *device = bytes->device;
    if ((bytes->pages->type.flags & ACRE_VK_HOST_COHERENT) != 0) {
        return ACRE_OK;
    }
    uint64_t atom = acre_max(device->facts.properties.properties.limits.non_coherent_atom_size, 1);
    uint64_t start = acre_round_down(offset, atom);
    uint64_t end = acre_min(acre_round_up(offset + size, atom), block->held);
    acre_vk_mapped_range range = {.type = ACRE_VK_MAPPED_RANGE,
                                  .memory = block->memory,
                                  .offset = start,
                                  .size = end - start};
    acre_vk_result result = ACRE_VK_CALL(&device->script, sync(device->handle, 1, &range));
    return result == ACRE_VK_SUCCESS ? ACRE_OK : acre_vk_refused(error, size, result);
}

static acre_status write_in_place(acre_vulkan_bytes *bytes, acre_vulkan_page *page, uint64_t offset,
                                  uint64_t size, const void *from, acre_error *error) {
    const acre_vk_api *api = &bytes->device->api;
    acre_status status = acre_vulkan_wait(bytes->streams, page->used, error);
    status = status != ACRE_OK ? status : acre_vulkan_block_map(bytes->device, &page->block, error);
    // The atoms at both ends may hold bytes that the device wrote: they go back with ours.
    status = status != ACRE_OK
                 ? status
                 : sync_view(bytes, api->invalidate_ranges, &page->block, offset, size, error);
    if (status != ACRE_OK) {
        return status;
    }
    memcpy(page->block.bytes + offset, from, (size_t)size);
    return sync_view(bytes, api->flush_ranges, &page->block, offset, size, error);
}

static acre_status read_in_place(acre_vulkan_bytes *bytes, acre_vulkan_page *page, uint64_t offset,
                                 uint64_t size, void *to, acre_error *error) {
    acre_status status = acre_vulkan_block_map(bytes->device, &page->block, error);
    uint64_t value = 0;
    status =
        status != ACRE_OK ? status : acre_vulkan_copies_submit(bytes->copies, NULL, &value, error);
    status = status != ACRE_OK ? status : acre_vulkan_wait(bytes->streams, value, error);
    status = status != ACRE_OK ? status
                               : sync_view(bytes, bytes->device->api.invalidate_ranges,
                                           &page->block, offset, size, error);
    if (status == ACRE_OK) {
        memcpy(to, page->block.bytes + offset, (size_t)size);
    }
    return status;
}

// ---- what it does not see ------------------------------------------------------------------

static acre_status make_staging(acre_vulkan_bytes *bytes, acre_error *error) {
    acre_vulkan_context *device = bytes->device;
    const uint32_t usage = ACRE_VK_BUFFER_TRANSFER_SRC | ACRE_VK_BUFFER_TRANSFER_DST;
    acre_vk_requirements needs = {0};
    acre_status status = acre_vulkan_block_needs(device, STAGING_SIZE, usage, &needs, error);
    if (status != ACRE_OK) {
        return status;
    }
    // Every device has such a type.
    acre_vulkan_memory_type type;
    if (!acre_vulkan_memory_type_find(&device->facts.memory, needs.types,
                                      ACRE_VK_HOST_VISIBLE | ACRE_VK_HOST_COHERENT,
                                      ACRE_VK_HOST_CACHED, &type)) {
        return acre_error_set(error, ACRE_BACKEND_ERROR,
                              "the device has no memory that the host sees");
    }
    acre_vulkan_block made;
    status =
        acre_vulkan_block_make(device, STAGING_SIZE, UINT64_MAX, usage, type.index, &made, error);
    if (status != ACRE_OK) {
        return status;
    }
    status = acre_vulkan_block_map(device, &made, error);
    if (status != ACRE_OK) {
        acre_vulkan_block_end(device, &made);
        return status;
    }
    bytes->staging = made;
    return ACRE_OK;
}

// The staging block, with no copy under way on it.
static acre_status prepare_staging(acre_vulkan_bytes *bytes, acre_error *error) {
    if (bytes->staging.buffer == 0) {
        acre_status status = make_staging(bytes, error);
        if (status != ACRE_OK) {
            return status;
        }
    }
    return acre_vulkan_wait(bytes->streams, bytes->staging_used, error);
}

// One piece between the page and the staging block, there when the call returns.
static acre_status move_piece(acre_vulkan_bytes *bytes, acre_vulkan_page *page, uint64_t offset,
                              uint64_t size, bool to_page, acre_error *error) {
    acre_vk_handle staging = bytes->staging.buffer;
    acre_vulkan_copy in = {staging, page->block.buffer, {0, offset, size}};
    acre_vulkan_copy out = {page->block.buffer, staging, {offset, 0, size}};
    uint64_t value = 0;
    acre_status status =
        acre_vulkan_copies_submit(bytes->copies, to_page ? &in : &out, &value, error);
    if (status != ACRE_OK) {
        return status;
    }
    page->used = bytes->staging_used = value;
    return acre_vulkan_wait(bytes->streams, value, error);
}

static acre_status write_staged(acre_vulkan_bytes *bytes, acre_vulkan_page *page, uint64_t offset,
                                uint64_t size, const char *from, acre_error *error) {
    acre_status status = prepare_staging(bytes, error);
    for (uint64_t done = 0; done < size && status == ACRE_OK; done += STAGING_SIZE) {
        uint64_t piece = acre_min(STAGING_SIZE, size - done);
        memcpy(bytes->staging.bytes, from + done, (size_t)piece);
        status = move_piece(bytes, page, offset + done, piece, true, error);
    }
    return status;
}

static acre_status read_staged(acre_vulkan_bytes *bytes, acre_vulkan_page *page, uint64_t offset,
                               uint64_t size, char *to, acre_error *error) {
    acre_status status = prepare_staging(bytes, error);
    for (uint64_t done = 0; done < size && status == ACRE_OK; done += STAGING_SIZE) {
        uint64_t piece = acre_min(STAGING_SIZE, size - done);
        status = move_piece(bytes, page, offset + done, piece, false, error);
        if (status == ACRE_OK) {
            memcpy(to + done, bytes->staging.bytes, (size_t)piece);
        }
    }
    return status;
}

static bool host_sees(const acre_vulkan_bytes *bytes) {
    return (bytes->pages->type.flags & ACRE_VK_HOST_VISIBLE) != 0;
}

acre_status acre_vulkan_bytes_write(acre_vulkan_bytes *bytes, const acre_resource *target,
                                    const void *from, acre_error *error) {
    acre_vulkan_page *page = page_of(bytes, target, error);
    if (page == NULL) {
        return ACRE_INVALID_ARGUMENT;
    }
    uint64_t offset = target->as.vulkan.offset;
    return host_sees(bytes) ? write_in_place(bytes, page, offset, target->size, from, error)
                            : write_staged(bytes, page, offset, target->size, from, error);
}

acre_status acre_vulkan_bytes_read(acre_vulkan_bytes *bytes, const acre_resource *source, void *to,
                                   acre_error *error) {
    acre_vulkan_page *page = page_of(bytes, source, error);
    if (page == NULL) {
        return ACRE_INVALID_ARGUMENT;
    }
    uint64_t offset = source->as.vulkan.offset;
    return host_sees(bytes) ? read_in_place(bytes, page, offset, source->size, to, error)
                            : read_staged(bytes, page, offset, source->size, to, error);
}
