// Cleanups, limits, windows, layouts and dry runs.
#include "relocation_random/world.h"

// Adaptive pools, of which the last also has a sliced one in front that returns pages in time.
acre_layout random_layout(world *w, acre_pool_options pools[2]) {
    uint64_t kind = roll(w, 6);
    if (kind == 0) {
        acre_layout preset = ACRE_LAYOUT_INIT(ACRE_LAYOUT_ADAPTIVE);
        return preset;
    }
    size_t count = 0;
    if (kind == 1) {
        pools[count] = sliced_pool(64 * KIB, 4 * KIB, ACRE_UNSET);
        pools[count].dealloc_period = 50;
        pools[count++].strict = true;
    }
    acre_pool_options adaptive = ACRE_ADAPTIVE_POOL(8 * KIB << roll(w, 4));
    pools[count++] = adaptive;
    return explicit_layout(pools, count);
}

void step_cleanup(world *w) {
    places before = places_of(w);
    acre_manager_cleanup(w->rig.manager, (acre_cleanup)roll(w, 2));
    assert_places(w, &before);
}

void step_limits(world *w) {
    uint64_t soft = roll(w, 2) == 0 ? 0 : MIB + roll(w, 48 * MIB);
    w->hard = roll(w, 3) != 0 ? 0 : 4 * MIB + roll(w, 48 * MIB);
    uint64_t held = usage_of(w->rig.manager).reserved;
    w->ceiling = held > w->hard ? held : w->hard; // what is above it stays
    acre_manager_set_limits(w->rig.manager, soft, w->hard);
    assert_int_equal(usage_of(w->rig.manager).reserved, held);
}

void step_window(world *w) {
    if (w->window_count > 0 && (w->window_count == WINDOWS || roll(w, 3) != 0)) {
        w->window_count--;
        set_mode(w->rig.manager, ACRE_MODE_AUTO);
        return;
    }
    if (w->window_count == 0 && roll(w, 3) != 0) { // most of the time the layout serves
        return;
    }
    acre_mode mode = roll(w, 2) == 0 ? ACRE_MODE_PERSISTENT : ACRE_MODE_DEDICATED;
    w->windows[w->window_count++] = mode;
    set_mode(w->rig.manager, mode);
}

// ---- layouts -------------------------------------------------------------------------------

// Allocations and guards.
static uint64_t holders_in_layout(const world *w) {
    uint64_t live = 0;
    for (size_t i = 0; i < ORPHANS; i++) {
        live += w->orphans[i].guard != NULL;
    }
    for (size_t i = 0; i < SLOTS; i++) {
        live += w->slots[i].handle != NULL && !w->slots[i].apart;
    }
    return live;
}

static void install(world *w) {
    acre_pool_options pools[2];
    acre_layout layout = random_layout(w, pools);
    places places_before = places_of(w);
    snapshot before = snapshot_of(w->rig.manager);
    acre_status status = acre_manager_install_layout(w->rig.manager, &layout, NULL);
    assert_status(holders_in_layout(w) > 0 ? ACRE_POOLS_IN_USE : ACRE_OK, status);
    assert_places(w, &places_before);
    if (status != ACRE_OK) {
        snapshot after = snapshot_of(w->rig.manager);
        assert_unchanged(&before, &after);
        return;
    }
    uint64_t apart = pool_of(w->rig.manager, ACRE_POOL_INDEX_PERSISTENT).usage.reserved +
                     pool_of(w->rig.manager, ACRE_POOL_INDEX_DEDICATED).usage.reserved;
    assert_int_equal(usage_of(w->rig.manager).reserved, apart);
    verify_all(w);
}

void step_install(world *w) {
    close_plan(w);
    bool empty = roll(w, 2) == 0;
    for (size_t i = 0; i < SLOTS && empty; i++) {
        if (w->slots[i].handle != NULL && !w->slots[i].apart) {
            step_release(w, &w->slots[i]);
        }
    }
    if (roll(w, 4) != 0) {
        release_orphans(w);
    }
    install(w);
}

// ---- dry runs ------------------------------------------------------------------------------

// Everything but the bytes goes on: those come when the test looks at them.
void step_dry(world *w) {
    if (w->limited) { // it would refuse the bytes when they are looked at
        return;
    }
    acre_dry_run_begin();
    for (int i = 0; i < 3; i++) {
        owned *slot = any_slot(w);
        if (slot->handle == NULL) {
            step_reserve(w, slot);
        }
    }
    acre_dry_run_end();
}
