// Handle records, and the list on which any thread leaves those that nothing holds any more.
//
//   any thread                               the manager's thread
//   last release --push--> pending --take--> free the slice, then the record
//
// Whoever holds the only reference pushes the record with it, which spares a locked instruction:
// the manager's thread takes the reference off when it takes the record. Nobody else can add one
// meanwhile but that thread, which may pin the record (acre_handle_pin) as long as it has not; then
// the last binding to go pushes it again.
//
// Records live in the manager's home, which outlives the manager while a handle does. A handle
// made before there was a manager is loose: a record of its own which, once bound, stands for one
// of the home (its proxy). The two are told apart by their addresses: records of a slab are at
// multiples of 16, loose ones 8 behind one.
#ifndef ACRE_POOL_HANDLE_H
#define ACRE_POOL_HANDLE_H

#include <acre/handle.h>
#include <stdatomic.h>

#include "base/pair.h"
#include "base/slab.h"

// Marks in `slice`, whose names are below 2^30.
#define ACRE_HANDLE_STALE UINT32_MAX
#define ACRE_HANDLE_MARK  (UINT32_C(1) << 31) // set in all three: no allocation to be found here
#define ACRE_HANDLE_GUARD ACRE_HANDLE_MARK    // a guard on the page that the other bits name
#define ACRE_HANDLE_HOLD  (UINT32_C(3) << 30) // holds a binding on a record (acre_handle_hold)
#define ACRE_HANDLE_NAME  ((UINT32_C(1) << 30) - 1)

struct acre_handle {
    _Atomic uint64_t counts; // owners, and bindings << 32; 0 = nothing holds it
    uint32_t slice;          // 0 = none yet; marked as above; else the live slice
    uint32_t link;           // with a hold the rest of its address; while it is pending the record
                             // pushed before; else the next unused or taken one
};

#define ACRE_OWNER   UINT64_C(1)
#define ACRE_BINDING (UINT64_C(1) << 32)

typedef struct acre_home {
    acre_host host;
    acre_slab handles;
    // Names of handles that nothing holds, newest first; 0 = none, UINT32_MAX = the manager is
    // gone. On a line of its own, since other threads write it.
    _Alignas(64) _Atomic uint32_t pending;
    // After the manager is gone: handles that are left. Releases may count before it is set.
    _Atomic int64_t orphans;
} acre_home;

// => NULL when the hooks have no memory. The home takes over `host`.
acre_home *acre_home_create(const acre_host *host);

// The manager is gone: from now on handles are only counted, and the last one frees the home. No
// record is pending that the caller did not take.
void acre_home_close(acre_home *home);

// Takes the reference off that a record was pushed with. => whether nothing holds it. The manager's
// thread, once for a record that was taken.
bool acre_handle_end_pending(acre_handle *record);

// Takes what is pending. => the first name in the order pushed; the link of each is the next.
uint32_t acre_home_take_pending(acre_home *home);

static inline bool acre_home_has_pending(acre_home *home) {
    return atomic_load_explicit(&home->pending, memory_order_relaxed) != 0;
}

static inline acre_handle *acre_handle_at(const acre_home *home, uint32_t name) {
    return acre_slab_at(&home->handles, name);
}

static inline uint32_t acre_handle_name(const acre_handle *record) {
    return acre_slab_name(record);
}

static inline bool acre_handle_is_loose(const acre_handle *handle) {
    return ((uintptr_t)handle & 8) != 0;
}

// => a record of `home` with one owner, of the allocation in a slice (0 = none); a record was
// prepared.
static inline acre_handle *acre_handle_take(acre_home *home, uint32_t *name, uint32_t slice) {
    *name = acre_slab_take(&home->handles);
    acre_handle *handle = acre_handle_at(home, *name);
    atomic_store_explicit(&handle->counts, ACRE_OWNER, memory_order_relaxed);
    handle->slice = slice;
    return handle;
}

// Gives back a record that nothing holds.
static inline void acre_handle_give(acre_home *home, acre_handle *handle) {
    acre_slab *slab = &home->handles;
    acre_store_words((char *)handle + offsetof(acre_handle, slice), 0, slab->free_head);
    slab->free_head = acre_handle_name(handle);
}

// => the record of `home` behind a handle, its proxy for a loose one; NULL when the handle is
// uninitialised and loose, or of another home.
acre_handle *acre_handle_record(const acre_home *home, const acre_handle *handle);

// Whether a loose handle was bound before.
bool acre_loose_handle_is_bound(const acre_handle *handle);

// Bindings in flight of the allocation behind a record, those of the loose handle that it stands
// for included. The manager's thread.
uint32_t acre_handle_bindings(acre_handle *record);

// Takes one more binding of a record, which acre_binding_release ends, and tells how many there
// were. => false: nothing holds the record any more. The manager's thread.
bool acre_handle_pin(acre_handle *record, uint32_t *bindings);

// Makes acre_loose_handle_bind possible to the record that is taken next. => false: no host memory.
bool acre_loose_handle_prepare(acre_home *home);

// Makes a loose handle stand for a record of `home`.
void acre_loose_handle_bind(acre_handle *handle, acre_home *home, acre_handle *proxy);

// A loose handle becomes stale. It loses its record, unless that `stays` to hold what bindings in
// flight need.
void acre_loose_handle_unbind(acre_handle *handle, bool stays);

// Makes a record, which has no allocation any more, hold a binding on another until it goes. It
// keeps that one's address: any thread may be the last to hold it, and names cannot be looked up
// while the manager's thread grows the slab.
void acre_handle_hold(acre_handle *record, acre_handle *held);

// Ends the hold of a record that nothing holds, if it has one. => the other one when nothing holds
// that any more, else NULL.
acre_handle *acre_handle_end_hold(acre_handle *record);

#endif
