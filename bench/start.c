#include "start.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define TUNABLE "glibc.rtld.optional_static_tls"

static char **remembered;

void bench_start_remember(char **arguments) {
    remembered = arguments;
}

void bench_start_again(void) {
    char value[1024];
    const char *before = getenv("GLIBC_TUNABLES");
    if (remembered == NULL || (before != NULL && strstr(before, TUNABLE) != NULL)) {
        return;
    }
    int length = snprintf(value, sizeof value, "%s%s" TUNABLE "=16384",
                          before != NULL ? before : "", before != NULL ? ":" : "");
    if (length < 0 || (size_t)length >= sizeof value || setenv("GLIBC_TUNABLES", value, 1) != 0) {
        return;
    }
    execv("/proc/self/exe", remembered);
}
