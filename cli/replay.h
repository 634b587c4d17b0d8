// The parts of `acre replay`: what was asked for, what came out, and how it is shown.
#ifndef ACRE_CLI_REPLAY_H
#define ACRE_CLI_REPLAY_H

#include <acre/trace.h>

#include "device.h"
#include "layouts.h"

typedef struct replay_request {
    char **traces; // paths
    int trace_count;
    layout_list layouts;
    device_choice device;
    device_limits limits;
    uint32_t passes;
    bool json;
    bool verify;
    bool relocate;
    bool dry_run;
    bool plan;
    bool lenient;
    bool help; // asked for, and given
} replay_request;

// Reads the command line, which getopt reorders. => Other than OUTCOME_FINE after complaining.
outcome replay_request_read(replay_request *request, int count, char *arguments[]);

typedef enum row_state {
    ROW_DONE,
    ROW_DAMAGED, // verification failed, which ended it
    ROW_NOT_RUN, // an error, told on stderr
} row_state;

enum {
    PLAN_POOLS_MOST = 64
};

// One trace on one layout.
typedef struct replay_row {
    const char *trace; // file name without folder
    const char *device;
    const char *layout;
    row_state state;
    acre_replay_result result;
    acre_replay_pass *relocations;           // one for each pass; NULL when they were not asked for
    acre_replay_pool pools[PLAN_POOLS_MOST]; // with --plan, those that have a cap
} replay_row;

// `peak` bytes / peak live; 0 when nothing lived.
double replay_ratio(const acre_replay_result *result, uint64_t peak);

// How many of the row's pools are filled in.
unsigned replay_plan_pools(const replay_row *row);

// One object on one line of stdout.
void json_write_row(const replay_row *row, const replay_request *request);

// The table of one trace on stdout, with a line above it.
void table_write(const replay_row *rows, unsigned count, const replay_request *request,
                 const acre_trace_facts *facts);

#endif
