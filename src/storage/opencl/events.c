// Points on the timelines of queues: markers.
#include "storage/opencl/opencl.h"

#include "base/error.h"

static opencl_event event_of(uint64_t event) {
    return (opencl_event)(uintptr_t)event;
}

acre_status acre_opencl_event_record(void *context, uint64_t stream, uint64_t *event,
                                     acre_error *error) {
    opencl_storage *own = context;
    opencl_queue queue = acre_opencl_queue(own, stream);
    opencl_event made = NULL;
    int32_t code;
    OPENCL_CALL(&own->driver, code, marker, queue, 0, NULL, &made);
    if (code != 0) {
        return acre_opencl_refused(error, 0, code);
    }
    // A queue may keep what it was given to itself until it is flushed. Then another queue that
    // waits for the marker would wait for ever, and asking whether it has passed would never be
    // answered with yes.
    OPENCL_CALL(&own->driver, code, flush, queue);
    if (code != 0) {
        acre_status refused = acre_opencl_refused(error, 0, code);
        OPENCL_CALL(&own->driver, code, release_event, made);
        return refused;
    }
    *event = (uint64_t)(uintptr_t)made;
    return ACRE_OK;
}

static int32_t wait_for(opencl_storage *own, uint64_t event) {
    const opencl_event list[] = {event_of(event)};
    int32_t code;
    return OPENCL_CALL(&own->driver, code, wait_for_events, 1, list);
}

acre_status acre_opencl_event_done(void *context, uint64_t event, bool *done, acre_error *error) {
    opencl_storage *own = context;
    int32_t status = 0;
    int32_t code;
    OPENCL_CALL(&own->driver, code, get_event_info, event_of(event),
                OPENCL_EVENT_COMMAND_EXECUTION_STATUS, sizeof status, &status, NULL);
    // A negative status is the error that ended the work before the marker.
    code = code == 0 && status < 0 ? status : code;
    // Asking is no synchronisation in OpenCL: only after a wait, which is over at once, may another
    // queue count on what the work left.
    if (code == 0 && status == OPENCL_COMPLETE) {
        code = wait_for(own, event);
    }
    if (code != 0) {
        return acre_opencl_refused(error, 0, code);
    }
    *done = status == OPENCL_COMPLETE;
    return ACRE_OK;
}

acre_status acre_opencl_event_wait(void *context, uint64_t event, uint64_t stream,
                                   acre_error *error) {
    opencl_storage *own = context;
    const opencl_event list[] = {event_of(event)};
    int32_t code;
    OPENCL_CALL(&own->driver, code, barrier, acre_opencl_queue(own, stream), 1, list, NULL);
    return code == 0 ? ACRE_OK : acre_opencl_refused(error, 0, code);
}

acre_status acre_opencl_event_sync(void *context, uint64_t event, acre_error *error) {
    int32_t code = wait_for(context, event);
    return code == 0 ? ACRE_OK : acre_opencl_refused(error, 0, code);
}

void acre_opencl_event_destroy(void *context, uint64_t event) {
    opencl_storage *own = context;
    int32_t code; // nobody could do anything about it
    OPENCL_CALL(&own->driver, code, release_event, event_of(event));
}
