// Compiled as C11 and as C++17: every initialiser makes a whole struct in both languages. In C++
// they name each field by position, so a field added to a struct alone is a warning here.
#include <acre/acre.h>

void uses(void);

void uses(void) {
    acre_error error = ACRE_ERROR_INIT;
    acre_config config = ACRE_CONFIG_INIT;
    acre_host_hooks hooks = ACRE_HOST_HOOKS_INIT;
    acre_resource resource = ACRE_RESOURCE_INIT;
    acre_storage_ops ops = ACRE_STORAGE_OPS_INIT;
    acre_storage_limits limits = ACRE_STORAGE_LIMITS_INIT;
    acre_storage_stats stats = ACRE_STORAGE_STATS_INIT;
    acre_host_storage_params host = ACRE_HOST_STORAGE_PARAMS_INIT;
    acre_simulated_storage_params simulated = ACRE_SIMULATED_STORAGE_PARAMS_INIT;
    acre_pool_options pools[] = {ACRE_SLICED_POOL(1024), ACRE_EXCLUSIVE_POOL(1024),
                                 ACRE_DIRECT_POOL};
    acre_layout layout = ACRE_LAYOUT_INIT(ACRE_LAYOUT_EXPLICIT);
    acre_manager_options options = ACRE_MANAGER_OPTIONS_INIT;
    acre_reservation reservation = ACRE_RESERVATION_INIT(1024);
    acre_place place = ACRE_PLACE_INIT;
    acre_pool_report pool_report = ACRE_POOL_REPORT_INIT;
    acre_report report = ACRE_REPORT_INIT;

    layout.pools = pools;
    layout.pool_count = sizeof pools / sizeof pools[0];
    options.layout = &layout;
    options.config = &config;
    options.hooks = &hooks;
    (void)error, (void)resource, (void)ops, (void)limits, (void)stats, (void)host;
    (void)simulated, (void)options, (void)reservation, (void)place, (void)pool_report, (void)report;
}
