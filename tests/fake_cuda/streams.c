// Streams, events and captures of the fake driver. Work is done when it is given.
#include "state.h"

// ---- captures ------------------------------------------------------------------------------

static bool break_captures(void) {
    bool any = false;
    for (object *it = object_first(); it != NULL; it = it->next) {
        if (it->kind == OBJECT_STREAM && it->capturing) {
            it->broken = true;
            any = true;
        }
    }
    return any;
}

int check_unsafe(void) {
    return fake_cuda_capture_mode() != 2 && break_captures() ? 900 : 0;
}

int check_waits(const object *stream) {
    if (stream != NULL && !stream->capturing) {
        return check_unsafe();
    }
    return break_captures() ? 900 : 0;
}

bool is_captured(const object *stream) {
    if (stream == NULL) {
        (void)break_captures(); // the default stream waits for those that are captured
        return false;
    }
    fake_cuda()->captured += stream->capturing;
    return stream->capturing;
}

// ---- streams -------------------------------------------------------------------------------

int cuStreamCreate(void **stream, unsigned flags) {
    (void)flags;
    BEGIN();
    object *made = object_create(OBJECT_STREAM);
    made->context = need_context(__func__);
    *stream = made;
    return 0;
}

int cuStreamDestroy(void *stream) {
    BEGIN();
    object *ended = need_stream(__func__, stream);
    if (ended == NULL || ended->of_the_test) {
        misuse(__func__, "a stream that is not the caller's to end");
    }
    object_destroy(ended);
    return 0;
}

int cuStreamSynchronize(void *stream) {
    BEGIN();
    return check_waits(need_stream(__func__, stream));
}

int cuCtxSynchronize(void) {
    BEGIN();
    need_context(__func__);
    return check_waits(NULL);
}

int cuStreamGetCtx(void *stream, void **context) {
    BEGIN();
    const object *found = object_find(OBJECT_STREAM, stream);
    if (found == NULL) {
        misuse(__func__, "no such stream");
    }
    *context = found->context;
    return 0;
}

int cuStreamGetId(void *stream, unsigned long long *id) {
    BEGIN();
    const object *found = need_stream(__func__, stream);
    *id = found == NULL ? 1 : found->id;
    return 0;
}

int cuStreamIsCapturing(void *stream, int *status) {
    BEGIN();
    const object *found = need_stream(__func__, stream);
    *status = found != NULL && found->capturing;
    return 0;
}

// ---- events --------------------------------------------------------------------------------

static object *need_event(const char *function, const void *event) {
    object *found = object_find(OBJECT_EVENT, event);
    if (found == NULL || found->context != need_context(function)) {
        misuse(function, "an event that is none, or of another context");
    }
    return found;
}

int cuStreamWaitEvent(void *stream, void *event, unsigned flags) {
    (void)flags;
    BEGIN();
    const object *on = need_stream(__func__, stream);
    (void)need_event(__func__, event);
    return on != NULL && on->capturing ? check_waits(on) : 0;
}

int cuEventCreate(void **event, unsigned flags) {
    BEGIN();
    if (flags != 2) {
        misuse(__func__, "an event that takes the time");
    }
    object *made = object_create(OBJECT_EVENT);
    made->context = need_context(__func__);
    *event = made;
    return 0;
}

int cuEventDestroy(void *event) {
    BEGIN();
    object_destroy(need_event(__func__, event));
    return 0;
}

int cuEventRecord(void *event, void *stream) {
    BEGIN();
    object *recorded = need_event(__func__, event);
    if (!is_captured(need_stream(__func__, stream))) {
        recorded->pending = fake_cuda()->hold_events;
    }
    return 0;
}

int cuEventQuery(void *event) {
    BEGIN();
    const object *asked = need_event(__func__, event);
    int code = check_unsafe();
    return code != 0 ? code : asked->pending && fake_cuda()->hold_events ? 600 : 0;
}

int cuEventSynchronize(void *event) {
    BEGIN();
    object *passed = need_event(__func__, event);
    passed->pending = false;
    return check_unsafe();
}

// ---- for tests -----------------------------------------------------------------------------

void *fake_cuda_stream_create(void *context) {
    object *of = context == NULL ? primary_context(0) : context;
    object *made = object_create(OBJECT_STREAM);
    made->context = of;
    made->of_the_test = true;
    return made;
}

void fake_cuda_stream_destroy(void *stream) {
    object_destroy(stream);
}

void fake_cuda_capture_begin(void *stream) {
    object *captured = stream;
    captured->capturing = true;
    captured->broken = false;
}

bool fake_cuda_capture_end(void *stream) {
    object *captured = stream;
    captured->capturing = false;
    return !captured->broken;
}
