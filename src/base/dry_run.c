#include <acre/dry_run.h>
#include <stdatomic.h>

#include "base/os.h"

static _Atomic uint64_t dry_runs;
static ACRE_THREAD_LOCAL uint64_t real_runs;

void acre_dry_run_begin(void) {
    atomic_fetch_add_explicit(&dry_runs, 1, memory_order_acq_rel);
}

void acre_dry_run_end(void) {
    uint64_t open = atomic_load_explicit(&dry_runs, memory_order_relaxed);
    while (open > 0 &&
           !atomic_compare_exchange_weak_explicit(&dry_runs, &open, open - 1, memory_order_acq_rel,
                                                  memory_order_relaxed)) {
    }
}

bool acre_dry_run_is_open(void) {
    return atomic_load_explicit(&dry_runs, memory_order_acquire) > 0;
}

void acre_real_run_begin(void) {
    real_runs++;
}

void acre_real_run_end(void) {
    if (real_runs > 0) {
        real_runs--;
    }
}

acre_launch_mode acre_launch_mode_now(void) {
    return acre_dry_run_is_open() && real_runs == 0 ? ACRE_LAUNCH_SKIP : ACRE_LAUNCH_EXECUTE;
}
