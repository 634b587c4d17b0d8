#include "replay.h"

#include <inttypes.h>
#include <stdio.h>

// How many bytes of UTF-8 begin at `at`: 1 to 4, or 0 when they are none.
static unsigned utf8_length(const unsigned char *at) {
    unsigned length = *at < 0x80 ? 1 : *at >= 0xc2 && *at < 0xe0 ? 2 : (*at & 0xf0) == 0xe0 ? 3 : 0;
    if (*at >= 0xf0 && *at < 0xf5)
        length = 4;
    for (unsigned i = 1; i < length; i++) {
        if ((at[i] & 0xc0) != 0x80)
            return 0;
    }
    // Spelled longer than need be, surrogates, and what is beyond U+10FFFF.
    bool wrong = (*at == 0xe0 && at[1] < 0xa0) || (*at == 0xed && at[1] > 0x9f) ||
                 (*at == 0xf0 && at[1] < 0x90) || (*at == 0xf4 && at[1] > 0x8f);
    return wrong ? 0 : length;
}

// A file name may hold any bytes; a JSON text must be UTF-8.
static void write_string(const char *text) {
    putchar('"');
    for (const unsigned char *at = (const unsigned char *)text; *at;) {
        unsigned length = utf8_length(at);
        if (length == 0)
            fputs("\\ufffd", stdout);
        else if (*at == '"' || *at == '\\')
            printf("\\%c", *at);
        else if (*at < 0x20)
            printf("\\u%04x", *at);
        else
            printf("%.*s", (int)length, (const char *)at);
        at += length ? length : 1;
    }
    putchar('"');
}

static void write_count(const char *key, uint64_t value) {
    printf(",\"%s\":%" PRIu64, key, value);
}

// One array with a number for each pass.
static void write_array(const char *key, const replay_row *row,
                        uint64_t (*value)(const acre_replay_pass *pass)) {
    printf(",\"%s\":[", key);
    for (uint32_t i = 0; i < row->result.passes; i++)
        printf("%s%" PRIu64, i > 0 ? "," : "", value(&row->relocations[i]));
    putchar(']');
}

static uint64_t moved_bytes(const acre_replay_pass *pass) {
    return pass->moved_bytes;
}

static uint64_t moves(const acre_replay_pass *pass) {
    return pass->moves;
}

static uint64_t pages_given_back(const acre_replay_pass *pass) {
    return pass->pages_given_back;
}

static void write_relocations(const replay_row *row) {
    write_array("moved_bytes", row, moved_bytes);
    write_array("moves", row, moves);
    write_array("pages_given_back", row, pages_given_back);
}

static uint64_t peak_measured(const acre_replay_pool *pool) {
    return pool->peak_measured;
}

static uint64_t peak_replayed(const acre_replay_pool *pool) {
    return pool->peak_replayed;
}

// One array with a number for each pool that has a cap.
static void write_pools(const char *key, const replay_row *row,
                        uint64_t (*value)(const acre_replay_pool *pool)) {
    printf(",\"%s\":[", key);
    for (unsigned i = 0; i < replay_plan_pools(row); i++)
        printf("%s%" PRIu64, i > 0 ? "," : "", value(&row->pools[i]));
    putchar(']');
}

static void write_plan(const replay_row *row) {
    write_pools("plan_peaks_measured", row, peak_measured);
    write_pools("plan_peaks_replayed", row, peak_replayed);
    printf(",\"plan_equal\":%s", row->result.plan_unequal == 0 ? "true" : "false");
}

void json_write_row(const replay_row *row, const replay_request *request) {
    const acre_replay_result *result = &row->result;
    fputs("{\"trace\":", stdout);
    write_string(row->trace);
    fputs(",\"device\":", stdout);
    write_string(row->device);
    fputs(",\"layout\":", stdout);
    write_string(row->layout);
    write_count("events", result->events);
    write_count("passes", result->passes);
    write_count("peak_live_bytes", result->peak_live_bytes);
    write_count("peak_reserved_bytes", result->peak_reserved_bytes);
    printf(",\"ratio\":%.4f", replay_ratio(result, result->peak_reserved_bytes));
    write_count("padding_bytes_at_peak", result->padding_bytes_at_peak);
    write_count("pages_peak", result->pages_peak);
    write_count("device_allocs", result->device_allocs);
    write_count("device_frees", result->device_frees);
    write_count("failed", result->failed);
    printf(",\"ns_per_event_first\":%.2f,\"ns_per_event_warm\":%.2f", result->ns_per_event_first,
           result->ns_per_event_warm);
    if (row->relocations)
        write_relocations(row);
    if (request->dry_run)
        write_count("planned_peak_bytes", result->planned_peak_bytes);
    if (request->plan)
        write_plan(row);
    puts("}");
}
