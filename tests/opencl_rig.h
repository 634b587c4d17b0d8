// What the tests of the OpenCL storage share: whether there is a device, and work for it. What the
// work needs of OpenCL beside the storage is looked up by name, so that no header of it is needed.
#ifndef ACRE_TESTS_OPENCL_RIG_H
#define ACRE_TESTS_OPENCL_RIG_H

#include "opencl/stand_in.h"
#include "support.h"

// 0 when there is an OpenCL device; else what the program exits with: 77, or 1 when the environment
// variable ACRE_REQUIRE_DEVICES names opencl.
int opencl_missing(void);

// What tests call of OpenCL beside the storage.
typedef struct opencl_functions {
    void *(*create_program)(void *context, uint32_t count, const char **sources,
                            const size_t *lengths, int32_t *code);
    int32_t (*build_program)(void *program, uint32_t count, void *const *devices,
                             const char *options, void *notify, void *user);
    int32_t (*release_program)(void *program);
    void *(*create_kernel)(void *program, const char *name, int32_t *code);
    int32_t (*release_kernel)(void *kernel);
    int32_t (*set_argument)(void *kernel, uint32_t index, size_t size, const void *value);
    int32_t (*set_svm)(void *kernel, uint32_t index, const void *address);
    int32_t (*enqueue)(void *queue, void *kernel, uint32_t dimensions, const size_t *first,
                       const size_t *all, const size_t *group, uint32_t waits, const void *list,
                       void *event);
    void *(*create_context)(const intptr_t *properties, uint32_t count, void *const *devices,
                            void *notify, void *user, int32_t *code);
    int32_t (*release_context)(void *context);
    int32_t (*context_info)(void *context, uint32_t what, size_t capacity, void *value,
                            size_t *size);
    void *(*create_queue)(void *context, void *device, uint64_t properties, int32_t *code);
    int32_t (*release_queue)(void *queue);
    int32_t (*queue_info)(void *queue, uint32_t what, size_t capacity, void *value, size_t *size);
    int32_t (*release_buffer)(void *buffer);
    int32_t (*buffer_info)(void *buffer, uint32_t what, size_t capacity, void *value, size_t *size);
    void *(*create_user_event)(void *context, int32_t *code);
    int32_t (*set_user_event)(void *event, int32_t status);
    int32_t (*barrier)(void *queue, uint32_t waits, void *const *list, void *event);
    int32_t (*release_event)(void *event);
} opencl_functions;

// The test fails where there is no OpenCL.
const opencl_functions *opencl(void);

// The stand-in for a loader at a path, as it is when nothing was ordered.
stand_in *opencl_stand_in(const char *path);

// A storage of the first device through that loader (NULL = the real one), or the test fails.
acre_storage *opencl_storage(const char *library, bool svm);

// Whether the first device has shared virtual memory: then there are two ways to make pages.
bool opencl_has_svm(void);

acre_opencl_objects opencl_objects_of(const acre_storage *storage);

// Adds to each 32-bit word of the resource on the storage's queue, or on another one. The kernel
// gets a sub-buffer where the resource starts on the alignment for one, else the whole buffer and
// an offset.
void opencl_add(acre_storage *storage, const acre_resource *resource, uint32_t value, bool wait);
void opencl_add_on(acre_storage *storage, uint64_t stream, const acre_resource *resource,
                   uint32_t value);
// Whether the last one used a sub-buffer.
bool opencl_added_through_sub_buffer(void);

// An in-order queue of the storage's context.
uint64_t opencl_stream_create(acre_storage *storage);
void opencl_stream_destroy(acre_storage *storage, uint64_t stream);

#endif
