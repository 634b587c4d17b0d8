// Giving pages back: what is due, and everything idle.
#include "base/error.h"
#include "base/text.h"
#include "manager/manager.h"

#include <inttypes.h>

void acre_manager_update_quiet(acre_manager *manager) {
    acre_heap *heap = &manager->heap;
    bool quiet = manager->plain && !manager->told && !heap->cleanup_wanted &&
                 (heap->alignment_mask != 0 || heap->alignment == 1);
    heap->quiet_until = quiet ? manager->next_check : 0;
}

void acre_manager_schedule(acre_manager *manager) {
    manager->next_check = ACRE_UNSET;
    for (uint32_t i = 0; i < manager->layout.count; i++) {
        manager->next_check = acre_min(manager->next_check, manager->layout.pools[i]->next_check);
    }
    acre_manager_update_quiet(manager);
}

// Ends what waits for no period: freed dedicated memory, to the driver, and outdated pages.
static void return_at_once(acre_manager *manager) {
    manager->heap.cleanup_wanted = false;
    acre_manager_update_quiet(manager);
    if (manager->layout.arena != NULL) {
        acre_arena_drain(manager->layout.arena);
    }
    if (acre_pool_cleanup(&manager->dedicated, true) + acre_capture_drain(manager) > 0) {
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
    acre_manager_update_quiet(manager);
    if (manager->layout.arena != NULL) {
        pages += acre_arena_drain(manager->layout.arena);
    }
    acre_pool_walk walk = {.manager = manager, .skips_captures = true};
    for (acre_pool *pool; (pool = acre_pool_walk_next(&walk)) != NULL;) {
        pages += acre_pool_cleanup(pool, true);
    }
    pages += acre_capture_drain(manager);
    acre_storage_flush(manager->heap.storage);
    return pages;
}

uint64_t acre_manager_give_back(acre_manager *manager) {
    acre_storage *storage = manager->heap.storage;
    uint64_t before = acre_storage_bytes(storage);
    uint64_t pages = return_all(manager);
    // A page whose free was put off until this flush was given back by it.
    if (pages == 0 && acre_storage_bytes(storage) < before) {
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
