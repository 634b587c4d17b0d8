// Streams are command queues, and what identifies one is its address. A driver gives the address of
// a queue that is gone to the next one, so the storage retains every queue that it was asked about
// until it is destroyed: as long as anybody can compare ids, no later queue gets one of them.
#include "storage/opencl/opencl.h"

#include "base/error.h"

static uint32_t slot_of(const opencl_streams *streams, opencl_queue queue) {
    // The high half of a product with the golden ratio: the low bits of addresses are all alike.
    uint64_t hash = (uint64_t)(uintptr_t)queue * UINT64_C(0x9E3779B97F4A7C15) >> 32;
    uint32_t mask = streams->capacity - 1;
    uint32_t slot = (uint32_t)hash & mask;
    while (streams->slots[slot] != NULL && streams->slots[slot] != queue) {
        slot = (slot + 1) & mask;
    }
    return slot;
}

static void free_slots(opencl_storage *own, const opencl_streams *streams) {
    acre_host_free(&own->host, streams->slots, streams->capacity * sizeof(opencl_queue),
                   _Alignof(opencl_queue));
}

// Makes room for one more. => false when the hooks have no memory; all is as it was.
static bool make_room(opencl_storage *own) {
    opencl_streams *old = &own->streams;
    if (old->count < old->capacity / 2) {
        return true;
    }
    opencl_streams grown = {.capacity = old->capacity == 0 ? 8 : old->capacity * 2,
                            .count = old->count};
    grown.slots = acre_host_alloc_zeroed(&own->host, grown.capacity * sizeof(opencl_queue),
                                         _Alignof(opencl_queue));
    if (grown.slots == NULL) {
        return false;
    }
    for (uint32_t i = 0; i < old->capacity; i++) {
        if (old->slots[i] != NULL) {
            grown.slots[slot_of(&grown, old->slots[i])] = old->slots[i];
        }
    }
    if (old->slots != NULL) {
        free_slots(own, old);
    }
    *old = grown;
    return true;
}

acre_status acre_opencl_stream_id(void *context, uint64_t stream, uint64_t *id, acre_error *error) {
    opencl_storage *own = context;
    opencl_queue queue = acre_opencl_queue(own, stream);
    opencl_streams *streams = &own->streams;
    bool known = queue == own->queue ||
                 (streams->capacity != 0 && streams->slots[slot_of(streams, queue)] == queue);
    if (!known) {
        if (!make_room(own)) {
            return acre_error_refuse(error, ACRE_OUT_OF_HOST_MEMORY, 0);
        }
        int32_t code;
        OPENCL_CALL(&own->driver, code, retain_queue, queue);
        if (code != 0) {
            return acre_opencl_refused(error, 0, code);
        }
        streams->slots[slot_of(streams, queue)] = queue;
        streams->count++;
    }
    *id = (uint64_t)(uintptr_t)queue;
    return ACRE_OK;
}

void acre_opencl_streams_close(opencl_storage *own) {
    for (uint32_t i = 0; i < own->streams.capacity; i++) {
        if (own->streams.slots[i] != NULL) {
            int32_t code; // as in acre_opencl_context_close
            OPENCL_CALL(&own->driver, code, release_queue, own->streams.slots[i]);
        }
    }
    if (own->streams.slots != NULL) {
        free_slots(own, &own->streams);
    }
}
