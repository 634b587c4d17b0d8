// Copying the moves of a plan, with queues and devices that fail at any of their calls.
#include "model/moves.h"

#include <inttypes.h>

// A queue of the script's own: it counts its calls and fails at one of them.
typedef struct script_queue {
    const model_world *world;
    const model_relocation *plan;
    uint64_t calls, fail_at; // 0 = never
    uint32_t next;           // move that may be copied next
    bool waited;             // for the copies
} script_queue;

static acre_status answer(script_queue *queue) {
    queue->calls++;
    return queue->calls == queue->fail_at ? ACRE_BACKEND_ERROR : ACRE_OK;
}

static acre_status wait_device(void *context, acre_error *error) {
    script_queue *queue = context;
    (void)error;
    WORLD_REQUIRE(queue->world, queue->calls == 0, "the device is waited for late");
    return answer(queue);
}

// Copies come in the order of the plan; what has no bytes is left out.
static acre_status copy(void *context, const acre_resource *source, const acre_resource *target,
                        uint64_t size, acre_error *error) {
    script_queue *queue = context;
    (void)error;
    const model_relocation *plan = queue->plan;
    while (queue->next < plan->count && !plan->moves[queue->next].bytes) {
        queue->next++;
    }
    WORLD_REQUIRE(queue->world, queue->calls > 0 && queue->next < plan->count && !queue->waited,
                  "a copy is out of turn");
    const acre_relocation_move *move = &plan->planned[queue->next++];
    WORLD_REQUIRE(queue->world,
                  size == move->size && source->size == size && target->size == size &&
                      source->as.simulated.offset == move->from_offset &&
                      target->as.simulated.offset == move->to_offset &&
                      (source->as.simulated.page != target->as.simulated.page ||
                       move->from_page == move->to_page),
                  "a copy is of other bytes than move %" PRIu32, queue->next - 1);
    return answer(queue);
}

static acre_status wait_copies(void *context, acre_error *error) {
    script_queue *queue = context;
    (void)error;
    WORLD_REQUIRE(queue->world, queue->calls > 0 && !queue->waited, "copies are waited for twice");
    queue->waited = true;
    return answer(queue);
}

static void script(model_world *world, acre_simulated_call call, uint64_t nth) {
    acre_status status = acre_storage_simulated_fail(world->storage, call, nth, false, NULL);
    WORLD_REQUIRE(world, status == ACRE_OK, "a failure could not be scripted");
}

// How a run of copies will go: what fails, counted from 1, and what came of it.
typedef struct copy_run {
    uint64_t fail_call;   // of the queue: the device, each copy, the copies; 0 = none
    uint64_t fail_naming; // of the storage's naming of bytes
    uint64_t calls, namings, copies;
    acre_status status;
} copy_run;

static bool fails(copy_run *run, uint64_t *count, uint64_t at) {
    if (++*count == at) {
        run->status = ACRE_BACKEND_ERROR;
    }
    return run->status != ACRE_OK;
}

// One move. Bytes that came since the plan was made need memory at the target, too.
static void foretell_copy(model_world *world, const model_move *move, copy_run *run) {
    if (reference_resolve(&world->ref, move->target) != ACRE_OK) {
        run->status = ACRE_STORAGE_MAPPING_FAILED;
        return;
    }
    for (int ends = 0; ends < 2; ends++) {
        if (fails(run, &run->namings, run->fail_naming)) {
            return;
        }
    }
    run->copies++;
    (void)fails(run, &run->calls, run->fail_call);
}

static void foretell(model_world *world, model_relocation *plan, copy_run *run) {
    bool begun = false;
    for (uint32_t i = 0; i < world_copied(plan) && run->status == ACRE_OK; i++) {
        model_move *move = &plan->moves[i];
        move->bytes = world->ref.pages[move->from].mapped;
        if (move->bytes && !begun) {
            begun = !fails(run, &run->calls, run->fail_call);
        }
        if (move->bytes && begun) {
            foretell_copy(world, move, run);
        }
    }
    if (begun) { // also behind a failure
        acre_status status = run->status;
        run->status = ACRE_OK;
        (void)fails(run, &run->calls, run->fail_call);
        run->status = status == ACRE_OK ? run->status : status;
    }
}

static uint64_t count_bytes(const model_world *world, const model_relocation *plan) {
    uint64_t moves = 0;
    for (uint32_t i = 0; i < world_copied(plan); i++) {
        moves += world->ref.pages[plan->moves[i].from].mapped;
    }
    return moves;
}

static acre_status copy_by_script(model_world *world, model_relocation *plan, copy_run *run) {
    script_queue context = {.world = world, .plan = plan, .fail_at = run->fail_call};
    acre_copy_queue queue = ACRE_COPY_QUEUE_INIT;
    queue.context = &context;
    queue.wait_device = wait_device;
    queue.copy = copy;
    queue.wait_copies = wait_copies;
    acre_status status = acre_relocation_copy(plan->real, &queue, NULL);
    WORLD_REQUIRE(world, context.calls == run->calls,
                  "the queue was called %" PRIu64 " times, not %" PRIu64, context.calls,
                  run->calls);
    return status;
}

// The storage waits for nothing: its copies are done when they return.
static acre_status copy_by_storage(model_world *world, model_relocation *plan, copy_run *run) {
    uint64_t before = acre_storage_simulated_calls(world->storage, ACRE_SIMULATED_COPY);
    script(world, ACRE_SIMULATED_COPY, run->fail_call == 0 ? 0 : run->fail_call - 1);
    acre_status status = acre_relocation_copy(plan->real, NULL, NULL);
    script(world, ACRE_SIMULATED_COPY, 0);
    uint64_t made = acre_storage_simulated_calls(world->storage, ACRE_SIMULATED_COPY) - before;
    WORLD_REQUIRE(world, made == run->copies, "%" PRIu64 " copies, not %" PRIu64, made,
                  run->copies);
    return status;
}

acre_status world_copy_moves(model_world *world, model_relocation *plan) {
    model_dice *dice = &world->dice;
    uint64_t bytes = count_bytes(world, plan);
    bool by_script = dice_chance(dice, 60);
    copy_run run = {.status = ACRE_OK};
    if (dice_chance(dice, 40)) {
        // The storage's own queue fails at copies alone: not at the first call, nor at the last.
        run.fail_call = by_script    ? 1 + dice_below(dice, bytes + 2)
                        : bytes == 0 ? 0
                                     : 2 + dice_below(dice, bytes);
    } else if (dice_chance(dice, 20)) {
        run.fail_naming = 1 + dice_below(dice, 2 * bytes + 1);
    }
    script(world, ACRE_SIMULATED_RESOURCE, run.fail_naming);
    foretell(world, plan, &run);
    acre_status status =
        by_script ? copy_by_script(world, plan, &run) : copy_by_storage(world, plan, &run);
    script(world, ACRE_SIMULATED_RESOURCE, 0);
    WORLD_REQUIRE(world, status == run.status, "copying says %s, not %s", acre_status_name(status),
                  acre_status_name(run.status));
    return status;
}
