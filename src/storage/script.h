// Failures on order: the calls that a back end makes to its driver, counted, and which of them
// fails without reaching it.
#ifndef ACRE_STORAGE_SCRIPT_H
#define ACRE_STORAGE_SCRIPT_H

#include <stdbool.h>
#include <stdint.h>

#include "base/bits.h"

typedef struct acre_script {
    uint64_t calls;
    uint64_t fail_at; // number of the call that fails; 0 = none
    bool and_after;   // and every later one
    int64_t code;     // what the driver says then; 0 = no memory left
} acre_script;

// Counts a call. => whether it fails.
static inline bool acre_script_fails(acre_script *script) {
    script->calls++;
    return acre_unlikely(script->fail_at != 0) &&
           (script->calls == script->fail_at ||
            (script->and_after && script->calls > script->fail_at));
}

// The `nth` call from now; 0 = none.
static inline void acre_script_order(acre_script *script, uint64_t nth, bool and_after,
                                     int64_t code) {
    script->fail_at = nth == 0 ? 0 : acre_add_saturating(script->calls, nth);
    script->and_after = and_after;
    script->code = code;
}

#endif
