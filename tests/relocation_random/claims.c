// Claims of failures on whole cells of an allocation, and failures that come and go.
#include "relocation_random/world.h"

static acre_status claim(world *w, const owned *slot, uint64_t start, uint64_t end, size_t by) {
    return by == FAILURES ? acre_manager_written(w->rig.manager, slot->handle, start, end, NULL)
                          : acre_manager_taint(w->rig.manager, slot->handle, start, end,
                                               w->failures[by], NULL);
}

void step_claim(world *w) {
    owned *slot = any_slot(w);
    if (slot->handle == NULL) {
        assert_null(acre_manager_get_failure(w->rig.manager, NULL, 0, 1));
        return;
    }
    size_t by = roll(w, FAILURES + 1);
    uint64_t first = roll(w, CELLS);
    uint64_t last = first + roll(w, CELLS + 1 - first);
    if (roll(w, 16) == 0) { // nothing is claimed of a range that is none
        assert_status(ACRE_INVALID_ARGUMENT, claim(w, slot, 0, slot->size + 1, by));
    } else {
        assert_ok(claim(w, slot, slot->size * first / CELLS, slot->size * last / CELLS, by));
        int64_t code = by == FAILURES ? 0 : acre_failure_get_code(w->failures[by]);
        for (uint64_t cell = first; cell < last; cell++) {
            slot->claims[cell] = code;
        }
    }
    verify(w, slot);
}

// Another failure takes the place of one, which lives on in its claims and as a cause.
void step_failure(world *w) {
    acre_host_hooks hooks = host_probe_hooks(w->probe);
    acre_failure *causes[2] = {NULL, NULL};
    acre_failure_params params = ACRE_FAILURE_PARAMS_INIT;
    params.message = "of a random script";
    params.code = ++w->last_code;
    params.causes = causes;
    causes[0] = w->failures[roll(w, FAILURES)];
    const owned *slot = any_slot(w);
    causes[1] = acre_manager_get_failure(w->rig.manager, slot->handle, 0, slot->size);
    if (roll(w, 4) != 0 && causes[0] != NULL) { // else chains would never end
        params.cause_count = causes[1] != NULL ? 2 : 1;
    }
    acre_failure *made = NULL;
    assert_ok(acre_failure_create(&params, &hooks, &made, NULL));
    size_t index = roll(w, FAILURES);
    for (size_t i = 0; i < FAILURES; i++) {
        index = w->failures[i] == NULL ? i : index;
    }
    acre_failure_release(w->failures[index]);
    w->failures[index] = made;
}
