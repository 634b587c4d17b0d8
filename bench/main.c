// acre-bench: what operations of the manager cost. Prints one line per figure, documented in
// bench/README.md.
#include "bench.h"

#include <getopt.h>
#include <stdlib.h>
#include <string.h>

static const char usage[] = "usage: acre-bench [--filter NAME] [--json FILE] [--quick]\n"
                            "  --filter NAME  only figures whose name holds NAME\n"
                            "  --json FILE    write the figures there, too\n"
                            "  --quick        3 repetitions instead of 9\n";

bool bench_wants(const bench *run, const char *name) {
    return run->options.filter == NULL || strstr(name, run->options.filter) != NULL;
}

void bench_figure_add(bench *run, const char *name, double value, const char *unit) {
    if (run->count == BENCH_MAX_FIGURES) {
        fprintf(stderr, "acre-bench: no room for figure %s\n", name);
        exit(1);
    }
    bench_figure *figure = &run->figures[run->count++];
    snprintf(figure->name, sizeof figure->name, "%s", name);
    figure->value = value;
    figure->unit = unit;
    fprintf(stderr, "%-28s %10.3f %s\n", name, value, unit);
}

static bool parse(int argc, char **argv, bench_options *options) {
    static const struct option known[] = {{"filter", required_argument, NULL, 'f'},
                                          {"json", required_argument, NULL, 'j'},
                                          {"quick", no_argument, NULL, 'q'},
                                          {"help", no_argument, NULL, 'h'},
                                          {NULL, 0, NULL, 0}};
    int option;
    while ((option = getopt_long(argc, argv, "", known, NULL)) != -1) {
        switch (option) {
        case 'f':
            options->filter = optarg;
            break;
        case 'j':
            options->json = fopen(optarg, "w");
            if (options->json == NULL) {
                perror(optarg);
                exit(1);
            }
            break;
        case 'q':
            options->repetitions = 3;
            break;
        case 'h':
            fputs(usage, stdout);
            exit(0);
        default:
            return false;
        }
    }
    return optind == argc;
}

static bool write_json(const bench *run) {
    FILE *file = run->options.json;
    fprintf(file, "{\"version\": \"%s\", \"repetitions\": %d, \"figures\": [", acre_version(),
            run->options.repetitions);
    for (int i = 0; i < run->count; i++) {
        fprintf(file, "%s\n  {\"name\": \"%s\", \"value\": %.4f, \"unit\": \"%s\"}",
                i == 0 ? "" : ",", run->figures[i].name, run->figures[i].value,
                run->figures[i].unit);
    }
    fprintf(file, "\n]}\n");
    return fclose(file) == 0;
}

int main(int argc, char **argv) {
    static bench run = {.options = {.repetitions = 9}};
    if (!parse(argc, argv, &run.options)) {
        fputs(usage, stderr);
        return 2;
    }
    bench_churn(&run);
    bench_orders(&run);
    bench_refusals(&run);
    for (int i = 0; i < run.count; i++) {
        printf("figure %s %.3f %s\n", run.figures[i].name, run.figures[i].value,
               run.figures[i].unit);
    }
    if (run.options.json != NULL && !write_json(&run)) {
        perror("acre-bench: the JSON file");
        return 1;
    }
    return 0;
}
