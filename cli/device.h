// The devices that a trace can be replayed on.
#ifndef ACRE_CLI_DEVICE_H
#define ACRE_CLI_DEVICE_H

#include <acre/devices.h>
#include <acre/storage.h>

#include "cli.h"

// What is asked of a device; 0 = its default.
typedef struct device_limits {
    uint64_t memory;   // bytes
    uint64_t max_page; // bytes; default: memory / 4, or the device's largest if that is smaller
    uint64_t alignment;
} device_limits;

// A back end.
typedef struct device_kind {
    acre_backend backend;
    const char *what; // for the help
    acre_status (*create)(uint32_t index, const device_limits *limits, acre_storage **storage,
                          acre_error *error);
    bool one; // it has one device, which is named without a number
} device_kind;

extern const device_kind device_kinds[];
extern const unsigned device_kind_count;

// One device: a back end and its number there.
typedef struct device_choice {
    const device_kind *kind;
    uint32_t index;
    char name[24]; // "simulated", "cuda:0"
} device_choice;

device_choice device_choose(const device_kind *kind, uint32_t index);

// Reads a name: `cuda` is `cuda:0`. => False, after complaining. Whether there is such a device
// shows when it is used.
bool device_parse(const char *text, device_choice *device);

// Replaces zeros by the defaults and checks that the sizes go together.
// => Other than OUTCOME_FINE after complaining.
outcome device_limits_settle(const device_choice *device, device_limits *limits);

acre_status device_create(const device_choice *device, const device_limits *limits,
                          acre_storage **storage, acre_error *error);

#endif
