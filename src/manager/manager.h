// Manager, as its own files see it.
//
//   manager.c   creation, destruction, limits
//   layout.c    presets and lists of pools
//   pools.c     from an index to a pool, and all of them one after another
//   reserve*.c  routing a request, growth, giving back before failing: reserve.h
//   tell.c      what a listener and the log hear
//   release.c   letting go, and taking in what other threads let go
//   lookup.c    from a handle to its allocation: bind, cursor, place, resolve
//   taint.c     which bytes of which allocation a failure claims
//   modes.c     windows
//   guard.c     holding pages as they are
//   capture.c   scopes whose room is for a recorded graph alone: capture.h
//   cleanup.c   giving pages back
//   install.c   replacing the layout
//   relocate*.c moving what lives in an arena: relocate.h lists them
//   report.c, report_text.c, check.c   looking at it
#ifndef ACRE_MANAGER_MANAGER_H
#define ACRE_MANAGER_MANAGER_H

#include <acre/capture.h>
#include <acre/manager.h>
#include <acre/relocation.h>
#include <acre/report.h>

#include "base/log.h"
#include "failure/claims.h"
#include "pool/arena.h"
#include "pool/handle.h"
#include "pool/pool.h"

// The pools of one layout.
typedef struct acre_pool_set {
    acre_pool **pools; // in routing order, and NULL; an arena's current pool stands for the arena
    uint32_t count;
    uint32_t first;     // the first one's index in reports; the others follow
    acre_arena *arena;  // NULL = the layout has none
    uint32_t route[64]; // first pool that accepts any size of the octave, or more; `count` = none
} acre_pool_set;

// What relocations did, and how the arena looked after one that moved nothing.
typedef struct acre_relocation_memory {
    uint64_t moves;
    uint64_t bytes; // of the allocations moved
    uint64_t pages; // given back
    bool moved_nothing;
    uint64_t current_pages, outdated_pools, outdated_pages, outdated_guarded;
} acre_relocation_memory;

// Slices with claims of failures, by name (taint.c).
typedef struct acre_tainted_slice acre_tainted_slice;

typedef struct acre_taint_table {
    uint32_t count;
    uint32_t capacity; // a power of two; 0 while the table is empty
    acre_tainted_slice *places;
} acre_taint_table;

struct acre_manager {
    acre_home *home;
    acre_heap heap;
    acre_pool_set layout;
    bool plain; // auto mode, no size match, no capture scope: the layout serves
    bool told;  // a listener or the full log wants to hear of every operation
    acre_taint_table tainted;
    uint64_t next_check; // counted reservations at which some pool's periodic cleanup is due
    acre_pool persistent;
    acre_pool dedicated;
    acre_size_counts persistent_sizes;

    acre_relocation_policy relocation_policy;
    acre_relocation_memory relocation;
    acre_pool *before_growth; // what the arena goes back to if the request is refused; NULL = none
    acre_relocation *relocations; // plans that were not destroyed

    acre_capture **captures; // by number - 1; NULL = the number is free
    uint32_t capture_count, capture_capacity;
    uint32_t captures_ended; // destroyed, but something still lives there
    acre_capture *capturing; // the scope opened last; NULL = none is open

    acre_mode mode; // in force
    acre_mode base_mode;
    uint8_t *windows; // modes of the open ones, innermost last
    uint32_t window_count, window_capacity;

    acre_config config;
    uint64_t total_memory;
    uint64_t soft_limit;
    acre_out_of_memory_fn out_of_memory;
    void *out_of_memory_context;
    acre_event_fn event;
    void *event_context;
    uint32_t event_mask;
    acre_log log;
};

static inline acre_host *acre_manager_host(acre_manager *manager) {
    return &manager->home->host;
}

// ---- pools.c -------------------------------------------------------------------------------

// A pool by its index in reports; NULL = there is none.
acre_pool *acre_manager_pool(const acre_manager *manager, uint32_t index);

// Pools of a set: those that route, then the arena's outdated ones.
static inline uint32_t acre_pool_set_size(const acre_pool_set *set) {
    return set->count + (set->arena != NULL ? set->arena->outdated_count : 0);
}

// The first pool of a set that accepts `size` > 0, or set->count; `from` = where to start.
static inline uint32_t acre_pool_set_accepts(const acre_pool_set *set, uint32_t from,
                                             uint64_t size) {
    while (from < set->count && !acre_pool_accepts(set->pools[from], size)) {
        from++;
    }
    return from;
}

// A walk over a manager's pools, in the order of reports: the layout's, those its arena outgrew,
// persistent, dedicated; then each capture scope's.
typedef struct acre_pool_walk {
    acre_manager *manager;
    bool skips_captures;
    uint32_t stage; // 0: the layout's, 1: the fixed two, 2 + n: those of scope n
    uint32_t at;
} acre_pool_walk;

// => the next pool; NULL after the last
acre_pool *acre_pool_walk_next(acre_pool_walk *walk);

// ---- layout.c ------------------------------------------------------------------------------

// The pools of a layout, made but without pages. => INVALID_ARGUMENT, UNSUPPORTED,
// OUT_OF_HOST_MEMORY; `layout` may be NULL.
acre_status acre_layout_build(acre_manager *manager, const acre_layout *layout, acre_pool_set *set,
                              acre_error *error);

// The same pools as the layout in force has, whose indices begin with `first`. =>
// OUT_OF_HOST_MEMORY
acre_status acre_layout_build_again(acre_manager *manager, uint32_t first, acre_pool_set *set,
                                    acre_error *error);

// Ends pools made by the two above, giving back their pages.
void acre_layout_unbuild(acre_manager *manager, acre_pool_set *set);

// Puts pools in force.
void acre_layout_adopt(acre_manager *manager, const acre_pool_set *set);

// Routes to the current pool of an arena, which may have gone over to another page size. => it, or
// the pool at that place of the set when it is of no arena.
acre_pool *acre_manager_route_arena(acre_manager *manager, acre_pool_set *set, uint32_t place);

// ---- tell.c --------------------------------------------------------------------------------

// Hands an event to the listener, if it asked for its kind, and reservations to the full log.
// `pool` is the one that served, or NULL.
void acre_manager_tell(const acre_manager *manager, const acre_event *event, const acre_pool *pool);

// Logs that a pool got a page.
void acre_manager_log_page(const acre_manager *manager, const acre_pool *pool);

// ---- guard.c -------------------------------------------------------------------------------

// A guard on a page ended; 0 = it was on an allocation without a page.
void acre_manager_unguard(acre_manager *manager, uint32_t page);

// ---- lookup.c ------------------------------------------------------------------------------

// => the name of the live slice behind a handle; 0 = NOT_FOUND. A handle that is uninitialised,
// stale, freed or another manager's has none, whatever its room holds now.
uint32_t acre_manager_find(const acre_manager *manager, const acre_handle *handle);

// ---- release.c -----------------------------------------------------------------------------

// Frees what other threads let go, in the order they did.
void acre_manager_take_in(acre_manager *manager);

static inline void acre_manager_take_pending(acre_manager *manager) {
    if (acre_unlikely(acre_home_has_pending(manager->home))) {
        acre_manager_take_in(manager);
    }
}

// ---- taint.c -------------------------------------------------------------------------------

// Releases the claims of a slice, if it has any. The table is not empty: releases and binds test
// that themselves, as all that untainted memory costs them.
void acre_manager_clear_claims(acre_manager *manager, uint32_t slice);

void acre_manager_clear_all_claims(acre_manager *manager);

// => what is wrong with the claims, NULL when nothing is.
const char *acre_manager_check_claims(acre_manager *manager);

// ---- cleanup.c -----------------------------------------------------------------------------

// What is due; cheap when nothing is.
void acre_manager_cleanup_periodic(acre_manager *manager);

static inline void acre_manager_cleanup_due(acre_manager *manager) {
    if (acre_unlikely(manager->heap.reservations >= manager->next_check ||
                      manager->heap.cleanup_wanted)) {
        acre_manager_cleanup_periodic(manager);
    }
}

// When the next periodic cleanup is due.
void acre_manager_schedule(acre_manager *manager);

// Whether requests need nothing but room from here on: called when what decides it changed.
void acre_manager_update_quiet(acre_manager *manager);

// Gives the idle pages of every pool back and flushes. => how many pages.
uint64_t acre_manager_give_back(acre_manager *manager);

// ---- capture.c -----------------------------------------------------------------------------

// Gives back what destroyed scopes do not need any more. => how many pages; not flushed.
uint64_t acre_capture_drain(acre_manager *manager);

// The manager ends, and every scope with it.
void acre_capture_leave_all(acre_manager *manager);

// ---- relocate.c ----------------------------------------------------------------------------

// The manager ends: its plans are over.
void acre_relocation_leave_all(acre_manager *manager);

// ---- relocate_auto.c -----------------------------------------------------------------------

// Before a reservation that allows updates adds a page to the arena: what the policy says.
// => whether the room held may serve the request now. The arena may have gone over to larger pages
// by itself: then the outcome of the request must be told.
bool acre_relocate_before_page(acre_manager *manager, const acre_need *need);

// The outcome of a request that may have relocated: a refused one leaves the page size as it was.
void acre_relocate_after_request(acre_manager *manager, bool served);

// ---- modes.c -------------------------------------------------------------------------------

// The mode that the innermost window, or the base mode, puts in force.
void acre_manager_apply_mode(acre_manager *manager);

const char *acre_mode_name(acre_mode mode);

// ---- report.c ------------------------------------------------------------------------------

// The sums over all pools.
acre_usage acre_manager_usage(acre_manager *manager);

// What is free in all pools together.
acre_carve_free acre_manager_free_room(acre_manager *manager);

// "sliced", "exclusive", ...
const char *acre_pool_kind_name(acre_pool_kind kind);

#endif
