// Bytes of resources: copied on the device, written and read by the host. What the host cannot see
// goes through a staging block, piece by piece.
#ifndef ACRE_STORAGE_VULKAN_BYTES_H
#define ACRE_STORAGE_VULKAN_BYTES_H

#include "storage/vulkan/copies.h"

typedef struct acre_vulkan_bytes {
    acre_vulkan_context *device;
    acre_vulkan_streams *streams;
    acre_vulkan_pages *pages;
    acre_vulkan_copies *copies;
    acre_vulkan_block staging; // made when it is first needed
    uint64_t staging_used;     // the timeline behind the last copy that touches it
} acre_vulkan_bytes;

void acre_vulkan_bytes_begin(acre_vulkan_bytes *bytes, acre_vulkan_pages *pages,
                             acre_vulkan_copies *copies, acre_vulkan_streams *streams);
// The device is idle.
void acre_vulkan_bytes_end(acre_vulkan_bytes *bytes);

// The operations of acre_storage_ops. A write that fails between two pieces leaves bytes of the
// target undefined, as a failure of the device does.
acre_status acre_vulkan_bytes_copy(acre_vulkan_bytes *bytes, const acre_resource *source,
                                   const acre_resource *target, acre_error *error);
acre_status acre_vulkan_bytes_write(acre_vulkan_bytes *bytes, const acre_resource *target,
                                    const void *from, acre_error *error);
acre_status acre_vulkan_bytes_read(acre_vulkan_bytes *bytes, const acre_resource *source, void *to,
                                   acre_error *error);

#endif
