// Random runs on bytes of the host with relocations in their middle: every byte is where its
// handle says, the books are in order, and nothing is left at the end.
#include "relocation_rig.h"

#define SLOTS 48

typedef struct owned {
    acre_handle *handle; // NULL = nothing lives here
    acre_binding *binding;
    acre_guard *guard;
    bool blank;          // reserved in a dry run, no byte looked at since
    acre_place bound_at; // with a binding or a guard: where it stays
    uint64_t cursor;
    uint64_t size;
    uint64_t alignment;
    uint64_t seed;
} owned;

typedef struct world {
    rig rig;
    owned slots[SLOTS];
    acre_relocation *plan;
    bool copied;
    bool limited; // the device refuses now and then
    uint64_t dice;
    uint64_t moves;
    uint64_t failures;
} world;

static uint64_t roll(world *w, uint64_t sides) {
    w->dice ^= w->dice << 13;
    w->dice ^= w->dice >> 7;
    w->dice ^= w->dice << 17;
    return w->dice % sides;
}

// ---- bytes: one in 4096 and the last carry the pattern ---------------------------------------

static unsigned char pattern(const owned *slot, uint64_t at) {
    return (unsigned char)(slot->seed * 167 + at / 4096 * 13 + 1);
}

static unsigned char *bytes_of(world *w, const owned *slot) {
    acre_resource resource = ACRE_RESOURCE_INIT;
    assert_ok(acre_manager_resolve(w->rig.manager, slot->handle, 0, 0, &resource, NULL));
    assert_int_equal(resource.size, slot->size);
    return resource.as.host;
}

static void paint(world *w, const owned *slot) {
    unsigned char *bytes = bytes_of(w, slot);
    for (uint64_t at = 0; at < slot->size; at += 4096) {
        bytes[at] = pattern(slot, at);
    }
    bytes[slot->size - 1] = pattern(slot, slot->size - 1);
}

static void verify_bytes(world *w, const owned *slot) {
    const unsigned char *bytes = bytes_of(w, slot);
    for (uint64_t at = 0; at < slot->size; at += 4096) {
        assert_int_equal(bytes[at], pattern(slot, at));
    }
    assert_int_equal(bytes[slot->size - 1], pattern(slot, slot->size - 1));
}

static void verify(world *w, owned *slot) {
    bool may_write = w->plan == NULL || !w->copied;
    if (slot->blank && may_write && roll(w, 16) == 0) {
        slot->blank = false;
        paint(w, slot);
    }
    if (!slot->blank) {
        verify_bytes(w, slot);
    }
    acre_place place = place_of(w->rig.manager, slot->handle);
    assert_int_equal(place.offset % slot->alignment, 0);
    assert_int_equal(cursor_of(w->rig.manager, slot->handle), slot->cursor);
    if (slot->binding != NULL || slot->guard != NULL) { // in place; its pool's number may change
        assert_int_equal(place.page, slot->bound_at.page);
        assert_int_equal(place.offset, slot->bound_at.offset);
    }
}

static void verify_all(world *w) {
    check(w->rig.manager);
    for (int i = 0; i < SLOTS; i++) {
        if (w->slots[i].handle != NULL) {
            verify(w, &w->slots[i]);
        }
    }
}

// ---- steps ---------------------------------------------------------------------------------

static void step_reserve(world *w, owned *slot) {
    static const uint64_t alignments[] = {1, 1, 1, 1, 1, 64, 4096, 48};
    uint64_t largest = UINT64_C(1024) << roll(w, 14); // up to 8 MiB, most of them far less
    acre_reservation wanted = ACRE_RESERVATION_INIT(1 + roll(w, largest));
    wanted.alignment = alignments[roll(w, COUNT_OF(alignments))];
    wanted.page_update = roll(w, 3) == 0 ? ACRE_PAGES_ADD_ONLY : ACRE_PAGES_ALLOW;
    if (acre_manager_reserve_with(w->rig.manager, &wanted, &slot->handle, NULL) != ACRE_OK) {
        slot->handle = NULL;
        w->failures++;
        return;
    }
    slot->size = wanted.size;
    slot->alignment = wanted.alignment;
    slot->cursor = 0;
    slot->seed = roll(w, 1000000);
    slot->blank = acre_dry_run_is_open();
    if (!slot->blank) {
        paint(w, slot);
    }
}

static void step_bind(world *w, owned *slot) {
    acre_handle *assigned = NULL;
    if (roll(w, 2) == 0) {
        assert_ok(acre_handle_create(NULL, &assigned, NULL));
    } else {
        assert_ok(acre_manager_handle_create(w->rig.manager, &assigned, NULL));
    }
    slot->cursor = roll(w, 1000);
    assert_ok(acre_manager_bind(w->rig.manager, slot->handle, assigned, slot->cursor, NULL));
    acre_handle_release(slot->handle);
    slot->handle = assigned;
}

static void step_release(world *w, owned *slot) {
    verify(w, slot);
    acre_binding_release(slot->binding);
    slot->binding = NULL;
    if (roll(w, 2) == 0) { // else the guard outlives its allocation
        acre_guard_release(slot->guard);
        slot->guard = NULL;
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
    if (slot->guard != NULL) {
        acre_guard_release(slot->guard);
        slot->guard = NULL;
    } else if (roll(w, 8) == 0) {
        assert_ok(acre_manager_guard(w->rig.manager, slot->handle, &slot->guard, NULL));
        slot->bound_at = place_of(w->rig.manager, slot->handle);
    }
}

static void step_on_live(world *w, owned *slot) {
    uint64_t kind = roll(w, 9);
    if (kind < 5) {
        step_release(w, slot);
    } else if (kind == 5 && slot->binding == NULL) { // a binding goes with its handle
        step_bind(w, slot);
    } else if (kind == 6) {
        step_guard(w, slot);
    } else if (slot->binding == NULL && roll(w, 8) == 0) {
        slot->binding = acre_handle_binding(slot->handle);
        slot->bound_at = place_of(w->rig.manager, slot->handle);
    } else if (slot->binding != NULL) {
        acre_binding_release(slot->binding);
        slot->binding = NULL;
    }
}

static acre_relocation_options random_options(world *w) {
    acre_relocation_options options = ACRE_RELOCATION_OPTIONS_INIT;
    options.room = (acre_relocation_room)roll(w, 3);
    options.compact = roll(w, 2) == 0;
    options.make_room = options.compact && roll(w, 2) == 0 ? 1 + roll(w, 4 * MIB) : 0;
    options.max_moves = roll(w, 3) == 0 ? roll(w, 4) : ACRE_UNSET;
    options.max_bytes = roll(w, 3) == 0 ? roll(w, 4 * MIB) : ACRE_UNSET;
    options.max_time = roll(w, 8) == 0 ? 0 : ACRE_UNSET;
    return options;
}

typedef struct failing {
    uint64_t calls_left;
} failing;

static acre_status fail_now(void *context, acre_error *error) {
    (void)error;
    failing *queue = context;
    return queue->calls_left-- == 0 ? ACRE_BACKEND_ERROR : ACRE_OK;
}

static acre_status fail_copy(void *context, const acre_resource *source,
                             const acre_resource *target, uint64_t size, acre_error *error) {
    memcpy(target->as.host, source->as.host, size);
    return fail_now(context, error);
}

static void step_relocate(world *w) {
    acre_relocation_options options = random_options(w);
    acre_relocation_report report = ACRE_RELOCATION_REPORT_INIT;
    failing context = {roll(w, 6)};
    acre_copy_queue queue = ACRE_COPY_QUEUE_INIT;
    queue.context = &context;
    queue.wait_device = fail_now;
    queue.copy = fail_copy;
    queue.wait_copies = fail_now;
    options.queue = roll(w, 3) == 0 ? &queue : NULL;
    acre_status status = acre_manager_relocate(w->rig.manager, &options, &report, NULL);
    for (int calls = 0; status == ACRE_OK && report.more; calls++) {
        w->moves += report.moves;
        assert_true(calls < 1000); // each call gets on, or says that none does
        status = acre_manager_relocate(w->rig.manager, &options, &report, NULL);
    }
    if (status != ACRE_OK) {
        assert_status(ACRE_BACKEND_ERROR, status);
        w->failures++;
    }
    assert_true(report.moves <= options.max_moves && report.bytes <= options.max_bytes);
    w->moves += report.moves;
    verify_all(w);
}

// Between the phases of a plan the run goes on; what was copied is only read until the commit.
static void step_plan(world *w) {
    acre_relocation_report report = ACRE_RELOCATION_REPORT_INIT;
    if (w->plan == NULL) {
        acre_relocation_options options = random_options(w);
        assert_ok(acre_manager_relocation_plan(w->rig.manager, &options, &w->plan, NULL));
        w->copied = false;
        return;
    }
    if (roll(w, 4) != 0) {
        if (!w->copied) {
            assert_ok(acre_relocation_copy(w->plan, NULL, NULL));
            w->copied = true;
            return;
        }
        assert_ok(acre_relocation_commit(w->plan, &report, NULL));
        w->moves += report.moves;
    }
    acre_relocation_destroy(w->plan);
    w->plan = NULL;
    verify_all(w);
}

// Under a dry run everything but the bytes goes on: those come when the test looks at them.
static void step_dry(world *w) {
    if (w->limited) { // it would refuse the bytes when they are looked at
        return;
    }
    acre_dry_run_begin();
    for (int i = 0; i < 3; i++) {
        owned *slot = &w->slots[roll(w, SLOTS)];
        if (slot->handle == NULL) {
            step_reserve(w, slot);
        }
    }
    acre_dry_run_end();
}

static void step(world *w) {
    owned *slot = &w->slots[roll(w, SLOTS)];
    uint64_t kind = roll(w, 40);
    if (kind == 0) {
        step_relocate(w);
    } else if (kind < 4) {
        step_plan(w);
    } else if (kind == 5) {
        step_dry(w);
    } else if (kind == 4) {
        acre_manager_cleanup(w->rig.manager, (acre_cleanup)roll(w, 2));
    } else if (slot->handle == NULL) {
        step_reserve(w, slot);
    } else {
        step_on_live(w, slot);
    }
}

static world begin(uint64_t seed, acre_relocation_policy policy) {
    world w = {.dice = seed * UINT64_C(0x9e3779b97f4a7c15) + 1};
    acre_host_storage_params params = ACRE_HOST_STORAGE_PARAMS_INIT;
    w.limited = seed % 3 == 0;
    params.total_memory = w.limited ? 40 * MIB : 0;
    acre_storage *storage = NULL;
    assert_ok(acre_storage_host_create(&params, NULL, &storage, NULL));
    acre_pool_options pools[] = {ACRE_ADAPTIVE_POOL(8 * KIB)};
    acre_layout layout = explicit_layout(pools, 1);
    acre_manager_options options = plain_options(16 * MIB, seed % 2 == 0 ? 32 : 48);
    options.layout = &layout;
    options.relocation = policy;
    w.rig = rig_on(storage, &options);
    return w;
}

static void end(world *w) {
    acre_relocation_destroy(w->plan);
    verify_all(w);
    for (int i = 0; i < SLOTS; i++) {
        if (w->slots[i].handle != NULL) {
            step_release(w, &w->slots[i]);
        }
    }
    rig_close(&w->rig);
}

static void random_runs(acre_relocation_policy policy) {
    uint64_t moves = 0;
    for (uint64_t seed = 1; seed <= 30; seed++) {
        world w = begin(seed, policy);
        for (int i = 0; i < 1200; i++) {
            step(&w);
            if (i % 50 == 0) {
                verify_all(&w);
            }
        }
        moves += w.moves;
        end(&w);
    }
    assert_true(moves > 500); // else the runs are about something else
}

static void no_byte_is_lost_when_the_caller_relocates(void **state) {
    (void)state;
    random_runs(ACRE_RELOCATION_NONE);
}

static void no_byte_is_lost_when_reservations_relocate_on_need(void **state) {
    (void)state;
    random_runs(ACRE_RELOCATION_ON_NEED);
}

static void no_byte_is_lost_when_reservations_compact(void **state) {
    (void)state;
    random_runs(ACRE_RELOCATION_COMPACT);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(no_byte_is_lost_when_the_caller_relocates),
        cmocka_unit_test(no_byte_is_lost_when_reservations_relocate_on_need),
        cmocka_unit_test(no_byte_is_lost_when_reservations_compact),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
