#include "fields.h"

#include <string.h>

const char *const acre_trace_column_names[ACRE_TRACE_COLUMNS] = {"Thread",  "Time", "Action",
                                                                 "Pointer", "Size", "Stream"};

static acre_trace_field trimmed(const char *begin, const char *end) {
    while (begin < end && (*begin == ' ' || *begin == '\t'))
        begin++;
    while (begin < end && (end[-1] == ' ' || end[-1] == '\t'))
        end--;
    return (acre_trace_field){begin, end};
}

unsigned acre_trace_split(const char *line, const char *end, acre_trace_field *fields,
                          unsigned capacity) {
    unsigned count = 0;
    const char *begin = line;
    for (const char *at = line;; at++) {
        if (at < end && *at != ',')
            continue;
        if (count < capacity)
            fields[count] = trimmed(begin, at);
        count++;
        if (at == end)
            return count;
        begin = at + 1;
    }
}

bool acre_trace_field_is(acre_trace_field field, const char *text) {
    size_t length = (size_t)(field.end - field.begin);
    return strlen(text) == length && memcmp(field.begin, text, length) == 0;
}

static bool is_digit(char c) {
    return c >= '0' && c <= '9';
}

static const char no_fit[] = "does not fit 64 bits";

// Digits only, all of the field. => NULL, or `otherwise` when it is not a number.
static const char *parse_decimal(acre_trace_field field, uint64_t *value, const char *otherwise) {
    enum {
        SAFE_DIGITS = 19 // as many nines fit 64 bits
    };
    if (field.begin == field.end)
        return otherwise;
    uint64_t sum = 0;
    bool overflow = false;
    bool may_overflow = field.end - field.begin > SAFE_DIGITS;
    for (const char *at = field.begin; at < field.end; at++) {
        unsigned digit = (unsigned)(unsigned char)*at - '0';
        if (digit > 9)
            return otherwise;
        if (may_overflow && (sum > UINT64_MAX / 10 || sum * 10 > UINT64_MAX - digit))
            overflow = true;
        sum = sum * 10 + digit;
    }
    *value = sum;
    return overflow ? no_fit : NULL;
}

static unsigned hex_digit(char c) {
    if (is_digit(c))
        return (unsigned)(c - '0');
    char lower = (char)(c | 0x20);
    return lower >= 'a' && lower <= 'f' ? (unsigned)(lower - 'a') + 10 : 16;
}

// (nil), or hexadecimal with 0x.
static const char *parse_pointer(acre_trace_field field, uint64_t *value, const char *otherwise) {
    if (acre_trace_field_is(field, "(nil)")) {
        *value = 0;
        return NULL;
    }
    const char *at = field.begin;
    if (field.end - at < 3 || at[0] != '0' || (at[1] | 0x20) != 'x')
        return otherwise;
    uint64_t sum = 0;
    bool overflow = false;
    for (at += 2; at < field.end; at++) {
        unsigned digit = hex_digit(*at);
        if (digit > 15)
            return otherwise;
        overflow = overflow || sum >> 60;
        sum = sum << 4 | digit;
    }
    *value = sum;
    return overflow ? no_fit : NULL;
}

static const char *parse_stream(acre_trace_field field, uint64_t *value) {
    static const char otherwise[] = "is neither a number nor a pointer";
    bool hexadecimal = field.end - field.begin > 1 && !is_digit(field.begin[1]);
    return hexadecimal ? parse_pointer(field, value, otherwise)
                       : parse_decimal(field, value, otherwise);
}

static const char *parse_size(acre_trace_field field, uint64_t *value) {
    if (field.begin < field.end && *field.begin == '-')
        return "is negative";
    return parse_decimal(field, value, "is not a number of bytes");
}

static const char *parse_action(acre_trace_field field, acre_trace_action *action) {
    if (acre_trace_field_is(field, "allocate"))
        *action = ACRE_TRACE_ALLOCATE;
    else if (acre_trace_field_is(field, "free"))
        *action = ACRE_TRACE_FREE;
    else if (acre_trace_field_is(field, "allocate failure"))
        *action = ACRE_TRACE_ALLOCATE_FAILURE;
    else
        return "is none of allocate, allocate failure, free";
    return NULL;
}

// Digits after the point, as millionths; what is finer is dropped.
static bool parse_fraction(const char *at, const char *end, uint64_t *micros) {
    uint64_t unit = 100000;
    *micros = 0;
    if (at == end)
        return false;
    for (; at < end; at++) {
        if (!is_digit(*at))
            return false;
        *micros += unit * (uint64_t)(*at - '0');
        unit /= 10;
    }
    return true;
}

// No sum of times is ever formed, so the largest time stands for all that are later.
static uint64_t to_micros(uint64_t seconds, uint64_t micros) {
    const uint64_t million = 1000000;
    return seconds > (UINT64_MAX - micros) / million ? UINT64_MAX : seconds * million + micros;
}

// Two digits below 60.
static bool parse_sixtieth(const char *at, uint64_t *value) {
    if (!is_digit(at[0]) || !is_digit(at[1]) || at[0] > '5')
        return false;
    *value = (uint64_t)(at[0] - '0') * 10 + (uint64_t)(at[1] - '0');
    return true;
}

// HH:MM:SS[.micros]; old logs have a colon before the micros. `colon` is the first one.
static bool parse_clock(acre_trace_field field, const char *colon, uint64_t *time) {
    uint64_t hours, minutes, seconds;
    uint64_t micros = 0;
    acre_trace_field hour = {field.begin, colon};
    const ptrdiff_t length = sizeof(":MM:SS") - 1;
    if (field.end - colon < length || colon[3] != ':' || parse_decimal(hour, &hours, no_fit) ||
        hours > UINT64_MAX / 3600 - 1 || !parse_sixtieth(colon + 1, &minutes) ||
        !parse_sixtieth(colon + 4, &seconds))
        return false;
    const char *after = colon + length;
    if (after < field.end &&
        ((*after != '.' && *after != ':') || !parse_fraction(after + 1, field.end, &micros)))
        return false;
    *time = to_micros((hours * 60 + minutes) * 60 + seconds, micros);
    return true;
}

static const char *parse_time(acre_trace_field field, uint64_t *time) {
    static const char otherwise[] = "is neither HH:MM:SS.micros nor a number";
    const char *at = field.begin;
    while (at < field.end && is_digit(*at))
        at++;
    if (at < field.end && *at == ':')
        return parse_clock(field, at, time) ? NULL : otherwise;

    acre_trace_field whole = {field.begin, at};
    uint64_t seconds = 0;
    uint64_t micros = 0;
    const char *wrong = parse_decimal(whole, &seconds, otherwise);
    if (wrong)
        return wrong;
    if (at < field.end && (*at != '.' || !parse_fraction(at + 1, field.end, &micros)))
        return otherwise;
    *time = to_micros(seconds, micros);
    return NULL;
}

const char *acre_trace_field_parse(acre_trace_column column, acre_trace_field field,
                                   acre_trace_event *event) {
    switch (column) {
    case ACRE_TRACE_THREAD:
        return parse_decimal(field, &event->thread, "is not a number");
    case ACRE_TRACE_TIME:
        return parse_time(field, &event->time);
    case ACRE_TRACE_ACTION:
        return parse_action(field, &event->action);
    case ACRE_TRACE_POINTER:
        return parse_pointer(field, &event->pointer, "is neither a hexadecimal address nor (nil)");
    case ACRE_TRACE_SIZE:
        return parse_size(field, &event->size);
    case ACRE_TRACE_STREAM:
        return parse_stream(field, &event->stream);
    case ACRE_TRACE_COLUMNS:
        break;
    }
    return NULL;
}
