#include "source.h"

#include <errno.h>
#include <string.h>

#include "detail.h"

enum {
    INPUT_SIZE = 1 << 16,
    OUTPUT_MOST = 1 << 20, // bytes a call unpacks: zlib counts in unsigned int
    GZIP_ONLY = 16,        // zlib's flag beside the window bits
};

static voidpf zlib_alloc(voidpf opaque, uInt items, uInt size) {
    size_t total = (size_t)items * size + ACRE_TRACE_MEMORY_ALIGNMENT;
    unsigned char *memory = acre_trace_alloc(opaque, total);
    if (!memory)
        return Z_NULL;
    memcpy(memory, &total, sizeof(total));
    return memory + ACRE_TRACE_MEMORY_ALIGNMENT;
}

static void zlib_free(voidpf opaque, voidpf address) {
    unsigned char *memory = (unsigned char *)address - ACRE_TRACE_MEMORY_ALIGNMENT;
    size_t total;
    memcpy(&total, memory, sizeof(total));
    acre_trace_free(opaque, memory, total);
}

void acre_trace_zlib_hooks(z_stream *stream, acre_host_hooks *hooks) {
    stream->zalloc = zlib_alloc;
    stream->zfree = zlib_free;
    stream->opaque = hooks;
}

// Fills `input` from the file when it is used up.
// => After it, avail_in is 0 only at the end of the file.
static acre_status refill(acre_trace_source *source) {
    z_stream *stream = &source->inflater;
    if (stream->avail_in > 0 || source->file_ended)
        return ACRE_OK;
    size_t got = fread(source->input, 1, INPUT_SIZE, source->file);
    if (got == 0) {
        if (ferror(source->file)) {
            source->problem = strerror(errno);
            return ACRE_IO_ERROR;
        }
        source->file_ended = true;
    }
    stream->next_in = source->input;
    stream->avail_in = (uInt)got;
    return ACRE_OK;
}

static bool starts_a_member(const z_stream *stream) {
    return stream->avail_in >= 2 && stream->next_in[0] == 0x1f && stream->next_in[1] == 0x8b;
}

static acre_status open_content(acre_trace_source *source, const char *path, acre_error *error) {
    // The buffers are ours: stdio's would only copy.
    (void)setvbuf(source->file, NULL, _IONBF, 0);
    source->input = acre_trace_alloc(&source->hooks, INPUT_SIZE);
    if (!source->input)
        return acre_trace_fail_no_memory(error, INPUT_SIZE);
    acre_status status = refill(source);
    if (status != ACRE_OK)
        return acre_trace_fail(error, status, "%s: cannot be read: %s",
                               acre_trace_shorten(path).text, source->problem);
    if (!starts_a_member(&source->inflater))
        return ACRE_OK;

    acre_trace_zlib_hooks(&source->inflater, &source->hooks);
    if (inflateInit2(&source->inflater, MAX_WBITS + GZIP_ONLY) != Z_OK)
        return acre_trace_fail_no_memory(error, 0);
    source->is_gzip = true;
    return ACRE_OK;
}

acre_status acre_trace_source_open(acre_trace_source *source, const char *path,
                                   const acre_host_hooks *hooks, acre_error *error) {
    *source = (acre_trace_source){.hooks = *hooks};
    source->file = fopen(path, "rb");
    if (!source->file)
        return acre_trace_fail(error, ACRE_IO_ERROR, "%s: cannot be opened: %s",
                               acre_trace_shorten(path).text, strerror(errno));
    acre_status status = open_content(source, path, error);
    if (status != ACRE_OK)
        acre_trace_source_close(source);
    return status;
}

static acre_status read_plain(acre_trace_source *source, void *buffer, size_t capacity,
                              size_t *got) {
    acre_status status = refill(source);
    if (status != ACRE_OK)
        return status;
    z_stream *stream = &source->inflater;
    *got = stream->avail_in < capacity ? stream->avail_in : capacity;
    if (*got > 0)
        memcpy(buffer, stream->next_in, *got);
    stream->next_in += *got;
    stream->avail_in -= (uInt)*got;
    return ACRE_OK;
}

// A member has ended: is there another one?
// => `*more` is false at the end of the file. Anything but a member there is MALFORMED_INPUT.
static acre_status next_member(acre_trace_source *source, bool *more) {
    acre_status status = refill(source);
    if (status != ACRE_OK)
        return status;
    z_stream *stream = &source->inflater;
    *more = stream->avail_in > 0;
    if (!*more)
        return ACRE_OK;
    // Its header is checked by inflate; a first byte is all that surely is in the buffer.
    if (stream->next_in[0] != 0x1f) {
        source->problem = "bytes of another kind follow the data";
        return ACRE_MALFORMED_INPUT;
    }
    (void)inflateReset(stream);
    source->between_members = false;
    return ACRE_OK;
}

// One step of inflate on what is in `input`.
static acre_status inflate_step(acre_trace_source *source) {
    z_stream *stream = &source->inflater;
    switch (inflate(stream, Z_NO_FLUSH)) {
    case Z_STREAM_END:
        source->between_members = true;
        return ACRE_OK;
    case Z_OK:
    case Z_BUF_ERROR: // it needs more input
        return ACRE_OK;
    case Z_MEM_ERROR:
        source->problem = "no host memory is left to unpack it";
        return ACRE_OUT_OF_HOST_MEMORY;
    default:
        source->problem = stream->msg ? stream->msg : "the data are damaged";
        return ACRE_MALFORMED_INPUT;
    }
}

// Unpacks until there is a byte, the end of the last member or an error.
static acre_status unpack(acre_trace_source *source) {
    z_stream *stream = &source->inflater;
    uInt room = stream->avail_out;
    while (stream->avail_out == room) {
        if (source->between_members) {
            bool more;
            acre_status status = next_member(source, &more);
            if (status != ACRE_OK || !more)
                return status;
        }
        acre_status status = refill(source);
        if (status == ACRE_OK)
            status = inflate_step(source);
        if (status != ACRE_OK)
            return status;
        // Without input inflate may still have bytes to hand out, so ask it first.
        if (source->file_ended && !source->between_members && stream->avail_out == room) {
            source->truncated = true;
            source->problem = "the data end early, the file is truncated";
            return ACRE_MALFORMED_INPUT;
        }
    }
    return ACRE_OK;
}

static acre_status read_gzip(acre_trace_source *source, void *buffer, size_t capacity,
                             size_t *got) {
    z_stream *stream = &source->inflater;
    uInt room = capacity < OUTPUT_MOST ? (uInt)capacity : OUTPUT_MOST;
    stream->next_out = buffer;
    stream->avail_out = room;
    acre_status status = unpack(source);
    *got = room - stream->avail_out;
    // What was unpacked before an error is good; inflate reports the error again.
    return *got > 0 ? ACRE_OK : status;
}

acre_status acre_trace_source_read(acre_trace_source *source, void *buffer, size_t capacity,
                                   size_t *got) {
    return source->is_gzip ? read_gzip(source, buffer, capacity, got)
                           : read_plain(source, buffer, capacity, got);
}

void acre_trace_source_close(acre_trace_source *source) {
    if (source->is_gzip)
        (void)inflateEnd(&source->inflater);
    if (source->file)
        (void)fclose(source->file);
    acre_trace_free(&source->hooks, source->input, INPUT_SIZE);
    *source = (acre_trace_source){0};
}
