// Resources, limits and memory types of the Vulkan storage, on a device and on one that a stand-in
// for the loader makes smaller, stricter or poorer than it is.
#include "vulkan_rig.h"

#include "storage/storage.h"
#include "storage/vulkan/memory_type.h"

enum {
    LOCAL = ACRE_VK_DEVICE_LOCAL,
    VISIBLE = ACRE_VK_HOST_VISIBLE,
    COHERENT = ACRE_VK_HOST_COHERENT,
    CACHED = ACRE_VK_HOST_CACHED,
};

static vulkan_stand_in *stand_in;

static acre_storage *make_through(const vulkan_stand_in *as) {
    stand_in = vulkan_stand_in_at(STAND_IN);
    return vulkan_make_through(STAND_IN, as);
}

static void end_through(acre_storage *storage) {
    acre_storage_destroy(storage);
    assert_int_equal(stand_in->live, 0);
    assert_int_equal(stand_in->faults, 0);
}

static acre_error refuse_page(acre_storage *storage, uint64_t size) {
    uint64_t id = 0;
    acre_error error = ACRE_ERROR_INIT;
    uint64_t before = stats_of(storage).bytes_allocated;
    assert_status(ACRE_OUT_OF_MEMORY, acre_storage_alloc(storage, size, &id, &error));
    assert_int_equal(stats_of(storage).bytes_allocated, before);
    return error;
}

// ---- resources -----------------------------------------------------------------------------

static void a_resource_names_the_pages_buffer_an_offset_and_its_address(void **state) {
    (void)state;
    acre_storage *storage = vulkan_make(NULL);
    uint64_t id = vulkan_page(storage, MIB);
    acre_resource whole = vulkan_part(storage, id, 0, MIB);
    acre_resource inner = vulkan_part(storage, id, 4096, 100);
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
    uint64_t id = vulkan_page(storage, MIB);
    assert_int_equal(vulkan_part(storage, id, 4096, 100).as.vulkan.address, 0);
    acre_storage_dealloc(storage, id);
    end_through(storage);
}

static void what_is_known_is_told_without_a_call(void **state) {
    (void)state;
    acre_storage *storage = vulkan_make(NULL);
    uint64_t id = vulkan_page(storage, MIB);
    uint64_t calls = acre_storage_calls(storage);
    (void)vulkan_part(storage, id, 64, 64);
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
    acre_storage *storage = vulkan_make(NULL);
    acre_storage *other = vulkan_make(NULL);
    uint64_t id = vulkan_page(storage, 1000);
    uint64_t foreign = vulkan_page(other, 1000);
    acre_resource resource = vulkan_part(storage, id, 0, 1000);
    acre_resource theirs = vulkan_part(other, foreign, 0, 1000);
    theirs.as.vulkan.buffer ^= UINT64_C(1) << 60; // handles of two devices may be equal
    char bytes[1000] = {0};
    acre_error error = ACRE_ERROR_INIT;
    assert_status(ACRE_INVALID_ARGUMENT, acre_storage_write(storage, &theirs, bytes, &error));
    assert_non_null(strstr(error.detail, "another storage"));
    assert_status(ACRE_INVALID_ARGUMENT, acre_storage_read(storage, &theirs, bytes, NULL));
    assert_status(ACRE_INVALID_ARGUMENT, acre_storage_copy(storage, &resource, &theirs, &error));
    assert_status(ACRE_INVALID_ARGUMENT, acre_storage_copy(storage, &theirs, &resource, &error));
    theirs.kind = ACRE_RESOURCE_HOST;
    assert_status(ACRE_INVALID_ARGUMENT, acre_storage_read(storage, &theirs, bytes, NULL));
    acre_resource beyond = resource;
    beyond.as.vulkan.offset = UINT64_MAX - 15;
    assert_status(ACRE_INVALID_ARGUMENT, acre_storage_write(storage, &beyond, bytes, &error));
    assert_non_null(strstr(error.detail, "beyond"));
    beyond = resource;
    beyond.size = UINT64_C(1) << 40;
    assert_status(ACRE_INVALID_ARGUMENT, acre_storage_read(storage, &beyond, bytes, NULL));
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
    acre_storage *storage = vulkan_make(NULL);
    uint64_t ids[PAGES];
    for (size_t i = 0; i < PAGES; i++) {
        ids[i] = vulkan_page(storage, 256);
        vulkan_fill(storage, ids[i], 0, 256, (int)(i % 251));
        if (i % 3 == 2) {
            acre_storage_dealloc(storage, ids[i - 1]);
            ids[i - 1] = vulkan_page(storage, 512);
            vulkan_fill(storage, ids[i - 1], 0, 256, (int)((i - 1) % 251));
        }
    }
    for (size_t i = 0; i < PAGES; i++) {
        vulkan_check_filled(storage, ids[i], 0, 256, (int)(i % 251));
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
        ids[i] = vulkan_page(storage, 1000);
    }
    uint64_t calls = acre_storage_calls(storage);
    acre_error error = refuse_page(storage, 1000);
    assert_non_null(strstr(error.detail, "3 allocations"));
    assert_int_equal(acre_storage_calls(storage), calls);
    acre_storage_dealloc(storage, ids[1]);
    ids[1] = vulkan_page(storage, 1000);
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
    acre_storage_dealloc(storage, vulkan_page(storage, 3 * MIB));
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
    uint64_t id = vulkan_page(storage, 1000);
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
    acre_storage *storage = vulkan_make(&params);
    acre_storage_limits limits = ACRE_STORAGE_LIMITS_INIT;
    acre_storage_limits_get(storage, &limits);
    assert_int_equal(limits.total_memory, 10 * MIB);
    assert_int_equal(limits.largest_allocation, 4 * MIB);
    assert_int_equal(refuse_page(storage, 4 * MIB + 1).capacity, 4 * MIB);
    uint64_t a = vulkan_page(storage, 4 * MIB);
    uint64_t b = vulkan_page(storage, 4 * MIB);
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
    acre_storage_dealloc(storage, vulkan_page(storage, 5 * MIB));
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
    acre_storage *storage = vulkan_make(&params);
    acre_storage_limits limits = ACRE_STORAGE_LIMITS_INIT;
    acre_storage_limits_get(storage, &limits);
    assert_int_equal(limits.total_memory, 64 * MIB);
    acre_storage_dealloc(storage, vulkan_page(storage, 1000));
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
    acre_storage_dealloc(storage, vulkan_page(storage, 1000));
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
    };
    int missing = vulkan_missing();
    return missing != 0 ? missing : cmocka_run_group_tests(tests, NULL, NULL);
}
