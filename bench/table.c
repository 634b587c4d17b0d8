// The figures side by side, for people. A figure that was not measured is a dash.
#include "bench.h"

#include <string.h>

typedef struct row {
    const char *workload;
    const char *size;
} row;

static const row rows[] = {
    {"w1", "1k"},     {"w2", "1k"},     {"w2", "10k"},       {"w2", "100k"},
    {"w3", "1k"},     {"w4", "10k"},    {"miss", "1k"},      {"miss", "10k"},
    {"miss", "100k"}, {"pages", "10"},  {"pages", "100"},    {"pages", "1k"},
    {"pages", "10k"}, {"pages", "70k"}, {"pages-add", "1k"}, {"pages-add", "70k"},
};

#define ROWS    (sizeof rows / sizeof *rows)
#define COLUMNS 4

static const bench_figure *find(const bench *run, const row *at, const char *who,
                                const char *measure) {
    char name[BENCH_NAME];
    return bench_figure_find(run, bench_name(name, at->workload, at->size, who, measure));
}

static void print_label(const row *at) {
    char label[32];
    snprintf(label, sizeof label, "%s.%s", at->workload, at->size);
    printf("%-13s", label);
}

static void print_value(const bench_figure *figure, int width) {
    if (figure == NULL) {
        printf(" %*s", width, "-");
    } else {
        printf(" %*.*f", width, figure->value < 1000 ? 1 : 0, figure->value);
    }
}

static void print_ratio(const bench_figure *figure, const bench_figure *to) {
    if (figure == NULL || to == NULL || to->value <= 0) {
        printf(" %8s", "-");
    } else {
        printf(" %8.2f", figure->value / to->value);
    }
}

static bool has(const bench *run, const row *at, const char *const *who) {
    for (int i = 0; i < COLUMNS; i++) {
        if (find(run, at, who[i], "ns") != NULL) {
            return true;
        }
    }
    return false;
}

// => the number of rows that will follow.
static int print_head(const bench *run, const char *const *who, const char *title) {
    int count = 0;
    for (size_t i = 0; i < ROWS; i++) {
        count += has(run, &rows[i], who);
    }
    if (count > 0) {
        printf("\n%-13s", title);
        for (int i = 0; i < COLUMNS; i++) {
            const char *name = strncmp(who[i], "acre-", 5) == 0 ? who[i] + 5 : who[i];
            printf(" %10s", name);
        }
    }
    return count;
}

// Times of each; ratios to Acre's; Acre's tails.
static void print_peers(const bench *run) {
    static const char *const who[COLUMNS] = {"acre", "model", "mimalloc", "jemalloc"};
    static const char *const tails[] = {"ns.p99", "ns.p999", "ns.max"};
    if (print_head(run, who, "ns of a pair") == 0) {
        return;
    }
    printf(" | %8s %8s %8s | %9s %9s %9s\n", "model/", "mimall./", "jemall./", "acre p99", "p99.9",
           "max");
    for (size_t i = 0; i < ROWS; i++) {
        if (!has(run, &rows[i], who)) {
            continue;
        }
        const bench_figure *acre = find(run, &rows[i], "acre", "ns");
        print_label(&rows[i]);
        for (int j = 0; j < COLUMNS; j++) {
            print_value(find(run, &rows[i], who[j], "ns"), 10);
        }
        printf(" |");
        for (int j = 1; j < COLUMNS; j++) {
            print_ratio(find(run, &rows[i], who[j], "ns"), acre);
        }
        printf(" |");
        for (size_t j = 0; j < sizeof tails / sizeof *tails; j++) {
            print_value(find(run, &rows[i], "acre", tails[j]), 9);
        }
        putchar('\n');
    }
}

static void print_layouts(const bench *run) {
    static const char *const who[COLUMNS] = {"acre-sub-slices", "acre-adaptive", "acre-exclusive",
                                             "acre-direct"};
    if (print_head(run, who, "on layouts") == 0) {
        return;
    }
    putchar('\n');
    for (size_t i = 0; i < ROWS; i++) {
        if (has(run, &rows[i], who)) {
            print_label(&rows[i]);
            for (int j = 0; j < COLUMNS; j++) {
                print_value(find(run, &rows[i], who[j], "ns"), 10);
            }
            putchar('\n');
        }
    }
}

void bench_table(const bench *run) {
    for (int i = 0; i < run->missing_count; i++) {
        printf("no figures of %s: %s\n", run->missing[i].who, run->missing[i].reason);
    }
    print_peers(run);
    print_layouts(run);
    putchar('\n');
}
