// `acre replay`: a fresh storage and manager for each trace on each layout. A trace that is wrong
// is told and passed over; the next ones still run.
#include "replay.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "progress.h"

static const char *base_name(const char *path) {
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

double replay_ratio(const acre_replay_result *result, uint64_t peak) {
    return result->peak_live_bytes > 0 ? (double)peak / (double)result->peak_live_bytes : 0.0;
}

unsigned replay_plan_pools(const replay_row *row) {
    uint32_t count = row->result.plan_pools;
    return count < PLAN_POOLS_MOST ? count : PLAN_POOLS_MOST;
}

// ---- one trace on one layout ---------------------------------------------------------------

static outcome complain_row(const replay_row *row) {
    const acre_replay_result *result = &row->result;
    if (result->failed > 0)
        complain("%s on %s: %" PRIu64 " requests failed, the first on line %" PRIu64 " for %" PRIu64
                 " bytes: %s",
                 row->trace, row->layout, result->failed, result->first_failed_line,
                 result->first_failed_size, result->first_failed_text);
    if (result->damage != ACRE_REPLAY_INTACT) {
        char by[96] = "by no request that can be told";
        if (result->overwriter_line > 0)
            (void)snprintf(by, sizeof(by), "by the request of line %" PRIu64 " (%" PRIu64 " bytes)",
                           result->overwriter_line, result->overwriter_size);
        complain("%s on %s: overlap: the request of line %" PRIu64 " (%" PRIu64
                 " bytes) was overwritten from its byte %" PRIu64 " on %s, in pass %" PRIu32
                 "; verification ended there",
                 row->trace, row->layout, result->damaged_line, result->damaged_size,
                 result->damage_offset, by, result->damage_pass);
    }
    if (result->plan_unequal > 0)
        complain("%s on %s: the plan does not hold: %" PRIu32 " of %" PRIu32
                 " pools replayed another peak than they measured",
                 row->trace, row->layout, result->plan_unequal, result->plan_pools);
    bool fine =
        result->failed == 0 && result->damage == ACRE_REPLAY_INTACT && result->plan_unequal == 0;
    return fine ? OUTCOME_FINE : OUTCOME_FAILED;
}

static outcome not_run(replay_row *row, const acre_error *error) {
    char about[160];
    (void)snprintf(about, sizeof(about), "%.120s on %s could not be run", row->trace, row->layout);
    row->state = ROW_NOT_RUN;
    return complain_error(about, error);
}

static acre_status run_on(acre_storage *storage, const layout_choice *choice,
                          const replay_request *request, const acre_trace_program *program,
                          replay_row *row, acre_error *error) {
    acre_layout layout = ACRE_LAYOUT_INIT(ACRE_LAYOUT_DEFAULT);
    acre_pool_options pools[LAYOUT_POOLS_MOST];
    choice->make(&layout, pools);
    acre_manager_options manager = ACRE_MANAGER_OPTIONS_INIT;
    manager.name = choice->name;
    manager.largest_page = request->limits.max_page;
    manager.alignment = request->limits.alignment;
    manager.total_memory = request->limits.memory;
    manager.layout = &layout;
    if (request->relocate)
        manager.relocation = ACRE_RELOCATION_COMPACT;
    acre_replay_options options = ACRE_REPLAY_OPTIONS_INIT;
    options.passes = request->passes;
    options.verify = request->verify;
    options.pass_results = row->relocations;
    options.pass_capacity = row->relocations ? request->passes : 0;
    options.dry_run = request->dry_run;
    options.plan = request->plan;
    options.plan_results = row->pools;
    options.plan_capacity = PLAN_POOLS_MOST;
    progress bar;
    bool with_bar = !request->json && progress_wanted();
    if (with_bar) {
        progress_begin(&bar, row->trace, choice->name);
        options.progress = progress_show;
        options.progress_context = &bar;
    }
    acre_status status = acre_replay_run(program, storage, &manager, &options, &row->result, error);
    if (with_bar)
        progress_end(&bar);
    return status;
}

// => `*taken` is false when the layout is passed over.
static outcome run_layout(const layout_choice *choice, const replay_request *request,
                          const acre_trace_program *program, replay_row *row, bool *taken) {
    acre_error error = ACRE_ERROR_INIT;
    acre_storage *storage = NULL;
    *taken = true;
    row->layout = choice->name;
    if (device_create(&request->device, &request->limits, &storage, &error) != ACRE_OK)
        return not_run(row, &error);
    acre_storage_limits limits = ACRE_STORAGE_LIMITS_INIT;
    acre_storage_limits_get(storage, &limits);
    if (request->layouts.all && !choice->supported(&limits)) {
        *taken = false;
        acre_storage_destroy(storage);
        return OUTCOME_FINE;
    }
    acre_status status = run_on(storage, choice, request, program, row, &error);
    acre_storage_destroy(storage);
    if (status != ACRE_OK)
        return not_run(row, &error);
    if (row->result.damage != ACRE_REPLAY_INTACT)
        row->state = ROW_DAMAGED;
    return complain_row(row);
}

// ---- one trace -----------------------------------------------------------------------------

static outcome run_layouts(const replay_request *request, const char *path,
                           const acre_trace_program *program) {
    replay_row rows[LAYOUTS_MOST];
    unsigned count = 0;
    outcome result = OUTCOME_FINE;
    acre_replay_pass *relocations = NULL; // there is one layout then
    if (request->relocate && !(relocations = calloc(request->passes, sizeof(*relocations)))) {
        complain("no memory for the results of %" PRIu32 " passes", request->passes);
        return OUTCOME_FAILED;
    }
    for (unsigned i = 0; i < request->layouts.count; i++) {
        replay_row *row = &rows[count];
        *row = (replay_row){.trace = base_name(path),
                            .device = request->device.name,
                            .result = ACRE_REPLAY_RESULT_INIT,
                            .relocations = relocations};
        bool taken;
        result =
            worse(result, run_layout(request->layouts.chosen[i], request, program, row, &taken));
        if (!taken)
            continue;
        count++;
        if (request->json && row->state == ROW_DONE) {
            json_write_row(row, request);
            fflush(stdout); // the next one may take minutes
        }
    }
    if (!request->json) {
        acre_trace_facts facts = ACRE_TRACE_FACTS_INIT;
        acre_trace_program_facts(program, &facts);
        table_write(rows, count, request, &facts);
    }
    fflush(stdout);
    free(relocations);
    return result;
}

static void tell_skipped(const acre_trace_reader *reader, const char *path) {
    acre_error first = ACRE_ERROR_INIT;
    uint64_t skipped = acre_trace_reader_skipped(reader, &first);
    if (skipped > 0)
        complain("%s: %" PRIu64 " bad %s skipped, the first is %s", base_name(path), skipped,
                 skipped == 1 ? "line" : "lines", first.detail);
}

static outcome load(const replay_request *request, const char *path, acre_trace_program **program) {
    acre_error error = ACRE_ERROR_INIT;
    acre_trace_reader_options options = ACRE_TRACE_READER_OPTIONS_INIT;
    options.lenient = request->lenient;
    acre_trace_reader *reader = NULL;
    acre_status status = acre_trace_reader_open(path, &options, &reader, &error);
    if (status == ACRE_OK)
        status = acre_trace_program_load(reader, NULL, program, &error);
    if (status == ACRE_OK)
        tell_skipped(reader, path);
    acre_trace_reader_close(reader);
    if (status != ACRE_OK) {
        bool says_where = error.status == ACRE_MALFORMED_INPUT || error.status == ACRE_IO_ERROR;
        return complain_error(says_where ? "" : path, &error);
    }
    return OUTCOME_FINE;
}

static outcome run_trace(const replay_request *request, const char *path) {
    acre_trace_program *program = NULL;
    outcome result = load(request, path, &program);
    if (result != OUTCOME_FINE)
        return result;
    acre_trace_facts facts = ACRE_TRACE_FACTS_INIT;
    acre_trace_program_facts(program, &facts);
    if (facts.events > 0) {
        result = run_layouts(request, path, program);
    } else {
        complain("%s:1: header: no event to replay follows it", path);
        result = OUTCOME_USAGE;
    }
    acre_trace_program_destroy(program);
    return result;
}

outcome command_replay(int count, char *arguments[]) {
    replay_request request;
    outcome result = replay_request_read(&request, count, arguments);
    if (result != OUTCOME_FINE || request.help)
        return result;
    for (int i = 0; i < request.trace_count; i++)
        result = worse(result, run_trace(&request, request.traces[i]));
    return result;
}
