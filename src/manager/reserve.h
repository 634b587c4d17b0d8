// Reservations, as the two files that make them see them.
//
//   reserve.c         everything: routing, growth, giving back before failing
//   reserve_entry.c   the entry points, and what most requests need of all that
#ifndef ACRE_MANAGER_RESERVE_H
#define ACRE_MANAGER_RESERVE_H

#include "manager/manager.h"

// A request on its way.
typedef struct acre_request {
    uint64_t size;
    uint64_t step; // its offset is a multiple of it
    uint64_t stream;
    acre_page_update update;
    uint32_t tag;
} acre_request;

// Serves a request by whatever it takes. `searched` is a pool whose room was found too small, or
// NULL. => what acre_manager_reserve_with says; a listener has not heard of a failure yet.
acre_status acre_reserve(acre_manager *manager, acre_request *wanted, const acre_pool *searched,
                         acre_handle **handle, acre_error *error);

// What a listener hears of a reservation; slice 0: it was refused.
void acre_reserve_tell(const acre_manager *manager, const acre_request *wanted, uint32_t slice,
                       const acre_pool *pool);

// Gives a slice its handle, of which one was prepared, and counts it. `padding` is what
// rounding added to the size.
static inline __attribute__((always_inline)) acre_handle *
acre_hand_out(acre_manager *manager, acre_pool *pool, uint64_t size, uint64_t padding, uint32_t tag,
              acre_run run) {
    uint32_t handle_name;
    acre_handle *handle = acre_handle_take(manager->home, &handle_name, run.name);
    acre_slice_set_owned(run.slice, handle_name);
    acre_slice_set_requested(run.slice, size, tag);
    acre_add_pair(&pool->usage, 1, size); // allocations, in_use
    pool->usage.padding += padding;
    if (size > pool->largest_alloc) {
        pool->largest_alloc = size;
    }
    return handle;
}

#endif
