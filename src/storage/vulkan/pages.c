#include "storage/vulkan/pages.h"

#include "base/error.h"

#define FIRST_BUCKETS 64

// ---- by buffer -----------------------------------------------------------------------------

static acre_vulkan_page **bucket_of(acre_vulkan_page **buckets, uint32_t count, uint64_t buffer) {
    // Handles are addresses or small numbers: their low bits alone tell little.
    return &buckets[(buffer * UINT64_C(0x9e3779b97f4a7c15) >> 32) & (count - 1)];
}

acre_vulkan_page *acre_vulkan_pages_find(const acre_vulkan_pages *pages, uint64_t buffer) {
    acre_vulkan_page *page = *bucket_of(pages->buckets, pages->bucket_count, buffer);
    while (page != NULL && page->block.buffer != buffer) {
        page = page->next;
    }
    return page;
}

static acre_vulkan_page **make_buckets(acre_vulkan_pages *pages, uint32_t count) {
    return acre_host_alloc_zeroed(pages->device->host, count * sizeof(acre_vulkan_page *),
                                  _Alignof(acre_vulkan_page *));
}

static void free_buckets(acre_vulkan_pages *pages) {
    acre_host_free(pages->device->host, pages->buckets,
                   pages->bucket_count * sizeof(acre_vulkan_page *), _Alignof(acre_vulkan_page *));
}

// Twice as many buckets. Without host memory for them the buckets get fuller, that is all.
static void grow(acre_vulkan_pages *pages) {
    uint32_t count = pages->bucket_count * 2;
    acre_vulkan_page **buckets = make_buckets(pages, count);
    if (buckets == NULL) {
        return;
    }
    for (uint32_t i = 0; i < pages->bucket_count; i++) {
        for (acre_vulkan_page *page = pages->buckets[i]; page != NULL;) {
            acre_vulkan_page *next = page->next;
            acre_vulkan_page **to = bucket_of(buckets, count, page->block.buffer);
            page->next = *to;
            *to = page;
            page = next;
        }
    }
    free_buckets(pages);
    pages->buckets = buckets;
    pages->bucket_count = count;
}

static void insert(acre_vulkan_pages *pages, acre_vulkan_page *page) {
    if (pages->count >= pages->bucket_count && pages->bucket_count < UINT32_C(1) << 30) {
        grow(pages);
    }
    acre_vulkan_page **bucket = bucket_of(pages->buckets, pages->bucket_count, page->block.buffer);
    page->next = *bucket;
    *bucket = page;
    pages->count++;
}

static void take_out(acre_vulkan_pages *pages, const acre_vulkan_page *page) {
    acre_vulkan_page **link = bucket_of(pages->buckets, pages->bucket_count, page->block.buffer);
    while (*link != page) {
        link = &(*link)->next;
    }
    *link = page->next;
    pages->count--;
}

// ---- pages come and go ---------------------------------------------------------------------

static acre_status refuse(acre_error *error, uint64_t size, uint64_t capacity) {
    acre_error_refuse(error, ACRE_OUT_OF_MEMORY, size);
    error->capacity = capacity;
    return ACRE_OUT_OF_MEMORY;
}

// Bytes that the driver says other programs and this one leave of the heap.
static acre_status check_budget(const acre_vulkan_pages *pages, uint64_t size, acre_error *error) {
    const acre_vulkan_context *device = pages->device;
    if (!device->budget) {
        return ACRE_OK;
    }
    acre_vk_budget budget = {.type = ACRE_VK_BUDGET};
    acre_vk_memory_properties properties = {.type = ACRE_VK_MEMORY_PROPERTIES, .next = &budget};
    device->api.get_memory_properties(device->physical, &properties);
    uint64_t most = budget.budget[pages->type.heap];
    uint64_t usage = budget.usage[pages->type.heap];
    return usage <= most && size <= most - usage ? ACRE_OK : refuse(error, size, most);
}

static void free_page(acre_vulkan_pages *pages, acre_vulkan_page *page) {
    acre_vulkan_block_end(pages->device, &page->block);
    acre_host_free(pages->device->host, page, sizeof *page, _Alignof(acre_vulkan_page));
}

acre_status acre_vulkan_pages_alloc(acre_vulkan_pages *pages, uint64_t size, uint64_t *id,
                                    acre_error *error) {
    acre_vulkan_pages_flush(pages);
    if (size > pages->largest) {
        return refuse(error, size, pages->largest);
    }
    uint64_t room = pages->total > pages->bytes ? pages->total - pages->bytes : 0;
    if (size > room) {
        return refuse(error, size, pages->total);
    }
    acre_status status = check_budget(pages, size, error);
    if (status != ACRE_OK) {
        return status;
    }
    acre_host *host = pages->device->host;
    acre_vulkan_page *page = acre_host_alloc_zeroed(host, sizeof *page, _Alignof(acre_vulkan_page));
    if (page == NULL) {
        return acre_error_refuse(error, ACRE_OUT_OF_HOST_MEMORY, sizeof *page);
    }
    uint64_t most = acre_min(room, pages->largest_memory);
    status = acre_vulkan_block_make(pages->device, size, most, pages->usage, pages->type.index,
                                    &page->block, error);
    if (status != ACRE_OK) {
        if (error->native_code == 0 && error->detail[0] == '\0') { // larger than `most`
            error->capacity = most < room ? pages->largest_memory : pages->total;
        }
        acre_host_free(host, page, sizeof *page, _Alignof(acre_vulkan_page));
        return status;
    }
    pages->bytes += page->block.held;
    insert(pages, page);
    *id = (uint64_t)(uintptr_t)page;
    return ACRE_OK;
}

static void free_all(acre_vulkan_pages *pages, acre_vulkan_page *page) {
    while (page != NULL) {
        acre_vulkan_page *next = page->next;
        free_page(pages, page);
        page = next;
    }
}

// Work that the device was given before may still touch the page: Vulkan itself waits for nothing.
// If the wait fails, the page is off the books all the same, and freed later or with the device.
void acre_vulkan_pages_dealloc(acre_vulkan_pages *pages, uint64_t id) {
    acre_vulkan_page *page = (acre_vulkan_page *)(uintptr_t)id;
    take_out(pages, page);
    pages->bytes -= page->block.held;
    page->next = pages->given_back;
    pages->given_back = page;
    acre_vulkan_pages_flush(pages);
}

void acre_vulkan_pages_flush(acre_vulkan_pages *pages) {
    acre_error ignored = ACRE_ERROR_INIT;
    if (pages->given_back != NULL && acre_vulkan_drain(pages->streams, &ignored) == ACRE_OK) {
        free_all(pages, pages->given_back);
        pages->given_back = NULL;
    }
}

// ---- the beginning and the end -------------------------------------------------------------

uint64_t acre_vulkan_slice_alignment(const acre_vulkan_pages *pages) {
    const acre_vk_limits *limits = &pages->device->facts.properties.properties.limits;
    uint64_t alignment = acre_max(limits->min_storage_buffer_offset_alignment, 4);
    bool host_caches = (pages->type.flags & ACRE_VK_HOST_VISIBLE) != 0 &&
                       (pages->type.flags & ACRE_VK_HOST_COHERENT) == 0;
    return host_caches ? acre_max(alignment, limits->non_coherent_atom_size) : alignment;
}

static acre_status choose_type(acre_vulkan_pages *pages, const acre_vulkan_storage_params *params,
                               acre_error *error) {
    acre_vulkan_context *device = pages->device;
    pages->usage = params->buffer_usage | ACRE_VK_BUFFER_STORAGE | ACRE_VK_BUFFER_TRANSFER_SRC |
                   ACRE_VK_BUFFER_TRANSFER_DST |
                   (device->address ? (uint32_t)ACRE_VK_BUFFER_DEVICE_ADDRESS : 0);
    if ((pages->usage & ACRE_VK_BUFFER_DEVICE_ADDRESS) != 0 && !device->address) {
        return acre_error_set(error, ACRE_INVALID_ARGUMENT,
                              "buffer_usage asks for device addresses: bufferDeviceAddress is off");
    }
    // Buffers of one usage may have their memory from the same types, whatever their size.
    acre_vk_requirements needs = {0};
    acre_status status = acre_vulkan_block_needs(device, 4096, pages->usage, &needs, error);
    if (status != ACRE_OK) {
        return status;
    }
    if (!acre_vulkan_memory_type_find(&device->facts.memory, needs.types, params->required,
                                      params->preferred, &pages->type)) {
        return acre_error_set(error, ACRE_INVALID_ARGUMENT,
                              "no memory type of %.60s has all the required flags 0x%x",
                              device->facts.properties.properties.name, (unsigned)params->required);
    }
    pages->alignment = acre_max(needs.alignment, acre_vulkan_slice_alignment(pages));
    return ACRE_OK;
}

acre_status acre_vulkan_pages_begin(acre_vulkan_pages *pages, acre_vulkan_streams *streams,
                                    const acre_vulkan_storage_params *params, acre_error *error) {
    *pages = (acre_vulkan_pages){.device = streams->device, .streams = streams};
    acre_status status = choose_type(pages, params, error);
    if (status != ACRE_OK) {
        return status;
    }
    pages->largest_memory = pages->device->facts.largest_allocation;
    pages->total = params->total_memory == 0
                       ? pages->type.heap_size
                       : acre_min(params->total_memory, pages->type.heap_size);
    pages->largest = acre_min(pages->largest_memory, pages->total);
    if (params->largest_allocation != 0) {
        pages->largest = acre_min(pages->largest, params->largest_allocation);
    }
    pages->buckets = make_buckets(pages, FIRST_BUCKETS);
    if (pages->buckets == NULL) {
        return acre_error_refuse(error, ACRE_OUT_OF_HOST_MEMORY,
                                 FIRST_BUCKETS * sizeof(acre_vulkan_page *));
    }
    pages->bucket_count = FIRST_BUCKETS;
    return ACRE_OK;
}

void acre_vulkan_pages_end(acre_vulkan_pages *pages) {
    free_all(pages, pages->given_back);
    for (uint32_t i = 0; i < pages->bucket_count; i++) {
        free_all(pages, pages->buckets[i]); // none, unless somebody forgot one
    }
    if (pages->buckets != NULL) {
        free_buckets(pages);
    }
}
