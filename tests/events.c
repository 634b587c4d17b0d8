// The event hook of a manager: what it tells a recorder, and in which order.
#include "support.h"

typedef struct tape {
    acre_event events[256];
    size_t count;
} tape;

static void record(void *context, const acre_event *event) {
    tape *t = context;
    assert_true(t->count < COUNT_OF(t->events));
    assert_true(event->struct_size >= sizeof(acre_event));
    t->events[t->count++] = *event;
}

static rig taped_rig(tape *t, uint32_t mask, acre_storage *storage) {
    static acre_pool_options pools[2];
    pools[0] = sliced_pool(4096, ACRE_UNSET, ACRE_UNSET);
    pools[1] = direct_pool(ACRE_UNSET);
    acre_layout layout = explicit_layout(pools, 2);
    acre_manager_options options = plain_options(128 * MIB, 32);
    options.layout = &layout;
    options.event = record;
    options.event_context = t;
    options.event_mask = mask;
    return rig_on(storage, &options);
}

static void assert_event(const tape *t, size_t at, acre_event_kind kind, uint64_t size) {
    assert_true(at < t->count);
    assert_int_equal(t->events[at].kind, kind);
    assert_int_equal(t->events[at].size, size);
}

static void every_step_is_told_in_order(void **state) {
    (void)state;
    tape t = {.count = 0};
    rig r = taped_rig(&t, 0, simulated_device());
    acre_handle *a = take(r.manager, 1000);
    assert_event(&t, 0, ACRE_EVENT_PAGE_ADD, 4096);
    assert_event(&t, 1, ACRE_EVENT_RESERVE, 1000);
    acre_handle *b = take(r.manager, 500);
    assert_event(&t, 2, ACRE_EVENT_RESERVE, 500);
    assert_int_not_equal(t.events[1].allocation, t.events[2].allocation);
    acre_manager_release(r.manager, a);
    assert_event(&t, 3, ACRE_EVENT_FREE, 1000);
    assert_int_equal(t.events[3].allocation, t.events[1].allocation);
    acre_handle_release(b);
    assert_int_equal(t.count, 4);
    acre_manager_cleanup(r.manager, ACRE_CLEANUP_EXPLICIT);
    assert_event(&t, 4, ACRE_EVENT_FREE, 500);
    assert_event(&t, 5, ACRE_EVENT_PAGE_RETURN, 4096);
    assert_int_equal(t.count, 6);
    rig_close(&r);
}

static void refusals_are_told_with_tag_and_stream(void **state) {
    (void)state;
    tape t = {.count = 0};
    rig r = taped_rig(&t, ACRE_EVENT_RESERVE | ACRE_EVENT_REFUSE, limited_device(8192, 0));
    acre_reservation reservation = ACRE_RESERVATION_INIT(100000);
    reservation.tag = 7;
    reservation.stream = UINT64_C(0x7f0012345678);
    acre_handle *handle = NULL;
    assert_status(ACRE_OUT_OF_MEMORY,
                  acre_manager_reserve_with(r.manager, &reservation, &handle, NULL));
    assert_int_equal(t.count, 1);
    assert_event(&t, 0, ACRE_EVENT_REFUSE, 100000);
    assert_int_equal(t.events[0].tag, 7);
    assert_int_equal(t.events[0].stream, UINT64_C(0x7f0012345678));
    reservation.size = 100;
    assert_ok(acre_manager_reserve_with(r.manager, &reservation, &handle, NULL));
    assert_event(&t, 1, ACRE_EVENT_RESERVE, 100);
    assert_int_equal(t.events[1].tag, 7);
    assert_int_equal(t.events[1].stream, UINT64_C(0x7f0012345678));
    acre_manager_release(r.manager, handle);
    assert_int_equal(t.count, 2); // the mask keeps the rest out
    rig_close(&r);
}

static void every_error_of_a_reservation_is_a_refusal(void **state) {
    (void)state;
    tape t = {.count = 0};
    rig r = taped_rig(&t, ACRE_EVENT_REFUSE, simulated_device());
    (void)refuse(r.manager, 129 * MIB, ACRE_BUFFER_TOO_BIG);
    (void)refuse_with(r.manager, 64, 0, ACRE_PAGES_FORBIDDEN, ACRE_PAGE_UPDATE_FORBIDDEN);
    assert_int_equal(t.count, 2);
    assert_event(&t, 0, ACRE_EVENT_REFUSE, 129 * MIB);
    assert_event(&t, 1, ACRE_EVENT_REFUSE, 64);
    rig_close(&r);
}

static void a_bind_does_not_change_the_allocations_name(void **state) {
    (void)state;
    tape t = {.count = 0};
    rig r = taped_rig(&t, ACRE_EVENT_RESERVE | ACRE_EVENT_FREE, simulated_device());
    acre_handle *h[2] = {take(r.manager, 1000), NULL};
    assert_ok(acre_manager_handle_create(r.manager, &h[1], NULL));
    assert_ok(acre_manager_bind(r.manager, h[0], h[1], 1, NULL));
    drop_all(r.manager, h, 2);
    assert_int_equal(t.count, 2);
    assert_event(&t, 1, ACRE_EVENT_FREE, 1000);
    assert_int_equal(t.events[0].allocation, t.events[1].allocation);
    rig_close(&r);
}

// A recorder that pairs reservations and frees by name sees every live allocation exactly once.
static void names_are_unique_among_the_living(void **state) {
    (void)state;
    tape t = {.count = 0};
    rig r = taped_rig(&t, ACRE_EVENT_RESERVE | ACRE_EVENT_FREE, simulated_device());
    acre_handle *h[16] = {NULL};
    for (uint64_t i = 0; i < 100; i++) {
        acre_manager_release(r.manager, h[(i * 7) % 16]);
        h[(i * 7) % 16] = take(r.manager, i * 61);
    }
    uint32_t living[16];
    size_t count = 0;
    for (size_t i = 0; i < t.count; i++) {
        size_t at = 0;
        while (at < count && living[at] != t.events[i].allocation) {
            at++;
        }
        if (t.events[i].kind == ACRE_EVENT_RESERVE) {
            assert_int_equal(at, count);
            assert_true(count < 16);
            living[count++] = t.events[i].allocation;
        } else {
            assert_true(at < count);
            living[at] = living[--count];
        }
    }
    assert_int_equal(count, usage_of(r.manager).allocations);
    drop_all(r.manager, h, 16);
    rig_close(&r);
}

static void a_release_on_the_managers_thread_frees_before_it_returns(void **state) {
    (void)state;
    tape t = {.count = 0};
    rig r = taped_rig(&t, ACRE_EVENT_FREE, simulated_device());
    acre_handle *h[3] = {take(r.manager, 100), take(r.manager, 200), NULL};
    assert_ok(acre_handle_create(NULL, &h[2], NULL));
    assert_ok(acre_manager_bind(r.manager, h[1], h[2], 1, NULL));
    acre_manager_release(r.manager, h[0]);
    assert_event(&t, 0, ACRE_EVENT_FREE, 100);
    acre_manager_release(r.manager, h[2]); // one made from hooks
    assert_event(&t, 1, ACRE_EVENT_FREE, 200);
    acre_manager_release(r.manager, h[1]); // stale
    assert_int_equal(t.count, 2);
    rig_close(&r);
}

static void every_refusal_is_told_also_of_what_was_never_asked_of_a_pool(void **state) {
    (void)state;
    tape t = {.count = 0};
    rig r = taped_rig(&t, ACRE_EVENT_REFUSE, simulated_device());
    (void)refuse_with(r.manager, 100, UINT64_C(1) << 40, ACRE_PAGES_ALLOW, ACRE_UNSUPPORTED);
    assert_event(&t, 0, ACRE_EVENT_REFUSE, 100);
    (void)refuse_with(r.manager, 200, 0, (acre_page_update)7, ACRE_INVALID_ARGUMENT);
    assert_event(&t, 1, ACRE_EVENT_REFUSE, 200);
    assert_int_equal(t.count, 2);
    rig_close(&r);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_refusal_is_told_also_of_what_was_never_asked_of_a_pool),
        cmocka_unit_test(every_step_is_told_in_order),
        cmocka_unit_test(refusals_are_told_with_tag_and_stream),
        cmocka_unit_test(every_error_of_a_reservation_is_a_refusal),
        cmocka_unit_test(a_bind_does_not_change_the_allocations_name),
        cmocka_unit_test(a_release_on_the_managers_thread_frees_before_it_returns),
        cmocka_unit_test(names_are_unique_among_the_living),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
