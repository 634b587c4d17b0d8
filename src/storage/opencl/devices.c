#include "storage/opencl/devices.h"

#include "base/error.h"
#include "storage/backend.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define LONGEST_TEXT 1024

// => how many devices a platform has; none is no error.
static acre_status count_devices(opencl_driver *driver, opencl_platform platform, uint32_t *count,
                                 acre_error *error) {
    int32_t code;
    *count = 0;
    OPENCL_CALL(driver, code, get_device_ids, platform, OPENCL_DEVICE_TYPE_ALL, 0, NULL, count);
    if (code == OPENCL_DEVICE_NOT_FOUND) {
        *count = 0;
        return ACRE_OK;
    }
    return code == 0 ? ACRE_OK : acre_opencl_refused(error, 0, code);
}

static acre_status device_at(opencl_driver *driver, acre_host *host, opencl_platform platform,
                             uint32_t index, opencl_device *device, acre_error *error) {
    size_t size = (index + (size_t)1) * sizeof *device;
    opencl_device *devices = acre_host_alloc(host, size, _Alignof(opencl_device));
    if (devices == NULL) {
        return acre_error_refuse(error, ACRE_OUT_OF_HOST_MEMORY, size);
    }
    int32_t code;
    OPENCL_CALL(driver, code, get_device_ids, platform, OPENCL_DEVICE_TYPE_ALL, index + 1, devices,
                NULL);
    *device = code == 0 ? devices[index] : NULL;
    acre_host_free(host, devices, size, _Alignof(opencl_device));
    return code == 0 ? ACRE_OK : acre_opencl_refused(error, 0, code);
}

static acre_status walk(opencl_driver *driver, acre_host *host, const opencl_platform *platforms,
                        uint32_t platform_count, uint32_t index, opencl_place *place,
                        uint32_t *count, acre_error *error) {
    for (uint32_t i = 0; i < platform_count; i++) {
        uint32_t here;
        acre_status status = count_devices(driver, platforms[i], &here, error);
        if (status == ACRE_OK && index >= *count && index - *count < here) {
            place->platform = platforms[i];
            status = device_at(driver, host, platforms[i], index - *count, &place->device, error);
        }
        if (status != ACRE_OK) {
            return status;
        }
        *count += here;
    }
    return ACRE_OK;
}

static acre_status no_device(acre_error *error, int32_t code, const char *what) {
    acre_error_native(error, ACRE_UNSUPPORTED, 0, code,
                      code == 0 ? "" : "CL_PLATFORM_NOT_FOUND_KHR");
    snprintf(error->detail, sizeof error->detail, "%s: %s", what, acre_opencl_advice);
    return ACRE_UNSUPPORTED;
}

acre_status acre_opencl_find(opencl_driver *driver, acre_host *host, uint32_t index,
                             opencl_place *place, uint32_t *count, acre_error *error) {
    uint32_t platform_count = 0;
    int32_t code;
    *count = 0;
    OPENCL_CALL(driver, code, get_platform_ids, 0, NULL, &platform_count);
    if (code == OPENCL_PLATFORM_NOT_FOUND || (code == 0 && platform_count == 0)) {
        return no_device(error, code, "no OpenCL platform is here");
    }
    if (code != 0) {
        return acre_opencl_refused(error, 0, code);
    }
    size_t size = platform_count * sizeof(opencl_platform);
    opencl_platform *platforms = acre_host_alloc(host, size, _Alignof(opencl_platform));
    if (platforms == NULL) {
        return acre_error_refuse(error, ACRE_OUT_OF_HOST_MEMORY, size);
    }
    OPENCL_CALL(driver, code, get_platform_ids, platform_count, platforms, NULL);
    acre_status status =
        code != 0 ? acre_opencl_refused(error, 0, code)
                  : walk(driver, host, platforms, platform_count, index, place, count, error);
    acre_host_free(host, platforms, size, _Alignof(opencl_platform));
    if (status == ACRE_OK && *count == 0) {
        return no_device(error, 0, "no OpenCL platform has a device");
    }
    if (status == ACRE_OK && index >= *count) {
        return acre_error_set(error, ACRE_INVALID_ARGUMENT,
                              "there is no OpenCL device %u, the last one is %u", (unsigned)index,
                              (unsigned)*count - 1);
    }
    return status;
}

// ---- what a device says of itself ----------------------------------------------------------

static int32_t number(opencl_driver *driver, opencl_device device, uint32_t what, uint64_t *value) {
    int32_t code;
    *value = 0;
    return OPENCL_CALL(driver, code, get_device_info, device, what, sizeof *value, value, NULL);
}

static int32_t text(opencl_driver *driver, opencl_device device, uint32_t what,
                    char value[LONGEST_TEXT]) {
    int32_t code;
    value[0] = '\0';
    return OPENCL_CALL(driver, code, get_device_info, device, what, LONGEST_TEXT, value, NULL);
}

// "OpenCL 1.2 and what the vendor adds" => 12; 0 when it reads otherwise.
static uint32_t read_version(const char *version) {
    const char prefix[] = "OpenCL ";
    if (strncmp(version, prefix, sizeof prefix - 1) != 0) {
        return 0;
    }
    char *end;
    unsigned long major = strtoul(version + sizeof prefix - 1, &end, 10);
    unsigned long minor = *end == '.' ? strtoul(end + 1, NULL, 10) : 0;
    return (uint32_t)(major * 10 + minor);
}

// SVM is asked about only where the question exists.
static int32_t learn_svm(opencl_driver *driver, opencl_device device, opencl_facts *facts) {
    if (facts->version < 20) {
        return 0;
    }
    uint64_t capabilities;
    int32_t code = number(driver, device, OPENCL_DEVICE_SVM_CAPABILITIES, &capabilities);
    facts->svm = code == 0 && (capabilities & OPENCL_DEVICE_SVM_COARSE_GRAIN_BUFFER) != 0;
    return code;
}

acre_status acre_opencl_learn(opencl_driver *driver, opencl_device device, opencl_facts *facts,
                              acre_error *error) {
    char version[LONGEST_TEXT];
    uint32_t bits = 0;
    int32_t code = text(driver, device, OPENCL_DEVICE_VERSION, version);
    *facts = (opencl_facts){.version = code == 0 ? read_version(version) : 0};
    if (code == 0) {
        code = number(driver, device, OPENCL_DEVICE_GLOBAL_MEM_SIZE, &facts->total_memory);
    }
    if (code == 0) {
        code = number(driver, device, OPENCL_DEVICE_MAX_MEM_ALLOC_SIZE, &facts->largest_allocation);
    }
    if (code == 0) {
        OPENCL_CALL(driver, code, get_device_info, device, OPENCL_DEVICE_MEM_BASE_ADDR_ALIGN,
                    sizeof bits, &bits, NULL);
    }
    facts->base_alignment = bits < 8 ? 1 : bits / 8;
    if (code == 0) {
        code = learn_svm(driver, device, facts);
    }
    return code == 0 ? ACRE_OK : acre_opencl_refused(error, 0, code);
}

static acre_status describe(opencl_driver *driver, const opencl_place *place,
                            acre_device_info *info, acre_error *error) {
    char device[LONGEST_TEXT];
    char driver_version[LONGEST_TEXT];
    char platform[LONGEST_TEXT] = "";
    opencl_facts facts;
    acre_status status = acre_opencl_learn(driver, place->device, &facts, error);
    if (status != ACRE_OK) {
        return status;
    }
    int32_t code = text(driver, place->device, OPENCL_DEVICE_NAME, device);
    if (code == 0) {
        code = text(driver, place->device, OPENCL_DRIVER_VERSION, driver_version);
    }
    if (code == 0) {
        OPENCL_CALL(driver, code, get_platform_info, place->platform, OPENCL_PLATFORM_NAME,
                    sizeof platform, platform, NULL);
    }
    if (code != 0) {
        return acre_opencl_refused(error, 0, code);
    }
    snprintf(info->name, sizeof info->name, "%.127s", device);
    snprintf(info->driver, sizeof info->driver, "%.56s %.36s", platform, driver_version);
    info->total_memory = facts.total_memory;
    info->largest_allocation = facts.largest_allocation;
    return ACRE_OK;
}

acre_status acre_opencl_devices(uint32_t *count, acre_error *error) {
    opencl_driver driver = {.script = {0}};
    opencl_place place = {NULL, NULL};
    acre_host host;
    acre_status status = acre_host_init(&host, NULL, error);
    if (status == ACRE_OK) {
        status = acre_opencl_open(&driver, NULL, false, error);
    }
    if (status == ACRE_OK) {
        status = acre_opencl_find(&driver, &host, 0, &place, count, error);
    }
    return status;
}

acre_status acre_opencl_device(uint32_t index, acre_device_info *info, acre_error *error) {
    opencl_driver driver = {.script = {0}};
    opencl_place place = {NULL, NULL};
    acre_host host;
    uint32_t count;
    acre_status status = acre_host_init(&host, NULL, error);
    if (status == ACRE_OK) {
        status = acre_opencl_open(&driver, NULL, false, error);
    }
    if (status == ACRE_OK) {
        status = acre_opencl_find(&driver, &host, index, &place, &count, error);
    }
    return status == ACRE_OK ? describe(&driver, &place, info, error) : status;
}
