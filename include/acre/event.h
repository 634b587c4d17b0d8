// What a manager tells a listener, such as the recorder of libacre-trace.
#ifndef ACRE_EVENT_H
#define ACRE_EVENT_H

#include <acre/base.h>

// Bits, so that a listener can say which kinds it wants.
typedef enum acre_event_kind {
    ACRE_EVENT_RESERVE = 1,     // an allocation was served
    ACRE_EVENT_REFUSE = 2,      // a reservation failed
    ACRE_EVENT_FREE = 4,        // an allocation became free and its room was taken back
    ACRE_EVENT_PAGE_ADD = 8,    // a page was added; under a dry run without device memory
    ACRE_EVENT_PAGE_RETURN = 16 // a page was given up, to the storage if it had memory
} acre_event_kind;

typedef struct acre_event {
    size_t struct_size;
    acre_event_kind kind;
    uint32_t allocation; // RESERVE, FREE: names the allocation while it lives, small, used again
    uint32_t tag;        // RESERVE, REFUSE: the reservation's tag
    uint64_t size;       // requested bytes; PAGE_ADD, PAGE_RETURN: bytes of the page
    uint64_t stream;     // RESERVE, REFUSE: the reservation's stream
} acre_event;

// Called on the manager's thread inside the operation. It must not call the manager. `event` is
// good during the call only.
typedef void (*acre_event_fn)(void *context, const acre_event *event);

#endif
