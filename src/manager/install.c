// Replacing the layout's pools, also by the same ones with caps measured in a run.
#include "base/error.h"
#include "base/structs.h"
#include "manager/manager.h"

#include <string.h>

static acre_status install(acre_manager *manager, const acre_layout *layout, acre_error *error) {
    uint64_t held = 0; // live allocations, and pages that guards hold
    uint64_t in_use = 0;
    for (uint32_t i = 0; i < acre_pool_set_size(&manager->layout); i++) {
        const acre_pool *pool = acre_manager_pool(manager, i);
        held += pool->usage.allocations + pool->guarded_pages;
        in_use += pool->usage.in_use;
    }
    if (held > 0) {
        acre_error_refuse(error, ACRE_POOLS_IN_USE, 0);
        error->in_use = in_use;
        return ACRE_POOLS_IN_USE;
    }
    acre_pool_set set;
    acre_status status = acre_layout_build(manager, layout, &set, error);
    if (status != ACRE_OK) {
        return status;
    }
    acre_layout_unbuild(manager, &manager->layout);
    acre_storage_flush(manager->heap.storage);
    acre_layout_adopt(manager, &set);
    return ACRE_OK;
}

acre_status acre_manager_install_layout(acre_manager *manager, const acre_layout *layout,
                                        acre_error *error) {
    acre_error local;
    acre_error *detail = acre_error_open(error, &local);
    acre_manager_take_pending(manager);
    return acre_error_close(error, detail, install(manager, layout, detail));
}

// The options of a pool capped at its peak. What it accepts stays the same: a pool that had a cap
// of its own never took sizes near its page, one without may have. Direct and adaptive pools have
// no cap; an arena is what was asked for, whatever it has grown to.
static acre_pool_options measured(const acre_pool *pool) {
    if (pool->arena != NULL) {
        return pool->arena->options;
    }
    acre_pool_options options = pool->options;
    if (pool->kind == ACRE_POOL_SLICED || pool->kind == ACRE_POOL_EXCLUSIVE) {
        if (pool->kind == ACRE_POOL_SLICED && acre_pool_is_capped(pool) && !options.measured) {
            options.strict = true;
        }
        options.measured = true;
        options.max_pool_size = pool->bytes_peak;
    }
    return options;
}

static acre_status write_measured(acre_manager *manager, acre_pool_options *pools, size_t pool_size,
                                  size_t capacity, acre_error *error) {
    const acre_pool_set *layout = &manager->layout;
    if (capacity < layout->count) {
        return acre_error_set(error, ACRE_INVALID_ARGUMENT,
                              "there is room for %zu pools, the layout has %u", capacity,
                              (unsigned)layout->count);
    }
    if (pool_size < sizeof pools->struct_size) {
        return acre_error_set(error, ACRE_INVALID_ARGUMENT,
                              "pool_size is not the size of acre_pool_options");
    }
    for (uint32_t i = 0; i < layout->count; i++) {
        acre_pool_options own = measured(layout->pools[i]);
        char *theirs = (char *)pools + i * pool_size;
        memcpy(theirs, &pool_size, sizeof pool_size);
        acre_struct_write(theirs, &own, sizeof own);
    }
    return ACRE_OK;
}

acre_status acre_manager_measured_pools(acre_manager *manager, acre_pool_options *pools,
                                        size_t pool_size, size_t capacity, size_t *count,
                                        acre_error *error) {
    acre_error local;
    acre_error *detail = acre_error_open(error, &local);
    acre_manager_take_pending(manager);
    *count = manager->layout.count;
    return acre_error_close(error, detail,
                            write_measured(manager, pools, pool_size, capacity, detail));
}
