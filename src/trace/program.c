#include "program.h"

#include "detail.h"
#include "pointer_map.h"
#include "reader.h"

enum {
    FIRST_OPS = 4096,
    FIRST_SLOTS = 256,
};

#define NO_SLOT UINT32_MAX

// A slot while the trace is read.
typedef struct slot {
    uint64_t size; // of the allocation that has it
    uint32_t next; // a list: free slots, or live (nil) ones
} slot;

typedef struct loader {
    acre_trace_program *program;
    acre_pointer_map map;
    slot *slots;
    size_t slot_capacity;
    uint32_t free_slots; // list
    uint32_t nil_slots;  // list: (nil) allocations that live, of 0 bytes, alike each other
    uint64_t live_bytes;
    uint64_t live;
} loader;

static acre_status grow_ops(acre_trace_program *program, acre_error *error) {
    size_t capacity = program->capacity ? program->capacity * 2 : FIRST_OPS;
    acre_trace_op *ops = acre_trace_grow(&program->hooks, program->ops,
                                         program->capacity * sizeof(*ops), capacity * sizeof(*ops));
    if (!ops)
        return acre_trace_fail_no_memory(error, capacity * sizeof(*ops));
    program->ops = ops;
    program->capacity = capacity;
    return ACRE_OK;
}

static acre_status add_op(loader *loading, const acre_trace_event *event, uint32_t op_slot,
                          acre_error *error) {
    acre_trace_program *program = loading->program;
    if (program->facts.events == program->capacity) {
        acre_status status = grow_ops(program, error);
        if (status != ACRE_OK)
            return status;
    }
    uint32_t line = event->line < UINT32_MAX ? (uint32_t)event->line : UINT32_MAX;
    program->ops[program->facts.events++] = (acre_trace_op){event->size, op_slot, line};
    return ACRE_OK;
}

static bool grow_slots(loader *loading, acre_status *status, acre_error *error) {
    size_t capacity = loading->slot_capacity ? loading->slot_capacity * 2 : FIRST_SLOTS;
    if (capacity > ACRE_TRACE_OP_FREE) {
        *status = acre_trace_fail(error, ACRE_UNSUPPORTED, "over 2^31 allocations live at a time");
        return false;
    }
    slot *slots = acre_trace_grow(&loading->program->hooks, loading->slots,
                                  loading->slot_capacity * sizeof(slot), capacity * sizeof(slot));
    if (!slots) {
        *status = acre_trace_fail_no_memory(error, capacity * sizeof(slot));
        return false;
    }
    loading->slots = slots;
    loading->slot_capacity = capacity;
    return true;
}

// A slot that nothing has and that is on no list. => NULL, with `*status`, when there is none.
static slot *take_slot(loader *loading, acre_status *status, acre_error *error) {
    acre_trace_program *program = loading->program;
    if (loading->free_slots != NO_SLOT) {
        slot *taken = &loading->slots[loading->free_slots];
        loading->free_slots = taken->next;
        return taken;
    }
    if (program->slots == loading->slot_capacity && !grow_slots(loading, status, error))
        return NULL;
    return &loading->slots[program->slots++];
}

// What is wrong with an allocation, if something is.
// => NULL, or the clause, and in which column.
static const char *wrong_allocation(const loader *loading, const acre_trace_event *event,
                                    acre_trace_column *column) {
    const uint64_t most_live = UINT64_C(1) << 63;
    *column = ACRE_TRACE_POINTER;
    if (event->pointer == 0 && event->size > 0)
        return "is the pointer of an allocation that has bytes";
    if (event->pointer != 0 && acre_pointer_map_find(&loading->map, event->pointer))
        return "is allocated while it lives already";
    *column = ACRE_TRACE_SIZE;
    if (event->size > most_live || loading->live_bytes > most_live - event->size)
        return "makes more than 2^63 bytes live at a time";
    return NULL;
}

static void count_allocation(loader *loading, uint64_t size) {
    acre_trace_facts *facts = &loading->program->facts;
    facts->allocations++;
    loading->live++;
    loading->live_bytes += size;
    if (loading->live > facts->peak_live)
        facts->peak_live = loading->live;
    if (loading->live_bytes > facts->peak_live_bytes)
        facts->peak_live_bytes = loading->live_bytes;
    if (size > facts->largest_size)
        facts->largest_size = size;
}

static acre_status load_allocation(loader *loading, acre_trace_reader *reader,
                                   const acre_trace_event *event, acre_error *error) {
    acre_trace_column column;
    const char *wrong = wrong_allocation(loading, event, &column);
    if (wrong)
        return acre_trace_reader_reject(reader, event, column, wrong, error);
    acre_status status = ACRE_OK;
    slot *taken = take_slot(loading, &status, error);
    if (!taken)
        return status;
    uint32_t number = (uint32_t)(taken - loading->slots);
    *taken = (slot){event->size, NO_SLOT};
    if (event->pointer == 0) {
        taken->next = loading->nil_slots;
        loading->nil_slots = number;
    } else if (!acre_pointer_map_add(&loading->map, &loading->program->hooks, event->pointer,
                                     number)) {
        return acre_trace_fail_no_memory(error, 0);
    }
    count_allocation(loading, event->size);
    return add_op(loading, event, number, error);
}

static acre_status load_free(loader *loading, acre_trace_reader *reader,
                             const acre_trace_event *event, acre_error *error) {
    uint32_t freed = NO_SLOT;
    if (event->pointer == 0) {
        freed = loading->nil_slots;
        if (freed != NO_SLOT)
            loading->nil_slots = loading->slots[freed].next;
    } else {
        acre_pointer_entry *entry = acre_pointer_map_find(&loading->map, event->pointer);
        if (entry) {
            freed = (uint32_t)entry->slot;
            acre_pointer_map_remove(&loading->map, entry);
        }
    }
    if (freed == NO_SLOT)
        return acre_trace_reader_reject(reader, event, ACRE_TRACE_POINTER,
                                        "is freed but not allocated", error);
    slot *place = &loading->slots[freed];
    loading->live--;
    loading->live_bytes -= place->size;
    place->next = loading->free_slots;
    loading->free_slots = freed;
    return add_op(loading, event, freed | ACRE_TRACE_OP_FREE, error);
}

static acre_status load_events(loader *loading, acre_trace_reader *reader, acre_error *error) {
    acre_trace_event event = ACRE_TRACE_EVENT_INIT;
    for (;;) {
        bool more;
        acre_status status = acre_trace_reader_step(reader, &event, &more, error);
        if (status != ACRE_OK || !more)
            return status;
        switch (event.action) {
        case ACRE_TRACE_ALLOCATE:
            status = load_allocation(loading, reader, &event, error);
            break;
        case ACRE_TRACE_FREE:
            status = load_free(loading, reader, &event, error);
            break;
        case ACRE_TRACE_ALLOCATE_FAILURE:
            loading->program->facts.failures++;
            break;
        }
        if (status != ACRE_OK)
            return status;
    }
}

acre_status acre_trace_program_load(acre_trace_reader *reader, const acre_host_hooks *hooks,
                                    acre_trace_program **program, acre_error *error) {
    acre_host_hooks own;
    acre_status status = acre_trace_hooks_take(hooks, &own, error);
    if (status != ACRE_OK)
        return status;
    acre_trace_program *made = acre_trace_alloc(&own, sizeof(*made));
    if (!made)
        return acre_trace_fail_no_memory(error, sizeof(*made));
    *made = (acre_trace_program){.hooks = own, .facts = ACRE_TRACE_FACTS_INIT};
    loader loading = {.program = made, .free_slots = NO_SLOT, .nil_slots = NO_SLOT};
    status = load_events(&loading, reader, error);
    acre_pointer_map_free(&loading.map, &own);
    acre_trace_free(&own, loading.slots, loading.slot_capacity * sizeof(slot));
    if (status != ACRE_OK) {
        acre_trace_program_destroy(made);
        return status;
    }
    made->facts.end_live = loading.live;
    made->facts.end_live_bytes = loading.live_bytes;
    made->facts.skipped = acre_trace_reader_skipped(reader, NULL);
    *program = made;
    return ACRE_OK;
}

void acre_trace_program_facts(const acre_trace_program *program, acre_trace_facts *facts) {
    acre_trace_struct_write(facts, &program->facts, sizeof(program->facts));
}

void acre_trace_program_destroy(acre_trace_program *program) {
    if (!program)
        return;
    acre_host_hooks hooks = program->hooks;
    acre_trace_free(&hooks, program->ops, program->capacity * sizeof(*program->ops));
    acre_trace_free(&hooks, program, sizeof(*program));
}
