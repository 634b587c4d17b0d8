#include "base/log.h"

#include "base/error.h"
#include "base/text.h"

#include <errno.h>
#include <stdarg.h>
#include <string.h>

acre_status acre_log_open(acre_log *log, const acre_config *config, const char *name,
                          acre_log_sink sink, void *context, acre_error *error) {
    memset(log, 0, sizeof *log);
    log->level = config->log_level;
    log->sink = sink;
    log->context = context;
    snprintf(log->name, sizeof log->name, "%s", name == NULL ? "acre" : name);
    if (log->level == ACRE_LOG_DISABLED || sink != NULL) {
        return ACRE_OK;
    }
    const char *target = config->log_target;
    if (target[0] == '\0' || strcmp(target, "stderr") == 0) {
        log->file = stderr;
    } else if (strcmp(target, "stdout") == 0) {
        log->file = stdout;
    } else {
        log->file = fopen(target, "a");
        if (log->file == NULL) {
            return acre_error_set(error, ACRE_IO_ERROR, "log_target %s: %s", target,
                                  strerror(errno));
        }
        log->owned = true;
    }
    return ACRE_OK;
}

void acre_log_close(acre_log *log) {
    if (log->owned) {
        fclose(log->file);
    }
    memset(log, 0, sizeof *log);
}

void acre_log_write(const acre_log *log, acre_log_level level, const char *format, ...) {
    if (!acre_log_wants(log, level)) {
        return;
    }
    char line[512];
    acre_text text = {line, sizeof line, 0};
    acre_text_add(&text, "[%s] ", log->name);
    for (char *at = line; *at != '\0'; at++) { // a name may hold anything; a line stays one line
        *at = (unsigned char)*at < 0x20 ? ' ' : *at;
    }
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(line + text.length, sizeof line - text.length, format, arguments);
    va_end(arguments);
    if (log->sink != NULL) {
        log->sink(log->context, level, line);
    } else {
        fprintf(log->file, "%s\n", line);
        fflush(log->file);
    }
}
