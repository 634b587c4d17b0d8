// Reserving, with a device that refuses and pages that must not change, and what may then happen
// to one allocation.
#include "relocation_random/world.h"

// What a reservation is compared with.
typedef struct before {
    places places;
    snapshot snapshot;
    acre_storage_stats stats;
} before;

// ---- reserving -----------------------------------------------------------------------------

static acre_reservation random_request(world *w) {
    static const uint64_t alignments[] = {1, 1, 1, 1, 1, 64, 4096, 48};
    uint64_t step = w->step % SCRIPT_OPERATIONS; // requests outgrow the pages, up to 8 MiB
    uint64_t classes = roll(w, 16) == 0 ? 14 : 6 + step * 7 / SCRIPT_OPERATIONS;
    uint64_t largest = UINT64_C(1024) << roll(w, classes);
    acre_reservation wanted = ACRE_RESERVATION_INIT(roll(w, 64) == 0 ? 0 : 1 + roll(w, largest));
    wanted.alignment = alignments[roll(w, COUNT_OF(alignments))];
    uint64_t update = roll(w, 6);
    wanted.page_update = update == 0  ? ACRE_PAGES_FORBIDDEN
                         : update < 3 ? ACRE_PAGES_ADD_ONLY
                                      : ACRE_PAGES_ALLOW;
    return wanted;
}

static void arm(world *w) {
    if (w->scripted && roll(w, 6) == 0) {
        device_fuse fuse = {1 + roll(w, 3), roll(w, 2) == 0};
        w->device.fuses[DEVICE_ALLOC] = fuse;
        fuse = (device_fuse){roll(w, 4), roll(w, 2) == 0};
        w->device.fuses[roll(w, 2) == 0 ? DEVICE_COPY : DEVICE_RESOURCE] = fuse;
    }
}

// No page came or went, and no device was asked.
static void assert_same_pages(world *w, const before *then) {
    acre_storage_stats stats = stats_of(w->rig.storage);
    acre_report report = report_of(w->rig.manager);
    assert_int_equal(stats.allocs, then->stats.allocs);
    assert_int_equal(stats.refused, then->stats.refused);
    assert_int_equal(stats.deallocs, then->stats.deallocs);
    assert_int_equal(stats.flushes, then->stats.flushes);
    assert_int_equal(report.pages, then->snapshot.report.pages);
    assert_int_equal(report.usage.reserved, then->snapshot.report.usage.reserved);
    assert_int_equal(report.reservations, then->snapshot.report.reservations);
}

static void compare_pages(world *w, const before *then, acre_page_update update,
                          acre_status status) {
    if (update != ACRE_PAGES_ALLOW || w->policy == ACRE_RELOCATION_NONE) {
        assert_places(w, &then->places);
    }
    if (update == ACRE_PAGES_ADD_ONLY) {
        assert_int_equal(stats_of(w->rig.storage).deallocs, then->stats.deallocs);
        assert_int_equal(stats_of(w->rig.storage).copies, then->stats.copies);
        assert_true(report_of(w->rig.manager).pages >= then->snapshot.report.pages);
    } else if (update == ACRE_PAGES_FORBIDDEN) {
        assert_same_pages(w, then);
        if (status != ACRE_OK) {
            snapshot now = snapshot_of(w->rig.manager);
            assert_unchanged(&then->snapshot, &now);
        }
    }
}

static void compare_counts(world *w, const before *then, uint64_t size, acre_status status) {
    acre_usage now = usage_of(w->rig.manager);
    const acre_usage *was = &then->snapshot.report.usage;
    bool served = status == ACRE_OK;
    assert_int_equal(now.allocations, was->allocations + served);
    assert_int_equal(now.in_use, was->in_use + (served ? size : 0));
    if (!served) {
        assert_int_equal(now.padding, was->padding);
    }
}

// Only what is short refuses.
static void assert_reason(world *w, acre_page_update update, acre_status status, bool refused) {
    if (status == ACRE_OK || status == ACRE_PAGE_SIZES_EXHAUSTED) {
        assert_true(status == ACRE_OK || update != ACRE_PAGES_FORBIDDEN);
    } else if (update == ACRE_PAGES_FORBIDDEN) {
        assert_status(ACRE_PAGE_UPDATE_FORBIDDEN, status);
    } else if (status == ACRE_BACKEND_ERROR) {
        assert_true(refused);
    } else {
        assert_status(ACRE_OUT_OF_MEMORY, status);
        assert_true(refused || w->limited || w->hard > 0);
    }
}

static acre_status reserve(world *w, const acre_reservation *wanted, acre_handle **handle) {
    before then = {places_of(w), snapshot_of(w->rig.manager), stats_of(w->rig.storage)};
    acre_status status = acre_manager_reserve_with(w->rig.manager, wanted, handle, NULL);
    bool refused = w->device.blown > 0;
    w->refusals += w->device.blown;
    device_disarm(&w->device);
    assert_reason(w, wanted->page_update, status, refused);
    compare_pages(w, &then, wanted->page_update, status);
    compare_counts(w, &then, wanted->size, status);
    if (refused && status != ACRE_OK) {
        verify_all(w);
    }
    return status;
}

static void fill(world *w, owned *slot, const acre_reservation *wanted) {
    acre_mode mode = acre_manager_get_mode(w->rig.manager);
    acre_place place = place_of(w->rig.manager, slot->handle);
    assert_int_equal(place.pool_index == ACRE_POOL_INDEX_PERSISTENT, mode == ACRE_MODE_PERSISTENT);
    assert_int_equal(place.pool_index == ACRE_POOL_INDEX_DEDICATED, mode == ACRE_MODE_DEDICATED);
    slot->size = wanted->size;
    slot->alignment = wanted->alignment;
    slot->cursor = 0;
    slot->given = false;
    slot->seed = roll(w, 1000000);
    slot->apart = mode != ACRE_MODE_AUTO;
    slot->kept = place;
    if (!slot->apart && slot->size > 0) {
        assert_not_guarded(w, place);
    }
    forget_claims(slot);
    assert_null(acre_manager_get_failure(w->rig.manager, slot->handle, 0, slot->size));
    slot->blank = acre_dry_run_is_open();
    if (!slot->blank) {
        paint(w, slot);
    }
}

void step_reserve(world *w, owned *slot) {
    acre_reservation wanted = random_request(w);
    arm(w);
    acre_handle *handle = NULL;
    uint64_t refusals = w->refusals;
    acre_status status = reserve(w, &wanted, &handle);
    if (status != ACRE_OK && roll(w, 4) == 0) { // the device is as willing as ever again
        status = reserve(w, &wanted, &handle);
    }
    if (status == ACRE_OK) {
        slot->handle = handle;
        fill(w, slot, &wanted);
        if (w->refusals != refusals) { // served in another way
            verify_all(w);
        }
    }
}

// ---- while it lives ------------------------------------------------------------------------

static void step_bind(world *w, owned *slot) {
    acre_handle *assigned = NULL;
    if (roll(w, 2) == 0) {
        assert_ok(acre_handle_create(NULL, &assigned, NULL));
    } else {
        assert_ok(acre_manager_handle_create(w->rig.manager, &assigned, NULL));
    }
    slot->cursor = roll(w, 1000);
    assert_ok(acre_manager_bind(w->rig.manager, slot->handle, assigned, slot->cursor, NULL));
    assert_null(acre_manager_get_failure(w->rig.manager, slot->handle, 0, slot->size));
    acre_handle_release(w->stale); // the one before, which names nothing either
    w->stale = slot->handle;
    slot->handle = assigned;
    slot->given = w->plan != NULL;
    forget_claims(slot); // a bind gives the allocation away
    verify(w, slot);
}

void release_orphans(world *w) {
    for (size_t i = 0; i < ORPHANS; i++) {
        acre_guard_release(w->orphans[i].guard);
        w->orphans[i].guard = NULL;
    }
}

static void leave_guard(world *w, owned *slot) {
    orphan *left = &w->orphans[roll(w, ORPHANS)];
    if (slot->guard != NULL && !slot->apart && slot->size > 0) {
        acre_guard_release(left->guard);
        *left = (orphan){slot->guard, slot->kept.page};
        slot->guard = NULL;
    }
}

void step_release(world *w, owned *slot) {
    verify(w, slot);
    acre_binding_release(slot->binding);
    slot->binding = NULL;
    uint64_t end = roll(w, 3); // of a guard: before, after or long after its allocation's
    if (end == 0) {
        acre_guard_release(slot->guard);
        slot->guard = NULL;
    } else if (end == 1) {
        leave_guard(w, slot);
    }
    if (roll(w, 2) == 0) {
        acre_manager_release(w->rig.manager, slot->handle);
    } else {
        acre_handle_release(slot->handle);
    }
    acre_guard_release(slot->guard);
    slot->guard = NULL;
    slot->handle = NULL;
}

static void step_guard(world *w, owned *slot) {
    if (roll(w, 8) == 0) {
        release_orphans(w);
    }
    if (slot->guard != NULL) {
        acre_guard_release(slot->guard);
        slot->guard = NULL;
    } else if (roll(w, 8) == 0) {
        assert_ok(acre_manager_guard(w->rig.manager, slot->handle, &slot->guard, NULL));
        slot->kept = place_of(w->rig.manager, slot->handle);
    }
}

static void step_binding(world *w, owned *slot) {
    if (slot->binding != NULL) {
        acre_binding_release(slot->binding);
        slot->binding = NULL;
    } else if (roll(w, 8) == 0) {
        slot->binding = acre_handle_binding(slot->handle);
        slot->kept = place_of(w->rig.manager, slot->handle);
    }
}

// A resource or its memory that is refused changes nothing, and is there the next time.
static void step_resolve(world *w, owned *slot) {
    acre_resource resource = ACRE_RESOURCE_INIT;
    if (!w->scripted || slot->size == 0) {
        return;
    }
    device_call call = slot->blank ? DEVICE_ALLOC : DEVICE_RESOURCE;
    w->device.fuses[call].nth = 1;
    acre_status status = acre_manager_resolve(w->rig.manager, slot->handle, 0, 0, &resource, NULL);
    if (w->device.blown > 0) {
        assert_status(slot->blank ? ACRE_STORAGE_MAPPING_FAILED : ACRE_BACKEND_ERROR, status);
    } else {
        assert_true(slot->blank); // which may have had its memory
        assert_ok(status);
    }
    w->refusals += w->device.blown;
    device_disarm(&w->device);
    assert_ok(acre_manager_resolve(w->rig.manager, slot->handle, 0, 0, &resource, NULL));
    verify(w, slot);
}

void step_on_live(world *w, owned *slot) {
    uint64_t kind = roll(w, 10);
    if (kind < 5) {
        step_release(w, slot);
    } else if (kind == 5 && slot->binding == NULL) { // a binding goes with its handle
        step_bind(w, slot);
    } else if (kind == 6) {
        step_guard(w, slot);
    } else if (kind == 7) {
        step_resolve(w, slot);
    } else {
        step_binding(w, slot);
    }
}
