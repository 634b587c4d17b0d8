// Points on the timelines of streams. An event of the driver costs a call to make and one to end,
// so those that are given back are used again.
//
// A stream that is captured has no timeline of its own: an event recorded there would be a part of
// the graph, and one waited for there would break the capture. Both are refused.
#include "storage/cuda/cuda.h"

#include "base/error.h"

static acre_cuda_stream stream_of(uint64_t stream) {
    return (acre_cuda_stream)(uintptr_t)stream;
}

static acre_cuda_point *point_of(uint64_t event) {
    return (acre_cuda_point *)(uintptr_t)event;
}

acre_status acre_cuda_stream_id(void *context, uint64_t stream, uint64_t *id, acre_error *error) {
    acre_cuda *own = context;
    unsigned long long found = 0;
    int mode;
    acre_cuda_result code = acre_cuda_enter(own, &mode);
    if (code == ACRE_CUDA_SUCCESS) {
        code = acre_cuda_call(own, stream_get_id(stream_of(stream), &found));
        acre_cuda_leave(own, &mode);
    }
    if (code == ACRE_CUDA_SUCCESS) {
        *id = found;
    }
    return acre_cuda_status(own, 0, code, error);
}

// An event that nobody uses; `*made` says that it is a new one. => NULL: no host memory.
static acre_cuda_point *take_point(acre_cuda *own, bool *made) {
    acre_cuda_point *point = own->idle;
    *made = point == NULL;
    if (*made) {
        return acre_host_alloc_zeroed(&own->host, sizeof *point, _Alignof(acre_cuda_point));
    }
    own->idle = point->next;
    return point;
}

static void give_point(acre_cuda *own, acre_cuda_point *point) {
    point->next = own->idle;
    own->idle = point;
}

static void free_point(acre_cuda *own, acre_cuda_point *point) {
    acre_host_free(&own->host, point, sizeof *point, _Alignof(acre_cuda_point));
}

// A point without an event gets one, which it keeps also when it cannot be recorded.
static acre_cuda_result record(acre_cuda *own, acre_cuda_point *point, acre_cuda_stream stream) {
    int mode;
    acre_cuda_result code = acre_cuda_enter(own, &mode);
    if (code != ACRE_CUDA_SUCCESS) {
        return code;
    }
    code = acre_cuda_check_capture(own, stream);
    if (code == ACRE_CUDA_SUCCESS) {
        code = acre_cuda_gather_end(own);
    }
    if (code == ACRE_CUDA_SUCCESS && point->event == NULL) {
        code = acre_cuda_call(own, event_create(&point->event, ACRE_CUDA_EVENT_DISABLE_TIMING));
    }
    if (code == ACRE_CUDA_SUCCESS) {
        code = acre_cuda_call(own, event_record(point->event, stream));
    }
    acre_cuda_leave(own, &mode);
    return code;
}

acre_status acre_cuda_event_record(void *context, uint64_t stream, uint64_t *event,
                                   acre_error *error) {
    acre_cuda *own = context;
    bool made;
    acre_cuda_point *point = take_point(own, &made);
    if (point == NULL) {
        return acre_error_refuse(error, ACRE_OUT_OF_HOST_MEMORY, sizeof *point);
    }
    acre_cuda_result code = record(own, point, stream_of(stream));
    if (code == ACRE_CUDA_SUCCESS) {
        *event = (uint64_t)(uintptr_t)point;
        return ACRE_OK;
    }
    if (point->event != NULL) {
        give_point(own, point);
    } else {
        free_point(own, point);
    }
    return acre_cuda_refused(&own->api, 0, code, error);
}

acre_status acre_cuda_event_done(void *context, uint64_t event, bool *done, acre_error *error) {
    acre_cuda *own = context;
    int mode;
    acre_cuda_result code = acre_cuda_enter(own, &mode);
    if (code == ACRE_CUDA_SUCCESS) {
        code = acre_cuda_call(own, event_query(point_of(event)->event));
        acre_cuda_leave(own, &mode);
    }
    if (code == ACRE_CUDA_SUCCESS || code == ACRE_CUDA_NOT_READY) {
        *done = code == ACRE_CUDA_SUCCESS;
        return ACRE_OK;
    }
    return acre_cuda_refused(&own->api, 0, code, error);
}

acre_status acre_cuda_event_wait(void *context, uint64_t event, uint64_t stream,
                                 acre_error *error) {
    acre_cuda *own = context;
    int mode;
    acre_cuda_result code = acre_cuda_enter(own, &mode);
    if (code == ACRE_CUDA_SUCCESS) {
        code = acre_cuda_check_capture(own, stream_of(stream));
        if (code == ACRE_CUDA_SUCCESS) {
            code = acre_cuda_call(own,
                                  stream_wait_event(stream_of(stream), point_of(event)->event, 0));
        }
        acre_cuda_leave(own, &mode);
    }
    return acre_cuda_status(own, 0, code, error);
}

acre_status acre_cuda_event_sync(void *context, uint64_t event, acre_error *error) {
    acre_cuda *own = context;
    int mode;
    acre_cuda_result code = acre_cuda_enter(own, &mode);
    if (code == ACRE_CUDA_SUCCESS) {
        code = acre_cuda_call(own, event_synchronize(point_of(event)->event));
        acre_cuda_leave(own, &mode);
    }
    return acre_cuda_status(own, 0, code, error);
}

void acre_cuda_event_destroy(void *context, uint64_t event) {
    give_point(context, point_of(event));
}

void acre_cuda_events_end(acre_cuda *own, bool reachable) {
    while (own->idle != NULL) {
        acre_cuda_point *point = own->idle;
        own->idle = point->next;
        if (reachable) {
            (void)acre_cuda_call(own, event_destroy(point->event));
        }
        free_point(own, point);
    }
}
