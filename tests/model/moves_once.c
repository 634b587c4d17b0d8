// Relocations in one call: what moved shows afterwards, by where things are.
#include "model/moves.h"

#include <inttypes.h>

typedef struct counting_queue {
    uint64_t calls, fail_at; // 0 = never
    uint64_t copies, waits;
} counting_queue;

static acre_status answer(counting_queue *queue) {
    return ++queue->calls == queue->fail_at ? ACRE_BACKEND_ERROR : ACRE_OK;
}

static acre_status wait(void *context, acre_error *error) {
    counting_queue *queue = context;
    (void)error;
    queue->waits++;
    return answer(queue);
}

static acre_status copy(void *context, const acre_resource *source, const acre_resource *target,
                        uint64_t size, acre_error *error) {
    counting_queue *queue = context;
    (void)error;
    queue->copies += source->size == size && target->size == size;
    return answer(queue);
}

static acre_place place_of(const model_world *world, const model_handle *handle) {
    acre_place place = ACRE_PLACE_INIT;
    acre_status status = acre_manager_get_place(world->manager, handle->real, &place, NULL);
    WORLD_REQUIRE(world, status == ACRE_OK, "an allocation has no place");
    return place;
}

// What is not where it was becomes a move of the plan. => digest
static uint64_t find_moves(model_world *world, model_relocation *plan) {
    uint64_t digest = 0;
    plan->count = 0;
    for (int i = 0; i < MODEL_HANDLES; i++) {
        const model_handle *handle = &world->handles[i];
        if (!model_handle_is_ours(handle) || handle->state != MODEL_BOUND) {
            continue; // or bound to: bindings of another keep it in place
        }
        const model_allocation *allocation = &world->ref.allocations[handle->allocation];
        if (allocation->page < 0) {
            continue;
        }
        acre_place place = place_of(world, handle);
        uint32_t page = world->ref.pages[allocation->page].name;
        if (place.page != page || place.offset != allocation->offset) {
            acre_relocation_move planned = ACRE_RELOCATION_MOVE_INIT;
            planned.from_page = page;
            planned.from_offset = allocation->offset;
            planned.to_page = place.page;
            planned.to_offset = place.offset;
            planned.size = allocation->size;
            digest = digest * 1000003 + world_take_move(world, plan, &planned);
        }
    }
    return digest;
}

static void settle(model_world *world, model_relocation *plan,
                   const acre_relocation_report *report) {
    plan->options.max_time = ACRE_UNSET; // what was not copied did not move
    for (uint32_t i = 0; i < plan->count; i++) {
        plan->handles[i] = world_handle_of(world, plan->moves[i].allocation);
        world->handles[plan->handles[i]].held++;
        reference_place_target(&world->ref, &plan->moves[i]);
    }
    acre_relocation_report expected = world_settle_moves(world, plan);
    world_compare_outcome(world, plan, &expected, report);
    world_remember(world, plan, report->moves == 0 && !report->more);
}

void world_relocate_in_one_call(model_world *world) {
    static model_relocation plan; // large
    plan.options = world_relocation_options(world);
    bool known = reference_arena(&world->ref) == MODEL_POOLS || world_lazy_pages(world) == 0;
    if (!known) { // such a page may get memory, be emptied and go, all in the one call
        plan.options.compact = false;
        plan.options.make_room = 0;
    }
    if (reference_arena(&world->ref) == MODEL_POOLS) {
        acre_status status = acre_manager_relocate(world->manager, &plan.options, NULL, NULL);
        WORLD_REQUIRE(world, status == ACRE_UNSUPPORTED, "no arena to relocate: %s",
                      acre_status_name(status));
        return;
    }
    counting_queue context = {
        0, dice_chance(&world->dice, 30) ? 1 + dice_below(&world->dice, 6) : 0, 0, 0};
    acre_copy_queue queue = ACRE_COPY_QUEUE_INIT;
    queue.context = &context;
    queue.wait_device = queue.wait_copies = wait;
    queue.copy = copy;
    plan.options.queue = dice_chance(&world->dice, 60) ? &queue : NULL;
    world_answer_need(world, &plan);
    world_note_stays(world, &plan);
    acre_relocation_report report = ACRE_RELOCATION_REPORT_INIT;
    acre_status status = acre_manager_relocate(world->manager, &plan.options, &report, NULL);
    bool failed = context.fail_at != 0 && context.calls >= context.fail_at;
    WORLD_REQUIRE(world, status == (failed ? ACRE_BACKEND_ERROR : ACRE_OK), "a relocation says %s",
                  acre_status_name(status));
    uint64_t added = world_learn_pages(world);
    WORLD_REQUIRE(world, added == 0 || plan.room == ACRE_RELOCATION_ROOM_MAY_ADD,
                  "a relocation into room held added a page");
    world_note_moves(world, find_moves(world, &plan));
    WORLD_REQUIRE(world, !failed || plan.count == 0, "a relocation failed, and things moved");
    uint64_t bytes = 0;
    for (uint32_t i = 0; i < plan.count; i++) {
        bytes += plan.moves[i].bytes;
    }
    WORLD_REQUIRE(world,
                  failed || plan.options.queue == NULL ||
                      (context.copies == bytes && context.waits == (bytes > 0 ? 2 : 0)),
                  "%" PRIu64 " copies, not %" PRIu64, context.copies, bytes);
    if (failed) {
        world_remember(world, &plan, true);
    } else {
        settle(world, &plan, &report);
    }
    world->ref.recent.valid = false;
    if (!world_learn_device(world)) {
        world_find_memory(world);
    }
    world_compare_arena(world);
}
