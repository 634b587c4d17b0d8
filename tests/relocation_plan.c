// The choices of a relocation as plain data: which pages first, which stretch of a page.
#include "support.h"

#include "relocation/plan.h"

static void pages_are_ordered_by_bytes_to_copy_for_each_byte_given_back(void **state) {
    (void)state;
    acre_source_page pages[] = {
        {100, 50, 0, 1},                // 0.5
        {1000, 100, 1, 2},              // 0.1
        {10, 5, 2, 3},                  // 0.5, younger
        {UINT64_MAX, UINT64_MAX, 3, 4}, // 1: no product wraps
        {UINT64_MAX, 1, 4, 5},          // next to nothing
        {7, 0, 5, 6},                   // nothing to copy
    };
    acre_relocation_order(pages, COUNT_OF(pages));
    const uint32_t expected[] = {6, 5, 2, 1, 3, 4};
    for (size_t i = 0; i < COUNT_OF(pages); i++) {
        assert_int_equal(pages[i].name, expected[i]);
    }
    acre_relocation_order(NULL, 0);
}

static bool smaller(const void *a, const void *b) {
    return *(const uint32_t *)a < *(const uint32_t *)b;
}

static void sorting_puts_any_number_of_elements_in_order(void **state) {
    (void)state;
    uint32_t numbers[100];
    uint64_t dice = 1;
    for (uint32_t count = 0; count <= COUNT_OF(numbers); count++) {
        uint64_t sum = 0;
        for (uint32_t i = 0; i < count; i++) {
            dice = dice * UINT64_C(6364136223846793005) + 1;
            numbers[i] = (uint32_t)(dice >> 33) % 50;
            sum += numbers[i];
        }
        acre_relocation_sort(numbers, count, sizeof numbers[0], smaller);
        for (uint32_t i = 0; i < count; i++) {
            assert_true(i == 0 || numbers[i - 1] <= numbers[i]);
            sum -= numbers[i];
        }
        assert_int_equal(sum, 0);
    }
}

// | 3 free | 5 live | 4 free | 1 live | 6 free |
static void a_stretch_has_the_fewest_live_bytes_that_give_the_size(void **state) {
    (void)state;
    const acre_source_run runs[] = {
        {3, false, 1}, {5, true, 2}, {4, false, 3}, {1, true, 4}, {6, false, 5}};
    const struct {
        uint64_t size;
        bool found;
        acre_stretch stretch;
    } cases[] = {{3, true, {0, 1, 0}},  {4, true, {2, 3, 0}},  {6, true, {4, 5, 0}},
                 {7, true, {3, 5, 1}},  {11, true, {2, 5, 1}}, {12, true, {0, 3, 5}},
                 {19, true, {0, 5, 6}}, {20, false, {0, 0, 0}}};
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        acre_stretch stretch = {0, 0, 0};
        assert_int_equal(acre_relocation_stretch(runs, COUNT_OF(runs), cases[i].size, &stretch),
                         cases[i].found);
        assert_int_equal(stretch.first, cases[i].stretch.first);
        assert_int_equal(stretch.end, cases[i].stretch.end);
        assert_int_equal(stretch.live, cases[i].stretch.live);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(pages_are_ordered_by_bytes_to_copy_for_each_byte_given_back),
        cmocka_unit_test(sorting_puts_any_number_of_elements_in_order),
        cmocka_unit_test(a_stretch_has_the_fewest_live_bytes_that_give_the_size),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
