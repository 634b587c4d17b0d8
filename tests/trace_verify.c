// Replays that look at every byte.
#include <acre/acre.h>
#include <acre/trace.h>

#include <stdio.h>
#include <string.h>

#include "trace/pattern.h"
#include "trace_rig.h"

static void a_pattern_tells_its_own_number_at_any_offset(void **state) {
    (void)state;
    static unsigned char bytes[20000];
    static const uint64_t sizes[] = {1, 7, 8, 9, 15, 4095, 4096, 4097, 12289, 19990};
    for (size_t s = 0; s < sizeof(sizes) / sizeof(sizes[0]); s++) {
        for (uint64_t number = 1; number < UINT64_C(1) << 40; number *= 1021) {
            uint64_t size = sizes[s];
            unsigned char *at = bytes + number % 8;
            memset(bytes, 0xee, sizeof(bytes));
            acre_pattern_fill(at, size, number);
            assert_int_equal(at[size], 0xee);
            assert_int_equal(acre_pattern_check(at, size, number), size);
            // Its last byte, or another one, is looked at too.
            for (int which = 0; which < 3; which++) {
                uint64_t hit = which == 0 ? 0 : which == 1 ? size / 2 : size - 1;
                at[hit] ^= 1;
                assert_int_equal(acre_pattern_check(at, size, number), hit);
                at[hit] ^= 1;
            }
            for (uint64_t offset = 0; size >= 8 && offset < size; offset += 1 + size / 16)
                assert_int_equal(acre_pattern_owner(at, size, offset), number);
            if (size < 8)
                assert_int_equal(acre_pattern_owner(at, size, 0), 0);
        }
    }
    memset(bytes, 0, sizeof(bytes));
    assert_int_equal(acre_pattern_owner(bytes, 64, 0), 0); // fresh memory is nobody's
}

static void verification_passes_on_host_bytes_with_every_layout(void **state) {
    (void)state;
    static const acre_layout_kind kinds[] = {ACRE_LAYOUT_SUB_SLICES, ACRE_LAYOUT_EXCLUSIVE_PAGES};
    static const uint64_t alignments[] = {1, 10, 256};
    char text[16384];
    int used = sprintf(text, TRACE_HEADER);
    for (int i = 1; i <= 200; i++) {
        used += sprintf(text + used, "0,0,allocate,0x%x,%d,0\n", i, i * i * 7 % 9000);
        if (i > 20)
            used += sprintf(text + used, "0,0,free,0x%x,1,0\n", i - i % 7 % 3 - 17);
    }
    (void)used;
    // Lenient, since the frees above repeat now and then.
    acre_trace_reader_options reading = ACRE_TRACE_READER_OPTIONS_INIT;
    reading.lenient = true;
    acre_trace_reader *reader = NULL;
    acre_trace_program *program = NULL;
    assert_int_equal(acre_trace_reader_open(trace_write("many.csv", text), &reading, &reader, NULL),
                     ACRE_OK);
    assert_int_equal(acre_trace_program_load(reader, NULL, &program, NULL), ACRE_OK);
    acre_trace_reader_close(reader);
    for (int k = 0; k < 2; k++) {
        for (int a = 0; a < 3; a++) {
            acre_storage *storage = host(64 << 20);
            acre_layout layout = ACRE_LAYOUT_INIT(kinds[k]);
            acre_manager_options manager = ACRE_MANAGER_OPTIONS_INIT;
            manager.layout = &layout;
            manager.alignment = alignments[a];
            acre_replay_options options = ACRE_REPLAY_OPTIONS_INIT;
            options.verify = true;
            acre_replay_result result = ACRE_REPLAY_RESULT_INIT;
            assert_int_equal(acre_replay_run(program, storage, &manager, &options, &result, NULL),
                             ACRE_OK);
            assert_int_equal(result.damage, ACRE_REPLAY_INTACT);
            assert_int_equal(result.passes, 3);
            assert_int_equal(result.failed, 0);
            acre_storage_destroy(storage);
        }
    }
    acre_trace_program_destroy(program);
}

// A device with a fault: page k begins at byte k * step of one block, however large pages are. Its
// bytes are in this process, or as good as elsewhere: to be had by copies alone.
typedef struct faulty {
    uint64_t step;
    uint64_t pages;
    uint64_t bytes;
    bool elsewhere;
    unsigned char block[16 << 20];
} faulty;

static acre_status faulty_alloc(void *context, uint64_t size, uint64_t *id, acre_error *error) {
    (void)error;
    faulty *device = context;
    *id = device->pages++;
    device->bytes += size;
    return ACRE_OK;
}

static void faulty_dealloc(void *context, uint64_t id) {
    (void)context;
    (void)id;
}

static void faulty_flush(void *context) {
    (void)context;
}

static acre_status faulty_resource(void *context, uint64_t id, uint64_t offset, uint64_t size,
                                   acre_resource *resource, acre_error *error) {
    (void)error;
    faulty *device = context;
    assert_true(id * device->step + offset + size <= sizeof(device->block));
    resource->kind = device->elsewhere ? ACRE_RESOURCE_CUDA : ACRE_RESOURCE_HOST;
    resource->size = size;
    if (device->elsewhere)
        resource->as.cuda = id * device->step + offset;
    else
        resource->as.host = device->block + id * device->step + offset;
    return ACRE_OK;
}

static acre_status faulty_write(void *context, const acre_resource *target, const void *bytes,
                                acre_error *error) {
    (void)error;
    faulty *device = context;
    assert_int_equal(target->kind, ACRE_RESOURCE_CUDA);
    memcpy(device->block + target->as.cuda, bytes, target->size);
    return ACRE_OK;
}

static acre_status faulty_read(void *context, const acre_resource *source, void *bytes,
                               acre_error *error) {
    (void)error;
    faulty *device = context;
    assert_int_equal(source->kind, ACRE_RESOURCE_CUDA);
    memcpy(bytes, device->block + source->as.cuda, source->size);
    return ACRE_OK;
}

static uint64_t faulty_alignment(void *context) {
    (void)context;
    return 4096;
}

static uint64_t faulty_bytes(void *context) {
    return ((faulty *)context)->bytes;
}

static acre_storage *faulty_storage(faulty *device, uint64_t step, bool elsewhere) {
    memset(device, 0, sizeof(*device));
    device->step = step;
    device->elsewhere = elsewhere;
    acre_storage_ops ops = ACRE_STORAGE_OPS_INIT;
    ops.alloc = faulty_alloc;
    ops.dealloc = faulty_dealloc;
    ops.flush = faulty_flush;
    ops.resource = faulty_resource;
    ops.alignment = faulty_alignment;
    ops.bytes_allocated = faulty_bytes;
    ops.write = faulty_write;
    ops.read = faulty_read;
    acre_storage *storage = NULL;
    assert_int_equal(acre_storage_create("faulty", &ops, device, NULL, &storage, NULL), ACRE_OK);
    return storage;
}

static const struct {
    const char *lines;
    uint64_t step;
    acre_replay_damage damage;
    uint64_t damaged, damaged_size, offset, by, by_size;
} overlaps[] = {
    // Both live: the second begins in the midst of the first.
    {"0,0,allocate,0x1,1000,0\n0,0,allocate,0x2,2000,0\n0,0,free,0x1,1000,0\n", 600,
     ACRE_REPLAY_OVERWRITTEN, 2, 1000, 600, 3, 2000},
    // At a byte that no word of the first begins on.
    {"0,0,allocate,0x1,1000,0\n0,0,allocate,0x2,2000,0\n0,0,free,0x1,1000,0\n", 13,
     ACRE_REPLAY_OVERWRITTEN, 2, 1000, 13, 3, 2000},
    // The one that wrote last is whole; what is left at the end of a pass is looked at as well.
    {"0,0,allocate,0x1,1000,0\n0,0,allocate,0x2,2000,0\n0,0,free,0x2,2000,0\n", 600,
     ACRE_REPLAY_OVERWRITTEN, 2, 1000, 600, 3, 2000},
    // The one that overwrote is gone: its pattern still tells.
    {"0,0,allocate,0x1,1000,0\n0,0,allocate,0x2,64,0\n0,0,free,0x2,64,0\n0,0,free,0x1,1000,0\n",
     400, ACRE_REPLAY_OVERWRITTEN, 2, 1000, 400, 3, 64},
    // Less than a word was overwritten: who lives there tells.
    {"0,0,allocate,0x1,1000,0\n0,0,allocate,0x2,3,0\n0,0,free,0x1,1000,0\n", 500,
     ACRE_REPLAY_OVERWRITTEN, 2, 1000, 500, 3, 3},
    // And when it is gone, nothing does.
    {"0,0,allocate,0x1,1000,0\n0,0,allocate,0x2,3,0\n0,0,free,0x2,3,0\n0,0,free,0x1,1000,0\n", 500,
     ACRE_REPLAY_OVERWRITTEN, 2, 1000, 500, 0, 0},
    // Far into a large one: bytes elsewhere come a piece at a time.
    {"0,0,allocate,0x1,10000000,0\n0,0,allocate,0x2,500000,0\n0,0,free,0x1,10000000,0\n", 9000001,
     ACRE_REPLAY_OVERWRITTEN, 2, 10000000, 9000001, 3, 500000},
    // Pages that follow each other do no harm.
    {"0,0,allocate,0x1,9000000,0\n0,0,allocate,0x2,7000000,0\n0,0,free,0x1,1000,0\n", 9000000,
     ACRE_REPLAY_INTACT, 0, 0, 0, 0, 0},
    {"0,0,allocate,0x1,1000,0\n0,0,allocate,0x2,1000,0\n0,0,free,0x1,1000,0\n", 1024,
     ACRE_REPLAY_INTACT, 0, 0, 0, 0, 0},
};

static void check_overlap(size_t i, bool elsewhere) {
    static faulty device;
    acre_trace_program *program = program_of(overlaps[i].lines);
    acre_storage *storage = faulty_storage(&device, overlaps[i].step, elsewhere);
    acre_replay_options options = ACRE_REPLAY_OPTIONS_INIT;
    options.verify = true;
    options.passes = 2;
    acre_replay_result result = replay_direct(program, storage, &options);
    assert_int_equal(result.damage, overlaps[i].damage);
    assert_int_equal(result.damaged_line, overlaps[i].damaged);
    assert_int_equal(result.damaged_size, overlaps[i].damaged_size);
    assert_int_equal(result.damage_offset, overlaps[i].offset);
    assert_int_equal(result.overwriter_line, overlaps[i].by);
    assert_int_equal(result.overwriter_size, overlaps[i].by_size);
    assert_int_equal(result.passes, result.damage == ACRE_REPLAY_INTACT ? 2 : 0);
    assert_int_equal(result.damage_pass, result.damage == ACRE_REPLAY_INTACT ? 0 : 1);
    acre_storage_destroy(storage);
    acre_trace_program_destroy(program);
}

static void an_overlap_is_told_with_both_requests(void **state) {
    (void)state;
    for (size_t i = 0; i < sizeof(overlaps) / sizeof(overlaps[0]); i++) {
        check_overlap(i, false);
        check_overlap(i, true);
    }
}

// The dry passes of a plan look at no bytes; damage ends the real ones, and no peaks are compared.
static void an_overlap_in_the_real_passes_ends_a_plan(void **state) {
    (void)state;
    static faulty device;
    acre_trace_program *program = program_of(overlaps[0].lines);
    const acre_pool_options pools[] = {ACRE_EXCLUSIVE_POOL(4096)};
    acre_layout layout = ACRE_LAYOUT_INIT(ACRE_LAYOUT_EXPLICIT);
    layout.pools = pools;
    layout.pool_count = 1;
    acre_manager_options manager = ACRE_MANAGER_OPTIONS_INIT;
    manager.layout = &layout;
    manager.largest_page = 4096;
    acre_storage *storage = faulty_storage(&device, overlaps[0].step, false);
    acre_replay_options options = ACRE_REPLAY_OPTIONS_INIT;
    options.verify = true;
    options.plan = true;
    acre_replay_result result = ACRE_REPLAY_RESULT_INIT;
    assert_int_equal(acre_replay_run(program, storage, &manager, &options, &result, NULL), ACRE_OK);
    assert_int_equal(result.damage, ACRE_REPLAY_OVERWRITTEN);
    assert_int_equal(result.damage_pass, 1);
    assert_int_equal(result.passes, 0);
    assert_int_equal(result.plan_pools, 0);
    assert_true(result.planned_peak_bytes > 0);
    acre_storage_destroy(storage);
    acre_trace_program_destroy(program);
}

static void verification_without_bytes_is_unsupported(void **state) {
    (void)state;
    acre_trace_program *program = program_of(small_trace);
    acre_storage *storage = simulated(UINT64_C(1) << 30);
    acre_replay_options options = ACRE_REPLAY_OPTIONS_INIT;
    options.verify = true;
    acre_replay_result result = ACRE_REPLAY_RESULT_INIT;
    acre_error error = ACRE_ERROR_INIT;
    assert_int_equal(acre_replay_run(program, storage, NULL, &options, &result, &error),
                     ACRE_UNSUPPORTED);
    assert_int_equal(error.status, ACRE_UNSUPPORTED);
    assert_int_equal(result.events, 0); // untouched
    acre_storage_destroy(storage);
    acre_trace_program_destroy(program);
}

static void host_memory_of_a_verification_elsewhere_that_runs_out_is_an_error(void **state) {
    (void)state;
    static faulty device;
    acre_trace_program *program = program_of(small_trace);
    acre_status status = ACRE_OUT_OF_HOST_MEMORY;
    uint64_t nth = 0;
    while (status != ACRE_OK) {
        assert_true(++nth < 10);
        trace_memory memory;
        trace_memory_begin(&memory, nth);
        acre_storage *storage = faulty_storage(&device, 4096, true);
        acre_replay_options options = ACRE_REPLAY_OPTIONS_INIT;
        options.hooks = &memory.hooks;
        options.verify = true;
        acre_manager_options manager = ACRE_MANAGER_OPTIONS_INIT;
        acre_layout layout = ACRE_LAYOUT_INIT(ACRE_LAYOUT_EXCLUSIVE_PAGES);
        manager.layout = &layout;
        acre_replay_result result = ACRE_REPLAY_RESULT_INIT;
        status = acre_replay_run(program, storage, &manager, &options, &result, NULL);
        assert_int_equal(status, nth <= memory.calls ? ACRE_OUT_OF_HOST_MEMORY : ACRE_OK);
        assert_int_equal(memory.held, 0);
        acre_storage_destroy(storage);
    }
    assert_true(nth == 4); // handles, owners and the piece, then none
    acre_trace_program_destroy(program);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_pattern_tells_its_own_number_at_any_offset),
        cmocka_unit_test(verification_passes_on_host_bytes_with_every_layout),
        cmocka_unit_test(an_overlap_is_told_with_both_requests),
        cmocka_unit_test(an_overlap_in_the_real_passes_ends_a_plan),
        cmocka_unit_test(verification_without_bytes_is_unsupported),
        cmocka_unit_test(host_memory_of_a_verification_elsewhere_that_runs_out_is_an_error),
    };
    return cmocka_run_group_tests(tests, trace_files_begin, trace_files_end);
}
