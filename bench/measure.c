// Clock, numbers, and a manager to measure.
#include "bench.h"

#include <stdlib.h>
#include <time.h>

double bench_now(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec * 1e9 + (double)now.tv_nsec;
}

static int compare(const void *a, const void *b) {
    double x = *(const double *)a;
    double y = *(const double *)b;
    return (x > y) - (x < y);
}

double bench_median(double *values, int count) {
    qsort(values, (size_t)count, sizeof *values, compare);
    return values[count / 2];
}

uint64_t bench_random_next(bench_random *random) {
    random->state ^= random->state >> 12;
    random->state ^= random->state << 25;
    random->state ^= random->state >> 27;
    return random->state * UINT64_C(0x2545f4914f6cdd1d);
}

// The inverse of the distribution function of a Pareto distribution with exponent 1/2, cut at both
// ends: x = low / (1 - u * (1 - sqrt(low / high)))^2, where sqrt(256 B / 4 MiB) is 1/128.
uint64_t bench_random_size(bench_random *random) {
    double u = (double)(bench_random_next(random) >> 11) * 0x1p-53;
    double root = 1 - u * (1 - 1.0 / 128);
    return (uint64_t)(256 / (root * root));
}

static void fail(const acre_error *error) {
    char text[512];
    acre_error_format(error, text, sizeof text);
    fprintf(stderr, "acre-bench: %s\n", text);
    exit(1);
}

bench_manager bench_manager_create(uint64_t page) {
    acre_error error = ACRE_ERROR_INIT;
    bench_manager made = {NULL, NULL};
    acre_pool_options pool = ACRE_SLICED_POOL(page);
    acre_layout layout = ACRE_LAYOUT_INIT(ACRE_LAYOUT_EXPLICIT);
    layout.pools = &pool;
    layout.pool_count = 1;
    acre_manager_options options = ACRE_MANAGER_OPTIONS_INIT;
    options.largest_page = page;
    options.layout = &layout;
    if (acre_storage_simulated_create(NULL, NULL, &made.storage, &error) != ACRE_OK ||
        acre_manager_create(made.storage, &options, &made.manager, &error) != ACRE_OK) {
        fail(&error);
    }
    return made;
}

void bench_manager_destroy(bench_manager *made) {
    acre_manager_destroy(made->manager);
    acre_storage_destroy(made->storage);
}

acre_handle *bench_reserve(acre_manager *manager, uint64_t size) {
    acre_error error = ACRE_ERROR_INIT;
    acre_handle *handle = NULL;
    if (acre_manager_reserve(manager, size, &handle, &error) != ACRE_OK) {
        fail(&error);
    }
    return handle;
}
