// Giving pages back, and replacing the layout's pools.
#include "base/error.h"
#include "base/text.h"
#include "manager/manager.h"

#include <inttypes.h>

void acre_manager_schedule(acre_manager *manager) {
    manager->next_check = ACRE_UNSET;
    for (uint32_t i = 0; i < manager->layout.count; i++) {
        manager->next_check = acre_min(manager->next_check, manager->layout.pools[i]->next_check);
    }
}

// Ends what waits for no period: freed dedicated memory, to the driver, and outdated pages.
static void return_at_once(acre_manager *manager) {
    manager->heap.cleanup_wanted = false;
    if (manager->layout.arena != NULL) {
        acre_arena_drain(manager->layout.arena);
    }
    if (acre_pool_cleanup(&manager->dedicated, true) > 0) {
        acre_storage_flush(manager->heap.storage);
    }
}

void acre_manager_cleanup_periodic(acre_manager *manager) {
    if (manager->heap.cleanup_wanted) {
        return_at_once(manager);
    }
    if (manager->heap.reservations >= manager->next_check) {
        for (uint32_t i = 0; i < manager->layout.count; i++) {
            acre_pool_cleanup(manager->layout.pools[i], false);
        }
        acre_manager_schedule(manager);
    }
}

static uint64_t return_all(acre_manager *manager) {
    uint64_t pages = 0;
    manager->heap.cleanup_wanted = false;
    if (manager->layout.arena != NULL) {
        pages += acre_arena_drain(manager->layout.arena);
    }
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
    uint64_t held = 0; // live allocations, and pages that guards hold
    uint64_t in_use = 0;
    for (uint32_t i = 0; i < acre_manager_pool_count(manager); i++) {
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
    *count = manager->layout.count;
    if (capacity < manager->layout.count) {
        return acre_error_close(error, detail,
                                acre_error_set(detail, ACRE_INVALID_ARGUMENT,
                                               "there is room for %zu pools, the layout has %u",
                                               capacity, (unsigned)manager->layout.count));
    }
    for (uint32_t i = 0; i < manager->layout.count; i++) {
        pools[i] = measured(manager->layout.pools[i]);
    }
    return ACRE_OK;
}
