// Managers: what a runtime holds per stream or device, and asks for bytes.
//
// A manager routes each request to the first pool of its layout that accepts the size, keeps its
// books in host memory, and never touches the bytes it manages. It is used by one thread at a
// time; handles by any (acre/handle.h). Where a request lands depends only on the sequence of
// requests and releases the manager has seen.
//
//            reserve                  release
//               |                        |
//     mode? ----+-- persistent pool      |  owner's thread: at once
//               +-- dedicated pool       |  any thread: a lock-free list,
//               +-- layout: pool 0,      |  taken in by the next operation
//                   pool 1, ... the      |
//                   first that accepts   v
//               |                 room of the pool, merged with free neighbours
//               v
//        page of the storage
#ifndef ACRE_MANAGER_H
#define ACRE_MANAGER_H

#include <acre/config.h>
#include <acre/event.h>
#include <acre/handle.h>
#include <acre/host.h>
#include <acre/layout.h>
#include <acre/status.h>
#include <acre/storage.h>

typedef struct acre_manager acre_manager;

// Which pools serve a reservation.
typedef enum acre_mode {
    ACRE_MODE_AUTO = 0,       // the layout
    ACRE_MODE_PERSISTENT = 1, // the persistent pool: weights, never expected to go
    ACRE_MODE_DEDICATED = 2,  // a device allocation of its own, given back when freed
} acre_mode;

// What a reservation may do to the pages held.
typedef enum acre_page_update {
    ACRE_PAGES_ALLOW = 0,     // the periodic cleanup runs first; pages may go back and be added
    ACRE_PAGES_ADD_ONLY = 1,  // no page goes back or changes; pages may be added
    ACRE_PAGES_FORBIDDEN = 2, // only room already held
} acre_page_update;

typedef enum acre_cleanup {
    ACRE_CLEANUP_PERIODIC = 0, // what each pool's own policy says is no longer worth holding
    ACRE_CLEANUP_EXPLICIT = 1, // everything that nothing holds, and the storage is flushed
} acre_cleanup;

// Whether reservations that allow page updates relocate (acre/relocation.h) before they add a page
// to the adaptive pool, through the storage's own copy queue. One that fails leaves the reservation
// to go on as without. With another policy than NONE, resolve a handle after every reservation, or
// hold a binding: what has one stays in place.
typedef enum acre_relocation_policy {
    ACRE_RELOCATION_NONE = 0,
    ACRE_RELOCATION_ON_NEED = 1, // when acre_manager_relocation_need says so
    ACRE_RELOCATION_COMPACT = 2, // also when the room held could hold the request, were it in one
                                 // piece; free pages of every pool go back before a page is added
} acre_relocation_policy;

// Called when the device or the hard limit refused and giving back free pages did not help. It may
// release handles, run a cleanup, raise limits, open, close and destroy capture scopes, and read
// reports of this manager, not reserve, bind or install. Returning true asks for one more try.
// `size` is the request's bytes.
typedef bool (*acre_out_of_memory_fn)(void *context, acre_manager *manager, uint64_t size);

// One log line, without a line end. Called on the manager's thread; it must not call the manager.
typedef void (*acre_log_fn)(void *context, acre_log_level level, const char *line);

typedef struct acre_manager_options {
    size_t struct_size;        // set by ACRE_MANAGER_OPTIONS_INIT
    const char *name;          // copied, at most 63 bytes; NULL = "acre"
    uint64_t largest_page;     // bytes; 0 = the storage's largest allocation
    uint64_t alignment;        // bytes, any integer >= 1; 0 = the storage's slice alignment
    uint64_t total_memory;     // bytes of the device; 0 = as the storage says, which may be unknown
    uint64_t soft_limit;       // bytes of pages above which free ones go back first; 0 = none
    uint64_t hard_limit;       // bytes of pages never exceeded; 0 = none
    const acre_layout *layout; // NULL = ACRE_LAYOUT_DEFAULT
    const acre_config *config; // NULL = defaults and the environment variable ACRE_CONF
    const acre_host_hooks *hooks; // NULL = the C library's allocator
    acre_mode base_mode; // in force outside any window; auto leaves it to the configuration
    acre_out_of_memory_fn out_of_memory; // may be NULL
    void *out_of_memory_context;
    acre_event_fn event; // may be NULL
    void *event_context;
    uint32_t event_mask; // acre_event_kind bits it is called for; 0 = all
    acre_log_fn log;     // NULL = the configuration's log target
    void *log_context;
    acre_relocation_policy relocation; // UNSUPPORTED on a storage without the operation copy
} acre_manager_options;

#if defined(__cplusplus)
#define ACRE_MANAGER_OPTIONS_INIT                                                                  \
    (acre_manager_options{sizeof(acre_manager_options), nullptr, 0, 0, 0, 0, 0, nullptr, nullptr,  \
                          nullptr, ACRE_MODE_AUTO, nullptr, nullptr, nullptr, nullptr, 0, nullptr, \
                          nullptr, ACRE_RELOCATION_NONE})
#else
#define ACRE_MANAGER_OPTIONS_INIT                                                                  \
    ((acre_manager_options){.struct_size = sizeof(acre_manager_options)})
#endif

// One request.
typedef struct acre_reservation {
    size_t struct_size; // set by ACRE_RESERVATION_INIT
    uint64_t size;      // bytes; 0 is valid
    uint64_t alignment; // bytes its offset is a multiple of, beside the manager's; 0 = only that
    acre_page_update page_update;
    uint32_t tag;    // shown in reports and events; 0 = none
    uint64_t stream; // told to the event listener
} acre_reservation;

#if defined(__cplusplus)
#define ACRE_RESERVATION_INIT(bytes)                                                               \
    (acre_reservation{sizeof(acre_reservation), bytes, 0, ACRE_PAGES_ALLOW, 0, 0})
#else
#define ACRE_RESERVATION_INIT(bytes)                                                               \
    ((acre_reservation){.struct_size = sizeof(acre_reservation), .size = (bytes)})
#endif

// Where an allocation is.
typedef struct acre_place {
    size_t struct_size;  // set by ACRE_PLACE_INIT
    uint32_t pool_index; // as in acre/report.h
    uint32_t page;       // names the page within the manager while it is held
    uint64_t offset;     // bytes into the page
    uint64_t size;       // requested bytes
    uint64_t padding;    // bytes
} acre_place;

#if defined(__cplusplus)
#define ACRE_PLACE_INIT (acre_place{sizeof(acre_place), 0, 0, 0, 0, 0})
#else
#define ACRE_PLACE_INIT ((acre_place){.struct_size = sizeof(acre_place)})
#endif

// A resource that keeps its allocation alive and in place until it is released. Its size is fixed:
// an acre_resource has room for what back ends may need.
typedef struct acre_managed_resource {
    acre_resource resource;
    acre_binding *binding;
} acre_managed_resource;

ACRE_BEGIN_DECLS

// A manager on `storage`, with no pages yet. `options` may be NULL.
// Errors: INVALID_ARGUMENT names the option; UNSUPPORTED when the storage cannot cut pages and the
// layout needs it; OUT_OF_HOST_MEMORY; IO_ERROR when the log target cannot be opened.
ACRE_API ACRE_CHECKED acre_status acre_manager_create(acre_storage *storage,
                                                      const acre_manager_options *options,
                                                      acre_manager **manager, acre_error *error);

// Gives every page back, flushed. Allowed with live handles, while no work is in flight: they stay
// valid objects that look up as NOT_FOUND, and the host hooks must live until the last one is
// released. NULL is allowed.
ACRE_API void acre_manager_destroy(acre_manager *manager);

// Reserves `size` bytes, allowing page updates. The caller owns the handle.
//
// Errors: BUFFER_TOO_BIG, OUT_OF_MEMORY, POOL_CAPACITY_EXCEEDED, PAGE_SIZES_EXHAUSTED (adaptive),
// BACKEND_ERROR, OUT_OF_HOST_MEMORY. Before OUT_OF_MEMORY is reported, free pages of every pool go
// back and the request is tried once more; pages given back stay given back. Nothing else changes
// on an error, and `*handle` is untouched.
ACRE_API ACRE_CHECKED acre_status acre_manager_reserve(acre_manager *manager, uint64_t size,
                                                       acre_handle **handle, acre_error *error);

// The same with all parameters. Also UNSUPPORTED when the alignment exceeds the storage's page
// alignment or the struct has fields of a later version, INVALID_ARGUMENT for a page update that is
// none, and PAGE_UPDATE_FORBIDDEN, whatever the reason, when pages may not be added.
ACRE_API ACRE_CHECKED acre_status acre_manager_reserve_with(acre_manager *manager,
                                                            const acre_reservation *reservation,
                                                            acre_handle **handle,
                                                            acre_error *error);

// Releases an owner on the manager's thread: like acre_handle_release, but the room is free when
// the call returns. A handle of another manager is released the slow way. NULL is allowed.
ACRE_API void acre_manager_release(acre_manager *manager, acre_handle *handle);

// An uninitialised handle of this manager, to be the target of a bind. OUT_OF_HOST_MEMORY.
ACRE_API ACRE_CHECKED acre_status acre_manager_handle_create(acre_manager *manager,
                                                             acre_handle **handle,
                                                             acre_error *error);

// Gives the allocation behind `reserved` to `assigned` and stores `cursor`, a sequence number of
// the caller's. From then on `reserved` is stale; the caller still owns its references to both.
// Bindings taken on `reserved` before go on keeping the allocation alive and in place, until the
// last reference to `reserved`, owners included, is released.
// NOT_FOUND: `reserved` has no allocation. INVALID_ARGUMENT: `assigned` was bound before, or either
// belongs to another manager. OUT_OF_HOST_MEMORY.
ACRE_API ACRE_CHECKED acre_status acre_manager_bind(acre_manager *manager, acre_handle *reserved,
                                                    acre_handle *assigned, uint64_t cursor,
                                                    acre_error *error);

// The cursor stored by the bind that gave `handle` its allocation; 0 before a bind. NOT_FOUND.
ACRE_API ACRE_CHECKED acre_status acre_manager_get_cursor(acre_manager *manager,
                                                          const acre_handle *handle,
                                                          uint64_t *cursor, acre_error *error);

// Where the allocation behind `handle` is. NOT_FOUND.
ACRE_API ACRE_CHECKED acre_status acre_manager_get_place(acre_manager *manager,
                                                         const acre_handle *handle,
                                                         acre_place *place, acre_error *error);

// What a kernel is given: the requested size, less `offset_start` bytes at the front and
// `offset_end` at the back. A page carved under a dry run gets its device memory here
// (STORAGE_MAPPING_FAILED with the cause when there is none). INVALID_ARGUMENT when the offsets are
// more than the size; NOT_FOUND; errors of the storage. Good while the caller holds the handle or a
// binding.
ACRE_API ACRE_CHECKED acre_status acre_manager_resolve(acre_manager *manager,
                                                       const acre_handle *handle,
                                                       uint64_t offset_start, uint64_t offset_end,
                                                       acre_resource *resource, acre_error *error);

// The same, holding a binding until acre_managed_resource_release.
ACRE_API ACRE_CHECKED acre_status acre_manager_resolve_managed(
    acre_manager *manager, acre_handle *handle, uint64_t offset_start, uint64_t offset_end,
    acre_managed_resource *resource, acre_error *error);

// Ends the use and clears the struct. NULL is allowed. Any thread.
ACRE_API void acre_managed_resource_release(acre_managed_resource *resource);

// Persistent and dedicated open a window, auto closes the innermost (none open: nothing happens);
// the innermost open window decides. With the persistent-memory setting disabled or enforced a
// persistent window keeps the base mode. INVALID_ARGUMENT, OUT_OF_HOST_MEMORY: nothing changes.
ACRE_API ACRE_CHECKED acre_status acre_manager_set_mode(acre_manager *manager, acre_mode mode,
                                                        acre_error *error);

// The mode in force.
ACRE_API acre_mode acre_manager_get_mode(const acre_manager *manager);

// Gives pages back. Never moves a live allocation.
ACRE_API void acre_manager_cleanup(acre_manager *manager, acre_cleanup cleanup);

// Changes the limits; 0 = none. Pages above a new limit stay until a cleanup.
ACRE_API void acre_manager_set_limits(acre_manager *manager, uint64_t soft_limit,
                                      uint64_t hard_limit);

// Replaces the layout's pools. POOLS_IN_USE with the bytes in use while anything lives in them or a
// guard holds a page of theirs; the other errors of acre_manager_create for a layout. On an error
// the old layout stays in force. On success its free pages went back, the peaks begin anew, and
// persistent and dedicated memory is untouched.
ACRE_API ACRE_CHECKED acre_status acre_manager_install_layout(acre_manager *manager,
                                                              const acre_layout *layout,
                                                              acre_error *error);

// The pools of the layout in force, each capped at the peak of page bytes measured so far (direct
// and adaptive pools have no cap and stay as they are). `pool_size` is the size of one element of
// `pools`, which need not be initialised; at most `capacity` are written. `*count` is set to how
// many there are. Installing them and repeating the requests reaches the same peaks, because
// placement depends on the requests alone. INVALID_ARGUMENT when `capacity` is too small; then
// nothing is written.
ACRE_API ACRE_CHECKED acre_status acre_manager_measured_pools(acre_manager *manager,
                                                              acre_pool_options *pools,
                                                              size_t pool_size, size_t capacity,
                                                              size_t *count, acre_error *error);

ACRE_END_DECLS

#endif
