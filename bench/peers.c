// mimalloc and jemalloc, loaded beside the program's own malloc, which stays what it is: symbols of
// a library opened with RTLD_LOCAL reach nobody else, and RTLD_DEEPBIND has it use its own.
#include "loops.h"
#include "start.h"

#include <dlfcn.h>
#include <string.h>

typedef void *(*malloc_fn)(size_t size);
typedef void (*free_fn)(void *memory);

// One struct a library, so that each loop calls through a place that is known when it is compiled,
// as a call into a shared library does.
typedef struct peer {
    malloc_fn allocate;
    free_fn release;
} peer;

static peer mimalloc;
static peer jemalloc;

static void *mimalloc_take(void *on, uint64_t size) {
    (void)on;
    return mimalloc.allocate(size);
}

static void mimalloc_give(void *on, void *block) {
    (void)on;
    mimalloc.release(block);
}

static void *jemalloc_take(void *on, uint64_t size) {
    (void)on;
    return jemalloc.allocate(size);
}

static void jemalloc_give(void *on, void *block) {
    (void)on;
    jemalloc.release(block);
}

BENCH_DEFINE_LOOPS(mimalloc, mimalloc_take, mimalloc_give)
BENCH_DEFINE_LOOPS(jemalloc, jemalloc_take, jemalloc_give)

static void *open_peer(const bench_subject *subject, uint64_t page) {
    (void)page;
    return (void *)(uintptr_t)subject; // the process has one heap of it; nothing to make
}

static void close_peer(void *on) {
    (void)on;
}

static const bench_subject mimalloc_subject = {
    .who = "mimalloc",
    .abilities = BENCH_ANY_SIZE,
    .open = open_peer,
    .close = close_peer,
    .reserve = mimalloc_take,
    .release = mimalloc_give,
    .replace = mimalloc_replace,
    .stack = mimalloc_stack,
    .probe = mimalloc_probe,
};

static const bench_subject jemalloc_subject = {
    .who = "jemalloc",
    .abilities = BENCH_ANY_SIZE,
    .open = open_peer,
    .close = close_peer,
    .reserve = jemalloc_take,
    .release = jemalloc_give,
    .replace = jemalloc_replace,
    .stack = jemalloc_stack,
    .probe = jemalloc_probe,
};

static bool load(const char *library, const char *allocate, const char *release, peer *loaded,
                 char *reason, size_t size) {
#ifdef ACRE_BENCH_SANITIZED
    (void)allocate;
    (void)release;
    (void)loaded;
    snprintf(reason, size, "%s is not loaded beside a sanitizer", library);
    return false;
#else
    void *handle = dlopen(library, RTLD_NOW | RTLD_LOCAL | RTLD_DEEPBIND);
    if (handle == NULL) {
        const char *text = dlerror();
        if (text != NULL && strstr(text, "static TLS") != NULL) {
            bench_start_again();
        }
        snprintf(reason, size, "%s", text != NULL ? text : "it cannot be loaded");
        return false;
    }
    // POSIX lets a function's address pass through void *; ISO C only lets bytes be copied.
    void *found[2] = {dlsym(handle, allocate), dlsym(handle, release)};
    if (found[0] == NULL || found[1] == NULL) {
        snprintf(reason, size, "%s lacks %s or %s", library, allocate, release);
        return false;
    }
    memcpy(&loaded->allocate, &found[0], sizeof loaded->allocate);
    memcpy(&loaded->release, &found[1], sizeof loaded->release);
    return true;
#endif
}

const bench_subject *bench_mimalloc_load(char *reason, size_t size) {
    return load("libmimalloc.so.2", "mi_malloc", "mi_free", &mimalloc, reason, size)
               ? &mimalloc_subject
               : NULL;
}

const bench_subject *bench_jemalloc_load(char *reason, size_t size) {
    return load("libjemalloc.so.2", "malloc", "free", &jemalloc, reason, size) ? &jemalloc_subject
                                                                               : NULL;
}
