#include "failure/failure.h"

#include "base/error.h"
#include "base/host.h"
#include "base/structs.h"

#include <assert.h>
#include <string.h>

static size_t record_size(size_t message_length, size_t cause_count) {
    return sizeof(acre_failure) + cause_count * sizeof(acre_failure *) + message_length + 1;
}

static char *message_of(const acre_failure *failure) {
    return (char *)(uintptr_t)(failure->causes + failure->cause_count);
}

// ---- creation ------------------------------------------------------------------------------

static acre_status read_params(acre_failure_params *own, const acre_failure_params *params,
                               acre_error *error) {
    if (params == NULL) {
        return acre_error_set(error, ACRE_INVALID_ARGUMENT, "a failure needs parameters");
    }
    if (!acre_struct_read(own, sizeof *own, params)) {
        return acre_error_set(error, ACRE_UNSUPPORTED,
                              "the failure has parameters this version does not know");
    }
    if (own->message == NULL) {
        return acre_error_set(error, ACRE_INVALID_ARGUMENT, "a failure needs a message");
    }
    if (own->cause_count > ACRE_FAILURE_CAUSES_MAX) {
        return acre_error_set(error, ACRE_INVALID_ARGUMENT, "%zu causes, at most %d are allowed",
                              own->cause_count, ACRE_FAILURE_CAUSES_MAX);
    }
    for (size_t i = 0; i < own->cause_count; i++) {
        if (own->causes == NULL || own->causes[i] == NULL) {
            return acre_error_set(error, ACRE_INVALID_ARGUMENT, "cause %zu is NULL", i);
        }
    }
    return ACRE_OK;
}

static acre_status create(const acre_failure_params *params, const acre_host_hooks *hooks,
                          acre_failure **failure, acre_error *error) {
    acre_failure_params own = ACRE_FAILURE_PARAMS_INIT;
    acre_host host;
    acre_status status = read_params(&own, params, error);
    if (status == ACRE_OK) {
        status = acre_host_init(&host, hooks, error);
    }
    if (status != ACRE_OK) {
        return status;
    }
    const char *end = memchr(own.message, '\0', (size_t)ACRE_FAILURE_MESSAGE_MAX + 1);
    if (end == NULL) {
        return acre_error_set(error, ACRE_INVALID_ARGUMENT, "the message is over %d bytes",
                              ACRE_FAILURE_MESSAGE_MAX);
    }
    size_t length = (size_t)(end - own.message);
    size_t size = record_size(length, own.cause_count);
    acre_failure *made = acre_host_alloc(&host, size, _Alignof(acre_failure));
    if (made == NULL) {
        return acre_error_refuse(error, ACRE_OUT_OF_HOST_MEMORY, size);
    }
    atomic_init(&made->references, 1);
    made->next = NULL;
    made->hooks = host.hooks;
    made->code = own.code;
    made->message_length = (uint32_t)length;
    made->cause_count = (uint32_t)own.cause_count;
    for (size_t i = 0; i < own.cause_count; i++) {
        made->causes[i] = acre_failure_retain(own.causes[i]);
    }
    memcpy(message_of(made), own.message, length + 1);
    *failure = made;
    return ACRE_OK;
}

acre_status acre_failure_create(const acre_failure_params *params, const acre_host_hooks *hooks,
                                acre_failure **failure, acre_error *error) {
    acre_error local;
    acre_error *detail = acre_error_open(error, &local);
    return acre_error_close(error, detail, create(params, hooks, failure, detail));
}

// ---- references ----------------------------------------------------------------------------

acre_failure *acre_failure_retain(acre_failure *failure) {
    atomic_fetch_add_explicit(&failure->references, 1, memory_order_relaxed);
    return failure;
}

// => true when nothing holds the failure any more, so that the caller is alone with it.
static bool drop(acre_failure *failure) {
    uint64_t before = atomic_fetch_sub_explicit(&failure->references, 1, memory_order_acq_rel);
    assert(before > 0); // else it was released once too often
    return before == 1;
}

// Those that nothing holds wait in a list for their turn, linked through themselves: freeing one
// may add its causes to it, and needs no stack and no memory.
void acre_failure_release(acre_failure *failure) {
    acre_failure *waiting = NULL;
    if (failure != NULL && drop(failure)) {
        waiting = failure;
    }
    while (waiting != NULL) {
        acre_failure *gone = waiting;
        waiting = gone->next;
        for (uint32_t i = 0; i < gone->cause_count; i++) {
            acre_failure *cause = gone->causes[i];
            if (drop(cause)) {
                cause->next = waiting;
                waiting = cause;
            }
        }
        acre_host_hooks hooks = gone->hooks;
        acre_host_free_uncounted(&hooks, gone, record_size(gone->message_length, gone->cause_count),
                                 _Alignof(acre_failure));
    }
}

// ---- reading -------------------------------------------------------------------------------

const char *acre_failure_get_message(const acre_failure *failure) {
    return message_of(failure);
}

int64_t acre_failure_get_code(const acre_failure *failure) {
    return failure->code;
}

size_t acre_failure_get_cause_count(const acre_failure *failure) {
    return failure->cause_count;
}

acre_failure *acre_failure_get_cause(const acre_failure *failure, size_t index) {
    return index < failure->cause_count ? failure->causes[index] : NULL;
}
