#include "vulkan_rig.h"

#include "base/os.h"
#include "storage/storage.h"
#include "storage/vulkan/api.h"

void vulkan_keep_drivers(void) {
    static const char *const names[] = {"libVkLayer_khronos_validation.so",
                                        "libVkLayer_MESA_device_select.so", "libvulkan_lvp.so"};
    char why[200];
    for (size_t i = 0; i < COUNT_OF(names); i++) {
        (void)acre_os_library(names[i], why, sizeof why); // those that are here
    }
}

int vulkan_missing(void) {
    vulkan_keep_drivers();
    uint32_t count = 0;
    acre_error error = ACRE_ERROR_INIT;
    if (acre_backend_devices(ACRE_BACKEND_VULKAN, &count, &error) == ACRE_OK) {
        return 0;
    }
    char text[512];
    (void)acre_error_format(&error, text, sizeof text);
    fprintf(stderr, "vulkan: %s\n", text);
    const char *required = getenv("ACRE_REQUIRE_DEVICES");
    return required != NULL && strstr(required, "vulkan") != NULL ? 1 : 77;
}

static void *open_library(const char *path) {
    char why[200];
    void *library = acre_os_library(path, why, sizeof why);
    if (library == NULL) {
        fail_msg("%s", why);
    }
    return library;
}

vulkan_stand_in *vulkan_stand_in_at(const char *path) {
    vulkan_stand_in *found = acre_os_symbol(open_library(path), "acre_vulkan_stand_in");
    assert_non_null(found);
    *found = (vulkan_stand_in){0};
    return found;
}

acre_vulkan_objects vulkan_objects_of(const acre_storage *storage) {
    acre_vulkan_objects objects = ACRE_VULKAN_OBJECTS_INIT;
    assert_ok(acre_storage_vulkan_objects(storage, &objects, NULL));
    return objects;
}

// ---- storages and pages --------------------------------------------------------------------

acre_storage *vulkan_make(const acre_vulkan_storage_params *params) {
    acre_storage *storage = NULL;
    acre_error error = ACRE_ERROR_INIT;
    acre_status status = acre_storage_vulkan_create(params, NULL, &storage, &error);
    if (status != ACRE_OK) {
        char text[512];
        (void)acre_error_format(&error, text, sizeof text);
        fail_msg("%s", text);
    }
    return storage;
}

acre_storage *vulkan_make_through(const char *library, const vulkan_stand_in *as) {
    *vulkan_stand_in_at(library) = *as;
    acre_vulkan_storage_params params = ACRE_VULKAN_STORAGE_PARAMS_INIT;
    params.library = library;
    return vulkan_make(&params);
}

uint64_t vulkan_page(acre_storage *storage, uint64_t size) {
    uint64_t id = 0;
    acre_error error = ACRE_ERROR_INIT;
    assert_ok(acre_storage_alloc(storage, size, &id, &error));
    return id;
}

acre_resource vulkan_part(acre_storage *storage, uint64_t id, uint64_t offset, uint64_t size) {
    acre_resource resource = ACRE_RESOURCE_INIT;
    acre_error error = ACRE_ERROR_INIT;
    assert_ok(acre_storage_resource(storage, id, offset, size, &resource, &error));
    return resource;
}

void vulkan_fill(acre_storage *storage, uint64_t id, uint64_t offset, uint64_t size, int byte) {
    unsigned char *bytes = malloc(size);
    assert_non_null(bytes);
    memset(bytes, byte, size);
    acre_resource resource = vulkan_part(storage, id, offset, size);
    assert_ok(acre_storage_write(storage, &resource, bytes, NULL));
    free(bytes);
}

void vulkan_check_filled(acre_storage *storage, uint64_t id, uint64_t offset, uint64_t size,
                         int byte) {
    unsigned char *bytes = malloc(2 * size);
    assert_non_null(bytes);
    acre_resource resource = vulkan_part(storage, id, offset, size);
    assert_ok(acre_storage_read(storage, &resource, bytes, NULL));
    memset(bytes + size, byte, size);
    assert_memory_equal(bytes, bytes + size, size);
    free(bytes);
}

// ---- the caller's device -------------------------------------------------------------------

static void load_entry(acre_vk_api *api, const char *library) {
    void *entry = acre_os_symbol(open_library(library == NULL ? "libvulkan.so.1" : library),
                                 "vkGetInstanceProcAddr");
    assert_non_null(entry);
    memcpy(&api->get_instance_proc_addr, &entry, sizeof entry);
}

static void *create_device(const acre_vk_api *api, const acre_vulkan_objects *objects,
                           uint32_t queues) {
    const float priorities[2] = {1, 1};
    acre_vk_queue_info queue = {.type = ACRE_VK_QUEUE_INFO,
                                .family = objects->queue_family,
                                .count = queues,
                                .priorities = priorities};
    acre_vk_timeline_feature timeline = {.type = ACRE_VK_TIMELINE_FEATURE, .timeline_semaphore = 1};
    acre_vk_device_info info = {.type = ACRE_VK_DEVICE_INFO,
                                .next = &timeline,
                                .queue_info_count = 1,
                                .queue_infos = &queue};
    void *device = NULL;
    assert_int_equal(api->create_device(objects->physical, &info, NULL, &device), 0);
    return device;
}

vulkan_callers_device vulkan_callers_device_make(const char *library) {
    vulkan_callers_device made = {ACRE_VULKAN_OBJECTS_INIT, NULL};
    acre_vulkan_objects *objects = &made.objects;
    acre_vk_api api = {0};
    load_entry(&api, library);
    objects->get_instance_proc_addr = library == NULL ? NULL : api.get_instance_proc_addr;
    assert_ok(acre_vk_load_global(&api, NULL));
    acre_vk_application application = {.type = ACRE_VK_APPLICATION,
                                       .api_version = ACRE_VK_VERSION(1, 2)};
    acre_vk_instance_info info = {.type = ACRE_VK_INSTANCE_INFO, .application = &application};
    assert_int_equal(api.create_instance(&info, NULL, &objects->instance), 0);
    assert_ok(acre_vk_load_instance(&api, objects->instance, NULL));
    uint32_t count = 1;
    assert_true(api.enumerate_physical_devices(objects->instance, &count, &objects->physical) >= 0);
    acre_vk_queue_family families[16];
    count = COUNT_OF(families);
    api.get_queue_families(objects->physical, &count, families);
    while ((families[objects->queue_family].flags & ACRE_VK_QUEUE_COMPUTE) == 0) {
        objects->queue_family++;
        assert_true(objects->queue_family < count);
    }
    uint32_t queues = families[objects->queue_family].count > 1 ? 2 : 1;
    objects->device = create_device(&api, objects, queues);
    assert_ok(acre_vk_load_device(&api, objects->device, NULL));
    api.get_queue(objects->device, objects->queue_family, 0, &objects->queue);
    if (queues > 1) {
        api.get_queue(objects->device, objects->queue_family, 1, &made.second_queue);
    }
    return made;
}

void vulkan_callers_device_end(vulkan_callers_device *device) {
    acre_vulkan_objects *objects = &device->objects;
    acre_vk_api api = {.get_instance_proc_addr = objects->get_instance_proc_addr};
    if (api.get_instance_proc_addr == NULL) {
        load_entry(&api, NULL);
    }
    assert_ok(acre_vk_load_instance(&api, objects->instance, NULL));
    assert_ok(acre_vk_load_device(&api, objects->device, NULL));
    api.destroy_device(objects->device, NULL);
    api.destroy_instance(objects->instance, NULL);
}
