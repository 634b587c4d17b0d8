// A script from its seed: begin, steps, end.
#include "relocation_random/world.h"

static acre_storage *random_storage(world *w) {
    w->limited = roll(w, 3) == 0;
    w->scripted = roll(w, 8) != 0;
    if (w->scripted) {
        w->device.total = w->limited ? 40 * MIB : 0;
        w->device.deferred = roll(w, 2) == 0;
        return device_storage(&w->device);
    }
    acre_host_storage_params params = ACRE_HOST_STORAGE_PARAMS_INIT;
    params.total_memory = w->limited ? 40 * MIB : 0;
    acre_storage *storage = NULL;
    assert_ok(acre_storage_host_create(&params, NULL, &storage, NULL));
    return storage;
}

void world_open(world *w, uint64_t seed, acre_relocation_policy policy) {
    memset(w, 0, sizeof *w);
    w->seed = seed;
    w->dice.state = seed;
    w->policy = policy;
    w->probe = host_probe_create();
    acre_storage *storage = random_storage(w);
    acre_host_hooks hooks = host_probe_hooks(w->probe);
    acre_pool_options pools[2];
    acre_layout layout = random_layout(w, pools);
    acre_manager_options options = plain_options(16 * MIB, roll(w, 2) == 0 ? 32 : 48);
    options.layout = &layout;
    options.relocation = policy;
    options.hooks = &hooks;
    w->rig = rig_on(storage, &options);
    for (size_t i = 0; i < FAILURES; i++) {
        step_failure(w);
    }
}

// Steps on the whole manager, of a thousand.
static bool rare_step(world *w, uint64_t kind) {
    if (kind < 40) {
        step_relocate(w);
    } else if (kind < 110) {
        step_plan(w);
    } else if (kind < 130) {
        step_cleanup(w);
    } else if (kind < 150) {
        step_dry(w);
    } else if (kind < 155) {
        step_limits(w);
    } else if (kind < 175) {
        step_window(w);
    } else if (kind < 180) {
        step_install(w);
    } else if (kind < 200) {
        step_failure(w);
    } else if (kind < 300) {
        step_claim(w);
    } else {
        return false;
    }
    return true;
}

void world_step(world *w) {
    if (!rare_step(w, roll(w, 1000))) {
        owned *slot = any_slot(w);
        if (slot->handle == NULL) {
            step_reserve(w, slot);
        } else {
            step_on_live(w, slot);
        }
    }
    if (w->step++ % 50 == 0) {
        verify_all(w);
    }
}

// Nothing is left: of the device, of the books, of the failures.
void world_close(world *w) {
    close_plan(w);
    verify_all(w);
    for (size_t i = 0; i < SLOTS; i++) {
        if (w->slots[i].handle != NULL) {
            step_release(w, &w->slots[i]);
        }
    }
    release_orphans(w);
    uint64_t moves = report_of(w->rig.manager).moves;
    assert_true(w->policy == ACRE_RELOCATION_NONE ? w->moves == moves : w->moves <= moves);
    w->moves = moves; // with those of reservations
    acre_manager_cleanup(w->rig.manager, ACRE_CLEANUP_EXPLICIT);
    verify_all(w);
    assert_int_equal(usage_of(w->rig.manager).reserved, 0);
    assert_int_equal(stats_of(w->rig.storage).bytes_allocated, 0);
    rig_close(&w->rig);
    assert_int_equal(w->device.bytes, 0);
    assert_int_equal(w->device.allocs, w->device.deallocs);
    assert_null(w->device.dead);
    for (size_t i = 0; i < FAILURES; i++) {
        acre_failure_release(w->failures[i]);
    }
    host_probe_destroy(w->probe);
}
