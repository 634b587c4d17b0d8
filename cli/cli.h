// What the commands of the acre program share: exit statuses and how they complain.
#ifndef ACRE_CLI_H
#define ACRE_CLI_H

#include <acre/status.h>

// A run's exit status is the largest that anything in it asked for.
typedef enum outcome {
    OUTCOME_FINE = 0,
    OUTCOME_FAILED = 1, // a request was refused, a verification failed, or the machine gave out
    OUTCOME_USAGE = 2,  // wrong use: options, or a file that is no trace
} outcome;

outcome worse(outcome a, outcome b);

// One sentence on stderr, after "acre: ".
void complain(const char *format, ...) __attribute__((format(printf, 1, 2)));

// Complains about a library's error, for whom or what it concerns ("" = it says so itself).
// => What it means for the exit status.
outcome complain_error(const char *about, const acre_error *error);

// Complains about what getopt_long did not take; `got` is what it returned, '?' or ':'.
outcome complain_option(const char *command, int got, char *const arguments[]);

// The commands. `arguments[0]` is the command's own name.
outcome command_replay(int count, char *arguments[]);
outcome command_info(int count, char *arguments[]);

#endif
