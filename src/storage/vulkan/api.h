// What the storage uses of Vulkan 1.2, declared here so that building needs no Vulkan header. The
// test `vulkan_abi` compares every number, size and offset with the real one.
//
// Dispatchable handles (instance, physical device, device, queue, command buffer) are pointers, the
// others 64-bit numbers, as in Vulkan's own headers: where those make them pointers, both are of
// one size and passed alike.
#ifndef ACRE_STORAGE_VULKAN_API_H
#define ACRE_STORAGE_VULKAN_API_H

#include <acre/status.h>

#include <stddef.h>

#include "storage/script.h"

typedef int32_t acre_vk_result;
typedef uint64_t acre_vk_handle;

#define ACRE_VK_VERSION(major, minor) ((uint32_t)(major) << 22 | (uint32_t)(minor) << 12)

enum {
    ACRE_VK_SUCCESS = 0,
    ACRE_VK_INCOMPLETE = 5,
    ACRE_VK_OUT_OF_HOST_MEMORY = -1,
    ACRE_VK_OUT_OF_DEVICE_MEMORY = -2,
    ACRE_VK_INCOMPATIBLE_DRIVER = -9,
    ACRE_VK_TOO_MANY_OBJECTS = -10,

    ACRE_VK_MAX_MEMORY_TYPES = 32,
    ACRE_VK_MAX_MEMORY_HEAPS = 16,

    ACRE_VK_QUEUE_COMPUTE = 2,

    ACRE_VK_DEVICE_LOCAL = 1,
    ACRE_VK_HOST_VISIBLE = 2,
    ACRE_VK_HOST_COHERENT = 4,
    ACRE_VK_HOST_CACHED = 8,
    ACRE_VK_LAZILY_ALLOCATED = 0x10,
    ACRE_VK_PROTECTED = 0x20,
    ACRE_VK_DEVICE_COHERENT_AMD = 0x40,
    ACRE_VK_DEVICE_UNCACHED_AMD = 0x80,

    ACRE_VK_BUFFER_TRANSFER_SRC = 1,
    ACRE_VK_BUFFER_TRANSFER_DST = 2,
    ACRE_VK_BUFFER_STORAGE = 0x20,
    ACRE_VK_BUFFER_DEVICE_ADDRESS = 0x20000,
    ACRE_VK_ALLOCATE_DEVICE_ADDRESS = 2,

    ACRE_VK_POOL_RESET_COMMAND_BUFFER = 2,
    ACRE_VK_ONE_TIME_SUBMIT = 1,

    ACRE_VK_STAGE_TRANSFER = 0x1000,
    ACRE_VK_STAGE_HOST = 0x4000,
    ACRE_VK_STAGE_ALL_COMMANDS = 0x10000,
    ACRE_VK_ACCESS_TRANSFER_READ = 0x800,
    ACRE_VK_ACCESS_TRANSFER_WRITE = 0x1000,
    ACRE_VK_ACCESS_HOST_READ = 0x2000,
    ACRE_VK_ACCESS_MEMORY_READ = 0x8000,
    ACRE_VK_ACCESS_MEMORY_WRITE = 0x10000,

    ACRE_VK_SEMAPHORE_TIMELINE = 1,
};

#define ACRE_VK_WHOLE_SIZE           UINT64_MAX
#define ACRE_VK_MEMORY_BUDGET        "VK_EXT_memory_budget"
#define ACRE_VK_MAX_EXTENSION_NAME   256
#define ACRE_VK_MAX_DEVICE_NAME      256
#define ACRE_VK_MAX_DRIVER_NAME      256
#define ACRE_VK_DEVICE_FEATURE_COUNT 55

// The value of each struct's first field.
enum {
    ACRE_VK_APPLICATION = 0,
    ACRE_VK_INSTANCE_INFO = 1,
    ACRE_VK_QUEUE_INFO = 2,
    ACRE_VK_DEVICE_INFO = 3,
    ACRE_VK_SUBMIT = 4,
    ACRE_VK_MEMORY_INFO = 5,
    ACRE_VK_MAPPED_RANGE = 6,
    ACRE_VK_SEMAPHORE_INFO = 9,
    ACRE_VK_BUFFER_INFO = 12,
    ACRE_VK_POOL_INFO = 39,
    ACRE_VK_COMMANDS_INFO = 40,
    ACRE_VK_BEGIN_INFO = 42,
    ACRE_VK_MEMORY_BARRIER = 46,
    ACRE_VK_FEATURES = 1000059000,
    ACRE_VK_PROPERTIES = 1000059001,
    ACRE_VK_MEMORY_PROPERTIES = 1000059006,
    ACRE_VK_MEMORY_FLAGS = 1000060000,
    ACRE_VK_MAINTENANCE3 = 1000168000,
    ACRE_VK_DRIVER = 1000196000,
    ACRE_VK_TIMELINE_FEATURE = 1000207000,
    ACRE_VK_SEMAPHORE_TYPE = 1000207002,
    ACRE_VK_TIMELINE_SUBMIT = 1000207003,
    ACRE_VK_SEMAPHORE_WAIT = 1000207004,
    ACRE_VK_BUDGET = 1000237000,
    ACRE_VK_BUFFER_ADDRESS = 1000244001,
    ACRE_VK_ADDRESS_FEATURE = 1000257000,
    ACRE_VK_MAINTENANCE4 = 1000413001,
};

// ---- instances and devices -----------------------------------------------------------------

typedef struct acre_vk_application {
    int32_t type;
    const void *next;
    const char *name;
    uint32_t version;
    const char *engine;
    uint32_t engine_version;
    uint32_t api_version;
} acre_vk_application;

typedef struct acre_vk_instance_info {
    int32_t type;
    const void *next;
    uint32_t flags;
    const acre_vk_application *application;
    uint32_t layer_count;
    const char *const *layers;
    uint32_t extension_count;
    const char *const *extensions;
} acre_vk_instance_info;

typedef struct acre_vk_queue_info {
    int32_t type;
    const void *next;
    uint32_t flags;
    uint32_t family;
    uint32_t count;
    const float *priorities;
} acre_vk_queue_info;

typedef struct acre_vk_device_info {
    int32_t type;
    const void *next;
    uint32_t flags;
    uint32_t queue_info_count;
    const acre_vk_queue_info *queue_infos;
    uint32_t layer_count;
    const char *const *layers;
    uint32_t extension_count;
    const char *const *extensions;
    const void *features;
} acre_vk_device_info;

typedef struct acre_vk_extension {
    char name[ACRE_VK_MAX_EXTENSION_NAME];
    uint32_t version;
} acre_vk_extension;

typedef struct acre_vk_queue_family {
    uint32_t flags;
    uint32_t count;
    uint32_t timestamp_bits;
    uint32_t image_granularity[3];
} acre_vk_queue_family;

// Of a hundred limits, those that are looked at have names.
typedef struct acre_vk_limits {
    uint32_t images[9];
    uint32_t max_memory_allocation_count;
    uint32_t max_sampler_allocation_count;
    uint64_t granularities[2];
    uint32_t shaders[60];
    size_t min_memory_map_alignment;
    uint64_t texel_and_uniform_alignments[2];
    uint64_t min_storage_buffer_offset_alignment;
    uint32_t pictures[36];
    uint64_t copy_alignments[2];
    uint64_t non_coherent_atom_size;
} acre_vk_limits;

typedef struct acre_vk_properties {
    int32_t type;
    void *next;
    struct {
        uint32_t api_version;
        uint32_t driver_version;
        uint32_t vendor;
        uint32_t device;
        int32_t device_type;
        char name[ACRE_VK_MAX_DEVICE_NAME];
        uint8_t cache_id[16];
        acre_vk_limits limits;
        uint32_t sparse[5];
    } properties;
} acre_vk_properties;

typedef struct acre_vk_maintenance3 {
    int32_t type;
    void *next;
    uint32_t max_per_set_descriptors;
    uint64_t max_memory_allocation_size;
} acre_vk_maintenance3;

typedef struct acre_vk_maintenance4 {
    int32_t type;
    void *next;
    uint64_t max_buffer_size;
} acre_vk_maintenance4;

typedef struct acre_vk_driver {
    int32_t type;
    void *next;
    int32_t id;
    char name[ACRE_VK_MAX_DRIVER_NAME];
    char info[ACRE_VK_MAX_DRIVER_NAME];
    uint8_t conformance[4];
} acre_vk_driver;

typedef struct acre_vk_features {
    int32_t type;
    void *next;
    uint32_t features[ACRE_VK_DEVICE_FEATURE_COUNT];
} acre_vk_features;

typedef struct acre_vk_timeline_feature {
    int32_t type;
    void *next;
    uint32_t timeline_semaphore;
} acre_vk_timeline_feature;

typedef struct acre_vk_address_feature {
    int32_t type;
    void *next;
    uint32_t buffer_device_address;
    uint32_t capture_replay;
    uint32_t multi_device;
} acre_vk_address_feature;

// ---- memory --------------------------------------------------------------------------------

typedef struct acre_vk_memory_properties {
    int32_t type;
    void *next;
    struct {
        uint32_t type_count;
        struct {
            uint32_t flags;
            uint32_t heap;
        } types[ACRE_VK_MAX_MEMORY_TYPES];
        uint32_t heap_count;
        struct {
            uint64_t size;
            uint32_t flags;
        } heaps[ACRE_VK_MAX_MEMORY_HEAPS];
    } memory;
} acre_vk_memory_properties;

typedef struct acre_vk_budget {
    int32_t type;
    void *next;
    uint64_t budget[ACRE_VK_MAX_MEMORY_HEAPS];
    uint64_t usage[ACRE_VK_MAX_MEMORY_HEAPS];
} acre_vk_budget;

typedef struct acre_vk_buffer_info {
    int32_t type;
    const void *next;
    uint32_t flags;
    uint64_t size;
    uint32_t usage;
    int32_t sharing;
    uint32_t family_count;
    const uint32_t *families;
} acre_vk_buffer_info;

typedef struct acre_vk_requirements {
    uint64_t size;
    uint64_t alignment;
    uint32_t types;
} acre_vk_requirements;

typedef struct acre_vk_memory_info {
    int32_t type;
    const void *next;
    uint64_t size;
    uint32_t memory_type;
} acre_vk_memory_info;

typedef struct acre_vk_memory_flags {
    int32_t type;
    const void *next;
    uint32_t flags;
    uint32_t device_mask;
} acre_vk_memory_flags;

typedef struct acre_vk_mapped_range {
    int32_t type;
    const void *next;
    acre_vk_handle memory;
    uint64_t offset;
    uint64_t size;
} acre_vk_mapped_range;

typedef struct acre_vk_buffer_address {
    int32_t type;
    const void *next;
    acre_vk_handle buffer;
} acre_vk_buffer_address;

// ---- work ----------------------------------------------------------------------------------

typedef struct acre_vk_pool_info {
    int32_t type;
    const void *next;
    uint32_t flags;
    uint32_t family;
} acre_vk_pool_info;

typedef struct acre_vk_commands_info {
    int32_t type;
    const void *next;
    acre_vk_handle pool;
    int32_t level;
    uint32_t count;
} acre_vk_commands_info;

typedef struct acre_vk_begin_info {
    int32_t type;
    const void *next;
    uint32_t flags;
    const void *inheritance;
} acre_vk_begin_info;

typedef struct acre_vk_memory_barrier {
    int32_t type;
    const void *next;
    uint32_t source_access;
    uint32_t target_access;
} acre_vk_memory_barrier;

typedef struct acre_vk_buffer_copy {
    uint64_t source;
    uint64_t target;
    uint64_t size;
} acre_vk_buffer_copy;

typedef struct acre_vk_submit {
    int32_t type;
    const void *next;
    uint32_t wait_count;
    const acre_vk_handle *waits;
    const uint32_t *wait_stages;
    uint32_t command_count;
    void *const *commands;
    uint32_t signal_count;
    const acre_vk_handle *signals;
} acre_vk_submit;

typedef struct acre_vk_timeline_submit {
    int32_t type;
    const void *next;
    uint32_t wait_count;
    const uint64_t *waits;
    uint32_t signal_count;
    const uint64_t *signals;
} acre_vk_timeline_submit;

typedef struct acre_vk_semaphore_type {
    int32_t type;
    const void *next;
    int32_t semaphore_type;
    uint64_t initial;
} acre_vk_semaphore_type;

typedef struct acre_vk_semaphore_info {
    int32_t type;
    const void *next;
    uint32_t flags;
} acre_vk_semaphore_info;

typedef struct acre_vk_semaphore_wait {
    int32_t type;
    const void *next;
    uint32_t flags;
    uint32_t count;
    const acre_vk_handle *semaphores;
    const uint64_t *values;
} acre_vk_semaphore_wait;

// ---- functions -----------------------------------------------------------------------------

typedef void (*acre_vk_function)(void);
// vkGetInstanceProcAddr and vkGetDeviceProcAddr
typedef acre_vk_function (*acre_vk_lookup)(void *object, const char *name);

// The functions used. The parameter `hooks` is Vulkan's own allocator, which is not used.
typedef struct acre_vk_api {
    acre_vk_lookup get_instance_proc_addr;
    acre_vk_lookup get_device_proc_addr;

    // before there is an instance; the first is NULL in Vulkan 1.0
    acre_vk_result (*enumerate_instance_version)(uint32_t *version);
    acre_vk_result (*create_instance)(const acre_vk_instance_info *info, const void *hooks,
                                      void **instance);

    // of an instance
    void (*destroy_instance)(void *instance, const void *hooks);
    acre_vk_result (*enumerate_physical_devices)(void *instance, uint32_t *count, void **devices);
    void (*get_properties)(void *physical, acre_vk_properties *properties);
    void (*get_features)(void *physical, acre_vk_features *features);
    void (*get_memory_properties)(void *physical, acre_vk_memory_properties *properties);
    void (*get_queue_families)(void *physical, uint32_t *count, acre_vk_queue_family *families);
    acre_vk_result (*enumerate_device_extensions)(void *physical, const char *layer,
                                                  uint32_t *count, acre_vk_extension *extensions);
    acre_vk_result (*create_device)(void *physical, const acre_vk_device_info *info,
                                    const void *hooks, void **device);

    // of a device
    void (*destroy_device)(void *device, const void *hooks);
    void (*get_queue)(void *device, uint32_t family, uint32_t index, void **queue);
    acre_vk_result (*wait_idle)(void *device);

    acre_vk_result (*create_buffer)(void *device, const acre_vk_buffer_info *info,
                                    const void *hooks, acre_vk_handle *buffer);
    void (*destroy_buffer)(void *device, acre_vk_handle buffer, const void *hooks);
    void (*get_requirements)(void *device, acre_vk_handle buffer, acre_vk_requirements *needs);
    acre_vk_result (*allocate_memory)(void *device, const acre_vk_memory_info *info,
                                      const void *hooks, acre_vk_handle *memory);
    void (*free_memory)(void *device, acre_vk_handle memory, const void *hooks);
    acre_vk_result (*bind_memory)(void *device, acre_vk_handle buffer, acre_vk_handle memory,
                                  uint64_t offset);
    uint64_t (*get_address)(void *device, const acre_vk_buffer_address *info);
    acre_vk_result (*map_memory)(void *device, acre_vk_handle memory, uint64_t offset,
                                 uint64_t size, uint32_t flags, void **bytes);
    acre_vk_result (*flush_ranges)(void *device, uint32_t count,
                                   const acre_vk_mapped_range *ranges);
    acre_vk_result (*invalidate_ranges)(void *device, uint32_t count,
                                        const acre_vk_mapped_range *ranges);

    acre_vk_result (*create_pool)(void *device, const acre_vk_pool_info *info, const void *hooks,
                                  acre_vk_handle *pool);
    void (*destroy_pool)(void *device, acre_vk_handle pool, const void *hooks);
    acre_vk_result (*allocate_commands)(void *device, const acre_vk_commands_info *info,
                                        void **commands);
    acre_vk_result (*begin_commands)(void *commands, const acre_vk_begin_info *info);
    acre_vk_result (*end_commands)(void *commands);
    acre_vk_result (*reset_commands)(void *commands, uint32_t flags);
    void (*copy_buffer)(void *commands, acre_vk_handle source, acre_vk_handle target,
                        uint32_t count, const acre_vk_buffer_copy *regions);
    void (*barrier)(void *commands, uint32_t source_stages, uint32_t target_stages, uint32_t flags,
                    uint32_t memory_count, const acre_vk_memory_barrier *memory,
                    uint32_t buffer_count, const void *buffers, uint32_t image_count,
                    const void *images);
    acre_vk_result (*submit)(void *queue, uint32_t count, const acre_vk_submit *submits,
                             acre_vk_handle fence);

    acre_vk_result (*create_semaphore)(void *device, const acre_vk_semaphore_info *info,
                                       const void *hooks, acre_vk_handle *semaphore);
    void (*destroy_semaphore)(void *device, acre_vk_handle semaphore, const void *hooks);
    acre_vk_result (*get_semaphore_value)(void *device, acre_vk_handle semaphore, uint64_t *value);
    acre_vk_result (*wait_semaphores)(void *device, const acre_vk_semaphore_wait *info,
                                      uint64_t timeout);
} acre_vk_api;

// Fill in the parts of the table; the parts before are there. => UNSUPPORTED with the name of the
// first function that is missing.
acre_status acre_vk_load_global(acre_vk_api *api, acre_error *error);
acre_status acre_vk_load_instance(acre_vk_api *api, void *instance, acre_error *error);
acre_status acre_vk_load_device(acre_vk_api *api, void *device, acre_error *error);

// ---- calls that can fail -------------------------------------------------------------------

// What the driver answers, or in its place a failure on order. Every call that returns a VkResult
// is made like this.
#define ACRE_VK_CALL(script, call) (acre_script_fails(script) ? acre_vk_scripted(script) : (call))

static inline acre_vk_result acre_vk_scripted(const acre_script *script) {
    return script->code == 0 ? ACRE_VK_OUT_OF_DEVICE_MEMORY : (acre_vk_result)script->code;
}

// => the status of a result that is not success: OUT_OF_MEMORY, OUT_OF_HOST_MEMORY or
// BACKEND_ERROR, with its number and name.
acre_status acre_vk_refused(acre_error *error, uint64_t size, acre_vk_result result);

#endif
