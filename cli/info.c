#include "cli.h"

#include <acre/base.h>

#include <getopt.h>
#include <stdio.h>

#include "device.h"
#include "layouts.h"
#include "size.h"

#if !defined(ACRE_BUILD)
#define ACRE_BUILD __VERSION__
#endif

static const char help[] =
    "usage: acre info\n"
    "\n"
    "Prints the version, how the program was built, each device of this machine\n"
    "with its limits and the layouts that it supports, as acre replay uses them,\n"
    "and why others are missing.\n"
    "\n"
    "  -h, --help   this text\n";

static void write_layouts(const acre_storage_limits *limits) {
    const char *between = "";
    for (unsigned i = 0; i < layout_choice_count; i++) {
        if (!layout_choices[i].supported(limits))
            continue;
        printf("%s%s", between, layout_choices[i].name);
        between = " ";
    }
    putchar('\n');
}

static outcome write_device(const device_choice *device) {
    device_limits wanted = {0};
    outcome result = device_limits_settle(device, &wanted);
    if (result != OUTCOME_FINE)
        return result;
    acre_storage *storage = NULL;
    acre_error error = ACRE_ERROR_INIT;
    if (device_create(device, &wanted, &storage, &error) != ACRE_OK)
        return complain_error(device->name, &error);
    acre_storage_limits limits = ACRE_STORAGE_LIMITS_INIT;
    acre_storage_limits_get(storage, &limits);
    printf("%-13s %10s %13s %10s  ", device->name, size_format(limits.total_memory).text,
           size_format(limits.largest_allocation).text, size_format(limits.slice_alignment).text);
    write_layouts(&limits);
    acre_storage_destroy(storage);
    return OUTCOME_FINE;
}

// What the devices call themselves.
static void write_name(const device_choice *device) {
    acre_device_info info = ACRE_DEVICE_INFO_INIT;
    if (acre_backend_device(device->kind->backend, device->index, &info, NULL) != ACRE_OK)
        return;
    printf("%-13s %s, %s", device->name, info.name, info.driver);
    if (info.granularity > 0)
        printf(", maps %s at a time", size_format(info.granularity).text);
    putchar('\n');
}

// Each back end with the devices it has here.
typedef struct found_devices {
    uint32_t count; // 0 = it is missing, and the error says why
    acre_error missing;
} found_devices;

static void find_devices(const device_kind *kind, found_devices *found) {
    found->missing = ACRE_ERROR_INIT;
    found->count = 0;
    if (acre_backend_devices(kind->backend, &found->count, &found->missing) != ACRE_OK)
        found->count = 0;
}

static void write_missing(const device_kind *kind, const acre_error *why) {
    printf("%-13s %s\n", acre_backend_name(kind->backend),
           why->detail[0] != '\0' ? why->detail : acre_status_text(why->status));
    if (why->native_text[0] != '\0')
        printf("%-13s (%s)\n", "", why->native_text);
}

static outcome write_info(void) {
    printf("version  %s\n", acre_version());
    printf("build    %s\n\n", ACRE_BUILD);
    printf("%-13s %10s %13s %10s  %s\n", "device", "memory", "largest page", "alignment",
           "layouts");
    outcome result = OUTCOME_FINE;
    found_devices found[ACRE_BACKEND_COUNT];
    for (unsigned i = 0; i < device_kind_count; i++) {
        find_devices(&device_kinds[i], &found[i]);
        for (uint32_t index = 0; index < found[i].count; index++) {
            device_choice device = device_choose(&device_kinds[i], index);
            result = worse(result, write_device(&device));
        }
    }
    putchar('\n');
    for (unsigned i = 0; i < device_kind_count; i++) {
        for (uint32_t index = 0; index < found[i].count; index++) {
            device_choice device = device_choose(&device_kinds[i], index);
            write_name(&device);
        }
        if (found[i].count == 0)
            write_missing(&device_kinds[i], &found[i].missing);
    }
    return result;
}

outcome command_info(int count, char *arguments[]) {
    static const struct option long_options[] = {
        {"help", no_argument, NULL, 'h'},
        {NULL, 0, NULL, 0},
    };
    opterr = 0;
    int option = getopt_long(count, arguments, ":h", long_options, NULL);
    if (option == 'h') {
        fputs(help, stdout);
        return OUTCOME_FINE;
    }
    if (option != -1)
        return complain_option("info", option, arguments);
    if (optind < count) {
        complain("acre info takes no '%s'", arguments[optind]);
        return OUTCOME_USAGE;
    }
    return write_info();
}
