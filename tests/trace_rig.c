#include "trace_rig.h"

#include <stdio.h>

const char small_trace[] = "0,0,allocate,0x1,1000,0\n" // 1024
                           "0,0,allocate,0x2,100,0\n"  // 256
                           "0,0,free,0x1,1000,0\n"
                           "0,0,allocate,0x3,600,0\n" // 768, the peak: 2048 in 3 pages
                           "0,0,allocate,0x4,990,0\n" // reuses the 1024
                           "0,0,free,0x2,100,0\n"
                           "0,0,allocate failure,(nil),7,0\n"
                           "0,0,free,0x3,600,0\n"; // 0x4 is left

acre_trace_program *load(const char *path) {
    acre_error error = ACRE_ERROR_INIT;
    acre_trace_reader *reader = NULL;
    acre_trace_program *program = NULL;
    acre_status status = acre_trace_reader_open(path, NULL, &reader, &error);
    if (status == ACRE_OK)
        status = acre_trace_program_load(reader, NULL, &program, &error);
    if (status != ACRE_OK)
        fail_msg("%s", error.detail);
    acre_trace_reader_close(reader);
    return program;
}

acre_trace_program *program_of(const char *lines) {
    char text[2048];
    (void)snprintf(text, sizeof(text), TRACE_HEADER "%s", lines);
    return load(trace_write("program.csv", text));
}

acre_storage *simulated(uint64_t total) {
    acre_simulated_storage_params params = ACRE_SIMULATED_STORAGE_PARAMS_INIT;
    params.total_memory = total;
    acre_storage *storage = NULL;
    assert_int_equal(acre_storage_simulated_create(&params, NULL, &storage, NULL), ACRE_OK);
    return storage;
}

acre_storage *host(uint64_t total) {
    acre_host_storage_params params = ACRE_HOST_STORAGE_PARAMS_INIT;
    params.total_memory = total;
    acre_storage *storage = NULL;
    assert_int_equal(acre_storage_host_create(&params, NULL, &storage, NULL), ACRE_OK);
    return storage;
}

acre_replay_result replay_direct(const acre_trace_program *program, acre_storage *storage,
                                 const acre_replay_options *options) {
    const acre_pool_options pools[] = {ACRE_DIRECT_POOL};
    acre_layout layout = ACRE_LAYOUT_INIT(ACRE_LAYOUT_EXPLICIT);
    layout.pools = pools;
    layout.pool_count = 1;
    acre_manager_options manager = ACRE_MANAGER_OPTIONS_INIT;
    manager.layout = &layout;
    manager.alignment = 256;
    acre_error error = ACRE_ERROR_INIT;
    acre_replay_result result = ACRE_REPLAY_RESULT_INIT;
    if (acre_replay_run(program, storage, &manager, options, &result, &error) != ACRE_OK)
        fail_msg("%s: %s", acre_status_name(error.status), error.detail);
    return result;
}

void see_progress(void *context, uint64_t done, uint64_t total) {
    seen_progress *seen = context;
    assert_true(done > seen->last && done <= total);
    seen->last = done;
    seen->total = total;
    seen->calls++;
}
