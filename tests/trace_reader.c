#include <acre/trace.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "trace_files.h"

static acre_trace_reader *open_fine(const char *path, bool lenient) {
    acre_error error = ACRE_ERROR_INIT;
    acre_trace_reader_options options = ACRE_TRACE_READER_OPTIONS_INIT;
    options.lenient = lenient;
    acre_trace_reader *reader = NULL;
    if (acre_trace_reader_open(path, &options, &reader, &error) != ACRE_OK)
        fail_msg("%s", error.detail);
    return reader;
}

// The n-th line below the header, which must be fine.
static acre_trace_event next_fine(acre_trace_reader *reader) {
    acre_error error = ACRE_ERROR_INIT;
    acre_trace_event event = ACRE_TRACE_EVENT_INIT;
    bool more = false;
    if (acre_trace_reader_next(reader, &event, &more, &error) != ACRE_OK)
        fail_msg("%s", error.detail);
    assert_true(more);
    return event;
}

static void expect_end(acre_trace_reader *reader) {
    acre_error error = ACRE_ERROR_INIT;
    acre_trace_event event = ACRE_TRACE_EVENT_INIT;
    bool more = true;
    assert_int_equal(acre_trace_reader_next(reader, &event, &more, &error), ACRE_OK);
    assert_false(more);
}

static void expect_fields(const acre_trace_event *event, acre_trace_action action, uint64_t thread,
                          uint64_t time, uint64_t pointer, uint64_t size, uint64_t stream) {
    assert_int_equal(event->action, action);
    assert_int_equal(event->thread, thread);
    assert_int_equal(event->time, time);
    assert_int_equal(event->pointer, pointer);
    assert_int_equal(event->size, size);
    assert_int_equal(event->stream, stream);
}

// The detail of an error is the path and `rest`.
static void expect_detail(const acre_error *error, const char *path, const char *rest) {
    char expected[256];
    (void)snprintf(expected, sizeof(expected), "%s%s", path, rest);
    assert_string_equal(error->detail, expected);
}

static void expect_no_open(const char *path, acre_status status, const char *rest) {
    acre_trace_reader_options options = ACRE_TRACE_READER_OPTIONS_INIT;
    for (int lenient = 0; lenient < 2; lenient++) {
        acre_error error = ACRE_ERROR_INIT;
        acre_trace_reader *reader = NULL;
        options.lenient = lenient == 1;
        assert_int_equal(acre_trace_reader_open(path, &options, &reader, &error), status);
        assert_int_equal(error.status, status);
        assert_null(reader);
        expect_detail(&error, path, rest);
    }
    acre_trace_reader *reader = NULL;
    assert_int_equal(acre_trace_reader_open(path, NULL, &reader, NULL), status);
}

// ---- what is read --------------------------------------------------------------------------

static void a_line_gives_its_six_fields_and_its_number(void **state) {
    (void)state;
    const char *path =
        trace_write("fields.csv", TRACE_HEADER "7,01:02:03.000004,allocate,0x7fAb00,1024,5\n"
                                               "7,01:02:03.000005,allocate failure,(nil),99,6\n"
                                               "8,01:02:04.5,free,0x7fab00,1024,5\n");
    acre_trace_reader *reader = open_fine(path, false);
    acre_trace_event event = next_fine(reader);
    expect_fields(&event, ACRE_TRACE_ALLOCATE, 7, 3723000004, 0x7fab00, 1024, 5);
    assert_int_equal(event.line, 2);
    event = next_fine(reader);
    expect_fields(&event, ACRE_TRACE_ALLOCATE_FAILURE, 7, 3723000005, 0, 99, 6);
    event = next_fine(reader);
    expect_fields(&event, ACRE_TRACE_FREE, 8, 3724500000, 0x7fab00, 1024, 5);
    assert_int_equal(event.line, 4);
    expect_end(reader);
    expect_end(reader);
    acre_trace_reader_close(reader);
}

static void columns_come_in_any_order_and_unknown_ones_are_passed_over(void **state) {
    (void)state;
    const char *path = trace_write("order.csv", "Size,Device,Stream,Pointer,Time,Action,Thread\n"
                                                "12,gpu 0,3,0xa,5,allocate,1\n");
    acre_trace_reader *reader = open_fine(path, false);
    acre_trace_event event = next_fine(reader);
    expect_fields(&event, ACRE_TRACE_ALLOCATE, 1, 5000000, 10, 12, 3);
    acre_trace_reader_close(reader);
}

static void gzip_is_known_by_content_and_may_have_several_members(void **state) {
    (void)state;
    unsigned char packed[4096];
    size_t size = trace_pack(TRACE_HEADER "0,0,allocate,0x1,1,0\n0,0,fr", packed, sizeof(packed));
    size += trace_pack("ee,0x1,1,0\n", packed + size, sizeof(packed) - size);
    size += trace_pack("", packed + size, sizeof(packed) - size);
    acre_trace_reader *reader = open_fine(trace_write_bytes("members.csv", packed, size), false);
    acre_trace_event event = next_fine(reader);
    expect_fields(&event, ACRE_TRACE_ALLOCATE, 0, 0, 1, 1, 0);
    event = next_fine(reader);
    expect_fields(&event, ACRE_TRACE_FREE, 0, 0, 1, 1, 0);
    expect_end(reader);
    acre_trace_reader_close(reader);

    reader = open_fine(trace_write("plain.gz", TRACE_HEADER "0,0,free,0x1,1,0\n"), false);
    (void)next_fine(reader);
    expect_end(reader);
    acre_trace_reader_close(reader);
}

static void line_ends_spaces_and_empty_lines_do_not_matter(void **state) {
    (void)state;
    static const char *const texts[] = {
        "Thread,Time,Action,Pointer,Size,Stream\r\n0,1,allocate failure,0x1,2,3\r\n",
        "Thread, Time, Action, Pointer, Size, Stream\n0, 1 ,\tallocate failure , 0x1, 2, 3\n",
        "\n\nThread,Time,Action,Pointer,Size,Stream\n\r\n\n0,1,allocate failure,0x1,2,3\n\n\r\n",
        "Thread,Time,Action,Pointer,Size,Stream\n0,1,allocate failure,0x1,2,3",
        "\xef\xbb\xbfThread,Time,Action,Pointer,Size,Stream\r\n0,1,allocate failure,0x1,2,3\r",
    };
    for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
        acre_trace_reader *reader = open_fine(trace_write("ends.csv", texts[i]), false);
        acre_trace_event event = next_fine(reader);
        expect_fields(&event, ACRE_TRACE_ALLOCATE_FAILURE, 0, 1000000, 1, 2, 3);
        expect_end(reader);
        acre_trace_reader_close(reader);
    }
}

static void a_header_alone_is_a_trace_without_events(void **state) {
    (void)state;
    acre_trace_reader *reader = open_fine(trace_write("header.csv", TRACE_HEADER), false);
    expect_end(reader);
    acre_trace_reader_close(reader);
}

static void times_are_clocks_or_seconds(void **state) {
    (void)state;
    static const struct {
        const char *text;
        uint64_t micros;
    } times[] = {
        {"00:00:00.000000", 0},
        {"00:00:59", 59000000},
        {"23:59:59.999999", 86399999999},
        {"123:00:00.1", 442800100000},
        {"11:38:06:123456", 41886123456},
        {"0:00:00.1234569", 123456},
        {"12", 12000000},
        {"1634567890.123456", 1634567890123456},
        {"18446744073709551615", UINT64_MAX},
    };
    for (size_t i = 0; i < sizeof(times) / sizeof(times[0]); i++) {
        char text[256];
        (void)snprintf(text, sizeof(text), TRACE_HEADER "0,%s,free,0x1,1,0\n", times[i].text);
        acre_trace_reader *reader = open_fine(trace_write("times.csv", text), false);
        assert_int_equal(next_fine(reader).time, times[i].micros);
        acre_trace_reader_close(reader);
    }
}

static void numbers_up_to_the_last_of_64_bits_are_read(void **state) {
    (void)state;
    const char *path = trace_write(
        "last.csv", TRACE_HEADER
        "18446744073709551615,0,free,0xffffffffffffffff,18446744073709551615,0xffffffffffffffff\n"
        "00000000000000000000000001,0,free,0x00000000000000000001,00000000000000000000000002,"
        "18446744073709551615\n"
        "0,0,allocate,0x0,0,(nil)\n");
    acre_trace_reader *reader = open_fine(path, false);
    acre_trace_event event = next_fine(reader);
    expect_fields(&event, ACRE_TRACE_FREE, UINT64_MAX, 0, UINT64_MAX, UINT64_MAX, UINT64_MAX);
    event = next_fine(reader);
    expect_fields(&event, ACRE_TRACE_FREE, 1, 0, 1, 2, UINT64_MAX);
    event = next_fine(reader);
    expect_fields(&event, ACRE_TRACE_ALLOCATE, 0, 0, 0, 0, 0);
    acre_trace_reader_close(reader);
}

static void lines_may_lie_anywhere_in_the_buffers(void **state) {
    (void)state;
    enum {
        LINES = 60000 // over the reader's buffer several times, plain and packed
    };
    size_t capacity = sizeof(TRACE_HEADER) + (size_t)LINES * 64;
    char *text = malloc(capacity);
    assert_non_null(text);
    size_t used = (size_t)snprintf(text, capacity, TRACE_HEADER);
    for (unsigned i = 0; i < LINES; i++)
        used += (size_t)snprintf(text + used, capacity - used, "0,%u,allocate,0x%x,%u,%u\n", i,
                                 i + 1, i * 7919, i % 3);
    for (int packed = 0; packed < 2; packed++) {
        const char *path =
            packed ? trace_write_gzip("long.csv.gz", text) : trace_write("long.csv", text);
        acre_trace_reader *reader = open_fine(path, false);
        for (unsigned i = 0; i < LINES; i++) {
            acre_trace_event event = next_fine(reader);
            expect_fields(&event, ACRE_TRACE_ALLOCATE, 0, UINT64_C(1000000) * i, i + 1, i * 7919,
                          i % 3);
            assert_int_equal(event.line, i + 2);
        }
        expect_end(reader);
        acre_trace_reader_close(reader);
    }
    free(text);
}

// ---- what is turned down -------------------------------------------------------------------

static const struct {
    const char *line;
    const char *detail;
} wrong_lines[] = {
    {"0,0,allocate", "Pointer: missing, the line has 3 fields and the header 6"},
    {"0,0,allocate,0x1,1", "Stream: missing, the line has 5 fields and the header 6"},
    {"x", "Time: missing, the line has 1 fields and the header 6"},
    {"0,0,allocate,0x1,1,0,9", "fields: the line has 7 fields and the header 6"},
    {"x,0,allocate,0x1,1,0", "Thread: 'x' is not a number"},
    {"0,12:00,allocate,0x1,1,0", "Time: '12:00' is neither HH:MM:SS.micros nor a number"},
    {"0,12:00:60.0,free,0x1,1,0", "Time: '12:00:60.0' is neither HH:MM:SS.micros nor a number"},
    {"0,12:00:00.,free,0x1,1,0", "Time: '12:00:00.' is neither HH:MM:SS.micros nor a number"},
    {"0,12:00:00.5x,free,0x1,1,0", "Time: '12:00:00.5x' is neither HH:MM:SS.micros nor a number"},
    {"0,:00:00,free,0x1,1,0", "Time: ':00:00' is neither HH:MM:SS.micros nor a number"},
    {"0,1.,free,0x1,1,0", "Time: '1.' is neither HH:MM:SS.micros nor a number"},
    {"0,-1,free,0x1,1,0", "Time: '-1' is neither HH:MM:SS.micros nor a number"},
    {"0,,free,0x1,1,0", "Time: the field is empty"},
    {"0,0,deallocate,0x1,1,0", "Action: 'deallocate' is none of allocate, allocate failure, free"},
    {"0,0,,0x1,1,0", "Action: the field is empty"},
    {"0,0,Free,0x1,1,0", "Action: 'Free' is none of allocate, allocate failure, free"},
    {"0,0,free,12,1,0", "Pointer: '12' is neither a hexadecimal address nor (nil)"},
    {"0,0,free,0x,1,0", "Pointer: '0x' is neither a hexadecimal address nor (nil)"},
    {"0,0,free,0xg,1,0", "Pointer: '0xg' is neither a hexadecimal address nor (nil)"},
    {"0,0,free,nil,1,0", "Pointer: 'nil' is neither a hexadecimal address nor (nil)"},
    {"0,0,free,0x10000000000000000,1,0", "Pointer: '0x10000000000000000' does not fit 64 bits"},
    {"0,0,free,0x1,18446744073709551616,0", "Size: '18446744073709551616' does not fit 64 bits"},
    {"0,0,free,0x1,99999999999999999999999999999,0",
     "Size: '999999999999999999999999...' does not fit 64 bits"},
    {"0,0,free,0x1,-5,0", "Size: '-5' is negative"},
    {"0,0,free,0x1,1e3,0", "Size: '1e3' is not a number of bytes"},
    {"0,0,free,0x1,0x10,0", "Size: '0x10' is not a number of bytes"},
    {"0,0,free,0x1,,0", "Size: the field is empty"},
    {"0,0,free,0x1,1,s", "Stream: 's' is neither a number nor a pointer"},
    {"0,0,free,0x1,1,", "Stream: the field is empty"},
    {"0,0,fr\x01\xff'e,0x1,1,0",
     "Action: 'fr\\x01\\xff'e' is none of allocate, allocate failure, free"},
};

enum {
    WRONG_LINES = sizeof(wrong_lines) / sizeof(wrong_lines[0])
};

static void a_wrong_line_is_told_with_file_line_and_field_and_reading_goes_on(void **state) {
    (void)state;
    for (size_t i = 0; i < WRONG_LINES; i++) {
        char text[512], rest[256];
        (void)snprintf(text, sizeof(text), TRACE_HEADER "0,0,free,0x1,1,0\n%s\n0,0,free,0x2,1,0\n",
                       wrong_lines[i].line);
        const char *path = trace_write("wrong.csv", text);
        acre_trace_reader *reader = open_fine(path, false);
        (void)next_fine(reader);
        acre_error error = ACRE_ERROR_INIT;
        acre_trace_event event = ACRE_TRACE_EVENT_INIT;
        acre_trace_event untouched = event;
        bool more;
        assert_int_equal(acre_trace_reader_next(reader, &event, &more, &error),
                         ACRE_MALFORMED_INPUT);
        assert_memory_equal(&event, &untouched, sizeof(event));
        (void)snprintf(rest, sizeof(rest), ":3: %s", wrong_lines[i].detail);
        expect_detail(&error, path, rest);
        assert_int_equal(next_fine(reader).pointer, 2);
        expect_end(reader);
        assert_int_equal(acre_trace_reader_skipped(reader, NULL), 0);
        acre_trace_reader_close(reader);
    }
}

static void a_lenient_reader_counts_wrong_lines_and_keeps_the_first(void **state) {
    (void)state;
    char text[4096] = TRACE_HEADER;
    for (size_t i = 0; i < WRONG_LINES; i++) {
        strcat(text, "0,0,free,0x1,1,0\n");
        strcat(text, wrong_lines[i].line);
        strcat(text, "\n");
    }
    const char *path = trace_write("lenient.csv", text);
    acre_trace_reader *reader = open_fine(path, true);
    for (size_t i = 0; i < WRONG_LINES; i++)
        assert_int_equal(next_fine(reader).line, 2 + 2 * i);
    expect_end(reader);
    acre_error first = ACRE_ERROR_INIT;
    assert_int_equal(acre_trace_reader_skipped(reader, &first), WRONG_LINES);
    assert_int_equal(first.status, ACRE_MALFORMED_INPUT);
    expect_detail(&first, path, ":3: Pointer: missing, the line has 3 fields and the header 6");
    acre_trace_reader_close(reader);
}

static void a_line_over_64_kib_is_turned_down_in_a_bounded_buffer(void **state) {
    (void)state;
    static const size_t paddings[] = {65000, 65536, 200000, 300000, 5000000};
    for (size_t i = 0; i < sizeof(paddings) / sizeof(paddings[0]); i++) {
        size_t padding = paddings[i];
        bool fits = padding < 65500;
        char *text = malloc(padding + 512);
        assert_non_null(text);
        int used = sprintf(text, TRACE_HEADER "0,0,free,0x1,1,");
        memset(text + used, ' ', padding);
        strcpy(text + used + padding, "0\n0,0,free,0x2,1,0\n");
        const char *path = trace_write("wide.csv", text);
        trace_memory memory;
        trace_memory_begin(&memory, 0);
        acre_trace_reader_options options = ACRE_TRACE_READER_OPTIONS_INIT;
        options.hooks = &memory.hooks;
        acre_trace_reader *reader = NULL;
        assert_int_equal(acre_trace_reader_open(path, &options, &reader, NULL), ACRE_OK);
        acre_error error = ACRE_ERROR_INIT;
        acre_trace_event event = ACRE_TRACE_EVENT_INIT;
        bool more;
        assert_int_equal(acre_trace_reader_next(reader, &event, &more, &error),
                         fits ? ACRE_OK : ACRE_MALFORMED_INPUT);
        if (!fits)
            expect_detail(&error, path, ":2: line: it is longer than 64 KiB");
        event = next_fine(reader);
        assert_int_equal(event.pointer, 2);
        assert_int_equal(event.line, 3);
        expect_end(reader);
        acre_trace_reader_close(reader);
        assert_true(memory.peak < 1 << 20);
        assert_int_equal(memory.held, 0);
        free(text);
    }
}

static void a_file_that_is_no_trace_is_not_opened(void **state) {
    (void)state;
    const char *empty = ":1: header: the file is empty";
    expect_no_open(trace_write("empty.csv", ""), ACRE_MALFORMED_INPUT, empty);
    expect_no_open(trace_write("lines.csv", "\n\n"), ACRE_MALFORMED_INPUT, empty);
    expect_no_open(trace_write_gzip("empty.csv.gz", ""), ACRE_MALFORMED_INPUT, empty);
    expect_no_open(trace_path("none.csv"), ACRE_IO_ERROR,
                   ": cannot be opened: No such file or directory");
    expect_no_open(trace_path("."), ACRE_IO_ERROR, ": cannot be read: Is a directory");
    expect_no_open(trace_write("columns.csv", "Thread,Time,Action,Pointer,Stream\n"),
                   ACRE_MALFORMED_INPUT,
                   ":1: Size: the header lacks this column, it should be "
                   "Thread,Time,Action,Pointer,Size,Stream");
    expect_no_open(trace_write("twice.csv", "Thread,Time,Action,Pointer,Size,Stream,Time\n"),
                   ACRE_MALFORMED_INPUT, ":1: Time: the header names this column twice");
    expect_no_open(trace_write("no_header.csv", "0,0,free,0x1,1,0\n"), ACRE_MALFORMED_INPUT,
                   ":1: Thread: the header lacks this column, it should be "
                   "Thread,Time,Action,Pointer,Size,Stream");
}

static void a_binary_file_is_not_opened(void **state) {
    (void)state;
    unsigned char bytes[200000];
    uint32_t seed = 1;
    for (size_t i = 0; i < sizeof(bytes); i++) {
        seed = seed * 1664525 + 1013904223;
        bytes[i] = (unsigned char)(seed >> 24);
    }
    const char *lacks = ":1: Thread: the header lacks this column, it should be "
                        "Thread,Time,Action,Pointer,Size,Stream";
    expect_no_open(trace_write_bytes("binary", bytes, sizeof(bytes)), ACRE_MALFORMED_INPUT, lacks);
    memset(bytes, 0, sizeof(bytes));
    expect_no_open(trace_write_bytes("zeroes", bytes, sizeof(bytes)), ACRE_MALFORMED_INPUT,
                   ":1: header: the line is longer than 64 KiB");
    memset(bytes, ',', 1000);
    expect_no_open(trace_write_bytes("commas", bytes, 1000), ACRE_MALFORMED_INPUT,
                   ":1: header: more than 64 columns");
    bytes[0] = 0x1f;
    bytes[1] = 0x8b;
    expect_no_open(trace_write_bytes("magic", bytes, 1000), ACRE_MALFORMED_INPUT,
                   ":1: gzip: unknown compression method");
}

// Reads all lines. => The last status.
static acre_status drain(acre_trace_reader *reader, uint64_t *count, acre_error *error) {
    *count = 0;
    for (;;) {
        acre_trace_event event = ACRE_TRACE_EVENT_INIT;
        bool more;
        acre_status status = acre_trace_reader_next(reader, &event, &more, error);
        if (status != ACRE_OK || !more)
            return status;
        ++*count;
    }
}

static size_t packed_lines(unsigned char *packed, size_t capacity, unsigned lines) {
    char *text = malloc(64 + (size_t)lines * 64);
    assert_non_null(text);
    int used = sprintf(text, TRACE_HEADER);
    uint32_t seed = 7;
    for (unsigned i = 0; i < lines; i++) {
        seed = seed * 1664525 + 1013904223; // hard to pack, so that cuts fall into every line
        used += sprintf(text + used, "0,%u,allocate,0x%x,%u,0\n", seed >> 3, i + 1, seed >> 5);
    }
    size_t size = trace_pack(text, packed, capacity);
    free(text);
    return size;
}

static void a_gzip_file_cut_anywhere_is_told_or_taken_as_the_end(void **state) {
    (void)state;
    static unsigned char packed[8192];
    enum {
        LINES = 40
    };
    size_t size = packed_lines(packed, sizeof(packed), LINES);
    for (size_t cut = 2; cut < size; cut++) {
        const char *path = trace_write_bytes("cut.csv.gz", packed, cut);
        for (int lenient = 0; lenient < 2; lenient++) {
            acre_error error = ACRE_ERROR_INIT;
            acre_trace_reader_options options = ACRE_TRACE_READER_OPTIONS_INIT;
            options.lenient = lenient == 1;
            acre_trace_reader *reader = NULL;
            uint64_t count = 0;
            acre_status status = acre_trace_reader_open(path, &options, &reader, &error);
            bool opened = status == ACRE_OK;
            if (opened)
                status = drain(reader, &count, &error);
            assert_int_equal(status, lenient && opened ? ACRE_OK : ACRE_MALFORMED_INPUT);
            assert_true(count <= LINES);
            char rest[128];
            (void)snprintf(rest, sizeof(rest),
                           ":%u: gzip: the data end early, the file is truncated",
                           opened ? (unsigned)count + 2 : 1);
            if (lenient && opened)
                assert_int_equal(acre_trace_reader_skipped(reader, &error), 1);
            expect_detail(&error, path, rest);
            if (status != ACRE_OK && opened) // it stays
                assert_int_equal(drain(reader, &count, &error), ACRE_MALFORMED_INPUT);
            acre_trace_reader_close(reader);
        }
    }
}

static void damaged_gzip_data_are_told_lenient_or_not(void **state) {
    (void)state;
    static unsigned char packed[8192];
    size_t size = packed_lines(packed, sizeof(packed), 40);
    for (size_t at = 10; at < size; at++) { // behind gzip's own header
        packed[at] ^= 0x55;
        const char *path = trace_write_bytes("damaged.csv.gz", packed, size);
        packed[at] ^= 0x55;
        acre_error error = ACRE_ERROR_INIT;
        acre_trace_reader_options options = ACRE_TRACE_READER_OPTIONS_INIT;
        options.lenient = true;
        acre_trace_reader *reader = NULL;
        acre_status status = acre_trace_reader_open(path, &options, &reader, &error);
        uint64_t count, skipped = 0;
        if (status == ACRE_OK) {
            status = drain(reader, &count, &error);
            skipped = acre_trace_reader_skipped(reader, NULL);
        }
        // A damaged length makes a file that ends early, which a lenient reader counts.
        assert_true(status == ACRE_MALFORMED_INPUT || (status == ACRE_OK && skipped > 0));
        acre_trace_reader_close(reader);
    }
    // What lies before the damage is read.
    acre_error error = ACRE_ERROR_INIT;
    uint64_t count;
    packed[size - 8] ^= 0x55; // the check sum
    const char *path = trace_write_bytes("sum.csv.gz", packed, size);
    packed[size - 8] ^= 0x55;
    acre_trace_reader *reader = open_fine(path, false);
    assert_int_equal(drain(reader, &count, &error), ACRE_MALFORMED_INPUT);
    assert_int_equal(count, 40);
    expect_detail(&error, path, ":42: gzip: incorrect data check");
    acre_trace_reader_close(reader);

    packed[size] = 'x';
    path = trace_write_bytes("tail.csv.gz", packed, size + 1);
    reader = open_fine(path, false);
    assert_int_equal(drain(reader, &count, &error), ACRE_MALFORMED_INPUT);
    assert_int_equal(count, 40);
    expect_detail(&error, path, ":42: gzip: bytes of another kind follow the data");
    acre_trace_reader_close(reader);
}

static void a_long_path_is_shortened_at_its_front(void **state) {
    (void)state;
    char name[201];
    memset(name, 'n', sizeof(name));
    memcpy(name + 190, "x/end.csv", 10);
    acre_error error = ACRE_ERROR_INIT;
    acre_trace_reader *reader = NULL;
    assert_int_equal(acre_trace_reader_open(trace_path(name), NULL, &reader, &error),
                     ACRE_IO_ERROR);
    assert_memory_equal(error.detail, "...nnn", 6);
    assert_non_null(strstr(error.detail, "x/end.csv: cannot be opened: "));
}

// ---- callers and memory --------------------------------------------------------------------

static void structs_of_other_versions_are_served_or_refused(void **state) {
    (void)state;
    const char *path = trace_write("versions.csv", TRACE_HEADER "5,0,free,0x1,1,9\n");
    struct {
        acre_trace_reader_options options;
        uint64_t later_field;
    } newer = {.options = ACRE_TRACE_READER_OPTIONS_INIT};
    newer.options.struct_size = sizeof(newer);
    acre_trace_reader *reader = NULL;
    assert_int_equal(acre_trace_reader_open(path, &newer.options, &reader, NULL), ACRE_OK);
    acre_trace_event event = ACRE_TRACE_EVENT_INIT;
    event.struct_size = offsetof(acre_trace_event, stream); // an older caller's
    event.stream = 77;
    bool more;
    assert_int_equal(acre_trace_reader_next(reader, &event, &more, NULL), ACRE_OK);
    assert_int_equal(event.thread, 5);
    assert_int_equal(event.stream, 77);
    assert_int_equal(event.struct_size, offsetof(acre_trace_event, stream));
    acre_trace_reader_close(reader);

    newer.later_field = 1;
    acre_error error = ACRE_ERROR_INIT;
    assert_int_equal(acre_trace_reader_open(path, &newer.options, &reader, &error),
                     ACRE_UNSUPPORTED);
    newer.options.struct_size = 0;
    assert_int_equal(acre_trace_reader_open(path, &newer.options, &reader, &error),
                     ACRE_INVALID_ARGUMENT);
}

static void host_memory_that_runs_out_at_any_call_is_an_error(void **state) {
    (void)state;
    const char *path = trace_write_gzip("memory.csv.gz", TRACE_HEADER "0,0,free,0x1,1,0\n");
    acre_status status = ACRE_OUT_OF_HOST_MEMORY;
    for (uint64_t nth = 1; status != ACRE_OK; nth++) {
        assert_true(nth < 100);
        trace_memory memory;
        trace_memory_begin(&memory, nth);
        acre_trace_reader_options options = ACRE_TRACE_READER_OPTIONS_INIT;
        options.hooks = &memory.hooks;
        acre_trace_reader *reader = NULL;
        uint64_t count;
        status = acre_trace_reader_open(path, &options, &reader, NULL);
        if (status == ACRE_OK)
            status = drain(reader, &count, NULL);
        assert_true(status == (nth <= memory.calls ? ACRE_OUT_OF_HOST_MEMORY : ACRE_OK));
        acre_trace_reader_close(reader);
        assert_int_equal(memory.held, 0);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_line_gives_its_six_fields_and_its_number),
        cmocka_unit_test(columns_come_in_any_order_and_unknown_ones_are_passed_over),
        cmocka_unit_test(gzip_is_known_by_content_and_may_have_several_members),
        cmocka_unit_test(line_ends_spaces_and_empty_lines_do_not_matter),
        cmocka_unit_test(a_header_alone_is_a_trace_without_events),
        cmocka_unit_test(times_are_clocks_or_seconds),
        cmocka_unit_test(numbers_up_to_the_last_of_64_bits_are_read),
        cmocka_unit_test(lines_may_lie_anywhere_in_the_buffers),
        cmocka_unit_test(a_wrong_line_is_told_with_file_line_and_field_and_reading_goes_on),
        cmocka_unit_test(a_lenient_reader_counts_wrong_lines_and_keeps_the_first),
        cmocka_unit_test(a_line_over_64_kib_is_turned_down_in_a_bounded_buffer),
        cmocka_unit_test(a_file_that_is_no_trace_is_not_opened),
        cmocka_unit_test(a_binary_file_is_not_opened),
        cmocka_unit_test(a_gzip_file_cut_anywhere_is_told_or_taken_as_the_end),
        cmocka_unit_test(damaged_gzip_data_are_told_lenient_or_not),
        cmocka_unit_test(a_long_path_is_shortened_at_its_front),
        cmocka_unit_test(structs_of_other_versions_are_served_or_refused),
        cmocka_unit_test(host_memory_that_runs_out_at_any_call_is_an_error),
    };
    return cmocka_run_group_tests(tests, trace_files_begin, trace_files_end);
}
