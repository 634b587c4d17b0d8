// Relocation of a manager's arena, as its own files see it.
//
//   relocate_need.c     whether one is wanted
//   relocate.c          the three phases, the one-call form
//   relocate_plan.c     from pages to moves
//   relocate_compact.c  the same for current pages
//   relocate_auto.c     what a reservation does before it adds a page
#ifndef ACRE_MANAGER_RELOCATE_H
#define ACRE_MANAGER_RELOCATE_H

#include <acre/relocation.h>

#include "manager/manager.h"
#include "relocation/moves.h"

typedef enum acre_relocation_phase {
    ACRE_RELOCATION_PLANNED,
    ACRE_RELOCATION_COPIED,
    ACRE_RELOCATION_OVER, // committed or dropped
} acre_relocation_phase;

struct acre_relocation {
    acre_manager *manager;            // NULL: gone, and the plan is over
    acre_relocation *next, *previous; // of the manager's
    acre_host host;                   // to free the plan with when the manager is gone
    acre_relocation_phase phase;
    acre_moves moves;
    acre_relocation_options options; // room: AS_NEEDED when outdated pages are not to be emptied
    uint64_t deadline;               // of acre_os_clock
    uint64_t bytes;                  // planned
    uint32_t died;                   // moves whose allocation was let go since the plan
    bool counts;                     // that it moved nothing is remembered
    acre_relocation_report report;
};

// ---- relocate_plan.c -----------------------------------------------------------------------

// Fills in the moves of a plan without any.
// => OUT_OF_HOST_MEMORY; the moves planned so far are still there.
acre_status acre_relocation_fill(acre_relocation *plan, acre_error *error);

// Takes back the moves from `first` on: their targets are free and their allocations stay.
void acre_relocation_undo(acre_relocation *plan, uint32_t first);

// Frees the slice that was a target, wherever it is by now.
void acre_relocation_free_target(acre_manager *manager, uint32_t name);

// ---- relocate_need.c -----------------------------------------------------------------------

acre_relocation_need acre_relocation_needed(const acre_manager *manager);

// Remembers how the arena looks after a relocation.
void acre_relocation_remember(const acre_relocation *plan, bool moved_nothing);

// => UNSUPPORTED
acre_status acre_relocation_no_arena(acre_error *error);

// ---- relocate.c ----------------------------------------------------------------------------

// Plan, copy, commit. `options` are complete. `counts`: that it moved nothing is remembered.
// => what acre_manager_relocate says.
acre_status acre_relocation_run(acre_manager *manager, const acre_relocation_options *options,
                                bool counts, acre_relocation_report *report, acre_error *error);

#endif
