// Managers to measure, for the workloads that only Acre has.
#ifndef ACRE_BENCH_MANAGERS_H
#define ACRE_BENCH_MANAGERS_H

#include <acre/acre.h>

typedef struct bench_manager {
    acre_storage *storage;
    acre_manager *manager;
} bench_manager;

// On a fresh simulated device. Ends the program with the error when that fails.
bench_manager *bench_manager_open_on(const acre_simulated_storage_params *device,
                                     const acre_layout *layout, uint64_t largest_page);
// On one without limits.
bench_manager *bench_manager_open(const acre_layout *layout, uint64_t largest_page);
// With one growable sliced pool.
bench_manager *bench_manager_open_sliced(uint64_t page);
void bench_manager_close(void *on); // a bench_manager

// Reserves or ends the program with the error.
acre_handle *bench_reserve(acre_manager *manager, uint64_t size);
_Noreturn void bench_fail_with(const acre_error *error);

#endif
