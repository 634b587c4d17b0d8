// The validation layer is really there: a wrong call makes it speak. Then its silence in the other
// tests means something. CTest looks for the message.
#include "vulkan_rig.h"

#include "storage/vulkan/api.h"

int main(void) {
    int missing = vulkan_missing();
    if (missing != 0) {
        return missing;
    }
    vulkan_callers_device device = vulkan_callers_device_make(NULL);
    acre_storage *storage = NULL;
    acre_vulkan_storage_params params = ACRE_VULKAN_STORAGE_PARAMS_INIT;
    params.objects = &device.objects;
    params.buffer_usage = UINT32_C(1) << 30; // a usage that Vulkan does not have
    acre_status status = acre_storage_vulkan_create(&params, NULL, &storage, NULL);
    if (status == ACRE_OK) {
        acre_storage_destroy(storage);
    }
    vulkan_callers_device_end(&device);
    return 0;
}
