// One random script: a manager and its model side by side, and the handles both are told of.
//
// A script runs twice. The watched run looks up every place, compares and reports all the time and
// notes the places; the bare run looks at next to nothing and must end up at the same places.
#ifndef ACRE_TESTS_MODEL_WORLD_H
#define ACRE_TESTS_MODEL_WORLD_H

#include "model/dice.h"
#include "model/reference.h"

#define MODEL_HANDLES           1024
#define MODEL_USES              256
#define MODEL_SIZES             8
#define MODEL_GUARDS            24
#define MODEL_FAILURES          8
#define MODEL_SCRIPT_OPERATIONS 4000

// What a family of scripts is about.
typedef struct model_family {
    const char *test; // the name of its test
    acre_layout_kind layout;
    bool tight; // devices and limits that run out, scripted failures, frees put off
    bool modes; // windows and persistent-memory settings
} model_family;

typedef enum model_handle_state {
    MODEL_UNINITIALISED,
    MODEL_BOUND,
    MODEL_STALE,
} model_handle_state;

typedef struct model_handle {
    bool used;
    model_handle_state state;
    int allocation; // MODEL_BOUND
    uint32_t owners, bindings;
    acre_handle *real;
    int holds;     // 1 + the handle that it was bound to with bindings in flight; 0 = none
    uint32_t held; // by how many such handles, and plans of relocations
} model_handle;

// Whether the script holds a reference, so that the handle may be looked at.
static inline bool model_handle_is_ours(const model_handle *handle) {
    return handle->used && handle->owners + handle->bindings > 0;
}

// A binding, or a managed resource, which holds one.
typedef struct model_use {
    bool used;
    bool managed;
    int handle;
    acre_managed_resource resource;
} model_use;

// A guard; on a zero-sized allocation it holds no page.
typedef struct model_guard {
    acre_guard *real; // NULL = none
    int page;         // -1 = none
    uint32_t holders;
} model_guard;

// A failure by its number. It lives while the script, a claim or a later failure holds it.
typedef struct model_failure {
    acre_failure *real; // NULL = none lives
    bool held;          // by the script
    int cause;          // number of another, 0 = none
    int64_t bytes;      // of host memory
} model_failure;

// What the out-of-memory callback does when it is called.
typedef enum model_help {
    MODEL_HELP_NOT,
    MODEL_HELP_RELEASE,
    MODEL_HELP_RAISE,
    MODEL_HELP_CLEAN,
    MODEL_HELP_KINDS,
} model_help;

typedef struct model_note {
    acre_status status;
    uint32_t pool_index, page;
    uint64_t offset;
    uint64_t moves; // a digest of them, by relocation
} model_note;

typedef struct model_relocation model_relocation;

typedef struct model_world {
    const model_family *family;
    uint64_t seed;
    bool watched;
    model_dice dice;    // what is done
    model_dice watcher; // what is looked at
    uint64_t operation;
    reference ref;

    acre_storage *storage, *other_storage;
    acre_manager *manager, *other;
    acre_handle *foreign; // a live allocation of the other manager
    acre_host_hooks hooks;
    int64_t host_bytes; // through the hooks, the scripts' own
    uint64_t pages_added, pages_returned, bytes_added, bytes_returned; // as the events say
    uint64_t reserves, refusals, frees;                                // as the events say
    uint64_t refusals_foretold, reserves_foretold, frees_foretold;

    model_handle handles[MODEL_HANDLES];
    int handle_end; // none in use from here on
    model_use uses[MODEL_USES];
    model_guard guards[MODEL_GUARDS];
    model_failure failures[MODEL_FAILURES + 1]; // by number
    bool guarding, dry, claiming;               // what this script does beside the common
    uint64_t sizes[MODEL_SIZES];                // that the script likes
    bool crowded;  // the latest reservation was refused for want of room
    bool creeping; // grows the adaptive pool in many small steps, keeping much alive
    bool tiny;     // hardly anything but small sizes, so that sums meet limits exactly
    uint32_t wanted_live;
    uint32_t live;

    int favoured;          // 1 + a handle that is picked more often; 0 = none
    bool ask_again;        // for what was just freed
    model_request again;   // that request
    model_help help;       // of the callback, for the reservation under way
    int helper;            // the handle it releases, -1 = none
    uint64_t calls_back;   // of the library's callback
    model_note *notes;     // places of the watched run, by reservation
    uint64_t reservations; // made so far
    uint64_t relocations;
    model_relocation *plan; // that is open
} model_world;

// Prints how to run the script again and fails the test.
void world_fail(const model_world *world, const char *format, ...)
    __attribute__((format(printf, 2, 3), noreturn));

#define WORLD_REQUIRE(world, condition, ...)                                                       \
    do {                                                                                           \
        if (!(condition)) {                                                                        \
            world_fail(world, __VA_ARGS__);                                                        \
        }                                                                                          \
    } while (0)

// Pages of the adaptive layout are so much larger, and with them devices and limits.
static inline uint64_t world_scale(const model_world *world) {
    return world->family->layout == ACRE_LAYOUT_ADAPTIVE ? 2048 : 1;
}

// ---- setup.c -------------------------------------------------------------------------------

void world_open(model_world *world, const model_family *family, uint64_t seed, bool watched,
                model_note *notes);
void world_close(model_world *world);

// Host memory, counted in the int64_t that is the context.
void *world_count_alloc(void *context, size_t size, size_t alignment);
void world_count_free(void *context, void *memory, size_t size, size_t alignment);

// A random list of pools. => how many
uint32_t world_random_pools(model_world *world, acre_pool_options *pools, uint32_t capacity);

// ---- handles.c -----------------------------------------------------------------------------

int world_add_handle(model_world *world, acre_handle *real, model_handle_state state,
                     int allocation);

// => a handle that somebody holds, -1 = none
int world_pick_handle(model_world *world);

// In the model alone: one owner or one binding less.
void world_drop_owner(model_world *world, int handle);
void world_drop_binding(model_world *world, int handle);
void world_drop_hold(model_world *world, int handle); // of a relocation's plan

void world_release_owner(model_world *world);
void world_retain(model_world *world);
void world_take_use(model_world *world);
void world_end_use(model_world *world, int at);
void world_create_handle(model_world *world);
void world_bind(model_world *world);
void world_look_up(model_world *world);

// ---- guards.c ------------------------------------------------------------------------------

// A guard taken, retained or let go.
void world_step_guard(model_world *world);
void world_drop_guards(model_world *world);

// ---- dry.c ---------------------------------------------------------------------------------

// A dry or a real run opened or closed.
void world_step_dry(model_world *world);
void world_close_runs(model_world *world);

// The first use of an allocation's bytes, or a later one.
void world_resolve(model_world *world);

// What putting memory behind the page of an allocation says, and its error.
acre_status world_foretell_resolve(model_world *world, const model_handle *handle);

// ---- claims.c ------------------------------------------------------------------------------

// A failure made or let go, bytes tainted or written.
void world_step_claim(model_world *world);
void world_look_up_claims(model_world *world);
void world_release_failures(model_world *world); // behind the manager

// ---- moves.c -------------------------------------------------------------------------------

// A relocation begun, or one phase more of the one that is open, or all of them.
void world_relocate(model_world *world);

// Something happens to what the open plan would move.
void world_touch_moves(model_world *world);

void world_close_plan(model_world *world, bool told); // told: the manager is there

// The same in one call.
void world_relocate_in_one_call(model_world *world);

// ---- requests.c ----------------------------------------------------------------------------

model_request world_random_request(model_world *world);

// ---- operations.c --------------------------------------------------------------------------

// One random operation.
void world_step(model_world *world);
void world_clean(model_world *world, acre_cleanup cleanup);
bool world_help(void *context); // the model's out-of-memory callback
bool world_help_real(void *context, acre_manager *manager, uint64_t size);

// ---- compare.c -----------------------------------------------------------------------------

void world_compare_events(const model_world *world);
void world_compare_runs(model_world *world);
void world_compare_reports(model_world *world);
void world_check(model_world *world);

#endif
