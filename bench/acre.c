// Acre as users call it: the public manager API on a simulated device, on each layout.
#include "loops.h"
#include "managers.h"

// The largest page of a layout that sizes its own pages.
#define LARGEST_PAGE (UINT64_C(16) << 30)

// The storage and the manager share a struct, so the loops read one pointer more than a program
// that keeps its manager at hand: it stays in a register.
BENCH_LOOP void *reserve(void *on, uint64_t size) {
    const bench_manager *made = on;
    acre_handle *handle = NULL;
    return acre_manager_reserve(made->manager, size, &handle, NULL) == ACRE_OK ? handle : NULL;
}

BENCH_LOOP void release(void *on, void *block) {
    const bench_manager *made = on;
    acre_manager_release(made->manager, block);
}

BENCH_LOOP void *reserve_held(void *on, uint64_t size) {
    const bench_manager *made = on;
    acre_reservation wanted = ACRE_RESERVATION_INIT(size);
    wanted.page_update = ACRE_PAGES_FORBIDDEN;
    acre_handle *handle = NULL;
    return acre_manager_reserve_with(made->manager, &wanted, &handle, NULL) == ACRE_OK ? handle
                                                                                       : NULL;
}

BENCH_DEFINE_LOOPS(acre, reserve, release)
BENCH_DEFINE_REFUSALS(acre, reserve_held)

static void *open_sliced(const bench_subject *subject, uint64_t page) {
    (void)subject;
    return bench_manager_open_sliced(page);
}

static void *open_direct(const bench_subject *subject, uint64_t page) {
    (void)subject;
    (void)page;
    acre_pool_options pool = ACRE_DIRECT_POOL;
    acre_layout layout = ACRE_LAYOUT_INIT(ACRE_LAYOUT_EXPLICIT);
    layout.pools = &pool;
    layout.pool_count = 1;
    return bench_manager_open(&layout, LARGEST_PAGE);
}

static void *open_layout(const bench_subject *subject, uint64_t page) {
    (void)page;
    acre_layout layout = ACRE_LAYOUT_INIT((acre_layout_kind)subject->layout);
    return bench_manager_open(&layout, LARGEST_PAGE);
}

static bool find_place(void *on, void *block, bench_place *place) {
    const bench_manager *made = on;
    acre_place found = ACRE_PLACE_INIT;
    if (acre_manager_get_place(made->manager, block, &found, NULL) != ACRE_OK) {
        return false;
    }
    *place = (bench_place){found.page, found.offset, found.offset + found.size + found.padding};
    return true;
}

static uint64_t host_bytes(void *on) {
    const bench_manager *made = on;
    acre_report report = ACRE_REPORT_INIT;
    acre_manager_report(made->manager, &report);
    return report.host_bytes;
}

#define ACRE_SUBJECT(name, kind, opener, able)                                                     \
    {                                                                                              \
        .who = (name), .abilities = BENCH_REFUSES | BENCH_PLACES | BENCH_HOST_BYTES | (able),      \
        .layout = (kind), .open = (opener), .close = bench_manager_close, .reserve = reserve,      \
        .release = release, .replace = acre_replace, .stack = acre_stack, .probe = acre_probe,     \
        .refuse = acre_refuse, .reserve_held = reserve_held, .place = find_place,                  \
        .host_bytes = host_bytes                                                                   \
    }

const bench_subject bench_acre = ACRE_SUBJECT("acre", ACRE_LAYOUT_EXPLICIT, open_sliced,
                                              BENCH_ANY_SIZE | BENCH_ONE_POOL | BENCH_PAGE_EACH);
const bench_subject bench_acre_sub_slices =
    ACRE_SUBJECT("acre-sub-slices", ACRE_LAYOUT_SUB_SLICES, open_layout, BENCH_ANY_SIZE);
const bench_subject bench_acre_adaptive = ACRE_SUBJECT(
    "acre-adaptive", ACRE_LAYOUT_ADAPTIVE, open_layout, BENCH_ANY_SIZE | BENCH_PAGE_EACH);
const bench_subject bench_acre_exclusive = ACRE_SUBJECT(
    "acre-exclusive", ACRE_LAYOUT_EXCLUSIVE_PAGES, open_layout, BENCH_ANY_SIZE | BENCH_PAGE_EACH);
const bench_subject bench_acre_direct =
    ACRE_SUBJECT("acre-direct", ACRE_LAYOUT_EXPLICIT, open_direct, BENCH_PAGE_EACH);
