// Settings that an operator may change without touching code: the persistent-memory rule and the
// log. Layouts are not among them: they are set in code, per workload.
//
// Text form, in the syntax people know from PyTorch: `key:value,key:value`. In a file the same
// keys stand one per line; blank lines and lines that begin with # are skipped.
//
//   persistent_memory  enabled (default) | size-match | disabled | enforced
//   log_level          disabled (default) | basic | full
//   log_target         stderr (default) | stdout | path of a file that lines are appended to
#ifndef ACRE_CONFIG_H
#define ACRE_CONFIG_H

#include <acre/status.h>

// Which reservations the persistent pool serves.
typedef enum acre_persistent_memory {
    ACRE_PERSISTENT_ENABLED = 0,    // those inside a persistent window
    ACRE_PERSISTENT_SIZE_MATCH = 1, // also those in auto mode whose padded size it already has
    ACRE_PERSISTENT_DISABLED = 2,   // none: a persistent window keeps the base mode
    ACRE_PERSISTENT_ENFORCED = 3,   // all but dedicated ones: the base mode is persistent
} acre_persistent_memory;

typedef enum acre_log_level {
    ACRE_LOG_DISABLED = 0,
    ACRE_LOG_BASIC = 1, // pools at creation, mode changes, explicit cleanup, growth, relocation
    ACRE_LOG_FULL = 2,  // also dynamic page allocations and every reservation
} acre_log_level;

typedef struct acre_config {
    size_t struct_size; // set by ACRE_CONFIG_INIT
    acre_persistent_memory persistent_memory;
    acre_log_level log_level;
    char log_target[256]; // empty: stderr
} acre_config;

#if defined(__cplusplus)
#define ACRE_CONFIG_INIT                                                                           \
    (acre_config{sizeof(acre_config), ACRE_PERSISTENT_ENABLED, ACRE_LOG_DISABLED, {0}})
#else
#define ACRE_CONFIG_INIT ((acre_config){.struct_size = sizeof(acre_config)})
#endif

ACRE_BEGIN_DECLS

// Changes the settings that `text` names; the others stay. INVALID_ARGUMENT names the first key
// that is unknown, lacks a value or has a value it cannot have, and leaves `config` as it was;
// `pools` and `layout` are refused with a hint. Any thread.
ACRE_API ACRE_CHECKED acre_status acre_config_parse(acre_config *config, const char *text,
                                                    acre_error *error);

// The same for a file with one key per line; the detail names file and line. IO_ERROR when the
// file cannot be read. `config` is changed only when the whole file is right. Any thread.
ACRE_API ACRE_CHECKED acre_status acre_config_read_file(acre_config *config, const char *path,
                                                        acre_error *error);

// The same for the environment variable ACRE_CONF, when it is set. Any thread, while no other
// changes the environment.
ACRE_API ACRE_CHECKED acre_status acre_config_read_environment(acre_config *config,
                                                               acre_error *error);

ACRE_END_DECLS

#endif
