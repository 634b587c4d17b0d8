// The CUDA storage on the fake driver: pages, ranges, events, memory that is shared.
#include "cuda_rig.h"

#include <sys/mman.h>
#include <unistd.h>

// ---- pages ---------------------------------------------------------------------------------

static void pages_hold_their_bytes_in_all_three_ways(void **state) {
    (void)state;
    for (size_t i = 0; i < COUNT_OF(all_memories); i++) {
        acre_storage *storage = storage_of(all_memories[i]);
        uint64_t page = page_of(storage, 3 * MIB);
        acre_resource first = resource_of(storage, page, 0, MIB);
        acre_resource last = resource_of(storage, page, 2 * MIB, MIB);
        assert_int_equal(first.kind, ACRE_RESOURCE_CUDA);
        assert_int_equal(last.as.cuda, first.as.cuda + 2 * MIB);
        assert_int_equal(first.as.cuda % 256, 0);
        acre_error error = ACRE_ERROR_INIT;
        fill(storage, &first, 7);
        assert_ok(acre_storage_copy(storage, &first, &last, &error));
        assert_ok(acre_storage_wait(storage, NULL));
        expect_bytes(storage, &last, 7);
        acre_storage_dealloc(storage, page);
        acre_storage_flush(storage);
        assert_int_equal(fake_cuda_bytes(), 0);
        close_storage(storage);
    }
}

static void virtual_pages_count_in_multiples_of_the_granularity(void **state) {
    (void)state;
    acre_storage *storage = storage_of(ACRE_CUDA_VIRTUAL);
    uint64_t page = page_of(storage, 1);
    assert_int_equal(acre_storage_bytes(storage), 2 * MIB);
    assert_int_equal(storage->alignment, 2 * MIB);
    assert_int_equal(resource_of(storage, page, 0, 1).as.cuda % (2 * MIB), 0);
    acre_storage_dealloc(storage, page);
    close_storage(storage);
}

// Expects a refusal of a page, by the limit of `capacity` bytes, without a call of the driver.
static void refuse_page(acre_storage *storage, uint64_t size, uint64_t capacity) {
    acre_error error = ACRE_ERROR_INIT;
    uint64_t calls = fake_cuda_calls(NULL);
    uint64_t page = 42;
    assert_status(ACRE_OUT_OF_MEMORY, acre_storage_alloc(storage, size, &page, &error));
    assert_int_equal(error.capacity, capacity);
    assert_int_equal(error.size, size);
    assert_int_equal(page, 42);
    assert_int_equal(fake_cuda_calls(NULL), calls);
}

static void caps_are_kept_and_name_their_capacity(void **state) {
    (void)state;
    for (size_t i = 0; i < COUNT_OF(all_memories); i++) {
        acre_cuda_storage_params params = fake_params(all_memories[i]);
        params.total_memory = 10 * MIB;
        params.largest_allocation = 6 * MIB;
        acre_storage *storage = storage_with(&params);
        refuse_page(storage, 6 * MIB + 1, 6 * MIB);
        refuse_page(storage, UINT64_MAX, 6 * MIB);
        uint64_t page = page_of(storage, 6 * MIB);
        refuse_page(storage, 4 * MIB + 1, 10 * MIB);
        uint64_t rest = page_of(storage, 4 * MIB);
        refuse_page(storage, 1, 10 * MIB);
        acre_storage_dealloc(storage, rest);
        acre_storage_dealloc(storage, page);
        close_storage(storage);
    }
}

static void ranges_share_the_cap_with_pages(void **state) {
    (void)state;
    acre_cuda_storage_params params = fake_params(ACRE_CUDA_PLAIN);
    params.total_memory = 10 * MIB;
    params.largest_allocation = 8 * MIB;
    acre_storage *storage = storage_with(&params);
    uint64_t page = page_of(storage, 7 * MIB);
    uint64_t memory = memory_of(storage, 2 * MIB);
    acre_error error = ACRE_ERROR_INIT;
    uint64_t more = 0;
    assert_status(ACRE_OUT_OF_MEMORY, acre_storage_memory_create(storage, 2 * MIB, &more, &error));
    assert_int_equal(error.capacity, 10 * MIB);
    assert_status(ACRE_OUT_OF_MEMORY, acre_storage_memory_create(storage, 10 * MIB, &more, &error));
    assert_int_equal(error.capacity, 8 * MIB);
    acre_storage_memory_destroy(storage, memory);
    acre_storage_dealloc(storage, page);
    close_storage(storage);
}

static void the_devices_own_refusal_has_its_code_and_text(void **state) {
    (void)state;
    for (size_t i = 0; i < COUNT_OF(all_memories); i++) {
        fake_cuda()->memory = 64 * GIB;
        acre_storage *storage = storage_of(all_memories[i]);
        fake_cuda()->memory = 8 * MIB; // others took the rest
        acre_error error = ACRE_ERROR_INIT;
        uint64_t page = 0;
        assert_status(ACRE_OUT_OF_MEMORY, acre_storage_alloc(storage, 16 * MIB, &page, &error));
        assert_int_equal(error.native_code, 2);
        assert_string_equal(error.native_text, "CUDA_ERROR_OUT_OF_MEMORY: out of memory");
        assert_int_equal(error.size, 16 * MIB);
        assert_ok(acre_storage_fail(storage, 3, false, 700, NULL));
        assert_status(ACRE_BACKEND_ERROR, acre_storage_alloc(storage, MIB, &page, &error));
        assert_int_equal(error.native_code, 700);
        assert_non_null(strstr(error.native_text, "CUDA_ERROR_ILLEGAL_ADDRESS"));
        close_storage(storage);
    }
}

static void a_limit_above_the_devices_memory_is_the_devices(void **state) {
    (void)state;
    acre_cuda_storage_params params = fake_params(ACRE_CUDA_PLAIN);
    params.total_memory = UINT64_MAX;
    acre_storage *storage = storage_with(&params);
    acre_storage_limits limits = ACRE_STORAGE_LIMITS_INIT;
    acre_storage_limits_get(storage, &limits);
    assert_int_equal(limits.total_memory, 64 * GIB);
    assert_int_equal(limits.largest_allocation, 64 * GIB);
    close_storage(storage);
}

static void freed_stream_ordered_pages_serve_the_next_until_a_flush(void **state) {
    (void)state;
    acre_storage *storage = storage_of(ACRE_CUDA_STREAM_ORDERED);
    acre_storage_dealloc(storage, page_of(storage, 8 * MIB));
    assert_int_equal(acre_storage_bytes(storage), 0);
    assert_int_equal(fake_cuda_bytes(), 8 * MIB);
    uint64_t page = page_of(storage, 6 * MIB);
    assert_int_equal(fake_cuda_bytes(), 8 * MIB);
    acre_storage_flush(storage);
    assert_int_equal(fake_cuda_bytes(), 6 * MIB);
    acre_storage_dealloc(storage, page);
    close_storage(storage);
}

// ---- ranges ----------------------------------------------------------------------------------

typedef struct granules {
    uint64_t range;
    uint64_t memories[16];
} granules;

static granules granules_of(acre_storage *storage) {
    granules made = {range_of(storage, 64 * MIB), {0}};
    for (size_t i = 0; i < COUNT_OF(made.memories); i++) {
        made.memories[i] = memory_of(storage, 2 * MIB);
    }
    return made;
}

static void granules_end(acre_storage *storage, granules *ended) {
    for (size_t i = 0; i < COUNT_OF(ended->memories); i++) {
        acre_storage_memory_destroy(storage, ended->memories[i]);
    }
    storage->ops.range_release(storage->context, ended->range);
}

static void growth_by_many_memories_gives_access_once_and_unmaps_once(void **state) {
    (void)state;
    acre_storage *storage = storage_of(ACRE_CUDA_PLAIN);
    granules made = granules_of(storage);
    acre_error error = ACRE_ERROR_INIT;
    assert_ok(acre_storage_map(storage, made.range, 4 * MIB, made.memories, 16, &error));
    assert_int_equal(fake_cuda_calls("cuMemMap"), 16);
    assert_int_equal(fake_cuda_calls("cuMemSetAccess"), 1);
    acre_resource all = resource_of(storage, made.range, 4 * MIB, 32 * MIB);
    fill(storage, &all, 9);
    expect_bytes(storage, &all, 9);
    assert_ok(acre_storage_unmap(storage, made.range, 4 * MIB, 32 * MIB, &error));
    assert_int_equal(fake_cuda_calls("cuMemUnmap"), 1);
    granules_end(storage, &made);
    close_storage(storage);
}

static void an_unmap_over_holes_takes_one_call_for_each_run(void **state) {
    (void)state;
    acre_storage *storage = storage_of(ACRE_CUDA_PLAIN);
    granules made = granules_of(storage);
    acre_error error = ACRE_ERROR_INIT;
    assert_ok(acre_storage_map(storage, made.range, 2 * MIB, made.memories, 2, &error));
    assert_ok(acre_storage_map(storage, made.range, 10 * MIB, made.memories + 2, 3, &error));
    assert_ok(acre_storage_unmap(storage, made.range, 0, 64 * MIB, &error));
    assert_int_equal(fake_cuda_calls("cuMemUnmap"), 2);
    assert_ok(acre_storage_unmap(storage, made.range, 0, 64 * MIB, &error));
    assert_ok(acre_storage_unmap(storage, made.range, 0, 0, &error));
    assert_int_equal(fake_cuda_calls("cuMemUnmap"), 2);
    granules_end(storage, &made);
    close_storage(storage);
}

static void memory_keeps_its_bytes_when_it_is_mapped_elsewhere(void **state) {
    (void)state;
    acre_storage *storage = storage_of(ACRE_CUDA_PLAIN);
    granules made = granules_of(storage);
    acre_error error = ACRE_ERROR_INIT;
    assert_ok(acre_storage_map(storage, made.range, 0, made.memories, 1, &error));
    acre_resource here = resource_of(storage, made.range, 0, 2 * MIB);
    fill(storage, &here, 3);
    assert_ok(acre_storage_unmap(storage, made.range, 0, 2 * MIB, &error));
    assert_ok(acre_storage_map(storage, made.range, 62 * MIB, made.memories, 1, &error));
    acre_resource there = resource_of(storage, made.range, 62 * MIB, 2 * MIB);
    expect_bytes(storage, &there, 3);
    assert_ok(acre_storage_unmap(storage, made.range, 62 * MIB, 2 * MIB, &error));
    granules_end(storage, &made);
    close_storage(storage);
}

static void mappings_that_no_driver_allows_are_refused_without_asking_it(void **state) {
    (void)state;
    acre_storage *storage = storage_of(ACRE_CUDA_PLAIN);
    granules made = granules_of(storage);
    uint64_t wide = memory_of(storage, 4 * MIB);
    acre_error error = ACRE_ERROR_INIT;
    const uint64_t twice[] = {made.memories[1], made.memories[1]};
    assert_ok(acre_storage_map(storage, made.range, 4 * MIB, &wide, 1, &error));
    uint64_t calls = fake_cuda_calls(NULL);
    const struct {
        uint64_t offset;
        const uint64_t *memories;
        uint64_t count;
    } wrong[] = {
        {MIB, made.memories, 1},         {62 * MIB, made.memories, 2}, {66 * MIB, made.memories, 1},
        {0, made.memories, 3},           {6 * MIB, made.memories, 1},  {8 * MIB, &wide, 1},
        {UINT64_MAX, made.memories, 16}, {8 * MIB, twice, 2},
    };
    for (size_t i = 0; i < COUNT_OF(wrong); i++) {
        assert_status(ACRE_BACKEND_ERROR,
                      acre_storage_map(storage, made.range, wrong[i].offset, wrong[i].memories,
                                       wrong[i].count, &error));
        assert_true(error.native_text[0] != '\0');
    }
    assert_status(ACRE_BACKEND_ERROR,
                  acre_storage_unmap(storage, made.range, 6 * MIB, 2 * MIB, &error));
    assert_status(ACRE_BACKEND_ERROR, acre_storage_unmap(storage, made.range, 0, 6 * MIB, &error));
    assert_status(ACRE_BACKEND_ERROR, acre_storage_unmap(storage, made.range, 0, 66 * MIB, &error));
    assert_status(ACRE_BACKEND_ERROR, acre_storage_unmap(storage, made.range, 0, 5, &error));
    uint64_t none = 0;
    assert_status(ACRE_BACKEND_ERROR, acre_storage_range_reserve(storage, 0, &none, &error));
    assert_status(ACRE_BACKEND_ERROR, acre_storage_range_reserve(storage, 5, &none, &error));
    assert_status(ACRE_BACKEND_ERROR, acre_storage_memory_create(storage, 5, &none, &error));
    assert_int_equal(fake_cuda_calls(NULL), calls);
    assert_ok(acre_storage_map(storage, made.range, 8 * MIB, made.memories, 16, &error));
    assert_ok(acre_storage_unmap(storage, made.range, 0, 64 * MIB, &error));
    acre_storage_memory_destroy(storage, wide);
    granules_end(storage, &made);
    close_storage(storage);
}

// ---- streams and events ------------------------------------------------------------------------

static void streams_have_ids_of_their_own(void **state) {
    (void)state;
    acre_storage *storage = storage_of(ACRE_CUDA_PLAIN);
    void *streams[] = {fake_cuda_stream_create(NULL), fake_cuda_stream_create(NULL), NULL};
    uint64_t ids[3] = {0};
    acre_error error = ACRE_ERROR_INIT;
    for (size_t i = 0; i < COUNT_OF(streams); i++) {
        uint64_t stream = (uint64_t)(uintptr_t)streams[i];
        assert_ok(storage->ops.stream_id(storage->context, stream, &ids[i], &error));
    }
    assert_true(ids[0] != ids[1] && ids[1] != ids[2] && ids[0] != ids[2]);
    close_storage(storage);
}

static void events_are_passed_in_time_and_used_again(void **state) {
    (void)state;
    acre_storage *storage = storage_of(ACRE_CUDA_PLAIN);
    acre_error error = ACRE_ERROR_INIT;
    uint64_t events[4] = {0};
    bool done = true;
    fake_cuda()->hold_events = true;
    for (int round = 0; round < 3; round++) {
        for (size_t i = 0; i < COUNT_OF(events); i++) {
            assert_ok(storage->ops.event_record(storage->context, 0, &events[i], &error));
        }
        assert_ok(storage->ops.event_done(storage->context, events[0], &done, &error));
        assert_false(done);
        assert_ok(storage->ops.event_sync(storage->context, events[0], &error));
        assert_ok(storage->ops.event_done(storage->context, events[0], &done, &error));
        assert_true(done);
        for (size_t i = 0; i < COUNT_OF(events); i++) {
            storage->ops.event_destroy(storage->context, events[i]);
        }
    }
    assert_int_equal(fake_cuda_calls("cuEventCreate"), COUNT_OF(events));
    assert_int_equal(fake_cuda_calls("cuEventRecord"), 3 * COUNT_OF(events));
    close_storage(storage);
}

// ---- sharing -----------------------------------------------------------------------------------

static void exported_memory_shows_the_bytes_of_the_resource(void **state) {
    (void)state;
    acre_cuda_storage_params params = fake_params(ACRE_CUDA_VIRTUAL);
    params.exportable = true;
    acre_storage *storage = storage_with(&params);
    uint64_t other = page_of(storage, 4 * MIB);
    uint64_t page = page_of(storage, 4 * MIB);
    acre_resource part = resource_of(storage, page, 3 * MIB, KIB);
    fill(storage, &part, 77);
    int file = -1;
    uint64_t offset = 0;
    assert_ok(acre_storage_cuda_export(storage, &part, &file, &offset, NULL));
    assert_int_equal(offset, 3 * MIB);
    const char *bytes = mmap(NULL, 4 * MIB, PROT_READ, MAP_SHARED, file, 0);
    assert_true(bytes != MAP_FAILED);
    assert_int_equal(bytes[offset], 77);
    assert_int_equal(bytes[offset + KIB - 1], 77);
    munmap((void *)(uintptr_t)bytes, 4 * MIB);
    close(file);
    acre_storage_dealloc(storage, page);
    acre_storage_dealloc(storage, other);
    close_storage(storage);
}

static void an_export_of_what_cannot_be_shared_is_refused(void **state) {
    (void)state;
    acre_cuda_storage_params params = fake_params(ACRE_CUDA_VIRTUAL);
    acre_storage *storage = storage_with(&params);
    uint64_t page = page_of(storage, 2 * MIB);
    acre_resource resource = resource_of(storage, page, 0, KIB);
    acre_error error = ACRE_ERROR_INIT;
    int file = -1;
    uint64_t offset = 0;
    assert_status(ACRE_UNSUPPORTED,
                  acre_storage_cuda_export(storage, &resource, &file, &offset, &error));
    assert_non_null(strstr(error.detail, "exportable"));
    params.exportable = true;
    acre_storage *shared = storage_with(&params);
    assert_status(ACRE_INVALID_ARGUMENT,
                  acre_storage_cuda_export(shared, &resource, &file, &offset, &error));
    uint64_t own = page_of(shared, 2 * MIB);
    acre_resource long_one = resource_of(shared, own, MIB, MIB);
    long_one.size = 2 * MIB;
    assert_status(ACRE_INVALID_ARGUMENT,
                  acre_storage_cuda_export(shared, &long_one, &file, &offset, &error));
    acre_storage *other = simulated_device();
    assert_status(ACRE_UNSUPPORTED,
                  acre_storage_cuda_export(other, &resource, &file, &offset, &error));
    assert_int_equal(file, -1);
    acre_storage_destroy(other);
    acre_storage_dealloc(shared, own);
    acre_storage_destroy(shared);
    acre_storage_dealloc(storage, page);
    close_storage(storage);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(pages_hold_their_bytes_in_all_three_ways, reset_driver),
        cmocka_unit_test_setup(virtual_pages_count_in_multiples_of_the_granularity, reset_driver),
        cmocka_unit_test_setup(caps_are_kept_and_name_their_capacity, reset_driver),
        cmocka_unit_test_setup(ranges_share_the_cap_with_pages, reset_driver),
        cmocka_unit_test_setup(the_devices_own_refusal_has_its_code_and_text, reset_driver),
        cmocka_unit_test_setup(a_limit_above_the_devices_memory_is_the_devices, reset_driver),
        cmocka_unit_test_setup(freed_stream_ordered_pages_serve_the_next_until_a_flush,
                               reset_driver),
        cmocka_unit_test_setup(growth_by_many_memories_gives_access_once_and_unmaps_once,
                               reset_driver),
        cmocka_unit_test_setup(an_unmap_over_holes_takes_one_call_for_each_run, reset_driver),
        cmocka_unit_test_setup(memory_keeps_its_bytes_when_it_is_mapped_elsewhere, reset_driver),
        cmocka_unit_test_setup(mappings_that_no_driver_allows_are_refused_without_asking_it,
                               reset_driver),
        cmocka_unit_test_setup(streams_have_ids_of_their_own, reset_driver),
        cmocka_unit_test_setup(events_are_passed_in_time_and_used_again, reset_driver),
        cmocka_unit_test_setup(exported_memory_shows_the_bytes_of_the_resource, reset_driver),
        cmocka_unit_test_setup(an_export_of_what_cannot_be_shared_is_refused, reset_driver),
    };
    return cmocka_run_group_tests(tests, NULL, reset_driver);
}
