// The validation layer is really there: a wrong call makes it speak. Then its silence in the other
// tests means something. CTest looks for the message.
#include "vulkan_rig.h"

#include "base/os.h"

// Whether the loader knows the layer; where ACRE_REQUIRE_DEVICES names vulkan it must.
static bool may_lack_layer(void) {
    typedef struct layer {
        char name[256];
        uint32_t versions[2];
        char description[256];
    } layer;
    char why[200];
    void *library = acre_os_library("libvulkan.so.1", why, sizeof why);
    void *entry = acre_os_symbol(library, "vkEnumerateInstanceLayerProperties");
    int32_t (*enumerate)(uint32_t * count, layer * layers);
    memcpy(&enumerate, &entry, sizeof entry);
    layer layers[64];
    uint32_t count = COUNT_OF(layers);
    assert_true(enumerate(&count, layers) >= 0);
    for (uint32_t i = 0; i < count; i++) {
        if (strcmp(layers[i].name, "VK_LAYER_KHRONOS_validation") == 0) {
            return false;
        }
    }
    const char *required = getenv("ACRE_REQUIRE_DEVICES");
    return required == NULL || strstr(required, "vulkan") == NULL;
}

int main(void) {
    int missing = vulkan_missing();
    if (missing != 0) {
        return missing;
    }
    if (may_lack_layer()) {
        fprintf(stderr, "vulkan_layer: no validation layer (Debian: vulkan-validationlayers)\n");
        return 77;
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
