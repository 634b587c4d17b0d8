#include "cli.h"

#include <getopt.h>
#include <stdarg.h>
#include <stdio.h>

outcome worse(outcome a, outcome b) {
    return a > b ? a : b;
}

void complain(const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    fputs("acre: ", stderr);
    vfprintf(stderr, format, arguments);
    fputc('\n', stderr);
    va_end(arguments);
}

outcome complain_error(const char *about, const acre_error *error) {
    bool about_file = error->status == ACRE_MALFORMED_INPUT || error->status == ACRE_IO_ERROR;
    const char *between = *about ? ": " : "";
    if (about_file && *error->detail) {
        complain("%s%s%s", about, between, error->detail); // file, line and field: all there is
    } else {
        char text[512];
        (void)acre_error_format(error, text, sizeof(text));
        complain("%s%s%s", about, between, text);
    }
    bool wrong_use =
        about_file || error->status == ACRE_INVALID_ARGUMENT || error->status == ACRE_UNSUPPORTED;
    return wrong_use ? OUTCOME_USAGE : OUTCOME_FAILED;
}

outcome complain_option(const char *command, int got, char *const arguments[]) {
    const char *option = arguments[optind - 1];
    if (got == ':')
        complain("%s needs a value; acre %s --help tells more", option, command);
    else
        complain("acre %s has no option %s; acre %s --help tells more", command, option, command);
    return OUTCOME_USAGE;
}
