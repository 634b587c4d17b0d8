// The bytes behind resources: written, read back, added to by a kernel, and nobody else's.
#include "suite.h"

static void bytes_read_back_as_written_and_no_two_allocations_share_any(void **state) {
    enum {
        LIVE = 100
    };
    const subject *about = *state;
    rig r = suite_rig(about);
    filled all[LIVE];
    for (uint32_t i = 0; i < LIVE; i++) {
        all[i] = take_filled(about, &r, 1 + (i * 7919) % 20000, i);
        if (i % 3 == 2) { // holes, so that rooms are used again
            acre_manager_release(r.manager, all[i - 1].handle);
            all[i - 1] = take_filled(about, &r, all[i - 1].size / 2 + 1, 1000 + i);
        }
    }
    for (uint32_t i = 0; i < LIVE; i++) {
        check_filled(about, &r, &all[i]);
        acre_manager_release(r.manager, all[i].handle);
    }
    rig_close(&r);
}

static void a_large_allocation_keeps_every_byte(void **state) {
    const subject *about = *state;
    rig r = suite_rig(about);
    filled large = take_filled(about, &r, LARGEST - 3, 7);
    filled beside = take_filled(about, &r, LARGEST - 1, 8);
    check_filled(about, &r, &large);
    check_filled(about, &r, &beside);
    acre_manager_release(r.manager, large.handle);
    acre_manager_release(r.manager, beside.handle);
    rig_close(&r);
}

// The front and the back of an allocation, each resolved on its own, are parts of the whole.
static void a_resource_narrowed_by_offsets_is_that_part_of_the_whole(void **state) {
    const subject *about = *state;
    rig r = suite_rig(about);
    filled before = take_filled(about, &r, 1001, 1);
    filled whole = take_filled(about, &r, 40000, 2);
    acre_resource inner = ACRE_RESOURCE_INIT;
    assert_ok(acre_manager_resolve(r.manager, whole.handle, 4004, 6000, &inner, NULL));
    assert_int_equal(inner.size, 40000 - 4004 - 6000);
    if (!about->no_bytes) {
        uint32_t *words = malloc(inner.size);
        assert_non_null(words);
        assert_ok(acre_storage_read(r.storage, &inner, words, NULL));
        for (uint64_t i = 0; i < inner.size / 4; i++) {
            assert_int_equal(words[i], pattern_word(2, 1001 + i));
        }
        memset(words, 0x5a, inner.size);
        assert_ok(acre_storage_write(r.storage, &inner, words, NULL));
        unsigned char *bytes = malloc(whole.size);
        assert_non_null(bytes);
        acre_resource all = resolve(r.manager, whole.handle);
        assert_ok(acre_storage_read(r.storage, &all, bytes, NULL));
        for (uint64_t i = 0; i < whole.size; i++) {
            uint32_t word = pattern_word(2, i / 4);
            bool inside = i >= 4004 && i < whole.size - 6000;
            assert_int_equal(bytes[i], inside ? 0x5a : ((const unsigned char *)&word)[i % 4]);
        }
        free(bytes);
        free(words);
    }
    acre_error error = ACRE_ERROR_INIT;
    assert_status(ACRE_INVALID_ARGUMENT,
                  acre_manager_resolve(r.manager, whole.handle, 30000, 10001, &inner, &error));
    check_filled(about, &r, &before);
    acre_manager_release(r.manager, before.handle);
    acre_manager_release(r.manager, whole.handle);
    rig_close(&r);
}

static void no_bytes_given_is_an_error_that_says_so(void **state) {
    const subject *about = *state;
    rig r = suite_rig(about);
    acre_handle *handle = take(r.manager, 100);
    acre_resource resource = resolve(r.manager, handle);
    acre_error error = ACRE_ERROR_INIT;
    acre_status expected = about->no_bytes ? ACRE_UNSUPPORTED : ACRE_INVALID_ARGUMENT;
    assert_status(expected, acre_storage_write(r.storage, &resource, NULL, &error));
    assert_true(strlen(error.detail) > 0);
    assert_status(expected, acre_storage_read(r.storage, &resource, NULL, NULL));
    acre_manager_release(r.manager, handle);
    rig_close(&r);
}

static void a_kernel_on_a_slice_at_an_odd_offset_changes_that_slice_alone(void **state) {
    const subject *about = *state;
    if (about->add == NULL) {
        return; // its subject says so: there are no kernels
    }
    rig r = suite_rig(about);
    // Each takes an odd number of alignments of one page, so every second one starts at an odd
    // number of them.
    acre_storage_limits limits = ACRE_STORAGE_LIMITS_INIT;
    acre_storage_limits_get(r.storage, &limits);
    uint64_t alignment = limits.slice_alignment;
    uint64_t size = (1000 / alignment | 1) * alignment;
    filled all[5];
    for (uint32_t i = 0; i < COUNT_OF(all); i++) {
        all[i] = take_filled(about, &r, size - (alignment > 4 ? 4 : 0), i + 1);
    }
    assert_int_equal(place_of(r.manager, all[1].handle).offset / alignment % 2, 1);
    for (uint32_t i = 1; i < COUNT_OF(all); i += 2) {
        acre_resource resource = resolve(r.manager, all[i].handle);
        about->add(r.storage, &resource, 5 + i, true);
    }
    for (uint32_t i = 0; i < COUNT_OF(all); i++) {
        acre_resource resource = resolve(r.manager, all[i].handle);
        check_resource(about, r.storage, &resource, all[i].seed, i % 2 == 1 ? 5 + i : 0);
        acre_manager_release(r.manager, all[i].handle);
    }
    rig_close(&r);
}

static void a_kernel_on_a_narrowed_resource_changes_that_part_alone(void **state) {
    const subject *about = *state;
    if (about->add == NULL) {
        return;
    }
    rig r = suite_rig(about);
    acre_storage_limits limits = ACRE_STORAGE_LIMITS_INIT;
    acre_storage_limits_get(r.storage, &limits);
    uint64_t skip = round_up(limits.slice_alignment, 4); // where a kernel may start
    uint64_t size = 3 * skip + 4000;
    filled whole = take_filled(about, &r, size, 3);
    acre_resource inner = ACRE_RESOURCE_INIT;
    assert_ok(acre_manager_resolve(r.manager, whole.handle, skip, 8, &inner, NULL));
    about->add(r.storage, &inner, 9, true);
    acre_resource all = resolve(r.manager, whole.handle);
    uint32_t *words = malloc(size);
    assert_non_null(words);
    assert_ok(acre_storage_read(r.storage, &all, words, NULL));
    for (uint64_t i = 0; i < size / 4; i++) {
        bool inside = i >= skip / 4 && i < size / 4 - 2;
        assert_int_equal(words[i], pattern_word(3, i) + (inside ? 9 : 0));
    }
    free(words);
    acre_manager_release(r.manager, whole.handle);
    rig_close(&r);
}

// The runtime lets go of what its kernels still work on; the page goes at once.
static void a_page_goes_back_behind_the_kernels_that_work_on_it(void **state) {
    const subject *about = *state;
    if (about->add == NULL) {
        return;
    }
    rig r = suite_rig(about);
    filled stays = take_filled(about, &r, 5 * MIB, 1);
    for (uint32_t round = 0; round < 5; round++) {
        filled goes = take_filled(about, &r, 12 * MIB, 10 + round);
        acre_resource resource = resolve(r.manager, goes.handle);
        for (uint32_t i = 0; i < 40; i++) {
            about->add(r.storage, &resource, 1, false);
        }
        acre_manager_release(r.manager, goes.handle);
        acre_manager_cleanup(r.manager, ACRE_CLEANUP_EXPLICIT);
        filled next = take_filled(about, &r, 12 * MIB, 20 + round); // may lie where it was
        assert_ok(acre_storage_wait(r.storage, NULL));
        check_filled(about, &r, &next);
        acre_manager_release(r.manager, next.handle);
        acre_manager_cleanup(r.manager, ACRE_CLEANUP_EXPLICIT);
    }
    check_filled(about, &r, &stays);
    acre_manager_release(r.manager, stays.handle);
    rig_close(&r);
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(bytes_read_back_as_written_and_no_two_allocations_share_any),
    cmocka_unit_test(a_large_allocation_keeps_every_byte),
    cmocka_unit_test(a_resource_narrowed_by_offsets_is_that_part_of_the_whole),
    cmocka_unit_test(no_bytes_given_is_an_error_that_says_so),
    cmocka_unit_test(a_kernel_on_a_slice_at_an_odd_offset_changes_that_slice_alone),
    cmocka_unit_test(a_kernel_on_a_narrowed_resource_changes_that_part_alone),
    cmocka_unit_test(a_page_goes_back_behind_the_kernels_that_work_on_it),
};

const part bytes_part = {tests, COUNT_OF(tests), false, false, false};
