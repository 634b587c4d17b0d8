// Relocation: moving live allocations of the adaptive layout so that pages go back to the device.
//
// An arena that grew holds pages of smaller sizes (outdated ones), which serve nothing new and
// wait for their longest-lived allocation. A relocation copies what lives there to current pages:
//
//   before   outdated | A |      | B |    current | X |              |
//   after    goes back                    current | X | A | B |      |
//
//   plan     chooses pages, reserves a target for each allocation on them; nothing moves yet
//   copy     through a queue: wait for the device, copy each, wait for the copies
//   commit   each allocation's handles, cursor and taint pass to its new place; emptied pages go
//            back
//
// acre_manager_relocate does all three. Handles stay good throughout; what moves is where
// acre_manager_get_place and acre_manager_resolve say the allocation is. So a resource that was
// resolved earlier without a binding must be resolved again after a relocation. What has a binding
// (acre/handle.h) does not move.
//
// All functions here are manager operations: the manager's thread calls them.
#ifndef ACRE_RELOCATION_H
#define ACRE_RELOCATION_H

#include <acre/manager.h>

typedef enum acre_relocation_need {
    ACRE_RELOCATION_NOT_NEEDED = 0,
    ACRE_RELOCATION_ARENA_FULL = 1,    // no slot for another page size: targets may take new pages
    ACRE_RELOCATION_SHORT_OF_ROOM = 2, // the device: targets only in room held
} acre_relocation_need;

// Where targets may be.
typedef enum acre_relocation_room {
    ACRE_RELOCATION_ROOM_AS_NEEDED = 0, // as acre_manager_relocation_need says; no need: no move
    ACRE_RELOCATION_ROOM_HELD = 1,      // free room of the current pages
    ACRE_RELOCATION_ROOM_MAY_ADD = 2,   // new pages too, when that is not enough
} acre_relocation_room;

// What is known of the arena: what the need is judged by.
typedef struct acre_arena_state {
    size_t struct_size; // set by ACRE_ARENA_STATE_INIT
    uint64_t page_size; // bytes of a current page
    bool has_outdated;
    bool full; // every slot for a page size is taken
    uint64_t current_pages;
    uint64_t outdated_pools;
    uint64_t outdated_pages;
    uint64_t outdated_guarded; // of those pages
} acre_arena_state;

#if defined(__cplusplus)
#define ACRE_ARENA_STATE_INIT                                                                      \
    (acre_arena_state{sizeof(acre_arena_state), 0, false, false, 0, 0, 0, 0})
#else
#define ACRE_ARENA_STATE_INIT ((acre_arena_state){.struct_size = sizeof(acre_arena_state)})
#endif

// Copies, as the caller makes them. Any operation may fail with a status and its detail; then
// every allocation stays where it was. `error` is never NULL. The operations must not call the
// manager. None is called when there is nothing to copy.
typedef struct acre_copy_queue {
    size_t struct_size; // set by ACRE_COPY_QUEUE_INIT
    void *context;
    // Waits until the device is done with everything that may read or write the manager's memory.
    acre_status (*wait_device)(void *context, acre_error *error);
    // Copies `size` > 0 bytes; the ranges do not overlap. It may go on behind the call.
    acre_status (*copy)(void *context, const acre_resource *source, const acre_resource *target,
                        uint64_t size, acre_error *error);
    // Waits until every copy is done.
    acre_status (*wait_copies)(void *context, acre_error *error);
} acre_copy_queue;

#if defined(__cplusplus)
#define ACRE_COPY_QUEUE_INIT                                                                       \
    (acre_copy_queue{sizeof(acre_copy_queue), nullptr, nullptr, nullptr, nullptr})
#else
#define ACRE_COPY_QUEUE_INIT ((acre_copy_queue){.struct_size = sizeof(acre_copy_queue)})
#endif

typedef struct acre_relocation_options {
    size_t struct_size; // set by ACRE_RELOCATION_OPTIONS_INIT
    acre_relocation_room room;
    // Then also empties current pages into the free room of the others, where that can be done
    // without a new page. With `make_room`, which is in bytes, it empties no page but makes one
    // free piece of that size in the current pages, if it can and there is none.
    bool compact;
    uint64_t make_room;
    // Limits of one call; ACRE_UNSET = none. A limit may end a call inside a page: the next call
    // goes on. An allocation larger than max_bytes keeps all that lives on its page.
    uint64_t max_moves;
    uint64_t max_bytes;           // of the allocations moved
    uint64_t max_time;            // nanoseconds from the plan on, looked at after each copy
    const acre_copy_queue *queue; // acre_manager_relocate: NULL = the storage's own
} acre_relocation_options;

#if defined(__cplusplus)
#define ACRE_RELOCATION_OPTIONS_INIT                                                               \
    (acre_relocation_options{sizeof(acre_relocation_options), ACRE_RELOCATION_ROOM_AS_NEEDED,      \
                             false, 0, ACRE_UNSET, ACRE_UNSET, ACRE_UNSET, nullptr})
#else
#define ACRE_RELOCATION_OPTIONS_INIT                                                               \
    ((acre_relocation_options){.struct_size = sizeof(acre_relocation_options),                     \
                               .max_moves = ACRE_UNSET,                                            \
                               .max_bytes = ACRE_UNSET,                                            \
                               .max_time = ACRE_UNSET})
#endif

// Allocations that stayed where they were, for one reason.
typedef struct acre_relocation_stayed {
    uint64_t allocations;
    uint64_t bytes; // they were asked with
} acre_relocation_stayed;

typedef struct acre_relocation_report {
    size_t struct_size; // set by ACRE_RELOCATION_REPORT_INIT
    uint64_t moves;
    uint64_t bytes;          // of the allocations moved
    uint64_t pages_returned; // at the commit
    uint64_t bytes_returned; // of those pages
    // What lived on outdated pages (with `compact`, on pages it tried to empty) and stayed.
    acre_relocation_stayed guarded;   // on a page with a guard
    acre_relocation_stayed bound;     // on a page where an allocation has a binding
    acre_relocation_stayed no_target; // on a page whose allocations do not all find room
    acre_relocation_stayed limited;   // a limit came first; `more` says that a call may go on
    acre_relocation_stayed changed;   // released, bound or guarded between plan and commit
    bool more;
} acre_relocation_report;

#if defined(__cplusplus)
#define ACRE_RELOCATION_REPORT_INIT                                                                \
    (acre_relocation_report{sizeof(acre_relocation_report),                                        \
                            0,                                                                     \
                            0,                                                                     \
                            0,                                                                     \
                            0,                                                                     \
                            {0, 0},                                                                \
                            {0, 0},                                                                \
                            {0, 0},                                                                \
                            {0, 0},                                                                \
                            {0, 0},                                                                \
                            false})
#else
#define ACRE_RELOCATION_REPORT_INIT                                                                \
    ((acre_relocation_report){.struct_size = sizeof(acre_relocation_report)})
#endif

// A plan: targets reserved, nothing moved.
typedef struct acre_relocation acre_relocation;

// One move of a plan.
typedef struct acre_relocation_move {
    size_t struct_size; // set by ACRE_RELOCATION_MOVE_INIT
    uint32_t from_page; // as in acre_place
    uint32_t to_page;
    uint64_t from_offset; // bytes into the page
    uint64_t to_offset;
    uint64_t size; // bytes to copy: those the allocation was asked with
} acre_relocation_move;

#if defined(__cplusplus)
#define ACRE_RELOCATION_MOVE_INIT                                                                  \
    (acre_relocation_move{sizeof(acre_relocation_move), 0, 0, 0, 0, 0})
#else
#define ACRE_RELOCATION_MOVE_INIT                                                                  \
    ((acre_relocation_move){.struct_size = sizeof(acre_relocation_move)})
#endif

ACRE_BEGIN_DECLS

// Whether the outdated pages should be emptied now. Not needed while nothing is outdated; else
// ARENA_FULL when every slot is taken; else SHORT_OF_ROOM when the bytes held from the device and
// one page more pass total memory less one page (page = the current page size; an unknown total
// is never short). And not needed again while current pages, outdated pools, outdated pages and
// outdated guarded pages number what they did after a relocation that moved nothing.
// Cost: one pass over the outdated pages.
ACRE_API acre_relocation_need acre_manager_relocation_need(acre_manager *manager);

// UNSUPPORTED when the layout has no adaptive pool. Cost: one pass over the outdated pages.
ACRE_API ACRE_CHECKED acre_status acre_manager_arena_state(acre_manager *manager,
                                                           acre_arena_state *state,
                                                           acre_error *error);

// Plan, copy and commit in one call. `options` and `report` may be NULL.
//
// Errors: UNSUPPORTED when the layout has no adaptive pool, the storage has no queue of its own
// and none is given, or the options are unknown; INVALID_ARGUMENT for a room out of range or a
// queue that lacks an operation; OUT_OF_HOST_MEMORY; what the queue or the storage failed with.
// On an error every allocation is where it was, and pages taken for targets go at the next
// explicit cleanup.
ACRE_API ACRE_CHECKED acre_status acre_manager_relocate(acre_manager *manager,
                                                        const acre_relocation_options *options,
                                                        acre_relocation_report *report,
                                                        acre_error *error);

// Chooses pages and reserves targets. Pages with the fewest live bytes to copy per byte given back
// come first; a page whose allocations do not all find a target keeps them all, and later ones are
// still tried. Pages that are guarded or where an allocation has a binding are left out. Targets
// count as live in reports until the plan is committed or destroyed. The plan holds a binding of
// each allocation it would move: it keeps its room when its owners let it go, until then.
// Several plans may be open at a time; none moves what another would.
// Errors: those of acre_manager_relocate that do not come from a queue; then there is no plan.
ACRE_API ACRE_CHECKED acre_status
acre_manager_relocation_plan(acre_manager *manager, const acre_relocation_options *options,
                             acre_relocation **relocation, acre_error *error);

// How many moves a plan has, 0 once it was committed or dropped.
ACRE_API size_t acre_relocation_count(const acre_relocation *relocation);

// Move `index` of the plan, in the order of copying. INVALID_ARGUMENT past the last one.
ACRE_API ACRE_CHECKED acre_status acre_relocation_get(const acre_relocation *relocation,
                                                      size_t index, acre_relocation_move *move,
                                                      acre_error *error);

// Makes the copies: wait_device, copy for each move, wait_copies. NULL = the storage's own queue.
// INVALID_ARGUMENT when the plan was copied or is over, or the queue lacks an operation, and
// UNSUPPORTED when there is none: the plan stays as it was. When an operation fails its error is
// returned and the plan is dropped.
ACRE_API ACRE_CHECKED acre_status acre_relocation_copy(acre_relocation *relocation,
                                                       const acre_copy_queue *queue,
                                                       acre_error *error);

// Hands each allocation over to its target and gives emptied pages back; the plan is over then.
// A move is left out when, since the plan, all owners let the allocation go, a bind gave it to
// another handle, another binding was taken of it, a guard was taken on either page, or bytes of a
// dry run were resolved after the copies: those stay, or go, where they are. Between copy and
// commit nothing may write to what moves. `report` may be NULL.
// INVALID_ARGUMENT when the plan was not copied, is over, or its manager is gone. NOT_FOUND when it
// had moves and all owners of all of them let go: it is over then, too, and `report` is written.
ACRE_API ACRE_CHECKED acre_status acre_relocation_commit(acre_relocation *relocation,
                                                         acre_relocation_report *report,
                                                         acre_error *error);

// Ends a plan. One that was not committed is dropped: every allocation stays where it was, the
// targets are free again, and it counts as a relocation that moved nothing. Its manager may be
// gone. NULL is allowed.
ACRE_API void acre_relocation_destroy(acre_relocation *relocation);

ACRE_END_DECLS

#endif
