// Section 9: what is moved, when, and what stays.
#include "relocation_rig.h"

// The pools of the preset: exclusive{0}, metadata, arena; outdated ones follow.
enum {
    ARENA = 2,
    OUTDATED = 3
};

// ---- need ----------------------------------------------------------------------------------

static void nothing_is_needed_while_nothing_is_outdated(void **state) {
    (void)state;
    rig r = arena_rig(2 * MIB, 3 * MIB); // 2 + 2 > 3 - 2
    acre_handle *a = take(r.manager, 2 * MIB);
    assert_false(arena_of(r.manager).has_outdated);
    assert_int_equal(acre_manager_relocation_need(r.manager), ACRE_RELOCATION_NOT_NEEDED);
    acre_relocation_report report = relocate(r.manager, ACRE_RELOCATION_ROOM_AS_NEEDED);
    assert_int_equal(report.moves + report.no_target.allocations, 0);
    acre_manager_release(r.manager, a);
    rig_close(&r);
}

// Total 64 MiB: 2 MiB page with 1 MiB live, then pages of 21: held 2 + 21, and 23 + 21 > 64 - 21.
static void the_device_is_short_when_two_pages_more_would_pass_its_memory(void **state) {
    (void)state;
    const struct {
        uint64_t total;
        acre_relocation_need need;
    } cases[] = {{64 * MIB, ACRE_RELOCATION_SHORT_OF_ROOM},
                 {65 * MIB - 1, ACRE_RELOCATION_SHORT_OF_ROOM},
                 {65 * MIB, ACRE_RELOCATION_NOT_NEEDED},
                 {0, ACRE_RELOCATION_NOT_NEEDED}}; // unknown
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        acre_layout layout = ACRE_LAYOUT_INIT(ACRE_LAYOUT_ADAPTIVE);
        acre_manager_options options = plain_options(GIB, 32);
        options.layout = &layout;
        options.total_memory = cases[i].total;
        rig r = rig_on(simulated_device(), &options);
        acre_handle *h[] = {take(r.manager, MIB), take(r.manager, 20 * MIB)};
        assert_int_equal(usage_of(r.manager).reserved, 23 * MIB);
        assert_int_equal(acre_manager_relocation_need(r.manager), cases[i].need);
        drop_all(r.manager, h, 2);
        rig_close(&r);
    }
}

// As needed, that is in room held: none is free, so nothing moves, and it is not tried again until
// the arena looks otherwise.
static void a_need_that_moved_nothing_waits_for_another_shape(void **state) {
    (void)state;
    rig r = arena_rig(GIB, 25 * MIB);
    acre_handle *old = take(r.manager, 3 * MIB / 2);
    acre_handle *grown = take(r.manager, 10 * MIB); // pages of 11 MiB, 1 MiB free
    assert_int_equal(acre_manager_relocation_need(r.manager), ACRE_RELOCATION_SHORT_OF_ROOM);
    acre_relocation_report report = relocate(r.manager, ACRE_RELOCATION_ROOM_AS_NEEDED);
    assert_int_equal(report.moves, 0);
    assert_int_equal(report.no_target.allocations, 1);
    assert_int_equal(report.no_target.bytes, 3 * MIB / 2);
    assert_int_equal(acre_manager_relocation_need(r.manager), ACRE_RELOCATION_NOT_NEEDED);
    acre_manager_release(r.manager, grown); // there is room now, but the shape is the same
    assert_int_equal(acre_manager_relocation_need(r.manager), ACRE_RELOCATION_NOT_NEEDED);
    acre_handle *more[] = {take(r.manager, 11 * MIB), take(r.manager, 8 * MIB)};
    assert_int_equal(acre_manager_relocation_need(r.manager), ACRE_RELOCATION_SHORT_OF_ROOM);
    report = relocate(r.manager, ACRE_RELOCATION_ROOM_AS_NEEDED);
    assert_int_equal(report.moves, 1);
    assert_int_equal(acre_manager_relocation_need(r.manager), ACRE_RELOCATION_NOT_NEEDED);
    drop_all(r.manager, more, 2);
    acre_manager_release(r.manager, old);
    rig_close(&r);
}

static void the_state_of_the_arena_can_be_read(void **state) {
    (void)state;
    rig r = arena_rig(128 * MIB, 0);
    acre_arena_state before = arena_of(r.manager);
    assert_int_equal(before.page_size, 2 * MIB);
    assert_int_equal(before.current_pages, 0);
    acre_handle *h[] = {take(r.manager, MIB), take(r.manager, 3 * MIB / 2),
                        take(r.manager, 4 * MIB)};
    acre_arena_state after = arena_of(r.manager);
    assert_int_equal(after.page_size, 5 * MIB);
    assert_true(after.has_outdated);
    assert_false(after.full);
    assert_int_equal(after.current_pages, 1);
    assert_int_equal(after.outdated_pools, 1);
    assert_int_equal(after.outdated_pages, 2);
    assert_int_equal(after.outdated_guarded, 0);
    drop_all(r.manager, h, 3);
    rig_close(&r);
}

// ---- what moves ----------------------------------------------------------------------------

// 63 live of (3 + 2k) MiB, each on a page of its own size; all but the last are outdated.
static void a_full_arena_is_emptied_and_can_grow_again(void **state) {
    (void)state;
    const acre_relocation_room rooms[] = {ACRE_RELOCATION_ROOM_AS_NEEDED,
                                          ACRE_RELOCATION_ROOM_MAY_ADD};
    for (size_t i = 0; i < COUNT_OF(rooms); i++) {
        rig r = arena_rig(1024 * MIB, 0);
        acre_handle *live[63];
        for (uint64_t k = 0; k < 63; k++) {
            live[k] = take_with(r.manager, (3 + 2 * k) * MIB, 0, ACRE_PAGES_ADD_ONLY);
        }
        assert_true(arena_of(r.manager).full);
        (void)refuse_with(r.manager, 200 * MIB, 0, ACRE_PAGES_ADD_ONLY, ACRE_PAGE_SIZES_EXHAUSTED);
        assert_int_equal(acre_manager_relocation_need(r.manager), ACRE_RELOCATION_ARENA_FULL);
        acre_relocation_report report = relocate(r.manager, rooms[i]);
        assert_int_equal(report.moves, 62);
        assert_int_equal(report.pages_returned, 62);
        assert_false(arena_of(r.manager).has_outdated);
        acre_handle *served = take_with(r.manager, 200 * MIB, 0, ACRE_PAGES_ADD_ONLY);
        acre_manager_release(r.manager, served);
        drop_all(r.manager, live, 63);
        rig_close(&r);
    }
}

// 2 MiB | 1.5 |    5 MiB | 4 | 1 free |    there is room for the first in a new page only
static void targets_take_new_pages_only_where_they_may(void **state) {
    (void)state;
    rig r = arena_rig(128 * MIB, 0);
    acre_handle *h[] = {take(r.manager, 3 * MIB / 2), take(r.manager, 4 * MIB)};
    acre_relocation_report held = relocate(r.manager, ACRE_RELOCATION_ROOM_HELD);
    assert_int_equal(held.moves, 0);
    assert_int_equal(held.no_target.allocations, 1);
    assert_int_equal(usage_of(r.manager).reserved, 7 * MIB);
    acre_relocation_report added = relocate(r.manager, ACRE_RELOCATION_ROOM_MAY_ADD);
    assert_int_equal(added.moves, 1);
    assert_int_equal(added.bytes, 3 * MIB / 2);
    assert_int_equal(added.pages_returned, 1);
    assert_int_equal(added.bytes_returned, 2 * MIB);
    assert_int_equal(usage_of(r.manager).reserved, 10 * MIB);
    drop_all(r.manager, h, 2);
    rig_close(&r);
}

// 2 MiB | 1.75 |   2 MiB | 0.5 |   4 MiB | 3 | 1 free |   the emptier page goes first; behind it
// there is no room for the fuller one
static void the_page_with_the_fewest_live_bytes_for_its_size_is_emptied_first(void **state) {
    (void)state;
    rig r = arena_rig(128 * MIB, 0);
    acre_handle *full = take(r.manager, 7 * MIB / 4);
    acre_handle *sparse = take(r.manager, MIB / 2);
    acre_handle *grown = take(r.manager, 3 * MIB);
    acre_relocation *plan = plan_of(r.manager, ACRE_RELOCATION_ROOM_HELD);
    assert_int_equal(acre_relocation_count(plan), 1);
    acre_relocation_move move = ACRE_RELOCATION_MOVE_INIT;
    assert_ok(acre_relocation_get(plan, 0, &move, NULL));
    acre_place from = place_of(r.manager, sparse);
    assert_int_equal(move.from_page, from.page);
    assert_int_equal(move.from_offset, from.offset);
    assert_int_equal(move.size, MIB / 2);
    assert_status(ACRE_INVALID_ARGUMENT, acre_relocation_get(plan, 1, &move, NULL));
    assert_ok(acre_relocation_copy(plan, NULL, NULL));
    assert_ok(acre_relocation_commit(plan, NULL, NULL));
    acre_place to = place_of(r.manager, sparse);
    assert_int_equal(to.page, move.to_page);
    assert_int_equal(to.offset, move.to_offset);
    assert_int_equal(place_of(r.manager, full).pool_index, OUTDATED);
    acre_relocation_destroy(plan);
    drop_all(r.manager, (acre_handle *[]){full, sparse, grown}, 3);
    rig_close(&r);
}

// 11 MiB | x 1.5 | x 1.5 |   8 free    |  cheapest to empty, but the second x finds no room
//  2 MiB | y 1 |                          takes the room that the first x had found
// 21 MiB | 19               | 2 free |
static void a_page_keeps_all_when_one_finds_no_target_and_later_pages_are_tried(void **state) {
    (void)state;
    rig r = arena_rig(128 * MIB, 0);
    acre_handle *y = take(r.manager, MIB);
    acre_manager_release(r.manager, take(r.manager, 10 * MIB));
    acre_handle *x[] = {take(r.manager, 3 * MIB / 2), take(r.manager, 3 * MIB / 2)};
    acre_manager_release(r.manager, take(r.manager, 20 * MIB));
    acre_handle *fill = take(r.manager, 19 * MIB);
    acre_place before[] = {place_of(r.manager, x[0]), place_of(r.manager, x[1])};
    acre_relocation_report report = relocate(r.manager, ACRE_RELOCATION_ROOM_HELD);
    assert_int_equal(report.moves, 1);
    assert_int_equal(report.pages_returned, 1);
    assert_int_equal(report.no_target.allocations, 2);
    assert_int_equal(report.no_target.bytes, 3 * MIB);
    assert_int_equal(place_of(r.manager, y).pool_index, ARENA);
    for (int i = 0; i < 2; i++) {
        acre_place after = place_of(r.manager, x[i]);
        assert_int_equal(after.page, before[i].page);
        assert_int_equal(after.offset, before[i].offset);
    }
    drop_all(r.manager, (acre_handle *[]){y, x[0], x[1], fill}, 4);
    rig_close(&r);
}

static void what_moved_keeps_handle_cursor_size_tag_and_owners(void **state) {
    (void)state;
    rig r = arena_rig(128 * MIB, 0);
    acre_reservation wanted = ACRE_RESERVATION_INIT(MIB + 5);
    wanted.tag = 77;
    acre_handle *reserved = NULL;
    acre_handle *assigned = NULL;
    acre_handle *loose = NULL;
    assert_ok(acre_manager_reserve_with(r.manager, &wanted, &reserved, NULL));
    assert_ok(acre_manager_handle_create(r.manager, &assigned, NULL));
    assert_ok(acre_manager_bind(r.manager, reserved, assigned, 42, NULL));
    acre_handle *second = take(r.manager, 128 * KIB);
    assert_ok(acre_handle_create(NULL, &loose, NULL)); // made before there was a manager
    assert_ok(acre_manager_bind(r.manager, second, loose, 43, NULL));
    acre_handle *grown = take(r.manager, 9 * MIB);
    acre_manager_release(r.manager, grown);
    acre_relocation_report report = relocate(r.manager, ACRE_RELOCATION_ROOM_HELD);
    assert_int_equal(report.moves, 2);
    assert_int_equal(cursor_of(r.manager, assigned), 42);
    assert_int_equal(cursor_of(r.manager, loose), 43);
    assert_int_equal(place_of(r.manager, assigned).size, MIB + 5);
    assert_int_equal(place_of(r.manager, assigned).pool_index, ARENA);
    assert_int_equal(place_of(r.manager, loose).pool_index, ARENA);
    assert_true(acre_handle_can_mut(assigned));
    assert_true(acre_handle_can_mut(loose));
    acre_place none = ACRE_PLACE_INIT;
    assert_status(ACRE_NOT_FOUND, acre_manager_get_place(r.manager, reserved, &none, NULL));
    acre_allocation_info largest[2];

    assert_int_equal(acre_manager_largest(r.manager, largest, sizeof largest[0], 2), 2);
    assert_int_equal(largest[0].tag, 77);
    assert_int_equal(pool_of(r.manager, ARENA).largest_alloc, 9 * MIB);
    acre_handle_release(reserved);
    acre_handle_release(second);
    acre_handle_release(assigned);
    acre_handle_release(loose);
    rig_close(&r);
}

// An offset asked to be a multiple of something is one after the move too.
static void what_moved_keeps_its_alignment(void **state) {
    (void)state;
    const uint64_t alignments[] = {64 * KIB, MIB, 2 * MIB, 96, 1000, 4096};
    for (size_t i = 0; i < COUNT_OF(alignments); i++) {
        rig r = arena_rig(128 * MIB, 0);
        acre_handle *gap = take(r.manager, 100 * KIB);
        acre_handle *a = take_with(r.manager, 200 * KIB, alignments[i], ACRE_PAGES_ALLOW);
        acre_handle *grown = take(r.manager, 5 * MIB);
        acre_handle *before = take(r.manager, 65 * KIB); // so that the next free offset is odd
        assert_int_equal(place_of(r.manager, a).offset % alignments[i], 0);
        acre_manager_release(r.manager, gap);
        (void)relocate(r.manager, ACRE_RELOCATION_ROOM_MAY_ADD);
        assert_int_equal(place_of(r.manager, a).offset % alignments[i], 0);
        check(r.manager);
        drop_all(r.manager, (acre_handle *[]){a, grown, before}, 3);
        rig_close(&r);
    }
}

static void names_in_events_follow_the_allocation(void **state) {
    (void)state;
    event_log log = {0};
    acre_layout layout = ACRE_LAYOUT_INIT(ACRE_LAYOUT_ADAPTIVE);
    acre_manager_options options = plain_options(128 * MIB, 32);
    options.layout = &layout;
    options.event = event_log_hear;
    options.event_context = &log;
    rig r = rig_on(simulated_device(), &options);
    acre_handle *a = take(r.manager, 70 * KIB);
    uint32_t name = log.last_reserved;
    acre_handle *grown = take(r.manager, 3 * MIB);
    assert_int_equal(relocate(r.manager, ACRE_RELOCATION_ROOM_HELD).moves, 1);
    assert_int_equal(log.frees, 0);
    acre_manager_release(r.manager, a);
    assert_int_equal(log.frees, 1);
    assert_int_equal(log.last_freed, name);
    acre_manager_release(r.manager, grown);
    rig_close(&r);
}

// ---- what stays ----------------------------------------------------------------------------

static void a_page_with_a_binding_in_flight_is_left_out(void **state) {
    (void)state;
    for (int loose = 0; loose < 2; loose++) {
        rig r = arena_rig(128 * MIB, 0);
        acre_handle *a = take(r.manager, 70 * KIB);
        acre_handle *b = take(r.manager, 80 * KIB); // on the same page
        if (loose == 1) {
            acre_handle *assigned = NULL;
            assert_ok(acre_handle_create(NULL, &assigned, NULL));
            assert_ok(acre_manager_bind(r.manager, a, assigned, 0, NULL));
            acre_handle_release(a);
            a = assigned;
        }
        acre_handle *grown = take(r.manager, 3 * MIB);
        acre_binding *binding = acre_handle_binding(a);
        acre_place before = place_of(r.manager, b);
        acre_relocation_report report = relocate(r.manager, ACRE_RELOCATION_ROOM_MAY_ADD);
        assert_int_equal(report.moves, 0);
        assert_int_equal(report.bound.allocations, 2);
        assert_int_equal(report.bound.bytes, 150 * KIB);
        assert_true(same_place(before, place_of(r.manager, b)));
        acre_binding_release(binding);
        assert_int_equal(relocate(r.manager, ACRE_RELOCATION_ROOM_MAY_ADD).moves, 2);
        drop_all(r.manager, (acre_handle *[]){a, b, grown}, 3);
        rig_close(&r);
    }
}

// ---- refusals ------------------------------------------------------------------------------

static void a_layout_without_an_arena_is_not_relocated(void **state) {
    (void)state;
    rig r = rig_preset(128 * MIB, 32, ACRE_LAYOUT_SUB_SLICES);
    acre_arena_state arena = ACRE_ARENA_STATE_INIT;
    acre_relocation *plan = NULL;
    assert_int_equal(acre_manager_relocation_need(r.manager), ACRE_RELOCATION_NOT_NEEDED);
    assert_status(ACRE_UNSUPPORTED, acre_manager_relocate(r.manager, NULL, NULL, NULL));
    assert_status(ACRE_UNSUPPORTED, acre_manager_relocation_plan(r.manager, NULL, &plan, NULL));
    assert_status(ACRE_UNSUPPORTED, acre_manager_arena_state(r.manager, &arena, NULL));
    rig_close(&r);
}

static void options_that_make_no_sense_are_refused(void **state) {
    (void)state;
    rig r = arena_rig(128 * MIB, 0);
    acre_relocation_options options = ACRE_RELOCATION_OPTIONS_INIT;
    options.room = (acre_relocation_room)3;
    assert_status(ACRE_INVALID_ARGUMENT, acre_manager_relocate(r.manager, &options, NULL, NULL));
    struct {
        acre_relocation_options known;
        uint64_t unknown;
    } larger = {ACRE_RELOCATION_OPTIONS_INIT, 1};
    larger.known.struct_size = sizeof larger;
    assert_status(ACRE_UNSUPPORTED, acre_manager_relocate(r.manager, &larger.known, NULL, NULL));
    rig_close(&r);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(nothing_is_needed_while_nothing_is_outdated),
        cmocka_unit_test(the_device_is_short_when_two_pages_more_would_pass_its_memory),
        cmocka_unit_test(a_need_that_moved_nothing_waits_for_another_shape),
        cmocka_unit_test(the_state_of_the_arena_can_be_read),
        cmocka_unit_test(a_full_arena_is_emptied_and_can_grow_again),
        cmocka_unit_test(targets_take_new_pages_only_where_they_may),
        cmocka_unit_test(the_page_with_the_fewest_live_bytes_for_its_size_is_emptied_first),
        cmocka_unit_test(a_page_keeps_all_when_one_finds_no_target_and_later_pages_are_tried),
        cmocka_unit_test(what_moved_keeps_handle_cursor_size_tag_and_owners),
        cmocka_unit_test(what_moved_keeps_its_alignment),
        cmocka_unit_test(names_in_events_follow_the_allocation),
        cmocka_unit_test(a_page_with_a_binding_in_flight_is_left_out),
        cmocka_unit_test(a_layout_without_an_arena_is_not_relocated),
        cmocka_unit_test(options_that_make_no_sense_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
