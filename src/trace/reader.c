// A reader holds one buffer of whole and begun lines:
//
//     buffer   begin            scanned        end        capacity
//       |  read  |  no line end   |   unknown   |   free     |
//
// It finds the next line end, splits the line into fields and parses those that the header named.
#include "reader.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "detail.h"
#include "source.h"

enum {
    BUFFER_SIZE = 1 << 18,
    LINE_MOST = 1 << 16,
    QUOTED_MOST = 24, // characters of a wrong field that an error repeats
};

struct acre_trace_reader {
    acre_host_hooks hooks;
    acre_trace_source source;
    char *buffer;
    size_t begin, scanned, end;
    bool source_ended;
    bool line_too_long; // its beginning was dropped
    bool lenient;
    bool header_read;
    uint64_t line; // of the last line taken
    unsigned header_fields;
    unsigned place[ACRE_TRACE_COLUMNS]; // which field of a line is this column's
    uint64_t skipped;
    acre_error first_skipped;
    acre_error broken; // what ended the reading for good
    size_t path_size;
    char *path;
};

// ---- turning lines down --------------------------------------------------------------------

typedef struct quoted {
    char text[4 * QUOTED_MOST + 8];
} quoted;

// A field as an error can show it: short, and printable whatever the file holds.
static quoted quote(acre_trace_field field) {
    quoted result;
    size_t used = 0;
    result.text[used++] = '\'';
    const char *at = field.begin;
    for (; at < field.end && at - field.begin < QUOTED_MOST; at++) {
        unsigned char c = (unsigned char)*at;
        bool printable = c >= 0x20 && c < 0x7f && c != '\\';
        int written = snprintf(result.text + used, 5, printable ? "%c" : "\\x%02x", c);
        used += (size_t)written;
        if (used > 2 * (size_t)QUOTED_MOST)
            break;
    }
    (void)snprintf(result.text + used, 5, "%s'", at < field.end ? "..." : "");
    return result;
}

// => MALFORMED_INPUT, or ACRE_OK when the reader is to pass over the line.
static acre_status reject(acre_trace_reader *reader, const char *field, const char *value,
                          const char *what, acre_error *error) {
    bool skip = reader->lenient && reader->header_read;
    if (skip && reader->skipped++ > 0)
        return ACRE_OK;
    acre_error *detail = skip ? &reader->first_skipped : error;
    acre_status status = acre_trace_fail(detail, ACRE_MALFORMED_INPUT, "%s:%" PRIu64 ": %s: %s%s%s",
                                         acre_trace_shorten(reader->path).text, reader->line, field,
                                         value, *value ? " " : "", what);
    return skip ? ACRE_OK : status;
}

static acre_status reject_field(acre_trace_reader *reader, acre_trace_column column,
                                acre_trace_field field, const char *what, acre_error *error) {
    const char *name = acre_trace_column_names[column];
    if (field.begin == field.end)
        return reject(reader, name, "", "the field is empty", error);
    return reject(reader, name, quote(field).text, what, error);
}

static acre_status reject_count(acre_trace_reader *reader, unsigned count, acre_error *error) {
    char what[64];
    (void)snprintf(what, sizeof(what), "the line has %u fields and the header %u", count,
                   reader->header_fields);
    const char *field = "fields";
    unsigned first_missing = UINT32_MAX;
    for (int i = 0; i < ACRE_TRACE_COLUMNS; i++) {
        if (reader->place[i] >= count && reader->place[i] < first_missing) {
            first_missing = reader->place[i];
            field = acre_trace_column_names[i];
        }
    }
    return reject(reader, field, first_missing == UINT32_MAX ? "" : "missing,", what, error);
}

acre_status acre_trace_reader_reject(acre_trace_reader *reader, const acre_trace_event *event,
                                     acre_trace_column column, const char *what,
                                     acre_error *error) {
    char value[32];
    if (column == ACRE_TRACE_POINTER && event->pointer == 0)
        (void)snprintf(value, sizeof(value), "'(nil)'");
    else if (column == ACRE_TRACE_POINTER)
        (void)snprintf(value, sizeof(value), "'0x%" PRIx64 "'", event->pointer);
    else
        (void)snprintf(value, sizeof(value), "'%" PRIu64 "'", event->size);
    return reject(reader, acre_trace_column_names[column], value, what, error);
}

// ---- lines ---------------------------------------------------------------------------------

// The source failed: for good, unless a lenient reader can take it as the file's end.
static acre_status source_failed(acre_trace_reader *reader, acre_status status) {
    acre_trace_source *source = &reader->source;
    reader->line++;
    if (source->truncated && reader->lenient && reader->header_read) {
        (void)reject(reader, "gzip", "", source->problem, NULL);
        reader->begin = reader->end; // the line that was begun
        reader->line_too_long = false;
        reader->source_ended = true;
        return ACRE_OK;
    }
    const char *field = status == ACRE_MALFORMED_INPUT ? "gzip" : "cannot be read";
    return acre_trace_fail(&reader->broken, status, "%s:%" PRIu64 ": %s: %s",
                           acre_trace_shorten(reader->path).text, reader->line, field,
                           source->problem);
}

static acre_status fill(acre_trace_reader *reader) {
    if (reader->begin > 0) {
        memmove(reader->buffer, reader->buffer + reader->begin, reader->end - reader->begin);
        reader->end -= reader->begin;
        reader->scanned -= reader->begin;
        reader->begin = 0;
    }
    size_t got;
    acre_status status = acre_trace_source_read(&reader->source, reader->buffer + reader->end,
                                                BUFFER_SIZE - reader->end, &got);
    if (status != ACRE_OK)
        return source_failed(reader, status);
    reader->end += got;
    reader->source_ended = got == 0;
    return ACRE_OK;
}

// Takes the bytes up to `end` as a line, which `next` follows.
static acre_trace_field take_line(acre_trace_reader *reader, size_t end, size_t next) {
    acre_trace_field line = {reader->buffer + reader->begin, reader->buffer + end};
    if (line.end > line.begin && line.end[-1] == '\r')
        line.end--;
    if (line.end - line.begin > LINE_MOST)
        reader->line_too_long = true;
    reader->line++;
    reader->begin = reader->scanned = next;
    return line;
}

// => `*more` is false at the end. A line that is too long is returned cut, `line_too_long` set.
static acre_status next_line(acre_trace_reader *reader, acre_trace_field *line, bool *more) {
    *more = true;
    for (;;) {
        const char *from = reader->buffer + reader->scanned;
        const char *newline = memchr(from, '\n', reader->end - reader->scanned);
        if (newline) {
            size_t end = (size_t)(newline - reader->buffer);
            *line = take_line(reader, end, end + 1);
            return ACRE_OK;
        }
        reader->scanned = reader->end;
        if (reader->source_ended) {
            *more = reader->end > reader->begin || reader->line_too_long;
            if (*more)
                *line = take_line(reader, reader->end, reader->end);
            return ACRE_OK;
        }
        if (reader->end - reader->begin > LINE_MOST + 1) {
            reader->line_too_long = true;
            reader->begin = reader->end;
        }
        acre_status status = fill(reader);
        if (status != ACRE_OK)
            return status;
    }
}

// ---- the header ----------------------------------------------------------------------------

static acre_trace_field without_byte_order_mark(acre_trace_field line) {
    static const char mark[] = "\xef\xbb\xbf";
    if (line.end - line.begin >= 3 && memcmp(line.begin, mark, 3) == 0)
        line.begin += 3;
    return line;
}

static acre_status find_columns(acre_trace_reader *reader, acre_trace_field line,
                                acre_error *error) {
    acre_trace_field fields[ACRE_TRACE_FIELDS_MOST];
    unsigned count = acre_trace_split(line.begin, line.end, fields, ACRE_TRACE_FIELDS_MOST);
    if (count > ACRE_TRACE_FIELDS_MOST)
        return reject(reader, "header", "", "more than 64 columns", error);
    reader->header_fields = count;
    for (int column = 0; column < ACRE_TRACE_COLUMNS; column++) {
        const char *name = acre_trace_column_names[column];
        unsigned found = 0;
        for (unsigned i = 0; i < count; i++) {
            if (acre_trace_field_is(fields[i], name)) {
                reader->place[column] = i;
                found++;
            }
        }
        if (found != 1)
            return reject(reader, name, "",
                          found ? "the header names this column twice"
                                : "the header lacks this column, it should be "
                                  "Thread,Time,Action,Pointer,Size,Stream",
                          error);
    }
    return ACRE_OK;
}

static acre_status read_header(acre_trace_reader *reader, acre_error *error) {
    acre_trace_field line = {NULL, NULL};
    bool more;
    do {
        acre_status status = next_line(reader, &line, &more);
        if (status != ACRE_OK)
            return acre_trace_fail_with(error, &reader->broken);
    } while (more && line.begin == line.end && !reader->line_too_long);
    if (!more) {
        reader->line = 1;
        return reject(reader, "header", "", "the file is empty", error);
    }
    if (reader->line_too_long)
        return reject(reader, "header", "", "the line is longer than 64 KiB", error);
    acre_status status = find_columns(reader, without_byte_order_mark(line), error);
    reader->header_read = status == ACRE_OK;
    return status;
}

// ---- the reader ----------------------------------------------------------------------------

static acre_status set_up(acre_trace_reader *reader, const char *path, acre_error *error) {
    reader->path_size = strlen(path) + 1;
    reader->path = acre_trace_alloc(&reader->hooks, reader->path_size);
    if (!reader->path)
        return acre_trace_fail_no_memory(error, reader->path_size);
    memcpy(reader->path, path, reader->path_size);
    reader->buffer = acre_trace_alloc(&reader->hooks, BUFFER_SIZE);
    if (!reader->buffer)
        return acre_trace_fail_no_memory(error, BUFFER_SIZE);
    acre_status status = acre_trace_source_open(&reader->source, path, &reader->hooks, error);
    return status == ACRE_OK ? read_header(reader, error) : status;
}

acre_status acre_trace_reader_open(const char *path, const acre_trace_reader_options *options,
                                   acre_trace_reader **reader, acre_error *error) {
    acre_trace_reader_options known = ACRE_TRACE_READER_OPTIONS_INIT;
    acre_host_hooks hooks;
    acre_status status = ACRE_OK;
    if (options)
        status = acre_trace_struct_read(&known, sizeof(known), options, "reader options", error);
    if (status == ACRE_OK)
        status = acre_trace_hooks_take(known.hooks, &hooks, error);
    if (status != ACRE_OK)
        return status;
    acre_trace_reader *made = acre_trace_alloc(&hooks, sizeof(*made));
    if (!made)
        return acre_trace_fail_no_memory(error, sizeof(*made));
    *made = (acre_trace_reader){.hooks = hooks,
                                .lenient = known.lenient,
                                .first_skipped = ACRE_ERROR_INIT,
                                .broken = ACRE_ERROR_INIT};
    status = set_up(made, path, error);
    if (status != ACRE_OK) {
        acre_trace_reader_close(made);
        return status;
    }
    *reader = made;
    return ACRE_OK;
}

// => `*taken` when `event` holds the line; not when the line is to be passed over.
static acre_status parse_line(acre_trace_reader *reader, acre_trace_field line,
                              acre_trace_event *event, bool *taken, acre_error *error) {
    *taken = false;
    if (reader->line_too_long) {
        reader->line_too_long = false;
        return reject(reader, "line", "", "it is longer than 64 KiB", error);
    }
    acre_trace_field fields[ACRE_TRACE_FIELDS_MOST];
    unsigned count = acre_trace_split(line.begin, line.end, fields, ACRE_TRACE_FIELDS_MOST);
    if (count != reader->header_fields)
        return reject_count(reader, count, error);
    for (int i = 0; i < ACRE_TRACE_COLUMNS; i++) {
        acre_trace_column column = (acre_trace_column)i;
        acre_trace_field field = fields[reader->place[i]];
        const char *wrong = acre_trace_field_parse(column, field, event);
        if (wrong)
            return reject_field(reader, column, field, wrong, error);
    }
    event->line = reader->line;
    *taken = true;
    return ACRE_OK;
}

acre_status acre_trace_reader_step(acre_trace_reader *reader, acre_trace_event *event, bool *more,
                                   acre_error *error) {
    if (reader->broken.status != ACRE_OK)
        return acre_trace_fail_with(error, &reader->broken);
    for (;;) {
        acre_trace_field line;
        acre_status status = next_line(reader, &line, more);
        if (status != ACRE_OK)
            return acre_trace_fail_with(error, &reader->broken);
        if (!*more)
            return ACRE_OK;
        if (line.begin == line.end && !reader->line_too_long)
            continue;
        bool taken;
        status = parse_line(reader, line, event, &taken, error);
        if (status != ACRE_OK || taken)
            return status;
    }
}

acre_status acre_trace_reader_next(acre_trace_reader *reader, acre_trace_event *event, bool *more,
                                   acre_error *error) {
    acre_trace_event full = ACRE_TRACE_EVENT_INIT;
    acre_status status = acre_trace_reader_step(reader, &full, more, error);
    if (status == ACRE_OK && *more)
        acre_trace_struct_write(event, &full, sizeof(full));
    return status;
}

uint64_t acre_trace_reader_skipped(const acre_trace_reader *reader, acre_error *first) {
    if (reader->skipped > 0)
        (void)acre_trace_fail_with(first, &reader->first_skipped);
    return reader->skipped;
}

void acre_trace_reader_close(acre_trace_reader *reader) {
    if (!reader)
        return;
    acre_host_hooks hooks = reader->hooks;
    acre_trace_source_close(&reader->source);
    acre_trace_free(&hooks, reader->buffer, BUFFER_SIZE);
    acre_trace_free(&hooks, reader->path, reader->path_size);
    acre_trace_free(&hooks, reader, sizeof(*reader));
}
