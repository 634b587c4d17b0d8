// Relocations: whole ones and open plans, over queues and devices that fail.
#include "relocation_random/world.h"

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

// ---- a queue that fails at one of its next calls ---------------------------------------------

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

static acre_copy_queue failing_queue(failing *context) {
    acre_copy_queue queue = ACRE_COPY_QUEUE_INIT;
    queue.context = context;
    queue.wait_device = fail_now;
    queue.copy = fail_copy;
    queue.wait_copies = fail_now;
    return queue;
}

static void arm(world *w) {
    if (w->scripted && roll(w, 3) == 0) {
        const device_call calls[] = {DEVICE_ALLOC, DEVICE_RESOURCE, DEVICE_COPY, DEVICE_WAIT};
        device_fuse fuse = {1 + roll(w, 5), roll(w, 2) == 0};
        w->device.fuses[calls[roll(w, COUNT_OF(calls))]] = fuse;
    }
}

static void disarm(world *w) {
    w->refusals += w->device.blown;
    device_disarm(&w->device);
}

// ---- steps ---------------------------------------------------------------------------------

void step_relocate(world *w) {
    acre_relocation_options options = random_options(w);
    failing context = {roll(w, 6)};
    acre_copy_queue queue = failing_queue(&context);
    options.queue = roll(w, 3) == 0 ? &queue : NULL;
    acre_relocation_report report = ACRE_RELOCATION_REPORT_INIT;
    acre_status status = ACRE_OK;
    int calls = 0;
    arm(w);
    do {
        assert_true(calls++ < 1000); // each call gets on, or says that none does
        acre_relocation_report next = ACRE_RELOCATION_REPORT_INIT;
        places before = places_of(w);
        status = acre_manager_relocate(w->rig.manager, &options, &next, NULL);
        if (status != ACRE_OK) {
            assert_true(options.queue != NULL || w->device.blown > 0);
            assert_status(ACRE_BACKEND_ERROR, status);
            assert_places(w, &before);
        } else {
            assert_int_equal(count_moved(w, &before), next.moves);
            assert_true(next.moves <= options.max_moves && next.bytes <= options.max_bytes);
            w->moves += next.moves;
        }
        report = next;
    } while (status == ACRE_OK && report.more);
    disarm(w);
    if (status != ACRE_OK && roll(w, 2) == 0) { // nothing stands in the way of the next
        options.queue = NULL;
        assert_ok(acre_manager_relocate(w->rig.manager, &options, &report, NULL));
        w->moves += report.moves;
    }
    verify_all(w);
}

// Every move is one of an allocation that nothing holds in place.
static void verify_plan(world *w) {
    places now = places_of(w);
    for (size_t i = 0; i < acre_relocation_count(w->plan); i++) {
        acre_relocation_move move = ACRE_RELOCATION_MOVE_INIT;
        assert_ok(acre_relocation_get(w->plan, i, &move, NULL));
        size_t at = 0;
        while (at < SLOTS &&
               (w->slots[at].handle == NULL || w->slots[at].size == 0 ||
                now.of[at].page != move.from_page || now.of[at].offset != move.from_offset)) {
            at++;
        }
        assert_true(at < SLOTS);
        const owned *slot = &w->slots[at];
        assert_int_equal(move.size, slot->size);
        assert_true(slot->binding == NULL && slot->guard == NULL && !slot->apart);
        assert_int_equal(move.to_offset % slot->alignment, 0);
    }
}

static void open_plan(world *w) {
    acre_relocation_options options = random_options(w);
    places before = places_of(w);
    uint64_t live = usage_of(w->rig.manager).allocations;
    assert_ok(acre_manager_relocation_plan(w->rig.manager, &options, &w->plan, NULL));
    w->copied = false;
    assert_places(w, &before);
    verify_plan(w);
    assert_int_equal(usage_of(w->rig.manager).allocations, live + acre_relocation_count(w->plan));
}

static void copy_plan(world *w) {
    failing context = {roll(w, 12)};
    acre_copy_queue queue = failing_queue(&context);
    places before = places_of(w);
    arm(w);
    acre_status status = acre_relocation_copy(w->plan, roll(w, 4) == 0 ? &queue : NULL, NULL);
    disarm(w);
    assert_places(w, &before);
    w->copied = status == ACRE_OK;
    if (!w->copied) {
        assert_int_equal(acre_relocation_count(w->plan), 0);
        assert_status(ACRE_INVALID_ARGUMENT, acre_relocation_commit(w->plan, NULL, NULL));
    }
}

// A stale handle that still has owners is let go with it: it may hold what the plan held.
void close_plan(world *w) {
    acre_relocation_destroy(w->plan);
    w->plan = NULL;
    acre_handle_release(w->stale);
    w->stale = NULL;
    for (size_t i = 0; i < SLOTS; i++) {
        w->slots[i].given = false;
    }
}

static void commit_plan(world *w) {
    places before = places_of(w);
    acre_relocation_report report = ACRE_RELOCATION_REPORT_INIT;
    acre_status status = acre_relocation_commit(w->plan, &report, NULL);
    if (status != ACRE_NOT_FOUND || report.moves > 0) { // all that was planned died meanwhile
        assert_ok(status);
    }
    assert_int_equal(count_moved(w, &before), report.moves);
    w->moves += report.moves;
    for (size_t i = 0; i < SLOTS; i++) { // what a bind gave away is left out
        before.lived[i] = before.lived[i] && w->slots[i].given;
    }
    assert_places(w, &before);
}

// Between the phases of a plan the run goes on; what was copied is only read until the commit.
void step_plan(world *w) {
    if (w->plan == NULL) {
        open_plan(w);
        return;
    }
    if (roll(w, 4) != 0) {
        if (!w->copied) {
            copy_plan(w);
            if (w->copied) {
                return;
            }
        } else {
            commit_plan(w);
        }
    }
    close_plan(w);
    verify_all(w);
}
