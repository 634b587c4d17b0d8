#include "storage/host/bytes.h"

#include "base/error.h"
#include "base/os.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

acre_status acre_host_copy(void *context, const acre_resource *source, const acre_resource *target,
                           acre_error *error) {
    (void)context;
    (void)error;
    memcpy(target->as.host, source->as.host, (size_t)source->size);
    return ACRE_OK;
}

acre_status acre_host_write(void *context, const acre_resource *target, const void *bytes,
                            acre_error *error) {
    (void)context;
    (void)error;
    memcpy(target->as.host, bytes, (size_t)target->size);
    return ACRE_OK;
}

acre_status acre_host_read(void *context, const acre_resource *source, void *bytes,
                           acre_error *error) {
    (void)context;
    (void)error;
    memcpy(bytes, source->as.host, (size_t)source->size);
    return ACRE_OK;
}

int acre_host_scripted(const acre_script *script) {
    return script->code == 0 ? ENOMEM : (int)script->code;
}

acre_status acre_host_refused(acre_error *error, uint64_t size, int code) {
    bool full = code == ENOMEM || code == ENOSPC || code == EFBIG;
    return acre_error_native(error, full ? ACRE_OUT_OF_MEMORY : ACRE_BACKEND_ERROR, size, code,
                             strerror(code));
}

void acre_host_describe(acre_device_info *info) {
    snprintf(info->name, sizeof info->name, "this machine");
    snprintf(info->driver, sizeof info->driver, "host memory");
    info->total_memory = acre_os_physical_memory();
    info->largest_allocation = info->total_memory;
}
