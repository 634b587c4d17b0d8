// What the tests of relocation share.
#ifndef ACRE_TESTS_RELOCATION_RIG_H
#define ACRE_TESTS_RELOCATION_RIG_H

#include "support.h"

// An adaptive layout, alignment 32, on a simulated device of `total` bytes (0 = unknown).
static inline rig arena_rig(uint64_t largest_page, uint64_t total) {
    acre_layout layout = ACRE_LAYOUT_INIT(ACRE_LAYOUT_ADAPTIVE);
    acre_manager_options options = plain_options(largest_page, 32);
    options.layout = &layout;
    options.total_memory = total;
    return rig_on(simulated_device(), &options);
}

static inline acre_arena_state arena_of(acre_manager *manager) {
    acre_arena_state state = ACRE_ARENA_STATE_INIT;
    assert_ok(acre_manager_arena_state(manager, &state, NULL));
    return state;
}

// A relocation that must succeed, and leave the books in order.
static inline acre_relocation_report relocate(acre_manager *manager, acre_relocation_room room) {
    acre_relocation_options options = ACRE_RELOCATION_OPTIONS_INIT;
    acre_relocation_report report = ACRE_RELOCATION_REPORT_INIT;
    options.room = room;
    assert_ok(acre_manager_relocate(manager, &options, &report, NULL));
    check(manager);
    return report;
}

static inline acre_relocation *plan_of(acre_manager *manager, acre_relocation_room room) {
    acre_relocation_options options = ACRE_RELOCATION_OPTIONS_INIT;
    acre_relocation *plan = NULL;
    options.room = room;
    assert_ok(acre_manager_relocation_plan(manager, &options, &plan, NULL));
    assert_non_null(plan);
    check(manager);
    return plan;
}

// What a listener heard.
typedef struct event_log {
    uint32_t last_reserved;
    uint32_t last_freed;
    int frees;
} event_log;

static inline void event_log_hear(void *context, const acre_event *event) {
    event_log *log = context;
    if (event->kind == ACRE_EVENT_RESERVE) {
        log->last_reserved = event->allocation;
    } else if (event->kind == ACRE_EVENT_FREE) {
        log->last_freed = event->allocation;
        log->frees++;
    }
}

// ---- bytes of the host ---------------------------------------------------------------------

static inline rig host_rig(void) {
    acre_storage *storage = NULL;
    assert_ok(acre_storage_host_create(NULL, NULL, &storage, NULL));
    acre_layout layout = ACRE_LAYOUT_INIT(ACRE_LAYOUT_ADAPTIVE);
    acre_manager_options options = plain_options(128 * MIB, 32);
    options.layout = &layout;
    return rig_on(storage, &options);
}

static inline unsigned char *host_bytes_of(acre_manager *manager, const acre_handle *handle,
                                           uint64_t *size) {
    acre_resource resource = ACRE_RESOURCE_INIT;
    assert_ok(acre_manager_resolve(manager, handle, 0, 0, &resource, NULL));
    *size = resource.size;
    return resource.as.host;
}

static inline void paint_bytes(acre_manager *manager, const acre_handle *handle,
                               unsigned char seed) {
    uint64_t size;
    unsigned char *bytes = host_bytes_of(manager, handle, &size);
    for (uint64_t i = 0; i < size; i++) {
        bytes[i] = (unsigned char)(seed + i * 31 + i / 251);
    }
}

static inline void assert_painted(acre_manager *manager, const acre_handle *handle,
                                  unsigned char seed) {
    uint64_t size;
    const unsigned char *bytes = host_bytes_of(manager, handle, &size);
    for (uint64_t i = 0; i < size; i++) {
        if (bytes[i] != (unsigned char)(seed + i * 31 + i / 251)) {
            fail_msg("byte %d of allocation %d is lost", (int)i, seed);
        }
    }
}

// ---- a queue that watches, and fails on demand -----------------------------------------------

typedef struct watch {
    acre_storage *storage;
    int calls;   // of all three operations
    int fail_at; // 0 = never
    int device_waits, copies, copy_waits;
    uint64_t bytes;
} watch;

static inline acre_status watch_step(watch *seen, acre_error *error) {
    assert_int_equal(error->struct_size, sizeof *error); // a public function may fill it in
    if (++seen->calls == seen->fail_at) {
        error->native_code = 700;
        return ACRE_BACKEND_ERROR;
    }
    return ACRE_OK;
}

static inline acre_status watch_device(void *context, acre_error *error) {
    watch *seen = context;
    assert_int_equal(seen->copies, 0); // before the first copy
    seen->device_waits++;
    return watch_step(seen, error);
}

static inline acre_status watch_copy(void *context, const acre_resource *source,
                                     const acre_resource *target, uint64_t size,
                                     acre_error *error) {
    watch *seen = context;
    assert_int_equal(seen->device_waits, 1);
    assert_int_equal(source->size, size);
    assert_int_equal(target->size, size);
    acre_status status = watch_step(seen, error);
    if (status == ACRE_OK && source->kind == ACRE_RESOURCE_HOST) {
        const char *from = source->as.host;
        char *to = target->as.host;
        assert_true(from + size <= to || to + size <= from); // never overlapping
        memcpy(to, from, size);
    }
    seen->copies++;
    seen->bytes += size;
    return status;
}

static inline acre_status watch_copies(void *context, acre_error *error) {
    watch *seen = context;
    seen->copy_waits++;
    return watch_step(seen, error);
}

static inline acre_copy_queue queue_of(watch *seen) {
    acre_copy_queue queue = ACRE_COPY_QUEUE_INIT;
    queue.context = seen;
    queue.wait_device = watch_device;
    queue.copy = watch_copy;
    queue.wait_copies = watch_copies;
    return queue;
}

// 2 MiB pages with a, b and c on them, and a current page with room for all.
static inline void three_outdated(acre_manager *manager, acre_handle *h[3]) {
    h[0] = take(manager, 700 * KIB + 3);
    h[1] = take(manager, 1200 * KIB);
    h[2] = take(manager, 300 * KIB + 1);
    acre_manager_release(manager, take(manager, 9 * MIB));
}

#endif
