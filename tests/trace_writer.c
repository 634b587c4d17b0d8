#define _DEFAULT_SOURCE // symlink

#include <acre/trace.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "trace_files.h"

static acre_trace_event make(acre_trace_action action, uint64_t thread, uint64_t time,
                             uint64_t pointer, uint64_t size, uint64_t stream) {
    acre_trace_event event = ACRE_TRACE_EVENT_INIT;
    event.action = action;
    event.thread = thread;
    event.time = time;
    event.pointer = pointer;
    event.size = size;
    event.stream = stream;
    return event;
}

static acre_trace_writer *open_fine(const char *path) {
    acre_error error = ACRE_ERROR_INIT;
    acre_trace_writer *writer = NULL;
    if (acre_trace_writer_open(path, NULL, &writer, &error) != ACRE_OK)
        fail_msg("%s", error.detail);
    return writer;
}

static void a_written_file_holds_these_lines(void **state) {
    (void)state;
    static const char *const names[] = {"lines.csv", "lines.csv.gz"};
    for (int i = 0; i < 2; i++) {
        const char *path = trace_path(names[i]);
        acre_trace_writer *writer = open_fine(path);
        acre_trace_event events[] = {
            make(ACRE_TRACE_ALLOCATE, 0, 213, 2, 1024, 0),
            make(ACRE_TRACE_ALLOCATE_FAILURE, 1, 3723000004, 0, 5, 3),
            make(ACRE_TRACE_FREE, UINT64_MAX, UINT64_MAX, UINT64_MAX, UINT64_MAX, UINT64_MAX),
        };
        for (int e = 0; e < 3; e++)
            assert_int_equal(acre_trace_writer_write(writer, &events[e], NULL), ACRE_OK);
        assert_int_equal(acre_trace_writer_close(writer, NULL), ACRE_OK);
        char *text = trace_read(path);
        assert_string_equal(text, TRACE_HEADER "0,00:00:00.000213,allocate,0x2,1024,0\n"
                                               "1,01:02:03.000004,allocate failure,(nil),5,3\n"
                                               "18446744073709551615,5124095576:01:49.551615,free,"
                                               "0xffffffffffffffff,18446744073709551615,"
                                               "18446744073709551615\n");
        free(text);
        FILE *file = fopen(path, "rb");
        assert_non_null(file);
        assert_int_equal(fgetc(file) == 0x1f, i == 1); // packed by its name
        assert_int_equal(fclose(file), 0);
    }
}

static uint64_t random_step(uint64_t *seed) {
    *seed ^= *seed << 13;
    *seed ^= *seed >> 7;
    *seed ^= *seed << 17;
    return *seed;
}

// Numbers of every length.
static uint64_t random_number(uint64_t *seed) {
    uint64_t number = random_step(seed);
    return number >> (random_step(seed) & 63);
}

static void what_is_written_is_read_back(void **state) {
    (void)state;
    enum {
        EVENTS = 20000 // over the writer's buffer several times
    };
    static const char *const names[] = {"round.csv", "round.csv.gz"};
    for (int i = 0; i < 2; i++) {
        const char *path = trace_path(names[i]);
        for (int reading = 0; reading < 2; reading++) {
            acre_trace_writer *writer = reading ? NULL : open_fine(path);
            acre_trace_reader *reader = NULL;
            if (reading)
                assert_int_equal(acre_trace_reader_open(path, NULL, &reader, NULL), ACRE_OK);
            uint64_t seed = 20240229;
            for (unsigned e = 0; e < EVENTS; e++) {
                acre_trace_event event = ACRE_TRACE_EVENT_INIT;
                event.action = (acre_trace_action)(random_step(&seed) % 3);
                event.thread = random_number(&seed);
                event.time = random_number(&seed);
                event.pointer = random_number(&seed);
                event.size = random_number(&seed);
                event.stream = random_number(&seed);
                event.line = e + 2;
                if (!reading) {
                    assert_int_equal(acre_trace_writer_write(writer, &event, NULL), ACRE_OK);
                    continue;
                }
                acre_trace_event got = ACRE_TRACE_EVENT_INIT;
                bool more = false;
                assert_int_equal(acre_trace_reader_next(reader, &got, &more, NULL), ACRE_OK);
                assert_true(more);
                assert_memory_equal(&got, &event, sizeof(got));
            }
            assert_int_equal(acre_trace_writer_close(writer, NULL), ACRE_OK);
            acre_trace_reader_close(reader);
        }
    }
}

// A full disk, by the device that plays one. => The path under a name that chooses plain or gzip.
static const char *full_disk(const char *name) {
    const char *path = trace_path(name);
    if (access("/dev/full", W_OK) != 0) {
        skip();
        return NULL;
    }
    (void)unlink(path);
    assert_int_equal(symlink("/dev/full", path), 0);
    return path;
}

static void a_full_disk_is_told_at_a_write_or_at_close_and_stays(void **state) {
    (void)state;
    static const char *const names[] = {"full.csv", "full.csv.gz"};
    for (int i = 0; i < 2; i++) {
        const char *path = full_disk(names[i]);
        char expected[256];
        (void)snprintf(expected, sizeof(expected), "%s: cannot be written: %s", path,
                       "No space left on device");
        acre_trace_event event = make(ACRE_TRACE_FREE, 0, 0, 1, 1, 0);

        acre_error error = ACRE_ERROR_INIT;
        acre_trace_writer *writer = open_fine(path);
        assert_int_equal(acre_trace_writer_write(writer, &event, &error), ACRE_OK); // buffered
        assert_int_equal(acre_trace_writer_close(writer, &error), ACRE_IO_ERROR);
        assert_string_equal(error.detail, expected);

        uint64_t seed = 1;
        acre_status status = ACRE_OK;
        writer = open_fine(path);
        for (unsigned line = 0; status == ACRE_OK; line++) {
            assert_true(line < 1000000);
            event.size = random_step(&seed);
            status = acre_trace_writer_write(writer, &event, NULL);
        }
        for (int again = 0; again < 10000; again++)
            status = acre_trace_writer_write(writer, &event, &error);
        assert_int_equal(status, ACRE_IO_ERROR);
        assert_string_equal(error.detail, expected);
        assert_int_equal(acre_trace_writer_close(writer, &error), ACRE_IO_ERROR);
        assert_string_equal(error.detail, expected);
    }
}

static void a_file_that_cannot_be_made_is_told(void **state) {
    (void)state;
    acre_error error = ACRE_ERROR_INIT;
    acre_trace_writer *writer = NULL;
    const char *path = trace_path("no_folder/trace.csv");
    assert_int_equal(acre_trace_writer_open(path, NULL, &writer, &error), ACRE_IO_ERROR);
    assert_non_null(strstr(error.detail, "cannot be created: No such file or directory"));
    assert_int_equal(acre_trace_writer_open(trace_path("."), NULL, &writer, &error), ACRE_IO_ERROR);
    assert_null(writer);
}

static void what_is_out_of_range_is_refused_and_the_writer_goes_on(void **state) {
    (void)state;
    acre_error error = ACRE_ERROR_INIT;
    acre_trace_writer *writer = NULL;
    acre_trace_writer_options options = ACRE_TRACE_WRITER_OPTIONS_INIT;
    const char *path = trace_path("range.csv");
    static const int wrong[] = {-1, 10};
    for (int i = 0; i < 2; i++) {
        options.compression = wrong[i];
        assert_int_equal(acre_trace_writer_open(path, &options, &writer, &error),
                         ACRE_INVALID_ARGUMENT);
    }
    assert_null(writer);
    options.compression = 9;
    assert_int_equal(acre_trace_writer_open(path, &options, &writer, &error), ACRE_OK);
    acre_trace_event event = make((acre_trace_action)3, 0, 0, 1, 1, 0);
    assert_int_equal(acre_trace_writer_write(writer, &event, &error), ACRE_INVALID_ARGUMENT);
    event.action = ACRE_TRACE_FREE;
    event.struct_size = offsetof(acre_trace_event, line); // an older caller's
    assert_int_equal(acre_trace_writer_write(writer, &event, &error), ACRE_OK);
    assert_int_equal(acre_trace_writer_close(writer, &error), ACRE_OK);
    char *text = trace_read(path);
    assert_string_equal(text, TRACE_HEADER "0,00:00:00.000000,free,0x1,1,0\n");
    free(text);
}

static void host_memory_that_runs_out_leaves_an_existing_file_as_it_was(void **state) {
    (void)state;
    const char *path = trace_write("kept.csv.gz", "what was there");
    acre_status status = ACRE_OUT_OF_HOST_MEMORY;
    for (uint64_t nth = 1; status != ACRE_OK; nth++) {
        assert_true(nth < 100);
        trace_memory memory;
        trace_memory_begin(&memory, nth);
        acre_trace_writer_options options = ACRE_TRACE_WRITER_OPTIONS_INIT;
        options.hooks = &memory.hooks;
        acre_trace_writer *writer = NULL;
        status = acre_trace_writer_open(path, &options, &writer, NULL);
        if (status != ACRE_OK) {
            assert_int_equal(status, ACRE_OUT_OF_HOST_MEMORY);
            char *text = trace_read(path);
            assert_string_equal(text, "what was there");
            free(text);
        }
        assert_int_equal(acre_trace_writer_close(writer, NULL), ACRE_OK);
        assert_int_equal(memory.held, 0);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_written_file_holds_these_lines),
        cmocka_unit_test(what_is_written_is_read_back),
        cmocka_unit_test(a_full_disk_is_told_at_a_write_or_at_close_and_stays),
        cmocka_unit_test(a_file_that_cannot_be_made_is_told),
        cmocka_unit_test(what_is_out_of_range_is_refused_and_the_writer_goes_on),
        cmocka_unit_test(host_memory_that_runs_out_leaves_an_existing_file_as_it_was),
    };
    return cmocka_run_group_tests(tests, trace_files_begin, trace_files_end);
}
