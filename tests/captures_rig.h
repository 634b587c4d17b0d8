// What the tests of capture scopes share.
#ifndef ACRE_TESTS_CAPTURES_RIG_H
#define ACRE_TESTS_CAPTURES_RIG_H

#include "support.h"

static inline acre_capture *make(acre_manager *manager) {
    acre_capture *made = NULL;
    assert_ok(acre_manager_capture_create(manager, &made, NULL));
    return made;
}

static inline acre_capture *open_scope(acre_manager *manager) {
    acre_capture *made = make(manager);
    assert_ok(acre_capture_begin(made, NULL));
    return made;
}

static inline void close_scope(acre_manager *manager, acre_capture *capture) {
    assert_ok(acre_capture_end(capture, NULL));
    check(manager);
}

static inline void destroy(acre_manager *manager, acre_capture *capture) {
    acre_capture_destroy(capture);
    check(manager);
}

static inline acre_capture_report scope_of(acre_capture *capture) {
    acre_capture_report report = ACRE_CAPTURE_REPORT_INIT;
    assert_ok(acre_capture_get_report(capture, &report, NULL));
    return report;
}

static const acre_layout_kind presets[] = {ACRE_LAYOUT_SUB_SLICES, ACRE_LAYOUT_EXCLUSIVE_PAGES,
                                           ACRE_LAYOUT_ADAPTIVE};

// One of each preset, then a direct pool.
#define RIGS (COUNT_OF(presets) + 1)

static inline rig rig_of(size_t i) {
    acre_pool_options direct = direct_pool(ACRE_UNSET);
    return i < COUNT_OF(presets) ? rig_preset(128 * MIB, 32, presets[i]) : rig_pools(&direct, 1);
}

#endif
