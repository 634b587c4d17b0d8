// A bounded text that keeps count of what did not fit, as snprintf does; and sizes for people.
#ifndef ACRE_BASE_TEXT_H
#define ACRE_BASE_TEXT_H

#include <stddef.h>
#include <stdint.h>

typedef struct acre_text {
    char *buffer; // may be NULL when capacity is 0
    size_t capacity;
    size_t length; // of the whole text, whether it fitted or not
} acre_text;

// Appends in printf's manner; the buffer always ends with 0 when it has room for one.
__attribute__((format(printf, 2, 3))) void acre_text_add(acre_text *text, const char *format, ...);

// Appends a string with the escapes JSON needs, without quotes.
void acre_text_add_json(acre_text *text, const char *string);

// Room for any size that acre_format_bytes writes.
typedef struct acre_bytes_text {
    char text[40];
} acre_bytes_text;

// "17 B", "4 KiB", "1.5 GiB": exact multiples without decimals, else two. A unit is used from 1 of
// it on.
acre_bytes_text acre_format_bytes(uint64_t bytes);

#endif
