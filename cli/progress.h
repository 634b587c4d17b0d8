// A bar on stderr for work that takes long, when stderr is a terminal.
#ifndef ACRE_CLI_PROGRESS_H
#define ACRE_CLI_PROGRESS_H

#include <stdbool.h>
#include <stdint.h>

typedef struct progress {
    const char *name; // of the trace
    const char *part; // of the layout
    uint64_t started; // milliseconds
    uint64_t drawn;   // milliseconds; 0 = not yet
} progress;

// Whether there is someone to see it.
bool progress_wanted(void);

void progress_begin(progress *bar, const char *name, const char *part);

// An acre_replay_progress_fn, whose context is the bar. It draws once the work has taken a second,
// and ten times a second from then on.
void progress_show(void *context, uint64_t done, uint64_t total);

// Takes the bar away.
void progress_end(progress *bar);

#endif
