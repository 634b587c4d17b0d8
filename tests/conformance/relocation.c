// Relocation: allocations move on the device, and their bytes with them.
#include "suite.h"

enum {
    MOVED = 8
};

// An arena that grew: MOVED allocations on pages of the smallest size, which are outdated then.
static rig grown(const subject *about, filled *all, filled *large) {
    acre_layout layout = ACRE_LAYOUT_INIT(ACRE_LAYOUT_ADAPTIVE);
    acre_manager_options options = plain_options(0, 0);
    options.layout = &layout;
    rig r = rig_on(suite_storage(about, 0, LARGEST), &options);
    for (uint32_t i = 0; i < MOVED; i++) {
        all[i] = take_filled(about, &r, 700 * KIB + 12 * i + i % 3, i + 1);
    }
    *large = take_filled(about, &r, 9 * MIB, 100);
    return r;
}

static void check_all(const subject *about, rig *r, const filled *all, const filled *large) {
    for (uint32_t i = 0; i < MOVED; i++) {
        if (all[i].handle != NULL) {
            check_filled(about, r, &all[i]);
        }
    }
    check_filled(about, r, large);
}

static void close_all(rig *r, filled *all, filled *large) {
    for (uint32_t i = 0; i < MOVED; i++) {
        if (all[i].handle != NULL) {
            acre_manager_release(r->manager, all[i].handle);
        }
    }
    acre_manager_release(r->manager, large->handle);
    rig_close(r);
}

static acre_relocation_options may_add(void) {
    acre_relocation_options options = ACRE_RELOCATION_OPTIONS_INIT;
    options.room = ACRE_RELOCATION_ROOM_MAY_ADD;
    return options;
}

static void what_a_relocation_moves_keeps_its_bytes(void **state) {
    const subject *about = *state;
    filled all[MOVED];
    filled large;
    rig r = grown(about, all, &large);
    uint64_t before = stats_of(r.storage).bytes_allocated;
    acre_relocation_options options = may_add();
    acre_relocation_report report = ACRE_RELOCATION_REPORT_INIT;
    assert_ok(acre_manager_relocate(r.manager, &options, &report, NULL));
    assert_int_equal(report.moves, MOVED);
    assert_true(report.pages_returned > 0);
    assert_int_equal(stats_of(r.storage).copies, MOVED);
    assert_int_equal(stats_of(r.storage).bytes_copied, report.bytes);
    assert_true(stats_of(r.storage).bytes_allocated < before + 10 * MIB);
    check_all(about, &r, all, &large);
    close_all(&r, all, &large);
}

static void what_a_kernel_wrote_is_there_after_a_relocation(void **state) {
    const subject *about = *state;
    if (about->add == NULL) {
        return; // its subject says so: there are no kernels
    }
    filled all[MOVED];
    filled large;
    rig r = grown(about, all, &large);
    for (uint32_t i = 0; i < MOVED; i++) {
        acre_resource resource = resolve(r.manager, all[i].handle);
        resource.size -= resource.size % 4;
        about->add(r.storage, &resource, 3, false); // the relocation waits for it
    }
    acre_relocation_options options = may_add();
    assert_ok(acre_manager_relocate(r.manager, &options, NULL, NULL));
    for (uint32_t i = 0; i < MOVED; i++) {
        acre_resource resource = resolve(r.manager, all[i].handle);
        check_resource(about, r.storage, &resource, all[i].seed, 3);
    }
    close_all(&r, all, &large);
}

static void bytes_move_into_holes_of_pages_held(void **state) {
    const subject *about = *state;
    filled all[MOVED];
    filled large;
    rig r = grown(about, all, &large);
    // Holes on both sides, so that what moves lands between what stays.
    filled more[3];
    for (uint32_t i = 0; i < COUNT_OF(more); i++) {
        more[i] = take_filled(about, &r, 3 * MIB, 200 + i);
    }
    acre_manager_release(r.manager, more[1].handle);
    for (uint32_t i = 0; i < MOVED; i += 2) {
        acre_manager_release(r.manager, all[i].handle);
        all[i].handle = NULL;
    }
    acre_relocation_options options = ACRE_RELOCATION_OPTIONS_INIT;
    options.room = ACRE_RELOCATION_ROOM_HELD;
    acre_relocation_report report = ACRE_RELOCATION_REPORT_INIT;
    assert_ok(acre_manager_relocate(r.manager, &options, &report, NULL));
    assert_true(report.moves > 0);
    check_all(about, &r, all, &large);
    check_filled(about, &r, &more[0]);
    check_filled(about, &r, &more[2]);
    acre_manager_release(r.manager, more[0].handle);
    acre_manager_release(r.manager, more[2].handle);
    close_all(&r, all, &large);
}

static void what_is_bound_stays_and_keeps_its_place(void **state) {
    const subject *about = *state;
    filled all[MOVED];
    filled large;
    rig r = grown(about, all, &large);
    acre_binding *binding = acre_handle_binding(all[0].handle);
    assert_non_null(binding);
    acre_resource before = resolve(r.manager, all[0].handle);
    acre_relocation_options options = may_add();
    acre_relocation_report report = ACRE_RELOCATION_REPORT_INIT;
    assert_ok(acre_manager_relocate(r.manager, &options, &report, NULL));
    assert_true(report.moves > 0 && report.bound.allocations > 0);
    acre_resource after = resolve(r.manager, all[0].handle);
    assert_memory_equal(&before.as, &after.as, sizeof before.as);
    check_all(about, &r, all, &large);
    acre_binding_release(binding);
    close_all(&r, all, &large);
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(what_a_relocation_moves_keeps_its_bytes),
    cmocka_unit_test(what_a_kernel_wrote_is_there_after_a_relocation),
    cmocka_unit_test(bytes_move_into_holes_of_pages_held),
    cmocka_unit_test(what_is_bound_stays_and_keeps_its_place),
};

const part relocation_part = {tests, COUNT_OF(tests), false, false, false};
