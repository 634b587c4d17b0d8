// A Vulkan driver that fails at any call: what lives stays as it is, nothing is lost, and the
// storage goes on. On memory that the host sees, on memory that it sees through caches, and on
// memory that it does not see.
#include "vulkan_rig.h"

#include "storage/storage.h"
#include "storage/vulkan/api.h"

enum {
    DEVICE_LOST = -4,
    SIZE = (2 << 20) + 4096, // three pieces of a staging block
};

typedef struct work {
    acre_storage *storage;
    uint64_t a; // a page of SIZE bytes, filled with ones
    uint64_t b; // and one filled with twos
    unsigned char *bytes;
} work;

static vulkan_stand_in *stand_in;

static const vulkan_stand_in kinds[] = {
    {.type_count = 1,
     .type_flags = {ACRE_VK_HOST_VISIBLE | ACRE_VK_HOST_COHERENT},
     .heap_size = GIB},
    {.type_count = 1, .type_flags = {ACRE_VK_HOST_VISIBLE}, .heap_size = GIB},
    {.type_count = 2,
     .type_flags = {ACRE_VK_DEVICE_LOCAL, ACRE_VK_HOST_VISIBLE | ACRE_VK_HOST_COHERENT},
     .heap_size = GIB},
};

static acre_resource whole(const work *w, uint64_t id) {
    acre_resource resource = ACRE_RESOURCE_INIT;
    acre_error error = ACRE_ERROR_INIT;
    assert_ok(acre_storage_resource(w->storage, id, 0, SIZE, &resource, &error));
    return resource;
}

static acre_status set(work *w, uint64_t id, int byte) {
    acre_resource resource = whole(w, id);
    memset(w->bytes, byte, SIZE);
    return acre_storage_write(w->storage, &resource, w->bytes, NULL);
}

static void assert_all(work *w, uint64_t id, int byte) {
    acre_resource resource = whole(w, id);
    memset(w->bytes, 0xee, SIZE);
    assert_ok(acre_storage_read(w->storage, &resource, w->bytes, NULL));
    for (size_t i = 0; i < SIZE; i += 1021) {
        assert_int_equal(w->bytes[i], byte);
    }
    assert_int_equal(w->bytes[SIZE - 1], byte);
}

static work begin(const vulkan_stand_in *kind, bool filled) {
    work w = {.bytes = malloc(SIZE)};
    assert_non_null(w.bytes);
    stand_in = vulkan_stand_in_at(STAND_IN);
    *stand_in = *kind;
    acre_vulkan_storage_params params = ACRE_VULKAN_STORAGE_PARAMS_INIT;
    params.library = STAND_IN;
    assert_ok(acre_storage_vulkan_create(&params, NULL, &w.storage, NULL));
    acre_error error = ACRE_ERROR_INIT;
    assert_ok(acre_storage_alloc(w.storage, SIZE, &w.a, &error));
    assert_ok(acre_storage_alloc(w.storage, SIZE, &w.b, &error));
    if (filled) {
        assert_ok(set(&w, w.a, 1));
        assert_ok(set(&w, w.b, 2));
    }
    return w;
}

static void end(work *w) {
    acre_storage_dealloc(w->storage, w->a);
    acre_storage_dealloc(w->storage, w->b);
    acre_storage_flush(w->storage);
    assert_int_equal(stats_of(w->storage).bytes_allocated, 0);
    acre_storage_destroy(w->storage);
    assert_int_equal(stand_in->live, 0);
    assert_int_equal(stand_in->faults, 0);
    free(w->bytes);
}

// One thing that a program does. => its status.
typedef acre_status (*deed)(work *w);

static acre_status allocate(work *w) {
    uint64_t id = 0;
    acre_error error = ACRE_ERROR_INIT;
    uint64_t before = stats_of(w->storage).bytes_allocated;
    int64_t memories = stand_in->memories;
    acre_status status = acre_storage_alloc(w->storage, SIZE, &id, &error);
    if (status == ACRE_OK) {
        acre_storage_dealloc(w->storage, id);
    } else {
        assert_int_not_equal(error.native_code, 0);
        assert_true(strlen(error.native_text) > 0);
        assert_true(stand_in->memories <= memories); // less by what was given back before
    }
    assert_int_equal(stats_of(w->storage).bytes_allocated, before);
    return status;
}

static acre_status copy(work *w) {
    acre_resource from = whole(w, w->a);
    acre_resource to = whole(w, w->b);
    acre_error error = ACRE_ERROR_INIT;
    return acre_storage_copy(w->storage, &from, &to, &error);
}

static acre_status copy_and_wait(work *w) {
    acre_status status = copy(w);
    return status != ACRE_OK ? status : acre_storage_wait(w->storage, NULL);
}

// More than there are command buffers, so that some wait for their turn.
static acre_status copy_often(work *w) {
    acre_resource from = whole(w, w->a);
    acre_resource to = whole(w, w->b);
    from.size = to.size = 64;
    acre_error error = ACRE_ERROR_INIT;
    for (int i = 0; i < 70; i++) {
        acre_status status = acre_storage_copy(w->storage, &from, &to, &error);
        if (status != ACRE_OK) {
            return status;
        }
    }
    return ACRE_OK;
}

static acre_status write_a(work *w) {
    return set(w, w->a, 1);
}

static acre_status read_a(work *w) {
    acre_resource resource = whole(w, w->a);
    return acre_storage_read(w->storage, &resource, w->bytes, NULL);
}

static acre_status use_events(work *w) {
    const acre_storage_ops *ops = &w->storage->ops;
    void *context = w->storage->context;
    acre_error error = ACRE_ERROR_INIT;
    uint64_t event = 0;
    bool done = false;
    acre_status status = ops->event_record(context, 0, &event, &error);
    status = status != ACRE_OK ? status : ops->event_wait(context, event, 0, &error);
    status = status != ACRE_OK ? status : ops->event_done(context, event, &done, &error);
    return status != ACRE_OK ? status : ops->event_sync(context, event, &error);
}

static const deed deeds[] = {allocate, copy_and_wait, write_a, read_a, use_events};

// With the `nth` call failing for nth = 1, 2, ... until none is met, each time on the storage that
// the failures before left, or on a fresh one.
static void fail_each_call_of(const vulkan_stand_in *kind, deed run, bool fresh, int64_t code) {
    acre_status status = ACRE_BACKEND_ERROR;
    work w = begin(kind, !fresh);
    for (uint64_t nth = 1; status != ACRE_OK; nth++) {
        if (fresh && nth > 1) {
            end(&w);
            w = begin(kind, false);
        }
        assert_ok(acre_storage_fail(w.storage, nth, false, code, NULL));
        uint64_t calls = acre_storage_calls(w.storage);
        status = run(&w);
        bool met = acre_storage_calls(w.storage) - calls >= nth;
        assert_true(met || status == ACRE_OK);
        if (status != ACRE_OK) {
            assert_status(code == 0 ? ACRE_OUT_OF_MEMORY : ACRE_BACKEND_ERROR, status);
        }
        assert_ok(acre_storage_fail(w.storage, 0, false, 0, NULL));
        assert_ok(run(&w));
        assert_ok(set(&w, w.a, 1)); // whatever a failed write left
        assert_ok(copy(&w));
        assert_all(&w, w.b, 1);
        assert_true(nth < 500);
    }
    end(&w);
}

static void one_failure_at_any_call_leaves_a_storage_that_goes_on(void **state) {
    (void)state;
    for (size_t k = 0; k < COUNT_OF(kinds); k++) {
        for (size_t d = 0; d < COUNT_OF(deeds); d++) {
            fail_each_call_of(&kinds[k], deeds[d], false, 0);
            fail_each_call_of(&kinds[k], deeds[d], false, DEVICE_LOST);
        }
        // The first write and read also make what they need: mappings, the staging block.
        fail_each_call_of(&kinds[k], write_a, true, DEVICE_LOST);
        fail_each_call_of(&kinds[k], read_a, true, 0);
    }
    fail_each_call_of(&kinds[0], copy_often, false, DEVICE_LOST);
}

static void a_failed_write_or_copy_leaves_other_pages_alone(void **state) {
    (void)state;
    for (size_t k = 0; k < COUNT_OF(kinds); k++) {
        for (uint64_t nth = 1; nth <= 12; nth++) {
            work w = begin(&kinds[k], true);
            assert_ok(acre_storage_fail(w.storage, nth, true, DEVICE_LOST, NULL));
            acre_status status = set(&w, w.a, 9);
            assert_true(status == ACRE_OK || status == ACRE_BACKEND_ERROR);
            status = copy(&w) == ACRE_OK ? copy_and_wait(&w) : ACRE_BACKEND_ERROR;
            assert_ok(acre_storage_fail(w.storage, 0, false, 0, NULL));
            if (status != ACRE_OK && stats_of(w.storage).copies == 0) {
                assert_all(&w, w.b, 2);
            }
            end(&w);
        }
    }
}

// From the nth call on the device answers nothing else; everything ends all the same.
static void a_lost_device_ends_with_its_pages_and_copies(void **state) {
    (void)state;
    for (size_t k = 0; k < COUNT_OF(kinds); k++) {
        for (uint64_t nth = 1; nth <= 40; nth += 3) {
            work w = begin(&kinds[k], false);
            assert_ok(acre_storage_fail(w.storage, nth, true, DEVICE_LOST, NULL));
            for (int i = 0; i < 10; i++) {
                for (size_t d = 0; d < COUNT_OF(deeds); d++) {
                    acre_status status = deeds[d](&w);
                    assert_true(status == ACRE_OK || status == ACRE_BACKEND_ERROR);
                }
            }
            end(&w);
        }
    }
}

// The copy is under way when its wait fails, and the page is given back meanwhile: it is off the
// books, and freed when the copy is done with it.
static void a_page_given_back_under_a_copy_is_freed_after_it(void **state) {
    (void)state;
    work w = begin(&kinds[0], true);
    uint64_t c = 0;
    acre_error error = ACRE_ERROR_INIT;
    assert_ok(acre_storage_alloc(w.storage, SIZE, &c, &error));
    acre_resource from = whole(&w, w.a);
    acre_resource to = whole(&w, c);
    int64_t memories = stand_in->memories;
    for (int i = 0; i < 5; i++) {
        assert_ok(acre_storage_copy(w.storage, &from, &to, &error));
    }
    assert_ok(acre_storage_fail(w.storage, 1, true, DEVICE_LOST, NULL));
    assert_status(ACRE_BACKEND_ERROR, acre_storage_wait(w.storage, &error));
    acre_storage_dealloc(w.storage, c);
    assert_int_equal(stats_of(w.storage).bytes_allocated, 2 * SIZE);
    assert_int_equal(stand_in->memories, memories); // it may still be written to
    acre_storage_flush(w.storage);
    assert_ok(acre_storage_fail(w.storage, 0, false, 0, NULL));
    assert_ok(acre_storage_wait(w.storage, NULL));
    acre_storage_flush(w.storage);
    assert_int_equal(stand_in->memories, memories - 1);
    end(&w);
}

static void host_memory_that_fails_at_any_call_changes_nothing(void **state) {
    (void)state;
    host_probe *probe = host_probe_create();
    acre_host_hooks hooks = host_probe_hooks(probe);
    acre_storage *storage = NULL;
    assert_ok(acre_storage_vulkan_create(NULL, &hooks, &storage, NULL));
    uint64_t ids[200];
    size_t count = 0;
    uint64_t refused = 0;
    acre_error error = ACRE_ERROR_INIT;
    while (count < COUNT_OF(ids)) {
        host_probe_fail(probe, 1, false);
        uint64_t before = stats_of(storage).bytes_allocated;
        acre_status status = acre_storage_alloc(storage, 1000, &ids[count], &error);
        if (status != ACRE_OK) {
            assert_status(ACRE_OUT_OF_HOST_MEMORY, status);
            assert_int_equal(stats_of(storage).bytes_allocated, before);
            refused++;
            host_probe_fail(probe, 2, false); // the next one: more room to find pages in
            assert_ok(acre_storage_alloc(storage, 1000, &ids[count], &error));
        }
        count++;
    }
    assert_int_equal(refused, COUNT_OF(ids));
    host_probe_fail(probe, 0, false);
    for (size_t i = 0; i < count; i++) {
        acre_storage_dealloc(storage, ids[i]);
    }
    acre_storage_destroy(storage);
    host_probe_destroy(probe);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(one_failure_at_any_call_leaves_a_storage_that_goes_on),
        cmocka_unit_test(a_failed_write_or_copy_leaves_other_pages_alone),
        cmocka_unit_test(a_lost_device_ends_with_its_pages_and_copies),
        cmocka_unit_test(a_page_given_back_under_a_copy_is_freed_after_it),
        cmocka_unit_test(host_memory_that_fails_at_any_call_changes_nothing),
    };
    int missing = vulkan_missing();
    return missing != 0 ? missing : cmocka_run_group_tests(tests, NULL, NULL);
}
