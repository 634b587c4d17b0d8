// What the tests share: short ways to make devices, managers and requests, and to compare what a
// manager says before and after a step.
#ifndef ACRE_TESTS_SUPPORT_H
#define ACRE_TESTS_SUPPORT_H

#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <acre/acre.h>

#define KIB UINT64_C(1024)
#define MIB (KIB * 1024)
#define GIB (MIB * 1024)

#define COUNT_OF(array) (sizeof(array) / sizeof((array)[0]))

// The outcome of a call, compared by name so that a failure can be read.
#define assert_status(expected, call)                                                              \
    assert_string_equal(acre_status_name(call), acre_status_name(expected))
#define assert_ok(call) assert_status(ACRE_OK, call)

// A simulated device and one manager on it.
typedef struct rig {
    acre_storage *storage;
    acre_manager *manager;
} rig;

// A simulated device without limits.
acre_storage *simulated_device(void);
// A simulated device that refuses more than `total` bytes and pages larger than `largest`.
acre_storage *limited_device(uint64_t total, uint64_t largest);

// Options of a manager that ignores the environment.
acre_manager_options plain_options(uint64_t largest_page, uint64_t alignment);
// An explicit layout over `pools`, which must outlive its use.
acre_layout explicit_layout(const acre_pool_options *pools, size_t count);

// A manager on `storage`; the rig owns both.
rig rig_on(acre_storage *storage, const acre_manager_options *options);
// An explicit layout on an unlimited device; the first is for largest page 128 MiB, alignment 32.
rig rig_pools(const acre_pool_options *pools, size_t count);
rig rig_sized(uint64_t largest_page, uint64_t alignment, const acre_pool_options *pools,
              size_t count);
// The same on a device of the caller's, which the rig then owns.
rig rig_pools_on(acre_storage *storage, uint64_t largest_page, uint64_t alignment,
                 const acre_pool_options *pools, size_t count);
rig rig_preset(uint64_t largest_page, uint64_t alignment, acre_layout_kind kind);
// Checks the bookkeeping, destroys both and checks that every page went back.
void rig_close(rig *closed);

// A sliced pool as most checks want it: `slice` may be ACRE_UNSET, as may `cap`.
acre_pool_options sliced_pool(uint64_t page, uint64_t slice, uint64_t cap);
// The same with exact_large_slices.
acre_pool_options exact_pool(uint64_t page);
acre_pool_options exclusive_pool(uint64_t largest);
acre_pool_options direct_pool(uint64_t reclaim_at);

// Reserves or fails the test.
acre_handle *take(acre_manager *manager, uint64_t size);
acre_handle *take_with(acre_manager *manager, uint64_t size, uint64_t alignment,
                       acre_page_update update);
// Expects a refusal and returns its detail; the manager must be sound after it.
acre_error refuse(acre_manager *manager, uint64_t size, acre_status expected);
acre_error refuse_with(acre_manager *manager, uint64_t size, uint64_t alignment,
                       acre_page_update update, acre_status expected);
// Releases `count` handles on the manager's thread.
void drop_all(acre_manager *manager, acre_handle **handles, size_t count);

// Opens or closes a window, or fails the test.
void set_mode(acre_manager *manager, acre_mode mode);

void check(acre_manager *manager);
acre_report report_of(acre_manager *manager);
acre_usage usage_of(acre_manager *manager);
acre_pool_report pool_of(acre_manager *manager, uint32_t index);
acre_place place_of(acre_manager *manager, const acre_handle *handle);
uint64_t cursor_of(acre_manager *manager, const acre_handle *handle);
bool same_place(acre_place a, acre_place b);
acre_storage_stats stats_of(const acre_storage *storage);
// How often the simulated device was asked for a page.
uint64_t device_calls(const acre_storage *storage);
uint64_t round_up(uint64_t size, uint64_t alignment);

// Everything the reports say.
typedef struct snapshot {
    acre_report report;
    acre_pool_report pools[40]; // those of the layout, then persistent, then dedicated
    size_t count;
} snapshot;

snapshot snapshot_of(acre_manager *manager);
// Usage, pages, free room and shapes are equal.
void assert_same_state(const snapshot *a, const snapshot *b);
// Those and every mark and count.
void assert_unchanged(const snapshot *a, const snapshot *b);

// Host hooks that count, check what is given back, and can fail.
typedef struct host_probe host_probe;

host_probe *host_probe_create(void);
acre_host_hooks host_probe_hooks(host_probe *probe);
// The `nth` call from now fails (1 = the next), with `and_after` every later one too; 0 = none.
void host_probe_fail(host_probe *probe, uint64_t nth, bool and_after);
// True when a scripted failure was met since host_probe_fail.
bool host_probe_failed(const host_probe *probe);
uint64_t host_probe_calls(const host_probe *probe);
uint64_t host_probe_blocks(const host_probe *probe);
uint64_t host_probe_bytes(const host_probe *probe);
// Checks that all blocks came back with the size and alignment they were asked with.
void host_probe_destroy(host_probe *probe);

#endif
