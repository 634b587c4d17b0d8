// Section 14, configuration: `key:value,key:value`, the same keys in a file, ACRE_CONF.
#include <unistd.h>

#include "support.h"

static acre_config parsed(const char *text) {
    acre_config config = ACRE_CONFIG_INIT;
    assert_ok(acre_config_parse(&config, text, NULL));
    return config;
}

static void every_value_of_every_key_is_understood(void **state) {
    (void)state;
    assert_int_equal(parsed("persistent_memory:enabled").persistent_memory,
                     ACRE_PERSISTENT_ENABLED);
    assert_int_equal(parsed("persistent_memory:size-match").persistent_memory,
                     ACRE_PERSISTENT_SIZE_MATCH);
    assert_int_equal(parsed("persistent_memory:disabled").persistent_memory,
                     ACRE_PERSISTENT_DISABLED);
    assert_int_equal(parsed("persistent_memory:enforced").persistent_memory,
                     ACRE_PERSISTENT_ENFORCED);
    assert_int_equal(parsed("log_level:disabled").log_level, ACRE_LOG_DISABLED);
    assert_int_equal(parsed("log_level:basic").log_level, ACRE_LOG_BASIC);
    assert_int_equal(parsed("log_level:full").log_level, ACRE_LOG_FULL);
    assert_string_equal(parsed("log_target:stdout").log_target, "stdout");
    assert_string_equal(parsed("log_target:logs/acre.txt").log_target, "logs/acre.txt");
}

static void several_keys_are_separated_by_commas(void **state) {
    (void)state;
    acre_config config = parsed("persistent_memory:enforced,log_level:full,log_target:stdout");
    assert_int_equal(config.persistent_memory, ACRE_PERSISTENT_ENFORCED);
    assert_int_equal(config.log_level, ACRE_LOG_FULL);
    assert_string_equal(config.log_target, "stdout");
}

static void keys_that_are_not_named_keep_their_values(void **state) {
    (void)state;
    acre_config config = parsed("persistent_memory:enforced");
    assert_ok(acre_config_parse(&config, "log_level:basic", NULL));
    assert_int_equal(config.persistent_memory, ACRE_PERSISTENT_ENFORCED);
    assert_int_equal(config.log_level, ACRE_LOG_BASIC);
    assert_ok(acre_config_parse(&config, "", NULL));
    assert_int_equal(config.persistent_memory, ACRE_PERSISTENT_ENFORCED);
}

static void assert_refused(const char *text, const char *named) {
    acre_config config = parsed("persistent_memory:disabled,log_level:basic,log_target:kept");
    acre_config before = config;
    acre_error error = ACRE_ERROR_INIT;
    assert_status(ACRE_INVALID_ARGUMENT, acre_config_parse(&config, text, &error));
    if (strstr(error.detail, named) == NULL) {
        print_error("\"%s\": \"%s\" does not name %s\n", text, error.detail, named);
    }
    assert_non_null(strstr(error.detail, named));
    assert_int_equal(config.persistent_memory, before.persistent_memory);
    assert_int_equal(config.log_level, before.log_level);
    assert_string_equal(config.log_target, before.log_target);
}

static void an_unknown_key_is_named(void **state) {
    (void)state;
    assert_refused("speed:11", "speed");
    assert_refused("log_level:full,speed:11", "speed");
    assert_refused("Log_Level:full", "Log_Level");
    assert_refused("log_levels:full", "log_levels");
    assert_refused("log:full", "log");
}

static void a_value_a_key_cannot_have_is_an_error_that_names_the_key(void **state) {
    (void)state;
    assert_refused("log_level:loud", "log_level");
    assert_refused("persistent_memory:yes", "persistent_memory");
    assert_refused("log_level:full,persistent_memory:size_match", "persistent_memory");
    assert_refused("log_level:fullest", "log_level");
    assert_refused("log_level:ful", "log_level");
}

static void a_key_without_a_value_is_named(void **state) {
    (void)state;
    assert_refused("log_level", "log_level");
    assert_refused("log_level:", "log_level");
    assert_refused("log_target:", "log_target");
    assert_refused("log_level:full,persistent_memory", "persistent_memory");
}

static void a_target_too_long_to_keep_is_refused(void **state) {
    (void)state;
    char text[400] = "log_target:";
    memset(text + strlen(text), 'x', 300);
    assert_refused(text, "log_target");
}

static void layouts_are_refused_with_a_hint_to_set_them_in_code(void **state) {
    (void)state;
    const char *texts[] = {"pools:8MiB", "layout:sub-slices", "log_level:full,layout:direct"};
    for (size_t i = 0; i < COUNT_OF(texts); i++) {
        assert_refused(texts[i], i == 0 ? "pools" : "layout");
        acre_config config = ACRE_CONFIG_INIT;
        acre_error error = ACRE_ERROR_INIT;
        assert_status(ACRE_INVALID_ARGUMENT, acre_config_parse(&config, texts[i], &error));
        assert_non_null(strstr(error.detail, "code"));
    }
}

// ---- files ---------------------------------------------------------------------------------

static char path[] = "acre-config-XXXXXX";

static void write_file(const char *text) {
    snprintf(path, sizeof(path), "acre-config-XXXXXX");
    int file = mkstemp(path);
    assert_true(file >= 0);
    assert_int_equal(write(file, text, strlen(text)), (ssize_t)strlen(text));
    close(file);
}

static void a_file_has_one_key_per_line(void **state) {
    (void)state;
    write_file("# for the night run\n\npersistent_memory:size-match\nlog_level:full\n"
               "log_target:stdout");
    acre_config config = ACRE_CONFIG_INIT;
    acre_status status = acre_config_read_file(&config, path, NULL);
    unlink(path);
    assert_ok(status);
    assert_int_equal(config.persistent_memory, ACRE_PERSISTENT_SIZE_MATCH);
    assert_int_equal(config.log_level, ACRE_LOG_FULL);
    assert_string_equal(config.log_target, "stdout");
}

static void an_error_in_a_file_names_file_line_and_key_and_changes_nothing(void **state) {
    (void)state;
    write_file("log_level:full\n# a remark\nspeed:11\n");
    acre_config config = ACRE_CONFIG_INIT;
    acre_error error = ACRE_ERROR_INIT;
    acre_status status = acre_config_read_file(&config, path, &error);
    unlink(path);
    assert_status(ACRE_INVALID_ARGUMENT, status);
    assert_non_null(strstr(error.detail, path));
    assert_non_null(strstr(error.detail, "3"));
    assert_non_null(strstr(error.detail, "speed"));
    assert_int_equal(config.log_level, ACRE_LOG_DISABLED);
}

static void a_layout_in_a_file_is_refused(void **state) {
    (void)state;
    write_file("layout:direct\n");
    acre_config config = ACRE_CONFIG_INIT;
    acre_error error = ACRE_ERROR_INIT;
    acre_status status = acre_config_read_file(&config, path, &error);
    unlink(path);
    assert_status(ACRE_INVALID_ARGUMENT, status);
    assert_non_null(strstr(error.detail, "layout"));
}

static void a_file_that_cannot_be_read_is_an_io_error(void **state) {
    (void)state;
    acre_config config = ACRE_CONFIG_INIT;
    acre_error error = ACRE_ERROR_INIT;
    assert_status(ACRE_IO_ERROR, acre_config_read_file(&config, "no-such-folder/conf", &error));
    assert_non_null(strstr(error.detail, "no-such-folder/conf"));
    assert_status(ACRE_IO_ERROR, acre_config_read_file(&config, ".", &error));
}

// ---- the environment -----------------------------------------------------------------------

static void the_environment_variable_is_read(void **state) {
    (void)state;
    acre_config config = ACRE_CONFIG_INIT;
    unsetenv("ACRE_CONF");
    assert_ok(acre_config_read_environment(&config, NULL));
    assert_int_equal(config.persistent_memory, ACRE_PERSISTENT_ENABLED);
    setenv("ACRE_CONF", "persistent_memory:enforced", 1);
    assert_ok(acre_config_read_environment(&config, NULL));
    assert_int_equal(config.persistent_memory, ACRE_PERSISTENT_ENFORCED);
    setenv("ACRE_CONF", "speed:11", 1);
    acre_error error = ACRE_ERROR_INIT;
    assert_status(ACRE_INVALID_ARGUMENT, acre_config_read_environment(&config, &error));
    assert_non_null(strstr(error.detail, "speed"));
    unsetenv("ACRE_CONF");
}

static void a_manager_without_a_configuration_reads_the_environment(void **state) {
    (void)state;
    acre_manager_options options = plain_options(128 * MIB, 32);
    options.config = NULL;
    setenv("ACRE_CONF", "persistent_memory:enforced", 1);
    rig r = rig_on(simulated_device(), &options);
    assert_int_equal(acre_manager_get_mode(r.manager), ACRE_MODE_PERSISTENT);
    rig_close(&r);

    setenv("ACRE_CONF", "layout:direct", 1);
    acre_storage *storage = simulated_device();
    acre_manager *manager = NULL;
    acre_error error = ACRE_ERROR_INIT;
    assert_status(ACRE_INVALID_ARGUMENT, acre_manager_create(storage, &options, &manager, &error));
    assert_null(manager);
    assert_non_null(strstr(error.detail, "layout"));

    acre_config given = ACRE_CONFIG_INIT; // which is not asked when there is one
    options.config = &given;
    r = rig_on(storage, &options);
    assert_int_equal(acre_manager_get_mode(r.manager), ACRE_MODE_AUTO);
    unsetenv("ACRE_CONF");
    rig_close(&r);
}

static void settings_of_a_later_version_are_unsupported(void **state) {
    (void)state;
    struct {
        acre_config config;
        uint64_t more;
    } newer;
    memset(&newer, 0, sizeof(newer));
    newer.config.struct_size = sizeof(newer);
    assert_ok(acre_config_parse(&newer.config, "log_level:full", NULL));
    assert_int_equal(newer.config.log_level, ACRE_LOG_FULL);
    assert_int_equal(newer.config.struct_size, sizeof(newer));
    newer.more = 1;
    assert_status(ACRE_UNSUPPORTED, acre_config_parse(&newer.config, "log_level:basic", NULL));
    assert_int_equal(newer.config.log_level, ACRE_LOG_FULL);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_value_of_every_key_is_understood),
        cmocka_unit_test(several_keys_are_separated_by_commas),
        cmocka_unit_test(keys_that_are_not_named_keep_their_values),
        cmocka_unit_test(settings_of_a_later_version_are_unsupported),
        cmocka_unit_test(an_unknown_key_is_named),
        cmocka_unit_test(a_value_a_key_cannot_have_is_an_error_that_names_the_key),
        cmocka_unit_test(a_key_without_a_value_is_named),
        cmocka_unit_test(a_target_too_long_to_keep_is_refused),
        cmocka_unit_test(layouts_are_refused_with_a_hint_to_set_them_in_code),
        cmocka_unit_test(a_file_has_one_key_per_line),
        cmocka_unit_test(an_error_in_a_file_names_file_line_and_key_and_changes_nothing),
        cmocka_unit_test(a_layout_in_a_file_is_refused),
        cmocka_unit_test(a_file_that_cannot_be_read_is_an_io_error),
        cmocka_unit_test(the_environment_variable_is_read),
        cmocka_unit_test(a_manager_without_a_configuration_reads_the_environment),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
