#include "subject.h"

#include "storage/storage.h"
#include "vulkan_rig.h"

enum {
    DEVICE_LOST = -4
};

static void settle_subjects(void);

static acre_storage *create(const acre_vulkan_objects *objects, uint64_t total, uint64_t largest,
                            acre_error *error) {
    acre_vulkan_storage_params params = ACRE_VULKAN_STORAGE_PARAMS_INIT;
    settle_subjects();
    params.objects = objects;
    params.total_memory = total;
    params.largest_allocation = largest;
    acre_storage *storage = NULL;
    return acre_storage_vulkan_create(&params, NULL, &storage, error) == ACRE_OK ? storage : NULL;
}

// What the device holds for the smallest page.
static uint64_t rounding(acre_storage *storage) {
    uint64_t before = storage->ops.bytes_allocated(storage->context);
    uint64_t id = 0;
    acre_error error = ACRE_ERROR_INIT;
    assert_ok(storage->ops.alloc(storage->context, 1, &id, &error));
    uint64_t held = storage->ops.bytes_allocated(storage->context) - before;
    storage->ops.dealloc(storage->context, id);
    return held;
}

static acre_storage *create_own(uint64_t total, uint64_t largest, acre_error *error) {
    return create(NULL, total, largest, error);
}

// The device ends with the storage, and the kernel with the device: it is waited for.
static void add_on_own(acre_storage *storage, const acre_resource *resource, uint32_t value,
                       bool wait) {
    (void)wait;
    acre_vulkan_objects objects = vulkan_objects_of(storage);
    vulkan_add(&objects, NULL, resource, value);
}

// One device for all tests, with one kernel.
static vulkan_callers_device callers;
static vulkan_kernel *kernel;

static void end_callers(void) {
    vulkan_kernel_end(kernel);
    vulkan_callers_device_end(&callers);
}

static acre_storage *create_on_callers(uint64_t total, uint64_t largest, acre_error *error) {
    if (callers.objects.device == NULL) {
        callers = vulkan_callers_device_make(NULL);
        kernel = vulkan_kernel_make(&callers.objects);
        (void)atexit(end_callers);
    }
    return create(&callers.objects, total, largest, error);
}

static void add_on_callers(acre_storage *storage, const acre_resource *resource, uint32_t value,
                           bool wait) {
    (void)storage;
    vulkan_kernel_add(kernel, NULL, resource, value);
    if (wait) {
        vulkan_kernel_wait(kernel);
    }
}

// The second queue lives as long as the device.
static uint64_t second_stream(acre_storage *storage) {
    (void)storage;
    return (uint64_t)(uintptr_t)callers.second_queue;
}

static void leave_stream(acre_storage *storage, uint64_t stream) {
    (void)storage;
    (void)stream;
}

static subject subjects[] = {
    {.name = "vulkan",
     .create = create_own,
     .rounding = rounding,
     .add = add_on_own,
     .events = true,
     .lost_code = DEVICE_LOST},
    {.name = "vulkan, the caller's device",
     .create = create_on_callers,
     .rounding = rounding,
     .add = add_on_callers,
     .events = true,
     .lost_code = DEVICE_LOST,
     .stream_create = second_stream,
     .stream_destroy = leave_stream},
};

const subject_list vulkan_subjects = {"vulkan", subjects, COUNT_OF(subjects)};

// What the tests' build or the device lacks is known when a first storage is made.
static void settle_subjects(void) {
    vulkan_keep_drivers();
    for (size_t i = 0; i < COUNT_OF(subjects) && !vulkan_has_kernel(); i++) {
        subjects[i].add = NULL;
    }
    if (callers.second_queue == NULL) {
        subjects[1].stream_create = NULL;
    }
}
