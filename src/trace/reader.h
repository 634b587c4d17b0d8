// What the loader needs of a reader beside the public functions.
#ifndef ACRE_TRACE_READER_H
#define ACRE_TRACE_READER_H

#include <acre/trace.h>

#include "fields.h"

// acre_trace_reader_next for an event of this library's own size.
acre_status acre_trace_reader_step(acre_trace_reader *reader, acre_trace_event *event, bool *more,
                                   acre_error *error);

// Turns down the line of `event` for what `column` holds.
// => MALFORMED_INPUT; ACRE_OK from a lenient reader, which counts the line as passed over.
acre_status acre_trace_reader_reject(acre_trace_reader *reader, const acre_trace_event *event,
                                     acre_trace_column column, const char *what, acre_error *error);

#endif
