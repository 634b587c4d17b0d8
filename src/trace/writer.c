#include <acre/trace.h>

#include <string.h>

#include "detail.h"
#include "sink.h"

enum {
    // Six fields of at most 20 characters, the action's 16, a clock with 16 digits of hours,
    // commas and the line end.
    LINE_MOST = 160,
    DEFAULT_COMPRESSION = 6,
};

struct acre_trace_writer {
    acre_host_hooks hooks;
    acre_trace_sink sink;
};

static const char header[] = "Thread,Time,Action,Pointer,Size,Stream\n";

static const char *const action_names[] = {
    [ACRE_TRACE_ALLOCATE] = "allocate",
    [ACRE_TRACE_ALLOCATE_FAILURE] = "allocate failure",
    [ACRE_TRACE_FREE] = "free",
};

static char *put_text(char *at, const char *text) {
    size_t length = strlen(text);
    memcpy(at, text, length);
    return at + length;
}

// At least `digits` digits.
static char *put_number(char *at, uint64_t value, unsigned digits) {
    char reversed[20];
    unsigned count = 0;
    while (value > 0 || count < digits) {
        reversed[count++] = (char)('0' + value % 10);
        value /= 10;
    }
    while (count > 0)
        *at++ = reversed[--count];
    return at;
}

static char *put_pointer(char *at, uint64_t pointer) {
    if (pointer == 0)
        return put_text(at, "(nil)");
    at = put_text(at, "0x");
    unsigned shift = 60;
    while (pointer >> shift == 0)
        shift -= 4;
    for (;; shift -= 4) {
        *at++ = "0123456789abcdef"[pointer >> shift & 15];
        if (shift == 0)
            return at;
    }
}

static char *put_time(char *at, uint64_t time) {
    const uint64_t second = 1000000;
    uint64_t seconds = time / second;
    at = put_number(at, seconds / 3600, 2);
    *at++ = ':';
    at = put_number(at, seconds / 60 % 60, 2);
    *at++ = ':';
    at = put_number(at, seconds % 60, 2);
    *at++ = '.';
    return put_number(at, time % second, 6);
}

static char *put_line(char *at, const acre_trace_event *event) {
    at = put_number(at, event->thread, 1);
    *at++ = ',';
    at = put_time(at, event->time);
    *at++ = ',';
    at = put_text(at, action_names[event->action]);
    *at++ = ',';
    at = put_pointer(at, event->pointer);
    *at++ = ',';
    at = put_number(at, event->size, 1);
    *at++ = ',';
    at = put_number(at, event->stream, 1);
    *at++ = '\n';
    return at;
}

acre_status acre_trace_writer_open(const char *path, const acre_trace_writer_options *options,
                                   acre_trace_writer **writer, acre_error *error) {
    acre_trace_writer_options known = ACRE_TRACE_WRITER_OPTIONS_INIT;
    acre_host_hooks hooks;
    acre_status status = ACRE_OK;
    if (options)
        status = acre_trace_struct_read(&known, sizeof(known), options, "writer options", error);
    if (status == ACRE_OK)
        status = acre_trace_hooks_take(known.hooks, &hooks, error);
    if (status != ACRE_OK)
        return status;
    if (known.compression < 0 || known.compression > 9)
        return acre_trace_fail(error, ACRE_INVALID_ARGUMENT, "compression is %d, it can be 0 to 9",
                               known.compression);

    acre_trace_writer *made = acre_trace_alloc(&hooks, sizeof(*made));
    if (!made)
        return acre_trace_fail_no_memory(error, sizeof(*made));
    made->hooks = hooks;
    int compression = known.compression ? known.compression : DEFAULT_COMPRESSION;
    status = acre_trace_sink_open(&made->sink, path, compression, &hooks, error);
    if (status != ACRE_OK) {
        acre_trace_free(&hooks, made, sizeof(*made));
        return status;
    }
    made->sink.used = (size_t)(put_text(made->sink.lines, header) - made->sink.lines);
    *writer = made;
    return ACRE_OK;
}

acre_status acre_trace_writer_write(acre_trace_writer *writer, const acre_trace_event *event,
                                    acre_error *error) {
    acre_trace_event known = ACRE_TRACE_EVENT_INIT;
    if (event->struct_size != sizeof(known)) {
        acre_status status =
            acre_trace_struct_read(&known, sizeof(known), event, "trace event", error);
        if (status != ACRE_OK)
            return status;
        event = &known;
    }
    if ((unsigned)event->action > ACRE_TRACE_FREE)
        return acre_trace_fail(error, ACRE_INVALID_ARGUMENT, "action %u is none of a trace's",
                               (unsigned)event->action);
    acre_trace_sink *sink = &writer->sink;
    if (acre_trace_sink_room(sink, LINE_MOST) != ACRE_OK)
        return acre_trace_fail_with(error, &sink->broken);
    char *end = put_line(sink->lines + sink->used, event);
    sink->used = (size_t)(end - sink->lines);
    return ACRE_OK;
}

acre_status acre_trace_writer_close(acre_trace_writer *writer, acre_error *error) {
    if (!writer)
        return ACRE_OK;
    acre_host_hooks hooks = writer->hooks;
    acre_status status = acre_trace_sink_close(&writer->sink, error);
    acre_trace_free(&hooks, writer, sizeof(*writer));
    return status;
}
