// Failures: immutable records with a reference count. A record and the memory of what it says are
// one block:
//
//   | acre_failure | causes[cause_count] | message, 0 |
//
// Causes exist before what they caused, so the graph has no cycle and counting is enough.
#ifndef ACRE_FAILURE_FAILURE_H
#define ACRE_FAILURE_FAILURE_H

#include <acre/failure.h>
#include <stdatomic.h>

struct acre_failure {
    _Atomic uint64_t references;
    acre_failure *next; // of those to be freed, once nothing holds it
    acre_host_hooks hooks;
    int64_t code;
    uint32_t message_length; // without the final 0
    uint32_t cause_count;
    acre_failure *causes[];
};

#endif
