// Where a writer's lines go: a buffer, then a file, packed when its name ends in .gz.
#ifndef ACRE_TRACE_SINK_H
#define ACRE_TRACE_SINK_H

#include <acre/host.h>
#include <acre/status.h>

#include <stdio.h>
#include <zlib.h>

enum {
    ACRE_TRACE_SINK_SIZE = 1 << 16
};

typedef struct acre_trace_sink {
    acre_host_hooks hooks;
    FILE *file;
    char *lines; // ACRE_TRACE_SINK_SIZE bytes, `used` of them taken
    size_t used;
    unsigned char *packed; // gzip only
    z_stream deflater;
    bool is_gzip;
    acre_error broken; // the first error; nothing is written after it
    char path[80];     // for errors, shortened
} acre_trace_sink;

// => IO_ERROR, OUT_OF_HOST_MEMORY; `sink` holds nothing then.
acre_status acre_trace_sink_open(acre_trace_sink *sink, const char *path, int compression,
                                 const acre_host_hooks *hooks, acre_error *error);

// Room for `size` <= ACRE_TRACE_SINK_SIZE more bytes at lines + used, writing the buffer out when
// it is needed. => The kept error.
acre_status acre_trace_sink_room(acre_trace_sink *sink, size_t size);

// Writes everything out and closes. => The first error of the sink's life.
acre_status acre_trace_sink_close(acre_trace_sink *sink, acre_error *error);

#endif
