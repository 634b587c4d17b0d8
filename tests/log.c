// Section 14, the log: what each level says, each line beginning with the manager's name.
#include <unistd.h>

#include "support.h"

typedef struct book {
    int lines;
    int full; // of them, those of the full level
} book;

static void write_down(void *context, acre_log_level level, const char *line) {
    book *b = context;
    b->lines++;
    b->full += level == ACRE_LOG_FULL;
    assert_int_equal(strncmp(line[0] == '[' ? line + 1 : line, "decoder 2", 9), 0);
    assert_null(strchr(line, '\n'));
    assert_true(level == ACRE_LOG_BASIC || level == ACRE_LOG_FULL);
}

static rig logged_rig(acre_log_level level, book *b) {
    static acre_config config;
    static acre_pool_options pool;
    memset(&config, 0, sizeof(config));
    config.struct_size = sizeof(config);
    config.log_level = level;
    pool = sliced_pool(1024, ACRE_UNSET, ACRE_UNSET);
    acre_layout layout = explicit_layout(&pool, 1);
    acre_manager_options options = plain_options(128 * MIB, 32);
    options.name = "decoder 2";
    options.layout = &layout;
    options.config = &config;
    options.log = write_down;
    options.log_context = b;
    return rig_on(simulated_device(), &options);
}

// How many lines each step adds.
typedef struct steps {
    int creation;
    int page;       // a reservation that adds a dynamic page
    int held;       // one that finds room
    int mode;       // a window opens
    int persistent; // a reservation that adds a persistent page
    int cleanup;    // an explicit cleanup
    int periodic;   // a periodic one
} steps;

static steps steps_at(acre_log_level level) {
    book b = {0};
    steps s;
    rig r = logged_rig(level, &b);
    s.creation = b.lines;
    int before = b.lines;
    acre_handle *h[3];
    h[0] = take(r.manager, 512);
    s.page = b.lines - before;
    before = b.lines;
    h[1] = take(r.manager, 256);
    s.held = b.lines - before;
    before = b.lines;
    set_mode(r.manager, ACRE_MODE_PERSISTENT);
    s.mode = b.lines - before;
    before = b.lines;
    h[2] = take(r.manager, 4096);
    s.persistent = b.lines - before;
    before = b.lines;
    acre_manager_cleanup(r.manager, ACRE_CLEANUP_EXPLICIT);
    s.cleanup = b.lines - before;
    before = b.lines;
    acre_manager_cleanup(r.manager, ACRE_CLEANUP_PERIODIC);
    s.periodic = b.lines - before;
    drop_all(r.manager, h, 3);
    rig_close(&r);
    if (level == ACRE_LOG_BASIC) {
        assert_int_equal(b.full, 0);
    }
    return s;
}

static void disabled_says_nothing(void **state) {
    (void)state;
    steps s = steps_at(ACRE_LOG_DISABLED);
    assert_int_equal(s.creation + s.page + s.held + s.mode + s.persistent + s.cleanup, 0);
}

static void basic_tells_pools_modes_persistent_pages_and_explicit_cleanups(void **state) {
    (void)state;
    steps s = steps_at(ACRE_LOG_BASIC);
    assert_true(s.creation >= 1);
    assert_int_equal(s.page, 0);
    assert_int_equal(s.held, 0);
    assert_true(s.mode >= 1);
    assert_true(s.persistent >= 1);
    assert_true(s.cleanup >= 1);
    assert_int_equal(s.periodic, 0);
}

static void full_also_tells_dynamic_pages_and_every_reservation(void **state) {
    (void)state;
    steps basic = steps_at(ACRE_LOG_BASIC);
    steps s = steps_at(ACRE_LOG_FULL);
    assert_true(s.creation >= basic.creation);
    assert_true(s.held >= 1);
    assert_true(s.page > s.held); // the page, beside the reservation
    assert_true(s.mode >= 1);
    assert_true(s.persistent > basic.persistent);
    assert_true(s.cleanup >= 1);
}

static size_t read_back(const char *path, char *text, size_t room) {
    FILE *file = fopen(path, "r");
    assert_non_null(file);
    size_t length = fread(text, 1, room - 1, file);
    fclose(file);
    text[length] = 0;
    return length;
}

static void lines_are_appended_to_a_file_that_is_the_target(void **state) {
    (void)state;
    char path[] = "acre-log-XXXXXX";
    int file = mkstemp(path);
    assert_true(file >= 0);
    assert_int_equal(write(file, "before\n", 7), 7);
    close(file);
    acre_config config = ACRE_CONFIG_INIT;
    config.log_level = ACRE_LOG_FULL;
    snprintf(config.log_target, sizeof(config.log_target), "%s", path);
    acre_manager_options options = plain_options(128 * MIB, 32);
    options.name = "encoder";
    options.config = &config;
    rig r = rig_on(simulated_device(), &options);
    acre_manager_release(r.manager, take(r.manager, 1000));
    acre_manager_cleanup(r.manager, ACRE_CLEANUP_EXPLICIT);
    rig_close(&r);

    static char text[65536];
    size_t length = read_back(path, text, sizeof(text));
    unlink(path);
    assert_int_equal(strncmp(text, "before\n", 7), 0);
    assert_int_equal(text[length - 1], '\n');
    int lines = 0;
    for (char *line = strtok(text + 7, "\n"); line != NULL; line = strtok(NULL, "\n")) {
        assert_int_equal(strncmp(line[0] == '[' ? line + 1 : line, "encoder", 7), 0);
        lines++;
    }
    assert_true(lines >= 3);
}

static void a_target_that_cannot_be_opened_is_an_io_error(void **state) {
    (void)state;
    acre_config config = ACRE_CONFIG_INIT;
    config.log_level = ACRE_LOG_BASIC;
    snprintf(config.log_target, sizeof(config.log_target), "no-such-folder/log");
    acre_manager_options options = plain_options(128 * MIB, 32);
    options.config = &config;
    acre_storage *storage = simulated_device();
    acre_manager *manager = NULL;
    acre_error error = ACRE_ERROR_INIT;
    assert_status(ACRE_IO_ERROR, acre_manager_create(storage, &options, &manager, &error));
    assert_null(manager);
    assert_non_null(strstr(error.detail, "no-such-folder/log"));
    acre_storage_destroy(storage);
}

static void a_long_name_is_kept_to_63_bytes(void **state) {
    (void)state;
    char name[100];
    memset(name, 'n', sizeof(name) - 1);
    name[sizeof(name) - 1] = 0;
    acre_manager_options options = plain_options(128 * MIB, 32);
    options.name = name;
    rig r = rig_on(simulated_device(), &options);
    static char text[65536];
    size_t length = acre_manager_report_write(r.manager, ACRE_REPORT_TEXT, text, sizeof(text));
    assert_true(length < sizeof(text));
    name[63] = 0;
    assert_non_null(strstr(text, name));
    name[63] = 'n';
    name[64] = 0;
    assert_null(strstr(text, name));
    rig_close(&r);
}

static void lines_go_to_stderr_by_default_and_to_stdout_when_asked(void **state) {
    (void)state;
    const char *targets[] = {"", "stderr", "stdout"};
    for (size_t i = 0; i < COUNT_OF(targets); i++) {
        FILE *stream = i == 2 ? stdout : stderr;
        char path[] = "acre-log-XXXXXX";
        int file = mkstemp(path);
        assert_true(file >= 0);
        fflush(stream);
        int kept = dup(fileno(stream));
        dup2(file, fileno(stream));
        acre_config config = ACRE_CONFIG_INIT;
        config.log_level = ACRE_LOG_BASIC;
        snprintf(config.log_target, sizeof(config.log_target), "%s", targets[i]);
        acre_manager_options options = plain_options(128 * MIB, 32);
        options.name = "encoder";
        options.config = &config;
        rig r = rig_on(simulated_device(), &options);
        acre_manager_cleanup(r.manager, ACRE_CLEANUP_EXPLICIT);
        rig_close(&r);
        fflush(stream);
        dup2(kept, fileno(stream));
        close(kept);
        close(file);
        static char text[65536];
        (void)read_back(path, text, sizeof(text));
        unlink(path);
        assert_non_null(strstr(text, "encoder"));
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(disabled_says_nothing),
        cmocka_unit_test(basic_tells_pools_modes_persistent_pages_and_explicit_cleanups),
        cmocka_unit_test(full_also_tells_dynamic_pages_and_every_reservation),
        cmocka_unit_test(lines_are_appended_to_a_file_that_is_the_target),
        cmocka_unit_test(lines_go_to_stderr_by_default_and_to_stdout_when_asked),
        cmocka_unit_test(a_target_that_cannot_be_opened_is_an_io_error),
        cmocka_unit_test(a_long_name_is_kept_to_63_bytes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
