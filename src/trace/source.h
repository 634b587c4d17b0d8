// Where a reader's bytes come from: a file, plain or gzip as its first bytes say.
#ifndef ACRE_TRACE_SOURCE_H
#define ACRE_TRACE_SOURCE_H

#include <acre/host.h>
#include <acre/status.h>

#include <stdio.h>
#include <zlib.h>

typedef struct acre_trace_source {
    acre_host_hooks hooks;
    FILE *file;
    unsigned char *input; // bytes of the file
    z_stream inflater;    // its next_in and avail_in say what of `input` is left, plain files too
    bool is_gzip;
    bool between_members; // a gzip file is a sequence of members; none is open
    bool file_ended;
    bool truncated;      // the file ended in the midst of a member
    const char *problem; // why a read failed, as a clause
} acre_trace_source;

// => IO_ERROR, OUT_OF_HOST_MEMORY; `source` holds nothing then.
acre_status acre_trace_source_open(acre_trace_source *source, const char *path,
                                   const acre_host_hooks *hooks, acre_error *error);

// Reads at least one byte; `*got` is 0 at the end only.
// => IO_ERROR, MALFORMED_INPUT or OUT_OF_HOST_MEMORY, with `problem`, and `truncated` when that is
//    what the malformed input is.
acre_status acre_trace_source_read(acre_trace_source *source, void *buffer, size_t capacity,
                                   size_t *got);

void acre_trace_source_close(acre_trace_source *source);

// zlib's allocator over the hooks, which want to be told a block's size when it is freed.
void acre_trace_zlib_hooks(z_stream *stream, acre_host_hooks *hooks);

#endif
