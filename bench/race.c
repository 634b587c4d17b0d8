#include "race.h"

#include <stdlib.h>
#include <string.h>

// A subject whose cost grows with what lives gets as many pairs as that much looking takes.
#define LOOKS 4000000u

static bool wanted(const bench_race *race, const bench_subject *subject, unsigned abilities) {
    const bench_options *options = &race->run->options;
    char name[BENCH_NAME];
    bench_name(name, race->workload, race->size, subject->who, "ns");
    bool too_slow = subject->linear && options->quick && race->live > 20000;
    return (subject->abilities & abilities) == abilities && !too_slow &&
           bench_wants(race->run, name);
}

bool bench_race_begin(bench_race *race, bench *run, const char *workload, uint32_t label,
                      uint32_t live, uint32_t blocks, unsigned abilities, uint64_t page) {
    int known = 0;
    const bench_subject *const *subjects = bench_subjects(&known);
    memset(race, 0, sizeof *race);
    race->run = run;
    race->workload = workload;
    race->live = live;
    bench_size_name(label, race->size);
    for (int i = 0; i < known; i++) {
        if (wanted(race, subjects[i], abilities)) {
            bench_entry *entry = &race->entries[race->count++];
            entry->subject = subjects[i];
            entry->on = subjects[i]->open(subjects[i], page);
            entry->blocks = bench_alloc(blocks, sizeof *entry->blocks);
            entry->block_count = blocks;
        }
    }
    if (race->count == 0) {
        return false;
    }
    bench_progress(run, workload, race->size);
    race->sizes = bench_alloc(BENCH_DRAWN, sizeof *race->sizes);
    race->victims = bench_alloc(BENCH_DRAWN, sizeof *race->victims);
    race->ticks = bench_alloc(BENCH_PAIRS, sizeof *race->ticks);
    return true;
}

uint32_t bench_race_pairs(const bench_race *race, const bench_subject *subject) {
    if (!subject->linear) {
        return BENCH_PAIRS;
    }
    uint32_t pairs = LOOKS / race->live;
    return pairs < 100 ? 100 : pairs < 4000 ? pairs : 4000;
}

double bench_race_pass(bench_race *race, bench_entry *entry, bench_loop_fn loop, uint32_t depth,
                       bench_turn turn) {
    uint32_t pairs = bench_race_pairs(race, entry->subject);
    if (depth > 0) { // whole stacks
        pairs -= pairs % depth;
    }
    size_t first = (size_t)turn * BENCH_PAIRS;
    bench_pass pass = {entry->blocks,
                       race->sizes + first,
                       race->victims + first,
                       pairs,
                       depth,
                       turn == BENCH_TICKED ? race->ticks : NULL};
    double start = bench_thread_now();
    bool as_expected = loop(entry->on, &pass);
    double took = bench_thread_now() - start;
    if (!as_expected) {
        bench_fail("%s.%s: %s answered a request as it should not", race->workload, race->size,
                   entry->subject->who);
    }
    return took / pairs;
}

void bench_race_run(bench_race *race, bench_pick_fn pick, bench_draw_fn draw, void *context,
                    uint32_t depth) {
    for (int i = 0; i < race->run->options.repetitions; i++) {
        if (draw != NULL) {
            draw(race, context);
        }
        for (int j = 0; j < race->count; j++) {
            bench_entry *entry = &race->entries[(i + j) % race->count];
            bench_loop_fn loop = pick(entry->subject);
            if (!entry->subject->linear) { // what a cache holds is little of what that one costs
                bench_race_pass(race, entry, loop, depth, BENCH_WARM);
            }
            double ns = bench_race_pass(race, entry, loop, depth, BENCH_TIMED);
            bench_series_add(&entry->median, ns);
            bench_race_pass(race, entry, loop, depth, BENCH_TICKED);
            uint32_t pairs = bench_race_pairs(race, entry->subject);
            bench_tails_add(&entry->tails, race->ticks, depth > 0 ? pairs - pairs % depth : pairs);
        }
    }
}

void bench_race_end(bench_race *race) {
    for (int i = 0; i < race->count; i++) {
        bench_entry *entry = &race->entries[i];
        char name[BENCH_NAME];
        bench_name(name, race->workload, race->size, entry->subject->who, "ns");
        bench_figure_add(race->run, name, &entry->median, "ns");
        bench_tails_figures(race->run, name, &entry->tails);
        for (uint32_t j = 0; j < entry->block_count; j++) {
            if (entry->blocks[j] != NULL) {
                entry->subject->release(entry->on, entry->blocks[j]);
            }
        }
        entry->subject->close(entry->on);
        free(entry->blocks);
    }
    free(race->sizes);
    free(race->victims);
    free(race->ticks);
}
