#define _POSIX_C_SOURCE 200809L

#include "progress.h"

#include <stdio.h>
#include <time.h>
#include <unistd.h>

enum {
    QUIET_MS = 1000, // work that is shorter shows nothing
    EVERY_MS = 100,
    WIDTH = 30,
};

static uint64_t now(void) {
    struct timespec time;
    (void)clock_gettime(CLOCK_MONOTONIC, &time);
    return (uint64_t)time.tv_sec * 1000 + (uint64_t)time.tv_nsec / 1000000;
}

bool progress_wanted(void) {
    return isatty(STDERR_FILENO) == 1;
}

void progress_begin(progress *bar, const char *name, const char *part) {
    *bar = (progress){.name = name, .part = part, .started = now()};
}

void progress_show(void *context, uint64_t done, uint64_t total) {
    progress *bar = context;
    uint64_t time = now();
    if (time - bar->started < QUIET_MS || time - bar->drawn < EVERY_MS || total == 0)
        return;
    bar->drawn = time;
    double part = (double)done / (double)total;
    int filled = (int)(part * WIDTH);
    char cells[WIDTH + 1];
    for (int i = 0; i < WIDTH; i++)
        cells[i] = i < filled ? '#' : '.';
    cells[WIDTH] = '\0';
    fprintf(stderr, "\r[%s] %3d%% %.24s %.12s\033[K", cells, (int)(part * 100), bar->name,
            bar->part);
    fflush(stderr);
}

void progress_end(progress *bar) {
    if (bar->drawn == 0)
        return;
    fputs("\r\033[K", stderr);
    fflush(stderr);
}
