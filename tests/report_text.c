// Section 11, reports as text for people, JSON for programs, Prometheus text for monitoring.
#include <ctype.h>

#include "support.h"

static rig busy_rig(const char *name, acre_handle **handles) {
    static acre_pool_options pools[3];
    pools[0] = exclusive_pool(0);
    pools[1] = sliced_pool(MIB, 64 * KIB, 4 * MIB);
    pools[2] = direct_pool(ACRE_UNSET);
    acre_layout layout = explicit_layout(pools, 3);
    acre_manager_options options = plain_options(128 * MIB, 32);
    options.layout = &layout;
    options.name = name;
    rig r = rig_on(simulated_device(), &options);
    handles[0] = take(r.manager, 1000);
    handles[1] = take(r.manager, 3000001);
    handles[2] = take(r.manager, 0);
    return r;
}

static char *text_of(acre_manager *manager, acre_report_format format) {
    size_t length = acre_manager_report_write(manager, format, NULL, 0);
    assert_true(length > 0);
    char *text = malloc(length + 1);
    assert_non_null(text);
    assert_int_equal(acre_manager_report_write(manager, format, text, length + 1), length);
    assert_int_equal(strlen(text), length);
    return text;
}

static void every_format_is_written_like_snprintf(void **state) {
    (void)state;
    acre_handle *h[3];
    rig r = busy_rig("streams", h);
    for (int format = ACRE_REPORT_TEXT; format <= ACRE_REPORT_PROMETHEUS; format++) {
        char *whole = text_of(r.manager, (acre_report_format)format);
        size_t length = strlen(whole);
        const size_t rooms[] = {1, 2, 17, length / 2, length, length + 1};
        for (size_t i = 0; i < COUNT_OF(rooms); i++) {
            char *part = malloc(length + 2);
            assert_non_null(part);
            memset(part, '#', length + 2);
            assert_int_equal(
                acre_manager_report_write(r.manager, (acre_report_format)format, part, rooms[i]),
                length);
            assert_memory_equal(part, whole, rooms[i] - 1);
            assert_int_equal(part[rooms[i] - 1], 0);
            assert_int_equal(part[rooms[i]], '#');
            free(part);
        }
        free(whole);
    }
    drop_all(r.manager, h, 3);
    rig_close(&r);
}

static void the_text_for_people_names_the_manager(void **state) {
    (void)state;
    acre_handle *h[3];
    rig r = busy_rig("left encoder", h);
    char *text = text_of(r.manager, ACRE_REPORT_TEXT);
    assert_non_null(strstr(text, "left encoder"));
    assert_non_null(strchr(text, '\n'));
    free(text);
    drop_all(r.manager, h, 3);
    rig_close(&r);
}

// ---- JSON ----------------------------------------------------------------------------------

static bool value(const char **at);

static void blanks(const char **at) {
    while (isspace((unsigned char)**at)) {
        ++*at;
    }
}

static bool string(const char **at) {
    if (**at != '"') {
        return false;
    }
    for (++*at; **at != '"'; ++*at) {
        if ((unsigned char)**at < 0x20) {
            return false;
        }
        if (**at == '\\') {
            ++*at;
            if (**at == 'u') {
                for (int i = 1; i <= 4; i++) {
                    if (!isxdigit((unsigned char)(*at)[i])) {
                        return false;
                    }
                }
            } else if (**at == 0 || strchr("\"\\/bfnrt", **at) == NULL) {
                return false;
            }
        }
    }
    ++*at;
    return true;
}

static bool sequence(const char **at, char close, bool keys) {
    ++*at;
    blanks(at);
    if (**at == close) {
        ++*at;
        return true;
    }
    for (;;) {
        blanks(at);
        if (keys) {
            if (!string(at)) {
                return false;
            }
            blanks(at);
            if (*(*at)++ != ':') {
                return false;
            }
        }
        if (!value(at)) {
            return false;
        }
        blanks(at);
        if (**at == close) {
            ++*at;
            return true;
        }
        if (*(*at)++ != ',') {
            return false;
        }
    }
}

static bool value(const char **at) {
    blanks(at);
    if (**at == '{') {
        return sequence(at, '}', true);
    }
    if (**at == '[') {
        return sequence(at, ']', false);
    }
    if (**at == '"') {
        return string(at);
    }
    static const char *const words[] = {"true", "false", "null"};
    for (size_t i = 0; i < 3; i++) {
        if (strncmp(*at, words[i], strlen(words[i])) == 0) {
            *at += strlen(words[i]);
            return true;
        }
    }
    char *end = NULL;
    (void)strtod(*at, &end);
    bool number = end != *at && (isdigit((unsigned char)**at) || **at == '-');
    *at = end;
    return number;
}

static void assert_one_object(const char *text) {
    const char *at = text;
    blanks(&at);
    assert_int_equal(*at, '{');
    bool valid = value(&at);
    blanks(&at);
    if (!valid || *at != 0) {
        print_error("not JSON from \"%.40s\" on\n", at);
    }
    assert_true(valid);
    assert_int_equal(*at, 0);
}

static void the_text_for_programs_is_one_json_object(void **state) {
    (void)state;
    acre_handle *h[3];
    rig r = busy_rig("streams", h);
    char *text = text_of(r.manager, ACRE_REPORT_JSON);
    assert_one_object(text);
    assert_non_null(strstr(text, "\"streams\""));
    assert_non_null(strstr(text, "3001001")); // bytes in use: 1000 + 3000001
    assert_null(strstr(text, "18446744073709551615"));
    free(text);
    drop_all(r.manager, h, 3);
    rig_close(&r);
}

static void a_name_with_quotes_and_control_bytes_stays_valid_json(void **state) {
    (void)state;
    acre_handle *h[3];
    rig r = busy_rig("a \"b\" \\ c\n\t\x01", h);
    char *text = text_of(r.manager, ACRE_REPORT_JSON);
    assert_one_object(text);
    free(text);
    drop_all(r.manager, h, 3);
    rig_close(&r);
}

// ---- Prometheus ----------------------------------------------------------------------------

// name{label="value",...} number
static bool sample(const char *line, const char *end) {
    const char *at = line;
    if (!isalpha((unsigned char)*at) && *at != '_') {
        return false;
    }
    while (at < end && (isalnum((unsigned char)*at) || *at == '_' || *at == ':')) {
        at++;
    }
    if (at < end && *at == '{') {
        for (at++; at < end && *at != '}';) {
            while (at < end && (isalnum((unsigned char)*at) || *at == '_')) {
                at++;
            }
            if (at + 1 >= end || at[0] != '=' || at[1] != '"') {
                return false;
            }
            for (at += 2; at < end && *at != '"'; at++) {
                if (*at == '\\') {
                    at++;
                }
            }
            at++;
            if (at < end && *at == ',') {
                at++;
            }
        }
        at++;
    }
    if (at >= end || *at != ' ') {
        return false;
    }
    char *rest = NULL;
    (void)strtod(at, &rest);
    return rest == end;
}

static void the_text_for_monitoring_is_the_exposition_format(void **state) {
    (void)state;
    acre_handle *h[3];
    rig r = busy_rig("a \"b\" \\ c\nd", h);
    char *text = text_of(r.manager, ACRE_REPORT_PROMETHEUS);
    int samples = 0;
    for (const char *line = text; *line != 0;) {
        const char *end = strchr(line, '\n');
        assert_non_null(end); // the last line ends too
        if (*line == '#') {
            assert_true(strncmp(line, "# HELP ", 7) == 0 || strncmp(line, "# TYPE ", 7) == 0);
        } else {
            if (!sample(line, end)) {
                print_error("not a sample: %.*s\n", (int)(end - line), line);
            }
            assert_true(sample(line, end));
            assert_int_equal(strncmp(line, "acre_", 5), 0);
            samples++;
        }
        line = end + 1;
    }
    assert_true(samples >= 5 * 4); // three pools, persistent and dedicated
    assert_non_null(strstr(text, "# TYPE "));
    assert_non_null(strstr(text, "a \\\"b\\\" \\\\ c\\nd")); // the name, escaped
    free(text);
    drop_all(r.manager, h, 3);
    rig_close(&r);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_format_is_written_like_snprintf),
        cmocka_unit_test(the_text_for_people_names_the_manager),
        cmocka_unit_test(the_text_for_programs_is_one_json_object),
        cmocka_unit_test(a_name_with_quotes_and_control_bytes_stays_valid_json),
        cmocka_unit_test(the_text_for_monitoring_is_the_exposition_format),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
