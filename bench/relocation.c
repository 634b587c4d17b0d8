// What it costs to plan a relocation of everything that lives on outdated pages, and to drop the
// plan, against how many allocations that are. The arena's pages are of 2 MiB; half of what was on
// them is gone when a request of 3 MiB has it grow.
#include "managers.h"
#include "race.h"

#include <stdlib.h>

#define SIZE (UINT64_C(80) << 10) // above what the metadata pool takes

typedef struct arena {
    bench_manager *on;
    acre_handle **handles;
    uint32_t count; // of handles; those released are NULL
    uint32_t live;
} arena;

static arena build(uint32_t live) {
    acre_layout layout = ACRE_LAYOUT_INIT(ACRE_LAYOUT_ADAPTIVE);
    arena made = {bench_manager_open(&layout, UINT64_C(1) << 34), NULL, 2 * live + 1, live};
    made.handles = bench_alloc(made.count, sizeof(acre_handle *));
    bench_random random = BENCH_RANDOM_INIT;
    for (uint32_t i = 0; i < 2 * live; i++) {
        made.handles[i] = bench_reserve(made.on->manager, SIZE);
    }
    for (uint32_t i = 0; i < live; i++) { // one of each two: as many stay as were asked for
        uint32_t gone = 2 * i + bench_random_below(&random, 2);
        acre_manager_release(made.on->manager, made.handles[gone]);
        made.handles[gone] = NULL;
    }
    made.handles[made.count - 1] = bench_reserve(made.on->manager, UINT64_C(3) << 20);
    return made;
}

static void drop(arena *made) {
    for (uint32_t i = 0; i < made->count; i++) {
        acre_manager_release(made->on->manager, made->handles[i]);
    }
    bench_manager_close(made->on);
    free(made->handles);
}

// => nanoseconds of a plan and its end, for each allocation.
static double time_plan(const arena *made) {
    acre_error error = ACRE_ERROR_INIT;
    acre_relocation_options options = ACRE_RELOCATION_OPTIONS_INIT;
    options.room = ACRE_RELOCATION_ROOM_MAY_ADD;
    acre_relocation *plan = NULL;
    double start = bench_thread_now();
    if (acre_manager_relocation_plan(made->on->manager, &options, &plan, &error) != ACRE_OK) {
        bench_fail_with(&error);
    }
    double took = bench_thread_now() - start;
    if (acre_relocation_count(plan) != made->live) {
        bench_fail("a plan moves %zu of %u allocations", acre_relocation_count(plan), made->live);
    }
    start = bench_thread_now();
    acre_relocation_destroy(plan);
    return (took + bench_thread_now() - start) / made->live;
}

static double time_need(const arena *made) {
    const int calls = 200;
    double start = bench_thread_now();
    for (int i = 0; i < calls; i++) {
        if (acre_manager_relocation_need(made->on->manager) != ACRE_RELOCATION_NOT_NEEDED) {
            bench_fail("a device without limits is short of room");
        }
    }
    return (bench_thread_now() - start) / calls;
}

static void measure(bench *run, uint32_t live) {
    char plan_name[BENCH_NAME];
    char need_name[BENCH_NAME];
    char size[16];
    bench_size_name(live, size);
    bench_name(plan_name, "relocation-plan", size, "acre-adaptive", "ns");
    bench_name(need_name, "relocation-need", size, "acre-adaptive", "ns");
    if (!bench_wants(run, plan_name) && !bench_wants(run, need_name)) {
        return;
    }
    bench_progress(run, "relocation", size);
    arena made = build(live);
    time_plan(&made); // its targets take pages, which stay
    bench_series plans = {0};
    bench_series needs = {0};
    for (int i = 0; i < run->options.repetitions; i++) {
        bench_series_add(&plans, time_plan(&made));
        bench_series_add(&needs, time_need(&made));
    }
    bench_figure_add(run, plan_name, &plans, "ns");
    bench_figure_add(run, need_name, &needs, "ns");
    drop(&made);
}

void bench_relocation(bench *run) {
    measure(run, 1000);
    measure(run, 10000);
    measure(run, 100000);
}
