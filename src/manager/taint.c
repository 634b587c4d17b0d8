// Claims of failures on allocations: a table from slices to their claims.
//
// Slices have no room for claims, and almost none ever has one. The table is open, with linear
// probing; removing an entry moves later ones of its run up, so that there are no tombstones. It
// holds an entry only while there are claims, and no memory while it is empty: an empty table is
// what releases and binds test for.
#include "base/error.h"
#include "manager/manager.h"

#include <assert.h>
#include <string.h>

struct acre_tainted_slice {
    uint32_t slice; // 0 = the place is empty
    acre_claims claims;
};

// ---- the table -----------------------------------------------------------------------------

static uint32_t home_of(const acre_taint_table *table, uint32_t slice) {
    return (slice * UINT32_C(0x9e3779b1)) >> (32 - acre_log2(table->capacity));
}

// => the entry of `slice`, or the empty place where it belongs; the table has a place left.
static acre_tainted_slice *place_of(const acre_taint_table *table, uint32_t slice) {
    uint32_t at = home_of(table, slice);
    while (table->places[at].slice != 0 && table->places[at].slice != slice) {
        at = (at + 1) & (table->capacity - 1);
    }
    return &table->places[at];
}

// => the claims of `slice`, NULL when it has none.
static acre_claims *claims_of(const acre_taint_table *table, uint32_t slice) {
    if (table->count == 0) {
        return NULL;
    }
    acre_tainted_slice *place = place_of(table, slice);
    return place->slice == 0 ? NULL : &place->claims;
}

static void free_places(acre_manager *manager) {
    acre_taint_table *table = &manager->tainted;
    acre_host_free(acre_manager_host(manager), table->places,
                   table->capacity * sizeof *table->places, _Alignof(acre_tainted_slice));
    table->places = NULL;
    table->capacity = 0;
}

// Makes sure of a place for one more entry, three quarters full at most. => false: no host memory.
static bool prepare(acre_manager *manager) {
    acre_taint_table *table = &manager->tainted;
    if (table->count < table->capacity / 4 * 3) {
        return true;
    }
    acre_taint_table grown = {table->count, table->capacity == 0 ? 16 : table->capacity * 2, NULL};
    grown.places =
        acre_host_alloc_zeroed(acre_manager_host(manager), grown.capacity * sizeof *grown.places,
                               _Alignof(acre_tainted_slice));
    if (grown.places == NULL) {
        return false;
    }
    for (uint32_t i = 0; i < table->capacity; i++) {
        if (table->places[i].slice != 0) {
            *place_of(&grown, table->places[i].slice) = table->places[i];
        }
    }
    free_places(manager);
    *table = grown;
    return true;
}

static void insert(acre_taint_table *table, uint32_t slice, acre_claims claims) {
    acre_tainted_slice *place = place_of(table, slice);
    assert(place->slice == 0);
    place->slice = slice;
    place->claims = claims;
    table->count++;
}

// Empties a place. What follows it without a gap and belongs at or before it moves up.
static void take_out(acre_taint_table *table, acre_tainted_slice *place) {
    uint32_t mask = table->capacity - 1;
    uint32_t hole = (uint32_t)(place - table->places);
    for (uint32_t at = (hole + 1) & mask; table->places[at].slice != 0; at = (at + 1) & mask) {
        uint32_t home = home_of(table, table->places[at].slice);
        if (((at - home) & mask) >= ((at - hole) & mask)) {
            table->places[hole] = table->places[at];
            hole = at;
        }
    }
    table->places[hole].slice = 0;
    table->count--;
}

static void remove_entry(acre_manager *manager, acre_tainted_slice *place) {
    take_out(&manager->tainted, place);
    if (manager->tainted.count == 0) {
        free_places(manager);
    }
}

// ---- for the manager's other files ---------------------------------------------------------

void acre_manager_clear_claims(acre_manager *manager, uint32_t slice) {
    assert(manager->tainted.count != 0);
    acre_tainted_slice *place = place_of(&manager->tainted, slice);
    if (place->slice != 0) {
        acre_claims claims = place->claims;
        remove_entry(manager, place);
        acre_claims_clear(&claims, acre_manager_host(manager));
    }
}

void acre_manager_clear_all_claims(acre_manager *manager) {
    acre_taint_table *table = &manager->tainted;
    for (uint32_t i = 0; i < table->capacity; i++) {
        if (table->places[i].slice != 0) {
            acre_claims_clear(&table->places[i].claims, acre_manager_host(manager));
        }
    }
    table->count = 0;
    free_places(manager);
}

// Counts the entries of a page's slices. => false when one is on what is not live, or its claims
// are not as they should be.
static bool check_page(const acre_manager *manager, const acre_page *page, uint32_t *met) {
    for (uint32_t at = page->first; at != 0;) {
        const acre_slice *slice = acre_heap_slice(&manager->heap, at);
        const acre_claims *claims = claims_of(&manager->tainted, at);
        if (claims != NULL) {
            if (acre_slice_state_of(slice) != ACRE_SLICE_LIVE || claims->count == 0 ||
                !acre_claims_check(claims, slice->live.requested)) {
                return false;
            }
            (*met)++;
        }
        at = slice->after;
    }
    return true;
}

// Every entry must be met on a walk over the pages: else its slice does not exist.
const char *acre_manager_check_claims(acre_manager *manager) {
    const acre_taint_table *table = &manager->tainted;
    if (table->count == 0) {
        return table->capacity == 0 ? NULL : "an empty table of claims holds memory";
    }
    uint32_t met = 0;
    acre_pool_walk walk = {.manager = manager};
    for (const acre_pool *pool; (pool = acre_pool_walk_next(&walk)) != NULL;) {
        for (uint32_t name = pool->held.first; name != 0;) {
            const acre_page *page = acre_page_at(&manager->heap, name);
            if (!check_page(manager, page, &met)) {
                return "claims are out of order, or on what is not live";
            }
            name = page->held.next;
        }
    }
    return met == table->count ? NULL : "claims are held for a slice that does not exist";
}

// ---- taint, written, failure ---------------------------------------------------------------

static acre_status check_range(const acre_manager *manager, uint32_t slice, uint64_t start,
                               uint64_t end, acre_error *error) {
    uint64_t size = acre_heap_slice(&manager->heap, slice)->live.requested;
    if (start > end) {
        acre_error_describe(error, ACRE_INVALID_ARGUMENT, "the range ends before it starts");
    } else if (end > size) {
        acre_error_describe(error, ACRE_INVALID_ARGUMENT, "the range ends past the allocation");
        error->size = end;
        error->capacity = size;
    } else {
        return ACRE_OK;
    }
    return ACRE_INVALID_ARGUMENT;
}

// Puts `failure` on a slice that may not have an entry yet. => false: no host memory, no change.
static bool claim(acre_manager *manager, uint32_t slice, uint64_t start, uint64_t end,
                  acre_failure *failure) {
    acre_host *host = acre_manager_host(manager);
    acre_claims *claims = claims_of(&manager->tainted, slice);
    if (claims != NULL) {
        return acre_claims_put(claims, host, start, end, failure);
    }
    acre_claims made = {NULL, 0, 0};
    if (!acre_claims_put(&made, host, start, end, failure)) {
        return false;
    }
    if (!prepare(manager)) {
        acre_claims_clear(&made, host);
        return false;
    }
    insert(&manager->tainted, slice, made);
    return true;
}

// The same for bytes that nobody claims any more.
static bool unclaim(acre_manager *manager, uint32_t slice, uint64_t start, uint64_t end) {
    acre_claims *claims = claims_of(&manager->tainted, slice);
    if (claims == NULL) {
        return true;
    }
    if (!acre_claims_put(claims, acre_manager_host(manager), start, end, NULL)) {
        return false;
    }
    if (claims->count == 0) {
        acre_manager_clear_claims(manager, slice);
    }
    return true;
}

static acre_status change(acre_manager *manager, const acre_handle *handle, uint64_t start,
                          uint64_t end, acre_failure *failure, acre_error *error) {
    uint32_t slice = acre_manager_find(manager, handle);
    if (slice == 0 || start == end) {
        return ACRE_OK;
    }
    acre_status status = check_range(manager, slice, start, end, error);
    if (status != ACRE_OK) {
        return status;
    }
    bool done = failure != NULL ? claim(manager, slice, start, end, failure)
                                : unclaim(manager, slice, start, end);
    return done ? ACRE_OK : acre_error_refuse(error, ACRE_OUT_OF_HOST_MEMORY, sizeof(acre_claim));
}

acre_status acre_manager_taint(acre_manager *manager, const acre_handle *handle, uint64_t start,
                               uint64_t end, acre_failure *failure, acre_error *error) {
    acre_error local;
    acre_error *detail = acre_error_open(error, &local);
    acre_manager_take_pending(manager);
    if (failure == NULL) {
        return acre_error_close(
            error, detail,
            acre_error_set(detail, ACRE_INVALID_ARGUMENT, "a taint needs a failure"));
    }
    return acre_error_close(error, detail, change(manager, handle, start, end, failure, detail));
}

acre_status acre_manager_written(acre_manager *manager, const acre_handle *handle, uint64_t start,
                                 uint64_t end, acre_error *error) {
    acre_error local;
    acre_error *detail = acre_error_open(error, &local);
    acre_manager_take_pending(manager);
    return acre_error_close(error, detail, change(manager, handle, start, end, NULL, detail));
}

acre_failure *acre_manager_get_failure(acre_manager *manager, const acre_handle *handle,
                                       uint64_t start, uint64_t end) {
    acre_manager_take_pending(manager);
    if (acre_likely(manager->tainted.count == 0) || start >= end) {
        return NULL;
    }
    const acre_claims *claims = claims_of(&manager->tainted, acre_manager_find(manager, handle));
    return claims == NULL ? NULL : acre_claims_find(claims, start, end);
}
