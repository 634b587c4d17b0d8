// A replay that fills every allocation with its own pattern and checks it at its free.
#include "replay.h"

#include "detail.h"
#include "pattern.h"

// The bytes of the allocation in `slot`, which op number `owners[slot]` made.
static acre_status bytes_of(acre_replay *run, uint32_t slot, unsigned char **bytes,
                            acre_error *error) {
    const acre_trace_op *op = &run->program->ops[run->owners[slot] - 1];
    acre_resource resource = ACRE_RESOURCE_INIT;
    acre_status status =
        acre_manager_resolve(run->manager, run->handles[slot], 0, 0, &resource, error);
    if (status != ACRE_OK)
        return status;
    if (resource.size != op->size)
        return acre_trace_fail(
            error, ACRE_BACKEND_ERROR, "the %llu bytes of line %u resolve to %llu bytes",
            (unsigned long long)op->size, (unsigned)op->line, (unsigned long long)resource.size);
    if (op->size > 0 && resource.kind != ACRE_RESOURCE_HOST)
        return acre_trace_fail(error, ACRE_UNSUPPORTED,
                               "verification needs a storage whose bytes are in this process");
    *bytes = op->size > 0 ? resource.as.host : NULL;
    return ACRE_OK;
}

// An allocation that lives and covers `at`, beside that of `damaged`. => 0 when there is none.
static uint64_t find_covering(acre_replay *run, uint32_t damaged, const unsigned char *at) {
    for (uint32_t slot = 0; slot < run->program->slots; slot++) {
        unsigned char *bytes = NULL;
        if (slot == damaged || !run->handles[slot] ||
            bytes_of(run, slot, &bytes, NULL) != ACRE_OK || !bytes)
            continue;
        uintptr_t begin = (uintptr_t)bytes;
        uint64_t size = run->program->ops[run->owners[slot] - 1].size;
        if ((uintptr_t)at >= begin && (uintptr_t)at - begin < size)
            return run->owners[slot];
    }
    return 0;
}

static void note_damage(acre_replay *run, uint32_t slot, const unsigned char *bytes,
                        uint64_t offset) {
    const acre_trace_program *program = run->program;
    const acre_trace_op *damaged = &program->ops[run->owners[slot] - 1];
    acre_replay_result *result = &run->result;
    result->damage = ACRE_REPLAY_OVERWRITTEN;
    result->damage_pass = result->passes + 1;
    result->damaged_line = damaged->line;
    result->damaged_size = damaged->size;
    result->damage_offset = offset;

    // The pattern found may be that of an allocation freed since. Less than a word tells nothing;
    // then it is asked who lives there.
    uint64_t owner = acre_pattern_owner(bytes, damaged->size, offset);
    bool known = owner > 0 && owner <= program->facts.events && owner != run->owners[slot] &&
                 !(program->ops[owner - 1].slot & ACRE_TRACE_OP_FREE);
    if (!known)
        owner = find_covering(run, slot, bytes + offset);
    if (owner > 0) {
        result->overwriter_line = program->ops[owner - 1].line;
        result->overwriter_size = program->ops[owner - 1].size;
    }
}

acre_status acre_replay_free_checked(acre_replay *run, uint32_t slot, acre_error *error) {
    if (!run->handles[slot])
        return ACRE_OK;
    unsigned char *bytes = NULL;
    acre_status status = bytes_of(run, slot, &bytes, error);
    if (status != ACRE_OK)
        return status;
    if (bytes) {
        uint64_t number = run->owners[slot];
        uint64_t size = run->program->ops[number - 1].size;
        uint64_t offset = acre_pattern_check(bytes, size, number);
        if (offset < size)
            note_damage(run, slot, bytes, offset);
    }
    acre_manager_release(run->manager, run->handles[slot]);
    run->handles[slot] = NULL;
    return ACRE_OK;
}

static acre_status reserve_filled(acre_replay *run, const acre_trace_op *op, acre_error *error) {
    acre_error refusal = ACRE_ERROR_INIT;
    acre_status status =
        acre_manager_reserve(run->manager, op->size, &run->handles[op->slot], &refusal);
    if (status != ACRE_OK) {
        run->handles[op->slot] = NULL;
        acre_replay_note_refusal(run, op, status, &refusal);
        return ACRE_OK;
    }
    uint64_t number = (uint64_t)(op - run->program->ops) + 1;
    run->owners[op->slot] = number;
    unsigned char *bytes = NULL;
    status = bytes_of(run, op->slot, &bytes, error);
    if (status == ACRE_OK && bytes)
        acre_pattern_fill(bytes, op->size, number);
    return status;
}

acre_status acre_replay_play_verified(acre_replay *run, const acre_trace_op *op,
                                      const acre_trace_op *end, acre_error *error) {
    for (; op < end && run->result.damage == ACRE_REPLAY_INTACT; op++) {
        acre_status status =
            op->slot & ACRE_TRACE_OP_FREE
                ? acre_replay_free_checked(run, op->slot & ~ACRE_TRACE_OP_FREE, error)
                : reserve_filled(run, op, error);
        if (status != ACRE_OK)
            return status;
        if (run->page_added)
            acre_replay_look_at_peak(run);
    }
    return ACRE_OK;
}
