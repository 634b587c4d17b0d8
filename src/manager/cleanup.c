// Giving pages back, and replacing the layout's pools.
#include "base/error.h"
#include "base/text.h"
#include "manager/manager.h"

#include <inttypes.h>

void acre_manager_schedule(acre_manager *manager) {
    manager->next_check = ACRE_UNSET;
    for (uint32_t i = 0; i < manager->pool_count; i++) {
        manager->next_check = acre_min(manager->next_check, manager->pools[i].next_check);
    }
}

// Dedicated memory that was freed goes back at once, to the driver.
static uint64_t return_dedicated(acre_manager *manager) {
    if (manager->dedicated.idle_pages == 0) {
        return 0;
    }
    uint64_t pages = acre_pool_cleanup(&manager->dedicated, true);
    acre_storage_flush(manager->heap.storage);
    return pages;
}

void acre_manager_cleanup_periodic(acre_manager *manager) {
    return_dedicated(manager);
    if (manager->heap.reservations >= manager->next_check) {
        for (uint32_t i = 0; i < manager->pool_count; i++) {
            acre_pool_cleanup(&manager->pools[i], false);
        }
        acre_manager_schedule(manager);
    }
}

static uint64_t return_all(acre_manager *manager) {
    uint64_t pages = 0;
    acre_pool *pool;
    for (uint32_t i = 0; (pool = acre_manager_nth_pool(manager, i)) != NULL; i++) {
        pages += acre_pool_cleanup(pool, true);
    }
    acre_storage_flush(manager->heap.storage);
    return pages;
}

uint64_t acre_manager_give_back(acre_manager *manager) {
    acre_storage *storage = manager->heap.storage;
    uint64_t before = storage->ops.bytes_allocated(storage->context);
    uint64_t pages = return_all(manager);
    // A page whose free was put off until this flush was given back by it.
    if (pages == 0 && storage->ops.bytes_allocated(storage->context) < before) {
        pages = 1;
    }
    return pages;
}

void acre_manager_cleanup(acre_manager *manager, acre_cleanup cleanup) {
    acre_manager_take_pending(manager);
    if (cleanup != ACRE_CLEANUP_EXPLICIT) {
        acre_manager_cleanup_due(manager);
        return;
    }
    uint64_t before = manager->heap.reserved;
    uint64_t pages = return_all(manager);
    acre_log_write(&manager->log, ACRE_LOG_BASIC,
                   "explicit cleanup: %" PRIu64 " pages, %s went back", pages,
                   acre_format_bytes(before - manager->heap.reserved).text);
}

static acre_status install(acre_manager *manager, const acre_layout *layout, acre_error *error) {
    uint64_t live = 0;
    uint64_t in_use = 0;
    for (uint32_t i = 0; i < manager->pool_count; i++) {
        live += manager->pools[i].usage.allocations;
        in_use += manager->pools[i].usage.in_use;
    }
    if (live > 0) {
        acre_error_refuse(error, ACRE_POOLS_IN_USE, 0);
        error->in_use = in_use;
        return ACRE_POOLS_IN_USE;
    }
    acre_pool *pools = NULL;
    uint32_t count = 0;
    acre_status status = acre_layout_build(manager, layout, &pools, &count, error);
    if (status != ACRE_OK) {
        return status;
    }
    acre_layout_unbuild(manager, manager->pools, manager->pool_count);
    acre_storage_flush(manager->heap.storage);
    acre_layout_adopt(manager, pools, count);
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
// of its own never took sizes near its page, one without may have.
static acre_pool_options measured(const acre_pool *pool) {
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

acre_status acre_manager_measured_pools(acre_manager *manager, acre_pool_options *pools,
                                        size_t capacity, size_t *count, acre_error *error) {
    acre_error local;
    acre_error *detail = acre_error_open(error, &local);
    acre_manager_take_pending(manager);
    *count = manager->pool_count;
    if (capacity < manager->pool_count) {
        return acre_error_close(error, detail,
                                acre_error_set(detail, ACRE_INVALID_ARGUMENT,
                                               "there is room for %zu pools, the layout has %u",
                                               capacity, (unsigned)manager->pool_count));
    }
    for (uint32_t i = 0; i < manager->pool_count; i++) {
        pools[i] = measured(&manager->pools[i]);
    }
    return ACRE_OK;
}
