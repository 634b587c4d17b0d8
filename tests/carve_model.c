// The carving of pages against plain lists (model/seeds.h says how to lengthen and repeat a run).
#define _POSIX_C_SOURCE 200809L // clock_gettime

#include "carve/carve.h"
#include "model/dice.h"
#include "model/seeds.h"

#define MOST_RUNS  400
#define MOST_PAGES 12

typedef struct live_run {
    acre_run run;
    uint32_t page;
    uint64_t offset, size;
} live_run;

typedef struct carve_case {
    uint64_t seed;
    uint64_t step;
    model_dice dice;
    acre_host host;
    acre_slab slices;
    acre_carve carve;
    uint64_t page_sizes[MOST_PAGES]; // 0 = none
    uint32_t firsts[MOST_PAGES];
    live_run live[MOST_RUNS + 1]; // by page and offset
    uint32_t count;
    bool stacks; // what lies before the open run goes first, mostly
    bool freed;  // `last` was given back, and nothing was taken since
    live_run last;
    uint64_t unit;
} carve_case;

// What is free, by a walk over pages and live runs; and whether a gap holds `size` bytes at a
// multiple of `step`.
static acre_carve_free walk(const carve_case *at, uint64_t size, uint64_t step, bool *held) {
    acre_carve_free sum = {0, 0, 0};
    uint32_t next = 0;
    *held = false;
    for (uint32_t page = 0; page < MOST_PAGES; page++) {
        uint64_t start = 0;
        while (at->page_sizes[page] != 0) {
            bool last = next == at->count || at->live[next].page != page;
            uint64_t end = last ? at->page_sizes[page] : at->live[next].offset;
            uint64_t skip = start % step == 0 ? 0 : step - start % step;
            if (end > start) {
                sum.runs++;
                sum.bytes += end - start;
                sum.largest = end - start > sum.largest ? end - start : sum.largest;
            }
            *held = *held || (skip <= end - start && end - start - skip >= size);
            if (last) {
                break;
            }
            start = end + at->live[next++].size;
        }
    }
    return sum;
}

// => the free bytes around an offset
static uint64_t gap_around(const carve_case *at, const live_run *place) {
    uint64_t start = 0;
    uint64_t end = at->page_sizes[place->page];
    for (uint32_t i = 0; i < at->count; i++) {
        const live_run *other = &at->live[i];
        if (other->page == place->page && other->offset + other->size <= place->offset) {
            start = other->offset + other->size;
        } else if (other->page == place->page && other->offset < end) {
            end = other->offset;
        }
    }
    return place->offset + place->size <= end ? end - start : 0;
}

static void add_page(carve_case *at) {
    uint32_t page = (uint32_t)dice_below(&at->dice, MOST_PAGES);
    uint64_t size = at->unit * (1 + dice_below(&at->dice, 500));
    if (at->page_sizes[page] == 0) {
        assert_true(acre_carve_prepare(&at->carve, at->unit, size));
        assert_true(acre_slab_prepare(&at->slices, 1));
        at->firsts[page] = acre_carve_add_page(&at->carve, page, size);
        at->page_sizes[page] = size;
        return;
    }
    for (uint32_t i = 0; i < at->count; i++) {
        if (at->live[i].page == page) {
            return;
        }
    }
    acre_carve_remove_page(&at->carve, at->firsts[page]);
    at->page_sizes[page] = 0;
    at->freed = at->freed && at->last.page != page;
}

static void insert(carve_case *at, live_run run) {
    uint32_t place = at->count++;
    for (; place > 0 &&
           (at->live[place - 1].page > run.page ||
            (at->live[place - 1].page == run.page && at->live[place - 1].offset > run.offset));
         place--) {
        at->live[place] = at->live[place - 1];
    }
    at->live[place] = run;
}

static void remove_live(carve_case *at, uint32_t place) {
    at->count--;
    memmove(&at->live[place], &at->live[place + 1], (at->count - place) * sizeof at->live[0]);
}

// As the manager takes: what was freed lately, else from the open run, else after a search.
static acre_run take_run(carve_case *at, uint64_t size, uint64_t step) {
    if (step == at->unit) {
        acre_run run = acre_carve_take_freed(&at->carve, size, step);
        if (run.slice == NULL) {
            run = acre_carve_take_open(&at->carve, size);
        }
        if (run.slice != NULL) {
            acre_slice_set_live(run.slice);
            return run;
        }
    }
    return acre_carve_take(&at->carve, size, step);
}

static void take(carve_case *at) {
    uint64_t size = at->unit * (1 + dice_below(&at->dice, 1 + dice_below(&at->dice, 120)));
    uint64_t step = at->unit;
    if (at->freed && dice_chance(&at->dice, 40)) {
        size = at->last.size;
    }
    if (dice_chance(&at->dice, 30)) {
        step *= DICE_PICK(&at->dice, 2, 3, 8, 50, 1000);
    }
    bool held;
    walk(at, size, step, &held);
    bool again = at->freed && at->last.size == size && at->last.offset % step == 0;
    assert_true(acre_slab_prepare(&at->slices, ACRE_CARVE_RECORDS));
    acre_run run = take_run(at, size, step);
    REQUIRE(at->seed, at->step, (run.slice != NULL) == held);
    if (run.slice == NULL) { // a request that nothing holds changes nothing
        return;
    }
    live_run made = {run, acre_slice_page(run.slice), run.slice->offset, run.slice->size};
    REQUIRE(at->seed, at->step, made.size == size && made.offset % step == 0);
    REQUIRE(at->seed, at->step, gap_around(at, &made) >= size); // inside one gap: no overlap
    REQUIRE(at->seed, at->step,
            !again || (made.page == at->last.page && made.offset == at->last.offset));
    at->freed = false;
    if (run.slice->before == 0) {
        at->firsts[made.page] = run.name;
    }
    insert(at, made);
}

// => a live run to give back: any, or the one right before the open run, as a stack does.
static uint32_t pick(carve_case *at) {
    uint32_t any = (uint32_t)dice_below(&at->dice, at->count);
    for (uint32_t i = 0; i < at->count && dice_chance(&at->dice, 99); i++) {
        if (at->stacks && at->live[i].run.slice->after == at->carve.open.name) {
            return i;
        }
    }
    return any;
}

static void give(carve_case *at) {
    uint32_t gone = pick(at);
    at->last = at->live[gone];
    at->freed = true;
    remove_live(at, gone);
    uint32_t retired = acre_carve_give(&at->carve, at->last.run);
    if (retired != 0) {
        acre_carve_retire(&at->carve, retired);
    }
}

// Whether the carve's books agree with a walk over its runs.
static bool is_sound(const carve_case *at) {
    uint64_t runs = 0;
    uint64_t bytes = 0;
    uint64_t unmerged = 0;
    for (uint32_t page = 0; page < MOST_PAGES; page++) {
        for (uint32_t name = at->page_sizes[page] == 0 ? 0 : at->firsts[page]; name != 0;) {
            const acre_slice *slice = acre_slice_at(&at->slices, name);
            bool merged = acre_slice_state_of(slice) == ACRE_SLICE_FREE;
            runs += merged;
            bytes += merged ? slice->size : 0;
            unmerged += acre_slice_state_of(slice) == ACRE_SLICE_RECENT;
            name = slice->after;
        }
    }
    return acre_carve_check(&at->carve, runs, bytes, unmerged);
}

static void run_carve(uint64_t seed, uint64_t count) {
    carve_case *at = calloc(1, sizeof *at);
    assert_non_null(at);
    at->seed = seed;
    at->dice.state = seed;
    at->unit = DICE_PICK(&at->dice, 1, 10, 32, 50, 256);
    assert_int_equal(ACRE_OK, acre_host_init(&at->host, NULL, &(acre_error){0}));
    acre_slab_init(&at->slices, &at->host, at, sizeof(acre_slice));
    acre_carve_init(&at->carve, &at->host, &at->slices, at->unit, true);
    for (at->step = 0; at->step < count; at->step++) {
        uint64_t chance = dice_below(&at->dice, 100);
        if (chance < 50 && at->count < MOST_RUNS) {
            take(at);
        } else if (chance < 97 && at->count > 0) {
            give(at);
        } else {
            add_page(at);
        }
        bool held;
        acre_carve_free expected = walk(at, 1, 1, &held);
        acre_carve_free sum = acre_carve_get_free(&at->carve);
        REQUIRE(seed, at->step, sum.runs == expected.runs && sum.bytes == expected.bytes);
        REQUIRE(seed, at->step, sum.largest == expected.largest);
        if (at->step % 64 == 0) {
            REQUIRE(seed, at->step, is_sound(at));
            at->stacks = dice_chance(&at->dice, 50);
        }
    }
    acre_carve_destroy(&at->carve);
    acre_slab_destroy(&at->slices);
    REQUIRE(seed, at->step, at->host.bytes == 0);
    free(at);
}

static void
carving_never_overlaps_merges_what_is_free_and_returns_what_was_freed_last(void **state) {
    (void)state;
    repeat(run_carve);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(
            carving_never_overlaps_merges_what_is_free_and_returns_what_was_freed_last),
    };
    return cmocka_run_group_tests_name("carve_model", tests, NULL, NULL);
}
