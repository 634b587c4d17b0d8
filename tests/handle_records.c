// Records of handles between their last release and the manager's thread, which takes them.
#include "pool/handle.h"
#include "support.h"

static acre_home *make_home(void) {
    acre_host host;
    assert_int_equal(ACRE_OK, acre_host_init(&host, NULL, &(acre_error){0}));
    acre_home *home = acre_home_create(&host);
    assert_non_null(home);
    assert_true(acre_slab_prepare(&home->handles, 3));
    return home;
}

static acre_handle *take_record(acre_home *home) {
    uint32_t name;
    return acre_handle_take(home, &name, 1);
}

static void records_are_taken_in_the_order_of_their_releases(void **state) {
    (void)state;
    acre_home *home = make_home();
    acre_handle *one = take_record(home);
    acre_handle *two = take_record(home);
    acre_handle_retain(one);
    acre_handle_release(one); // not the last
    assert_false(acre_home_has_pending(home));
    acre_handle_release(two);
    acre_handle_release(one);
    uint32_t name = acre_home_take_pending(home);
    assert_int_equal(name, acre_handle_name(two));
    assert_int_equal(two->link, acre_handle_name(one));
    assert_int_equal(one->link, 0);
    assert_true(acre_handle_end_pending(two));
    assert_true(acre_handle_end_pending(one));
    acre_handle_give(home, one);
    acre_handle_give(home, two);
    acre_home_close(home);
}

static void a_pin_after_the_last_release_keeps_the_record_until_it_ends(void **state) {
    (void)state;
    acre_home *home = make_home();
    acre_handle *record = take_record(home);
    acre_handle_release(record);
    uint32_t bindings;
    assert_true(acre_handle_pin(record, &bindings)); // not taken yet
    assert_int_equal(bindings, 0);
    assert_int_equal(acre_home_take_pending(home), acre_handle_name(record));
    assert_false(acre_handle_end_pending(record));
    assert_false(acre_home_has_pending(home));
    acre_binding_release((acre_binding *)record);
    assert_int_equal(acre_home_take_pending(home), acre_handle_name(record));
    assert_true(acre_handle_end_pending(record));
    assert_false(acre_handle_pin(record, &bindings));
    acre_handle_give(home, record);
    acre_home_close(home);
}

static void a_binding_that_ends_before_the_record_is_taken_does_not_push_it_again(void **state) {
    (void)state;
    acre_home *home = make_home();
    acre_handle *record = take_record(home);
    acre_handle_release(record);
    uint32_t bindings;
    assert_true(acre_handle_pin(record, &bindings));
    acre_binding_release((acre_binding *)record);
    assert_int_equal(acre_home_take_pending(home), acre_handle_name(record));
    assert_int_equal(record->link, 0);
    assert_true(acre_handle_end_pending(record));
    assert_false(acre_home_has_pending(home));
    acre_handle_give(home, record);
    acre_home_close(home);
}

static void closing_counts_what_is_pending_and_what_a_pin_holds(void **state) {
    (void)state;
    acre_home *home = make_home();
    acre_handle *pinned = take_record(home);
    acre_handle *pending = take_record(home);
    acre_handle *held = take_record(home);
    uint32_t bindings;
    acre_handle_release(pinned);
    assert_true(acre_handle_pin(pinned, &bindings));
    acre_handle_release(pending);
    acre_home_close(home); // two are left, the last of which frees the home: see the sanitizer
    acre_handle_release(held);
    acre_binding_release((acre_binding *)pinned);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(records_are_taken_in_the_order_of_their_releases),
        cmocka_unit_test(a_pin_after_the_last_release_keeps_the_record_until_it_ends),
        cmocka_unit_test(a_binding_that_ends_before_the_record_is_taken_does_not_push_it_again),
        cmocka_unit_test(closing_counts_what_is_pending_and_what_a_pin_holds),
    };
    return cmocka_run_group_tests_name("handle_records", tests, NULL, NULL);
}
