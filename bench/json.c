// The figures for programs, with what it takes to read them later: the machine, the compiler, the
// day and the commit.
#include "bench.h"

#include <string.h>
#include <sys/utsname.h>
#include <time.h>
#include <unistd.h>

static void write_string(FILE *file, const char *text) {
    fputc('"', file);
    for (; *text != '\0'; text++) {
        unsigned char letter = (unsigned char)*text;
        if (letter == '"' || letter == '\\') {
            fprintf(file, "\\%c", letter);
        } else if (letter < 0x20) {
            fprintf(file, "\\u%04x", letter);
        } else {
            fputc(letter, file);
        }
    }
    fputc('"', file);
}

static void write_field(FILE *file, const char *key, const char *text) {
    fprintf(file, "    \"%s\": ", key);
    write_string(file, text);
    fputs(",\n", file);
}

static void find_processor(char *name, size_t size) {
    snprintf(name, size, "unknown");
    FILE *file = fopen("/proc/cpuinfo", "r");
    if (file == NULL) {
        return;
    }
    char line[512];
    while (fgets(line, sizeof line, file) != NULL) {
        const char *colon = strchr(line, ':');
        if (strncmp(line, "model name", 10) == 0 && colon != NULL && colon[1] == ' ') {
            line[strcspn(line, "\n")] = '\0';
            snprintf(name, size, "%s", colon + 2);
            break;
        }
    }
    fclose(file);
}

static void write_machine(FILE *file) {
    char processor[256];
    struct utsname system;
    find_processor(processor, sizeof processor);
    write_field(file, "processor", processor);
    fprintf(file, "    \"cores\": %ld,\n", sysconf(_SC_NPROCESSORS_ONLN));
    if (uname(&system) == 0) {
        char text[sizeof system.sysname + sizeof system.release + sizeof system.machine];
        snprintf(text, sizeof text, "%s %s %s", system.sysname, system.release, system.machine);
        write_field(file, "system", text);
    }
#ifdef __clang__
    write_field(file, "compiler", __VERSION__);
#else
    write_field(file, "compiler", "gcc " __VERSION__);
#endif
    write_field(file, "build", ACRE_BENCH_BUILD);
}

static void write_missing(FILE *file, const bench *run) {
    fputs("    \"missing\": {", file);
    for (int i = 0; i < run->missing_count; i++) {
        fputs(i > 0 ? ", " : "", file);
        write_string(file, run->missing[i].who);
        fputs(": ", file);
        write_string(file, run->missing[i].reason);
    }
    fputs("},\n", file);
}

bool bench_write_json(const bench *run) {
    FILE *file = run->options.json;
    char date[32] = "unknown";
    time_t now = time(NULL);
    struct tm parts;
    if (gmtime_r(&now, &parts) != NULL) {
        strftime(date, sizeof date, "%Y-%m-%dT%H:%M:%SZ", &parts);
    }
    fputs("{\n", file);
    write_field(file, "version", acre_version());
    write_field(file, "commit", bench_commit);
    write_field(file, "date", date);
    write_machine(file);
    fprintf(file, "    \"quick\": %s,\n", run->options.quick ? "true" : "false");
    fprintf(file, "    \"repetitions\": %d,\n", run->options.repetitions);
    write_missing(file, run);
    fputs("    \"figures\": [", file);
    for (size_t i = 0; i < run->count; i++) {
        const bench_figure *figure = &run->figures[i];
        fprintf(file,
                "%s\n        {\"name\": \"%s\", \"value\": %.3f, \"unit\": \"%s\", \"low\": %.3f, "
                "\"high\": %.3f, \"samples\": %d}",
                i == 0 ? "" : ",", figure->name, figure->value, figure->unit, figure->low,
                figure->high, figure->samples);
    }
    fputs("\n    ]\n}\n", file);
    bool whole = ferror(file) == 0;
    return fclose(file) == 0 && whole;
}
