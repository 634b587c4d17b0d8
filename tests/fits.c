// What is free is found: each request is held against all free room, looked at one piece after the
// other. Sections 4 and 11.
#include "support.h"

#define MOST 4096

typedef struct map {
    acre_slice_info slices[MOST];
    size_t count;
} map;

static void note(void *context, const acre_slice_info *slice) {
    map *m = context;
    assert_true(m->count < MOST);
    m->slices[m->count++] = *slice;
}

static map *map_of(acre_manager *manager) {
    static map m;
    m.count = 0;
    acre_manager_visit_slices(manager, note, &m);
    return &m;
}

static uint64_t seed;

static uint64_t below(uint64_t bound) {
    seed ^= seed << 13;
    seed ^= seed >> 7;
    seed ^= seed << 17;
    return seed % bound;
}

// Sizes that crowd: many close to one another, few far apart, on both sides of a power of two.
static uint64_t crowded_size(void) {
    static const uint64_t centres[] = {64, 500, 4096, 65536, 70000, 262144, 300000};
    uint64_t centre = centres[below(COUNT_OF(centres))];
    return centre / 2 + below(centre / (1 + below(8)) + 1) + 1;
}

// Whether some free piece has `size` bytes at a multiple of `alignment`, by looking at all.
static bool fits_somewhere(const map *m, uint64_t size, uint64_t alignment) {
    for (size_t i = 0; i < m->count; i++) {
        const acre_slice_info *slice = &m->slices[i];
        uint64_t start = round_up(slice->offset, alignment);
        if (!slice->live && start + size <= slice->offset + slice->size) {
            return true;
        }
    }
    return false;
}

// Reports agree with the map: pieces, bytes and the largest.
static void assert_free_room(acre_manager *manager, const map *m) {
    uint64_t pieces = 0;
    uint64_t bytes = 0;
    uint64_t largest = 0;
    for (size_t i = 0; i < m->count; i++) {
        if (!m->slices[i].live) {
            pieces++;
            bytes += m->slices[i].size;
            largest = m->slices[i].size > largest ? m->slices[i].size : largest;
        }
    }
    acre_pool_report report = pool_of(manager, 0);
    assert_int_equal(report.free_slices, pieces);
    assert_int_equal(report.largest_free, largest);
    assert_int_equal(report.usage.reserved - report.usage.in_use - report.usage.padding, bytes);
}

// Fills a page with pieces, thin ones or as large as others, and makes holes of every second.
static size_t make_holes(acre_manager *manager, acre_handle **held, size_t count, bool thick) {
    for (size_t i = 0; i < count; i++) {
        held[i] = take(manager, i % 2 == 0 && !thick ? 1 : crowded_size());
    }
    for (size_t i = 1; i < count; i += 2) {
        acre_manager_release(manager, held[i]);
        held[i] = NULL;
    }
    return count;
}

static void a_sliced_pool_finds_room_exactly_when_some_piece_has_it(void **state) {
    (void)state;
    const uint64_t alignments[] = {32, 10, 1, 256};
    for (size_t k = 0; k < COUNT_OF(alignments); k++) {
        seed = UINT64_C(0x9e3779b97f4a7c15) + k;
        acre_pool_options pool = sliced_pool(64 * MIB, ACRE_UNSET, ACRE_UNSET);
        rig r = rig_sized(128 * MIB, alignments[k], &pool, 1);
        static acre_handle *held[1600];
        size_t count = make_holes(r.manager, held, 300, false);
        acre_handle *rest = take(r.manager, pool_of(r.manager, 0).largest_free); // of the page
        assert_int_equal(pool_of(r.manager, 0).pages, 1);
        int refused = 0;
        int served = 0;
        for (int step = 0; step < 1500; step++) {
            const map *m = map_of(r.manager);
            assert_free_room(r.manager, m);
            uint64_t size = crowded_size();
            bool fits = fits_somewhere(m, round_up(size, alignments[k]), 1);
            acre_reservation wanted = ACRE_RESERVATION_INIT(size);
            wanted.page_update = ACRE_PAGES_FORBIDDEN;
            acre_handle *handle = NULL;
            acre_status status = acre_manager_reserve_with(r.manager, &wanted, &handle, NULL);
            assert_status(fits ? ACRE_OK : ACRE_PAGE_UPDATE_FORBIDDEN, status);
            refused += !fits;
            served += fits;
            if (fits && count < COUNT_OF(held)) {
                held[count++] = handle;
            } else {
                acre_manager_release(r.manager, handle);
            }
            if (!fits || below(3) == 0) { // room for what comes: let one go
                size_t gone = below(count);
                acre_manager_release(r.manager, held[gone]);
                held[gone] = NULL;
            }
        }
        assert_true(refused > 20 && served > 20);
        check(r.manager);
        acre_manager_release(r.manager, rest);
        drop_all(r.manager, held, count);
        rig_close(&r);
    }
}

static void an_aligned_place_is_found_exactly_when_some_piece_has_one(void **state) {
    (void)state;
    const uint64_t own[] = {48, 4096, 65536, 262144, 524288, 1048576};
    seed = UINT64_C(0x2545f4914f6cdd1d);
    acre_pool_options pool = sliced_pool(64 * MIB, ACRE_UNSET, ACRE_UNSET);
    rig r = rig_sized(128 * MIB, 8, &pool, 1);
    static acre_handle *held[400];
    size_t count = make_holes(r.manager, held, 400, true);
    acre_handle *rest = take(r.manager, pool_of(r.manager, 0).largest_free);
    int refused = 0;
    int served = 0;
    for (int step = 0; step < 3000; step++) {
        const map *m = map_of(r.manager);
        uint64_t alignment = own[below(COUNT_OF(own))];
        uint64_t size = step % 2 == 0 ? crowded_size() : 150000 + below(250000);
        uint64_t step_size = alignment % 8 == 0 ? alignment : alignment * 8; // divided by both
        bool fits = fits_somewhere(m, round_up(size, 8), step_size);
        acre_reservation wanted = ACRE_RESERVATION_INIT(size);
        wanted.alignment = alignment;
        wanted.page_update = ACRE_PAGES_FORBIDDEN;
        acre_handle *handle = NULL;
        acre_status status = acre_manager_reserve_with(r.manager, &wanted, &handle, NULL);
        assert_status(fits ? ACRE_OK : ACRE_PAGE_UPDATE_FORBIDDEN, status);
        if (fits) {
            assert_int_equal(place_of(r.manager, handle).offset % step_size, 0);
        }
        refused += !fits;
        served += fits;
        acre_manager_release(r.manager, handle);
        if (step % 10 == 0) { // the holes change, the fences stay
            size_t slot = below(count / 2) * 2 + 1;
            if (held[slot] != NULL) {
                acre_manager_release(r.manager, held[slot]);
                held[slot] = NULL;
            } else {
                wanted = (acre_reservation){.struct_size = sizeof(wanted), .size = crowded_size()};
                wanted.page_update = ACRE_PAGES_FORBIDDEN;
                status = acre_manager_reserve_with(r.manager, &wanted, &held[slot], NULL);
                assert_true(status == ACRE_OK || status == ACRE_PAGE_UPDATE_FORBIDDEN);
            }
        }
    }
    assert_true(refused > 100 && served > 100);
    check(r.manager);
    acre_manager_release(r.manager, rest);
    drop_all(r.manager, held, count);
    rig_close(&r);
}

// The smallest free page that fits, held against all free pages.
static void an_exclusive_pool_takes_the_smallest_of_all_free_pages(void **state) {
    (void)state;
    seed = UINT64_C(0x853c49e6748fea9b);
    acre_pool_options pool = exclusive_pool(ACRE_UNSET);
    rig r = rig_pools(&pool, 1);
    static acre_handle *held[500];
    for (size_t i = 0; i < 500; i++) {
        held[i] = take(r.manager, crowded_size());
    }
    int reused = 0;
    for (int step = 0; step < 4000; step++) {
        size_t slot = below(500);
        if (held[slot] != NULL) {
            acre_manager_release(r.manager, held[slot]);
            held[slot] = NULL;
            continue;
        }
        const map *m = map_of(r.manager);
        uint64_t size = crowded_size();
        uint64_t padded = round_up(size, 32);
        uint64_t least = UINT64_MAX;
        for (size_t i = 0; i < m->count; i++) {
            if (!m->slices[i].live && m->slices[i].size >= padded && m->slices[i].size < least) {
                least = m->slices[i].size;
            }
        }
        uint64_t calls = device_calls(r.storage);
        held[slot] = take(r.manager, size);
        assert_int_equal(device_calls(r.storage), calls + (least == UINT64_MAX));
        uint32_t page = place_of(r.manager, held[slot]).page;
        m = map_of(r.manager);
        for (size_t i = 0; i < m->count; i++) {
            if (m->slices[i].page == page) {
                assert_int_equal(m->slices[i].size, least == UINT64_MAX ? padded : least);
            }
        }
        reused += least != UINT64_MAX;
    }
    assert_true(reused > 500);
    drop_all(r.manager, held, 500);
    rig_close(&r);
}

// A direct pool takes a free slice of the padded size if there is one, and else a new page.
static void a_direct_pool_reuses_exactly_when_a_free_slice_has_the_size(void **state) {
    (void)state;
    seed = UINT64_C(0xda3e39cb94b95bdb);
    acre_pool_options pool = direct_pool(ACRE_UNSET);
    rig r = rig_pools(&pool, 1);
    static acre_handle *held[300];
    memset(held, 0, sizeof(held));
    int reused = 0;
    for (int step = 0; step < 4000; step++) {
        size_t slot = below(300);
        if (held[slot] != NULL) {
            acre_manager_release(r.manager, held[slot]);
            held[slot] = NULL;
            continue;
        }
        uint64_t size = 70000 + below(3000);
        const map *m = map_of(r.manager);
        bool there = false;
        for (size_t i = 0; i < m->count; i++) {
            there = there || (!m->slices[i].live && m->slices[i].size == round_up(size, 32));
        }
        uint64_t calls = device_calls(r.storage);
        held[slot] = take(r.manager, size);
        assert_int_equal(device_calls(r.storage), calls + !there);
        reused += there;
    }
    assert_true(reused > 500);
    drop_all(r.manager, held, 300);
    rig_close(&r);
}

// Hundreds of pieces of 64 KiB and a little: only the luck of its place lets one serve.
static void an_aligned_place_is_found_among_pieces_of_nearly_one_size(void **state) {
    (void)state;
    const uint64_t spreads[] = {128, 8, 1}; // sizes apart by 8 bytes; at last all are equal
    for (size_t k = 0; k < COUNT_OF(spreads); k++) {
        seed = UINT64_C(0x6a09e667f3bcc909) + k;
        acre_pool_options pool = sliced_pool(64 * MIB, ACRE_UNSET, ACRE_UNSET);
        rig r = rig_sized(128 * MIB, 8, &pool, 1);
        static acre_handle *held[800];
        for (size_t i = 0; i < 800; i++) {
            held[i] =
                take(r.manager, i % 2 == 0 ? 8 + 8 * below(600) : 65536 + 8 * below(spreads[k]));
        }
        for (size_t i = 0; i < 400; i++) { // in no order
            size_t hole = ((i * 37) % 400) * 2 + 1;
            acre_manager_release(r.manager, held[hole]);
            held[hole] = NULL;
        }
        acre_handle *rest = take(r.manager, pool_of(r.manager, 0).largest_free);
        int refused = 0;
        int served = 0;
        acre_handle *kept = NULL;
        for (int step = 0; step < 2000; step++) {
            uint64_t alignment = UINT64_C(1) << (8 + below(13));
            uint64_t size = 65536 - 1024 + 8 * below(spreads[k] + 128);
            bool fits = fits_somewhere(map_of(r.manager), size, alignment);
            acre_reservation wanted = ACRE_RESERVATION_INIT(size);
            wanted.alignment = alignment;
            wanted.page_update = ACRE_PAGES_FORBIDDEN;
            acre_handle *handle = NULL;
            acre_status status = acre_manager_reserve_with(r.manager, &wanted, &handle, NULL);
            assert_status(fits ? ACRE_OK : ACRE_PAGE_UPDATE_FORBIDDEN, status);
            refused += !fits;
            served += fits;
            if (fits) { // it stays for a while, so that it is not merely handed out again
                acre_manager_release(r.manager, kept);
                kept = handle;
            }
        }
        assert_true(refused > 50 && served > 50);
        check(r.manager);
        acre_manager_release(r.manager, kept);
        acre_manager_release(r.manager, rest);
        drop_all(r.manager, held, 800);
        rig_close(&r);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_sliced_pool_finds_room_exactly_when_some_piece_has_it),
        cmocka_unit_test(an_aligned_place_is_found_exactly_when_some_piece_has_one),
        cmocka_unit_test(an_aligned_place_is_found_among_pieces_of_nearly_one_size),
        cmocka_unit_test(an_exclusive_pool_takes_the_smallest_of_all_free_pages),
        cmocka_unit_test(a_direct_pool_reuses_exactly_when_a_free_slice_has_the_size),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
