// What the storages of host memory share: their bytes are read and written in place.
#ifndef ACRE_STORAGE_HOST_BYTES_H
#define ACRE_STORAGE_HOST_BYTES_H

#include <acre/devices.h>
#include <acre/storage.h>

#include "storage/script.h"

// Operations of acre_storage_ops over resources of the kind ACRE_RESOURCE_HOST.
acre_status acre_host_copy(void *context, const acre_resource *source, const acre_resource *target,
                           acre_error *error);
acre_status acre_host_write(void *context, const acre_resource *target, const void *bytes,
                            acre_error *error);
acre_status acre_host_read(void *context, const acre_resource *source, void *bytes,
                           acre_error *error);

// The errno of a failure on order.
int acre_host_scripted(const acre_script *script);

// => OUT_OF_MEMORY or BACKEND_ERROR, by what the system said (an errno).
acre_status acre_host_refused(acre_error *error, uint64_t size, int code);

// This machine as a device.
void acre_host_describe(acre_device_info *info);

#endif
