// Miss: many holes a little too small, in the request's own size class, and the answer is no.
#include "race.h"

#include <stdlib.h>

#define KIB   UINT64_C(1024)
#define ASKED (520 * KIB)

static bench_loop_fn pick(const bench_subject *subject) {
    return subject->refuse;
}

typedef struct plugs {
    void **blocks;
    size_t count;
} plugs;

// Takes all room that is held and large enough, so that what is left is too small.
static plugs plug(bench_entry *entry) {
    plugs made = {NULL, 0};
    for (;;) {
        void *block = entry->subject->reserve_held(entry->on, ASKED);
        if (block == NULL) {
            return made;
        }
        void **blocks = realloc(made.blocks, (made.count + 1) * sizeof *blocks);
        if (blocks == NULL) {
            bench_fail("no host memory for %zu blocks", made.count + 1);
        }
        made.blocks = blocks;
        made.blocks[made.count++] = block;
    }
}

// Holes of 513 to 519 KiB, which share the class of 520 KiB, each between live allocations of
// 66 KiB, which the adaptive layout keeps on the same pages.
static void time_refusal(bench *run, uint32_t holes) {
    bench_race race;
    if (!bench_race_begin(&race, run, "miss", holes, 2 * holes, 2 * holes, BENCH_REFUSES,
                          BENCH_PAGE)) {
        return;
    }
    uint64_t *sizes = bench_alloc(2 * (size_t)holes, sizeof *sizes);
    for (uint32_t i = 0; i < holes; i++) {
        sizes[2 * (size_t)i] = (513 + i % 7) * KIB;
        sizes[2 * (size_t)i + 1] = 66 * KIB;
    }
    plugs plugged[BENCH_MAX_SUBJECTS];
    for (int i = 0; i < race.count; i++) {
        bench_entry *entry = &race.entries[i];
        bench_fill(entry->subject, entry->on, entry->blocks, sizes, 2 * holes);
        for (uint32_t j = 0; j < 2 * holes; j += 2) {
            entry->subject->release(entry->on, entry->blocks[j]);
            entry->blocks[j] = NULL;
        }
        plugged[i] = plug(entry);
    }
    free(sizes);
    for (size_t i = 0; i < BENCH_DRAWN; i++) {
        race.sizes[i] = ASKED;
    }
    bench_race_run(&race, pick, NULL, NULL, 0);
    for (int i = 0; i < race.count; i++) {
        for (size_t j = 0; j < plugged[i].count; j++) {
            race.entries[i].subject->release(race.entries[i].on, plugged[i].blocks[j]);
        }
        free(plugged[i].blocks);
    }
    bench_race_end(&race);
}

void bench_refusals(bench *run) {
    time_refusal(run, 1000);
    time_refusal(run, 10000);
    time_refusal(run, 100000);
}
