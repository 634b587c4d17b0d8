// The loop between the two readings of the clock does nothing but ask the manager, look at a flag,
// and count refusals. What is wanted at the moment of the peak is read only after an operation in
// which the manager got a page, which the manager's event tells.
#define _POSIX_C_SOURCE 200809L

#include <acre/report.h>
#include <acre/trace.h>

#include <string.h>
#include <time.h>

#include "detail.h"
#include "replay.h"

enum {
    DEFAULT_PASSES = 3,
    CHUNK = 1 << 16,      // events between two calls of the progress function
    VERIFIED_CHUNK = 256, // the same when each event touches all its bytes
};

static uint64_t now(void) {
    struct timespec time;
    (void)clock_gettime(CLOCK_MONOTONIC, &time);
    return (uint64_t)time.tv_sec * 1000000000 + (uint64_t)time.tv_nsec;
}

static void hear(void *context, const acre_event *event) {
    acre_replay *run = context;
    if (event->kind == ACRE_EVENT_PAGE_RETURN)
        run->page_bytes -= event->size;
    if (event->kind == ACRE_EVENT_PAGE_ADD) {
        run->page_added = true;
        run->page_bytes += event->size;
        if (run->dry && run->page_bytes > run->planned_peak)
            run->planned_peak = run->page_bytes;
    }
    if (run->listener && (run->listener_mask & (uint32_t)event->kind))
        run->listener(run->listener_context, event);
}

void acre_replay_look_at_peak(acre_replay *run) {
    run->page_added = false;
    acre_storage_stats stats = ACRE_STORAGE_STATS_INIT;
    acre_storage_stats_get(run->storage, &stats);
    uint64_t peak = run->dry ? run->planned_peak : stats.bytes_peak;
    if (peak <= run->peak_noted)
        return;
    acre_report report = ACRE_REPORT_INIT;
    acre_manager_report(run->manager, &report);
    run->peak_noted = peak;
    run->result.padding_bytes_at_peak = report.usage.padding;
    run->result.pages_peak = report.pages;
}

void acre_replay_note_refusal(acre_replay *run, const acre_trace_op *op, acre_status status,
                              const acre_error *error) {
    acre_replay_result *result = &run->result;
    if (result->failed++ > 0)
        return;
    result->first_failed_status = status;
    result->first_failed_line = op->line;
    result->first_failed_size = op->size;
    (void)acre_error_format(error, result->first_failed_text, sizeof(result->first_failed_text));
}

static void play(acre_replay *run, const acre_trace_op *op, const acre_trace_op *end) {
    acre_manager *manager = run->manager;
    acre_handle **handles = run->handles;
    acre_error error = ACRE_ERROR_INIT;
    for (; op < end; op++) {
        if (op->slot & ACRE_TRACE_OP_FREE) {
            acre_handle **handle = &handles[op->slot & ~ACRE_TRACE_OP_FREE];
            acre_manager_release(manager, *handle);
            *handle = NULL;
        } else {
            acre_status status =
                acre_manager_reserve(manager, op->size, &handles[op->slot], &error);
            if (status != ACRE_OK) {
                handles[op->slot] = NULL;
                acre_replay_note_refusal(run, op, status, &error);
            }
        }
        if (run->page_added)
            acre_replay_look_at_peak(run);
    }
}

// ---- passes --------------------------------------------------------------------------------

// A dry pass has no bytes: those that a plan measures are not verified.
static bool verifying(const acre_replay *run) {
    return run->options.verify && !run->dry;
}

static acre_status play_pass(acre_replay *run, acre_error *error) {
    const acre_trace_program *program = run->program;
    uint64_t events = program->facts.events;
    uint64_t before = run->passes_before + run->result.passes;
    uint64_t total = (run->options.plan ? 2 : 1) * (uint64_t)run->options.passes;
    bool verify = verifying(run);
    uint64_t chunk = verify ? VERIFIED_CHUNK : CHUNK;
    if (!run->options.progress)
        chunk = events;
    for (uint64_t done = 0; done < events && run->result.damage == ACRE_REPLAY_INTACT;) {
        uint64_t count = events - done < chunk ? events - done : chunk;
        const acre_trace_op *op = program->ops + done;
        if (verify) {
            acre_status status = acre_replay_play_verified(run, op, op + count, error);
            if (status != ACRE_OK)
                return status;
        } else {
            play(run, op, op + count);
        }
        done += count;
        if (run->options.progress)
            run->options.progress(run->options.progress_context, before * events + done,
                                  total * events);
    }
    return ACRE_OK;
}

static void release_all(acre_replay *run) {
    for (uint32_t slot = 0; slot < run->program->slots; slot++) {
        acre_manager_release(run->manager, run->handles[slot]);
        run->handles[slot] = NULL;
    }
}

// What still lives at the end of a pass.
static acre_status end_pass(acre_replay *run, acre_error *error) {
    acre_status status = ACRE_OK;
    for (uint32_t slot = 0; verifying(run) && slot < run->program->slots; slot++) {
        if (status == ACRE_OK && run->result.damage == ACRE_REPLAY_INTACT)
            status = acre_replay_free_checked(run, slot, error);
    }
    release_all(run);
    return status;
}

// What relocations did since `before`, which becomes what they did so far.
static void note_relocations(acre_replay *run, acre_report *before) {
    acre_report after = ACRE_REPORT_INIT;
    acre_manager_report(run->manager, &after);
    if (run->result.passes < run->options.pass_capacity && run->options.pass_results) {
        run->options.pass_results[run->result.passes] = (acre_replay_pass){
            .moves = after.moves - before->moves,
            .moved_bytes = after.moved_bytes - before->moved_bytes,
            .pages_given_back = after.pages_given_back - before->pages_given_back};
    }
    *before = after;
}

acre_status acre_replay_run_passes(acre_replay *run, acre_error *error) {
    acre_report relocated = ACRE_REPORT_INIT;
    acre_manager_report(run->manager, &relocated);
    uint64_t events = run->program->facts.events;
    while (run->result.passes < run->options.passes) {
        uint64_t begin = now();
        acre_status status = play_pass(run, error);
        uint64_t end = now();
        if (status == ACRE_OK)
            status = end_pass(run, error);
        if (status != ACRE_OK || run->result.damage != ACRE_REPLAY_INTACT) {
            release_all(run);
            return status;
        }
        double each = events > 0 ? (double)(end - begin) / (double)events : 0.0;
        if (run->result.passes == 0)
            run->result.ns_per_event_first = each;
        run->result.ns_per_event_warm = each;
        note_relocations(run, &relocated);
        run->result.passes++;
    }
    return ACRE_OK;
}

// ---- setting up ----------------------------------------------------------------------------

static acre_status create_manager(acre_replay *run, const acre_manager_options *given,
                                  acre_error *error) {
    acre_manager_options options = ACRE_MANAGER_OPTIONS_INIT;
    if (given) {
        acre_status status =
            acre_trace_struct_read(&options, sizeof(options), given, "manager options", error);
        if (status != ACRE_OK)
            return status;
    }
    run->listener = options.event;
    run->listener_context = options.event_context;
    run->listener_mask = options.event_mask ? options.event_mask : UINT32_MAX;
    options.event = hear;
    options.event_context = run;
    options.event_mask =
        ACRE_EVENT_PAGE_ADD | ACRE_EVENT_PAGE_RETURN | (run->listener ? run->listener_mask : 0);
    return acre_manager_create(run->storage, &options, &run->manager, error);
}

static acre_status play_all(acre_replay *run, acre_error *error) {
    acre_storage_stats before = ACRE_STORAGE_STATS_INIT;
    acre_storage_stats after = ACRE_STORAGE_STATS_INIT;
    acre_storage_stats_get(run->storage, &before);
    acre_status status = run->options.plan      ? acre_replay_run_plan(run, error)
                         : run->options.dry_run ? acre_replay_run_dry(run, error)
                                                : acre_replay_run_passes(run, error);
    acre_storage_stats_get(run->storage, &after);
    run->result.device_allocs = after.allocs - before.allocs;
    run->result.device_refused = after.refused - before.refused;
    run->result.device_frees = after.deallocs - before.deallocs;
    run->result.peak_reserved_bytes = after.bytes_peak;
    run->result.planned_peak_bytes = run->planned_peak;
    return status;
}

static acre_status allocate_tables(acre_replay *run, acre_error *error) {
    size_t slots = run->program->slots;
    run->handles = acre_trace_alloc(&run->hooks, slots * sizeof(*run->handles) + 1);
    if (run->handles && run->options.verify)
        run->owners = acre_trace_alloc(&run->hooks, slots * sizeof(*run->owners) + 1);
    if (!run->handles || (run->options.verify && !run->owners))
        return acre_trace_fail_no_memory(error, slots * sizeof(*run->handles));
    memset(run->handles, 0, slots * sizeof(*run->handles));
    return ACRE_OK;
}

static void free_tables(acre_replay *run) {
    size_t slots = run->program->slots;
    acre_trace_free(&run->hooks, run->handles, slots * sizeof(*run->handles) + 1);
    acre_trace_free(&run->hooks, run->owners, slots * sizeof(*run->owners) + 1);
    acre_replay_end_verified(run);
}

static acre_status check_options(const acre_replay_options *options, acre_error *error) {
    if (options->dry_run && options->verify)
        return acre_trace_fail(error, ACRE_INVALID_ARGUMENT,
                               "a dry run has no bytes that could be verified");
    if (options->dry_run && options->plan)
        return acre_trace_fail(error, ACRE_INVALID_ARGUMENT,
                               "a plan ends in a real replay, which a dry run is not");
    return ACRE_OK;
}

acre_status acre_replay_run(const acre_trace_program *program, acre_storage *storage,
                            const acre_manager_options *manager, const acre_replay_options *options,
                            acre_replay_result *result, acre_error *error) {
    acre_replay run = {.program = program,
                       .storage = storage,
                       .options = ACRE_REPLAY_OPTIONS_INIT,
                       .result = ACRE_REPLAY_RESULT_INIT};
    acre_status status = ACRE_OK;
    if (options)
        status = acre_trace_struct_read(&run.options, sizeof(run.options), options,
                                        "replay options", error);
    if (status == ACRE_OK)
        status = acre_trace_hooks_take(run.options.hooks, &run.hooks, error);
    if (status == ACRE_OK)
        status = check_options(&run.options, error);
    if (status != ACRE_OK)
        return status;
    if (run.options.passes == 0)
        run.options.passes = DEFAULT_PASSES;
    run.result.events = program->facts.events;
    run.result.peak_live_bytes = program->facts.peak_live_bytes;

    status = allocate_tables(&run, error);
    if (status == ACRE_OK)
        status = create_manager(&run, manager, error);
    if (status == ACRE_OK) {
        status = play_all(&run, error);
        acre_manager_destroy(run.manager);
    }
    free_tables(&run);
    if (status == ACRE_OK)
        acre_trace_struct_write(result, &run.result, sizeof(run.result));
    return status;
}
