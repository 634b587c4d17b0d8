#include "sink.h"

#include <errno.h>
#include <string.h>

#include "detail.h"
#include "source.h"

enum {
    GZIP_ONLY = 16, // zlib's flag beside the window bits
    MEMORY_LEVEL = 8,
};

static bool ends_in_gz(const char *path) {
    size_t length = strlen(path);
    return length >= 3 && strcmp(path + length - 3, ".gz") == 0;
}

static acre_status break_off(acre_trace_sink *sink, int code) {
    return acre_trace_fail(&sink->broken, ACRE_IO_ERROR, "%s: cannot be written: %s", sink->path,
                           strerror(code));
}

static acre_status put(acre_trace_sink *sink, const void *bytes, size_t size) {
    if (size > 0 && fwrite(bytes, 1, size, sink->file) != size)
        return break_off(sink, errno);
    return ACRE_OK;
}

// Packs the buffer. => With Z_FINISH, the file is complete.
static acre_status put_packed(acre_trace_sink *sink, int flush) {
    z_stream *stream = &sink->deflater;
    stream->next_in = (unsigned char *)sink->lines;
    stream->avail_in = (uInt)sink->used;
    do {
        stream->next_out = sink->packed;
        stream->avail_out = ACRE_TRACE_SINK_SIZE;
        (void)deflate(stream, flush);
        acre_status status = put(sink, sink->packed, ACRE_TRACE_SINK_SIZE - stream->avail_out);
        if (status != ACRE_OK)
            return status;
    } while (stream->avail_out == 0);
    return ACRE_OK;
}

static acre_status write_out(acre_trace_sink *sink, int flush) {
    if (sink->broken.status != ACRE_OK)
        return sink->broken.status;
    acre_status status =
        sink->is_gzip ? put_packed(sink, flush) : put(sink, sink->lines, sink->used);
    sink->used = 0;
    return status;
}

static void free_all(acre_trace_sink *sink) {
    if (sink->is_gzip)
        (void)deflateEnd(&sink->deflater);
    acre_trace_free(&sink->hooks, sink->lines, ACRE_TRACE_SINK_SIZE);
    acre_trace_free(&sink->hooks, sink->packed, ACRE_TRACE_SINK_SIZE);
}

static acre_status set_up(acre_trace_sink *sink, const char *path, int compression) {
    sink->lines = acre_trace_alloc(&sink->hooks, ACRE_TRACE_SINK_SIZE);
    if (!sink->lines)
        return ACRE_OUT_OF_HOST_MEMORY;
    if (!ends_in_gz(path))
        return ACRE_OK;
    sink->packed = acre_trace_alloc(&sink->hooks, ACRE_TRACE_SINK_SIZE);
    if (!sink->packed)
        return ACRE_OUT_OF_HOST_MEMORY;
    acre_trace_zlib_hooks(&sink->deflater, &sink->hooks);
    if (deflateInit2(&sink->deflater, compression, Z_DEFLATED, MAX_WBITS + GZIP_ONLY, MEMORY_LEVEL,
                     Z_DEFAULT_STRATEGY) != Z_OK)
        return ACRE_OUT_OF_HOST_MEMORY;
    sink->is_gzip = true;
    return ACRE_OK;
}

acre_status acre_trace_sink_open(acre_trace_sink *sink, const char *path, int compression,
                                 const acre_host_hooks *hooks, acre_error *error) {
    *sink = (acre_trace_sink){.hooks = *hooks, .broken = ACRE_ERROR_INIT};
    (void)snprintf(sink->path, sizeof(sink->path), "%s", acre_trace_shorten(path).text);
    // The file comes last, so that a refusal leaves an existing one as it was.
    if (set_up(sink, path, compression) != ACRE_OK) {
        free_all(sink);
        return acre_trace_fail_no_memory(error, ACRE_TRACE_SINK_SIZE);
    }
    sink->file = fopen(path, "wb");
    if (!sink->file) {
        acre_status status = acre_trace_fail(error, ACRE_IO_ERROR, "%s: cannot be created: %s",
                                             sink->path, strerror(errno));
        free_all(sink);
        return status;
    }
    (void)setvbuf(sink->file, NULL, _IONBF, 0);
    return ACRE_OK;
}

acre_status acre_trace_sink_room(acre_trace_sink *sink, size_t size) {
    if (ACRE_TRACE_SINK_SIZE - sink->used >= size)
        return sink->broken.status;
    return write_out(sink, Z_NO_FLUSH);
}

acre_status acre_trace_sink_close(acre_trace_sink *sink, acre_error *error) {
    (void)write_out(sink, Z_FINISH);
    if (fclose(sink->file) != 0 && sink->broken.status == ACRE_OK)
        (void)break_off(sink, errno);
    free_all(sink);
    return sink->broken.status == ACRE_OK ? ACRE_OK : acre_trace_fail_with(error, &sink->broken);
}
