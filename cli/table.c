// Fits 80 columns for every number that a real device can bring about.
#include "replay.h"

#include <inttypes.h>
#include <stdio.h>

#include "size.h"

// The device is asked for nothing in a dry run; what it holds all the same is shown, not assumed.
static void write_dry_run(const replay_row *rows, unsigned count) {
    uint64_t held = 0;
    for (unsigned i = 0; i < count; i++) {
        uint64_t peak = rows[i].result.peak_reserved_bytes;
        held = peak > held ? peak : held;
    }
    printf("dry run, %" PRIu64 " bytes held from the device: peak reserved is what is planned\n",
           held);
}

static void write_caption(const replay_row *rows, unsigned count, const replay_request *request,
                          const acre_trace_facts *facts) {
    const replay_row *row = &rows[0];
    printf("%s: %" PRIu64 " events, %" PRIu32 " %s on a %s device of %s\n", row->trace,
           facts->events, request->passes, request->passes == 1 ? "pass" : "passes", row->device,
           size_format(request->limits.memory).text);
    if (request->dry_run)
        write_dry_run(rows, count);
    if (facts->failures > 0)
        printf("%" PRIu64 " recorded %s not replayed\n", facts->failures,
               facts->failures == 1 ? "failure is" : "failures are");
    if (facts->skipped > 0)
        printf("%" PRIu64 " bad %s skipped\n", facts->skipped,
               facts->skipped == 1 ? "line was" : "lines were");
}

static void write_heading(void) {
    printf("\n%-10s %8s %8s %5s %8s %7s %7s %13s %6s\n", "", "peak", "peak", "", "padding", "pages",
           "device", "ns per event", "failed");
    printf("%-10s %8s %8s %5s %8s %7s %7s %6s %6s\n", "layout", "reserved", "live", "ratio",
           "at peak", "at peak", "calls", "first", "warm");
}

typedef struct time_text {
    char text[16];
} time_text;

// Nanoseconds in at most six characters: a verified event may take milliseconds.
static time_text format_time(double ns) {
    time_text result;
    const char *unit = ns < 9999.5 ? "" : ns < 9999.5e3 ? "k" : "M";
    double value = ns < 9999.5 ? ns : ns < 9999.5e3 ? ns / 1e3 : ns / 1e6;
    int digits = value < 999.95 ? 1 : 0;
    (void)snprintf(result.text, sizeof(result.text), "%.*f%s", digits, value, unit);
    return result;
}

static void write_row(const replay_row *row, const replay_request *request) {
    const acre_replay_result *result = &row->result;
    if (row->state == ROW_NOT_RUN) {
        printf("%-10s could not be run, stderr says why\n", row->layout);
        return;
    }
    if (row->state == ROW_DAMAGED) {
        printf("%-10s verification failed, stderr says where\n", row->layout);
        return;
    }
    uint64_t calls = result->device_allocs + result->device_refused + result->device_frees;
    uint64_t peak = request->dry_run ? result->planned_peak_bytes : result->peak_reserved_bytes;
    double ratio = replay_ratio(result, peak);
    int digits = ratio < 9.9995 ? 3 : ratio < 99.995 ? 2 : ratio < 999.95 ? 1 : 0;
    printf("%-10s %8s %8s %5.*f %8s %7" PRIu64 " %7" PRIu64 " %6s %6s %6" PRIu64 "\n", row->layout,
           size_format(peak).text, size_format(result->peak_live_bytes).text, digits, ratio,
           size_format(result->padding_bytes_at_peak).text, result->pages_peak, calls,
           format_time(result->ns_per_event_first).text,
           format_time(result->ns_per_event_warm).text, result->failed);
}

static void write_relocations(const replay_row *row) {
    acre_replay_pass all = {0, 0, 0};
    const acre_replay_pass *passes = row->relocations;
    uint32_t count = row->result.passes;
    for (uint32_t i = 0; i < count; i++) {
        all.moves += passes[i].moves;
        all.moved_bytes += passes[i].moved_bytes;
        all.pages_given_back += passes[i].pages_given_back;
    }
    const struct {
        const char *name;
        const acre_replay_pass *pass;
    } lines[] = {{"first", &passes[0]}, {"warm", &passes[count - 1]}, {"all", &all}};
    printf("\n%-10s %11s %8s %16s\n", "relocation", "moved bytes", "moves", "pages given back");
    for (unsigned i = 0; i < sizeof(lines) / sizeof(lines[0]); i++)
        printf("%-10s %11s %8" PRIu64 " %16" PRIu64 "\n", lines[i].name,
               size_format(lines[i].pass->moved_bytes).text, lines[i].pass->moves,
               lines[i].pass->pages_given_back);
}

static const char *kind_name(acre_pool_kind kind) {
    return kind == ACRE_POOL_SLICED ? "sliced" : "exclusive";
}

// A pool of exclusive pages has no page size: its largest request stands there.
static void write_plan_pool(const replay_row *row, const acre_replay_pool *pool) {
    bool any = pool->page_size == ACRE_UNSET;
    printf("%-10s %-9s %3s%9s %13s %13s  %s\n", row->layout, kind_name(pool->kind),
           any ? "to " : "", size_format(any ? pool->largest : pool->page_size).text,
           size_format(pool->peak_measured).text, size_format(pool->peak_replayed).text,
           pool->peak_measured == pool->peak_replayed ? "equal" : "not equal");
}

static void write_plans(const replay_row *rows, unsigned count) {
    uint32_t pools = 0;
    uint32_t unequal = 0;
    for (unsigned i = 0; i < count; i++) {
        if (rows[i].state != ROW_DONE)
            continue;
        if (pools == 0)
            printf("\n%-10s %-9s %12s %13s %13s\n", "plan", "pool", "page size", "peak measured",
                   "peak replayed");
        for (unsigned k = 0; k < replay_plan_pools(&rows[i]); k++)
            write_plan_pool(&rows[i], &rows[i].pools[k]);
        pools += rows[i].result.plan_pools;
        unequal += rows[i].result.plan_unequal;
    }
    if (unequal > 0)
        printf("%" PRIu32 " of %" PRIu32 " pools replayed another peak than they measured\n",
               unequal, pools);
    else if (pools > 0)
        puts("each pool, capped at the peak it measured, replayed the same peak");
}

void table_write(const replay_row *rows, unsigned count, const replay_request *request,
                 const acre_trace_facts *facts) {
    if (count == 0)
        return;
    write_caption(rows, count, request, facts);
    write_heading();
    bool verified = request->verify;
    for (unsigned i = 0; i < count; i++) {
        write_row(&rows[i], request);
        verified = verified && rows[i].state == ROW_DONE;
    }
    for (unsigned i = 0; i < count; i++) {
        if (rows[i].relocations && rows[i].state == ROW_DONE)
            write_relocations(&rows[i]);
    }
    if (request->plan)
        write_plans(rows, count);
    if (request->verify)
        puts("the times include verification");
    if (verified)
        puts("verified: every allocation held its own pattern until it was freed");
    putchar('\n');
}
