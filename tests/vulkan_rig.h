// What the tests of the Vulkan storage share: whether there is a device, devices of the caller's,
// and a kernel.
#ifndef ACRE_TESTS_VULKAN_RIG_H
#define ACRE_TESTS_VULKAN_RIG_H

#include "support.h"
#include "vulkan/stand_in.h"

// 0 when there is a Vulkan device; else what the program exits with: 77, or 1 when the environment
// variable ACRE_REQUIRE_DEVICES names vulkan.
int vulkan_missing(void);

// Keeps what the loader unloads with an instance, the validation layer and mesa's driver: they are
// not loaded anew for each storage, and what they leak has their names in its stack, which
// tests/lsan.supp knows.
void vulkan_keep_drivers(void);

// The stand-in for a loader at a path, as it is when nothing was ordered.
vulkan_stand_in *vulkan_stand_in_at(const char *path);

// A storage, or the test fails; the second through a stand-in that is as it says.
acre_storage *vulkan_make(const acre_vulkan_storage_params *params);
acre_storage *vulkan_make_through(const char *library, const vulkan_stand_in *as);

// A page, a part of one, and bytes of it that are all the same.
uint64_t vulkan_page(acre_storage *storage, uint64_t size);
acre_resource vulkan_part(acre_storage *storage, uint64_t id, uint64_t offset, uint64_t size);
void vulkan_fill(acre_storage *storage, uint64_t id, uint64_t offset, uint64_t size, int byte);
void vulkan_check_filled(acre_storage *storage, uint64_t id, uint64_t offset, uint64_t size,
                         int byte);

acre_vulkan_objects vulkan_objects_of(const acre_storage *storage);

// A device that the test makes itself, through the real loader or (library != NULL) another one,
// with a second queue where its family has one (NULL = it has not).
typedef struct vulkan_callers_device {
    acre_vulkan_objects objects;
    void *second_queue;
} vulkan_callers_device;

vulkan_callers_device vulkan_callers_device_make(const char *library);
void vulkan_callers_device_end(vulkan_callers_device *device);

// Runs a kernel on a queue of the objects' device (NULL = theirs) that adds to each 32-bit word of
// the resource, and waits for it. False where the tests were built without Vulkan's headers: then
// there is no kernel.
bool vulkan_has_kernel(void);
void vulkan_add(const acre_vulkan_objects *objects, void *queue, const acre_resource *resource,
                uint32_t value);

// The same on a device that outlives the work: kept for later runs, and not waited for.
typedef struct vulkan_kernel vulkan_kernel;
vulkan_kernel *vulkan_kernel_make(const acre_vulkan_objects *objects);
void vulkan_kernel_end(vulkan_kernel *kernel); // waits
void vulkan_kernel_add(vulkan_kernel *kernel, void *queue, const acre_resource *resource,
                       uint32_t value);
void vulkan_kernel_wait(vulkan_kernel *kernel);

#endif
