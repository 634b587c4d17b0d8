// The kernel of the Vulkan tests, with Vulkan's own header where there is one.
#include "vulkan_rig.h"

#if !__has_include(<vulkan/vulkan.h>)

bool vulkan_has_kernel(void) {
    return false;
}

void vulkan_add(const acre_vulkan_objects *objects, void *queue, const acre_resource *resource,
                uint32_t value) {
    (void)objects;
    (void)queue;
    (void)resource;
    (void)value;
    fail_msg("built without Vulkan's headers");
}

vulkan_kernel *vulkan_kernel_make(const acre_vulkan_objects *objects) {
    (void)objects;
    return NULL;
}

void vulkan_kernel_end(vulkan_kernel *kernel) {
    (void)kernel;
}

void vulkan_kernel_add(vulkan_kernel *kernel, void *queue, const acre_resource *resource,
                       uint32_t value) {
    (void)kernel;
    vulkan_add(NULL, queue, resource, value);
}

void vulkan_kernel_wait(vulkan_kernel *kernel) {
    (void)kernel;
}

#else

#define VK_NO_PROTOTYPES
#include <vulkan/vulkan.h>

#include "../examples/vulkan/add.spv.h"
#include "base/os.h"

#define FUNCTIONS(X)                                                                               \
    X(CreateShaderModule)                                                                          \
    X(DestroyShaderModule)                                                                         \
    X(CreateDescriptorSetLayout)                                                                   \
    X(DestroyDescriptorSetLayout)                                                                  \
    X(CreatePipelineLayout)                                                                        \
    X(DestroyPipelineLayout)                                                                       \
    X(CreateComputePipelines)                                                                      \
    X(DestroyPipeline)                                                                             \
    X(CreateDescriptorPool)                                                                        \
    X(DestroyDescriptorPool)                                                                       \
    X(AllocateDescriptorSets)                                                                      \
    X(UpdateDescriptorSets)                                                                        \
    X(CreateCommandPool)                                                                           \
    X(DestroyCommandPool)                                                                          \
    X(AllocateCommandBuffers)                                                                      \
    X(BeginCommandBuffer)                                                                          \
    X(EndCommandBuffer)                                                                            \
    X(CmdBindPipeline)                                                                             \
    X(CmdBindDescriptorSets)                                                                       \
    X(CmdPushConstants)                                                                            \
    X(CmdPipelineBarrier)                                                                          \
    X(CmdDispatch)                                                                                 \
    X(CreateFence)                                                                                 \
    X(DestroyFence)                                                                                \
    X(WaitForFences)                                                                               \
    X(ResetFences)                                                                                 \
    X(QueueSubmit)

enum {
    RUNS = 16 // that may be under way at a time
};

// One dispatch: what it needs until it is done.
typedef struct run {
    VkDescriptorSet set;
    VkCommandBuffer commands;
    VkFence fence;
    bool submitted;
} run;

struct vulkan_kernel {
    acre_vulkan_objects objects;
    VkDevice device;
    VkShaderModule module;
    VkDescriptorSetLayout set_layout;
    VkPipelineLayout layout;
    VkPipeline pipeline;
    VkDescriptorPool sets;
    VkCommandPool pool;
    run runs[RUNS];
    uint32_t next;
#define MEMBER(name) PFN_vk##name name;
    FUNCTIONS(MEMBER)
#undef MEMBER
};

typedef struct arguments {
    uint32_t value;
    uint32_t count;
} arguments;

#define assert_vk(call) assert_int_equal((call), VK_SUCCESS)

bool vulkan_has_kernel(void) {
    return true;
}

static void load(vulkan_kernel *kernel) {
    void *instance = kernel->objects.instance;
    void (*found)(void) = kernel->objects.get_instance_proc_addr(instance, "vkGetDeviceProcAddr");
    PFN_vkGetDeviceProcAddr lookup;
    memcpy(&lookup, &found, sizeof lookup);
    assert_non_null(lookup);
#define LOAD(name)                                                                                 \
    {                                                                                              \
        PFN_vkVoidFunction function = lookup(kernel->device, "vk" #name);                          \
        memcpy(&kernel->name, &function, sizeof function);                                         \
        assert_non_null(kernel->name);                                                             \
    }
    FUNCTIONS(LOAD)
#undef LOAD
}

static void make_pipeline(vulkan_kernel *k) {
    VkShaderModuleCreateInfo module = {.sType = VK_STRUCTURE_TYPE_SHADER_MODULE_CREATE_INFO,
                                       .codeSize = sizeof vulkan_add_spirv,
                                       .pCode = vulkan_add_spirv};
    assert_vk(k->CreateShaderModule(k->device, &module, NULL, &k->module));
    VkDescriptorSetLayoutBinding binding = {.descriptorType = VK_DESCRIPTOR_TYPE_STORAGE_BUFFER,
                                            .descriptorCount = 1,
                                            .stageFlags = VK_SHADER_STAGE_COMPUTE_BIT};
    VkDescriptorSetLayoutCreateInfo set = {.sType =
                                               VK_STRUCTURE_TYPE_DESCRIPTOR_SET_LAYOUT_CREATE_INFO,
                                           .bindingCount = 1,
                                           .pBindings = &binding};
    assert_vk(k->CreateDescriptorSetLayout(k->device, &set, NULL, &k->set_layout));
    VkPushConstantRange range = {.stageFlags = VK_SHADER_STAGE_COMPUTE_BIT,
                                 .size = sizeof(arguments)};
    VkPipelineLayoutCreateInfo layout = {.sType = VK_STRUCTURE_TYPE_PIPELINE_LAYOUT_CREATE_INFO,
                                         .setLayoutCount = 1,
                                         .pSetLayouts = &k->set_layout,
                                         .pushConstantRangeCount = 1,
                                         .pPushConstantRanges = &range};
    assert_vk(k->CreatePipelineLayout(k->device, &layout, NULL, &k->layout));
    VkComputePipelineCreateInfo pipeline = {
        .sType = VK_STRUCTURE_TYPE_COMPUTE_PIPELINE_CREATE_INFO,
        .stage = {.sType = VK_STRUCTURE_TYPE_PIPELINE_SHADER_STAGE_CREATE_INFO,
                  .stage = VK_SHADER_STAGE_COMPUTE_BIT,
                  .module = k->module,
                  .pName = "main"},
        .layout = k->layout};
    assert_vk(
        k->CreateComputePipelines(k->device, VK_NULL_HANDLE, 1, &pipeline, NULL, &k->pipeline));
}

static void make_runs(vulkan_kernel *k) {
    VkDescriptorPoolSize size = {VK_DESCRIPTOR_TYPE_STORAGE_BUFFER, RUNS};
    VkDescriptorPoolCreateInfo sets = {.sType = VK_STRUCTURE_TYPE_DESCRIPTOR_POOL_CREATE_INFO,
                                       .maxSets = RUNS,
                                       .poolSizeCount = 1,
                                       .pPoolSizes = &size};
    assert_vk(k->CreateDescriptorPool(k->device, &sets, NULL, &k->sets));
    VkCommandPoolCreateInfo pool = {.sType = VK_STRUCTURE_TYPE_COMMAND_POOL_CREATE_INFO,
                                    .flags = VK_COMMAND_POOL_CREATE_RESET_COMMAND_BUFFER_BIT,
                                    .queueFamilyIndex = k->objects.queue_family};
    assert_vk(k->CreateCommandPool(k->device, &pool, NULL, &k->pool));
    for (uint32_t i = 0; i < RUNS; i++) {
        VkDescriptorSetAllocateInfo set = {.sType = VK_STRUCTURE_TYPE_DESCRIPTOR_SET_ALLOCATE_INFO,
                                           .descriptorPool = k->sets,
                                           .descriptorSetCount = 1,
                                           .pSetLayouts = &k->set_layout};
        assert_vk(k->AllocateDescriptorSets(k->device, &set, &k->runs[i].set));
        VkCommandBufferAllocateInfo commands = {.sType =
                                                    VK_STRUCTURE_TYPE_COMMAND_BUFFER_ALLOCATE_INFO,
                                                .commandPool = k->pool,
                                                .commandBufferCount = 1};
        assert_vk(k->AllocateCommandBuffers(k->device, &commands, &k->runs[i].commands));
        VkFenceCreateInfo fence = {.sType = VK_STRUCTURE_TYPE_FENCE_CREATE_INFO};
        assert_vk(k->CreateFence(k->device, &fence, NULL, &k->runs[i].fence));
    }
}

vulkan_kernel *vulkan_kernel_make(const acre_vulkan_objects *objects) {
    vulkan_kernel *made = calloc(1, sizeof *made);
    assert_non_null(made);
    made->objects = *objects;
    made->device = objects->device;
    if (made->objects.get_instance_proc_addr == NULL) {
        char why[200];
        void *library = acre_os_library("libvulkan.so.1", why, sizeof why);
        assert_non_null(library);
        void *entry = acre_os_symbol(library, "vkGetInstanceProcAddr");
        memcpy(&made->objects.get_instance_proc_addr, &entry, sizeof entry);
    }
    load(made);
    make_pipeline(made);
    make_runs(made);
    return made;
}

static void finish(vulkan_kernel *k, run *done) {
    if (done->submitted) {
        assert_vk(k->WaitForFences(k->device, 1, &done->fence, VK_TRUE, UINT64_MAX));
        assert_vk(k->ResetFences(k->device, 1, &done->fence));
        done->submitted = false;
    }
}

void vulkan_kernel_wait(vulkan_kernel *kernel) {
    for (uint32_t i = 0; i < RUNS; i++) {
        finish(kernel, &kernel->runs[i]);
    }
}

void vulkan_kernel_end(vulkan_kernel *k) {
    vulkan_kernel_wait(k);
    for (uint32_t i = 0; i < RUNS; i++) {
        k->DestroyFence(k->device, k->runs[i].fence, NULL);
    }
    k->DestroyCommandPool(k->device, k->pool, NULL);
    k->DestroyDescriptorPool(k->device, k->sets, NULL);
    k->DestroyPipeline(k->device, k->pipeline, NULL);
    k->DestroyPipelineLayout(k->device, k->layout, NULL);
    k->DestroyDescriptorSetLayout(k->device, k->set_layout, NULL);
    k->DestroyShaderModule(k->device, k->module, NULL);
    free(k);
}

// Runs on one queue come one after the other, like the storage's copies.
static void record(vulkan_kernel *k, const run *to, arguments given) {
    VkCommandBufferBeginInfo begin = {.sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_BEGIN_INFO,
                                      .flags = VK_COMMAND_BUFFER_USAGE_ONE_TIME_SUBMIT_BIT};
    assert_vk(k->BeginCommandBuffer(to->commands, &begin));
    VkMemoryBarrier barrier = {.sType = VK_STRUCTURE_TYPE_MEMORY_BARRIER,
                               .srcAccessMask = VK_ACCESS_SHADER_WRITE_BIT,
                               .dstAccessMask =
                                   VK_ACCESS_SHADER_READ_BIT | VK_ACCESS_SHADER_WRITE_BIT};
    k->CmdPipelineBarrier(to->commands, VK_PIPELINE_STAGE_COMPUTE_SHADER_BIT,
                          VK_PIPELINE_STAGE_COMPUTE_SHADER_BIT, 0, 1, &barrier, 0, NULL, 0, NULL);
    k->CmdBindPipeline(to->commands, VK_PIPELINE_BIND_POINT_COMPUTE, k->pipeline);
    k->CmdBindDescriptorSets(to->commands, VK_PIPELINE_BIND_POINT_COMPUTE, k->layout, 0, 1,
                             &to->set, 0, NULL);
    k->CmdPushConstants(to->commands, k->layout, VK_SHADER_STAGE_COMPUTE_BIT, 0, sizeof given,
                        &given);
    uint32_t groups = (given.count + 63) / 64;
    k->CmdDispatch(to->commands, groups < 1024 ? groups : 1024, 1, 1);
    assert_vk(k->EndCommandBuffer(to->commands));
}

void vulkan_kernel_add(vulkan_kernel *k, void *queue, const acre_resource *resource,
                       uint32_t value) {
    assert_int_equal(resource->kind, ACRE_RESOURCE_VULKAN);
    run *to = &k->runs[k->next++ % RUNS];
    finish(k, to);
    VkDescriptorBufferInfo words = {.offset = resource->as.vulkan.offset,
                                    .range = resource->size - resource->size % 4};
    memcpy(&words.buffer, &resource->as.vulkan.buffer, sizeof words.buffer);
    VkWriteDescriptorSet write = {.sType = VK_STRUCTURE_TYPE_WRITE_DESCRIPTOR_SET,
                                  .dstSet = to->set,
                                  .descriptorCount = 1,
                                  .descriptorType = VK_DESCRIPTOR_TYPE_STORAGE_BUFFER,
                                  .pBufferInfo = &words};
    k->UpdateDescriptorSets(k->device, 1, &write, 0, NULL);
    record(k, to, (arguments){value, (uint32_t)(words.range / 4)});
    VkSubmitInfo submit = {.sType = VK_STRUCTURE_TYPE_SUBMIT_INFO,
                           .commandBufferCount = 1,
                           .pCommandBuffers = &to->commands};
    VkQueue on = queue == NULL ? k->objects.queue : queue;
    assert_vk(k->QueueSubmit(on, 1, &submit, to->fence));
    to->submitted = true;
}

void vulkan_add(const acre_vulkan_objects *objects, void *queue, const acre_resource *resource,
                uint32_t value) {
    vulkan_kernel *kernel = vulkan_kernel_make(objects);
    vulkan_kernel_add(kernel, queue, resource, value);
    vulkan_kernel_end(kernel);
}

#endif
