// One random script: an adaptive manager over bytes of the host, the allocations the script owns,
// and a naive model of each: its bytes, its place while it must not move, its claims.
#ifndef ACRE_TESTS_RELOCATION_RANDOM_WORLD_H
#define ACRE_TESTS_RELOCATION_RANDOM_WORLD_H

#include "support.h"

#include "model/dice.h"
#include "relocation_random/device.h"

#define SLOTS             48
#define CELLS             16 // a claim covers whole sixteenths of an allocation
#define FAILURES          4
#define WINDOWS           3
#define ORPHANS           3
#define SCRIPT_OPERATIONS 1200

typedef struct owned {
    acre_handle *handle; // NULL = nothing lives here
    acre_binding *binding;
    acre_guard *guard;
    bool blank;      // reserved in a dry run, no byte looked at since
    bool apart;      // persistent or dedicated: never moves
    bool given;      // by a bind, since the plan that is open
    acre_place kept; // with a binding or a guard, or apart: where it stays
    uint64_t cursor;
    uint64_t size;
    uint64_t alignment;
    uint64_t seed;
    int64_t claims[CELLS]; // code of the failure that claims them; 0 = none
} owned;

// A guard that outlived its allocation: nothing may take the room.
typedef struct orphan {
    acre_guard *guard; // NULL = none
    uint32_t page;
} orphan;

typedef struct world {
    uint64_t seed;
    uint64_t step;
    model_dice dice;
    acre_relocation_policy policy;
    rig rig;
    device device; // behind the storage, unless that is the library's own
    bool scripted; // it is
    bool limited;  // the device has an end
    uint64_t hard; // limit in force; 0 = none
    uint64_t ceiling;
    acre_mode windows[WINDOWS];
    size_t window_count;
    owned slots[SLOTS];
    orphan orphans[ORPHANS];
    acre_handle *stale; // a bind gave its allocation away
    acre_relocation *plan;
    bool copied;
    acre_failure *failures[FAILURES];
    int64_t last_code;
    host_probe *probe; // where failures and the manager's books live
    uint64_t moves;
    uint64_t refusals; // by the device, on purpose
} world;

typedef struct places {
    bool lived[SLOTS];
    acre_place of[SLOTS];
} places;

static inline uint64_t roll(world *w, uint64_t sides) {
    return dice_below(&w->dice, sides);
}

static inline owned *any_slot(world *w) {
    return &w->slots[roll(w, SLOTS)];
}

// model.c: what must hold
void paint(world *w, const owned *slot);
void verify(world *w, owned *slot);
void verify_all(world *w);
places places_of(world *w);
// Every allocation that lived then, and does now, is where it was.
void assert_places(world *w, const places *before);
// How many of those live elsewhere now.
uint64_t count_moved(world *w, const places *before);
// No room is handed out on a guarded page.
void assert_not_guarded(world *w, acre_place place);
void forget_claims(owned *slot);

// allocations.c: a life of one
void step_reserve(world *w, owned *slot);
void step_on_live(world *w, owned *slot);
void step_release(world *w, owned *slot);
void release_orphans(world *w);

// claims.c
void step_claim(world *w);
void step_failure(world *w);

// pages.c: what happens to all of them
acre_layout random_layout(world *w, acre_pool_options pools[2]);
void step_cleanup(world *w);
void step_limits(world *w);
void step_install(world *w);
void step_window(world *w);
void step_dry(world *w);

// moves.c
void step_relocate(world *w);
void step_plan(world *w);
void close_plan(world *w);

// script.c
void world_open(world *w, uint64_t seed, acre_relocation_policy policy);
void world_step(world *w);
void world_close(world *w);

#endif
