// The devices that a trace can be replayed on.
#ifndef ACRE_CLI_DEVICE_H
#define ACRE_CLI_DEVICE_H

#include <acre/storage.h>

#include "cli.h"

// What is asked of a device; 0 = its default.
typedef struct device_limits {
    uint64_t memory;   // bytes
    uint64_t max_page; // bytes; default: memory / 4
    uint64_t alignment;
} device_limits;

typedef struct device_choice {
    const char *name;
    const char *what;                 // for the help
    uint64_t (*default_memory)(void); // bytes; 0 = not to be found out
    acre_status (*create)(const device_limits *limits, acre_storage **storage, acre_error *error);
} device_choice;

extern const device_choice device_choices[];
extern const unsigned device_choice_count;

// => NULL, after complaining.
const device_choice *device_find(const char *name);

// Replaces zeros by the defaults and checks that the sizes go together.
// => Other than OUTCOME_FINE after complaining.
outcome device_limits_settle(const device_choice *device, device_limits *limits);

#endif
