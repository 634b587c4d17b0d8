// A program: the events of a trace with small dense slot numbers in the place of pointers. A slot
// is used again once its allocation was freed, so a replay's table of handles stays as small as
// what lives at a time.
#ifndef ACRE_TRACE_PROGRAM_H
#define ACRE_TRACE_PROGRAM_H

#include <acre/trace.h>

// The bit of acre_trace_op.slot that says "free".
#define ACRE_TRACE_OP_FREE UINT32_C(0x80000000)

typedef struct acre_trace_op {
    uint64_t size; // allocations: bytes
    uint32_t slot; // and the bit above
    uint32_t line; // of the trace; the last number stands for all later ones
} acre_trace_op;

struct acre_trace_program {
    acre_host_hooks hooks;
    acre_trace_op *ops;
    size_t capacity;
    uint32_t slots; // all slot numbers are below it
    acre_trace_facts facts;
};

#endif
