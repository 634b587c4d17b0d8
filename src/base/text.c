#include "base/text.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>

void acre_text_add(acre_text *text, const char *format, ...) {
    size_t used = text->length < text->capacity ? text->length : text->capacity;
    va_list arguments;
    va_start(arguments, format);
    int added = vsnprintf(text->buffer == NULL ? NULL : text->buffer + used, text->capacity - used,
                          format, arguments);
    va_end(arguments);
    if (added > 0) {
        text->length += (size_t)added;
    }
}

void acre_text_add_json(acre_text *text, const char *string) {
    for (const char *at = string; *at != '\0'; at++) {
        unsigned char byte = (unsigned char)*at;
        if (byte == '"' || byte == '\\') {
            acre_text_add(text, "\\%c", byte);
        } else if (byte < 0x20) {
            acre_text_add(text, "\\u%04x", byte);
        } else {
            acre_text_add(text, "%c", byte);
        }
    }
}

acre_bytes_text acre_format_bytes(uint64_t bytes) {
    static const char *const units[] = {"B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"};
    acre_bytes_text result;
    uint32_t unit = 0;
    while (unit < 6 && bytes >> (10 * (unit + 1)) != 0) {
        unit++;
    }
    uint64_t one = UINT64_C(1) << (10 * unit);
    if (bytes % one == 0) {
        snprintf(result.text, sizeof result.text, "%" PRIu64 " %s", bytes / one, units[unit]);
    } else {
        snprintf(result.text, sizeof result.text, "%.2f %s", (double)bytes / (double)one,
                 units[unit]);
    }
    return result;
}
