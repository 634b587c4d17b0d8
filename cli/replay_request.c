#include "replay.h"

#include <getopt.h>
#include <stdio.h>
#include <string.h>

#include "size.h"

enum {
    DEFAULT_PASSES = 3,
    PASSES_MOST = 1000000,
};

static void print_help(void) {
    fputs("usage: acre replay TRACE... [<option>...]\n"
          "\n"
          "Replays allocation streams in RMM's log format, plain or gzip, and shows for each\n"
          "layout what is reserved from the device against what lives.\n"
          "\n"
          "  --layout NAME,...      layouts, or all that the device supports (default: all)\n",
          stdout);
    for (unsigned i = 0; i < layout_choice_count; i++)
        printf("                           %-10s %s\n", layout_choices[i].name,
               layout_choices[i].what);
    fputs("  --device NAME          the device (default: simulated)\n", stdout);
    for (unsigned i = 0; i < device_kind_count; i++)
        printf("                           %-12s %s\n", acre_backend_name(device_kinds[i].backend),
               device_kinds[i].what);
    fputs("  --device-memory SIZE   memory of the device, such as 80GiB\n"
          "  --max-page SIZE        largest page (default: device memory / 4)\n"
          "  --alignment SIZE       what sizes are rounded up to, any number of bytes from 1\n"
          "                         (default: 256)\n"
          "  --passes N             how often to replay with the manager kept (default: 3);\n"
          "                         first and warm are the first and the last pass\n"
          "  --verify               fill every allocation with a pattern\n"
          "                         and check it when it is freed\n"
          "  --relocate             with --layout adaptive: move what lives so that pages go back\n"
          "                         before another is added, and show what was moved\n"
          "  --dry-run              take no device memory: peak reserved is what the pages would\n"
          "                         take on a device that never refuses\n"
          "  --plan                 run the passes dry, cap each pool at the peak it reached, run\n"
          "                         them for real, and compare the peaks\n"
          "  --lenient              pass over lines that are wrong, and count them\n"
          "  --json                 one object per line instead of tables\n"
          "  -h, --help             this text\n"
          "\n"
          "Exit status: 0 fine, 1 a request, a verification or a plan failed, 2 wrong use or a\n"
          "file that is no trace.\n",
          stdout);
}

enum {
    OPTION_LAYOUT = 256,
    OPTION_DEVICE,
    OPTION_DEVICE_MEMORY,
    OPTION_MAX_PAGE,
    OPTION_ALIGNMENT,
    OPTION_PASSES,
    OPTION_VERIFY,
    OPTION_RELOCATE,
    OPTION_DRY_RUN,
    OPTION_PLAN,
    OPTION_LENIENT,
    OPTION_JSON,
};

static const struct option long_options[] = {
    {"layout", required_argument, NULL, OPTION_LAYOUT},
    {"device", required_argument, NULL, OPTION_DEVICE},
    {"device-memory", required_argument, NULL, OPTION_DEVICE_MEMORY},
    {"max-page", required_argument, NULL, OPTION_MAX_PAGE},
    {"alignment", required_argument, NULL, OPTION_ALIGNMENT},
    {"passes", required_argument, NULL, OPTION_PASSES},
    {"verify", no_argument, NULL, OPTION_VERIFY},
    {"relocate", no_argument, NULL, OPTION_RELOCATE},
    {"dry-run", no_argument, NULL, OPTION_DRY_RUN},
    {"plan", no_argument, NULL, OPTION_PLAN},
    {"lenient", no_argument, NULL, OPTION_LENIENT},
    {"json", no_argument, NULL, OPTION_JSON},
    {"help", no_argument, NULL, 'h'},
    {NULL, 0, NULL, 0},
};

// A size of at least 1 byte.
static outcome read_size(const char *option, const char *text, uint64_t *size) {
    const char *why;
    if (!size_parse(text, size, &why)) {
        complain("--%s: '%s' %s", option, text, why);
        return OUTCOME_USAGE;
    }
    if (*size == 0) {
        complain("--%s: 0 is too small, it is 1 at least", option);
        return OUTCOME_USAGE;
    }
    return OUTCOME_FINE;
}

static outcome read_passes(const char *text, uint32_t *passes) {
    uint32_t number = 0;
    const char *at = text;
    for (; *at >= '0' && *at <= '9' && number <= PASSES_MOST; at++)
        number = number * 10 + (uint32_t)(*at - '0');
    if (*at != '\0' || at == text || number < 1 || number > PASSES_MOST) {
        complain("--passes: '%s' is not a number from 1 to %d", text, PASSES_MOST);
        return OUTCOME_USAGE;
    }
    *passes = number;
    return OUTCOME_FINE;
}

static outcome read_option(replay_request *request, int option, const char *value) {
    switch (option) {
    case OPTION_LAYOUT:
        return layout_list_parse(value, &request->layouts) ? OUTCOME_FINE : OUTCOME_USAGE;
    case OPTION_DEVICE:
        return device_parse(value, &request->device) ? OUTCOME_FINE : OUTCOME_USAGE;
    case OPTION_DEVICE_MEMORY:
        return read_size("device-memory", value, &request->limits.memory);
    case OPTION_MAX_PAGE:
        return read_size("max-page", value, &request->limits.max_page);
    case OPTION_ALIGNMENT:
        return read_size("alignment", value, &request->limits.alignment);
    case OPTION_PASSES:
        return read_passes(value, &request->passes);
    case OPTION_VERIFY:
        request->verify = true;
        return OUTCOME_FINE;
    case OPTION_RELOCATE:
        request->relocate = true;
        return OUTCOME_FINE;
    case OPTION_DRY_RUN:
        request->dry_run = true;
        return OUTCOME_FINE;
    case OPTION_PLAN:
        request->plan = true;
        return OUTCOME_FINE;
    case OPTION_LENIENT:
        request->lenient = true;
        return OUTCOME_FINE;
    case OPTION_JSON:
        request->json = true;
        return OUTCOME_FINE;
    default:
        print_help();
        request->help = true;
        return OUTCOME_FINE;
    }
}

// What dry runs and plans go with. Last of all, since it may tell what is passed over.
static outcome settle_measuring(replay_request *request) {
    if (request->dry_run && request->verify) {
        complain("--dry-run does not go with --verify: a dry run has no bytes to look at");
        return OUTCOME_USAGE;
    }
    if (request->relocate && (request->dry_run || request->plan)) {
        complain("--%s does not go with --relocate: pages without memory hold no bytes to move, so "
                 "dry passes relocate otherwise than real ones",
                 request->dry_run ? "dry-run" : "plan");
        return OUTCOME_USAGE;
    }
    if (request->dry_run && request->plan) {
        complain("--dry-run does not go with --plan, which replays for real what it measured dry");
        return OUTCOME_USAGE;
    }
    outcome result = device_limits_settle(&request->device, &request->limits);
    if (result == OUTCOME_FINE && request->plan && !layout_list_keep_capped(&request->layouts))
        result = OUTCOME_USAGE;
    return result;
}

// What the options mean together.
static outcome settle(replay_request *request) {
    if (request->trace_count == 0) {
        complain("no trace to replay; acre replay --help tells more");
        return OUTCOME_USAGE;
    }
    if (request->verify && request->device.kind->backend == ACRE_BACKEND_SIMULATED) {
        complain("--verify needs a device with bytes, such as --device host: a simulated one has "
                 "none to look at");
        return OUTCOME_USAGE;
    }
    if (request->relocate && (request->layouts.count != 1 ||
                              strcmp(request->layouts.chosen[0]->name, "adaptive") != 0)) {
        complain("--relocate needs --layout adaptive: no other layout moves what lives");
        return OUTCOME_USAGE;
    }
    return settle_measuring(request);
}

outcome replay_request_read(replay_request *request, int count, char *arguments[]) {
    *request =
        (replay_request){.device = device_choose(&device_kinds[0], 0), .passes = DEFAULT_PASSES};
    (void)layout_list_parse("all", &request->layouts);
    opterr = 0;
    int option;
    while ((option = getopt_long(count, arguments, ":h", long_options, NULL)) != -1) {
        outcome result = option == '?' || option == ':'
                             ? complain_option("replay", option, arguments)
                             : read_option(request, option, optarg);
        if (result != OUTCOME_FINE || request->help)
            return result;
    }
    request->traces = arguments + optind;
    request->trace_count = count - optind;
    return settle(request);
}
