// Allocation modes: windows nest, and the innermost decides.
#include "base/error.h"
#include "manager/manager.h"

const char *acre_mode_name(acre_mode mode) {
    static const char *const names[] = {"auto", "persistent", "dedicated"};
    return (unsigned)mode <= ACRE_MODE_DEDICATED ? names[mode] : "unknown";
}

void acre_manager_apply_mode(acre_manager *manager) {
    manager->mode = manager->window_count > 0
                        ? (acre_mode)manager->windows[manager->window_count - 1]
                        : manager->base_mode;
    manager->plain = manager->mode == ACRE_MODE_AUTO && manager->capturing == NULL &&
                     manager->config.persistent_memory != ACRE_PERSISTENT_SIZE_MATCH;
    acre_manager_update_quiet(manager);
}

// The mode that a window puts in force.
static acre_mode window_mode(const acre_manager *manager, acre_mode mode) {
    acre_persistent_memory setting = manager->config.persistent_memory;
    bool keeps_base = setting == ACRE_PERSISTENT_DISABLED || setting == ACRE_PERSISTENT_ENFORCED;
    return mode == ACRE_MODE_PERSISTENT && keeps_base ? manager->base_mode : mode;
}

acre_status acre_manager_set_mode(acre_manager *manager, acre_mode mode, acre_error *error) {
    acre_error local;
    acre_error *detail = acre_error_open(error, &local);
    acre_manager_take_pending(manager);
    acre_mode before = manager->mode;
    if ((unsigned)mode > ACRE_MODE_DEDICATED) {
        return acre_error_close(
            error, detail,
            acre_error_set(detail, ACRE_INVALID_ARGUMENT, "no such mode: %d", (int)mode));
    }
    if (mode == ACRE_MODE_AUTO) {
        if (manager->window_count > 0) {
            manager->window_count--;
        }
    } else {
        if (!acre_host_grow(acre_manager_host(manager), &manager->windows, 1, manager->window_count,
                            manager->window_count + 1, &manager->window_capacity)) {
            return acre_error_close(
                error, detail,
                acre_error_refuse(detail, ACRE_OUT_OF_HOST_MEMORY, manager->window_count + 1));
        }
        manager->windows[manager->window_count++] = (uint8_t)window_mode(manager, mode);
    }
    acre_manager_apply_mode(manager);
    acre_log_write(&manager->log, ACRE_LOG_BASIC, "mode %s, was %s", acre_mode_name(manager->mode),
                   acre_mode_name(before));
    return ACRE_OK;
}

acre_mode acre_manager_get_mode(const acre_manager *manager) {
    return manager->mode;
}
