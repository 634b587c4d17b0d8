// Exact reuse: 1,000 live; each is released and asked for again at once, in 50 rounds.
#include "race.h"

#define LIVE   1000u
#define ROUNDS 50

typedef struct tally {
    uint64_t same;    // requests that came back to their place
    uint64_t highest; // end of a round
} tally;

static bench_place place_of(bench_entry *entry, uint32_t i) {
    bench_place place = {0, 0, 0};
    if (!entry->subject->place(entry->on, entry->blocks[i], &place)) {
        bench_fail("%s does not know where an allocation is", entry->subject->who);
    }
    return place;
}

static void round_of(bench_entry *entry, const uint64_t *sizes, tally *sum) {
    sum->highest = 0;
    for (uint32_t i = 0; i < LIVE; i++) {
        bench_place before = place_of(entry, i);
        entry->subject->release(entry->on, entry->blocks[i]);
        entry->blocks[i] = entry->subject->reserve(entry->on, sizes[i]);
        if (entry->blocks[i] == NULL) {
            bench_fail("%s refused a request", entry->subject->who);
        }
        bench_place after = place_of(entry, i);
        sum->same += before.page == after.page && before.offset == after.offset;
        sum->highest = after.end > sum->highest ? after.end : sum->highest;
    }
}

static void measure(bench *run, bench_entry *entry, const uint64_t *sizes) {
    tally sum = {0, 0};
    round_of(entry, sizes, &sum);
    uint64_t first = sum.highest;
    for (int i = 1; i < ROUNDS; i++) {
        round_of(entry, sizes, &sum);
    }
    char name[BENCH_NAME];
    bench_name(name, "reuse", "1k", entry->subject->who, "percent");
    bench_figure_fixed(run, name, 100.0 * (double)sum.same / (ROUNDS * (double)LIVE), "percent");
    bench_name(name, "reuse", "1k", entry->subject->who, "ratio");
    bench_figure_fixed(run, name, (double)sum.highest / (double)first, "ratio");
}

static bool wanted(const bench *run, const char *who) {
    char name[BENCH_NAME];
    return bench_wants(run, bench_name(name, "reuse", "1k", who, "percent")) ||
           bench_wants(run, bench_name(name, "reuse", "1k", who, "ratio"));
}

void bench_reuse(bench *run) {
    int known = 0;
    const bench_subject *const *subjects = bench_subjects(&known);
    static void *blocks[LIVE];
    static uint64_t sizes[LIVE];
    static uint64_t later[LIVE];
    for (int i = 0; i < known; i++) {
        const bench_subject *subject = subjects[i];
        if ((subject->abilities & BENCH_PLACES) == 0 || !wanted(run, subject->who)) {
            continue;
        }
        bench_progress(run, "reuse.1k", subject->who);
        bench_random random = BENCH_RANDOM_INIT;
        bench_entry entry = {.subject = subject, .blocks = blocks};
        entry.on = subject->open(subject, BENCH_PAGE);
        for (uint32_t j = 0; j < LIVE; j++) {
            sizes[j] = bench_random_size(&random);
            later[j] = j % 3 == 0 ? bench_random_size(&random) : sizes[j];
        }
        bench_fill(subject, entry.on, blocks, sizes, LIVE);
        for (uint32_t j = 0; j < LIVE; j += 3) { // leaves holes that might tempt
            subject->release(entry.on, blocks[j]);
            blocks[j] = subject->reserve(entry.on, later[j]);
        }
        measure(run, &entry, later);
        for (uint32_t j = 0; j < LIVE; j++) {
            subject->release(entry.on, blocks[j]);
        }
        subject->close(entry.on);
    }
}
