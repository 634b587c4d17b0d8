// Address ranges apart from memory: bytes follow the memory, addresses stay where they are.
#include "suite.h"

#include "storage/storage.h"

enum {
    MEMORIES = 4
};

// A range of eight granules and memories of 1, 1, 2 and 1 granules.
typedef struct mapped {
    acre_storage *storage;
    uint64_t granule;
    uint64_t range;
    uint64_t memories[MEMORIES];
    uint64_t sizes[MEMORIES];
} mapped;

static mapped make(const subject *about) {
    acre_error error = ACRE_ERROR_INIT;
    mapped made = {.storage = suite_storage(about, 0, 0)};
    assert_true(acre_storage_can_map(made.storage));
    made.granule = made.storage->ops.granularity(made.storage->context);
    assert_ok(acre_storage_range_reserve(made.storage, 8 * made.granule, &made.range, &error));
    for (size_t i = 0; i < MEMORIES; i++) {
        made.sizes[i] = (i == 2 ? 2 : 1) * made.granule;
        assert_ok(
            acre_storage_memory_create(made.storage, made.sizes[i], &made.memories[i], &error));
    }
    assert_int_equal(stats_of(made.storage).bytes_allocated, 5 * made.granule);
    return made;
}

// Everything is unmapped.
static void end(mapped *ended) {
    for (size_t i = 0; i < MEMORIES; i++) {
        acre_storage_memory_destroy(ended->storage, ended->memories[i]);
    }
    assert_int_equal(stats_of(ended->storage).bytes_allocated, 0);
    ended->storage->ops.range_release(ended->storage->context, ended->range);
    acre_storage_destroy(ended->storage);
}

static acre_status map(mapped *in, uint64_t granule, const uint64_t *memories, size_t count) {
    acre_error error = ACRE_ERROR_INIT;
    return acre_storage_map(in->storage, in->range, granule * in->granule, memories, count, &error);
}

static acre_status unmap(mapped *in, uint64_t granule, uint64_t granules) {
    acre_error error = ACRE_ERROR_INIT;
    return acre_storage_unmap(in->storage, in->range, granule * in->granule, granules * in->granule,
                              &error);
}

static acre_resource at(mapped *in, uint64_t granule, uint64_t size) {
    acre_error error = ACRE_ERROR_INIT;
    acre_resource resource = ACRE_RESOURCE_INIT;
    assert_ok(acre_storage_resource(in->storage, in->range, granule * in->granule, size, &resource,
                                    &error));
    return resource;
}

static void bytes_follow_the_memory_that_is_mapped_elsewhere(void **state) {
    const subject *about = *state;
    mapped m = make(about);
    assert_ok(map(&m, 0, m.memories, MEMORIES)); // at granules 0, 1, 2 and 3, 4
    const uint64_t first[MEMORIES] = {0, 1, 2, 4};
    for (uint32_t i = 0; i < MEMORIES; i++) {
        acre_resource resource = at(&m, first[i], m.sizes[i]);
        fill_resource(about, m.storage, &resource, i);
    }
    assert_ok(unmap(&m, 0, 5));
    assert_ok(map(&m, 6, &m.memories[2], 1));
    assert_ok(map(&m, 0, &m.memories[3], 1));
    assert_ok(map(&m, 4, &m.memories[0], 2));
    const uint64_t second[MEMORIES] = {4, 5, 6, 0};
    for (uint32_t i = 0; i < MEMORIES; i++) {
        acre_resource resource = at(&m, second[i], m.sizes[i]);
        check_resource(about, m.storage, &resource, i, 0);
    }
    assert_int_equal(stats_of(m.storage).maps, 4);
    assert_int_equal(stats_of(m.storage).unmaps, 1);
    assert_ok(unmap(&m, 0, 8)); // what is not mapped there is no matter
    end(&m);
}

static void one_resource_reaches_over_memories_side_by_side(void **state) {
    const subject *about = *state;
    mapped m = make(about);
    const uint64_t order[] = {m.memories[3], m.memories[1], m.memories[0]};
    assert_ok(map(&m, 2, order, 3));
    acre_resource whole = at(&m, 2, 3 * m.granule);
    fill_resource(about, m.storage, &whole, 9);
    check_resource(about, m.storage, &whole, 9, 0);
    if (about->add != NULL) {
        about->add(m.storage, &whole, 2, true);
        check_resource(about, m.storage, &whole, 9, 2);
    }
    assert_ok(unmap(&m, 2, 3));
    end(&m);
}

static void what_stays_mapped_keeps_its_bytes_while_others_move(void **state) {
    const subject *about = *state;
    mapped m = make(about);
    assert_ok(map(&m, 3, &m.memories[2], 1));
    acre_resource stays = at(&m, 3, m.sizes[2]);
    fill_resource(about, m.storage, &stays, 3);
    for (uint64_t i = 0; i < 40; i++) {
        uint64_t where = i % 2 == 0 ? 2 : 5;
        assert_ok(map(&m, where, &m.memories[0], 1));
        acre_resource moving = at(&m, where, m.granule);
        if (i > 0) {
            check_resource(about, m.storage, &moving, (uint32_t)(i - 1), 0);
        }
        fill_resource(about, m.storage, &moving, (uint32_t)i);
        assert_ok(acre_storage_wait(m.storage, NULL));
        assert_ok(unmap(&m, where, 1));
    }
    check_resource(about, m.storage, &stays, 3, 0);
    assert_ok(unmap(&m, 3, 2));
    end(&m);
}

static void a_mapping_that_fails_at_any_call_leaves_nothing_mapped(void **state) {
    const subject *about = *state;
    mapped m = make(about);
    // In an order in which no two can be mapped by one call.
    const uint64_t order[] = {m.memories[3], m.memories[2], m.memories[1], m.memories[0]};
    uint64_t nth = 0;
    for (acre_status status = ACRE_OK; nth == 0 || status != ACRE_OK;) {
        uint64_t calls = acre_storage_calls(m.storage);
        assert_ok(acre_storage_fail(m.storage, ++nth, false, about->lost_code, NULL));
        status = map(&m, 1, order, MEMORIES);
        bool met = acre_storage_calls(m.storage) - calls >= nth;
        assert_ok(acre_storage_fail(m.storage, 0, false, 0, NULL));
        assert_int_equal(met, status != ACRE_OK);
        if (status == ACRE_OK) {
            break;
        }
        assert_status(ACRE_BACKEND_ERROR, status);
        assert_ok(map(&m, 1, order, MEMORIES)); // all of it is free
        assert_ok(unmap(&m, 1, 5));
        assert_true(nth < 100);
    }
    assert_true(nth > 1);
    assert_ok(unmap(&m, 1, 5));
    end(&m);
}

static void an_unmapping_that_fails_leaves_everything_mapped(void **state) {
    const subject *about = *state;
    mapped m = make(about);
    assert_ok(map(&m, 0, m.memories, 2));
    acre_resource both = at(&m, 0, 2 * m.granule);
    fill_resource(about, m.storage, &both, 1);
    assert_ok(acre_storage_fail(m.storage, 1, false, about->lost_code, NULL));
    assert_status(ACRE_BACKEND_ERROR, unmap(&m, 0, 2));
    assert_ok(acre_storage_fail(m.storage, 0, false, 0, NULL));
    check_resource(about, m.storage, &both, 1, 0);
    assert_ok(unmap(&m, 0, 2));
    end(&m);
}

static void memory_over_a_limit_is_out_of_memory(void **state) {
    const subject *about = *state;
    acre_storage *storage = suite_storage(about, TOTAL, LARGEST);
    acre_error error = ACRE_ERROR_INIT;
    uint64_t granule = storage->ops.granularity(storage->context);
    uint64_t size = LARGEST / granule * granule;
    uint64_t refused = 0;
    assert_status(ACRE_OUT_OF_MEMORY,
                  acre_storage_memory_create(storage, size + granule, &refused, &error));
    assert_int_equal(error.capacity, LARGEST);
    uint64_t memories[TOTAL / LARGEST];
    for (size_t i = 0; i < COUNT_OF(memories); i++) {
        assert_ok(acre_storage_memory_create(storage, size, &memories[i], &error));
    }
    assert_status(ACRE_OUT_OF_MEMORY, acre_storage_memory_create(storage, size, &refused, &error));
    assert_int_equal(error.capacity, TOTAL);
    assert_int_equal(stats_of(storage).bytes_allocated, COUNT_OF(memories) * size);
    assert_int_equal(stats_of(storage).refused, 2);
    for (size_t i = 0; i < COUNT_OF(memories); i++) {
        acre_storage_memory_destroy(storage, memories[i]);
    }
    acre_storage_destroy(storage);
}

static void hundreds_of_memories_fill_a_range_in_any_order(void **state) {
    enum {
        COUNT = 128
    };
    const subject *about = *state;
    acre_error error = ACRE_ERROR_INIT;
    acre_storage *storage = suite_storage(about, 0, 0);
    uint64_t granule = storage->ops.granularity(storage->context);
    mapped m = {.storage = storage, .granule = granule};
    assert_ok(acre_storage_range_reserve(storage, COUNT * granule, &m.range, &error));
    uint64_t memories[COUNT];
    for (size_t i = 0; i < COUNT; i++) {
        assert_ok(acre_storage_memory_create(storage, granule, &memories[i], &error));
    }
    for (size_t i = 0; i < COUNT; i++) {
        assert_ok(map(&m, i * 37 % COUNT, &memories[i], 1));
        acre_resource start = at(&m, i * 37 % COUNT, 64);
        fill_resource(about, storage, &start, (uint32_t)i);
    }
    assert_ok(unmap(&m, 0, COUNT));
    assert_ok(map(&m, 0, memories, COUNT));
    for (size_t i = 0; i < COUNT; i++) {
        acre_resource start = at(&m, i, 64);
        check_resource(about, storage, &start, (uint32_t)i, 0);
    }
    assert_ok(unmap(&m, 0, COUNT));
    for (size_t i = 0; i < COUNT; i++) {
        acre_storage_memory_destroy(storage, memories[i]);
    }
    storage->ops.range_release(storage->context, m.range);
    assert_int_equal(stats_of(storage).bytes_allocated, 0);
    acre_storage_destroy(storage);
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(bytes_follow_the_memory_that_is_mapped_elsewhere),
    cmocka_unit_test(one_resource_reaches_over_memories_side_by_side),
    cmocka_unit_test(what_stays_mapped_keeps_its_bytes_while_others_move),
    cmocka_unit_test(a_mapping_that_fails_at_any_call_leaves_nothing_mapped),
    cmocka_unit_test(an_unmapping_that_fails_leaves_everything_mapped),
    cmocka_unit_test(memory_over_a_limit_is_out_of_memory),
    cmocka_unit_test(hundreds_of_memories_fill_a_range_in_any_order),
};

const part mapping_part = {tests, COUNT_OF(tests), true, false, true};
