#include "cli.h"

#include <acre/base.h>

#include <errno.h>
#include <stdio.h>
#include <string.h>

static const char help[] =
    "usage: acre <command> [<option>...]\n"
    "\n"
    "Manages device memory for compute runtimes; this program shows how well.\n"
    "\n"
    "  replay TRACE...   replay recorded allocation streams through a manager and\n"
    "                    compare what each layout reserves with what lives\n"
    "  info              version, build, and the storages with their limits\n"
    "\n"
    "  -h, --help        this text; acre <command> --help tells a command's options\n"
    "  -V, --version     the version\n"
    "\n"
    "Exit status: 0 fine, 1 a request failed or verification failed, 2 wrong use.\n";

typedef struct command {
    const char *name;
    outcome (*run)(int count, char *arguments[]);
} command;

static const command commands[] = {
    {"replay", command_replay},
    {"info", command_info},
};

static bool is_one_of(const char *text, const char *a, const char *b) {
    return strcmp(text, a) == 0 || strcmp(text, b) == 0;
}

static outcome run(int count, char *arguments[]) {
    if (count < 2) {
        complain("a command is missing: replay or info; acre --help tells more");
        return OUTCOME_USAGE;
    }
    const char *name = arguments[1];
    if (is_one_of(name, "-h", "--help") || strcmp(name, "help") == 0) {
        fputs(help, stdout);
        return OUTCOME_FINE;
    }
    if (is_one_of(name, "-V", "--version")) {
        printf("acre %s\n", acre_version());
        return OUTCOME_FINE;
    }
    for (size_t i = 0; i < sizeof(commands) / sizeof(commands[0]); i++) {
        if (strcmp(name, commands[i].name) == 0)
            return commands[i].run(count - 1, arguments + 1);
    }
    complain("'%s' is no command, they are replay and info; acre --help tells more", name);
    return OUTCOME_USAGE;
}

int main(int count, char *arguments[]) {
    outcome result = run(count, arguments);
    // A full disk must not look like a short answer.
    if (fflush(stdout) != 0 || ferror(stdout)) {
        complain("standard output cannot be written: %s", strerror(errno));
        result = worse(result, OUTCOME_FAILED);
    }
    return (int)result;
}
