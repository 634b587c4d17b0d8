// Relocation: the three phases, and all in one call.
//
// A move ends by two slice records changing places: the allocation keeps its record, which stands
// for the target's bytes from then on, so whatever names it (handle, cursor, claims of failures,
// the allocation's name in events) follows without being touched.
//
//   before   source: record 7 (allocation)     target: record 9 (the plan's)
//   after    source: record 9, freed           target: record 7
#include "manager/relocate.h"

#include "base/error.h"
#include "base/os.h"
#include "base/structs.h"
#include "base/text.h"

#include <inttypes.h>

// ---- plans ---------------------------------------------------------------------------------

static acre_relocation *make_plan(acre_manager *manager, const acre_relocation_options *options) {
    acre_host *host = acre_manager_host(manager);
    acre_relocation *plan = acre_host_alloc_zeroed(host, sizeof *plan, _Alignof(acre_relocation));
    if (plan == NULL) {
        return NULL;
    }
    plan->manager = manager;
    plan->host = *host;
    plan->moves.host = host;
    plan->options = *options;
    plan->report = ACRE_RELOCATION_REPORT_INIT;
    plan->counts = true;
    plan->deadline = options->max_time == ACRE_UNSET
                         ? UINT64_MAX
                         : acre_add_saturating(acre_os_clock(), options->max_time);
    plan->next = manager->relocations;
    if (plan->next != NULL) {
        plan->next->previous = plan;
    }
    manager->relocations = plan;
    return plan;
}

static void end_plan(acre_relocation *plan) {
    acre_moves_free(&plan->moves);
    plan->phase = ACRE_RELOCATION_OVER;
}

// Every allocation stays where it was; the targets are free.
static void drop_plan(acre_relocation *plan) {
    acre_manager *manager = plan->manager;
    acre_relocation_undo(plan, 0);
    end_plan(plan);
    acre_relocation_remember(plan, true);
    acre_manager_take_pending(manager);
}

static void unlink_plan(acre_relocation *plan) {
    if (plan->previous != NULL) {
        plan->previous->next = plan->next;
    } else {
        plan->manager->relocations = plan->next;
    }
    if (plan->next != NULL) {
        plan->next->previous = plan->previous;
    }
}

void acre_relocation_destroy(acre_relocation *relocation) {
    if (relocation == NULL) {
        return;
    }
    acre_host own = relocation->host;
    acre_host *host = &own;
    acre_manager *manager = relocation->manager;
    if (manager != NULL) {
        host = acre_manager_host(manager);
        acre_manager_take_pending(manager);
        if (relocation->phase != ACRE_RELOCATION_OVER) {
            drop_plan(relocation);
        }
        unlink_plan(relocation);
    }
    acre_host_free(host, relocation, sizeof *relocation, _Alignof(acre_relocation));
}

void acre_relocation_leave_all(acre_manager *manager) {
    acre_relocation *next;
    for (acre_relocation *plan = manager->relocations; plan != NULL; plan = next) {
        next = plan->next;
        if (plan->phase != ACRE_RELOCATION_OVER) {
            drop_plan(plan);
        }
        plan->manager = NULL;
    }
    manager->relocations = NULL;
}

// The room that targets may have, AS_NEEDED answered: it stays only when nothing is needed.
static acre_relocation_room room_now(const acre_manager *manager, acre_relocation_room wanted) {
    if (wanted != ACRE_RELOCATION_ROOM_AS_NEEDED) {
        return wanted;
    }
    switch (acre_relocation_needed(manager)) {
    case ACRE_RELOCATION_ARENA_FULL:
        return ACRE_RELOCATION_ROOM_MAY_ADD;
    case ACRE_RELOCATION_SHORT_OF_ROOM:
        return ACRE_RELOCATION_ROOM_HELD;
    default:
        return ACRE_RELOCATION_ROOM_AS_NEEDED;
    }
}

static acre_status read_options(acre_relocation_options *own,
                                const acre_relocation_options *options, acre_error *error) {
    if (options != NULL && !acre_struct_read(own, sizeof *own, options)) {
        return acre_error_set(error, ACRE_UNSUPPORTED,
                              "the relocation has options this version does not know");
    }
    if ((unsigned)own->room > ACRE_RELOCATION_ROOM_MAY_ADD) {
        return acre_error_set(error, ACRE_INVALID_ARGUMENT, "no such relocation room: %d",
                              (int)own->room);
    }
    return ACRE_OK;
}

// => a plan with its moves; NULL with the error.
static acre_relocation *make_and_fill(acre_manager *manager, const acre_relocation_options *options,
                                      acre_error *error) {
    if (manager->layout.arena == NULL) {
        (void)!acre_relocation_no_arena(error);
        return NULL;
    }
    acre_relocation *plan = make_plan(manager, options);
    if (plan == NULL) {
        acre_error_refuse(error, ACRE_OUT_OF_HOST_MEMORY, sizeof *plan);
        return NULL;
    }
    plan->options.room = room_now(manager, options->room);
    plan->counts = plan->options.room != ACRE_RELOCATION_ROOM_AS_NEEDED || options->compact;
    if (acre_relocation_fill(plan, error) != ACRE_OK) {
        acre_relocation_destroy(plan);
        return NULL;
    }
    return plan;
}

acre_status acre_manager_relocation_plan(acre_manager *manager,
                                         const acre_relocation_options *options,
                                         acre_relocation **relocation, acre_error *error) {
    acre_error local;
    acre_error *detail = acre_error_open(error, &local);
    acre_relocation_options own = ACRE_RELOCATION_OPTIONS_INIT;
    acre_manager_take_pending(manager);
    acre_status status = read_options(&own, options, detail);
    if (status == ACRE_OK) {
        acre_relocation *plan = make_and_fill(manager, &own, detail);
        if (plan == NULL) {
            return acre_error_close(error, detail, detail->status);
        }
        *relocation = plan;
    }
    return acre_error_close(error, detail, status);
}

size_t acre_relocation_count(const acre_relocation *relocation) {
    return relocation->moves.count;
}

acre_status acre_relocation_get(const acre_relocation *relocation, size_t index,
                                acre_relocation_move *move, acre_error *error) {
    acre_error local;
    acre_error *detail = acre_error_open(error, &local);
    if (index >= relocation->moves.count) {
        return acre_error_close(error, detail,
                                acre_error_set(detail, ACRE_INVALID_ARGUMENT,
                                               "no move %zu; the plan has %u", index,
                                               (unsigned)relocation->moves.count));
    }
    const acre_move *planned = &relocation->moves.list[index];
    const acre_heap *heap = &relocation->manager->heap;
    const acre_slice *source = acre_heap_slice(heap, planned->source);
    const acre_slice *target = acre_heap_slice(heap, planned->target);
    acre_relocation_move own = ACRE_RELOCATION_MOVE_INIT;
    own.from_page = acre_slice_page(source);
    own.from_offset = source->offset;
    own.to_page = acre_slice_page(target);
    own.to_offset = target->offset;
    own.size = planned->size;
    acre_struct_write(move, &own, sizeof own);
    return ACRE_OK;
}

// ---- copy and commit -----------------------------------------------------------------------

static acre_status copy(acre_relocation *plan, const acre_copy_queue *queue, acre_error *error) {
    acre_copy_queue own;
    if (plan->phase != ACRE_RELOCATION_PLANNED) {
        return acre_error_set(error, ACRE_INVALID_ARGUMENT, "the relocation %s",
                              plan->phase == ACRE_RELOCATION_COPIED ? "was copied before"
                                                                    : "is over");
    }
    acre_status status = acre_queue_read(&own, queue, plan->manager->heap.storage, error);
    if (status != ACRE_OK) {
        return status;
    }
    status = acre_moves_copy(&plan->moves, &plan->manager->heap, &own, plan->deadline, error);
    if (status == ACRE_OK) {
        plan->phase = ACRE_RELOCATION_COPIED;
    } else {
        drop_plan(plan);
    }
    return status;
}

acre_status acre_relocation_copy(acre_relocation *relocation, const acre_copy_queue *queue,
                                 acre_error *error) {
    acre_error local;
    acre_error *detail = acre_error_open(error, &local);
    if (relocation->phase != ACRE_RELOCATION_OVER) {
        acre_manager_take_pending(relocation->manager);
    }
    return acre_error_close(error, detail, copy(relocation, queue, detail));
}

static void take_first_place(acre_manager *manager, uint32_t name) {
    const acre_slice *slice = acre_heap_slice(&manager->heap, name);
    if (slice->before == 0) {
        acre_page_at(&manager->heap, acre_slice_page(slice))->first = name;
    }
}

// The allocation passes from its slice to the target reserved for it: its record takes the
// target's place, and what was the target's stands for the room left behind. Everything that names
// the allocation names its record, so there is nothing else to pass on.
static void hand_over(acre_manager *manager, uint32_t allocation, uint32_t target) {
    acre_heap *heap = &manager->heap;
    acre_carve_exchange(&heap->slices, allocation, target);
    take_first_place(manager, allocation);
    take_first_place(manager, target);
    const acre_slice *moved = acre_heap_slice(heap, allocation);
    acre_pool *pool = acre_page_at(heap, acre_slice_page(moved))->pool;
    pool->largest_alloc = acre_max(pool->largest_alloc, moved->live.requested);
}

static const acre_page *page_of(const acre_manager *manager, uint32_t slice) {
    return acre_page_at(&manager->heap, acre_slice_page(acre_heap_slice(&manager->heap, slice)));
}

static bool is_owned(const acre_move *move) {
    return (uint32_t)atomic_load_explicit(&move->held->counts, memory_order_acquire) > 0;
}

// Whether an allocation must not move after all.
static bool changed(const acre_manager *manager, const acre_move *move) {
    if (move->held->slice != move->source) { // a bind gave it away
        return true;
    }
    bool bound = acre_handle_bindings(move->held) > 1; // beside the plan's own
    const acre_page *source = page_of(manager, move->source);
    bool resolved = source->mapped && !move->bytes; // for the first time, since the copies
    return !is_owned(move) || bound || resolved || source->guards > 0 ||
           page_of(manager, move->target)->guards > 0;
}

static void settle_move(acre_relocation *plan, const acre_move *move) {
    acre_manager *manager = plan->manager;
    if (changed(manager, move)) {
        plan->report.changed.allocations++;
        plan->report.changed.bytes += move->size;
        plan->died += move->held->slice == move->source && !is_owned(move);
        acre_relocation_free_target(manager, move->target);
    } else {
        hand_over(manager, move->source, move->target);
        uint32_t left = acre_slice_page(acre_heap_slice(&manager->heap, move->target));
        acre_relocation_free_target(manager, move->target); // is where the allocation was
        plan->report.moves++;
        plan->report.bytes += move->size;
        acre_page *page = acre_page_at(&manager->heap, left);
        if (page->live == 0 && page->pool == manager->layout.arena->current &&
            plan->options.make_room == 0) {
            acre_pool_return_page(page->pool, left);
            plan->report.pages_returned++;
        }
    }
    acre_binding_release((acre_binding *)move->held);
}

static void commit(acre_relocation *plan) {
    acre_manager *manager = plan->manager;
    acre_relocation_report *report = &plan->report;
    uint64_t before = manager->heap.reserved;
    for (uint32_t i = plan->moves.copied; i < plan->moves.count; i++) { // the time was over
        report->limited.allocations++;
        report->limited.bytes += plan->moves.list[i].size;
        report->more = true;
    }
    acre_relocation_undo(plan, plan->moves.copied);
    for (uint32_t i = 0; i < plan->moves.count; i++) {
        settle_move(plan, &plan->moves.list[i]);
    }
    end_plan(plan);
    acre_manager_take_pending(manager);
    if (manager->layout.arena != NULL) { // a plan without moves does not keep it
        report->pages_returned += acre_arena_drain(manager->layout.arena);
    }
    report->bytes_returned = before - manager->heap.reserved;
    if (report->pages_returned > 0) {
        acre_storage_flush(manager->heap.storage);
    }
    acre_relocation_remember(plan, report->moves == 0 && !report->more);
    manager->relocation.moves += report->moves;
    manager->relocation.bytes += report->bytes;
    manager->relocation.pages += report->pages_returned;
    if (report->moves > 0) {
        acre_log_write(&manager->log, ACRE_LOG_BASIC,
                       "relocation: %" PRIu64 " moves, %s copied, %" PRIu64 " pages, %s went back",
                       report->moves, acre_format_bytes(report->bytes).text, report->pages_returned,
                       acre_format_bytes(report->bytes_returned).text);
    }
}

acre_status acre_relocation_commit(acre_relocation *relocation, acre_relocation_report *report,
                                   acre_error *error) {
    acre_error local;
    acre_error *detail = acre_error_open(error, &local);
    if (relocation->phase != ACRE_RELOCATION_COPIED) {
        acre_status status = acre_error_set(
            detail, ACRE_INVALID_ARGUMENT, "the relocation %s",
            relocation->phase == ACRE_RELOCATION_PLANNED ? "was not copied yet" : "is over");
        return acre_error_close(error, detail, status);
    }
    acre_manager_take_pending(relocation->manager);
    uint32_t planned = relocation->moves.count;
    commit(relocation);
    if (report != NULL) {
        acre_struct_write(report, &relocation->report, sizeof relocation->report);
    }
    if (planned > 0 && relocation->died == planned) {
        return acre_error_close(error, detail, acre_error_refuse(detail, ACRE_NOT_FOUND, 0));
    }
    return ACRE_OK;
}

// ---- in one call ---------------------------------------------------------------------------

acre_status acre_relocation_run(acre_manager *manager, const acre_relocation_options *options,
                                bool counts, acre_relocation_report *report, acre_error *error) {
    acre_copy_queue queue;
    acre_status status = acre_queue_read(&queue, options->queue, manager->heap.storage, error);
    if (status != ACRE_OK) {
        return status;
    }
    acre_relocation *plan = make_and_fill(manager, options, error);
    if (plan == NULL) {
        return error->status;
    }
    plan->counts = plan->counts && counts;
    status = copy(plan, &queue, error);
    if (status == ACRE_OK) {
        commit(plan);
        *report = plan->report;
    }
    acre_relocation_destroy(plan);
    return status;
}

acre_status acre_manager_relocate(acre_manager *manager, const acre_relocation_options *options,
                                  acre_relocation_report *report, acre_error *error) {
    acre_error local;
    acre_error *detail = acre_error_open(error, &local);
    acre_relocation_options own = ACRE_RELOCATION_OPTIONS_INIT;
    acre_relocation_report made = ACRE_RELOCATION_REPORT_INIT;
    acre_manager_take_pending(manager);
    acre_status status = read_options(&own, options, detail);
    if (status == ACRE_OK) {
        status = acre_relocation_run(manager, &own, true, &made, detail);
    }
    if (status == ACRE_OK && report != NULL) {
        acre_struct_write(report, &made, sizeof made);
    }
    return acre_error_close(error, detail, status);
}
