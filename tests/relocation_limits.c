// Section 9: relocations bounded in moves, bytes and time, and how they go on.
#include "relocation_rig.h"

// 3 pages of 2 MiB with two allocations each, and room for all.
static void fill_three(acre_manager *manager, acre_handle *h[7]) {
    for (int i = 0; i < 6; i++) {
        h[i] = take(manager, MIB);
    }
    h[6] = take(manager, 9 * MIB);
    acre_manager_release(manager, h[6]);
    assert_int_equal(arena_of(manager).outdated_pages, 3);
}

static void a_bounded_run_is_continued_until_nothing_is_left(void **state) {
    (void)state;
    const struct {
        uint64_t moves, bytes, calls;
    } cases[] = {{1, ACRE_UNSET, 6},       {2, ACRE_UNSET, 3},           {4, ACRE_UNSET, 2},
                 {ACRE_UNSET, 3 * MIB, 2}, {ACRE_UNSET, 2 * MIB - 1, 6}, {5, MIB, 6}};
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        rig r = arena_rig(128 * MIB, 0);
        acre_handle *h[7];
        fill_three(r.manager, h);
        acre_relocation_options options = ACRE_RELOCATION_OPTIONS_INIT;
        options.room = ACRE_RELOCATION_ROOM_HELD;
        options.max_moves = cases[i].moves;
        options.max_bytes = cases[i].bytes;
        uint64_t calls = 0;
        uint64_t moves = 0;
        acre_relocation_report report = ACRE_RELOCATION_REPORT_INIT;
        do {
            assert_ok(acre_manager_relocate(r.manager, &options, &report, NULL));
            check(r.manager);
            assert_true(report.moves <= cases[i].moves && report.bytes <= cases[i].bytes);
            assert_int_equal(report.limited.allocations, 6 - moves - report.moves);
            moves += report.moves;
            calls++;
        } while (report.more);
        assert_int_equal(moves, 6);
        assert_int_equal(calls, cases[i].calls);
        assert_false(arena_of(r.manager).has_outdated);
        drop_all(r.manager, h, 6);
        rig_close(&r);
    }
}

static void limits_that_allow_nothing_say_that_no_call_may_go_on(void **state) {
    (void)state;
    rig r = arena_rig(128 * MIB, 0);
    acre_handle *h[7];
    fill_three(r.manager, h);
    acre_relocation_options options = ACRE_RELOCATION_OPTIONS_INIT;
    options.room = ACRE_RELOCATION_ROOM_HELD;
    for (int i = 0; i < 2; i++) {
        acre_relocation_report report = ACRE_RELOCATION_REPORT_INIT;
        options.max_moves = i == 0 ? 0 : ACRE_UNSET;
        options.max_bytes = i == 0 ? ACRE_UNSET : MIB - 1;
        assert_ok(acre_manager_relocate(r.manager, &options, &report, NULL));
        assert_int_equal(report.moves, 0);
        assert_int_equal(report.limited.allocations, 6);
        assert_false(report.more);
    }
    drop_all(r.manager, h, 6);
    rig_close(&r);
}

// One page has an allocation that no call of this size moves: it keeps its neighbour, and calls
// end.
static void an_allocation_above_the_limit_keeps_its_page_and_ends_the_calls(void **state) {
    (void)state;
    rig r = arena_rig(128 * MIB, 0);
    acre_handle *h[] = {take(r.manager, 3 * MIB / 2), take(r.manager, MIB / 4),
                        take(r.manager, MIB)};
    acre_manager_release(r.manager, take(r.manager, 9 * MIB));
    acre_relocation_options options = ACRE_RELOCATION_OPTIONS_INIT;
    acre_relocation_report report = ACRE_RELOCATION_REPORT_INIT;
    options.room = ACRE_RELOCATION_ROOM_HELD;
    options.max_bytes = MIB;
    uint64_t moves = 0;
    int calls = 0;
    do {
        assert_ok(acre_manager_relocate(r.manager, &options, &report, NULL));
        check(r.manager);
        moves += report.moves;
        assert_true(++calls < 10);
    } while (report.more);
    assert_int_equal(moves, 1);
    assert_int_equal(report.limited.allocations, 2);
    assert_int_equal(arena_of(r.manager).outdated_pages, 1);
    drop_all(r.manager, h, 3);
    rig_close(&r);
}

static void a_deadline_that_is_over_still_lets_one_move_through(void **state) {
    (void)state;
    rig r = arena_rig(128 * MIB, 0);
    acre_handle *h[7];
    fill_three(r.manager, h);
    acre_relocation_options options = ACRE_RELOCATION_OPTIONS_INIT;
    options.room = ACRE_RELOCATION_ROOM_HELD;
    options.max_time = 0;
    acre_relocation_report report = ACRE_RELOCATION_REPORT_INIT;
    for (int i = 0; i < 6; i++) {
        assert_ok(acre_manager_relocate(r.manager, &options, &report, NULL));
        assert_int_equal(report.moves, 1);
        assert_int_equal(report.more, i < 5);
        check(r.manager);
    }
    assert_false(arena_of(r.manager).has_outdated);
    drop_all(r.manager, h, 6);
    rig_close(&r);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_bounded_run_is_continued_until_nothing_is_left),
        cmocka_unit_test(limits_that_allow_nothing_say_that_no_call_may_go_on),
        cmocka_unit_test(an_allocation_above_the_limit_keeps_its_page_and_ends_the_calls),
        cmocka_unit_test(a_deadline_that_is_over_still_lets_one_move_through),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
