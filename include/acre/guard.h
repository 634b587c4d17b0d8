// Guards: holding a page as it is, for recorded graphs and others who keep a raw address.
//
// While a guard lives, the page of the allocation it was taken on is not given back, renumbered,
// moved or remapped, and no room on it is handed out, even what is freed later: whoever replays a
// graph finds its own bytes. In-place updates are unaffected (`acre_handle_can_mut`), and a page
// that has no device memory yet may still get it. On a persistent, direct or dedicated allocation
// the guard concerns that allocation alone.
#ifndef ACRE_GUARD_H
#define ACRE_GUARD_H

#include <acre/handle.h>
#include <acre/manager.h>

typedef struct acre_guard acre_guard;

ACRE_BEGIN_DECLS

// Guards the page of a live allocation. The manager's thread. NOT_FOUND: the handle has none.
// OUT_OF_HOST_MEMORY. Cost: one pass over the runs of the page, when it was not guarded yet.
ACRE_API ACRE_CHECKED acre_status acre_manager_guard(acre_manager *manager,
                                                     const acre_handle *handle, acre_guard **guard,
                                                     acre_error *error);

// One more holder of a guard; returns `guard`. Any thread.
ACRE_API acre_guard *acre_guard_retain(acre_guard *guard);

// Ends a hold. With the last one of all guards on a page, what is free there can be used again from
// the manager's next operation on. NULL is allowed. Any thread; also after the manager is gone.
ACRE_API void acre_guard_release(acre_guard *guard);

ACRE_END_DECLS

#endif
