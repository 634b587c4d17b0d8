// A failure and everything that led to it, as text.
//
// The walk numbers failures in the order in which it meets them, and prints them in that order: a
// queue of the numbered ones is all its state, with a hash table from failure to number beside it.
// So nothing recurses, and what is reached over many paths is printed once. Failures are shared by
// threads, hence the marks are here and not in them.
#include "base/host.h"
#include "base/text.h"
#include "failure/failure.h"

#include <inttypes.h>
#include <string.h>

#define FEW 16u // failures that need no memory from the hooks

typedef struct walk {
    const acre_failure **order; // by number - 1
    uint32_t *slots;            // hash table of 2 * capacity numbers; 0 = empty
    uint32_t count;
    uint32_t capacity; // a power of two
    bool exhausted;    // no memory for more
    acre_host host;
    const acre_failure *few_order[FEW];
    uint32_t few_slots[2 * FEW];
} walk;

static size_t tables_size(size_t capacity) {
    return capacity * sizeof(const acre_failure *) + 2 * capacity * sizeof(uint32_t);
}

// => the slot that holds the failure's number, or the empty one where it belongs.
static uint32_t *slot_of(const walk *w, const acre_failure *failure) {
    uint32_t mask = 2 * w->capacity - 1;
    uint64_t hash = (uint64_t)((uintptr_t)failure >> 4) * UINT64_C(0x9e3779b97f4a7c15);
    uint32_t at = (uint32_t)(hash >> 32) & mask;
    while (w->slots[at] != 0 && w->order[w->slots[at] - 1] != failure) {
        at = (at + 1) & mask;
    }
    return &w->slots[at];
}

static void free_tables(walk *w) {
    if (w->order != w->few_order) {
        acre_host_free(&w->host, (void *)w->order, tables_size(w->capacity), _Alignof(max_align_t));
    }
}

// => false when there is no memory for more numbers.
static bool grow(walk *w) {
    if (w->exhausted || w->capacity > UINT32_MAX / 8) {
        return false;
    }
    uint32_t capacity = w->capacity * 4;
    const acre_failure **order =
        acre_host_alloc(&w->host, tables_size(capacity), _Alignof(max_align_t));
    if (order == NULL) {
        return false;
    }
    memcpy((void *)order, (const void *)w->order, w->count * sizeof *order);
    free_tables(w);
    w->order = order;
    w->slots = (uint32_t *)(void *)(order + capacity);
    w->capacity = capacity;
    memset(w->slots, 0, 2 * (size_t)capacity * sizeof *w->slots);
    for (uint32_t i = 0; i < w->count; i++) {
        *slot_of(w, order[i]) = i + 1;
    }
    return true;
}

// => the failure's number, a new one when it has none yet; 0 = no memory for it.
static uint32_t number_of(walk *w, const acre_failure *failure) {
    uint32_t *slot = slot_of(w, failure);
    if (*slot != 0) {
        return *slot;
    }
    if (w->count == w->capacity) {
        if (!grow(w)) {
            w->exhausted = true;
            return 0;
        }
        slot = slot_of(w, failure);
    }
    w->order[w->count++] = failure;
    *slot = w->count;
    return w->count;
}

static void add_line(walk *w, acre_text *text, uint32_t number) {
    const acre_failure *failure = w->order[number - 1];
    acre_text_add(text, "%s[%" PRIu32 "] %s (code %" PRId64 ")", number == 1 ? "" : "\n", number,
                  acre_failure_get_message(failure), failure->code);
    for (uint32_t i = 0; i < failure->cause_count; i++) {
        const char *before = i == 0 ? ", because of " : ", ";
        uint32_t cause = number_of(w, failure->causes[i]);
        if (cause == 0) {
            acre_text_add(text, "%s[?]", before);
        } else {
            acre_text_add(text, "%s[%" PRIu32 "]", before, cause);
        }
    }
}

size_t acre_failure_format(const acre_failure *failure, char *buffer, size_t capacity) {
    acre_text text = {buffer, capacity, 0};
    if (failure == NULL) {
        acre_text_add(&text, "no failure");
        return text.length;
    }
    walk w = {.count = 0, .capacity = FEW, .host = {.hooks = failure->hooks}};
    w.order = w.few_order;
    w.slots = w.few_slots;
    number_of(&w, failure);
    for (uint32_t number = 1; number <= w.count; number++) {
        add_line(&w, &text, number);
    }
    if (w.exhausted) {
        acre_text_add(&text, "\n(there was no host memory to follow the causes [?])");
    }
    free_tables(&w);
    return text.length;
}
