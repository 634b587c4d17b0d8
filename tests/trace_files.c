#define _DEFAULT_SOURCE // mkdtemp

#include "trace_files.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <zlib.h>

static char folder[] = "/tmp/acre-trace-XXXXXX";

int trace_files_begin(void **state) {
    (void)state;
    return mkdtemp(folder) ? 0 : -1;
}

int trace_files_end(void **state) {
    (void)state;
    char command[64];
    (void)snprintf(command, sizeof(command), "rm -r %s", folder);
    return system(command);
}

const char *trace_path(const char *name) {
    static char paths[8][512];
    static unsigned next;
    char *path = paths[next++ % 8];
    (void)snprintf(path, sizeof(paths[0]), "%s/%s", folder, name);
    return path;
}

const char *trace_write_bytes(const char *name, const void *bytes, size_t size) {
    const char *path = trace_path(name);
    FILE *file = fopen(path, "wb");
    assert_non_null(file);
    assert_int_equal(fwrite(bytes, 1, size, file), size);
    assert_int_equal(fclose(file), 0);
    return path;
}

const char *trace_write(const char *name, const char *text) {
    return trace_write_bytes(name, text, strlen(text));
}

size_t trace_pack(const char *text, unsigned char *packed, size_t capacity) {
    z_stream stream = {0};
    assert_int_equal(deflateInit2(&stream, 6, Z_DEFLATED, MAX_WBITS + 16, 8, Z_DEFAULT_STRATEGY),
                     Z_OK);
    stream.next_in = (unsigned char *)(uintptr_t)text;
    stream.avail_in = (uInt)strlen(text);
    stream.next_out = packed;
    stream.avail_out = (uInt)capacity;
    assert_int_equal(deflate(&stream, Z_FINISH), Z_STREAM_END);
    size_t size = stream.total_out;
    assert_int_equal(deflateEnd(&stream), Z_OK);
    return size;
}

const char *trace_write_gzip(const char *name, const char *text) {
    size_t capacity = strlen(text) + 1024;
    unsigned char *packed = malloc(capacity);
    assert_non_null(packed);
    size_t size = trace_pack(text, packed, capacity);
    const char *path = trace_write_bytes(name, packed, size);
    free(packed);
    return path;
}

char *trace_read(const char *path) {
    gzFile file = gzopen(path, "rb");
    assert_non_null(file);
    size_t capacity = 1 << 20;
    size_t used = 0;
    char *text = malloc(capacity);
    assert_non_null(text);
    for (;;) {
        int got = gzread(file, text + used, (unsigned)(capacity - used - 1));
        assert_true(got >= 0);
        if (got == 0)
            break;
        used += (size_t)got;
        if (capacity - used < 4096) {
            capacity *= 2;
            text = realloc(text, capacity);
            assert_non_null(text);
        }
    }
    text[used] = '\0';
    assert_int_equal(gzclose(file), Z_OK);
    return text;
}

const char *trace_bundled(const char *name) {
    static char path[1024];
    const char *traces = getenv("ACRE_TRACES");
    if (!traces) {
        skip();
        return NULL;
    }
    (void)snprintf(path, sizeof(path), "%s/%s", traces, name);
    return path;
}

static void *counted_alloc(void *context, size_t size, size_t alignment) {
    trace_memory *memory = context;
    if (++memory->calls == memory->fail_at)
        return NULL;
    memory->held += size;
    if (memory->held > memory->peak)
        memory->peak = memory->held;
    size_t rounded = (size + alignment - 1) / alignment * alignment;
    return aligned_alloc(alignment, rounded ? rounded : alignment);
}

static void counted_free(void *context, void *address, size_t size, size_t alignment) {
    (void)alignment;
    trace_memory *memory = context;
    assert_true(memory->held >= size);
    memory->held -= size;
    free(address);
}

void trace_memory_begin(trace_memory *memory, uint64_t fail_at) {
    *memory = (trace_memory){.hooks = ACRE_HOST_HOOKS_INIT, .fail_at = fail_at};
    memory->hooks.alloc = counted_alloc;
    memory->hooks.free = counted_free;
    memory->hooks.context = memory;
}
