// Miss: many holes a little too small, in the request's own size class, and the answer is no.
#include "bench.h"

#include <stdlib.h>

#define ASKED (UINT64_C(520) * 1024)

// Fills a page with holes of 513 to 519 KiB, which share the class of 520 KiB, each between two
// live allocations, and leaves nothing else free.
static void time_refusal(bench *run, const char *name, uint32_t holes) {
    if (!bench_wants(run, name)) {
        return;
    }
    acre_handle **kept = calloc(holes, sizeof(acre_handle *));
    acre_handle **gaps = calloc(holes, sizeof(acre_handle *));
    if (kept == NULL || gaps == NULL) {
        exit(1);
    }
    uint64_t page = 0;
    for (uint32_t i = 0; i < holes; i++) {
        page += (UINT64_C(513) + i % 7) * 1024 + 256;
    }
    bench_manager on = bench_manager_create(page);
    for (uint32_t i = 0; i < holes; i++) {
        gaps[i] = bench_reserve(on.manager, (UINT64_C(513) + i % 7) * 1024);
        kept[i] = bench_reserve(on.manager, 256);
    }
    for (uint32_t i = 0; i < holes; i++) {
        acre_manager_release(on.manager, gaps[i]);
    }
    acre_reservation wanted = ACRE_RESERVATION_INIT(ASKED);
    wanted.page_update = ACRE_PAGES_FORBIDDEN;
    double times[16];
    for (int repetition = 0; repetition < run->options.repetitions; repetition++) {
        double start = bench_now();
        for (uint32_t i = 0; i < 100000; i++) {
            acre_handle *none = NULL;
            if (acre_manager_reserve_with(on.manager, &wanted, &none, NULL) == ACRE_OK) {
                fprintf(stderr, "acre-bench: a request that cannot fit was served\n");
                exit(1);
            }
        }
        times[repetition] = (bench_now() - start) / 100000;
    }
    bench_figure_add(run, name, bench_median(times, run->options.repetitions), "ns");
    for (uint32_t i = 0; i < holes; i++) {
        acre_manager_release(on.manager, kept[i]);
    }
    bench_manager_destroy(&on);
    free(kept);
    free(gaps);
}

void bench_refusals(bench *run) {
    time_refusal(run, "miss.1k.acre.ns", 1000);
    time_refusal(run, "miss.10k.acre.ns", 10000);
    time_refusal(run, "miss.100k.acre.ns", 100000);
}
