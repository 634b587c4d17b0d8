// A runtime on Vulkan: Acre makes the device and manages its memory; the program submits work to
// the same queue. Buffers are reserved, used by a kernel, moved together, and used again.
//
// It links nothing of Vulkan: what it calls is looked up through what the storage tells of the
// device. A runtime with a device of its own gives that to the storage instead
// (acre_vulkan_storage_params.objects).
#define VK_NO_PROTOTYPES
#include <vulkan/vulkan.h>

#include <acre/acre.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "add.spv.h"

enum {
    SKIPPED = 77,
    BUFFERS = 4,
    WORDS = 180000, // of each buffer
};

static int fail(const acre_error *error) {
    char text[512];
    acre_error_format(error, text, sizeof text);
    fprintf(stderr, "vulkan: %s\n", text);
    return error->status == ACRE_UNSUPPORTED ? SKIPPED : 1;
}

// ---- Vulkan --------------------------------------------------------------------------------

// Of a program that has nothing to fall back on.
static void check(VkResult result, const char *what) {
    if (result != VK_SUCCESS) {
        fprintf(stderr, "vulkan: %s says %d\n", what, (int)result);
        exit(1);
    }
}

#define CALL(function, ...) check(function(__VA_ARGS__), #function)

// The functions that the program calls.
#define FUNCTIONS(X)                                                                               \
    X(vkCreateShaderModule)                                                                        \
    X(vkDestroyShaderModule)                                                                       \
    X(vkCreateDescriptorSetLayout)                                                                 \
    X(vkDestroyDescriptorSetLayout)                                                                \
    X(vkCreatePipelineLayout)                                                                      \
    X(vkDestroyPipelineLayout)                                                                     \
    X(vkCreateComputePipelines)                                                                    \
    X(vkDestroyPipeline)                                                                           \
    X(vkCreateDescriptorPool)                                                                      \
    X(vkDestroyDescriptorPool)                                                                     \
    X(vkAllocateDescriptorSets)                                                                    \
    X(vkUpdateDescriptorSets)                                                                      \
    X(vkCreateCommandPool)                                                                         \
    X(vkDestroyCommandPool)                                                                        \
    X(vkAllocateCommandBuffers)                                                                    \
    X(vkBeginCommandBuffer)                                                                        \
    X(vkEndCommandBuffer)                                                                          \
    X(vkCmdBindPipeline)                                                                           \
    X(vkCmdBindDescriptorSets)                                                                     \
    X(vkCmdPushConstants)                                                                          \
    X(vkCmdPipelineBarrier)                                                                        \
    X(vkCmdDispatch)                                                                               \
    X(vkQueueSubmit)

#define DECLARE(name) static PFN_##name name;
FUNCTIONS(DECLARE)

static void load_functions(const acre_vulkan_objects *objects) {
    void (*found)(void);
#define LOAD(name)                                                                                 \
    found = objects->get_instance_proc_addr(objects->instance, #name);                             \
    memcpy(&name, &found, sizeof found);
    FUNCTIONS(LOAD)
}

// A kernel that adds a value to each word of a buffer.
typedef struct kernel {
    VkDevice device;
    VkQueue queue;
    VkShaderModule module;
    VkDescriptorSetLayout set_layout;
    VkPipelineLayout layout;
    VkPipeline pipeline;
    VkDescriptorPool sets;
    VkCommandPool commands;
} kernel;

static void make_pipeline(kernel *k) {
    VkShaderModuleCreateInfo module = {.sType = VK_STRUCTURE_TYPE_SHADER_MODULE_CREATE_INFO,
                                       .codeSize = sizeof vulkan_add_spirv,
                                       .pCode = vulkan_add_spirv};
    CALL(vkCreateShaderModule, k->device, &module, NULL, &k->module);
    VkDescriptorSetLayoutBinding words = {.descriptorType = VK_DESCRIPTOR_TYPE_STORAGE_BUFFER,
                                          .descriptorCount = 1,
                                          .stageFlags = VK_SHADER_STAGE_COMPUTE_BIT};
    VkDescriptorSetLayoutCreateInfo set = {.sType =
                                               VK_STRUCTURE_TYPE_DESCRIPTOR_SET_LAYOUT_CREATE_INFO,
                                           .bindingCount = 1,
                                           .pBindings = &words};
    CALL(vkCreateDescriptorSetLayout, k->device, &set, NULL, &k->set_layout);
    VkPushConstantRange value_and_count = {VK_SHADER_STAGE_COMPUTE_BIT, 0, 8};
    VkPipelineLayoutCreateInfo layout = {.sType = VK_STRUCTURE_TYPE_PIPELINE_LAYOUT_CREATE_INFO,
                                         .setLayoutCount = 1,
                                         .pSetLayouts = &k->set_layout,
                                         .pushConstantRangeCount = 1,
                                         .pPushConstantRanges = &value_and_count};
    CALL(vkCreatePipelineLayout, k->device, &layout, NULL, &k->layout);
    VkComputePipelineCreateInfo pipeline = {
        .sType = VK_STRUCTURE_TYPE_COMPUTE_PIPELINE_CREATE_INFO,
        .stage = {.sType = VK_STRUCTURE_TYPE_PIPELINE_SHADER_STAGE_CREATE_INFO,
                  .stage = VK_SHADER_STAGE_COMPUTE_BIT,
                  .module = k->module,
                  .pName = "main"},
        .layout = k->layout};
    CALL(vkCreateComputePipelines, k->device, VK_NULL_HANDLE, 1, &pipeline, NULL, &k->pipeline);
}

static kernel make_kernel(const acre_vulkan_objects *objects) {
    kernel k = {.device = objects->device, .queue = objects->queue};
    make_pipeline(&k);
    VkDescriptorPoolSize size = {VK_DESCRIPTOR_TYPE_STORAGE_BUFFER, 2 * BUFFERS};
    VkDescriptorPoolCreateInfo sets = {.sType = VK_STRUCTURE_TYPE_DESCRIPTOR_POOL_CREATE_INFO,
                                       .maxSets = 2 * BUFFERS,
                                       .poolSizeCount = 1,
                                       .pPoolSizes = &size};
    CALL(vkCreateDescriptorPool, k.device, &sets, NULL, &k.sets);
    VkCommandPoolCreateInfo commands = {.sType = VK_STRUCTURE_TYPE_COMMAND_POOL_CREATE_INFO,
                                        .queueFamilyIndex = objects->queue_family};
    CALL(vkCreateCommandPool, k.device, &commands, NULL, &k.commands);
    return k;
}

// The queue is done with it.
static void end_kernel(const kernel *k) {
    vkDestroyCommandPool(k->device, k->commands, NULL);
    vkDestroyDescriptorPool(k->device, k->sets, NULL);
    vkDestroyPipeline(k->device, k->pipeline, NULL);
    vkDestroyPipelineLayout(k->device, k->layout, NULL);
    vkDestroyDescriptorSetLayout(k->device, k->set_layout, NULL);
    vkDestroyShaderModule(k->device, k->module, NULL);
}

// A descriptor of the resource: Acre's buffer, at the resource's offset.
static VkDescriptorSet describe(const kernel *k, const acre_resource *resource) {
    VkDescriptorSet set;
    VkDescriptorSetAllocateInfo info = {.sType = VK_STRUCTURE_TYPE_DESCRIPTOR_SET_ALLOCATE_INFO,
                                        .descriptorPool = k->sets,
                                        .descriptorSetCount = 1,
                                        .pSetLayouts = &k->set_layout};
    CALL(vkAllocateDescriptorSets, k->device, &info, &set);
    VkDescriptorBufferInfo words = {.offset = resource->as.vulkan.offset, .range = resource->size};
    memcpy(&words.buffer, &resource->as.vulkan.buffer, sizeof words.buffer);
    VkWriteDescriptorSet write = {.sType = VK_STRUCTURE_TYPE_WRITE_DESCRIPTOR_SET,
                                  .dstSet = set,
                                  .descriptorCount = 1,
                                  .descriptorType = VK_DESCRIPTOR_TYPE_STORAGE_BUFFER,
                                  .pBufferInfo = &words};
    vkUpdateDescriptorSets(k->device, 1, &write, 0, NULL);
    return set;
}

static void add(const kernel *k, const acre_resource *resource, uint32_t value) {
    VkDescriptorSet set = describe(k, resource);
    VkCommandBuffer commands;
    VkCommandBufferAllocateInfo info = {.sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_ALLOCATE_INFO,
                                        .commandPool = k->commands,
                                        .commandBufferCount = 1};
    CALL(vkAllocateCommandBuffers, k->device, &info, &commands);
    VkCommandBufferBeginInfo begin = {.sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_BEGIN_INFO};
    CALL(vkBeginCommandBuffer, commands, &begin);
    // Kernels come one after the other. Acre's own copies bring their barriers along.
    VkMemoryBarrier barrier = {.sType = VK_STRUCTURE_TYPE_MEMORY_BARRIER,
                               .srcAccessMask = VK_ACCESS_SHADER_WRITE_BIT,
                               .dstAccessMask =
                                   VK_ACCESS_SHADER_READ_BIT | VK_ACCESS_SHADER_WRITE_BIT};
    vkCmdPipelineBarrier(commands, VK_PIPELINE_STAGE_COMPUTE_SHADER_BIT,
                         VK_PIPELINE_STAGE_COMPUTE_SHADER_BIT, 0, 1, &barrier, 0, NULL, 0, NULL);
    const uint32_t arguments[2] = {value, WORDS};
    vkCmdBindPipeline(commands, VK_PIPELINE_BIND_POINT_COMPUTE, k->pipeline);
    vkCmdBindDescriptorSets(commands, VK_PIPELINE_BIND_POINT_COMPUTE, k->layout, 0, 1, &set, 0,
                            NULL);
    vkCmdPushConstants(commands, k->layout, VK_SHADER_STAGE_COMPUTE_BIT, 0, sizeof arguments,
                       arguments);
    vkCmdDispatch(commands, 256, 1, 1);
    CALL(vkEndCommandBuffer, commands);
    VkSubmitInfo submit = {.sType = VK_STRUCTURE_TYPE_SUBMIT_INFO,
                           .commandBufferCount = 1,
                           .pCommandBuffers = &commands};
    CALL(vkQueueSubmit, k->queue, 1, &submit, VK_NULL_HANDLE);
}

// ---- memory --------------------------------------------------------------------------------

// What the program works with.
typedef struct program {
    acre_storage *storage;
    acre_manager *manager;
    acre_handle *buffers[BUFFERS];
    uint32_t words[WORDS];
} program;

static acre_status reserve_buffers(program *p, acre_error *error) {
    acre_status status = ACRE_OK;
    for (uint32_t i = 0; i < BUFFERS && status == ACRE_OK; i++) {
        status = acre_manager_reserve(p->manager, sizeof p->words, &p->buffers[i], error);
        acre_resource resource = ACRE_RESOURCE_INIT;
        if (status == ACRE_OK) {
            status = acre_manager_resolve(p->manager, p->buffers[i], 0, 0, &resource, error);
        }
        for (uint32_t w = 0; w < WORDS; w++) {
            p->words[w] = i * WORDS + w;
        }
        if (status == ACRE_OK) {
            status = acre_storage_write(p->storage, &resource, p->words, error);
        }
    }
    return status;
}

// Resources are resolved anew whenever they are used: a relocation may have moved them.
static acre_status add_to_all(program *p, const kernel *k, uint32_t value, acre_error *error) {
    acre_status status = ACRE_OK;
    for (uint32_t i = 0; i < BUFFERS && status == ACRE_OK; i++) {
        if (p->buffers[i] != NULL) {
            acre_resource resource = ACRE_RESOURCE_INIT;
            status = acre_manager_resolve(p->manager, p->buffers[i], 0, 0, &resource, error);
            if (status == ACRE_OK) {
                add(k, &resource, value);
            }
        }
    }
    return status;
}

// A larger buffer makes the pages of the small ones too small for what comes: what lives there
// moves to a page of the new size. Acre copies on the queue, behind the kernels.
static acre_status outgrow_and_relocate(program *p, acre_error *error) {
    acre_handle *large = NULL;
    acre_status status = acre_manager_reserve(p->manager, 9 << 20, &large, error);
    acre_manager_release(p->manager, p->buffers[1]); // a hole
    p->buffers[1] = NULL;
    acre_relocation_options options = ACRE_RELOCATION_OPTIONS_INIT;
    options.room = ACRE_RELOCATION_ROOM_MAY_ADD;
    acre_relocation_report report = ACRE_RELOCATION_REPORT_INIT;
    if (status == ACRE_OK) {
        status = acre_manager_relocate(p->manager, &options, &report, error);
        printf("%llu buffers moved, %llu pages given back\n", (unsigned long long)report.moves,
               (unsigned long long)report.pages_returned);
        acre_manager_release(p->manager, large);
    }
    return status;
}

static acre_status check_all(program *p, uint32_t added, acre_error *error) {
    for (uint32_t i = 0; i < BUFFERS; i++) {
        if (p->buffers[i] == NULL) {
            continue;
        }
        acre_resource resource = ACRE_RESOURCE_INIT;
        acre_status status =
            acre_manager_resolve(p->manager, p->buffers[i], 0, 0, &resource, error);
        if (status == ACRE_OK) {
            status = acre_storage_read(p->storage, &resource, p->words, error);
        }
        if (status != ACRE_OK) {
            return status;
        }
        for (uint32_t w = 0; w < WORDS; w++) {
            if (p->words[w] != i * WORDS + w + added) {
                fprintf(stderr, "vulkan: buffer %u has a wrong word %u\n", i, w);
                exit(1);
            }
        }
        printf("buffer %u: right, at offset %llu of its page\n", i,
               (unsigned long long)resource.as.vulkan.offset);
    }
    return ACRE_OK;
}

static int run(program *p, acre_error *error) {
    acre_vulkan_objects objects = ACRE_VULKAN_OBJECTS_INIT;
    if (acre_storage_vulkan_objects(p->storage, &objects, error) != ACRE_OK) {
        return fail(error);
    }
    load_functions(&objects);
    kernel k = make_kernel(&objects);
    acre_status status = reserve_buffers(p, error);
    status = status != ACRE_OK ? status : add_to_all(p, &k, 5, error);
    status = status != ACRE_OK ? status : outgrow_and_relocate(p, error);
    status = status != ACRE_OK ? status : add_to_all(p, &k, 7, error);
    status = status != ACRE_OK ? status : check_all(p, 12, error);
    acre_error ignored = ACRE_ERROR_INIT;
    (void)!acre_storage_wait(p->storage, &ignored); // the kernel is used no more
    end_kernel(&k);
    if (status != ACRE_OK) {
        return fail(error);
    }
    char text[8192];
    acre_manager_report_write(p->manager, ACRE_REPORT_TEXT, text, sizeof text);
    fputs(text, stdout);
    return 0;
}

int main(void) {
    static program p;
    acre_error error = ACRE_ERROR_INIT;
    if (acre_storage_vulkan_create(NULL, NULL, &p.storage, &error) != ACRE_OK) {
        return fail(&error); // no loader, no driver, no device: the sentence says which
    }
    acre_layout layout = ACRE_LAYOUT_INIT(ACRE_LAYOUT_ADAPTIVE);
    acre_manager_options options = ACRE_MANAGER_OPTIONS_INIT;
    options.layout = &layout;
    int outcome = acre_manager_create(p.storage, &options, &p.manager, &error) == ACRE_OK
                      ? run(&p, &error)
                      : fail(&error);
    for (uint32_t i = 0; i < BUFFERS; i++) {
        if (p.buffers[i] != NULL) {
            acre_manager_release(p.manager, p.buffers[i]);
        }
    }
    acre_manager_destroy(p.manager);
    acre_storage_destroy(p.storage);
    return outcome;
}
