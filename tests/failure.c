// Section 10, the graph: failures, their causes, their lifetime, and the chain as text.
#include "support.h"

#include <pthread.h>

// A failure from `hooks`, or the C library's allocator for NULL.
static acre_failure *failed_from(const acre_host_hooks *hooks, const char *message, int64_t code,
                                 acre_failure *const *causes, size_t count) {
    acre_failure_params params = ACRE_FAILURE_PARAMS_INIT;
    params.message = message;
    params.code = code;
    params.causes = causes;
    params.cause_count = count;
    acre_failure *failure = NULL;
    assert_ok(acre_failure_create(&params, hooks, &failure, NULL));
    assert_non_null(failure);
    return failure;
}

static acre_failure *failed(const char *message, int64_t code, acre_failure *const *causes,
                            size_t count) {
    return failed_from(NULL, message, code, causes, count);
}

// The whole text; the caller frees it.
static char *text_of(const acre_failure *failure) {
    size_t length = acre_failure_format(failure, NULL, 0);
    char *text = malloc(length + 1);
    assert_non_null(text);
    assert_int_equal(acre_failure_format(failure, text, length + 1), length);
    assert_int_equal(strlen(text), length);
    return text;
}

static void assert_text(const acre_failure *failure, const char *expected) {
    char *text = text_of(failure);
    assert_string_equal(text, expected);
    free(text);
}

// Failures of which each is caused by the one before; => the last, the others held by it alone.
static acre_failure *chain(const acre_host_hooks *hooks, size_t length) {
    acre_failure *last = failed_from(hooks, "0", 0, NULL, 0);
    for (size_t i = 1; i < length; i++) {
        char message[24];
        snprintf(message, sizeof message, "%zu", i);
        acre_failure *next = failed_from(hooks, message, (int64_t)i, &last, 1);
        acre_failure_release(last);
        last = next;
    }
    return last;
}

// ---- what a failure holds ------------------------------------------------------------------

static void a_failure_tells_the_message_code_and_causes_it_was_made_with(void **state) {
    (void)state;
    char message[] = "copy failed";
    acre_failure *first = failed(message, INT64_MIN, NULL, 0);
    message[0] = 'X'; // copied
    acre_failure *second = failed("", INT64_MAX, NULL, 0);
    acre_failure *causes[] = {first, second, first};
    acre_failure *third = failed("kernel not launched", -7, causes, 3);
    causes[0] = NULL; // copied too
    assert_string_equal(acre_failure_get_message(first), "copy failed");
    assert_true(acre_failure_get_code(first) == INT64_MIN);
    assert_int_equal(acre_failure_get_cause_count(first), 0);
    assert_null(acre_failure_get_cause(first, 0));
    assert_string_equal(acre_failure_get_message(second), "");
    assert_true(acre_failure_get_code(second) == INT64_MAX);
    assert_int_equal(acre_failure_get_code(third), -7);
    assert_int_equal(acre_failure_get_cause_count(third), 3);
    assert_ptr_equal(acre_failure_get_cause(third, 0), first);
    assert_ptr_equal(acre_failure_get_cause(third, 1), second);
    assert_ptr_equal(acre_failure_get_cause(third, 2), first);
    assert_null(acre_failure_get_cause(third, 3));
    assert_null(acre_failure_get_cause(third, SIZE_MAX));
    acre_failure_release(first);
    acre_failure_release(second);
    acre_failure_release(third);
}

static void a_message_may_have_as_many_bytes_as_the_header_says(void **state) {
    (void)state;
    static char message[ACRE_FAILURE_MESSAGE_MAX + 2];
    memset(message, 'm', sizeof message - 1);
    acre_failure_params params = ACRE_FAILURE_PARAMS_INIT;
    params.message = message;
    acre_failure *failure = NULL;
    acre_error error = ACRE_ERROR_INIT;
    assert_status(ACRE_INVALID_ARGUMENT, acre_failure_create(&params, NULL, &failure, &error));
    assert_non_null(strstr(error.detail, "65535"));
    assert_null(failure);
    message[ACRE_FAILURE_MESSAGE_MAX] = '\0';
    assert_ok(acre_failure_create(&params, NULL, &failure, NULL));
    assert_string_equal(acre_failure_get_message(failure), message);
    acre_failure_release(failure);
}

static void what_cannot_be_a_failure_is_refused(void **state) {
    (void)state;
    acre_failure *cause = failed("cause", 1, NULL, 0);
    acre_failure *with_null[] = {cause, NULL};
    const acre_failure_params bad[] = {
        {sizeof(acre_failure_params), NULL, 0, NULL, 0},
        {sizeof(acre_failure_params), "m", 0, NULL, 1},
        {sizeof(acre_failure_params), "m", 0, with_null, 2},
        {sizeof(acre_failure_params), "m", 0, &cause, (size_t)ACRE_FAILURE_CAUSES_MAX + 1},
        {sizeof(acre_failure_params), "m", 0, &cause, SIZE_MAX},
    };
    acre_failure *failure = NULL;
    for (size_t i = 0; i < COUNT_OF(bad); i++) {
        acre_error error = ACRE_ERROR_INIT;
        assert_status(ACRE_INVALID_ARGUMENT, acre_failure_create(&bad[i], NULL, &failure, &error));
        assert_int_equal(error.status, ACRE_INVALID_ARGUMENT);
        assert_true(error.detail[0] != '\0');
    }
    assert_status(ACRE_INVALID_ARGUMENT, acre_failure_create(NULL, NULL, &failure, NULL));
    acre_failure_params fine = {sizeof fine, "m", 0, NULL, 0};
    host_probe *probe = host_probe_create();
    acre_host_hooks no_free = host_probe_hooks(probe);
    no_free.free = NULL;
    assert_status(ACRE_INVALID_ARGUMENT, acre_failure_create(&fine, &no_free, &failure, NULL));
    host_probe_destroy(probe);
    assert_null(failure);
    acre_failure_release(cause);
}

static void parameters_of_other_versions_are_read_as_far_as_both_know(void **state) {
    (void)state;
    acre_failure *cause = failed("cause", 1, NULL, 0);
    acre_failure_params params = {offsetof(acre_failure_params, causes), "m", 5, &cause, 1};
    acre_failure *failure = NULL;
    assert_ok(acre_failure_create(&params, NULL, &failure, NULL)); // an older one: no causes
    assert_int_equal(acre_failure_get_code(failure), 5);
    assert_int_equal(acre_failure_get_cause_count(failure), 0);
    acre_failure_release(failure);
    struct {
        acre_failure_params known;
        uint64_t more;
    } later = {{sizeof later, "m", 6, &cause, 1}, 0};
    assert_ok(acre_failure_create(&later.known, NULL, &failure, NULL));
    assert_int_equal(acre_failure_get_cause_count(failure), 1);
    acre_failure_release(failure);
    later.more = 1;
    assert_status(ACRE_UNSUPPORTED, acre_failure_create(&later.known, NULL, &failure, NULL));
    params.struct_size = 0;
    assert_status(ACRE_UNSUPPORTED, acre_failure_create(&params, NULL, &failure, NULL));
    acre_failure_release(cause);
}

// ---- lifetime ------------------------------------------------------------------------------

static void a_cause_lives_as_long_as_what_it_caused(void **state) {
    (void)state;
    host_probe *probe = host_probe_create();
    acre_host_hooks hooks = host_probe_hooks(probe);
    acre_failure *cause = failed_from(&hooks, "cause", 1, NULL, 0);
    acre_failure *first = failed_from(&hooks, "first", 2, &cause, 1);
    acre_failure *second = failed_from(&hooks, "second", 3, &cause, 1);
    acre_failure_release(cause);
    assert_int_equal(host_probe_blocks(probe), 3);
    assert_ptr_equal(acre_failure_retain(first), first);
    acre_failure_release(first);
    assert_int_equal(host_probe_blocks(probe), 3);
    acre_failure_release(first);
    assert_int_equal(host_probe_blocks(probe), 2);
    assert_string_equal(acre_failure_get_message(acre_failure_get_cause(second, 0)), "cause");
    acre_failure *kept = acre_failure_retain(acre_failure_get_cause(second, 0));
    acre_failure_release(second);
    assert_int_equal(host_probe_blocks(probe), 1);
    assert_int_equal(acre_failure_get_code(kept), 1);
    acre_failure_release(kept);
    acre_failure_release(NULL);
    host_probe_destroy(probe);
}

static void failures_of_different_hooks_may_cause_each_other(void **state) {
    (void)state;
    host_probe *probes[2] = {host_probe_create(), host_probe_create()};
    acre_host_hooks hooks[2] = {host_probe_hooks(probes[0]), host_probe_hooks(probes[1])};
    acre_failure *last = failed_from(&hooks[0], "0", 0, NULL, 0);
    for (int i = 1; i < 100; i++) {
        acre_failure *next = failed_from(&hooks[i % 2], "n", i, &last, 1);
        acre_failure_release(last);
        last = next;
    }
    assert_int_equal(host_probe_blocks(probes[0]), 50);
    assert_int_equal(host_probe_blocks(probes[1]), 50);
    acre_failure_release(last);
    host_probe_destroy(probes[0]);
    host_probe_destroy(probes[1]);
}

static void a_failure_that_finds_no_host_memory_takes_no_reference(void **state) {
    (void)state;
    host_probe *probe = host_probe_create();
    acre_host_hooks hooks = host_probe_hooks(probe);
    acre_failure *cause = failed_from(&hooks, "cause", 1, NULL, 0);
    acre_failure_params params = {sizeof params, "m", 0, &cause, 1};
    for (uint64_t n = 1;; n++) {
        acre_failure *failure = NULL;
        acre_error error = ACRE_ERROR_INIT;
        host_probe_fail(probe, n, false);
        acre_status status = acre_failure_create(&params, &hooks, &failure, &error);
        if (!host_probe_failed(probe)) {
            assert_ok(status);
            acre_failure_release(failure);
            assert_true(n > 1);
            break;
        }
        assert_status(ACRE_OUT_OF_HOST_MEMORY, status);
        assert_int_equal(error.status, ACRE_OUT_OF_HOST_MEMORY);
        assert_null(failure);
        assert_int_equal(host_probe_blocks(probe), 1);
    }
    acre_failure_release(cause);
    host_probe_destroy(probe);
}

// ---- text ----------------------------------------------------------------------------------

static void what_two_failures_share_is_printed_once(void **state) {
    (void)state;
    acre_failure *copy = failed("the copy to the device failed", 700, NULL, 0);
    acre_failure *kernels[] = {failed("kernel softmax was not launched", 0, &copy, 1),
                               failed("kernel relu was not launched", -2, &copy, 1)};
    acre_failure *read = failed("the loss was not read", 0, kernels, 2);
    assert_text(copy, "[1] the copy to the device failed (code 700)");
    assert_text(read, "[1] the loss was not read (code 0), because of [2], [3]\n"
                      "[2] kernel softmax was not launched (code 0), because of [4]\n"
                      "[3] kernel relu was not launched (code -2), because of [4]\n"
                      "[4] the copy to the device failed (code 700)");
    acre_failure *twice[] = {copy, copy};
    acre_failure *odd = failed("%s %n", 1, twice, 2); // a message is no format
    assert_text(odd, "[1] %s %n (code 1), because of [2], [2]\n"
                     "[2] the copy to the device failed (code 700)");
    assert_text(NULL, "no failure");
    acre_failure *all[] = {copy, kernels[0], kernels[1], read, odd};
    for (size_t i = 0; i < COUNT_OF(all); i++) {
        acre_failure_release(all[i]);
    }
}

static void a_text_is_cut_where_the_buffer_ends(void **state) {
    (void)state;
    acre_failure *failure = chain(NULL, 3);
    char *whole = text_of(failure);
    size_t length = strlen(whole);
    for (size_t capacity = 0; capacity < length + 3; capacity++) {
        char buffer[256];
        memset(buffer, '#', sizeof buffer);
        assert_true(length + 3 < sizeof buffer);
        assert_int_equal(acre_failure_format(failure, buffer, capacity), length);
        if (capacity > 0) {
            size_t fits = capacity - 1 < length ? capacity - 1 : length;
            assert_memory_equal(buffer, whole, fits);
            assert_int_equal(buffer[fits], '\0');
        }
        for (size_t i = capacity; i < sizeof buffer; i++) {
            assert_int_equal(buffer[i], '#');
        }
    }
    free(whole);
    acre_failure_release(failure);
}

static void a_lattice_with_2_to_the_64_paths_has_a_line_for_each_failure(void **state) {
    (void)state;
    acre_failure *level[2] = {failed("x", 0, NULL, 0), failed("x", 0, NULL, 0)};
    for (int i = 0; i < 64; i++) {
        acre_failure *next[2] = {failed("x", 0, level, 2), failed("x", 0, level, 2)};
        for (int k = 0; k < 2; k++) {
            acre_failure_release(level[k]);
            level[k] = next[k];
        }
    }
    char *text = text_of(level[0]);
    size_t lines = 1;
    for (const char *at = text; *at != '\0'; at++) {
        lines += *at == '\n';
    }
    assert_int_equal(lines, 1 + 2 * 64);
    free(text);
    acre_failure_release(level[0]);
    acre_failure_release(level[1]);
}

static void causes_that_no_host_memory_is_left_to_follow_are_marked(void **state) {
    (void)state;
    host_probe *probe = host_probe_create();
    acre_host_hooks hooks = host_probe_hooks(probe);
    acre_failure *sixteen = chain(&hooks, 16);
    acre_failure *seventeen = failed_from(&hooks, "top", 9, &sixteen, 1);
    host_probe_fail(probe, 1, true);
    char *text = text_of(sixteen); // few need no memory
    assert_false(host_probe_failed(probe));
    assert_non_null(strstr(text, "[16] 0 (code 0)"));
    free(text);
    text = text_of(seventeen);
    assert_true(host_probe_failed(probe));
    assert_non_null(strstr(text, "[16] 1 (code 1), because of [?]\n"
                                 "(there was no host memory to follow the causes [?])"));
    free(text);
    host_probe_fail(probe, 0, false);
    text = text_of(seventeen);
    assert_non_null(strstr(text, "[16] 1 (code 1), because of [17]\n[17] 0 (code 0)"));
    free(text);
    acre_failure_release(sixteen);
    acre_failure_release(seventeen);
    acre_failure *causes[17];
    for (size_t i = 0; i < 17; i++) {
        causes[i] = failed_from(&hooks, "cause", 0, NULL, 0);
    }
    acre_failure *wide = failed_from(&hooks, "wide", 0, causes, 17);
    host_probe_fail(probe, 1, false); // once there was none, none is asked for again
    char line[256];
    acre_failure_format(wide, line, sizeof line);
    assert_non_null(strstr(line, ", [15], [16], [?], [?]\n[2] cause (code 0)\n"));
    acre_failure_release(wide);
    for (size_t i = 0; i < 17; i++) {
        acre_failure_release(causes[i]);
    }
    host_probe_destroy(probe);
}

enum {
    LONG = 100000
};

static void *print_and_release_long_ones(void *context) {
    acre_failure **failures = context;
    char *text = text_of(failures[0]);
    const char *start = "[1] 99999 (code 99999), because of [2]\n[2] 99998 ";
    const char *end = "\n[99999] 1 (code 1), because of [100000]\n[100000] 0 (code 0)";
    bool right = strncmp(text, start, strlen(start)) == 0 &&
                 strcmp(text + strlen(text) - strlen(end), end) == 0;
    free(text);
    text = text_of(failures[1]);
    end = "\n[100001] cause (code 7)";
    right = right && strstr(text, ", [100000], [100001]\n[2] cause (code 7)\n") != NULL &&
            strcmp(text + strlen(text) - strlen(end), end) == 0;
    free(text);
    acre_failure_release(failures[0]);
    acre_failure_release(failures[1]);
    return right ? context : NULL;
}

// On a stack that a few hundred nested calls would fill.
static void a_hundred_thousand_causes_are_printed_and_released_on_a_small_stack(void **state) {
    (void)state;
    acre_failure **causes = malloc(LONG * sizeof *causes);
    assert_non_null(causes);
    for (size_t i = 0; i < LONG; i++) {
        causes[i] = failed("cause", 7, NULL, 0);
    }
    acre_failure *failures[2] = {chain(NULL, LONG), failed("wide", 1, causes, LONG)};
    for (size_t i = 0; i < LONG; i++) {
        acre_failure_release(causes[i]);
    }
    free(causes);
    pthread_attr_t small;
    pthread_t thread;
    void *right = NULL;
    assert_int_equal(pthread_attr_init(&small), 0);
    assert_int_equal(pthread_attr_setstacksize(&small, (size_t)128 * 1024), 0);
    assert_int_equal(pthread_create(&thread, &small, print_and_release_long_ones, failures), 0);
    assert_int_equal(pthread_join(thread, &right), 0);
    pthread_attr_destroy(&small);
    assert_non_null(right);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_failure_tells_the_message_code_and_causes_it_was_made_with),
        cmocka_unit_test(a_message_may_have_as_many_bytes_as_the_header_says),
        cmocka_unit_test(what_cannot_be_a_failure_is_refused),
        cmocka_unit_test(parameters_of_other_versions_are_read_as_far_as_both_know),
        cmocka_unit_test(a_cause_lives_as_long_as_what_it_caused),
        cmocka_unit_test(failures_of_different_hooks_may_cause_each_other),
        cmocka_unit_test(a_failure_that_finds_no_host_memory_takes_no_reference),
        cmocka_unit_test(what_two_failures_share_is_printed_once),
        cmocka_unit_test(a_text_is_cut_where_the_buffer_ends),
        cmocka_unit_test(a_lattice_with_2_to_the_64_paths_has_a_line_for_each_failure),
        cmocka_unit_test(causes_that_no_host_memory_is_left_to_follow_are_marked),
        cmocka_unit_test(a_hundred_thousand_causes_are_printed_and_released_on_a_small_stack),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
