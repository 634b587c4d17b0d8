// Everybody who can be measured on this machine.
#include "measure.h"
#include "subject.h"

#include <string.h>

static const bench_subject *found[BENCH_MAX_SUBJECTS];
static int found_count;

static void find_peer(bench *run, const char *who,
                      const bench_subject *(*load)(char *reason, size_t size)) {
    bench_missing missing = {who, "not asked for"};
    const bench_subject *subject =
        run->options.no_peers ? NULL : load(missing.reason, sizeof missing.reason);
    if (subject != NULL) {
        found[found_count++] = subject;
        return;
    }
    run->missing[run->missing_count++] = missing;
    fprintf(stderr, "acre-bench: no figures of %s: %s\n", who, missing.reason);
}

void bench_subjects_find(bench *run) {
    static const bench_subject *const own[] = {
        &bench_acre,          &bench_model,          &bench_acre_sub_slices,
        &bench_acre_adaptive, &bench_acre_exclusive, &bench_acre_direct,
    };
    for (size_t i = 0; i < sizeof own / sizeof *own; i++) {
        found[found_count++] = own[i];
    }
    find_peer(run, "mimalloc", bench_mimalloc_load);
    find_peer(run, "jemalloc", bench_jemalloc_load);
}

const bench_subject *const *bench_subjects(int *count) {
    *count = found_count;
    return found;
}

const bench_subject *bench_subject_named(const char *who) {
    for (int i = 0; i < found_count; i++) {
        if (strcmp(found[i]->who, who) == 0) {
            return found[i];
        }
    }
    return NULL;
}

void bench_fill(const bench_subject *subject, void *on, void **blocks, const uint64_t *sizes,
                uint32_t count) {
    bool filled = true;
    if (subject->fill != NULL) {
        filled = subject->fill(on, blocks, sizes, count);
    } else {
        for (uint32_t i = 0; i < count && filled; i++) {
            blocks[i] = subject->reserve(on, sizes[i]);
            filled = blocks[i] != NULL;
        }
    }
    if (!filled) {
        bench_fail("%s refused a request of the fill", subject->who);
    }
}
