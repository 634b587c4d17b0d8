#include "model/reference.h"

#include <string.h>

uint64_t model_sum(uint64_t a, uint64_t b) {
    return a > UINT64_MAX - b ? UINT64_MAX : a + b;
}

uint64_t model_round_up(uint64_t size, uint64_t alignment) {
    return size % alignment == 0 ? size : size - size % alignment + alignment;
}

uint32_t model_pool_index(const reference *ref, uint32_t pool) {
    for (uint32_t i = 0; i < ref->outdated_count; i++) {
        if (ref->outdated[i] == pool) {
            return ref->pool_count + i;
        }
    }
    return pool == MODEL_PERSISTENT  ? ACRE_POOL_INDEX_PERSISTENT
           : pool == MODEL_DEDICATED ? ACRE_POOL_INDEX_DEDICATED
                                     : pool;
}

uint32_t model_pool_of_index(const reference *ref, uint32_t index) {
    if (index == ACRE_POOL_INDEX_PERSISTENT) {
        return MODEL_PERSISTENT;
    }
    if (index == ACRE_POOL_INDEX_DEDICATED) {
        return MODEL_DEDICATED;
    }
    if (index < ref->pool_count) {
        return index;
    }
    uint32_t place = index - ref->pool_count;
    return place < ref->outdated_count ? ref->outdated[place] : MODEL_POOLS; // none
}

// ---- pools ---------------------------------------------------------------------------------

model_pool model_plain_pool(acre_pool_kind kind) {
    model_pool pool;
    memset(&pool, 0, sizeof pool);
    pool.options = ACRE_POOL_OPTIONS_INIT(kind, ACRE_UNSET, ACRE_UNSET);
    pool.page_size = ACRE_UNSET;
    pool.next_check = UINT64_MAX;
    return pool;
}

void reference_init(reference *ref) {
    ref->pools[MODEL_PERSISTENT] = model_plain_pool(ACRE_POOL_PERSISTENT);
    ref->pools[MODEL_DEDICATED] = model_plain_pool(ACRE_POOL_DEDICATED);
    if (ref->setting == ACRE_PERSISTENT_ENFORCED && ref->base_mode == ACRE_MODE_AUTO) {
        ref->base_mode = ACRE_MODE_PERSISTENT;
    }
}

// The limits of a caller's list are rounded; those of a preset and measured ones are exact.
static uint64_t limit_of(const reference *ref, uint64_t size, bool exact) {
    if (size == ACRE_UNSET || size > ref->largest_page) {
        return size == ACRE_UNSET ? size : ref->largest_page;
    }
    return exact ? size : model_round_up(size, ref->alignment);
}

void reference_set_layout(reference *ref, const acre_pool_options *options, uint32_t count,
                          bool listed) {
    ref->pool_count = count;
    ref->in_vain = false;
    for (uint32_t i = 0; i < count; i++) {
        model_pool *pool = &ref->pools[i];
        bool exact = !listed || options[i].measured;
        *pool = model_plain_pool(options[i].kind);
        pool->options = options[i];
        if (options[i].kind == ACRE_POOL_SLICED) {
            pool->options.page_size = model_round_up(options[i].page_size, ref->alignment);
            pool->options.max_slice_size = limit_of(ref, options[i].max_slice_size, exact);
            if (pool->options.max_slice_size > pool->options.page_size) {
                pool->options.max_slice_size = pool->options.page_size;
            }
            pool->page_size = pool->options.page_size;
            if (options[i].max_pool_size < pool->page_size) {
                pool->page_size =
                    options[i].max_pool_size - options[i].max_pool_size % ref->alignment;
            }
        } else if (options[i].kind == ACRE_POOL_EXCLUSIVE) {
            pool->options.max_alloc_size = limit_of(ref, options[i].max_alloc_size, exact);
            if (pool->options.max_alloc_size == ACRE_UNSET) {
                pool->options.max_alloc_size = ref->largest_page;
            }
        }
        if (options[i].kind == ACRE_POOL_ADAPTIVE) {
            reference_arena_init(ref, pool);
        }
        if (options[i].dealloc_period != ACRE_UNSET) {
            pool->next_check = ref->reservations + options[i].dealloc_period / 5;
        }
    }
}

bool reference_accepts(const reference *ref, uint32_t index, uint64_t size) {
    const model_pool *pool = &ref->pools[index];
    const acre_pool_options *options = &pool->options;
    if (options->kind == ACRE_POOL_SLICED) {
        bool grows = options->max_pool_size == ACRE_UNSET || options->measured;
        bool near = !options->strict && grows && size <= options->page_size &&
                    (options->page_size - size) * 5 < options->page_size;
        return size <= options->max_slice_size || near;
    }
    return size <=
           (options->kind == ACRE_POOL_EXCLUSIVE ? options->max_alloc_size : ref->largest_page);
}

// ---- pages ---------------------------------------------------------------------------------

void reference_flush(reference *ref) {
    ref->device.held -= ref->device.deferred;
    ref->device.deferred = 0;
}

void reference_return_page(reference *ref, int index) {
    model_page *page = &ref->pages[index];
    page->used = false;
    ref->pools[page->pool].pages--;
    ref->pools[page->pool].usage.reserved -= page->size;
    ref->reserved -= page->size;
    ref->pages_returned++;
    ref->bytes_returned += page->size;
    ref->device.deallocs += page->mapped;
    if (page->mapped && ref->device.deferred_frees) {
        ref->device.deferred += page->size;
    } else if (page->mapped) {
        ref->device.held -= page->size;
    }
    if (ref->recent.valid && ref->recent.page == index) {
        ref->recent.valid = false;
    }
    while (ref->page_end > 0 && !ref->pages[ref->page_end - 1].used) {
        ref->page_end--;
    }
}

// Free pages of one pool. => how many went
uint64_t reference_return_free(reference *ref, uint32_t pool) {
    uint64_t returned = 0;
    for (int i = ref->page_end - 1; i >= 0; i--) {
        model_page *page = &ref->pages[i];
        if (!page->used || page->pool != pool || page->live > 0) {
            continue;
        }
        if (page->guards > 0) {
            page->overdue = true;
            continue;
        }
        reference_return_page(ref, i);
        returned++;
    }
    return returned;
}

bool reference_give_back(reference *ref) {
    uint64_t held = ref->device.held;
    for (int i = 0; i < ref->page_end; i++) {
        if (ref->pages[i].live > 0) {
            ref->pages[i].found_free = 0; // this look found it in use
        }
    }
    uint64_t returned = reference_arena_drain(ref);
    returned += reference_return_free(ref, MODEL_PERSISTENT);
    returned += reference_return_free(ref, MODEL_DEDICATED);
    for (uint32_t pool = 0; pool < ref->pool_count; pool++) {
        returned += reference_return_free(ref, pool);
    }
    reference_flush(ref);
    return returned > 0 || ref->device.held < held;
}

void reference_periodic(reference *ref) {
    reference_arena_drain(ref);
    if (reference_return_free(ref, MODEL_DEDICATED) > 0) {
        reference_flush(ref);
    }
    for (uint32_t pool = 0; pool < ref->pool_count; pool++) {
        if (ref->reservations < ref->pools[pool].next_check) {
            continue;
        }
        ref->pools[pool].next_check =
            ref->reservations + ref->pools[pool].options.dealloc_period / 5;
        for (int i = ref->page_end - 1; i >= 0; i--) {
            model_page *page = &ref->pages[i];
            if (page->used && page->pool == pool) {
                page->found_free = page->live == 0 ? page->found_free + 1 : 0;
                if (page->found_free == 5 && page->guards > 0) {
                    page->overdue = true;
                } else if (page->found_free == 5) {
                    reference_return_page(ref, i);
                }
            }
        }
    }
}

static bool device_gives(model_device *device, uint64_t size) {
    device->calls++;
    bool scripted =
        device->fail_at != 0 && (device->calls == device->fail_at ||
                                 (device->and_after && device->calls > device->fail_at));
    bool too_large = device->largest != 0 && size > device->largest;
    if (scripted || too_large || (device->total != 0 && device->held + size > device->total)) {
        device->refused++;
        return false;
    }
    device->allocs++;
    device->held += size;
    return true;
}

bool reference_page_is_given(reference *ref, uint64_t size) {
    return model_sum(ref->reserved, size) <= ref->hard_limit &&
           (ref->dry_runs > 0 || device_gives(&ref->device, size));
}

int reference_hold_page(reference *ref, uint32_t pool, uint64_t size) {
    int index = 0;
    while (ref->pages[index].used) {
        index++;
    }
    ref->page_end = index >= ref->page_end ? index + 1 : ref->page_end;
    ref->pages[index] = (model_page){.used = true,
                                     .pool = pool,
                                     .size = size,
                                     .sequence = ref->sequence++,
                                     .mapped = ref->dry_runs == 0,
                                     .first = -1};
    model_pool *owner = &ref->pools[pool];
    owner->pages++;
    owner->usage.reserved += size;
    ref->reserved += size;
    ref->pages_added++;
    ref->bytes_added += size;
    owner->pages_peak = owner->pages > owner->pages_peak ? owner->pages : owner->pages_peak;
    if (owner->usage.reserved > owner->bytes_peak) {
        owner->bytes_peak = owner->usage.reserved;
    }
    return index;
}

acre_status reference_add_page(reference *ref, uint32_t pool, uint64_t size, int *added) {
    if (!reference_page_is_given(ref, size)) {
        return ACRE_OUT_OF_MEMORY;
    }
    *added = reference_hold_page(ref, pool, size);
    return ACRE_OK;
}

acre_status reference_resolve(reference *ref, int index) {
    const model_allocation *allocation = &ref->allocations[index];
    if (allocation->page < 0 || ref->pages[allocation->page].mapped) {
        return ACRE_OK;
    }
    model_page *page = &ref->pages[allocation->page];
    page->mapped = device_gives(&ref->device, page->size);
    return page->mapped ? ACRE_OK : ACRE_STORAGE_MAPPING_FAILED;
}

uint64_t reference_unmapped(const reference *ref, uint32_t pool) {
    uint64_t unmapped = 0;
    for (int i = 0; i < ref->page_end; i++) {
        const model_page *page = &ref->pages[i];
        unmapped += page->used && page->pool == pool && !page->mapped;
    }
    return unmapped;
}

acre_launch_mode reference_launch_mode(const reference *ref) {
    return ref->dry_runs > 0 && ref->real_runs == 0 ? ACRE_LAUNCH_SKIP : ACRE_LAUNCH_EXECUTE;
}

// ---- guards --------------------------------------------------------------------------------

void reference_guard(reference *ref, int index) {
    ref->pages[index].guards++;
    if (ref->recent.valid && ref->recent.page == index) {
        ref->recent.valid = false;
    }
}

void reference_unguard(reference *ref, int index) {
    model_page *page = &ref->pages[index];
    page->guards--;
    if (page->guards == 0 && page->overdue) {
        page->found_free = 0;
        page->overdue = false;
    }
}

// ---- allocations ---------------------------------------------------------------------------

acre_mode reference_mode(const reference *ref) {
    return ref->window_count > 0 ? ref->windows[ref->window_count - 1] : ref->base_mode;
}

void reference_set_mode(reference *ref, acre_mode mode) {
    bool keeps_base =
        ref->setting == ACRE_PERSISTENT_DISABLED || ref->setting == ACRE_PERSISTENT_ENFORCED;
    if (mode != ACRE_MODE_AUTO) {
        ref->windows[ref->window_count++] =
            mode == ACRE_MODE_PERSISTENT && keeps_base ? ref->base_mode : mode;
    } else if (ref->window_count > 0) {
        ref->window_count--;
    }
}

void reference_free(reference *ref, int index) {
    model_allocation *allocation = &ref->allocations[index];
    model_pool *pool = &ref->pools[allocation->pool];
    pool->usage.allocations--;
    pool->usage.in_use -= allocation->size;
    pool->usage.padding -= allocation->padding;
    ref->recent.valid = false;
    reference_forget_claims(ref, index);
    if (allocation->page >= 0) {
        const model_page *page = &ref->pages[allocation->page];
        reference_unlink(ref, index);
        if (model_cuts(pool) && page->guards == 0) {
            ref->recent = (model_recent){true, allocation->pool, allocation->page,
                                         allocation->offset, allocation->run};
        }
    }
    allocation->used = false;
    reference_trim(ref);
}

void reference_cleanup(reference *ref, acre_cleanup cleanup) {
    if (cleanup == ACRE_CLEANUP_EXPLICIT) {
        reference_give_back(ref);
    } else {
        reference_periodic(ref);
    }
}

uint64_t reference_dynamic_live(const reference *ref) {
    uint64_t live = 0;
    for (uint32_t i = 0; i < ref->pool_count; i++) {
        live += ref->pools[i].usage.allocations;
    }
    for (uint32_t i = 0; i < ref->outdated_count; i++) {
        live += ref->pools[ref->outdated[i]].usage.allocations;
    }
    return live;
}

// Whether a guard holds a page of the layout's.
static bool is_guarded(const reference *ref) {
    for (int i = 0; i < ref->page_end; i++) {
        const model_page *page = &ref->pages[i];
        if (page->used && page->guards > 0 && page->pool != MODEL_PERSISTENT &&
            page->pool != MODEL_DEDICATED) {
            return true;
        }
    }
    return false;
}

acre_status reference_install(reference *ref, const acre_pool_options *options, uint32_t count,
                              uint64_t *in_use) {
    *in_use = 0;
    for (uint32_t i = 0; i < ref->pool_count; i++) {
        *in_use += ref->pools[i].usage.in_use;
    }
    for (uint32_t i = 0; i < ref->outdated_count; i++) {
        *in_use += ref->pools[ref->outdated[i]].usage.in_use;
    }
    if (reference_dynamic_live(ref) > 0 || is_guarded(ref)) {
        return ACRE_POOLS_IN_USE;
    }
    reference_arena_drain(ref);
    for (uint32_t i = 0; i < ref->pool_count; i++) {
        reference_return_free(ref, i);
    }
    reference_flush(ref);
    reference_set_layout(ref, options, count, true);
    return ACRE_OK;
}
