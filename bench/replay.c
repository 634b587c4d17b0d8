// Recorded allocation streams of real programs on each layout: nanoseconds of an event once the
// manager has seen the stream before.
#include "managers.h"
#include "race.h"
#include "stream.h"

#include <acre/trace.h>
#include <ctype.h>
#include <glob.h>
#include <stdlib.h>
#include <string.h>

#define PASSES 3

static const struct {
    const char *who;
    acre_layout_kind kind;
} layouts[] = {{"sub-slices", ACRE_LAYOUT_SUB_SLICES},
               {"adaptive", ACRE_LAYOUT_ADAPTIVE},
               {"exclusive", ACRE_LAYOUT_EXCLUSIVE_PAGES},
               {"direct", ACRE_LAYOUT_EXPLICIT}};

acre_simulated_storage_params bench_replay_device(void) {
    acre_simulated_storage_params device = ACRE_SIMULATED_STORAGE_PARAMS_INIT;
    device.total_memory = UINT64_C(80) << 30;
    return device;
}

#define LAYOUTS (sizeof layouts / sizeof *layouts)

// "data/Some-job.csv.gz" -> "some-job"
static void name_trace(const char *path, char *name, size_t size) {
    const char *base = strrchr(path, '/');
    base = base != NULL ? base + 1 : path;
    size_t length = 0;
    while (base[length] != '\0' && base[length] != '.' && length + 1 < size) {
        int letter = tolower((unsigned char)base[length]);
        name[length] = (char)(isalnum(letter) || letter == '-' ? letter : '_');
        length++;
    }
    name[length] = '\0';
}

static acre_trace_program *load(const char *path) {
    acre_error error = ACRE_ERROR_INIT;
    acre_trace_reader *reader = NULL;
    acre_trace_program *program = NULL;
    if (acre_trace_reader_open(path, NULL, &reader, &error) != ACRE_OK ||
        acre_trace_program_load(reader, NULL, &program, &error) != ACRE_OK) {
        bench_fail_with(&error);
    }
    acre_trace_reader_close(reader);
    return program;
}

// => nanoseconds of an event of the last pass.
static double replay(const acre_trace_program *program, const acre_layout *layout) {
    const acre_config plain = ACRE_CONFIG_INIT; // whatever the environment says
    acre_error error = ACRE_ERROR_INIT;
    acre_manager_options manager = ACRE_MANAGER_OPTIONS_INIT;
    manager.layout = layout;
    manager.config = &plain;
    acre_replay_options options = ACRE_REPLAY_OPTIONS_INIT;
    options.passes = PASSES;
    acre_replay_result result = ACRE_REPLAY_RESULT_INIT;
    acre_simulated_storage_params device = bench_replay_device();
    acre_storage *storage = NULL;
    if (acre_storage_simulated_create(&device, NULL, &storage, &error) != ACRE_OK ||
        acre_replay_run(program, storage, &manager, &options, &result, &error) != ACRE_OK) {
        bench_fail_with(&error);
    }
    acre_storage_destroy(storage);
    return result.ns_per_event_warm;
}

static void measure(bench *run, const char *path) {
    char trace[48];
    char names[LAYOUTS][BENCH_NAME];
    bool wanted = false;
    name_trace(path, trace, sizeof trace);
    for (size_t i = 0; i < LAYOUTS; i++) {
        bench_name(names[i], "replay", trace, layouts[i].who, "ns");
        wanted = wanted || bench_wants(run, names[i]);
    }
    if (!wanted) {
        return;
    }
    bench_progress(run, "replay", trace);
    acre_trace_program *program = load(path);
    bench_stream *stream = bench_stream_load(path);
    bench_series series[LAYOUTS] = {0};
    bench_tails tails[LAYOUTS] = {0};
    for (int i = 0; i < run->options.repetitions; i++) {
        for (size_t j = 0; j < LAYOUTS; j++) {
            acre_pool_options direct = ACRE_DIRECT_POOL;
            acre_layout layout = ACRE_LAYOUT_INIT(layouts[j].kind);
            if (layout.kind == ACRE_LAYOUT_EXPLICIT) {
                layout.pools = &direct;
                layout.pool_count = 1;
            }
            bench_series_add(&series[j], replay(program, &layout));
            bench_stream_time(stream, &layout, &tails[j]);
        }
    }
    for (size_t i = 0; i < LAYOUTS; i++) {
        bench_figure_add(run, names[i], &series[i], "ns");
        bench_tails_figures(run, names[i], &tails[i]);
    }
    bench_stream_free(stream);
    acre_trace_program_destroy(program);
}

void bench_replay(bench *run) {
    for (int i = 0; i < run->options.trace_count; i++) {
        measure(run, run->options.traces[i]);
    }
    if (run->options.trace_count > 0) {
        return;
    }
    glob_t found;
    if (glob(ACRE_BENCH_TRACES "/*.csv.gz", 0, NULL, &found) != 0) {
        fprintf(stderr, "acre-bench: no traces in %s\n", ACRE_BENCH_TRACES);
        return;
    }
    for (size_t i = 0; i < found.gl_pathc; i++) {
        measure(run, found.gl_pathv[i]);
    }
    globfree(&found);
}
