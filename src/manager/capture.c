// Capture scopes: how they come, open, end and drain.
#include "manager/capture.h"

#include "base/error.h"
#include "base/structs.h"

#include <inttypes.h>

#define CAPTURES_MOST 0xfffeu              // a number is the upper half of an index in reports
#define EXACT_PLACE   UINT32_C(0x0000ffff) // above any place in a layout

uint32_t acre_capture_count(const acre_manager *manager) {
    uint32_t count = 0;
    for (uint32_t i = 0; i < manager->capture_count; i++) {
        count += manager->captures[i] != NULL;
    }
    return count;
}

// ---- coming --------------------------------------------------------------------------------

// Makes room for one more scope and names it.
static acre_status find_number(acre_manager *manager, uint32_t *number, acre_error *error) {
    for (uint32_t i = 0; i < manager->capture_count; i++) {
        if (manager->captures[i] == NULL) {
            *number = i + 1;
            return ACRE_OK;
        }
    }
    if (manager->capture_count == CAPTURES_MOST) {
        return acre_error_set(error, ACRE_UNSUPPORTED, "a manager has at most %u capture scopes",
                              CAPTURES_MOST);
    }
    if (!acre_host_grow(acre_manager_host(manager), &manager->captures, sizeof *manager->captures,
                        manager->capture_count, manager->capture_count + 1,
                        &manager->capture_capacity)) {
        return acre_error_refuse(error, ACRE_OUT_OF_HOST_MEMORY, sizeof *manager->captures);
    }
    manager->captures[manager->capture_count++] = NULL;
    *number = manager->capture_count;
    return ACRE_OK;
}

static acre_status create(acre_manager *manager, acre_capture **capture, acre_error *error) {
    uint32_t number;
    acre_status status = find_number(manager, &number, error);
    if (status != ACRE_OK) {
        return status;
    }
    acre_host *host = acre_manager_host(manager);
    acre_capture *made = acre_host_alloc_zeroed(host, sizeof *made, _Alignof(acre_capture));
    if (made == NULL) {
        return acre_error_refuse(error, ACRE_OUT_OF_HOST_MEMORY, sizeof *made);
    }
    status =
        acre_layout_build_again(manager, ACRE_POOL_INDEX_CAPTURE(number, 0), &made->pools, error);
    if (status != ACRE_OK) {
        acre_host_free(host, made, sizeof *made, _Alignof(acre_capture));
        return status;
    }
    acre_error ignored; // an exact pool without options has nothing to refuse
    acre_pool_options exact = ACRE_DIRECT_POOL;
    (void)!acre_pool_init(&made->exact, &manager->heap,
                          ACRE_POOL_INDEX_CAPTURE(number, EXACT_PLACE), &exact, &ignored);
    made->manager = manager;
    made->host = *host;
    made->number = number;
    manager->captures[number - 1] = made;
    *capture = made;
    return ACRE_OK;
}

acre_status acre_manager_capture_create(acre_manager *manager, acre_capture **capture,
                                        acre_error *error) {
    acre_error local;
    acre_error *detail = acre_error_open(error, &local);
    acre_manager_take_pending(manager);
    return acre_error_close(error, detail, create(manager, capture, detail));
}

// ---- opening and closing -------------------------------------------------------------------

static void apply(const acre_capture *capture) {
    acre_manager *manager = capture->manager;
    acre_manager_apply_mode(manager);
    acre_log_write(&manager->log, ACRE_LOG_BASIC, "capture scope %" PRIu32 " %s", capture->number,
                   capture->open ? "opens" : "closes");
}

static void close_scope(acre_capture *capture) {
    acre_capture **link = &capture->manager->capturing;
    while (*link != capture) {
        link = &(*link)->outer;
    }
    *link = capture->outer;
    capture->open = false;
    apply(capture);
}

// => INVALID_ARGUMENT unless the scope is as it must be to begin or end.
static acre_status check_open(const acre_capture *capture, bool open, acre_error *error) {
    if (capture->manager == NULL) {
        return acre_error_set(error, ACRE_INVALID_ARGUMENT,
                              "the capture scope's manager was destroyed");
    }
    if (capture->open != open) {
        return acre_error_set(error, ACRE_INVALID_ARGUMENT, "the capture scope is %s",
                              open ? "not open" : "open already");
    }
    return ACRE_OK;
}

acre_status acre_capture_begin(acre_capture *capture, acre_error *error) {
    acre_error local;
    acre_error *detail = acre_error_open(error, &local);
    acre_status status = check_open(capture, false, detail);
    if (status == ACRE_OK) {
        acre_manager_take_pending(capture->manager);
        capture->outer = capture->manager->capturing;
        capture->manager->capturing = capture;
        capture->open = true;
        apply(capture);
    }
    return acre_error_close(error, detail, status);
}

acre_status acre_capture_end(acre_capture *capture, acre_error *error) {
    acre_error local;
    acre_error *detail = acre_error_open(error, &local);
    acre_status status = check_open(capture, true, detail);
    if (status == ACRE_OK) {
        acre_manager_take_pending(capture->manager);
        close_scope(capture);
    }
    return acre_error_close(error, detail, status);
}

// ---- ending --------------------------------------------------------------------------------

static void free_pools(acre_manager *manager, acre_capture *capture) {
    acre_layout_unbuild(manager, &capture->pools);
    acre_pool_destroy(&capture->exact);
}

// Gives the idle pages of a destroyed scope back. => how many; the scope is gone when it has none
static uint64_t drain(acre_manager *manager, acre_capture *capture) {
    acre_pool_set *set = &capture->pools;
    uint64_t returned = acre_pool_cleanup(&capture->exact, true);
    uint64_t left = capture->exact.pages;
    if (set->arena != NULL) {
        returned += acre_arena_drain(set->arena);
        left += acre_arena_outdated_pages(set->arena);
    }
    for (uint32_t i = 0; i < set->count; i++) {
        returned += acre_pool_cleanup(set->pools[i], true);
        left += set->pools[i]->pages;
    }
    if (left == 0) {
        manager->captures[capture->number - 1] = NULL;
        manager->captures_ended--;
        free_pools(manager, capture);
        acre_host_free(acre_manager_host(manager), capture, sizeof *capture,
                       _Alignof(acre_capture));
    }
    return returned;
}

uint64_t acre_capture_drain(acre_manager *manager) {
    uint64_t returned = 0;
    if (manager->captures_ended == 0) {
        return 0;
    }
    for (uint32_t i = 0; i < manager->capture_count; i++) {
        acre_capture *capture = manager->captures[i];
        if (capture != NULL && capture->ended) {
            returned += drain(manager, capture);
        }
    }
    return returned;
}

void acre_capture_destroy(acre_capture *capture) {
    if (capture == NULL) {
        return;
    }
    acre_manager *manager = capture->manager;
    if (manager == NULL) {
        acre_host own = capture->host;
        acre_host_free(&own, capture, sizeof *capture, _Alignof(acre_capture));
        return;
    }
    acre_manager_take_pending(manager);
    if (capture->open) {
        close_scope(capture);
    }
    capture->ended = true;
    manager->captures_ended++;
    capture->exact.returns_at_once = true;
    for (uint32_t i = 0; i < capture->pools.count; i++) {
        capture->pools.pools[i]->returns_at_once = true;
    }
    if (drain(manager, capture) > 0) {
        acre_storage_flush(manager->heap.storage);
    }
}

void acre_capture_leave_all(acre_manager *manager) {
    acre_host *host = acre_manager_host(manager);
    for (uint32_t i = 0; i < manager->capture_count; i++) {
        acre_capture *capture = manager->captures[i];
        if (capture == NULL) {
            continue;
        }
        free_pools(manager, capture);
        capture->manager = NULL;
        if (capture->ended) {
            acre_host_free(host, capture, sizeof *capture, _Alignof(acre_capture));
        }
    }
    acre_host_free(host, manager->captures, manager->capture_capacity * sizeof *manager->captures,
                   _Alignof(max_align_t));
    manager->captures = NULL;
    manager->capture_count = 0;
}

// ---- looking at it -------------------------------------------------------------------------

static void add_usage(acre_capture_report *report, const acre_pool *pool) {
    report->usage.allocations += pool->usage.allocations;
    report->usage.in_use += pool->usage.in_use;
    report->usage.padding += pool->usage.padding;
    report->usage.reserved += pool->usage.reserved;
    report->pages += pool->pages;
}

acre_status acre_capture_get_report(acre_capture *capture, acre_capture_report *report,
                                    acre_error *error) {
    acre_error local;
    acre_error *detail = acre_error_open(error, &local);
    if (capture->manager == NULL) {
        return acre_error_close(error, detail, check_open(capture, false, detail));
    }
    acre_manager_take_pending(capture->manager);
    acre_capture_report own = ACRE_CAPTURE_REPORT_INIT;
    own.number = capture->number;
    own.open = capture->open;
    own.pool_count = acre_pool_set_size(&capture->pools);
    for (uint32_t i = 0; i < own.pool_count; i++) {
        add_usage(&own, acre_manager_pool(capture->manager, capture->pools.first + i));
    }
    add_usage(&own, &capture->exact);
    acre_struct_write(report, &own, sizeof own);
    return ACRE_OK;
}
