// The Vulkan storage on a device, and on one that a stand-in for the loader makes smaller,
// stricter or poorer than it is.
#include "vulkan_rig.h"

#include "storage/storage.h"
#include "storage/vulkan/memory_type.h"

enum {
    LOCAL = ACRE_VK_DEVICE_LOCAL,
    VISIBLE = ACRE_VK_HOST_VISIBLE,
    COHERENT = ACRE_VK_HOST_COHERENT,
    CACHED = ACRE_VK_HOST_CACHED,
};

static acre_storage *make(const acre_vulkan_storage_params *params) {
    acre_storage *storage = NULL;
    acre_error error = ACRE_ERROR_INIT;
    acre_status status = acre_storage_vulkan_create(params, NULL, &storage, &error);
    if (status != ACRE_OK) {
        char text[512];
        (void)acre_error_format(&error, text, sizeof text);
        fail_msg("%s", text);
    }
    return storage;
}

static vulkan_stand_in *stand_in;

static acre_storage *make_through(const vulkan_stand_in *as) {
    stand_in = vulkan_stand_in_at(STAND_IN);
    *stand_in = *as;
    acre_vulkan_storage_params params = ACRE_VULKAN_STORAGE_PARAMS_INIT;
    params.library = STAND_IN;
    return make(&params);
}

static void end_through(acre_storage *storage) {
    acre_storage_destroy(storage);
    assert_int_equal(stand_in->live, 0);
    assert_int_equal(stand_in->faults, 0);
}

static uint64_t page(acre_storage *storage, uint64_t size) {
    uint64_t id = 0;
    acre_error error = ACRE_ERROR_INIT;
    assert_ok(acre_storage_alloc(storage, size, &id, &error));
    return id;
}

static acre_error refuse_page(acre_storage *storage, uint64_t size) {
    uint64_t id = 0;
    acre_error error = ACRE_ERROR_INIT;
    uint64_t before = stats_of(storage).bytes_allocated;
    assert_status(ACRE_OUT_OF_MEMORY, acre_storage_alloc(storage, size, &id, &error));
    assert_int_equal(stats_of(storage).bytes_allocated, before);
    return error;
}

static acre_resource part(acre_storage *storage, uint64_t id, uint64_t offset, uint64_t size) {
    acre_resource resource = ACRE_RESOURCE_INIT;
    acre_error error = ACRE_ERROR_INIT;
    assert_ok(acre_storage_resource(storage, id, offset, size, &resource, &error));
    return resource;
}

static void fill(acre_storage *storage, uint64_t id, uint64_t offset, uint64_t size, int byte) {
    unsigned char *bytes = malloc(size);
    assert_non_null(bytes);
    memset(bytes, byte, size);
    acre_resource resource = part(storage, id, offset, size);
    assert_ok(acre_storage_write(storage, &resource, bytes, NULL));
    free(bytes);
}

static void check_filled(acre_storage *storage, uint64_t id, uint64_t offset, uint64_t size,
                         int byte) {
    unsigned char *bytes = malloc(2 * size);
    assert_non_null(bytes);
    acre_resource resource = part(storage, id, offset, size);
    assert_ok(acre_storage_read(storage, &resource, bytes, NULL));
    memset(bytes + size, byte, size);
    assert_memory_equal(bytes, bytes + size, size);
    free(bytes);
}

// ---- resources -----------------------------------------------------------------------------

static void a_resource_names_the_pages_buffer_an_offset_and_its_address(void **state) {
    (void)state;
    acre_storage *storage = make(NULL);
    uint64_t id = page(storage, MIB);
    acre_resource whole = part(storage, id, 0, MIB);
    acre_resource inner = part(storage, id, 4096, 100);
    assert_int_equal(whole.kind, ACRE_RESOURCE_VULKAN);
    assert_int_equal(inner.size, 100);
    assert_true(whole.as.vulkan.buffer != 0);
    assert_int_equal(inner.as.vulkan.buffer, whole.as.vulkan.buffer);
    assert_int_equal(inner.as.vulkan.offset, 4096);
    bool addresses = vulkan_objects_of(storage).device_address;
    assert_true((whole.as.vulkan.address != 0) == addresses);
    assert_int_equal(inner.as.vulkan.address - whole.as.vulkan.address, addresses ? 4096 : 0);
    acre_storage_dealloc(storage, id);
    acre_storage_destroy(storage);
}

static void a_device_without_addresses_has_none(void **state) {
    (void)state;
    acre_storage *storage = make_through(&(vulkan_stand_in){.no_address = true});
    assert_false(vulkan_objects_of(storage).device_address);
    uint64_t id = page(storage, MIB);
    assert_int_equal(part(storage, id, 4096, 100).as.vulkan.address, 0);
    acre_storage_dealloc(storage, id);
    end_through(storage);
}

static void what_is_known_is_told_without_a_call(void **state) {
    (void)state;
    acre_storage *storage = make(NULL);
    uint64_t id = page(storage, MIB);
    uint64_t calls = acre_storage_calls(storage);
    (void)part(storage, id, 64, 64);
    acre_storage_limits limits = ACRE_STORAGE_LIMITS_INIT;
    acre_storage_limits_get(storage, &limits);
    assert_true(limits.slice_alignment >= 4);
    assert_true(limits.largest_allocation > 0);
    assert_true(limits.largest_allocation <= limits.total_memory);
    assert_int_equal(storage->ops.alignment(storage->context) % limits.slice_alignment, 0);
    (void)stats_of(storage);
    assert_int_equal(acre_storage_calls(storage), calls);
    acre_storage_dealloc(storage, id);
    acre_storage_destroy(storage);
}

static void a_resource_of_another_storage_is_an_error(void **state) {
    (void)state;
    acre_storage *storage = make(NULL);
    acre_storage *other = make(NULL);
    uint64_t id = page(storage, 1000);
    uint64_t foreign = page(other, 1000);
    acre_resource resource = part(storage, id, 0, 1000);
    acre_resource theirs = part(other, foreign, 0, 1000);
    theirs.as.vulkan.buffer ^= UINT64_C(1) << 60; // handles of two devices may be equal
    char bytes[1000] = {0};
    acre_error error = ACRE_ERROR_INIT;
    assert_status(ACRE_BACKEND_ERROR, acre_storage_write(storage, &theirs, bytes, &error));
    assert_non_null(strstr(error.detail, "another storage"));
    assert_status(ACRE_BACKEND_ERROR, acre_storage_read(storage, &theirs, bytes, NULL));
    assert_status(ACRE_BACKEND_ERROR, acre_storage_copy(storage, &resource, &theirs, &error));
    assert_status(ACRE_BACKEND_ERROR, acre_storage_copy(storage, &theirs, &resource, &error));
    theirs.kind = ACRE_RESOURCE_HOST;
    assert_status(ACRE_BACKEND_ERROR, acre_storage_read(storage, &theirs, bytes, NULL));
    acre_storage_dealloc(storage, id);
    acre_storage_dealloc(other, foreign);
    acre_storage_destroy(storage);
    acre_storage_destroy(other);
}

static void each_of_hundreds_of_pages_is_found_by_its_buffer(void **state) {
    (void)state;
    enum {
        PAGES = 400
    };
    acre_storage *storage = make(NULL);
    uint64_t ids[PAGES];
    for (size_t i = 0; i < PAGES; i++) {
        ids[i] = page(storage, 256);
        fill(storage, ids[i], 0, 256, (int)(i % 251));
        if (i % 3 == 2) {
            acre_storage_dealloc(storage, ids[i - 1]);
            ids[i - 1] = page(storage, 512);
            fill(storage, ids[i - 1], 0, 256, (int)((i - 1) % 251));
        }
    }
    for (size_t i = 0; i < PAGES; i++) {
        check_filled(storage, ids[i], 0, 256, (int)(i % 251));
        acre_storage_dealloc(storage, ids[i]);
    }
    assert_int_equal(stats_of(storage).bytes_allocated, 0);
    acre_storage_destroy(storage);
}

// ---- limits --------------------------------------------------------------------------------

static void no_more_memories_are_asked_for_than_the_device_takes(void **state) {
    (void)state;
    acre_storage *storage = make_through(&(vulkan_stand_in){.max_count = 3});
    uint64_t ids[3];
    for (size_t i = 0; i < 3; i++) {
        ids[i] = page(storage, 1000);
    }
    uint64_t calls = acre_storage_calls(storage);
    acre_error error = refuse_page(storage, 1000);
    assert_non_null(strstr(error.detail, "3 allocations"));
    assert_int_equal(acre_storage_calls(storage), calls);
    acre_storage_dealloc(storage, ids[1]);
    ids[1] = page(storage, 1000);
    for (size_t i = 0; i < 3; i++) {
        acre_storage_dealloc(storage, ids[i]);
    }
    end_through(storage);
}

static void the_smaller_of_memory_and_buffer_is_the_largest_allocation(void **state) {
    (void)state;
    acre_storage_limits limits = ACRE_STORAGE_LIMITS_INIT;
    acre_storage *storage = make_through(&(vulkan_stand_in){.max_size = 3 * MIB});
    acre_storage_limits_get(storage, &limits);
    assert_int_equal(limits.largest_allocation, 3 * MIB);
    assert_int_equal(refuse_page(storage, 3 * MIB + 1).capacity, 3 * MIB);
    acre_storage_dealloc(storage, page(storage, 3 * MIB));
    end_through(storage);
    // Vulkan 1.3 tells of buffers.
    storage = make_through(&(vulkan_stand_in){
        .device_version = ACRE_VK_VERSION(1, 3), .max_size = 3 * MIB, .max_buffer = 2 * MIB});
    acre_storage_limits_get(storage, &limits);
    assert_int_equal(limits.largest_allocation, 2 * MIB);
    end_through(storage);
    storage = make_through(&(vulkan_stand_in){
        .device_version = ACRE_VK_VERSION(1, 2), .max_size = 3 * MIB, .max_buffer = 2 * MIB});
    acre_storage_limits_get(storage, &limits);
    assert_int_equal(limits.largest_allocation, 3 * MIB);
    end_through(storage);
}

static void what_a_buffer_needs_beyond_its_size_counts(void **state) {
    (void)state;
    acre_storage *storage = make_through(&(vulkan_stand_in){.extra = 4096, .max_size = 2 * MIB});
    uint64_t id = page(storage, 1000);
    assert_int_equal(stats_of(storage).bytes_allocated, 1000 + 4096);
    assert_int_equal(refuse_page(storage, 2 * MIB).capacity, 2 * MIB); // 4096 too many
    acre_storage_dealloc(storage, id);
    assert_int_equal(stats_of(storage).bytes_allocated, 0);
    end_through(storage);
}

static void caps_hold_and_are_named(void **state) {
    (void)state;
    acre_vulkan_storage_params params = ACRE_VULKAN_STORAGE_PARAMS_INIT;
    params.total_memory = 10 * MIB;
    params.largest_allocation = 4 * MIB;
    acre_storage *storage = make(&params);
    acre_storage_limits limits = ACRE_STORAGE_LIMITS_INIT;
    acre_storage_limits_get(storage, &limits);
    assert_int_equal(limits.total_memory, 10 * MIB);
    assert_int_equal(limits.largest_allocation, 4 * MIB);
    assert_int_equal(refuse_page(storage, 4 * MIB + 1).capacity, 4 * MIB);
    uint64_t a = page(storage, 4 * MIB);
    uint64_t b = page(storage, 4 * MIB);
    assert_int_equal(refuse_page(storage, 3 * MIB).capacity, 10 * MIB);
    acre_storage_dealloc(storage, a);
    acre_storage_dealloc(storage, b);
    acre_storage_destroy(storage);
}

static void nothing_is_asked_for_beyond_the_budget(void **state) {
    (void)state;
    acre_storage *storage =
        make_through(&(vulkan_stand_in){.has_budget = true, .budget = 8 * MIB, .usage = 3 * MIB});
    assert_true(vulkan_objects_of(storage).memory_budget);
    uint64_t calls = acre_storage_calls(storage);
    assert_int_equal(refuse_page(storage, 5 * MIB + 1).capacity, 8 * MIB);
    assert_int_equal(acre_storage_calls(storage), calls);
    acre_storage_dealloc(storage, page(storage, 5 * MIB));
    end_through(storage);
    storage =
        make_through(&(vulkan_stand_in){.has_budget = true, .budget = 8 * MIB, .usage = 9 * MIB});
    assert_int_equal(refuse_page(storage, 1).capacity, 8 * MIB); // others took more than there is
    end_through(storage);
}

// ---- memory types --------------------------------------------------------------------------

static int32_t type_taken(uint32_t required, uint32_t preferred) {
    stand_in = vulkan_stand_in_at(STAND_IN);
    *stand_in =
        (vulkan_stand_in){.type_count = 4,
                          .type_flags = {VISIBLE | COHERENT, LOCAL, VISIBLE | COHERENT | CACHED,
                                         LOCAL | VISIBLE | COHERENT},
                          .heap_size = 64 * MIB};
    acre_vulkan_storage_params params = ACRE_VULKAN_STORAGE_PARAMS_INIT;
    params.library = STAND_IN;
    params.required = required;
    params.preferred = preferred;
    acre_storage *storage = make(&params);
    acre_storage_limits limits = ACRE_STORAGE_LIMITS_INIT;
    acre_storage_limits_get(storage, &limits);
    assert_int_equal(limits.total_memory, 64 * MIB);
    acre_storage_dealloc(storage, page(storage, 1000));
    int32_t type = stand_in->last_memory_type;
    end_through(storage);
    return type;
}

static void pages_come_from_the_first_type_with_all_required_and_most_preferred(void **state) {
    (void)state;
    assert_int_equal(type_taken(0, 0), 1);
    assert_int_equal(type_taken(VISIBLE, 0), 0);
    assert_int_equal(type_taken(VISIBLE, LOCAL), 3);
    assert_int_equal(type_taken(0, VISIBLE | CACHED), 2);
    assert_int_equal(type_taken(LOCAL | VISIBLE, CACHED), 3);
}

static void no_type_with_all_required_is_an_invalid_argument(void **state) {
    (void)state;
    acre_vulkan_storage_params params = ACRE_VULKAN_STORAGE_PARAMS_INIT;
    params.required = LOCAL | ACRE_VK_PROTECTED | ACRE_VK_LAZILY_ALLOCATED;
    acre_storage *storage = NULL;
    acre_error error = ACRE_ERROR_INIT;
    assert_status(ACRE_INVALID_ARGUMENT,
                  acre_storage_vulkan_create(&params, NULL, &storage, &error));
    assert_non_null(strstr(error.detail, "0x31"));
}

static void a_type_that_buffers_may_not_have_is_not_taken(void **state) {
    (void)state;
    vulkan_stand_in as = {.type_count = 2,
                          .type_flags = {LOCAL, VISIBLE | COHERENT},
                          .heap_size = 64 * MIB,
                          .buffer_types = 2};
    acre_storage *storage = make_through(&as);
    acre_storage_dealloc(storage, page(storage, 1000));
    assert_int_equal(stand_in->last_memory_type, 1);
    end_through(storage);
}

static void types_for_special_uses_are_taken_only_when_required(void **state) {
    (void)state;
    acre_vk_memory_properties properties = {0};
    const uint32_t special[] = {ACRE_VK_PROTECTED, ACRE_VK_LAZILY_ALLOCATED,
                                ACRE_VK_DEVICE_COHERENT_AMD, ACRE_VK_DEVICE_UNCACHED_AMD};
    properties.memory.type_count = 5;
    for (uint32_t i = 0; i < 4; i++) {
        properties.memory.types[i].flags = LOCAL | special[i];
    }
    properties.memory.types[4].flags = VISIBLE;
    acre_vulkan_memory_type type;
    assert_true(acre_vulkan_memory_type_find(&properties, UINT32_MAX, 0, LOCAL, &type));
    assert_int_equal(type.index, 4);
    for (uint32_t i = 0; i < 4; i++) {
        assert_true(
            acre_vulkan_memory_type_find(&properties, UINT32_MAX, special[i], LOCAL, &type));
        assert_int_equal(type.index, i);
    }
    assert_false(acre_vulkan_memory_type_find(&properties, 0xf, 0, 0, &type));
}

// ---- bytes ---------------------------------------------------------------------------------

// At offsets and sizes of every kind; what is beside them stays.
static void write_around(acre_storage *storage) {
    static const uint64_t at[][2] = {
        {0, 1},   {1, 1},       {63, 2},      {64, 64},          {100, 1000},  {4095, 4097},
        {1, MIB}, {7, MIB - 1}, {3, MIB + 1}, {64, 3 * MIB + 5}, {0, 4 * MIB},
    };
    uint64_t id = page(storage, 4 * MIB);
    for (size_t i = 0; i < COUNT_OF(at); i++) {
        uint64_t offset = at[i][0];
        uint64_t end = offset + at[i][1];
        fill(storage, id, 0, 4 * MIB, 1);
        fill(storage, id, offset, end - offset, 2);
        check_filled(storage, id, offset, end - offset, 2);
        if (offset > 0) {
            check_filled(storage, id, 0, offset, 1);
        }
        if (end < 4 * MIB) {
            check_filled(storage, id, end, 4 * MIB - end, 1);
        }
    }
    acre_storage_dealloc(storage, id);
    assert_int_equal(stats_of(storage).bytes_allocated, 0);
}

static void bytes_that_the_host_sees_are_written_in_place(void **state) {
    (void)state;
    acre_vulkan_storage_params params = ACRE_VULKAN_STORAGE_PARAMS_INIT;
    params.required = VISIBLE | COHERENT;
    acre_storage *storage = make(&params);
    write_around(storage);
    acre_storage_destroy(storage);
}

static const vulkan_stand_in two_heaps = {
    .type_count = 2, .type_flags = {LOCAL, VISIBLE | COHERENT}, .heap_size = 64 << 20};

static void bytes_that_the_host_does_not_see_go_through_memory_that_it_does(void **state) {
    (void)state;
    acre_storage *storage = make_through(&two_heaps);
    assert_int_equal(stand_in->memories, 0);
    write_around(storage);
    assert_int_equal(stand_in->last_memory_type, 1); // the staging block's, made when needed
    assert_int_equal(stand_in->memories, 1);         // and kept
    end_through(storage);
}

static void caches_of_the_host_are_flushed_in_whole_atoms(void **state) {
    (void)state;
    acre_storage *storage = make_through(
        &(vulkan_stand_in){.type_count = 1, .type_flags = {VISIBLE}, .heap_size = 64 * MIB});
    acre_storage_limits limits = ACRE_STORAGE_LIMITS_INIT;
    acre_storage_limits_get(storage, &limits);
    assert_true(limits.slice_alignment >= 64); // two slices share no atom
    write_around(storage);
    assert_true(stand_in->flushes > 0 && stand_in->invalidations > stand_in->flushes);
    end_through(storage);
}

// ---- copies --------------------------------------------------------------------------------

// Each copy reads what the one before it wrote: a byte wanders through the page.
static void copies_that_follow_each_other_happen_in_their_order(void **state) {
    (void)state;
    enum {
        STEPS = 500,
        STEP = 4096
    };
    acre_storage *storage = make(NULL);
    uint64_t id = page(storage, (STEPS + 1) * STEP);
    fill(storage, id, 0, (STEPS + 1) * STEP, 0);
    fill(storage, id, 0, STEP, 7);
    acre_error error = ACRE_ERROR_INIT;
    for (uint64_t i = 0; i < STEPS; i++) {
        acre_resource from = part(storage, id, i * STEP, STEP);
        acre_resource to = part(storage, id, (i + 1) * STEP, STEP);
        assert_ok(acre_storage_copy(storage, &from, &to, &error));
    }
    check_filled(storage, id, STEPS * STEP, STEP, 7); // a read comes after every copy
    assert_ok(acre_storage_wait(storage, NULL));
    check_filled(storage, id, 0, (STEPS + 1) * STEP, 7);
    acre_storage_dealloc(storage, id);
    acre_storage_destroy(storage);
}

static void a_write_comes_after_the_copies_before_it(void **state) {
    (void)state;
    acre_storage *storage = make(NULL);
    uint64_t a = page(storage, 8 * MIB);
    uint64_t b = page(storage, 8 * MIB);
    fill(storage, a, 0, 8 * MIB, 1);
    acre_resource from = part(storage, a, 0, 8 * MIB);
    acre_resource to = part(storage, b, 0, 8 * MIB);
    acre_error error = ACRE_ERROR_INIT;
    for (int i = 0; i < 20; i++) {
        assert_ok(acre_storage_copy(storage, &from, &to, &error));
        fill(storage, a, 8 * MIB - 100, 100, 2); // the copy took the bytes before
        check_filled(storage, b, 8 * MIB - 100, 100, 1);
        fill(storage, a, 8 * MIB - 100, 100, 1);
    }
    acre_storage_dealloc(storage, a);
    acre_storage_dealloc(storage, b);
    acre_storage_destroy(storage);
}

static void kernels_and_copies_on_one_queue_need_no_barrier_between_them(void **state) {
    (void)state;
    if (!vulkan_has_kernel()) {
        skip();
    }
    vulkan_callers_device device = vulkan_callers_device_make(NULL);
    vulkan_kernel *kernel = vulkan_kernel_make(&device.objects);
    acre_vulkan_storage_params params = ACRE_VULKAN_STORAGE_PARAMS_INIT;
    params.objects = &device.objects;
    acre_storage *storage = make(&params);
    uint64_t a = page(storage, MIB);
    uint64_t b = page(storage, MIB);
    fill(storage, a, 0, MIB, 0);
    acre_resource in = part(storage, a, 0, MIB);
    acre_resource out = part(storage, b, 0, MIB);
    acre_error error = ACRE_ERROR_INIT;
    for (int i = 0; i < 10; i++) {
        vulkan_kernel_add(kernel, NULL, &in, 0x01010101);
        assert_ok(acre_storage_copy(storage, &in, &out, &error));
        vulkan_kernel_add(kernel, NULL, &out, 0x01010101);
        assert_ok(acre_storage_copy(storage, &out, &in, &error));
    }
    check_filled(storage, a, 0, MIB, 20);
    acre_storage_dealloc(storage, a);
    acre_storage_dealloc(storage, b);
    acre_storage_destroy(storage);
    vulkan_kernel_end(kernel);
    vulkan_callers_device_end(&device);
}

// Nothing waits for them here but what the storage does itself.
static void pages_and_storages_may_end_with_copies_under_way(void **state) {
    (void)state;
    acre_storage *storage = make(NULL);
    acre_error error = ACRE_ERROR_INIT;
    for (int i = 0; i < 10; i++) {
        uint64_t a = page(storage, 4 * MIB);
        uint64_t b = page(storage, 4 * MIB);
        acre_resource from = part(storage, a, 0, 4 * MIB);
        acre_resource to = part(storage, b, 0, 4 * MIB);
        assert_ok(acre_storage_copy(storage, &from, &to, &error));
        acre_storage_dealloc(storage, a);
        acre_storage_dealloc(storage, b);
    }
    assert_int_equal(stats_of(storage).bytes_allocated, 0);
    acre_storage_destroy(storage);
}

// ---- streams -------------------------------------------------------------------------------

static void each_queue_has_a_timeline_of_its_own(void **state) {
    (void)state;
    stand_in = vulkan_stand_in_at(STAND_IN);
    stand_in->second_queue = true;
    vulkan_callers_device device = vulkan_callers_device_make(STAND_IN);
    assert_non_null(device.second_queue);
    acre_vulkan_storage_params params = ACRE_VULKAN_STORAGE_PARAMS_INIT;
    params.objects = &device.objects;
    acre_storage *storage = make(&params);
    const acre_storage_ops *ops = &storage->ops;
    uint64_t second = (uint64_t)(uintptr_t)device.second_queue;
    acre_error error = ACRE_ERROR_INIT;
    uint64_t ids[3];
    const uint64_t streams[3] = {0, second, (uint64_t)(uintptr_t)device.objects.queue};
    for (size_t i = 0; i < 3; i++) {
        assert_ok(ops->stream_id(storage->context, streams[i], &ids[i], &error));
    }
    assert_int_equal(ids[0], ids[2]); // the storage's own queue is stream 0
    assert_int_not_equal(ids[0], ids[1]);
    for (int i = 0; i < 100; i++) {
        uint64_t here = 0;
        uint64_t there = 0;
        bool done = false;
        assert_ok(ops->event_record(storage->context, 0, &here, &error));
        assert_ok(ops->event_wait(storage->context, here, second, &error));
        assert_ok(ops->event_record(storage->context, second, &there, &error));
        assert_int_not_equal(here, there);
        assert_ok(ops->event_sync(storage->context, there, &error));
        assert_ok(ops->event_done(storage->context, here, &done, &error));
        assert_true(done); // what it waited for
        assert_ok(ops->event_wait(storage->context, there, 0, &error));
        ops->event_destroy(storage->context, here);
        ops->event_destroy(storage->context, there);
    }
    assert_ok(acre_storage_wait(storage, NULL));
    acre_storage_destroy(storage);
    vulkan_callers_device_end(&device);
    assert_int_equal(stand_in->live, 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_resource_names_the_pages_buffer_an_offset_and_its_address),
        cmocka_unit_test(a_device_without_addresses_has_none),
        cmocka_unit_test(what_is_known_is_told_without_a_call),
        cmocka_unit_test(a_resource_of_another_storage_is_an_error),
        cmocka_unit_test(each_of_hundreds_of_pages_is_found_by_its_buffer),
        cmocka_unit_test(no_more_memories_are_asked_for_than_the_device_takes),
        cmocka_unit_test(the_smaller_of_memory_and_buffer_is_the_largest_allocation),
        cmocka_unit_test(what_a_buffer_needs_beyond_its_size_counts),
        cmocka_unit_test(caps_hold_and_are_named),
        cmocka_unit_test(nothing_is_asked_for_beyond_the_budget),
        cmocka_unit_test(pages_come_from_the_first_type_with_all_required_and_most_preferred),
        cmocka_unit_test(no_type_with_all_required_is_an_invalid_argument),
        cmocka_unit_test(a_type_that_buffers_may_not_have_is_not_taken),
        cmocka_unit_test(types_for_special_uses_are_taken_only_when_required),
        cmocka_unit_test(bytes_that_the_host_sees_are_written_in_place),
        cmocka_unit_test(bytes_that_the_host_does_not_see_go_through_memory_that_it_does),
        cmocka_unit_test(caches_of_the_host_are_flushed_in_whole_atoms),
        cmocka_unit_test(copies_that_follow_each_other_happen_in_their_order),
        cmocka_unit_test(a_write_comes_after_the_copies_before_it),
        cmocka_unit_test(kernels_and_copies_on_one_queue_need_no_barrier_between_them),
        cmocka_unit_test(pages_and_storages_may_end_with_copies_under_way),
        cmocka_unit_test(each_queue_has_a_timeline_of_its_own),
    };
    int missing = vulkan_missing();
    return missing != 0 ? missing : cmocka_run_group_tests(tests, NULL, NULL);
}
