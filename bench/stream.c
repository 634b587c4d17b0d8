#include "stream.h"

#include "managers.h"
#include "measure.h"

#include <acre/trace.h>
#include <stdlib.h>

typedef struct event {
    uint64_t pointer; // of the file
    uint64_t size;
    uint32_t slot; // stands for the pointer
    bool free;
} event;

struct bench_stream {
    event *events;
    uint32_t *ticks;
    acre_handle **handles; // by slot
    uint32_t count;
    uint32_t capacity;
    uint32_t slots;
};

// ---- reading ----------------------------------------------------------------------------------

// Pointers and the slot that each had last, by open addressing. A pointer keeps its slot: it is
// allocated again only when it is free.
typedef struct slot_map {
    uint64_t *pointers; // 0 = empty
    uint32_t *slots;
    uint32_t mask;
} slot_map;

static uint32_t slot_of(slot_map *map, uint64_t pointer, uint32_t *used) {
    uint32_t at = (uint32_t)((pointer * UINT64_C(0x9e3779b97f4a7c15)) >> 32) & map->mask;
    while (map->pointers[at] != 0 && map->pointers[at] != pointer) {
        at = (at + 1) & map->mask;
    }
    if (map->pointers[at] == 0) {
        map->pointers[at] = pointer;
        map->slots[at] = (*used)++;
    }
    return map->slots[at];
}

static void grow(bench_stream *stream) {
    if (stream->count < stream->capacity) {
        return;
    }
    uint32_t capacity = stream->capacity > 0 ? 2 * stream->capacity : 4096;
    event *events = realloc(stream->events, capacity * sizeof *events);
    if (events == NULL || capacity > UINT32_MAX / 4) {
        bench_fail("no host memory for %u events", capacity);
    }
    stream->events = events;
    stream->capacity = capacity;
}

static void read_events(bench_stream *stream, const char *path) {
    acre_error error = ACRE_ERROR_INIT;
    acre_trace_reader *reader = NULL;
    if (acre_trace_reader_open(path, NULL, &reader, &error) != ACRE_OK) {
        bench_fail_with(&error);
    }
    for (;;) {
        acre_trace_event read = ACRE_TRACE_EVENT_INIT;
        bool more = false;
        if (acre_trace_reader_next(reader, &read, &more, &error) != ACRE_OK) {
            bench_fail_with(&error);
        }
        if (!more) {
            break;
        }
        // Nothing is behind a (nil), and a refused request is not made again.
        if (read.pointer != 0 && read.action != ACRE_TRACE_ALLOCATE_FAILURE) {
            grow(stream);
            stream->events[stream->count++] =
                (event){read.pointer, read.size, 0, read.action == ACRE_TRACE_FREE};
        }
    }
    acre_trace_reader_close(reader);
}

bench_stream *bench_stream_load(const char *path) {
    bench_stream *stream = bench_alloc(1, sizeof *stream);
    read_events(stream, path);
    uint32_t capacity = 16;
    while (capacity / 2 < stream->count) {
        capacity *= 2;
    }
    slot_map map = {bench_alloc(capacity, sizeof(uint64_t)),
                    bench_alloc(capacity, sizeof(uint32_t)), capacity - 1};
    for (uint32_t i = 0; i < stream->count; i++) {
        stream->events[i].slot = slot_of(&map, stream->events[i].pointer, &stream->slots);
    }
    stream->handles = bench_alloc(stream->slots, sizeof(acre_handle *));
    stream->ticks = bench_alloc(stream->count, sizeof *stream->ticks);
    free(map.pointers);
    free(map.slots);
    return stream;
}

void bench_stream_free(bench_stream *stream) {
    free(stream->events);
    free(stream->ticks);
    free(stream->handles);
    free(stream);
}

// ---- running ----------------------------------------------------------------------------------

static void run(bench_stream *stream, acre_manager *manager) {
    uint64_t before = bench_ticks();
    for (uint32_t i = 0; i < stream->count; i++) {
        const event *now = &stream->events[i];
        acre_handle **handle = &stream->handles[now->slot];
        if (now->free) {
            acre_manager_release(manager, *handle);
            *handle = NULL;
        } else if (acre_manager_reserve(manager, now->size, handle, NULL) != ACRE_OK) {
            *handle = NULL; // refused, as the replay counts it; its free is passed over
        }
        uint64_t after = bench_ticks();
        stream->ticks[i] = bench_ticks_between(before, after);
        before = after;
    }
    for (uint32_t i = 0; i < stream->slots; i++) {
        acre_manager_release(manager, stream->handles[i]);
        stream->handles[i] = NULL;
    }
}

void bench_stream_time(bench_stream *stream, const acre_layout *layout, bench_tails *tails) {
    acre_simulated_storage_params device = bench_replay_device();
    bench_manager *on = bench_manager_open_on(&device, layout, 0);
    run(stream, on->manager);
    run(stream, on->manager);
    if (stream->count > 0) {
        bench_tails_add(tails, stream->ticks, stream->count);
    }
    bench_manager_close(on);
}
