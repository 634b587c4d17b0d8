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
    "Prints the version, how the program was built, and each storage with\n"
    "its limits and the layouts that it supports, as acre replay uses them.\n"
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
    if (device->create(&wanted, &storage, &error) != ACRE_OK)
        return complain_error(device->name, &error);
    acre_storage_limits limits = ACRE_STORAGE_LIMITS_INIT;
    acre_storage_limits_get(storage, &limits);
    printf("%-10s %10s %13s %10s  ", device->name, size_format(limits.total_memory).text,
           size_format(limits.largest_allocation).text, size_format(limits.slice_alignment).text);
    write_layouts(&limits);
    acre_storage_destroy(storage);
    return OUTCOME_FINE;
}

static outcome write_info(void) {
    printf("version  %s\n", acre_version());
    printf("build    %s\n\n", ACRE_BUILD);
    printf("%-10s %10s %13s %10s  %s\n", "storage", "memory", "largest page", "alignment",
           "layouts");
    outcome result = OUTCOME_FINE;
    for (unsigned i = 0; i < device_choice_count; i++)
        result = worse(result, write_device(&device_choices[i]));
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
