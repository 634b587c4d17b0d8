// Fits 80 columns for every number that a real device can bring about.
#include "replay.h"

#include <inttypes.h>
#include <stdio.h>

#include "size.h"

static void write_caption(const replay_row *row, const replay_request *request,
                          const acre_trace_facts *facts) {
    printf("%s: %" PRIu64 " events, %" PRIu32 " %s on a %s device of %s\n", row->trace,
           facts->events, request->passes, request->passes == 1 ? "pass" : "passes", row->device,
           size_format(request->limits.memory).text);
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

static void write_row(const replay_row *row) {
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
    double ratio = replay_ratio(result);
    int digits = ratio < 9.9995 ? 3 : ratio < 99.995 ? 2 : ratio < 999.95 ? 1 : 0;
    printf("%-10s %8s %8s %5.*f %8s %7" PRIu64 " %7" PRIu64 " %6s %6s %6" PRIu64 "\n", row->layout,
           size_format(result->peak_reserved_bytes).text, size_format(result->peak_live_bytes).text,
           digits, ratio, size_format(result->padding_bytes_at_peak).text, result->pages_peak,
           calls, format_time(result->ns_per_event_first).text,
           format_time(result->ns_per_event_warm).text, result->failed);
}

void table_write(const replay_row *rows, unsigned count, const replay_request *request,
                 const acre_trace_facts *facts) {
    if (count == 0)
        return;
    write_caption(&rows[0], request, facts);
    write_heading();
    bool verified = request->verify;
    for (unsigned i = 0; i < count; i++) {
        write_row(&rows[i]);
        verified = verified && rows[i].state == ROW_DONE;
    }
    if (request->verify)
        puts("the times include verification");
    if (verified)
        puts("verified: every allocation held its own pattern until it was freed");
    putchar('\n');
}
