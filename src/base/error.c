#include "base/error.h"

#include "base/structs.h"
#include "base/text.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>

typedef struct status_entry {
    acre_status status;
    const char *name;
    const char *text;
    const char *advice;
} status_entry;

static const status_entry status_entries[] = {
#define ACRE_STATUS_ENTRY(number, name, text, next) {ACRE_##name, #name, text, next},
    ACRE_STATUS_LIST(ACRE_STATUS_ENTRY)
#undef ACRE_STATUS_ENTRY
};

static const status_entry *entry_of(acre_status status) {
    static const status_entry unknown = {ACRE_OK, "UNKNOWN", "a status of another version",
                                         "update the program or the library"};
    for (size_t i = 0; i < sizeof status_entries / sizeof status_entries[0]; i++) {
        if (status_entries[i].status == status) {
            return &status_entries[i];
        }
    }
    return &unknown;
}

const char *acre_status_name(acre_status status) {
    return entry_of(status)->name;
}

const char *acre_status_text(acre_status status) {
    return entry_of(status)->text;
}

const char *acre_status_advice(acre_status status) {
    return entry_of(status)->advice;
}

acre_status acre_error_publish(acre_error *theirs, const acre_error *local, acre_status status) {
    acre_struct_write(theirs, local, sizeof *local);
    return status;
}

void acre_error_describe(acre_error *error, acre_status status, const char *format, ...) {
    acre_error_refuse(error, status, 0);
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(error->detail, sizeof error->detail, format, arguments);
    va_end(arguments);
}

acre_status acre_error_native(acre_error *error, acre_status status, uint64_t size, int64_t code,
                              const char *text) {
    acre_error_refuse(error, status, size);
    error->native_code = code;
    snprintf(error->native_text, sizeof error->native_text, "%s", text);
    return status;
}

static void add_bytes(acre_text *text, const char *before, uint64_t bytes) {
    acre_text_add(text, "%s%s", before, acre_format_bytes(bytes).text);
}

static void add_sizes(acre_text *text, const acre_error *error) {
    bool memory = error->status == ACRE_OUT_OF_MEMORY || error->cause == ACRE_OUT_OF_MEMORY;
    if (error->size != 0) {
        add_bytes(text, "; asked for ", error->size);
    }
    if (error->capacity != 0 || error->status == ACRE_POOL_CAPACITY_EXCEEDED) {
        add_bytes(text, "; limit ", error->capacity);
    }
    if (memory || error->status == ACRE_POOLS_IN_USE ||
        error->status == ACRE_POOL_CAPACITY_EXCEEDED) {
        bool of_a_pool = error->status != ACRE_OUT_OF_MEMORY; // the rest below is of the manager
        add_bytes(text, of_a_pool ? "; in use there " : "; live ", error->in_use);
    }
    if (memory) {
        add_bytes(text, ", reserved ", error->reserved);
        add_bytes(text, ", free but in pieces ", error->free);
        add_bytes(text, ", largest free piece ", error->largest_free);
    }
}

size_t acre_error_format(const acre_error *error, char *buffer, size_t capacity) {
    acre_text text = {buffer, capacity, 0};
    acre_error own = ACRE_ERROR_INIT;
    if (error == NULL || !acre_struct_read(&own, sizeof own, error)) {
        acre_text_add(&text, "an error of a version this library does not know");
        return text.length;
    }
    const status_entry *entry = entry_of(own.status);
    acre_text_add(&text, "%s", entry->text);
    if (own.detail[0] != '\0') {
        acre_text_add(&text, ": %s", own.detail);
    }
    add_sizes(&text, &own);
    if (own.cause != ACRE_OK) {
        acre_text_add(&text, "; because %s", acre_status_text(own.cause));
        if (own.cause_capacity != 0) {
            add_bytes(&text, ", limit ", own.cause_capacity);
        }
    }
    if (own.native_code != 0) {
        acre_text_add(&text, "; the device says %" PRId64 " \"%s\"", own.native_code,
                      own.native_text);
    } else if (own.native_text[0] != '\0') { // no code of its own: the library was not even loaded
        acre_text_add(&text, "; the system says \"%s\"", own.native_text);
    }
    acre_text_add(&text, " (%s). Next: %s.", entry->name, entry->advice);
    return text.length;
}
