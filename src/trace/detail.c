#include "detail.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void *system_alloc(void *context, size_t size, size_t alignment) {
    (void)context;
    (void)alignment; // malloc's own is enough for this library
    return malloc(size);
}

static void system_free(void *context, void *memory, size_t size, size_t alignment) {
    (void)context;
    (void)size;
    (void)alignment;
    free(memory);
}

acre_status acre_trace_hooks_take(const acre_host_hooks *given, acre_host_hooks *hooks,
                                  acre_error *error) {
    *hooks = ACRE_HOST_HOOKS_INIT;
    if (given) {
        acre_status status =
            acre_trace_struct_read(hooks, sizeof(*hooks), given, "host hooks", error);
        if (status != ACRE_OK)
            return status;
    }
    if (!hooks->alloc != !hooks->free)
        return acre_trace_fail(error, ACRE_INVALID_ARGUMENT,
                               "the host hooks need both alloc and free");
    if (!hooks->alloc) {
        hooks->alloc = system_alloc;
        hooks->free = system_free;
    }
    return ACRE_OK;
}

void *acre_trace_alloc(const acre_host_hooks *hooks, size_t size) {
    return hooks->alloc(hooks->context, size, ACRE_TRACE_MEMORY_ALIGNMENT);
}

void acre_trace_free(const acre_host_hooks *hooks, void *memory, size_t size) {
    if (memory)
        hooks->free(hooks->context, memory, size, ACRE_TRACE_MEMORY_ALIGNMENT);
}

void *acre_trace_grow(const acre_host_hooks *hooks, void *memory, size_t old_size,
                      size_t new_size) {
    void *grown = acre_trace_alloc(hooks, new_size);
    if (!grown)
        return NULL;
    if (memory)
        memcpy(grown, memory, old_size);
    acre_trace_free(hooks, memory, old_size);
    return grown;
}

acre_status acre_trace_struct_read(void *known, size_t known_size, const void *given,
                                   const char *name, acre_error *error) {
    size_t given_size;
    memcpy(&given_size, given, sizeof(given_size));
    if (given_size < sizeof(size_t))
        return acre_trace_fail(error, ACRE_INVALID_ARGUMENT,
                               "the %s have no struct_size: begin with their INIT macro", name);
    const unsigned char *bytes = given;
    for (size_t i = known_size; i < given_size; i++) {
        if (bytes[i] != 0)
            return acre_trace_fail(error, ACRE_UNSUPPORTED,
                                   "the %s set a field that this version does not know", name);
    }
    memcpy(known, given, given_size < known_size ? given_size : known_size);
    memcpy(known, &known_size, sizeof(known_size));
    return ACRE_OK;
}

void acre_trace_struct_write(void *given, const void *known, size_t known_size) {
    size_t given_size;
    memcpy(&given_size, given, sizeof(given_size));
    if (given_size < sizeof(size_t))
        return;
    memcpy(given, known, given_size < known_size ? given_size : known_size);
    memcpy(given, &given_size, sizeof(given_size));
}

acre_status acre_trace_fail(acre_error *error, acre_status status, const char *format, ...) {
    if (!error)
        return status;
    acre_error full = ACRE_ERROR_INIT;
    full.status = status;
    va_list arguments;
    va_start(arguments, format);
    (void)vsnprintf(full.detail, sizeof(full.detail), format, arguments);
    va_end(arguments);
    return acre_trace_fail_with(error, &full);
}

acre_status acre_trace_fail_no_memory(acre_error *error, size_t size) {
    acre_error full = ACRE_ERROR_INIT;
    full.status = ACRE_OUT_OF_HOST_MEMORY;
    full.size = size;
    return acre_trace_fail_with(error, &full);
}

acre_status acre_trace_fail_with(acre_error *error, const acre_error *kept) {
    if (error)
        acre_trace_struct_write(error, kept, sizeof(*kept));
    return kept->status;
}

acre_trace_short_path acre_trace_shorten(const char *path) {
    acre_trace_short_path shortened;
    size_t length = strlen(path);
    size_t room = sizeof(shortened.text) - 1;
    if (length <= room)
        memcpy(shortened.text, path, length + 1);
    else
        (void)snprintf(shortened.text, sizeof(shortened.text), "...%s", path + length - room + 3);
    return shortened;
}
