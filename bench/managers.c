// Managers to measure.
#include "managers.h"

#include "measure.h"

#include <stdlib.h>

_Noreturn void bench_fail_with(const acre_error *error) {
    char text[512];
    acre_error_format(error, text, sizeof text);
    bench_fail("%s", text);
}

bench_manager *bench_manager_open_on(const acre_simulated_storage_params *device,
                                     const acre_layout *layout, uint64_t largest_page) {
    const acre_config plain = ACRE_CONFIG_INIT; // whatever the environment says
    acre_error error = ACRE_ERROR_INIT;
    bench_manager *made = bench_alloc(1, sizeof *made);
    acre_manager_options options = ACRE_MANAGER_OPTIONS_INIT;
    options.largest_page = largest_page;
    options.layout = layout;
    options.config = &plain;
    if (acre_storage_simulated_create(device, NULL, &made->storage, &error) != ACRE_OK ||
        acre_manager_create(made->storage, &options, &made->manager, &error) != ACRE_OK) {
        bench_fail_with(&error);
    }
    return made;
}

bench_manager *bench_manager_open(const acre_layout *layout, uint64_t largest_page) {
    return bench_manager_open_on(NULL, layout, largest_page);
}

bench_manager *bench_manager_open_sliced(uint64_t page) {
    acre_pool_options pool = ACRE_SLICED_POOL(page);
    acre_layout layout = ACRE_LAYOUT_INIT(ACRE_LAYOUT_EXPLICIT);
    layout.pools = &pool;
    layout.pool_count = 1;
    return bench_manager_open(&layout, page);
}

void bench_manager_close(void *on) {
    bench_manager *made = on;
    acre_manager_destroy(made->manager);
    acre_storage_destroy(made->storage);
    free(made);
}

acre_handle *bench_reserve(acre_manager *manager, uint64_t size) {
    acre_error error = ACRE_ERROR_INIT;
    acre_handle *handle = NULL;
    if (acre_manager_reserve(manager, size, &handle, &error) != ACRE_OK) {
        bench_fail_with(&error);
    }
    return handle;
}
