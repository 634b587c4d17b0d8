// The entry points of reservations.
//
// Most requests find nothing due, and that a run of their size was freed lately. That much is
// decided here with few instructions and few stores; each calls nothing but at its very end, so
// that few registers are saved. One after the other tries more:
//
//   acre_manager_reserve    nothing is due, and the pool was given back a run of the size
//   reserve_open            or can go on cutting where it cut last
//   reserve_cut             or has another run to cut
//   reserve_plain           whatever the policy of the pool
//   acre_reserve            whatever it takes
#include "base/error.h"
#include "base/structs.h"
#include "manager/reserve.h"

// Whether a request needs nothing but room: see quiet_until.
static inline bool is_quiet(const acre_manager *manager, uint64_t size) {
    const acre_slab *handles = &manager->home->handles;
    return manager->heap.reservations < manager->heap.quiet_until && size != 0 &&
           (handles->free_head != 0 || acre_slab_is_prepared(handles, 1));
}

// The same, and its handle was one before.
static inline bool is_quick(const acre_manager *manager, uint64_t size) {
    return manager->heap.reservations < manager->heap.quiet_until && size != 0 &&
           manager->home->handles.free_head != 0;
}

// Whether there are the slice records that a cut may need.
static inline bool has_slice_records(const acre_manager *manager) {
    return acre_slab_is_prepared(&manager->heap.slices, ACRE_POOL_RECORDS);
}

// => the pool of a size > 0 when the first that might accept it does and cuts its pages; else NULL
static inline acre_pool *cut_pool_for(const acre_manager *manager, uint64_t size) {
    const acre_pool_set *layout = &manager->layout;
    acre_pool *pool = layout->pools[layout->route[acre_log2(size)]];
    return acre_likely(pool != NULL && size <= pool->accept_max && pool->carve.cuts) ? pool : NULL;
}

// => the first pool that accepts a size > 0; NULL = none does
static inline acre_pool *pool_for(const acre_manager *manager, uint64_t size) {
    const acre_pool_set *layout = &manager->layout;
    uint32_t place = acre_pool_set_accepts(layout, layout->route[acre_log2(size)], size);
    return acre_likely(place < layout->count) ? layout->pools[place] : NULL;
}

// The padded size, when quiet: the alignment is a power of two.
static inline uint64_t padded_of(const acre_manager *manager, uint64_t size) {
    uint64_t mask = manager->heap.alignment_mask;
    return (size + mask) & ~mask;
}

// From room held, whatever the pool's policy. => NULL when something is due or the pool has no
// room, which `*searched` then is; nothing changed.
static inline acre_handle *reserve_held(acre_manager *manager, uint64_t size,
                                        acre_page_update update, uint32_t tag,
                                        const acre_pool **searched) {
    acre_pool *pool = is_quiet(manager, size) ? pool_for(manager, size) : NULL;
    if (pool == NULL || acre_unlikely(!has_slice_records(manager))) {
        return NULL;
    }
    uint64_t padded = padded_of(manager, size);
    acre_run run = pool->ops->reserve(pool, padded, manager->heap.alignment);
    if (acre_unlikely(run.slice == NULL)) {
        *searched = pool;
        return NULL;
    }
    manager->heap.reservations += update != ACRE_PAGES_FORBIDDEN;
    return acre_hand_out(manager, pool, size, padded - size, tag, run);
}

// The end of every reservation: a listener hears of those that failed, for whatever reason.
static acre_status finish(acre_manager *manager, const acre_request *wanted, acre_status status,
                          acre_error *theirs, const acre_error *detail) {
    if (status != ACRE_OK && manager->told) {
        acre_reserve_tell(manager, wanted, 0, NULL);
    }
    return acre_error_close(theirs, detail, status);
}

static acre_status reserve_anyhow(acre_manager *manager, uint64_t size, const acre_pool *searched,
                                  acre_handle **handle, acre_error *error) {
    acre_error local;
    acre_error *detail = acre_error_open(error, &local);
    acre_request wanted = {
        .size = size, .step = manager->heap.alignment, .update = ACRE_PAGES_ALLOW};
    acre_status status = acre_reserve(manager, &wanted, searched, handle, detail);
    return finish(manager, &wanted, status, error, detail);
}

static __attribute__((noinline)) acre_status
reserve_plain(acre_manager *manager, uint64_t size, acre_handle **handle, acre_error *error) {
    const acre_pool *searched = NULL;
    acre_manager_take_pending(manager);
    acre_handle *taken = reserve_held(manager, size, ACRE_PAGES_ALLOW, 0, &searched);
    if (acre_likely(taken != NULL)) {
        *handle = taken;
        return ACRE_OK;
    }
    return reserve_anyhow(manager, size, searched, handle, error);
}

// When nothing is due, and the pool's open run does not serve the request at once.
static __attribute__((noinline)) acre_status reserve_cut(acre_manager *manager, acre_pool *pool,
                                                         uint64_t size, acre_handle **handle,
                                                         acre_error *error) {
    const acre_pool *searched = NULL;
    if (acre_likely(has_slice_records(manager))) {
        uint64_t padded = padded_of(manager, size);
        acre_run run = acre_carve_search(&pool->carve, padded, pool->carve.unit);
        if (acre_likely(run.slice != NULL)) {
            acre_pool_hold_taken(pool, run);
            manager->heap.reservations++;
            *handle = acre_hand_out(manager, pool, size, padded - size, 0, run);
            return ACRE_OK;
        }
        searched = pool;
    }
    return reserve_anyhow(manager, size, searched, handle, error);
}

// The end of a quick reservation: hands out a run, which the page holds from now on. There is a
// handle record used before.
static __attribute__((noinline)) acre_status hand_over(acre_manager *manager, acre_pool *pool,
                                                       uint64_t size, acre_handle **handle,
                                                       acre_run run) {
    acre_given(manager->home->handles.free_head != 0);
    acre_pool_hold(pool, acre_page_at(&manager->heap, acre_slice_page(run.slice)));
    manager->heap.reservations++;
    *handle = acre_hand_out(manager, pool, size, run.slice->size - size, 0, run);
    return ACRE_OK;
}

// When nothing is due, and the pool, which cuts its pages, was not given back a run of the size.
static __attribute__((noinline)) acre_status reserve_open(acre_manager *manager, acre_pool *pool,
                                                          uint64_t size, acre_handle **handle,
                                                          acre_error *error) {
    acre_run run = acre_carve_take_open(&pool->carve, padded_of(manager, size));
    return run.slice != NULL ? hand_over(manager, pool, size, handle, run)
                             : reserve_cut(manager, pool, size, handle, error);
}

// When nothing is pending.
static inline __attribute__((always_inline)) acre_status
reserve_quick(acre_manager *manager, uint64_t size, acre_handle **handle, acre_error *error) {
    acre_pool *pool;
    if (acre_unlikely(!is_quick(manager, size) || (pool = cut_pool_for(manager, size)) == NULL)) {
        return reserve_plain(manager, size, handle, error);
    }
    acre_run run = acre_carve_take_freed(&pool->carve, padded_of(manager, size), pool->carve.unit);
    return run.slice != NULL ? hand_over(manager, pool, size, handle, run)
                             : reserve_open(manager, pool, size, handle, error);
}

// After what other threads let go of was taken in, the rest is the same: a program that releases
// elsewhere does so between most of its requests.
static __attribute__((noinline)) acre_status reserve_after_pending(acre_manager *manager,
                                                                   uint64_t size,
                                                                   acre_handle **handle,
                                                                   acre_error *error) {
    acre_manager_take_in(manager);
    return reserve_quick(manager, size, handle, error);
}

acre_status acre_manager_reserve(acre_manager *manager, uint64_t size, acre_handle **handle,
                                 acre_error *error) {
    return acre_unlikely(acre_home_has_pending(manager->home))
               ? reserve_after_pending(manager, size, handle, error)
               : reserve_quick(manager, size, handle, error);
}

// Checks a reservation and makes the request of it.
static acre_status read_reservation(const acre_manager *manager,
                                    const acre_reservation *reservation, acre_request *wanted,
                                    acre_error *error) {
    const acre_heap *heap = &manager->heap;
    acre_reservation copy = ACRE_RESERVATION_INIT(0);
    const acre_reservation *own = reservation;
    if (acre_unlikely(reservation->struct_size != sizeof *reservation)) {
        if (!acre_struct_read(&copy, sizeof copy, reservation)) {
            return acre_error_set(error, ACRE_UNSUPPORTED,
                                  "the reservation has fields this version does not know");
        }
        own = &copy;
    }
    wanted->size = own->size;
    wanted->step = heap->alignment;
    wanted->stream = own->stream;
    wanted->update = own->page_update;
    wanted->tag = own->tag;
    if (acre_unlikely((unsigned)own->page_update > ACRE_PAGES_FORBIDDEN)) {
        return acre_error_set(error, ACRE_INVALID_ARGUMENT, "no such page_update: %d",
                              (int)own->page_update);
    }
    if (acre_likely(own->alignment <= 1)) {
        return ACRE_OK;
    }
    if (own->alignment > heap->storage->alignment) {
        acre_error_describe(error, ACRE_UNSUPPORTED,
                            "the alignment is above that of the storage's pages");
        error->size = own->alignment;
        error->capacity = heap->storage->alignment;
        return ACRE_UNSUPPORTED;
    }
    wanted->step = acre_lcm(heap->alignment, own->alignment);
    return ACRE_OK;
}

// A move must keep what the offset is a multiple of.
static void note_alignment(acre_manager *manager, const acre_handle *handle, uint64_t alignment) {
    bool divides = manager->heap.storage->alignment % alignment == 0;
    acre_slice_set_aligned(acre_heap_slice(&manager->heap, handle->slice),
                           divides ? ACRE_SLICE_ALIGNED : ACRE_SLICE_ODD_ALIGNED);
}

static __attribute__((noinline)) acre_status
reserve_as_asked(acre_manager *manager, const acre_reservation *reservation,
                 const acre_pool *searched, acre_handle **handle, acre_error *error) {
    acre_error local;
    acre_error *detail = acre_error_open(error, &local);
    acre_request wanted = {.size = 0};
    acre_status status = read_reservation(manager, reservation, &wanted, detail);
    if (status == ACRE_OK) {
        status = acre_reserve(manager, &wanted, searched, handle, detail);
        if (wanted.step != manager->heap.alignment && status == ACRE_OK) {
            note_alignment(manager, *handle, reservation->alignment);
        }
    }
    return finish(manager, &wanted, status, error, detail);
}

// Whether a request that may add no page is to be refused: the first pool that accepts it has no
// room, and would get a page if it could.
static inline bool is_refused(const acre_manager *manager, const acre_reservation *reservation,
                              const acre_pool *searched) {
    if (searched == NULL || reservation->page_update != ACRE_PAGES_FORBIDDEN) {
        return false;
    }
    uint64_t padded = acre_heap_padded(&manager->heap, reservation->size);
    acre_need need = {reservation->size, padded, manager->heap.alignment};
    return !acre_pool_is_full_for(searched, &need);
}

acre_status acre_manager_reserve_with(acre_manager *manager, const acre_reservation *reservation,
                                      acre_handle **handle, acre_error *error) {
    const acre_pool *searched = NULL;
    acre_manager_take_pending(manager);
    if (acre_likely(reservation->struct_size == sizeof *reservation &&
                    (unsigned)reservation->page_update <= ACRE_PAGES_FORBIDDEN &&
                    reservation->alignment <= 1)) {
        acre_handle *taken = reserve_held(manager, reservation->size, reservation->page_update,
                                          reservation->tag, &searched);
        if (acre_likely(taken != NULL)) {
            *handle = taken;
            return ACRE_OK;
        }
        if (is_refused(manager, reservation, searched)) { // nobody listens, or it would be NULL
            acre_error local;
            acre_error *detail = acre_error_open(error, &local);
            acre_status status =
                acre_error_refuse(detail, ACRE_PAGE_UPDATE_FORBIDDEN, reservation->size);
            return acre_error_close(error, detail, status);
        }
    }
    return reserve_as_asked(manager, reservation, searched, handle, error);
}
