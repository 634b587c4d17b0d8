// Files for the tests of libacre-trace, in a folder of their own, and host memory that runs out.
#ifndef ACRE_TESTS_TRACE_FILES_H
#define ACRE_TESTS_TRACE_FILES_H

#include <acre/host.h>

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#define TRACE_HEADER "Thread,Time,Action,Pointer,Size,Stream\n"

// Group fixtures: make the folder, remove it with all that is in it.
int trace_files_begin(void **state);
int trace_files_end(void **state);

// The path of a file there; good until the next call but seven.
const char *trace_path(const char *name);

// Writes a file and returns its path.
const char *trace_write(const char *name, const char *text);
const char *trace_write_bytes(const char *name, const void *bytes, size_t size);

// The text as one gzip member. => Its length in `packed`.
size_t trace_pack(const char *text, unsigned char *packed, size_t capacity);
const char *trace_write_gzip(const char *name, const char *text);

// A whole file, unpacked if need be, with a final 0. The caller frees it.
char *trace_read(const char *path);

// The folder of the bundled traces. Skips the test when it is not known.
const char *trace_bundled(const char *name);

// Host memory that counts, and whose n-th call fails.
typedef struct trace_memory {
    acre_host_hooks hooks;
    uint64_t calls;
    uint64_t fail_at; // 0 = never
    uint64_t held;    // bytes
    uint64_t peak;
} trace_memory;
void trace_memory_begin(trace_memory *memory, uint64_t fail_at);

#endif
