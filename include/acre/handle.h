// Handles and bindings: reference-counted claims on an allocation.
//
// A handle is an owner of an allocation. A binding is a use of it in flight: it keeps the
// allocation alive and in place, and does not count as an owner, so `acre_handle_can_mut` ignores
// it. An allocation is free once neither is left; its room can be used again at the manager's next
// operation.
//
// A handle begins uninitialised (no allocation), gets one from a reservation or from
// `acre_manager_bind`, and may lose it to another handle by a bind; then it is stale. Uninitialised
// and stale handles are valid objects that look up as NOT_FOUND. A pointer is good as long as its
// holder has a reference, also after the manager is gone.
//
// All functions here may be called from any thread. None but acre_handle_create can fail.
#ifndef ACRE_HANDLE_H
#define ACRE_HANDLE_H

#include <acre/host.h>
#include <acre/status.h>

typedef struct acre_handle acre_handle;
typedef struct acre_binding acre_binding;

ACRE_BEGIN_DECLS

// A handle before there is memory, or even a manager. It belongs to no manager until it is bound.
// `hooks` may be NULL and are copied; their context must outlive the handle. OUT_OF_HOST_MEMORY;
// INVALID_ARGUMENT and UNSUPPORTED for hooks that lack a function or that are of a later version.
ACRE_API ACRE_CHECKED acre_status acre_handle_create(const acre_host_hooks *hooks,
                                                     acre_handle **handle, acre_error *error);

// One more owner; returns `handle`. At most 2^31 owners and as many bindings at a time.
ACRE_API acre_handle *acre_handle_retain(acre_handle *handle);

// One owner less. When nothing is left, the room goes back at the manager's next operation, in
// the order in which allocations became free. NULL is allowed. `acre_manager_release` is the
// cheaper form on the manager's own thread.
ACRE_API void acre_handle_release(acre_handle *handle);

// True when there is exactly one owner: it may update the buffer in place.
ACRE_API bool acre_handle_can_mut(const acre_handle *handle);

// A use in flight of the allocation behind `handle`, of which the caller must hold a reference.
ACRE_API acre_binding *acre_handle_binding(acre_handle *handle);

// One more holder of a use; returns `binding`.
ACRE_API acre_binding *acre_binding_retain(acre_binding *binding);

// Ends a use. NULL is allowed.
ACRE_API void acre_binding_release(acre_binding *binding);

// The handle, for look-ups while the binding is held. It is not a new owner.
ACRE_API acre_handle *acre_binding_handle(acre_binding *binding);

ACRE_END_DECLS

#endif
