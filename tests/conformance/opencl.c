#include "subject.h"

#include "opencl_rig.h"

static acre_storage *create(bool svm, uint64_t total, uint64_t largest, acre_error *error) {
    acre_opencl_storage_params params = ACRE_OPENCL_STORAGE_PARAMS_INIT;
    params.total_memory = total;
    params.largest_allocation = largest;
    params.svm = svm;
    acre_storage *storage = NULL;
    return acre_storage_opencl_create(&params, NULL, &storage, error) == ACRE_OK ? storage : NULL;
}

static acre_storage *create_buffers(uint64_t total, uint64_t largest, acre_error *error) {
    return create(false, total, largest, error);
}

static acre_storage *create_shared(uint64_t total, uint64_t largest, acre_error *error) {
    return create(true, total, largest, error);
}

enum {
    INVALID_COMMAND_QUEUE = -36 // what drivers say of every queue of a device that is lost
};

static const subject subjects[] = {
    {.name = "opencl",
     .create = create_buffers,
     .add = opencl_add,
     .events = true,
     .lost_code = INVALID_COMMAND_QUEUE,
     .stream_create = opencl_stream_create,
     .stream_destroy = opencl_stream_destroy},
    {.name = "opencl, shared virtual memory",
     .create = create_shared,
     .add = opencl_add,
     .events = true,
     .lost_code = INVALID_COMMAND_QUEUE,
     .stream_create = opencl_stream_create,
     .stream_destroy = opencl_stream_destroy},
};

const subject_list opencl_subjects = {"opencl", subjects, COUNT_OF(subjects)};
