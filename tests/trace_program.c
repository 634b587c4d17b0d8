#include <acre/trace.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "trace/program.h"
#include "trace_files.h"

static acre_status load(const char *path, bool lenient, acre_trace_program **program,
                        acre_error *error) {
    acre_trace_reader_options options = ACRE_TRACE_READER_OPTIONS_INIT;
    options.lenient = lenient;
    acre_trace_reader *reader = NULL;
    acre_status status = acre_trace_reader_open(path, &options, &reader, error);
    *program = NULL;
    if (status == ACRE_OK)
        status = acre_trace_program_load(reader, NULL, program, error);
    acre_trace_reader_close(reader);
    return status;
}

static acre_trace_program *load_fine(const char *path, bool lenient) {
    acre_error error = ACRE_ERROR_INIT;
    acre_trace_program *program = NULL;
    if (load(path, lenient, &program, &error) != ACRE_OK)
        fail_msg("%s", error.detail);
    return program;
}

static acre_trace_facts facts_of(const acre_trace_program *program) {
    acre_trace_facts facts = ACRE_TRACE_FACTS_INIT;
    acre_trace_program_facts(program, &facts);
    return facts;
}

static void pointers_become_dense_slots_that_are_used_again(void **state) {
    (void)state;
    acre_trace_program *program =
        load_fine(trace_write("slots.csv", TRACE_HEADER "0,0,allocate,0x7f00,10,0\n"
                                                        "0,0,allocate,0x7f40,20,0\n"
                                                        "0,0,free,0x7f00,10,0\n"
                                                        "0,0,allocate,0x7f00,30,0\n"
                                                        "0,0,allocate,0x9,40,0\n"
                                                        "0,0,free,0x7f00,30,0\n"
                                                        "0,0,free,0x7f40,20,0\n"),
                  false);
    static const struct {
        uint32_t slot;
        uint64_t size;
    } ops[] = {
        {0, 10},
        {1, 20},
        {0 | ACRE_TRACE_OP_FREE, 10},
        {0, 30},
        {2, 40},
        {0 | ACRE_TRACE_OP_FREE, 30},
        {1 | ACRE_TRACE_OP_FREE, 20},
    };
    assert_int_equal(program->facts.events, 7);
    assert_int_equal(program->slots, 3);
    for (unsigned i = 0; i < 7; i++) {
        assert_int_equal(program->ops[i].slot, ops[i].slot);
        assert_int_equal(program->ops[i].size, ops[i].size);
        assert_int_equal(program->ops[i].line, i + 2);
    }
    acre_trace_program_destroy(program);
}

// What a free says of its size is not looked at.
static void peaks_and_what_is_left_are_counted_in_requested_bytes(void **state) {
    (void)state;
    acre_trace_program *program =
        load_fine(trace_write("facts.csv", TRACE_HEADER "0,0,allocate,0x1,100,0\n"
                                                        "0,0,allocate,0x2,50,0\n"
                                                        "0,0,free,0x1,100,0\n"
                                                        "0,0,allocate failure,(nil),1000,0\n"
                                                        "0,0,allocate,0x3,99,0\n"
                                                        "0,0,allocate,0x4,0,0\n"
                                                        "0,0,free,0x2,7,0\n"),
                  false);
    acre_trace_facts facts = facts_of(program);
    assert_int_equal(facts.events, 6);
    assert_int_equal(facts.allocations, 4);
    assert_int_equal(facts.failures, 1);
    assert_int_equal(facts.skipped, 0);
    assert_int_equal(facts.peak_live_bytes, 150);
    assert_int_equal(facts.peak_live, 3);
    assert_int_equal(facts.end_live_bytes, 99);
    assert_int_equal(facts.end_live, 2);
    assert_int_equal(facts.largest_size, 100);
    acre_trace_program_destroy(program);
}

static void nil_allocations_of_no_bytes_may_live_side_by_side(void **state) {
    (void)state;
    acre_trace_program *program =
        load_fine(trace_write("nil.csv", TRACE_HEADER "0,0,allocate,(nil),0,0\n"
                                                      "0,0,allocate,0x0,0,0\n"
                                                      "0,0,allocate,(nil),0,0\n"
                                                      "0,0,free,(nil),0,0\n"
                                                      "0,0,free,(nil),0,0\n"
                                                      "0,0,allocate,(nil),0,0\n"),
                  false);
    acre_trace_facts facts = facts_of(program);
    assert_int_equal(facts.peak_live, 3);
    assert_int_equal(facts.end_live, 2);
    assert_int_equal(program->slots, 3);
    acre_trace_program_destroy(program);
}

static const struct {
    const char *lines; // the last one is wrong
    const char *detail;
} wrong[] = {
    {"0,0,free,0x1,1,0\n", ":2: Pointer: '0x1' is freed but not allocated"},
    {"0,0,free,(nil),0,0\n", ":2: Pointer: '(nil)' is freed but not allocated"},
    {"0,0,allocate,0xab,1,0\n0,0,free,0xab,1,0\n0,0,free,0xab,1,0\n",
     ":4: Pointer: '0xab' is freed but not allocated"},
    {"0,0,allocate,0xab,1,0\n0,0,allocate,0xab,2,0\n",
     ":3: Pointer: '0xab' is allocated while it lives already"},
    {"0,0,allocate,(nil),5,0\n", ":2: Pointer: '(nil)' is the pointer of an allocation that has "
                                 "bytes"},
    {"0,0,allocate,0x1,18446744073709551615,0\n",
     ":2: Size: '18446744073709551615' makes more than 2^63 bytes live at a time"},
    {"0,0,allocate,0x1,9223372036854775808,0\n0,0,allocate,0x2,1,0\n",
     ":3: Size: '1' makes more than 2^63 bytes live at a time"},
};

static void what_cannot_be_replayed_is_told_with_file_line_and_field(void **state) {
    (void)state;
    for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
        char text[512], expected[512];
        (void)snprintf(text, sizeof(text), TRACE_HEADER "%s", wrong[i].lines);
        const char *path = trace_write("wrong.csv", text);
        acre_error error = ACRE_ERROR_INIT;
        acre_trace_program *program = NULL;
        assert_int_equal(load(path, false, &program, &error), ACRE_MALFORMED_INPUT);
        assert_null(program);
        (void)snprintf(expected, sizeof(expected), "%s%s", path, wrong[i].detail);
        assert_string_equal(error.detail, expected);

        program = load_fine(path, true);
        acre_trace_facts facts = facts_of(program);
        assert_int_equal(facts.skipped, 1);
        unsigned lines = 0;
        for (const char *at = wrong[i].lines; *at; at++)
            lines += *at == '\n';
        assert_int_equal(facts.events, lines - 1);
        acre_trace_program_destroy(program);
    }
}

static void a_wrong_line_of_the_reader_ends_the_loading(void **state) {
    (void)state;
    const char *path = trace_write("ends.csv", TRACE_HEADER "0,0,allocate,0x1,1,0\nnonsense\n");
    acre_error error = ACRE_ERROR_INIT;
    acre_trace_program *program = NULL;
    assert_int_equal(load(path, false, &program, &error), ACRE_MALFORMED_INPUT);
    assert_null(program);
}

// Random pointers, many of them alike in their low bits, against a plain table.
static void slots_follow_their_pointers_over_many_random_events(void **state) {
    (void)state;
    enum {
        POINTERS = 5000,
        EVENTS = 100000,
    };
    static uint32_t slot_of[POINTERS];
    static bool live[POINTERS];
    static bool slot_taken[POINTERS];
    static uint32_t chosen[EVENTS];
    size_t capacity = sizeof(TRACE_HEADER) + (size_t)EVENTS * 48;
    char *text = malloc(capacity);
    assert_non_null(text);
    size_t used = (size_t)sprintf(text, TRACE_HEADER);
    uint64_t seed = 99;
    for (unsigned i = 0; i < EVENTS; i++) {
        seed = seed * UINT64_C(6364136223846793005) + 1442695040888963407;
        uint32_t p = (uint32_t)(seed >> 33) % POINTERS;
        chosen[i] = p;
        used += (size_t)snprintf(text + used, capacity - used, "0,0,%s,0x%llx,1,0\n",
                                 live[p] ? "free" : "allocate",
                                 (unsigned long long)(p + 1) << (p % 3 ? 21 : 45));
        live[p] = !live[p];
    }
    acre_trace_program *program = load_fine(trace_write_gzip("random.csv.gz", text), false);
    free(text);
    memset(live, 0, sizeof(live));
    assert_int_equal(program->facts.events, EVENTS);
    for (unsigned i = 0; i < EVENTS; i++) {
        uint32_t p = chosen[i];
        uint32_t slot = program->ops[i].slot & ~ACRE_TRACE_OP_FREE;
        assert_true(slot < program->slots);
        assert_int_equal((program->ops[i].slot & ACRE_TRACE_OP_FREE) != 0, live[p]);
        if (live[p])
            assert_int_equal(slot, slot_of[p]);
        assert_int_equal(slot_taken[slot], live[p]);
        slot_of[p] = slot;
        slot_taken[slot] = live[p] = !live[p];
    }
    assert_int_equal(program->slots, program->facts.peak_live);
    acre_trace_program_destroy(program);
}

static void the_bundled_traces_have_their_documented_events_and_peaks(void **state) {
    (void)state;
    static const struct {
        const char *name;
        uint64_t events, peak;
    } traces[] = {
        {"gnn_neighbor.csv.gz", 10257, 5496236288},
        {"streams_overlap.csv.gz", 8689, 503193664},
        {"resnet50_train.csv.gz", 11821, 6057040912},
    };
    for (size_t i = 0; i < sizeof(traces) / sizeof(traces[0]); i++) {
        acre_trace_program *program = load_fine(trace_bundled(traces[i].name), false);
        assert_int_equal(facts_of(program).events, traces[i].events);
        assert_int_equal(facts_of(program).peak_live_bytes, traces[i].peak);
        acre_trace_program_destroy(program);
    }
}

static uint32_t random_step(uint32_t *seed) {
    *seed = *seed * 1664525 + 1013904223;
    return *seed >> 8;
}

// Bytes changed, taken out and put in, anywhere in a good trace.
static void a_trace_damaged_at_random_is_loaded_or_told(void **state) {
    (void)state;
    static const char good[] = TRACE_HEADER "0,00:00:00.000001,allocate,0x1,1000,0\n"
                                            "0,00:00:00.000002,allocate,(nil),0,0\r\n"
                                            "0,3.5,free,0x1,1000,0\n"
                                            "0,00:00:00.000004,allocate,0x3,600,0x0\n"
                                            "0,00:00:00.000005,allocate failure,(nil),990,0\n"
                                            "0,00:00:00.000006,free,0x3,600,0\n";
    static const char likely[] = ",\n\r0129:.xfT \"-(\0\xff";
    uint32_t seed = 4711;
    unsigned loaded = 0;
    for (unsigned round = 0; round < 4000; round++) {
        char text[sizeof(good) + 64];
        size_t size = sizeof(good) - 1;
        memcpy(text, good, size);
        for (unsigned change = random_step(&seed) % 6; change > 0; change--) {
            // The header is spared three times of four.
            size_t from = random_step(&seed) % 4 ? sizeof(TRACE_HEADER) - 1 : 0;
            size_t at = from + random_step(&seed) % (size - from);
            unsigned kind = random_step(&seed) % 3;
            if (kind == 0) {
                text[at] = likely[random_step(&seed) % sizeof(likely)];
            } else if (kind == 1) {
                memmove(text + at, text + at + 1, size - at - 1);
                size--;
            } else {
                memmove(text + at + 1, text + at, size - at);
                text[at] = likely[random_step(&seed) % sizeof(likely)];
                size++;
            }
        }
        const char *path = trace_write_bytes("random.csv", text, size);
        acre_error error = ACRE_ERROR_INIT;
        acre_trace_program *program = NULL;
        acre_status status = load(path, false, &program, &error);
        if (status == ACRE_OK)
            loaded++;
        else
            assert_int_equal(status, ACRE_MALFORMED_INPUT);
        assert_true(status == ACRE_OK || memcmp(error.detail, path, strlen(path)) == 0);
        acre_trace_program_destroy(program);

        // Lenient takes all but a wrong header, and what strict takes it takes whole.
        acre_status lenient = load(path, true, &program, &error);
        assert_true(lenient == ACRE_OK || status != ACRE_OK);
        if (lenient == ACRE_OK)
            assert_int_equal(program->facts.skipped == 0, status == ACRE_OK);
        acre_trace_program_destroy(program);
    }
    assert_true(loaded > 100 && loaded < 3900);
}

static void host_memory_that_runs_out_at_any_call_is_an_error(void **state) {
    (void)state;
    enum {
        LINES = 6000 // every table grows
    };
    char *text = malloc(64 + (size_t)LINES * 48);
    assert_non_null(text);
    int used = sprintf(text, TRACE_HEADER);
    for (unsigned i = 0; i < LINES; i++)
        used += sprintf(text + used, "0,0,allocate,0x%x,8,0\n", i + 1);
    const char *path = trace_write("memory.csv", text);
    free(text);
    acre_status status = ACRE_OUT_OF_HOST_MEMORY;
    for (uint64_t nth = 1; status != ACRE_OK; nth++) {
        assert_true(nth < 100);
        trace_memory memory;
        trace_memory_begin(&memory, nth);
        acre_trace_reader *reader = NULL;
        acre_trace_program *program = NULL;
        assert_int_equal(acre_trace_reader_open(path, NULL, &reader, NULL), ACRE_OK);
        status = acre_trace_program_load(reader, &memory.hooks, &program, NULL);
        assert_true(status == (nth <= memory.calls ? ACRE_OUT_OF_HOST_MEMORY : ACRE_OK));
        acre_trace_reader_close(reader);
        acre_trace_program_destroy(program);
        assert_int_equal(memory.held, 0);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(pointers_become_dense_slots_that_are_used_again),
        cmocka_unit_test(peaks_and_what_is_left_are_counted_in_requested_bytes),
        cmocka_unit_test(nil_allocations_of_no_bytes_may_live_side_by_side),
        cmocka_unit_test(what_cannot_be_replayed_is_told_with_file_line_and_field),
        cmocka_unit_test(a_wrong_line_of_the_reader_ends_the_loading),
        cmocka_unit_test(slots_follow_their_pointers_over_many_random_events),
        cmocka_unit_test(a_trace_damaged_at_random_is_loaded_or_told),
        cmocka_unit_test(the_bundled_traces_have_their_documented_events_and_peaks),
        cmocka_unit_test(host_memory_that_runs_out_at_any_call_is_an_error),
    };
    return cmocka_run_group_tests(tests, trace_files_begin, trace_files_end);
}
