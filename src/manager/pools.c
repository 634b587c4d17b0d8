// The manager's pools: by index, and one after another.
#include "manager/capture.h"

static acre_pool *pool_at(const acre_pool_set *set, uint32_t place) {
    if (place < set->count) {
        return set->pools[place];
    }
    uint32_t outdated = place - set->count;
    return set->arena != NULL && outdated < set->arena->outdated_count
               ? set->arena->outdated[outdated]
               : NULL;
}

// => the scope of a number; NULL = there is none
static acre_capture *capture_of(const acre_manager *manager, uint32_t number) {
    return number - 1 < manager->capture_count ? manager->captures[number - 1] : NULL;
}

acre_pool *acre_manager_pool(const acre_manager *manager, uint32_t index) {
    if (index >= ACRE_POOL_INDEX_PERSISTENT) { // of a manager that may change
        return (acre_pool *)(uintptr_t)(index == ACRE_POOL_INDEX_PERSISTENT ? &manager->persistent
                                                                            : &manager->dedicated);
    }
    if (index < ACRE_POOL_INDEX_CAPTURE(1, 0)) {
        return pool_at(&manager->layout, index);
    }
    acre_capture *capture = capture_of(manager, index >> 16);
    if (capture == NULL) {
        return NULL;
    }
    return index == capture->exact.index ? &capture->exact
                                         : pool_at(&capture->pools, index - capture->pools.first);
}

acre_pool *acre_pool_walk_next(acre_pool_walk *walk) {
    acre_manager *manager = walk->manager;
    uint32_t last = walk->skips_captures ? 1 : 1 + manager->capture_count;
    for (; walk->stage <= last; walk->stage++, walk->at = 0) {
        uint32_t at = walk->at++;
        acre_pool *pool = NULL;
        if (walk->stage == 0) {
            pool = pool_at(&manager->layout, at);
        } else if (walk->stage == 1) {
            pool = at == 0 ? &manager->persistent : at == 1 ? &manager->dedicated : NULL;
        } else {
            acre_capture *capture = capture_of(manager, walk->stage - 1);
            if (capture != NULL) {
                uint32_t size = acre_pool_set_size(&capture->pools);
                pool = at == size ? &capture->exact : pool_at(&capture->pools, at);
            }
        }
        if (pool != NULL) {
            return pool;
        }
    }
    return NULL;
}
