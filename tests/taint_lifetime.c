// Section 10: how long claims live. Until the allocation is freed, given away by a bind or taken
// down with its manager. (relocation_random has those that a relocation carries.) And claims when
// host memory runs out.
#include "support.h"

#include "failure/failure.h"

static acre_failure *failure_from(const acre_host_hooks *hooks) {
    acre_failure_params params = ACRE_FAILURE_PARAMS_INIT;
    params.message = "failure";
    acre_failure *failure = NULL;
    assert_ok(acre_failure_create(&params, hooks, &failure, NULL));
    return failure;
}

static rig plain_rig(void) {
    acre_pool_options pool = sliced_pool(MIB, ACRE_UNSET, ACRE_UNSET);
    return rig_pools(&pool, 1);
}

// A plain rig whose manager has the probe's hooks.
static rig probed_rig(host_probe *probe) {
    acre_host_hooks hooks = host_probe_hooks(probe);
    acre_pool_options pool = sliced_pool(MIB, ACRE_UNSET, ACRE_UNSET);
    acre_layout layout = explicit_layout(&pool, 1);
    acre_manager_options options = plain_options(128 * MIB, 32);
    options.layout = &layout;
    options.hooks = &hooks;
    return rig_on(simulated_device(), &options);
}

static void taint(acre_manager *manager, const acre_handle *handle, uint64_t start, uint64_t end,
                  acre_failure *failure) {
    assert_ok(acre_manager_taint(manager, handle, start, end, failure, NULL));
}

// The failure of its first claimed byte.
static acre_failure *failure_in(acre_manager *manager, const acre_handle *handle) {
    return acre_manager_get_failure(manager, handle, 0, UINT64_MAX);
}

static uint64_t references(const acre_failure *failure) {
    return failure->references;
}

static void room_used_again_is_claimed_by_nobody(void **state) {
    (void)state;
    rig r = plain_rig();
    acre_failure *failure = failure_from(NULL);
    for (int elsewhere = 0; elsewhere < 2; elsewhere++) {
        acre_handle *first = take(r.manager, 1000);
        acre_place place = place_of(r.manager, first);
        taint(r.manager, first, 0, 1000, failure);
        assert_int_equal(references(failure), 2);
        if (elsewhere) {
            acre_handle_release(first); // takes effect at the next operation
            check(r.manager);
        } else {
            acre_manager_release(r.manager, first);
        }
        assert_int_equal(references(failure), 1); // at once, not when the room is used
        acre_handle *second = take(r.manager, 1000);
        assert_true(same_place(place_of(r.manager, second), place));
        assert_null(failure_in(r.manager, second));
        acre_manager_release(r.manager, second);
    }
    acre_failure_release(failure);
    rig_close(&r);
}

static void claims_last_while_an_owner_or_a_binding_does(void **state) {
    (void)state;
    rig r = plain_rig();
    acre_failure *failure = failure_from(NULL);
    acre_handle *handle = take(r.manager, 1000);
    acre_handle *other = acre_handle_retain(handle);
    taint(r.manager, handle, 500, 600, failure);
    acre_manager_release(r.manager, handle);
    acre_binding *use = acre_handle_binding(other);
    acre_manager_release(r.manager, other);
    acre_manager_cleanup(r.manager, ACRE_CLEANUP_EXPLICIT);
    assert_ptr_equal(failure_in(r.manager, acre_binding_handle(use)), failure);
    check(r.manager);
    acre_binding_release(use);
    check(r.manager);
    assert_int_equal(references(failure), 1);
    acre_failure_release(failure);
    rig_close(&r);
}

static void a_bind_clears_claims_and_the_new_handle_can_be_tainted(void **state) {
    (void)state;
    rig r = plain_rig();
    acre_failure *failure = failure_from(NULL);
    acre_handle *bystander = take(r.manager, 100);
    taint(r.manager, bystander, 0, 100, failure);
    for (int from_hooks = 0; from_hooks < 2; from_hooks++) {
        acre_handle *assigned = NULL;
        if (from_hooks) {
            assert_ok(acre_handle_create(NULL, &assigned, NULL));
        } else {
            assert_ok(acre_manager_handle_create(r.manager, &assigned, NULL));
        }
        acre_handle *reserved = take(r.manager, 1000);
        taint(r.manager, reserved, 0, 10, failure);
        taint(r.manager, reserved, 990, 1000, failure);
        assert_ok(acre_manager_bind(r.manager, reserved, assigned, 1, NULL));
        assert_null(failure_in(r.manager, assigned));
        assert_null(failure_in(r.manager, reserved));
        assert_int_equal(references(failure), 2);
        taint(r.manager, assigned, 999, 1000, failure);
        assert_ptr_equal(failure_in(r.manager, assigned), failure);
        check(r.manager);
        acre_manager_release(r.manager, assigned);
        acre_manager_release(r.manager, reserved);
        check(r.manager);
        assert_int_equal(references(failure), 2);
    }
    assert_ptr_equal(failure_in(r.manager, bystander), failure);
    acre_manager_release(r.manager, bystander);
    acre_failure_release(failure);
    rig_close(&r);
}

static void a_refused_bind_leaves_claims_as_they_are(void **state) {
    (void)state;
    rig r = plain_rig();
    acre_failure *failure = failure_from(NULL);
    acre_handle *h[2] = {take(r.manager, 1000), take(r.manager, 1000)};
    taint(r.manager, h[0], 0, 1000, failure);
    assert_status(ACRE_INVALID_ARGUMENT, acre_manager_bind(r.manager, h[0], h[1], 1, NULL));
    assert_ptr_equal(failure_in(r.manager, h[0]), failure);
    drop_all(r.manager, h, 2);
    acre_failure_release(failure);
    rig_close(&r);
}

static void allocations_of_every_pool_can_be_tainted(void **state) {
    (void)state;
    const acre_mode modes[] = {ACRE_MODE_AUTO, ACRE_MODE_PERSISTENT, ACRE_MODE_DEDICATED};
    const acre_pool_options pools[] = {sliced_pool(MIB, ACRE_UNSET, ACRE_UNSET),
                                       exclusive_pool(MIB), direct_pool(ACRE_UNSET)};
    acre_failure *failure = failure_from(NULL);
    for (size_t i = 0; i < COUNT_OF(modes) * COUNT_OF(pools); i++) {
        rig r = rig_pools(&pools[i % 3], 1);
        set_mode(r.manager, modes[i / 3]);
        acre_handle *h[2] = {take(r.manager, 1000), take(r.manager, 1000)};
        taint(r.manager, h[0], 0, 1000, failure);
        assert_ok(acre_manager_written(r.manager, h[0], 1, 999, NULL));
        check(r.manager);
        assert_ptr_equal(acre_manager_get_failure(r.manager, h[0], 0, 1), failure);
        assert_null(acre_manager_get_failure(r.manager, h[0], 1, 999));
        assert_null(failure_in(r.manager, h[1]));
        drop_all(r.manager, h, 2);
        assert_int_equal(references(failure), 1);
        rig_close(&r);
    }
    acre_failure_release(failure);
}

static void a_guard_keeps_room_but_no_claims_of_what_is_freed(void **state) {
    (void)state;
    rig r = plain_rig();
    acre_failure *failure = failure_from(NULL);
    acre_handle *handle = take(r.manager, 1000);
    acre_guard *guard = NULL;
    taint(r.manager, handle, 0, 1000, failure);
    assert_ok(acre_manager_guard(r.manager, handle, &guard, NULL));
    assert_ptr_equal(failure_in(r.manager, handle), failure);
    acre_manager_release(r.manager, handle);
    check(r.manager);
    assert_int_equal(references(failure), 1);
    acre_guard_release(guard);
    acre_failure_release(failure);
    rig_close(&r);
}

static void claims_on_a_lazy_page_do_not_back_it_and_stay_when_it_is_backed(void **state) {
    (void)state;
    rig r = plain_rig();
    acre_failure *failure = failure_from(NULL);
    acre_dry_run_begin();
    acre_handle *handle = take(r.manager, 1000);
    acre_dry_run_end();
    taint(r.manager, handle, 0, 1000, failure);
    assert_ok(acre_manager_written(r.manager, handle, 0, 500, NULL));
    assert_ptr_equal(failure_in(r.manager, handle), failure);
    assert_int_equal(device_calls(r.storage), 0);
    acre_resource resource = ACRE_RESOURCE_INIT;
    assert_ok(acre_manager_resolve(r.manager, handle, 0, 0, &resource, NULL));
    assert_int_equal(device_calls(r.storage), 1);
    assert_ptr_equal(acre_manager_get_failure(r.manager, handle, 500, 501), failure);
    assert_null(acre_manager_get_failure(r.manager, handle, 0, 500));
    acre_manager_release(r.manager, handle);
    acre_failure_release(failure);
    rig_close(&r);
}

static void a_failure_outlives_the_manager_whose_claims_go_with_it(void **state) {
    (void)state;
    host_probe *probe = host_probe_create();
    acre_host_hooks hooks = host_probe_hooks(probe);
    acre_failure *kept = failure_from(&hooks);
    acre_failure *claimed = failure_from(&hooks);
    rig r = plain_rig();
    acre_handle *h[50];
    for (size_t i = 0; i < COUNT_OF(h); i++) {
        h[i] = take(r.manager, 1000);
        taint(r.manager, h[i], 0, 500, kept);
        taint(r.manager, h[i], 500, 1000, claimed);
    }
    acre_failure_release(claimed); // the ranges alone hold it now
    assert_int_equal(host_probe_blocks(probe), 2);
    rig_close(&r); // the handles live on
    assert_int_equal(host_probe_blocks(probe), 1);
    assert_int_equal(references(kept), 1);
    assert_string_equal(acre_failure_get_message(kept), "failure");
    for (size_t i = 0; i < COUNT_OF(h); i++) {
        acre_handle_release(h[i]);
    }
    acre_failure_release(kept);
    host_probe_destroy(probe);
}

static void a_failure_goes_with_the_last_range_that_claims(void **state) {
    (void)state;
    host_probe *probe = host_probe_create();
    acre_host_hooks hooks = host_probe_hooks(probe);
    rig r = plain_rig();
    acre_handle *handle = take(r.manager, 1000);
    acre_failure *failure = failure_from(&hooks);
    taint(r.manager, handle, 0, 1000, failure);
    acre_failure_release(failure);
    assert_ok(acre_manager_written(r.manager, handle, 1, 1000, NULL));
    assert_int_equal(host_probe_blocks(probe), 1);
    assert_ok(acre_manager_written(r.manager, handle, 0, 1, NULL));
    assert_int_equal(host_probe_blocks(probe), 0);
    failure = failure_from(&hooks);
    taint(r.manager, handle, 0, 1000, failure);
    taint(r.manager, handle, 0, 1000, failure); // by itself: it must not go in between
    acre_failure_release(failure);
    assert_ptr_equal(failure_in(r.manager, handle), failure);
    acre_manager_release(r.manager, handle);
    rig_close(&r);
    host_probe_destroy(probe);
}

enum {
    MANY = 20000
};

static void many_tainted_allocations_are_kept_apart_and_leave_no_memory_behind(void **state) {
    (void)state;
    static acre_handle *h[MANY];
    rig r = plain_rig();
    acre_failure *failures[2] = {failure_from(NULL), failure_from(NULL)};
    for (size_t i = 0; i < MANY; i++) {
        h[i] = take(r.manager, 64);
    }
    uint64_t before = report_of(r.manager).host_bytes;
    for (uint64_t i = 0; i < MANY; i += 2) {
        taint(r.manager, h[i], i % 64, i % 64 + 1, failures[i / 2 % 2]);
    }
    check(r.manager);
    assert_true(report_of(r.manager).host_bytes > before);
    for (uint64_t i = 0; i < MANY; i++) {
        acre_failure *expected = i % 2 == 0 ? failures[i / 2 % 2] : NULL;
        assert_ptr_equal(failure_in(r.manager, h[i]), expected);
    }
    for (size_t i = 0; i < MANY; i++) { // in another order
        size_t k = i * 7919 % MANY;
        assert_ok(acre_manager_written(r.manager, h[k], 0, 64, NULL));
        if (i % 1000 == 0) {
            check(r.manager);
        }
    }
    assert_int_equal(report_of(r.manager).host_bytes, before);
    assert_int_equal(references(failures[0]) + references(failures[1]), 2);
    drop_all(r.manager, h, MANY);
    acre_failure_release(failures[0]);
    acre_failure_release(failures[1]);
    rig_close(&r);
}

// ---- no host memory ------------------------------------------------------------------------

// A taint or a write of a fixed script. Enough allocations and ranges that the table and a list
// both grow.
static acre_status step(acre_manager *manager, acre_handle **h, acre_failure *failure, uint64_t i) {
    if (i < 40) {
        return acre_manager_taint(manager, h[i], 0, 1000, failure, NULL);
    }
    uint64_t at = (i - 40) * 20 + 10;
    return acre_manager_written(manager, h[7], at, at + 10, NULL);
}

static void a_taint_or_write_without_host_memory_changes_nothing(void **state) {
    (void)state;
    uint64_t met = 0;
    for (uint64_t n = 1; n < 4; n++) {
        host_probe *probe = host_probe_create();
        rig r = probed_rig(probe);
        acre_handle *h[40];
        for (size_t i = 0; i < 40; i++) {
            h[i] = take(r.manager, 1000);
        }
        acre_failure *failure = failure_from(NULL);
        for (uint64_t i = 0; i < 80; i++) {
            uint64_t claims = references(failure);
            uint64_t bytes = host_probe_bytes(probe);
            host_probe_fail(probe, n, true);
            acre_status status = step(r.manager, h, failure, i);
            if (host_probe_failed(probe)) {
                met++;
                assert_status(ACRE_OUT_OF_HOST_MEMORY, status);
                assert_int_equal(references(failure), claims);
                assert_int_equal(host_probe_bytes(probe), bytes);
                check(r.manager);
                if (i < 40) {
                    assert_null(failure_in(r.manager, h[i]));
                }
                host_probe_fail(probe, 0, false);
                status = step(r.manager, h, failure, i);
            }
            assert_ok(status);
            assert_int_equal(references(failure), claims + 1);
        }
        host_probe_fail(probe, 1, true); // what lets claims go needs no memory
        assert_ok(acre_manager_written(r.manager, h[0], 0, 1000, NULL));
        drop_all(r.manager, h, 40);
        assert_false(host_probe_failed(probe));
        assert_int_equal(references(failure), 1);
        acre_failure_release(failure);
        rig_close(&r);
        host_probe_destroy(probe);
    }
    assert_true(met > 40);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(room_used_again_is_claimed_by_nobody),
        cmocka_unit_test(claims_last_while_an_owner_or_a_binding_does),
        cmocka_unit_test(a_bind_clears_claims_and_the_new_handle_can_be_tainted),
        cmocka_unit_test(a_refused_bind_leaves_claims_as_they_are),
        cmocka_unit_test(allocations_of_every_pool_can_be_tainted),
        cmocka_unit_test(a_guard_keeps_room_but_no_claims_of_what_is_freed),
        cmocka_unit_test(claims_on_a_lazy_page_do_not_back_it_and_stay_when_it_is_backed),
        cmocka_unit_test(a_failure_outlives_the_manager_whose_claims_go_with_it),
        cmocka_unit_test(a_failure_goes_with_the_last_range_that_claims),
        cmocka_unit_test(many_tainted_allocations_are_kept_apart_and_leave_no_memory_behind),
        cmocka_unit_test(a_taint_or_write_without_host_memory_changes_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
