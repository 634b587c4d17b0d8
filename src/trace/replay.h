// A replay under way: what its plain loop and its verifying one share.
#ifndef ACRE_TRACE_REPLAY_H
#define ACRE_TRACE_REPLAY_H

#include <acre/trace.h>

#include "program.h"

typedef struct acre_replay {
    const acre_trace_program *program;
    acre_storage *storage;
    acre_manager *manager;
    acre_host_hooks hooks;
    acre_replay_options options;
    acre_handle **handles;  // by slot; NULL = nothing lives there
    uint64_t *owners;       // verification: the number of the allocation that a slot has
    unsigned char *piece;   // verification of bytes that are not in this process; NULL = none yet
    bool page_added;        // since it was last looked at
    bool dry;               // the passes under way run inside a dry run
    uint32_t passes_before; // that a plan measured before those under way
    uint64_t page_bytes;    // of all pages the manager holds
    uint64_t planned_peak;  // the most of them in dry passes
    uint64_t peak_noted;    // the peak that was looked at last
    acre_event_fn listener; // the caller's
    void *listener_context;
    uint32_t listener_mask;
    acre_replay_result result;
} acre_replay;

// A page came: is this the peak?
void acre_replay_look_at_peak(acre_replay *run);

void acre_replay_note_refusal(acre_replay *run, const acre_trace_op *op, acre_status status,
                              const acre_error *error);

// Frees what verification made.
void acre_replay_end_verified(acre_replay *run);

// Runs the passes that the options ask for.
acre_status acre_replay_run_passes(acre_replay *run, acre_error *error);

// The same inside a dry run.
acre_status acre_replay_run_dry(acre_replay *run, acre_error *error);

// Measures the passes dry, caps the pools at what they held, and runs the passes.
acre_status acre_replay_run_plan(acre_replay *run, acre_error *error);

// Plays [op, end) with every byte looked at. => Ends early on damage.
acre_status acre_replay_play_verified(acre_replay *run, const acre_trace_op *op,
                                      const acre_trace_op *end, acre_error *error);

// Checks the allocation in `slot`, if there is one, then releases it.
acre_status acre_replay_free_checked(acre_replay *run, uint32_t slot, acre_error *error);

#endif
