#include "pool/handle.h"

#include <acre/guard.h>

#include "base/error.h"

#include <assert.h>

#define PENDING_CLOSED UINT32_MAX

typedef struct loose_handle {
    uint64_t unused;    // puts `handle` 8 behind a multiple of 16
    acre_handle handle; // its slice: 0 = not bound yet, ACRE_HANDLE_STALE, else 1
    acre_home *home;    // NULL until bound
    acre_handle *proxy; // the record it stands for
    acre_host_hooks hooks;
} loose_handle;

_Static_assert(offsetof(loose_handle, handle) == 8, "loose handles are told by their address");

static loose_handle *loose_of(const acre_handle *handle) {
    return (loose_handle *)((uintptr_t)handle - offsetof(loose_handle, handle));
}

// ---- from a record to its loose handle -----------------------------------------------------

// A chunk with proxies has a table beside it: by a record's place in the chunk, the address of the
// loose handle that it stands for; 0 = none. LOOKED_AT is set while the manager's thread reads the
// loose handle, which is not freed before it is cleared.
#define LOOKED_AT UINT64_C(1)

typedef struct loose_table {
    _Atomic uint64_t loose[ACRE_SLAB_CHUNK_SIZE / 16];
} loose_table;

// => NULL when no record of the chunk was ever a proxy.
static _Atomic uint64_t *loose_place(const acre_handle *record) {
    loose_table *table = acre_slab_chunk_of(record)->side;
    uintptr_t place = ((uintptr_t)record & (ACRE_SLAB_CHUNK_SIZE - 1)) >> 4;
    return table == NULL ? NULL : &table->loose[place];
}

// The proxy no longer leads to its loose handle. The manager's thread may be looking at it just
// now, for the few steps of loose_bindings, and is waited for.
static void leave_proxy(const acre_handle *proxy) {
    _Atomic uint64_t *place = loose_place(proxy);
    uint64_t loose = atomic_load_explicit(place, memory_order_relaxed);
    do {
        loose &= ~LOOKED_AT;
    } while (!atomic_compare_exchange_weak_explicit(place, &loose, 0, memory_order_acquire,
                                                    memory_order_relaxed));
}

static uint32_t loose_bindings(const acre_handle *record) {
    _Atomic uint64_t *place = loose_place(record);
    uint64_t loose = place == NULL ? 0 : atomic_load_explicit(place, memory_order_relaxed);
    if (loose == 0 ||
        !atomic_compare_exchange_strong_explicit(place, &loose, loose | LOOKED_AT,
                                                 memory_order_acquire, memory_order_relaxed)) {
        return 0; // none, or it goes just now
    }
    const acre_handle *handle = (const acre_handle *)(uintptr_t)loose;
    uint64_t counts = atomic_load_explicit(&handle->counts, memory_order_acquire);
    atomic_store_explicit(place, loose, memory_order_release);
    return (uint32_t)(counts >> 32);
}

static void free_loose_tables(acre_home *home) {
    for (uint32_t i = 0; i < home->handles.chunk_count; i++) {
        acre_host_free(&home->host, acre_slab_chunk_at(&home->handles, i)->side,
                       sizeof(loose_table), 16);
    }
}

bool acre_loose_handle_prepare(acre_home *home) {
    const acre_slab *slab = &home->handles;
    uint32_t name = slab->free_head != 0 ? slab->free_head : slab->fresh; // taken next
    acre_slab_chunk *chunk = acre_slab_chunk_at(slab, name >> 12);
    if (chunk->side == NULL) {
        chunk->side = acre_host_alloc_zeroed(&home->host, sizeof(loose_table), 16);
    }
    return chunk->side != NULL;
}

// ---- home ----------------------------------------------------------------------------------

acre_home *acre_home_create(const acre_host *host) {
    acre_host own = *host;
    acre_home *home = acre_host_alloc_zeroed(&own, sizeof *home, _Alignof(acre_home));
    if (home == NULL) {
        return NULL;
    }
    home->host = own;
    acre_slab_init(&home->handles, &home->host, home, sizeof(acre_handle));
    return home;
}

static void home_destroy(acre_home *home) {
    free_loose_tables(home);
    acre_slab_destroy(&home->handles);
    acre_host host = home->host;
    acre_host_free(&host, home, sizeof *home, _Alignof(acre_home));
}

// Counts `change` handles of a home without a manager; the one that reaches 0 frees it. Before
// acre_home_close has added the handles that are left, the count is below 0.
static void count_orphans(acre_home *home, int64_t change) {
    int64_t before = atomic_fetch_add_explicit(&home->orphans, change, memory_order_acq_rel);
    if (before + change == 0) {
        home_destroy(home);
    }
}

bool acre_handle_end_pending(acre_handle *record) {
    // Acquire: what others did with the allocation was before.
    uint64_t counts = atomic_load_explicit(&record->counts, memory_order_acquire);
    if (counts <= ACRE_OWNER) { // nobody is left who could change it
        atomic_store_explicit(&record->counts, 0, memory_order_relaxed);
        return true;
    }
    return atomic_fetch_sub_explicit(&record->counts, ACRE_OWNER, memory_order_acq_rel) ==
           ACRE_OWNER;
}

void acre_home_close(acre_home *home) {
    int64_t left = (int64_t)acre_slab_live(&home->handles);
    uint32_t name = atomic_exchange_explicit(&home->pending, PENDING_CLOSED, memory_order_acq_rel);
    while (name != 0) { // released while the manager was being destroyed
        acre_handle *record = acre_handle_at(home, name);
        name = record->link;
        left -= acre_handle_end_pending(record);
    }
    count_orphans(home, left);
}

uint32_t acre_home_take_pending(acre_home *home) {
    uint32_t newest = atomic_exchange_explicit(&home->pending, 0, memory_order_acquire);
    uint32_t first = 0;
    while (newest != 0) { // turn the list round: first pushed first
        acre_handle *handle = acre_handle_at(home, newest);
        uint32_t older = handle->link;
        handle->link = first;
        first = newest;
        newest = older;
    }
    return first;
}

// Leaves a record that nothing holds, or that has one reference left which goes with it, for the
// manager. Any thread; lock-free. The record is reached by its address: its name could not be
// looked up while the manager's thread grows the slab.
static void push(acre_handle *record) {
    acre_home *home = acre_slab_chunk_of(record)->owner;
    uint32_t name = acre_handle_name(record);
    uint32_t head = atomic_load_explicit(&home->pending, memory_order_relaxed);
    do {
        if (head == PENDING_CLOSED) {
            count_orphans(home, -1);
            return;
        }
        record->link = head;
    } while (!atomic_compare_exchange_weak_explicit(&home->pending, &head, name,
                                                    memory_order_release, memory_order_relaxed));
}

// ---- counts --------------------------------------------------------------------------------

static void drop(acre_handle *handle, uint64_t count);

// Nothing holds the record any more, and so it no longer holds another.
static void leave(acre_handle *record) {
    while (record != NULL) {
        acre_handle *next = acre_handle_end_hold(record);
        push(record);
        record = next;
    }
}

static void leave_loose(loose_handle *loose) {
    acre_handle *proxy = loose->proxy;
    acre_host_hooks hooks = loose->hooks;
    if (proxy != NULL) {
        leave_proxy(proxy);
    }
    acre_host_free_uncounted(&hooks, loose, sizeof *loose, 16);
    if (proxy != NULL) {
        drop(proxy, ACRE_OWNER); // a record, so this does not come here again
    }
}

static void drop(acre_handle *handle, uint64_t count) {
    // Also when it is the only reference and does not go with the record (push): the manager's
    // thread may pin a record that others hold, so whether that or this came first must be one
    // step.
    uint64_t before = atomic_fetch_sub_explicit(&handle->counts, count, memory_order_acq_rel);
    assert(before >= count); // else it was released once too often
    if (before != count) {
        return;
    }
    if (acre_handle_is_loose(handle)) {
        leave_loose(loose_of(handle));
    } else {
        leave(handle);
    }
}

acre_handle *acre_handle_retain(acre_handle *handle) {
    atomic_fetch_add_explicit(&handle->counts, ACRE_OWNER, memory_order_relaxed);
    return handle;
}

// Whether a record holds a binding on another, which goes before it is pushed.
static bool holds(const acre_handle *record) {
    return record->slice != ACRE_HANDLE_STALE &&
           (record->slice & ACRE_HANDLE_HOLD) == ACRE_HANDLE_HOLD;
}

void acre_handle_release(acre_handle *handle) {
    if (handle == NULL) {
        return;
    }
    // Acquire: the others may have let go on other threads; the push makes it known further on.
    if (acre_likely(!acre_handle_is_loose(handle) &&
                    atomic_load_explicit(&handle->counts, memory_order_acquire) == ACRE_OWNER &&
                    !holds(handle))) {
        push(handle);
    } else {
        drop(handle, ACRE_OWNER);
    }
}

bool acre_handle_can_mut(const acre_handle *handle) {
    return (uint32_t)atomic_load_explicit(&handle->counts, memory_order_acquire) == 1;
}

// A guard is a record that names a page instead of a slice.
acre_guard *acre_guard_retain(acre_guard *guard) {
    return (acre_guard *)acre_handle_retain((acre_handle *)guard);
}

void acre_guard_release(acre_guard *guard) {
    acre_handle_release((acre_handle *)guard);
}

// A binding is the handle seen through its second count.
acre_binding *acre_handle_binding(acre_handle *handle) {
    atomic_fetch_add_explicit(&handle->counts, ACRE_BINDING, memory_order_relaxed);
    return (acre_binding *)handle;
}

acre_handle *acre_binding_handle(acre_binding *binding) {
    return (acre_handle *)binding;
}

acre_binding *acre_binding_retain(acre_binding *binding) {
    return acre_handle_binding(acre_binding_handle(binding));
}

void acre_binding_release(acre_binding *binding) {
    if (binding != NULL) {
        drop(acre_binding_handle(binding), ACRE_BINDING);
    }
}

uint32_t acre_handle_bindings(acre_handle *record) {
    uint64_t counts = atomic_load_explicit(&record->counts, memory_order_acquire);
    return (uint32_t)(counts >> 32) + loose_bindings(record);
}

bool acre_handle_pin(acre_handle *record, uint32_t *bindings) {
    uint64_t counts = atomic_load_explicit(&record->counts, memory_order_relaxed);
    do {
        *bindings = (uint32_t)(counts >> 32);
        if (counts == 0) {
            return false;
        }
    } while (!atomic_compare_exchange_weak_explicit(&record->counts, &counts, counts + ACRE_BINDING,
                                                    memory_order_acquire, memory_order_relaxed));
    *bindings += loose_bindings(record);
    return true;
}

// ---- loose handles -------------------------------------------------------------------------

acre_status acre_handle_create(const acre_host_hooks *hooks, acre_handle **handle,
                               acre_error *error) {
    acre_error local;
    acre_error *detail = acre_error_open(error, &local);
    acre_host host;
    acre_status status = acre_host_init(&host, hooks, detail);
    if (status != ACRE_OK) {
        return acre_error_close(error, detail, status);
    }
    loose_handle *loose = acre_host_alloc_zeroed(&host, sizeof *loose, 16);
    if (loose == NULL) {
        return acre_error_close(error, detail,
                                acre_error_refuse(detail, ACRE_OUT_OF_HOST_MEMORY, sizeof *loose));
    }
    loose->hooks = host.hooks;
    atomic_store_explicit(&loose->handle.counts, ACRE_OWNER, memory_order_relaxed);
    *handle = &loose->handle;
    return ACRE_OK;
}

acre_handle *acre_handle_record(const acre_home *home, const acre_handle *handle) {
    if (!acre_handle_is_loose(handle)) {
        return acre_slab_chunk_of(handle)->owner == home ? (acre_handle *)(uintptr_t)handle : NULL;
    }
    const loose_handle *loose = loose_of(handle);
    return loose->home == home ? loose->proxy : NULL;
}

bool acre_loose_handle_is_bound(const acre_handle *handle) {
    return handle->slice != 0;
}

void acre_loose_handle_bind(acre_handle *handle, acre_home *home, acre_handle *proxy) {
    loose_handle *loose = loose_of(handle);
    loose->home = home;
    loose->proxy = proxy;
    handle->slice = 1;
    atomic_store_explicit(loose_place(proxy), (uint64_t)(uintptr_t)handle, memory_order_relaxed);
}

void acre_loose_handle_unbind(acre_handle *handle, bool stays) {
    if (!stays) {
        leave_proxy(loose_of(handle)->proxy);
        loose_of(handle)->proxy = NULL;
    }
    handle->slice = ACRE_HANDLE_STALE;
}

// ---- holds ---------------------------------------------------------------------------------

// The address of a record in units of 16 bytes: its low 30 bits in the slice, inverted so that they
// are never those of ACRE_HANDLE_STALE (a record is not at the start of its chunk), the rest in the
// link.
void acre_handle_hold(acre_handle *record, acre_handle *held) {
    uint64_t place = (uint64_t)(uintptr_t)held >> 4;
    atomic_fetch_add_explicit(&held->counts, ACRE_BINDING, memory_order_relaxed);
    record->slice = ACRE_HANDLE_HOLD | (~(uint32_t)place & ACRE_HANDLE_NAME);
    record->link = (uint32_t)(place >> 30);
}

acre_handle *acre_handle_end_hold(acre_handle *record) {
    uint32_t slice = record->slice;
    if (!holds(record)) {
        return NULL;
    }
    uint64_t place = (uint64_t)record->link << 30 | (~slice & ACRE_HANDLE_NAME);
    acre_handle *held = (acre_handle *)(uintptr_t)(place << 4);
    record->slice = ACRE_HANDLE_STALE;
    uint64_t before = atomic_fetch_sub_explicit(&held->counts, ACRE_BINDING, memory_order_acq_rel);
    return before == ACRE_BINDING ? held : NULL;
}
