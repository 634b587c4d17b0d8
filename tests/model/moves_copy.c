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

static acre_status script(model_world *world, acre_simulated_call call, uint64_t nth) {
    acre_status status = acre_storage_simulated_fail(world->storage, call, nth, false, NULL);
    WORLD_REQUIRE(world, status == ACRE_OK, "a failure could not be scripted");
    return status;
}

// Moves with bytes that are copied when nothing fails: one alone when there is no time.
static uint64_t copies_of(const model_relocation *plan) {
    uint64_t copies = 0;
    for (uint32_t i = 0; i < plan->count; i++) {
        copies += plan->moves[i].bytes;
        if (plan->options.max_time == 0) {
            break;
        }
    }
    return copies;
}

// Through the script's queue; its calls are: the device, each copy, the copies.
static bool copy_by_script(model_world *world, model_relocation *plan, uint64_t copies) {
    script_queue context = {.world = world, .plan = plan};
    acre_copy_queue queue = ACRE_COPY_QUEUE_INIT;
    queue.context = &context;
    queue.wait_device = wait_device;
    queue.copy = copy;
    queue.wait_copies = wait_copies;
    context.fail_at = dice_chance(&world->dice, 50) ? 1 + dice_below(&world->dice, copies + 2) : 0;
    bool naming = context.fail_at == 0 && dice_chance(&world->dice, 20);
    uint64_t nth = naming ? 1 + dice_below(&world->dice, 2 * copies + 1) : 0;
    script(world, ACRE_SIMULATED_RESOURCE, nth);
    bool fails = copies > 0 && (context.fail_at != 0 || (naming && nth <= 2 * copies));
    uint64_t calls = copies == 0 ? 0 : copies + 2;
    if (fails && naming) {
        calls = 1 + (nth - 1) / 2 + 1; // both ends of each copy before are named
    } else if (fails) {
        calls = context.fail_at == 1 ? 1 : context.fail_at + (context.fail_at < copies + 2);
    }
    acre_status status = acre_relocation_copy(plan->real, &queue, NULL);
    script(world, ACRE_SIMULATED_RESOURCE, 0);
    WORLD_REQUIRE(world, status == (fails ? ACRE_BACKEND_ERROR : ACRE_OK), "copying says %s",
                  acre_status_name(status));
    WORLD_REQUIRE(world, context.calls == calls,
                  "the queue was called %" PRIu64 " times, not %" PRIu64, context.calls, calls);
    return fails;
}

static bool copy_by_storage(model_world *world, model_relocation *plan, uint64_t copies) {
    uint64_t nth = dice_chance(&world->dice, 50) ? 1 + dice_below(&world->dice, copies + 1) : 0;
    bool fails = nth > 0 && nth <= copies;
    uint64_t before = acre_storage_simulated_calls(world->storage, ACRE_SIMULATED_COPY);
    script(world, ACRE_SIMULATED_COPY, nth);
    acre_status status = acre_relocation_copy(plan->real, NULL, NULL);
    script(world, ACRE_SIMULATED_COPY, 0);
    uint64_t made = acre_storage_simulated_calls(world->storage, ACRE_SIMULATED_COPY) - before;
    WORLD_REQUIRE(world, status == (fails ? ACRE_BACKEND_ERROR : ACRE_OK), "copying says %s",
                  acre_status_name(status));
    WORLD_REQUIRE(world, made == (fails ? nth : copies), "%" PRIu64 " copies, not %" PRIu64, made,
                  fails ? nth : copies);
    return fails;
}

bool world_copy_moves(model_world *world, model_relocation *plan) {
    uint64_t copies = copies_of(plan);
    return dice_chance(&world->dice, 60) ? copy_by_script(world, plan, copies)
                                         : copy_by_storage(world, plan, copies);
}
