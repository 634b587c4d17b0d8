#include "size.h"

#include <stdio.h>
#include <string.h>

typedef struct unit {
    const char *name;
    unsigned shift;
} unit;

static const unit units[] = {
    {"", 0},     {"B", 0},  {"K", 10},   {"KiB", 10}, {"M", 20},
    {"MiB", 20}, {"G", 30}, {"GiB", 30}, {"T", 40},   {"TiB", 40},
};

bool size_parse(const char *text, uint64_t *size, const char **why) {
    const char *at = text;
    *why = "is not a size: bytes, or a number with the unit KiB, MiB, GiB or TiB, are";
    if (*at == '-') {
        *why = "is negative";
        return false;
    }
    uint64_t number = 0;
    bool overflow = false;
    for (; *at >= '0' && *at <= '9'; at++) {
        unsigned digit = (unsigned)(*at - '0');
        overflow = overflow || number > (UINT64_MAX - digit) / 10;
        number = number * 10 + digit;
    }
    if (at == text)
        return false;
    for (size_t i = 0; i < sizeof(units) / sizeof(units[0]); i++) {
        if (strcmp(at, units[i].name) != 0)
            continue;
        if (overflow || number > UINT64_MAX >> units[i].shift) {
            *why = "does not fit 64 bits";
            return false;
        }
        *size = number << units[i].shift;
        return true;
    }
    return false;
}

size_text size_format(uint64_t size) {
    static const char *const names[] = {"KiB", "MiB", "GiB", "TiB", "PiB", "EiB"};
    size_text result;
    if (size < 1024) {
        (void)snprintf(result.text, sizeof(result.text), "%u B", (unsigned)size);
        return result;
    }
    double value = (double)size / 1024;
    unsigned name = 0;
    // 1023.5 would be shown as 1024.
    while (value >= 1023.5) {
        value /= 1024;
        name++;
    }
    int digits = value < 9.995 ? 2 : value < 99.95 ? 1 : 0;
    (void)snprintf(result.text, sizeof(result.text), "%.*f %s", digits, value, names[name]);
    return result;
}
