// A recorder is a table of what lives, by the manager's small allocation numbers, and a writer.
#define _POSIX_C_SOURCE 200809L

#include <acre/trace.h>

#include <time.h>

#include "detail.h"

enum {
    FIRST_CAPACITY = 256,
    FAST_COMPRESSION = 1, // it runs inside the manager's operations
};

typedef struct live {
    uint64_t pointer; // 0 = no allocation has this number now
    uint64_t stream;
} live;

struct acre_trace_recorder {
    acre_host_hooks hooks;
    acre_trace_writer *writer;
    live *table; // by allocation number
    size_t capacity;
    uint64_t last_pointer;
    uint64_t thread;
    uint64_t opened;   // microseconds
    acre_error broken; // nothing is recorded after it
};

static uint64_t now(void) {
    struct timespec time;
    (void)clock_gettime(CLOCK_MONOTONIC, &time);
    return (uint64_t)time.tv_sec * 1000000 + (uint64_t)time.tv_nsec / 1000;
}

acre_status acre_trace_recorder_open(const char *path, const acre_trace_recorder_options *options,
                                     acre_trace_recorder **recorder, acre_error *error) {
    acre_trace_recorder_options known = ACRE_TRACE_RECORDER_OPTIONS_INIT;
    acre_host_hooks hooks;
    acre_status status = ACRE_OK;
    if (options)
        status = acre_trace_struct_read(&known, sizeof(known), options, "recorder options", error);
    if (status == ACRE_OK)
        status = acre_trace_hooks_take(known.hooks, &hooks, error);
    if (status != ACRE_OK)
        return status;

    acre_trace_recorder *made = acre_trace_alloc(&hooks, sizeof(*made));
    if (!made)
        return acre_trace_fail_no_memory(error, sizeof(*made));
    *made = (acre_trace_recorder){
        .hooks = hooks, .thread = known.thread, .opened = now(), .broken = ACRE_ERROR_INIT};
    acre_trace_writer_options writing = ACRE_TRACE_WRITER_OPTIONS_INIT;
    writing.hooks = known.hooks;
    writing.compression = known.compression ? known.compression : FAST_COMPRESSION;
    status = acre_trace_writer_open(path, &writing, &made->writer, error);
    if (status != ACRE_OK) {
        acre_trace_free(&hooks, made, sizeof(*made));
        return status;
    }
    *recorder = made;
    return ACRE_OK;
}

// The table's entry for an allocation, made if need be. => NULL, and broken, without memory.
static live *entry(acre_trace_recorder *recorder, uint32_t allocation) {
    if (allocation < recorder->capacity)
        return &recorder->table[allocation];
    size_t capacity = recorder->capacity ? recorder->capacity : FIRST_CAPACITY;
    while (capacity <= allocation)
        capacity *= 2;
    live *table = acre_trace_grow(&recorder->hooks, recorder->table,
                                  recorder->capacity * sizeof(live), capacity * sizeof(live));
    if (!table) {
        (void)acre_trace_fail_no_memory(&recorder->broken, capacity * sizeof(live));
        return NULL;
    }
    for (size_t i = recorder->capacity; i < capacity; i++)
        table[i] = (live){0};
    recorder->table = table;
    recorder->capacity = capacity;
    return &table[allocation];
}

static void record(acre_trace_recorder *recorder, acre_trace_action action, live where,
                   uint64_t size) {
    acre_trace_event line = ACRE_TRACE_EVENT_INIT;
    line.action = action;
    line.thread = recorder->thread;
    line.time = now() - recorder->opened;
    line.pointer = where.pointer;
    line.size = size;
    line.stream = where.stream;
    // The error stays in `broken`, which stops the recording.
    (void)!acre_trace_writer_write(recorder->writer, &line, &recorder->broken);
}

void acre_trace_recorder_listen(void *context, const acre_event *event) {
    acre_trace_recorder *recorder = context;
    if (recorder->broken.status != ACRE_OK)
        return;
    if (event->kind == ACRE_EVENT_RESERVE) {
        live *made = entry(recorder, event->allocation);
        if (!made)
            return;
        *made = (live){++recorder->last_pointer, event->stream};
        record(recorder, ACRE_TRACE_ALLOCATE, *made, event->size);
    } else if (event->kind == ACRE_EVENT_REFUSE) {
        record(recorder, ACRE_TRACE_ALLOCATE_FAILURE, (live){0, event->stream}, event->size);
    } else if (event->kind == ACRE_EVENT_FREE && event->allocation < recorder->capacity) {
        live *freed = &recorder->table[event->allocation];
        // What was served before the manager had this listener has no number.
        if (freed->pointer != 0)
            record(recorder, ACRE_TRACE_FREE, *freed, event->size);
        freed->pointer = 0;
    }
}

acre_status acre_trace_recorder_close(acre_trace_recorder *recorder, acre_error *error) {
    if (!recorder)
        return ACRE_OK;
    acre_error closing = ACRE_ERROR_INIT;
    acre_status status = acre_trace_writer_close(recorder->writer, &closing);
    const acre_error *first = recorder->broken.status != ACRE_OK ? &recorder->broken : &closing;
    if (recorder->broken.status != ACRE_OK || status != ACRE_OK)
        status = acre_trace_fail_with(error, first);
    acre_host_hooks hooks = recorder->hooks;
    acre_trace_free(&hooks, recorder->table, recorder->capacity * sizeof(live));
    acre_trace_free(&hooks, recorder, sizeof(*recorder));
    return status;
}
