// The model that acre-bench compares Acre with (bench/model.h) places as it says.
#include "../bench/model.h"

#include "support.h"

#define PAGE 4096
#define UNIT 256

static void is_at(const model_pool *pool, const model_handle *handle, uint64_t page,
                  uint64_t offset, uint64_t end) {
    uint64_t found[3];
    assert_non_null(handle);
    model_place(pool, handle, &found[0], &found[1], &found[2]);
    assert_int_equal(found[0], page);
    assert_int_equal(found[1], offset);
    assert_int_equal(found[2], end);
}

static void the_first_fit_is_taken_and_split(void **state) {
    (void)state;
    model_pool *pool = model_create(PAGE, UNIT);
    assert_non_null(pool);
    model_handle *a = model_reserve(pool, 3 * UNIT, true);
    model_handle *b = model_reserve(pool, UNIT, true);
    is_at(pool, a, 0, 0, 3 * UNIT);
    is_at(pool, b, 0, 3 * UNIT, 4 * UNIT);
    model_release(a);
    model_handle *c = model_reserve(pool, UNIT + 1, true); // | c c | free | b |
    is_at(pool, c, 0, 0, 2 * UNIT);
    is_at(pool, b, 0, 3 * UNIT, 4 * UNIT); // though its list was built anew
    model_release(b);
    model_release(c);
    model_destroy(pool);
}

static void free_neighbours_merge_at_the_next_request(void **state) {
    (void)state;
    model_pool *pool = model_create(PAGE, UNIT);
    assert_non_null(pool);
    model_handle *quarters[4];
    for (int i = 0; i < 4; i++) {
        quarters[i] = model_reserve(pool, PAGE / 4, true);
    }
    model_release(quarters[1]);
    model_release(quarters[2]);
    assert_null(model_reserve(pool, PAGE / 2 + 1, false));
    model_handle *half = model_reserve(pool, PAGE / 2, false);
    is_at(pool, half, 0, PAGE / 4, 3 * PAGE / 4);
    is_at(pool, quarters[3], 0, 3 * PAGE / 4, PAGE);
    model_release(quarters[0]);
    model_release(quarters[3]);
    model_release(half);
    model_destroy(pool);
}

static void a_page_is_added_only_when_it_may(void **state) {
    (void)state;
    model_pool *pool = model_create(PAGE, UNIT);
    assert_non_null(pool);
    assert_null(model_reserve(pool, UNIT, false));
    assert_null(model_reserve(pool, PAGE + 1, true));
    model_handle *whole = model_reserve(pool, PAGE, true);
    model_handle *next = model_reserve(pool, UNIT, true);
    is_at(pool, whole, 0, 0, PAGE);
    is_at(pool, next, 1, 0, UNIT);
    model_release(whole);
    model_release(next);
    model_destroy(pool);
}

// The bench fills the model by appending, which must leave what reserving would.
static void appending_places_as_reserving_does(void **state) {
    (void)state;
    enum {
        COUNT = 500
    };
    static model_handle *reserved[COUNT];
    static model_handle *appended[COUNT];
    model_pool *one = model_create(PAGE, UNIT);
    model_pool *other = model_create(PAGE, UNIT);
    assert_non_null(one);
    assert_non_null(other);
    for (uint64_t i = 0; i < COUNT; i++) {
        uint64_t size = 1 + i * 7919 % PAGE; // larger than what some pages have left
        uint64_t place[3];
        reserved[i] = model_reserve(one, size, true);
        appended[i] = model_append(other, size);
        assert_non_null(reserved[i]);
        model_place(one, reserved[i], &place[0], &place[1], &place[2]);
        is_at(other, appended[i], place[0], place[1], place[2]);
    }
    for (int i = 0; i < COUNT; i++) {
        model_release(reserved[i]);
        model_release(appended[i]);
    }
    model_destroy(one);
    model_destroy(other);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_first_fit_is_taken_and_split),
        cmocka_unit_test(free_neighbours_merge_at_the_next_request),
        cmocka_unit_test(a_page_is_added_only_when_it_may),
        cmocka_unit_test(appending_places_as_reserving_does),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
