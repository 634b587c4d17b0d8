// What planning shares between its two files.
#ifndef ACRE_MANAGER_RELOCATE_PLAN_H
#define ACRE_MANAGER_RELOCATE_PLAN_H

#include "manager/relocate.h"
#include "relocation/plan.h"

typedef enum acre_verdict {
    ACRE_FITS,
    ACRE_STAYS,          // as it is
    ACRE_NO_HOST_MEMORY, // ends the plan
} acre_verdict;

// The pages looked at by one step of planning.
typedef struct acre_page_names {
    acre_host *host;
    acre_source_page *pages;
    uint32_t count, capacity;
} acre_page_names;

// ---- relocate_plan.c -----------------------------------------------------------------------

// Adds up what lives on a page. => where that is to be counted when the page is left out, NULL
// when it may be emptied.
acre_relocation_stayed *acre_relocation_judge(acre_relocation *plan, const acre_page *page,
                                              uint64_t *live);

// Adds the pages of a pool that may be emptied; counts the others as staying.
acre_verdict acre_relocation_gather(acre_relocation *plan, const acre_pool *pool,
                                    acre_page_names *list);

// Plans to move what lives in the runs [slice, end) of a page, all of it or nothing.
acre_verdict acre_relocation_plan_runs(acre_relocation *plan, uint32_t slice, uint32_t end,
                                       bool may_add);

// Leaves those moves from `first` on that the limits have no room for where they are.
// => whether there was room for all.
bool acre_relocation_apply_limits(acre_relocation *plan, uint32_t first);

// The same for a whole page, within the limits; counts what stays.
acre_verdict acre_relocation_plan_page(acre_relocation *plan, uint32_t name, bool may_add);

// ---- relocate_compact.c --------------------------------------------------------------------

// Empties current pages into the others.
acre_verdict acre_relocation_plan_current(acre_relocation *plan, acre_page_names *list);

// Clears a stretch of a current page for options.make_room, unless there is such room.
acre_verdict acre_relocation_plan_stretch(acre_relocation *plan, acre_page_names *list);

#endif
