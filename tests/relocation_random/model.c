// What must hold of every allocation, and of the manager's counts.
#include "relocation_random/world.h"

// ---- bytes: one in 4096 and the last carry the pattern ---------------------------------------

static unsigned char pattern(const owned *slot, uint64_t at) {
    return (unsigned char)(slot->seed * 167 + at / 4096 * 13 + 1);
}

static unsigned char *bytes_of(world *w, const owned *slot) {
    acre_resource resource = ACRE_RESOURCE_INIT;
    assert_ok(acre_manager_resolve(w->rig.manager, slot->handle, 0, 0, &resource, NULL));
    assert_int_equal(resource.size, slot->size);
    assert_int_equal(resource.kind, slot->size > 0 ? ACRE_RESOURCE_HOST : ACRE_RESOURCE_NONE);
    return resource.as.host;
}

void paint(world *w, const owned *slot) {
    unsigned char *bytes = bytes_of(w, slot);
    for (uint64_t at = 0; at < slot->size; at += 4096) {
        bytes[at] = pattern(slot, at);
    }
    if (slot->size > 0) {
        bytes[slot->size - 1] = pattern(slot, slot->size - 1);
    }
}

static void verify_bytes(world *w, const owned *slot) {
    const unsigned char *bytes = bytes_of(w, slot);
    for (uint64_t at = 0; at < slot->size; at += 4096) {
        assert_int_equal(bytes[at], pattern(slot, at));
    }
    if (slot->size > 0) {
        assert_int_equal(bytes[slot->size - 1], pattern(slot, slot->size - 1));
    }
}

// ---- claims --------------------------------------------------------------------------------

void forget_claims(owned *slot) {
    memset(slot->claims, 0, sizeof slot->claims);
}

// A random range of cells: the first claim in it by offset.
static void verify_claims(world *w, const owned *slot) {
    uint64_t first = roll(w, CELLS);
    uint64_t last = first + 1 + roll(w, CELLS - first);
    for (int all = 0; all < 2; all++) {
        uint64_t start = slot->size * first / CELLS;
        uint64_t end = slot->size * last / CELLS;
        int64_t expected = 0;
        for (uint64_t cell = first; cell < last && expected == 0; cell++) {
            bool empty = slot->size * cell / CELLS == slot->size * (cell + 1) / CELLS;
            expected = empty ? 0 : slot->claims[cell];
        }
        acre_failure *failure = acre_manager_get_failure(w->rig.manager, slot->handle, start, end);
        assert_int_equal(failure == NULL ? 0 : acre_failure_get_code(failure), expected);
        first = 0;
        last = CELLS;
    }
}

// ---- places --------------------------------------------------------------------------------

places places_of(world *w) {
    places taken;
    for (size_t i = 0; i < SLOTS; i++) {
        const owned *slot = &w->slots[i];
        taken.lived[i] = slot->handle != NULL;
        if (taken.lived[i]) {
            taken.of[i] = place_of(w->rig.manager, slot->handle);
        }
    }
    return taken;
}

// A pool's number may change; pages have names of their own.
static void assert_in_place(acre_place now, acre_place before) {
    assert_int_equal(now.page, before.page);
    assert_int_equal(now.offset, before.offset);
    assert_int_equal(now.size, before.size);
    assert_int_equal(now.padding, before.padding);
}

void assert_places(world *w, const places *before) {
    for (size_t i = 0; i < SLOTS; i++) {
        if (before->lived[i] && w->slots[i].handle != NULL) {
            assert_in_place(place_of(w->rig.manager, w->slots[i].handle), before->of[i]);
        }
    }
}

void assert_not_guarded(world *w, acre_place place) {
    for (size_t i = 0; i < SLOTS; i++) {
        const owned *slot = &w->slots[i];
        if (slot->guard != NULL && slot->size > 0 && !slot->apart) {
            assert_int_not_equal(slot->kept.page, place.page);
        }
    }
    for (size_t i = 0; i < ORPHANS; i++) {
        assert_true(w->orphans[i].guard == NULL || w->orphans[i].page != place.page);
    }
}

uint64_t count_moved(world *w, const places *before) {
    uint64_t moved = 0;
    for (size_t i = 0; i < SLOTS; i++) {
        if (before->lived[i] && w->slots[i].handle != NULL) {
            acre_place now = place_of(w->rig.manager, w->slots[i].handle);
            const acre_place *then = &before->of[i];
            if (now.page != then->page || now.offset != then->offset) {
                assert_not_guarded(w, now);
                moved++;
            }
        }
    }
    return moved;
}

// ---- together ------------------------------------------------------------------------------

static uint64_t pages_unmapped(world *w) {
    uint64_t unmapped = 0;
    uint32_t pools = report_of(w->rig.manager).pool_count;
    for (uint32_t i = 0; i < pools; i++) {
        unmapped += pool_of(w->rig.manager, i).pages_unmapped;
    }
    return unmapped;
}

// What was copied may be written when its bytes are of after the copies: then it does not move.
static void look_at_blank(world *w, owned *slot) {
    bool may_write = w->plan == NULL || !w->copied;
    uint64_t unmapped = pages_unmapped(w);
    (void)bytes_of(w, slot);
    if (may_write || pages_unmapped(w) < unmapped) {
        slot->blank = false;
        paint(w, slot);
    }
}

void verify(world *w, owned *slot) {
    if (slot->blank && roll(w, 16) == 0) {
        look_at_blank(w, slot);
    }
    if (!slot->blank) {
        verify_bytes(w, slot);
    }
    acre_place place = place_of(w->rig.manager, slot->handle);
    assert_int_equal(place.size, slot->size);
    assert_int_equal(place.offset % slot->alignment, 0);
    assert_int_equal(cursor_of(w->rig.manager, slot->handle), slot->cursor);
    if (slot->binding != NULL || slot->guard != NULL || slot->apart) {
        assert_in_place(place, slot->kept);
    }
    verify_claims(w, slot);
}

// Between the phases of a plan its targets count, and what it holds though it was let go.
static void verify_counts(world *w) {
    acre_report report = report_of(w->rig.manager);
    uint64_t allocations = 0;
    uint64_t in_use = 0;
    for (size_t i = 0; i < SLOTS; i++) {
        allocations += w->slots[i].handle != NULL;
        in_use += w->slots[i].handle != NULL ? w->slots[i].size : 0;
    }
    if (w->plan == NULL) {
        assert_int_equal(report.usage.allocations, allocations);
        assert_int_equal(report.usage.in_use, in_use);
    }
    assert_true(report.usage.allocations >= allocations && report.usage.in_use >= in_use);
    if (w->hard > 0) {
        assert_true(report.usage.reserved <= w->ceiling);
        w->ceiling = report.usage.reserved > w->hard ? report.usage.reserved : w->hard;
    }
    acre_mode mode = w->window_count > 0 ? w->windows[w->window_count - 1] : ACRE_MODE_AUTO;
    assert_int_equal(acre_manager_get_mode(w->rig.manager), mode);
    if (w->scripted) {
        device_compare(&w->device, w->rig.storage);
    }
}

void verify_all(world *w) {
    check(w->rig.manager);
    verify_counts(w);
    for (size_t i = 0; i < SLOTS; i++) {
        if (w->slots[i].handle != NULL) {
            verify(w, &w->slots[i]);
        }
    }
}
