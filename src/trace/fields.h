// The fields of one line, and what may stand in them.
#ifndef ACRE_TRACE_FIELDS_H
#define ACRE_TRACE_FIELDS_H

#include <acre/trace.h>

typedef enum acre_trace_column {
    ACRE_TRACE_THREAD,
    ACRE_TRACE_TIME,
    ACRE_TRACE_ACTION,
    ACRE_TRACE_POINTER,
    ACRE_TRACE_SIZE,
    ACRE_TRACE_STREAM,
    ACRE_TRACE_COLUMNS
} acre_trace_column;

extern const char *const acre_trace_column_names[ACRE_TRACE_COLUMNS];

// A header may name more columns than are read.
enum {
    ACRE_TRACE_FIELDS_MOST = 64
};

// Text of one field, without spaces around it.
typedef struct acre_trace_field {
    const char *begin;
    const char *end;
} acre_trace_field;

// Splits [line, end) at its commas. => How many fields there are; only the first `capacity` are
// written.
unsigned acre_trace_split(const char *line, const char *end, acre_trace_field *fields,
                          unsigned capacity);

bool acre_trace_field_is(acre_trace_field field, const char *text);

// Puts a field into its place in `event`.
// => NULL, or what is wrong with it, as in "'x' is not a number".
const char *acre_trace_field_parse(acre_trace_column column, acre_trace_field field,
                                   acre_trace_event *event);

#endif
