// The model, as somebody to measure.
#include "loops.h"
#include "model.h"

#define ALIGNMENT 256 // as the simulated device asks of slices

BENCH_LOOP void *reserve(void *on, uint64_t size) {
    return model_reserve(on, size, true);
}

BENCH_LOOP void *reserve_held(void *on, uint64_t size) {
    return model_reserve(on, size, false);
}

BENCH_LOOP void release(void *on, void *block) {
    (void)on;
    model_release(block);
}

BENCH_DEFINE_LOOPS(model, reserve, release)
BENCH_DEFINE_REFUSALS(model, reserve_held)

static void *open_pool(const bench_subject *subject, uint64_t page) {
    (void)subject;
    model_pool *pool = model_create(page, ALIGNMENT);
    if (pool == NULL) {
        bench_fail("no host memory for the model");
    }
    return pool;
}

static void close_pool(void *on) {
    model_destroy(on);
}

static bool fill(void *on, void **blocks, const uint64_t *sizes, uint32_t count) {
    for (uint32_t i = 0; i < count; i++) {
        blocks[i] = model_append(on, sizes[i]);
        if (blocks[i] == NULL) {
            return false;
        }
    }
    return true;
}

static bool find_place(void *on, void *block, bench_place *place) {
    model_place(on, block, &place->page, &place->offset, &place->end);
    return true;
}

const bench_subject bench_model = {
    .who = "model",
    .abilities = BENCH_ANY_SIZE | BENCH_REFUSES | BENCH_PLACES | BENCH_ONE_POOL | BENCH_PAGE_EACH,
    .linear = true,
    .open = open_pool,
    .close = close_pool,
    .reserve = reserve,
    .release = release,
    .fill = fill,
    .replace = model_replace,
    .stack = model_stack,
    .probe = model_probe,
    .refuse = model_refuse,
    .reserve_held = reserve_held,
    .place = find_place,
};
