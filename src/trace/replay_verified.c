// A replay that fills every allocation with its own pattern and checks it at its free.
#include "replay.h"

#include "detail.h"
#include "pattern.h"

// Bytes that go through the host's memory at a time, where the storage's are elsewhere. A multiple
// of a pattern's period, so that every piece of an allocation holds the same.
#define PIECE ((uint64_t)4 << 20)

static const acre_trace_op *op_of(const acre_replay *run, uint32_t slot) {
    return &run->program->ops[run->owners[slot] - 1];
}

// The bytes of the allocation in `slot`, but for `start` ones at the front and `end` at the back.
static acre_status resolve(acre_replay *run, uint32_t slot, uint64_t start, uint64_t end,
                           acre_resource *resource, acre_error *error) {
    const acre_trace_op *op = op_of(run, slot);
    acre_status status =
        acre_manager_resolve(run->manager, run->handles[slot], start, end, resource, error);
    if (status != ACRE_OK)
        return status;
    if (resource->size != op->size - start - end)
        return acre_trace_fail(
            error, ACRE_BACKEND_ERROR, "the %llu bytes of line %u resolve to %llu bytes",
            (unsigned long long)op->size, (unsigned)op->line, (unsigned long long)resource->size);
    return ACRE_OK;
}

// The buffer that pieces go through, made when the first one needs it.
static acre_status prepare_piece(acre_replay *run, acre_error *error) {
    if (!run->piece && !(run->piece = acre_trace_alloc(&run->hooks, PIECE)))
        return acre_trace_fail_no_memory(error, PIECE);
    return ACRE_OK;
}

static acre_status fill(acre_replay *run, uint32_t slot, acre_error *error) {
    uint64_t size = op_of(run, slot)->size;
    acre_resource resource = ACRE_RESOURCE_INIT;
    acre_status status = resolve(run, slot, 0, 0, &resource, error);
    if (status != ACRE_OK || size == 0)
        return status;
    if (resource.kind == ACRE_RESOURCE_HOST) {
        acre_pattern_fill(resource.as.host, size, run->owners[slot]);
        return ACRE_OK;
    }
    status = prepare_piece(run, error);
    if (status == ACRE_OK)
        acre_pattern_fill(run->piece, size < PIECE ? size : PIECE, run->owners[slot]);
    for (uint64_t done = 0; done < size && status == ACRE_OK; done += PIECE) {
        uint64_t left = size - done < PIECE ? 0 : size - done - PIECE;
        status = resolve(run, slot, done, left, &resource, error);
        if (status == ACRE_OK)
            status = acre_storage_write(run->storage, &resource, run->piece, error);
    }
    return status;
}

// Where bytes are, as the storage says: it may be the one that is wrong. Addresses are of no page.
typedef struct spot {
    uint64_t page;
    uint64_t offset;
} spot;

static spot spot_of(const acre_resource *resource) {
    switch (resource->kind) {
    case ACRE_RESOURCE_SIMULATED:
        return (spot){resource->as.simulated.page, resource->as.simulated.offset};
    case ACRE_RESOURCE_OPENCL:
        return (spot){(uintptr_t)resource->as.opencl.buffer, resource->as.opencl.offset};
    case ACRE_RESOURCE_VULKAN:
        return (spot){resource->as.vulkan.buffer, resource->as.vulkan.offset};
    case ACRE_RESOURCE_CUDA:
        return (spot){0, resource->as.cuda};
    default:
        return (spot){0, (uintptr_t)resource->as.host};
    }
}

// An allocation that lives and covers byte `offset` of the one in `damaged`. => 0 when there is
// none.
static uint64_t find_covering(acre_replay *run, uint32_t damaged, uint64_t offset) {
    acre_resource resource = ACRE_RESOURCE_INIT;
    if (resolve(run, damaged, 0, 0, &resource, NULL) != ACRE_OK)
        return 0;
    spot at = spot_of(&resource);
    at.offset += offset;
    for (uint32_t slot = 0; slot < run->program->slots; slot++) {
        if (slot == damaged || !run->handles[slot] || op_of(run, slot)->size == 0 ||
            resolve(run, slot, 0, 0, &resource, NULL) != ACRE_OK)
            continue;
        spot other = spot_of(&resource);
        if (other.page == at.page && at.offset >= other.offset &&
            at.offset - other.offset < resource.size)
            return run->owners[slot];
    }
    return 0;
}

// `piece` holds `size` bytes of the allocation, from `start` on; byte `offset` of them is wrong.
static void note_damage(acre_replay *run, uint32_t slot, const unsigned char *piece, uint64_t size,
                        uint64_t start, uint64_t offset) {
    const acre_trace_program *program = run->program;
    const acre_trace_op *damaged = op_of(run, slot);
    acre_replay_result *result = &run->result;
    result->damage = ACRE_REPLAY_OVERWRITTEN;
    result->damage_pass = result->passes + 1;
    result->damaged_line = damaged->line;
    result->damaged_size = damaged->size;
    result->damage_offset = start + offset;

    // The pattern found may be that of an allocation freed since. Less than a word tells nothing;
    // then it is asked who lives there.
    uint64_t owner = acre_pattern_owner(piece, size, offset);
    bool known = owner > 0 && owner <= program->facts.events && owner != run->owners[slot] &&
                 !(program->ops[owner - 1].slot & ACRE_TRACE_OP_FREE);
    if (!known)
        owner = find_covering(run, slot, start + offset);
    if (owner > 0) {
        result->overwriter_line = program->ops[owner - 1].line;
        result->overwriter_size = program->ops[owner - 1].size;
    }
}

static void check_piece(acre_replay *run, uint32_t slot, const unsigned char *piece, uint64_t size,
                        uint64_t start) {
    uint64_t offset = acre_pattern_check(piece, size, run->owners[slot]);
    if (offset < size)
        note_damage(run, slot, piece, size, start, offset);
}

static acre_status check(acre_replay *run, uint32_t slot, acre_error *error) {
    uint64_t size = op_of(run, slot)->size;
    acre_resource resource = ACRE_RESOURCE_INIT;
    acre_status status = resolve(run, slot, 0, 0, &resource, error);
    if (status != ACRE_OK || size == 0)
        return status;
    if (resource.kind == ACRE_RESOURCE_HOST) {
        check_piece(run, slot, resource.as.host, size, 0);
        return ACRE_OK;
    }
    status = prepare_piece(run, error);
    for (uint64_t done = 0;
         done < size && status == ACRE_OK && run->result.damage == ACRE_REPLAY_INTACT;
         done += PIECE) {
        uint64_t left = size - done < PIECE ? 0 : size - done - PIECE;
        status = resolve(run, slot, done, left, &resource, error);
        if (status == ACRE_OK)
            status = acre_storage_read(run->storage, &resource, run->piece, error);
        if (status == ACRE_OK)
            check_piece(run, slot, run->piece, resource.size, done);
    }
    return status;
}

acre_status acre_replay_free_checked(acre_replay *run, uint32_t slot, acre_error *error) {
    if (!run->handles[slot])
        return ACRE_OK;
    acre_status status = check(run, slot, error);
    if (status != ACRE_OK)
        return status;
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
    run->owners[op->slot] = (uint64_t)(op - run->program->ops) + 1;
    return fill(run, op->slot, error);
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

void acre_replay_end_verified(acre_replay *run) {
    if (run->piece)
        acre_trace_free(&run->hooks, run->piece, PIECE);
}
