#include "model.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

struct model_handle {
    atomic_uint references; // the list's own among them
    atomic_uint page;
    atomic_uint slice; // index in its page's list
};

typedef struct model_slice {
    model_handle *handle;
    uint64_t offset;
    uint64_t size;
    uint64_t padding;
} model_slice;

typedef struct model_page {
    model_slice *slices;
    model_slice *spare; // the next list is built here
    uint32_t count;
    uint32_t capacity; // of both
} model_page;

struct model_pool {
    model_page *pages;
    uint32_t count;
    uint32_t capacity;
    uint64_t page_size;
    uint64_t alignment;
};

static model_handle *new_handle(void) {
    model_handle *handle = malloc(sizeof *handle);
    if (handle != NULL) {
        atomic_init(&handle->references, 1);
        atomic_init(&handle->page, 0);
        atomic_init(&handle->slice, 0);
    }
    return handle;
}

static bool is_free(const model_slice *slice) {
    return atomic_load_explicit(&slice->handle->references, memory_order_acquire) == 1;
}

static uint64_t length(const model_slice *slice) {
    return slice->size + slice->padding;
}

void model_release(model_handle *handle) {
    if (atomic_fetch_sub_explicit(&handle->references, 1, memory_order_acq_rel) == 1) {
        free(handle);
    }
}

static model_handle *retain(model_handle *handle) {
    atomic_fetch_add_explicit(&handle->references, 1, memory_order_relaxed);
    return handle;
}

// ---- a page -----------------------------------------------------------------------------------

// Room for one slice more, in the list and in the next one.
static bool make_room(model_page *page) {
    if (page->count < page->capacity) {
        return true;
    }
    uint32_t capacity = page->capacity > 0 ? 2 * page->capacity : 16;
    model_slice *slices = realloc(page->slices, capacity * sizeof *slices);
    if (slices == NULL) {
        return false;
    }
    page->slices = slices;
    model_slice *spare = realloc(page->spare, capacity * sizeof *spare);
    if (spare == NULL) {
        return false;
    }
    page->spare = spare;
    page->capacity = capacity;
    return true;
}

static void push(model_slice *list, uint32_t *count, model_slice slice) {
    atomic_store_explicit(&slice.handle->slice, *count, memory_order_relaxed);
    list[(*count)++] = slice;
}

static void adopt(model_page *page, uint32_t count) {
    model_slice *old = page->slices;
    page->slices = page->spare;
    page->spare = old;
    page->count = count;
}

static bool has_neighbours_to_merge(const model_page *page) {
    bool free_before = false;
    for (uint32_t i = 0; i < page->count; i++) {
        bool free_now = is_free(&page->slices[i]);
        if (free_now && free_before) {
            return true;
        }
        free_before = free_now;
    }
    return false;
}

static void merge(model_page *page) {
    if (!has_neighbours_to_merge(page)) {
        return;
    }
    uint32_t count = 0;
    bool free_before = false;
    for (uint32_t i = 0; i < page->count; i++) {
        model_slice slice = page->slices[i];
        bool free_now = is_free(&slice);
        if (free_now && free_before) {
            page->spare[count - 1].size += length(&slice);
            model_release(slice.handle);
            continue;
        }
        if (free_now) {
            slice.size = length(&slice);
            slice.padding = 0;
        }
        push(page->spare, &count, slice);
        free_before = free_now;
    }
    adopt(page, count);
}

// Cuts a slice and builds the list anew around what is left of it.
static bool split(model_page *page, uint32_t page_index, uint32_t at, uint64_t wanted) {
    model_handle *handle = make_room(page) ? new_handle() : NULL;
    if (handle == NULL) {
        return false;
    }
    atomic_store_explicit(&handle->page, page_index, memory_order_relaxed);
    uint32_t count = 0;
    for (uint32_t i = 0; i < page->count; i++) {
        model_slice slice = page->slices[i];
        if (i != at) {
            push(page->spare, &count, slice);
            continue;
        }
        model_slice rest = {handle, slice.offset + wanted, length(&slice) - wanted, 0};
        slice.size = wanted;
        slice.padding = 0;
        push(page->spare, &count, slice);
        push(page->spare, &count, rest);
    }
    adopt(page, count);
    return true;
}

static model_handle *take_first_fit(model_page *page, uint32_t page_index, uint64_t size,
                                    uint64_t padding) {
    uint64_t wanted = size + padding;
    for (uint32_t i = 0; i < page->count; i++) {
        if (length(&page->slices[i]) < wanted || !is_free(&page->slices[i])) {
            continue;
        }
        if (length(&page->slices[i]) > wanted && !split(page, page_index, i, wanted)) {
            return NULL;
        }
        page->slices[i].size = size;
        page->slices[i].padding = padding;
        return retain(page->slices[i].handle);
    }
    return NULL;
}

// ---- the pool ---------------------------------------------------------------------------------

model_pool *model_create(uint64_t page_size, uint64_t alignment) {
    model_pool *pool = calloc(1, sizeof *pool);
    if (pool != NULL) {
        pool->page_size = page_size;
        pool->alignment = alignment;
    }
    return pool;
}

void model_destroy(model_pool *pool) {
    for (uint32_t i = 0; i < pool->count; i++) {
        for (uint32_t j = 0; j < pool->pages[i].count; j++) {
            model_release(pool->pages[i].slices[j].handle);
        }
        free(pool->pages[i].slices);
        free(pool->pages[i].spare);
    }
    free(pool->pages);
    free(pool);
}

static model_page *add_page(model_pool *pool) {
    if (pool->count == pool->capacity) {
        uint32_t capacity = pool->capacity > 0 ? 2 * pool->capacity : 16;
        model_page *pages = realloc(pool->pages, capacity * sizeof *pages);
        if (pages == NULL) {
            return NULL;
        }
        pool->pages = pages;
        pool->capacity = capacity;
    }
    model_page *page = &pool->pages[pool->count];
    memset(page, 0, sizeof *page);
    model_handle *handle = make_room(page) ? new_handle() : NULL;
    if (handle == NULL) {
        free(page->slices);
        free(page->spare);
        return NULL;
    }
    atomic_store_explicit(&handle->page, pool->count, memory_order_relaxed);
    push(page->slices, &page->count, (model_slice){handle, 0, pool->page_size, 0});
    pool->count++;
    return page;
}

static uint64_t padding_of(const model_pool *pool, uint64_t size) {
    uint64_t over = size % pool->alignment;
    return over > 0 ? pool->alignment - over : 0;
}

static model_handle *reserve_on_new_page(model_pool *pool, uint64_t size, uint64_t padding) {
    model_page *page = add_page(pool);
    return page != NULL ? take_first_fit(page, pool->count - 1, size, padding) : NULL;
}

model_handle *model_reserve(model_pool *pool, uint64_t size, bool may_add) {
    uint64_t padding = padding_of(pool, size);
    for (uint32_t i = 0; i < pool->count; i++) {
        merge(&pool->pages[i]);
        model_handle *handle = take_first_fit(&pool->pages[i], i, size, padding);
        if (handle != NULL) {
            return handle;
        }
    }
    return may_add && size <= pool->page_size ? reserve_on_new_page(pool, size, padding) : NULL;
}

model_handle *model_append(model_pool *pool, uint64_t size) {
    uint64_t padding = padding_of(pool, size);
    uint64_t wanted = size + padding;
    for (uint32_t i = 0; i < pool->count; i++) {
        model_page *page = &pool->pages[i];
        model_slice *last = &page->slices[page->count - 1];
        if (last->size < wanted || !is_free(last)) {
            continue;
        }
        model_slice rest = {NULL, last->offset + wanted, last->size - wanted, 0};
        if (rest.size > 0) {
            rest.handle = make_room(page) ? new_handle() : NULL;
            if (rest.handle == NULL) {
                return NULL;
            }
            atomic_store_explicit(&rest.handle->page, i, memory_order_relaxed);
            last = &page->slices[page->count - 1]; // the list may have moved
            push(page->slices, &page->count, rest);
        }
        last->size = size;
        last->padding = padding;
        return retain(last->handle);
    }
    return size <= pool->page_size ? reserve_on_new_page(pool, size, padding) : NULL;
}

void model_place(const model_pool *pool, const model_handle *handle, uint64_t *page,
                 uint64_t *offset, uint64_t *end) {
    uint32_t index = atomic_load_explicit(&handle->page, memory_order_relaxed);
    uint32_t slice = atomic_load_explicit(&handle->slice, memory_order_relaxed);
    const model_slice *found = &pool->pages[index].slices[slice];
    *page = index;
    *offset = found->offset;
    *end = found->offset + length(found);
}
