// What the tests of relocation share.
#ifndef ACRE_TESTS_RELOCATION_RIG_H
#define ACRE_TESTS_RELOCATION_RIG_H

#include "support.h"

// An adaptive layout, alignment 32, on a simulated device of `total` bytes (0 = unknown).
static inline rig arena_rig(uint64_t largest_page, uint64_t total) {
    acre_layout layout = ACRE_LAYOUT_INIT(ACRE_LAYOUT_ADAPTIVE);
    acre_manager_options options = plain_options(largest_page, 32);
    options.layout = &layout;
    options.total_memory = total;
    return rig_on(simulated_device(), &options);
}

static inline acre_arena_state arena_of(acre_manager *manager) {
    acre_arena_state state = ACRE_ARENA_STATE_INIT;
    assert_ok(acre_manager_arena_state(manager, &state, NULL));
    return state;
}

// A relocation that must succeed, and leave the books in order.
static inline acre_relocation_report relocate(acre_manager *manager, acre_relocation_room room) {
    acre_relocation_options options = ACRE_RELOCATION_OPTIONS_INIT;
    acre_relocation_report report = ACRE_RELOCATION_REPORT_INIT;
    options.room = room;
    assert_ok(acre_manager_relocate(manager, &options, &report, NULL));
    check(manager);
    return report;
}

static inline acre_relocation *plan_of(acre_manager *manager, acre_relocation_room room) {
    acre_relocation_options options = ACRE_RELOCATION_OPTIONS_INIT;
    acre_relocation *plan = NULL;
    options.room = room;
    assert_ok(acre_manager_relocation_plan(manager, &options, &plan, NULL));
    assert_non_null(plan);
    check(manager);
    return plan;
}

// What a listener heard.
typedef struct event_log {
    uint32_t last_reserved;
    uint32_t last_freed;
    int frees;
} event_log;

static inline void event_log_hear(void *context, const acre_event *event) {
    event_log *log = context;
    if (event->kind == ACRE_EVENT_RESERVE) {
        log->last_reserved = event->allocation;
    } else if (event->kind == ACRE_EVENT_FREE) {
        log->last_freed = event->allocation;
        log->frees++;
    }
}

#endif
