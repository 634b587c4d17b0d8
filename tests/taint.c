// Section 10, claims: which bytes a failure claims, what a write releases, and the bad input. How
// long claims live is in taint_lifetime.c, random runs in taint_model.c.
#include "support.h"

#include "failure/claims.h"

typedef struct scene {
    rig r;
    acre_handle *handle; // 100 bytes
    acre_failure *a;
    acre_failure *b;
} scene;

static acre_failure *failure_named(const char *message) {
    acre_failure_params params = ACRE_FAILURE_PARAMS_INIT;
    params.message = message;
    acre_failure *failure = NULL;
    assert_ok(acre_failure_create(&params, NULL, &failure, NULL));
    return failure;
}

static scene open_scene(void) {
    acre_pool_options pool = sliced_pool(MIB, ACRE_UNSET, ACRE_UNSET);
    scene s = {rig_pools(&pool, 1), NULL, failure_named("a"), failure_named("b")};
    s.handle = take(s.r.manager, 100);
    return s;
}

static void close_scene(scene *s) {
    acre_manager_release(s->r.manager, s->handle);
    rig_close(&s->r);
    acre_failure_release(s->a);
    acre_failure_release(s->b);
}

static void taint(const scene *s, uint64_t start, uint64_t end, acre_failure *failure) {
    assert_ok(acre_manager_taint(s->r.manager, s->handle, start, end, failure, NULL));
}

static void written(const scene *s, uint64_t start, uint64_t end) {
    assert_ok(acre_manager_written(s->r.manager, s->handle, start, end, NULL));
}

// One letter for ten bytes: '.' = no claim, '?' = not all ten alike.
static void assert_claims(const scene *s, const char *expected) {
    char found[11] = "";
    for (uint64_t i = 0; i < 100; i++) {
        const acre_failure *f = acre_manager_get_failure(s->r.manager, s->handle, i, i + 1);
        char letter = '.';
        if (f != NULL) {
            letter = acre_failure_get_message(f)[0];
        }
        found[i / 10] = (char)(i % 10 == 0 || found[i / 10] == letter ? letter : '?');
    }
    assert_string_equal(found, expected);
    check(s->r.manager);
}

// Ranges that hold the failure: its references less the test's own.
static uint64_t ranges_of(const acre_failure *failure) {
    return failure->references - 1;
}

// ---- taint ---------------------------------------------------------------------------------

static void an_allocation_is_claimed_by_nobody_at_first(void **state) {
    (void)state;
    scene s = open_scene();
    assert_claims(&s, "..........");
    assert_null(acre_manager_get_failure(s.r.manager, s.handle, 0, 100));
    written(&s, 0, 100);
    assert_claims(&s, "..........");
    close_scene(&s);
}

static void a_taint_claims_exactly_its_half_open_range(void **state) {
    (void)state;
    scene s = open_scene();
    taint(&s, 30, 60, s.a);
    assert_claims(&s, "...aaa....");
    assert_null(acre_manager_get_failure(s.r.manager, s.handle, 0, 30));
    assert_null(acre_manager_get_failure(s.r.manager, s.handle, 60, 100));
    assert_ptr_equal(acre_manager_get_failure(s.r.manager, s.handle, 29, 31), s.a);
    assert_ptr_equal(acre_manager_get_failure(s.r.manager, s.handle, 59, 61), s.a);
    taint(&s, 0, 10, s.b);
    taint(&s, 90, 100, s.b);
    assert_claims(&s, "b..aaa...b");
    close_scene(&s);
}

static void a_taint_replaces_other_failures_claims_on_those_bytes_alone(void **state) {
    (void)state;
    scene s = open_scene();
    taint(&s, 0, 100, s.a);
    taint(&s, 40, 60, s.b); // inside
    assert_claims(&s, "aaaabbaaaa");
    taint(&s, 50, 80, s.a); // over an edge
    assert_claims(&s, "aaaabaaaaa");
    taint(&s, 10, 30, s.b);
    taint(&s, 60, 70, s.b);
    assert_claims(&s, "abbababaaa");
    taint(&s, 20, 90, s.b); // over several
    assert_claims(&s, "abbbbbbbba");
    assert_int_equal(ranges_of(s.a), 2);
    assert_int_equal(ranges_of(s.b), 1);
    taint(&s, 0, 100, s.a);
    assert_claims(&s, "aaaaaaaaaa");
    assert_int_equal(ranges_of(s.b), 0);
    close_scene(&s);
}

static void touching_ranges_of_one_failure_become_one(void **state) {
    (void)state;
    scene s = open_scene();
    taint(&s, 20, 30, s.a);
    taint(&s, 40, 50, s.a);
    assert_int_equal(ranges_of(s.a), 2);
    taint(&s, 30, 40, s.a); // touches both
    assert_int_equal(ranges_of(s.a), 1);
    taint(&s, 10, 20, s.a);
    taint(&s, 50, 60, s.a);
    assert_int_equal(ranges_of(s.a), 1);
    taint(&s, 0, 30, s.a);  // overlaps
    taint(&s, 20, 40, s.a); // inside: nothing changes
    assert_int_equal(ranges_of(s.a), 1);
    assert_claims(&s, "aaaaaa....");
    close_scene(&s);
}

static void touching_ranges_of_two_failures_stay_two(void **state) {
    (void)state;
    scene s = open_scene();
    taint(&s, 20, 30, s.a);
    taint(&s, 30, 40, s.b);
    taint(&s, 10, 20, s.b);
    assert_int_equal(ranges_of(s.a), 1);
    assert_int_equal(ranges_of(s.b), 2);
    assert_claims(&s, ".bab......");
    taint(&s, 20, 30, s.b); // what lay between goes, and they meet
    assert_int_equal(ranges_of(s.a), 0);
    assert_int_equal(ranges_of(s.b), 1);
    close_scene(&s);
}

// ---- written -------------------------------------------------------------------------------

static void a_write_releases_exactly_its_bytes_and_splits_what_reaches_beyond(void **state) {
    (void)state;
    scene s = open_scene();
    taint(&s, 0, 100, s.a);
    written(&s, 40, 50);
    assert_claims(&s, "aaaa.aaaaa");
    assert_int_equal(ranges_of(s.a), 2);
    written(&s, 0, 10);
    written(&s, 90, 100);
    assert_claims(&s, ".aaa.aaaa.");
    taint(&s, 20, 30, s.b);
    written(&s, 20, 70); // several, the outer ones in part
    assert_claims(&s, ".a.....aa.");
    assert_int_equal(ranges_of(s.b), 0);
    written(&s, 20, 70); // nobody's already
    written(&s, 0, 10);
    assert_claims(&s, ".a.....aa.");
    written(&s, 0, 100);
    assert_claims(&s, "..........");
    assert_int_equal(ranges_of(s.a), 0);
    close_scene(&s);
}

// ---- failure -------------------------------------------------------------------------------

static void the_failure_of_a_range_is_the_first_that_claims_any_of_it(void **state) {
    (void)state;
    scene s = open_scene();
    taint(&s, 20, 30, s.b);
    taint(&s, 60, 70, s.a);
    acre_manager *m = s.r.manager;
    assert_ptr_equal(acre_manager_get_failure(m, s.handle, 0, 100), s.b);
    assert_ptr_equal(acre_manager_get_failure(m, s.handle, 29, 100), s.b);
    assert_ptr_equal(acre_manager_get_failure(m, s.handle, 30, 100), s.a);
    assert_null(acre_manager_get_failure(m, s.handle, 30, 60));
    assert_null(acre_manager_get_failure(m, s.handle, 70, 100));
    close_scene(&s);
}

static void what_reads_tainted_bytes_fails_with_a_failure_caused_by_theirs(void **state) {
    (void)state;
    scene s = open_scene();
    acre_handle *output = take(s.r.manager, 50);
    taint(&s, 0, 100, s.a);
    acre_failure *cause = acre_manager_get_failure(s.r.manager, s.handle, 10, 20);
    acre_failure_params params = ACRE_FAILURE_PARAMS_INIT;
    params.message = "kernel not launched";
    params.causes = &cause;
    params.cause_count = 1;
    acre_failure *second = NULL;
    assert_ok(acre_failure_create(&params, NULL, &second, NULL));
    assert_ok(acre_manager_taint(s.r.manager, output, 0, 50, second, NULL));
    acre_failure_release(second);
    written(&s, 0, 100); // the first is still known as the cause
    char text[128];
    acre_failure_format(acre_manager_get_failure(s.r.manager, output, 0, 1), text, sizeof text);
    assert_string_equal(text, "[1] kernel not launched (code 0), because of [2]\n[2] a (code 0)");
    acre_manager_release(s.r.manager, output);
    close_scene(&s);
}

// The model tests trust it.
static void the_check_of_claims_sees_what_is_wrong(void **state) {
    (void)state;
    acre_failure *a = failure_named("a");
    acre_failure *b = failure_named("b");
    const struct {
        acre_claim list[2];
        bool sound;
    } cases[] = {
        {{{0, 10, a}, {10, 20, b}}, true},  {{{0, 10, a}, {11, 20, a}}, true},
        {{{0, 10, a}, {10, 20, a}}, false}, {{{0, 11, a}, {10, 20, b}}, false},
        {{{10, 20, a}, {0, 5, b}}, false},  {{{0, 10, a}, {12, 12, b}}, false},
        {{{0, 10, a}, {10, 21, b}}, false}, {{{0, 10, a}, {10, 20, NULL}}, false},
    };
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        acre_claim list[2] = {cases[i].list[0], cases[i].list[1]};
        acre_claims claims = {list, 2, 2};
        assert_int_equal(acre_claims_check(&claims, 20), cases[i].sound);
    }
    acre_failure_release(a);
    acre_failure_release(b);
}

// ---- bad input -----------------------------------------------------------------------------

static void an_empty_range_does_nothing_wherever_it_is(void **state) {
    (void)state;
    scene s = open_scene();
    taint(&s, 20, 40, s.a);
    const uint64_t places[] = {0, 20, 30, 40, 100, 101, UINT64_MAX};
    for (size_t i = 0; i < COUNT_OF(places); i++) {
        taint(&s, places[i], places[i], s.b);
        written(&s, places[i], places[i]);
        assert_null(acre_manager_get_failure(s.r.manager, s.handle, places[i], places[i]));
    }
    assert_claims(&s, "..aa......");
    assert_int_equal(ranges_of(s.a), 1);
    assert_int_equal(ranges_of(s.b), 0);
    close_scene(&s);
}

static void a_range_reversed_or_past_the_end_is_refused_and_changes_nothing(void **state) {
    (void)state;
    scene s = open_scene();
    taint(&s, 20, 40, s.a);
    taint(&s, 90, 100, s.b);
    const uint64_t ranges[][2] = {{30, 29},   {100, 0},   {UINT64_MAX, 0},
                                  {0, 101},   {0, 128},   {99, UINT64_MAX},
                                  {101, 102}, {100, 101}, {UINT64_MAX - 1, UINT64_MAX}};
    for (size_t i = 0; i < COUNT_OF(ranges); i++) {
        uint64_t start = ranges[i][0];
        uint64_t end = ranges[i][1];
        acre_error error = ACRE_ERROR_INIT;
        assert_status(ACRE_INVALID_ARGUMENT,
                      acre_manager_taint(s.r.manager, s.handle, start, end, s.b, &error));
        assert_int_equal(error.status, ACRE_INVALID_ARGUMENT);
        assert_true(error.detail[0] != '\0');
        assert_status(ACRE_INVALID_ARGUMENT,
                      acre_manager_written(s.r.manager, s.handle, start, end, NULL));
    }
    assert_claims(&s, "..aa.....b");
    // A question has an answer: nobody claims such bytes.
    assert_null(acre_manager_get_failure(s.r.manager, s.handle, 30, 29));
    assert_null(acre_manager_get_failure(s.r.manager, s.handle, 100, UINT64_MAX));
    assert_ptr_equal(acre_manager_get_failure(s.r.manager, s.handle, 50, UINT64_MAX), s.b);
    assert_status(ACRE_INVALID_ARGUMENT,
                  acre_manager_taint(s.r.manager, s.handle, 0, 10, NULL, NULL));
    close_scene(&s);
}

static void a_handle_that_names_no_allocation_has_no_claims_and_no_error(void **state) {
    (void)state;
    scene s = open_scene();
    acre_manager *m = s.r.manager;
    scene other = open_scene();
    acre_handle *stale = take(m, 100);
    acre_handle *assigned = NULL;
    acre_handle *unset = NULL;
    acre_handle *loose = NULL;
    assert_ok(acre_manager_handle_create(m, &assigned, NULL));
    assert_ok(acre_manager_handle_create(m, &unset, NULL));
    assert_ok(acre_handle_create(NULL, &loose, NULL));
    assert_ok(acre_manager_bind(m, stale, assigned, 1, NULL));
    assert_ok(acre_manager_taint(m, assigned, 0, 100, s.b, NULL));
    taint(&other, 0, 100, s.a);
    acre_handle *unknown[] = {NULL, unset, loose, stale, other.handle};
    for (size_t i = 0; i < COUNT_OF(unknown); i++) {
        const uint64_t ranges[][2] = {{0, 100}, {100, 0}, {0, UINT64_MAX}};
        for (size_t k = 0; k < COUNT_OF(ranges); k++) {
            uint64_t start = ranges[k][0];
            uint64_t end = ranges[k][1];
            assert_ok(acre_manager_taint(m, unknown[i], start, end, s.a, NULL));
            assert_ok(acre_manager_written(m, unknown[i], start, end, NULL));
            assert_null(acre_manager_get_failure(m, unknown[i], start, end));
        }
    }
    assert_claims(&s, "..........");
    assert_int_equal(ranges_of(s.a), 1); // the other manager's
    assert_ptr_equal(acre_manager_get_failure(m, assigned, 0, 100), s.b);
    acre_handle *all[] = {stale, assigned, unset, loose};
    drop_all(m, all, COUNT_OF(all));
    close_scene(&other);
    close_scene(&s);
}

static void an_allocation_without_bytes_has_none_to_claim(void **state) {
    (void)state;
    acre_pool_options pools[] = {exclusive_pool(0), sliced_pool(MIB, ACRE_UNSET, ACRE_UNSET)};
    rig r = rig_pools(pools, 2);
    acre_failure *failure = failure_named("a");
    acre_handle *handle = take(r.manager, 0);
    assert_ok(acre_manager_taint(r.manager, handle, 0, 0, failure, NULL));
    assert_status(ACRE_INVALID_ARGUMENT,
                  acre_manager_taint(r.manager, handle, 0, 1, failure, NULL));
    assert_ok(acre_manager_written(r.manager, handle, 0, 0, NULL));
    assert_null(acre_manager_get_failure(r.manager, handle, 0, UINT64_MAX));
    acre_manager_release(r.manager, handle);
    acre_failure_release(failure);
    rig_close(&r);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_allocation_is_claimed_by_nobody_at_first),
        cmocka_unit_test(a_taint_claims_exactly_its_half_open_range),
        cmocka_unit_test(a_taint_replaces_other_failures_claims_on_those_bytes_alone),
        cmocka_unit_test(touching_ranges_of_one_failure_become_one),
        cmocka_unit_test(touching_ranges_of_two_failures_stay_two),
        cmocka_unit_test(a_write_releases_exactly_its_bytes_and_splits_what_reaches_beyond),
        cmocka_unit_test(the_failure_of_a_range_is_the_first_that_claims_any_of_it),
        cmocka_unit_test(what_reads_tainted_bytes_fails_with_a_failure_caused_by_theirs),
        cmocka_unit_test(the_check_of_claims_sees_what_is_wrong),
        cmocka_unit_test(an_empty_range_does_nothing_wherever_it_is),
        cmocka_unit_test(a_range_reversed_or_past_the_end_is_refused_and_changes_nothing),
        cmocka_unit_test(a_handle_that_names_no_allocation_has_no_claims_and_no_error),
        cmocka_unit_test(an_allocation_without_bytes_has_none_to_claim),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
