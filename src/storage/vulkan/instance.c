// The library, the instance, and which physical devices it has.
#include "storage/vulkan/device.h"

#include "base/error.h"
#include "storage/library.h"

#include <stdio.h>

#define LOADER_ADVICE "install a Vulkan loader (Debian: libvulkan1)"
#define DRIVER_ADVICE                                                                              \
    "install the device's driver (Debian, also for processors: mesa-vulkan-drivers)"

// Opens the library, for its vkGetInstanceProcAddr alone.
static acre_status open_library(acre_vulkan_context *device, const char *path, acre_error *error) {
    static const acre_library_function entry[] = {
        {"vkGetInstanceProcAddr", offsetof(acre_vk_api, get_instance_proc_addr)}};
    void *library;
    acre_status status =
        acre_library_open(path == NULL ? "libvulkan.so.1" : path, LOADER_ADVICE, &library, error);
    if (status != ACRE_OK) {
        return status;
    }
    return acre_library_functions(library, entry, 1, &device->api, LOADER_ADVICE, error);
}

static acre_status check_version(acre_vulkan_context *device, acre_error *error) {
    uint32_t version = ACRE_VK_VERSION(1, 0);
    if (device->api.enumerate_instance_version != NULL) {
        acre_vk_result result =
            ACRE_VK_CALL(&device->script, device->api.enumerate_instance_version(&version));
        if (result != ACRE_VK_SUCCESS) {
            return acre_vk_refused(error, 0, result);
        }
    }
    if (version >= ACRE_VK_VERSION(1, 2)) {
        return ACRE_OK;
    }
    return acre_error_set(error, ACRE_UNSUPPORTED,
                          "the Vulkan loader is of version %u.%u, 1.2 is needed: install a newer "
                          "one (Debian: libvulkan1)",
                          (unsigned)(version >> 22), (unsigned)(version >> 12 & 0x3ff));
}

// Keeps what the driver said.
static acre_status no_device(acre_error *error) {
    snprintf(error->detail, sizeof error->detail, "there is no Vulkan device: " DRIVER_ADVICE);
    return error->status = ACRE_UNSUPPORTED;
}

acre_status acre_vulkan_instance_open(acre_vulkan_context *device, const char *library,
                                      acre_error *error) {
    if (device->api.get_instance_proc_addr == NULL) {
        acre_status status = open_library(device, library, error);
        if (status != ACRE_OK) {
            return status;
        }
    }
    if (device->instance != NULL) { // the caller's
        return acre_vk_load_instance(&device->api, device->instance, error);
    }
    acre_status status = acre_vk_load_global(&device->api, error);
    status = status != ACRE_OK ? status : check_version(device, error);
    if (status != ACRE_OK) {
        return status;
    }
    // The newest version that this code has heard of: a struct of Vulkan 1.3 is asked for.
    acre_vk_application application = {
        .type = ACRE_VK_APPLICATION, .name = "acre", .api_version = ACRE_VK_VERSION(1, 3)};
    acre_vk_instance_info info = {.type = ACRE_VK_INSTANCE_INFO, .application = &application};
    acre_vk_result result =
        ACRE_VK_CALL(&device->script, device->api.create_instance(&info, NULL, &device->instance));
    if (result != ACRE_VK_SUCCESS) {
        device->instance = NULL;
        status = acre_vk_refused(error, 0, result);
        return result == ACRE_VK_INCOMPATIBLE_DRIVER ? no_device(error) : status;
    }
    status = acre_vk_load_instance(&device->api, device->instance, error);
    if (status != ACRE_OK && device->api.destroy_instance == NULL) {
        device->instance = NULL; // nothing is there to end it with
    }
    return status;
}

void acre_vulkan_close(acre_vulkan_context *device) {
    if (!device->owned) {
        return;
    }
    if (device->handle != NULL) {
        device->api.destroy_device(device->handle, NULL);
    }
    if (device->instance != NULL) {
        device->api.destroy_instance(device->instance, NULL);
    }
    device->handle = NULL;
    device->instance = NULL;
}

acre_status acre_vulkan_physical_count(acre_vulkan_context *device, uint32_t *count,
                                       acre_error *error) {
    *count = 0;
    acre_vk_result result = ACRE_VK_CALL(
        &device->script, device->api.enumerate_physical_devices(device->instance, count, NULL));
    if (result != ACRE_VK_SUCCESS) {
        return acre_vk_refused(error, 0, result);
    }
    acre_error_refuse(error, ACRE_OK, 0);
    return *count == 0 ? no_device(error) : ACRE_OK;
}

acre_status acre_vulkan_physical_take(acre_vulkan_context *device, uint32_t index,
                                      acre_error *error) {
    uint32_t count = 0;
    acre_status status = acre_vulkan_physical_count(device, &count, error);
    if (status != ACRE_OK) {
        return status;
    }
    if (index >= count) {
        return acre_error_set(error, ACRE_INVALID_ARGUMENT,
                              "there is no device vulkan:%u, the last one is vulkan:%u",
                              (unsigned)index, (unsigned)count - 1);
    }
    size_t size = count * sizeof(void *);
    void **all = acre_host_alloc_zeroed(device->host, size, _Alignof(void *));
    if (all == NULL) {
        return acre_error_refuse(error, ACRE_OUT_OF_HOST_MEMORY, size);
    }
    uint32_t given = count;
    acre_vk_result result = ACRE_VK_CALL(
        &device->script, device->api.enumerate_physical_devices(device->instance, &given, all));
    void *found = index < given ? all[index] : NULL;
    acre_host_free(device->host, all, size, _Alignof(void *));
    if (result != ACRE_VK_SUCCESS && result != ACRE_VK_INCOMPLETE) {
        return acre_vk_refused(error, 0, result);
    }
    if (found == NULL) {
        return acre_error_set(error, ACRE_INVALID_ARGUMENT,
                              "device vulkan:%u has gone away: count them again", (unsigned)index);
    }
    device->physical = found;
    return ACRE_OK;
}
