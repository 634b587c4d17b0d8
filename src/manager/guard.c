// Guards: records of the home that name a page, so that any thread may let one go.
#include <acre/guard.h>

#include "base/error.h"
#include "manager/manager.h"

acre_status acre_manager_guard(acre_manager *manager, const acre_handle *handle, acre_guard **guard,
                               acre_error *error) {
    acre_error local;
    acre_error *detail = acre_error_open(error, &local);
    acre_manager_take_pending(manager);
    uint32_t slice = acre_manager_find(manager, handle);
    if (slice == 0) {
        return acre_error_close(error, detail, acre_error_refuse(detail, ACRE_NOT_FOUND, 0));
    }
    if (!acre_slab_prepare(&manager->home->handles, 1)) {
        return acre_error_close(
            error, detail, acre_error_refuse(detail, ACRE_OUT_OF_HOST_MEMORY, sizeof(acre_handle)));
    }
    uint32_t page =
        acre_slice_page(acre_heap_slice(&manager->heap, slice)); // 0 for a zero-sized one
    if (page != 0) {
        acre_page *guarded = acre_page_at(&manager->heap, page);
        acre_pool_guard_page(guarded->pool, guarded);
    }
    uint32_t name;
    acre_handle *record = acre_handle_take(manager->home, &name, 0);
    record->slice = ACRE_HANDLE_GUARD | page; // page names are below 2^30, too
    *guard = (acre_guard *)record;
    return ACRE_OK;
}

void acre_manager_unguard(acre_manager *manager, uint32_t page) {
    if (page != 0) {
        acre_page *guarded = acre_page_at(&manager->heap, page);
        acre_pool_unguard_page(guarded->pool, guarded, page);
    }
}
