// acre-bench: what operations of the manager cost, side by side with others. Its last lines are
// figures, documented in bench/README.md.
#include "bench.h"
#include "measure.h"
#include "start.h"
#include "subject.h"

#include <errno.h>
#include <getopt.h>
#include <stdlib.h>
#include <string.h>

static const char usage[] =
    "usage: acre-bench [--filter NAME] [--json FILE] [--quick] [--trace FILE]...\n"
    "                  [--no-peers]\n"
    "  --filter NAME  only figures whose name holds NAME\n"
    "  --json FILE    write the figures there, too, with machine, compiler, date and commit\n"
    "  --quick        3 repetitions instead of 9, the model up to 10,000 live only\n"
    "  --trace FILE   replay this recording instead of the bundled ones\n"
    "  --no-peers     leave mimalloc and jemalloc alone, as under valgrind\n";

static bool parse(int argc, char **argv, bench_options *options) {
    static const struct option known[] = {{"filter", required_argument, NULL, 'f'},
                                          {"json", required_argument, NULL, 'j'},
                                          {"quick", no_argument, NULL, 'q'},
                                          {"trace", required_argument, NULL, 't'},
                                          {"no-peers", no_argument, NULL, 'n'},
                                          {"help", no_argument, NULL, 'h'},
                                          {NULL, 0, NULL, 0}};
    int option;
    while ((option = getopt_long(argc, argv, "", known, NULL)) != -1) {
        switch (option) {
        case 'f':
            options->filter = optarg;
            break;
        case 'j':
            options->json = fopen(optarg, "w"); // now, not when all is measured
            if (options->json == NULL) {
                bench_fail("%s: %s", optarg, strerror(errno));
            }
            break;
        case 'q':
            options->quick = true;
            options->repetitions = BENCH_REPETITIONS_QUICK;
            break;
        case 't':
            if (options->trace_count == BENCH_MAX_TRACES) {
                bench_fail("at most %d traces", BENCH_MAX_TRACES);
            }
            options->traces[options->trace_count++] = optarg;
            break;
        case 'n':
            options->no_peers = true;
            break;
        case 'h':
            fputs(usage, stdout);
            exit(0);
        default:
            return false;
        }
    }
#ifndef ACRE_BENCH_TRACES
    if (options->trace_count > 0) {
        bench_fail("--trace needs libacre-trace, without which this program was built");
    }
#endif
    if (optind < argc) {
        fprintf(stderr, "acre-bench: what is '%s'?\n", argv[optind]);
    }
    return optind == argc;
}

int main(int argc, char **argv) {
    static bench run = {.options = {.repetitions = BENCH_REPETITIONS}};
    bench_start_remember(argv);
    if (!parse(argc, argv, &run.options)) {
        fputs(usage, stderr);
        return 2;
    }
    bench_subjects_find(&run);
    run.started = bench_now();
    bench_timer(&run);
    bench_churn(&run);
    bench_orders(&run);
    bench_refusals(&run);
    bench_reuse(&run);
    bench_space(&run);
    bench_pages(&run);
    bench_handles(&run);
    bench_threads(&run);
    bench_reports(&run);
    bench_relocation(&run);
#ifdef ACRE_BENCH_TRACES
    bench_replay(&run);
#endif
    if (run.count == 0) {
        bench_fail("no figure was measured");
    }
    bench_table(&run);
    for (size_t i = 0; i < run.count; i++) {
        printf("figure %s %.3f %s\n", run.figures[i].name, run.figures[i].value,
               run.figures[i].unit);
    }
    if (fflush(stdout) != 0) {
        perror("acre-bench: standard output");
        return 1;
    }
    if (run.options.json != NULL && !bench_write_json(&run)) {
        perror("acre-bench: the JSON file");
        return 1;
    }
    free(run.figures);
    return 0;
}
