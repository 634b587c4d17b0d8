// One manager's log: lines that start with its name, to a file, a stream or the caller.
#ifndef ACRE_BASE_LOG_H
#define ACRE_BASE_LOG_H

#include <acre/config.h>
#include <stdio.h>

typedef void (*acre_log_sink)(void *context, acre_log_level level, const char *line);

typedef struct acre_log {
    acre_log_level level;
    FILE *file; // NULL when the caller takes the lines
    bool owned; // the file is ours to close
    acre_log_sink sink;
    void *context;
    char name[64];
} acre_log;

// Opens the target of the configuration, unless `sink` takes the lines or the log is disabled.
// => IO_ERROR names the file.
acre_status acre_log_open(acre_log *log, const acre_config *config, const char *name,
                          acre_log_sink sink, void *context, acre_error *error);
void acre_log_close(acre_log *log);

static inline bool acre_log_wants(const acre_log *log, acre_log_level level) {
    return log->level >= level;
}

// Writes a line when the level is wanted.
__attribute__((format(printf, 3, 4))) void acre_log_write(const acre_log *log, acre_log_level level,
                                                          const char *format, ...);

#endif
