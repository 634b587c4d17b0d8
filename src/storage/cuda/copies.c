// Bytes: copies on the storage's stream, to and from the host, and waiting.
#include "storage/cuda/cuda.h"

#include "base/error.h"

#include <stdio.h>

// A stream that is captured takes no copy that should be made now.
static acre_status finish(const acre_cuda *own, uint64_t size, acre_cuda_result code,
                          acre_error *error) {
    acre_status status = acre_cuda_status(own, size, code, error);
    if (code == ACRE_CUDA_STREAM_CAPTURE_UNSUPPORTED) {
        snprintf(error->detail, sizeof error->detail,
                 "a stream is being captured: end the capture first, or give the storage a stream "
                 "of its own");
    }
    return status;
}

acre_status acre_cuda_copy(void *context, const acre_resource *source, const acre_resource *target,
                           acre_error *error) {
    acre_cuda *own = context;
    if (acre_cuda_gather(own, target->as.cuda, source->as.cuda, source->size)) {
        return ACRE_OK;
    }
    int mode;
    acre_cuda_result code = acre_cuda_enter(own, &mode);
    if (code == ACRE_CUDA_SUCCESS) {
        code = acre_cuda_gather_or_copy(own, target->as.cuda, source->as.cuda, source->size);
        acre_cuda_leave(own, &mode);
    }
    return finish(own, source->size, code, error);
}

acre_status acre_cuda_wait(void *context, acre_error *error) {
    acre_cuda *own = context;
    int mode;
    acre_cuda_result code = acre_cuda_enter(own, &mode);
    if (code != ACRE_CUDA_SUCCESS) {
        own->pieces.count = 0; // they were not made, and nobody is to make them later
    } else {
        (void)acre_cuda_gather_end(own); // what it says is kept in `lost`
        code = acre_cuda_call(own, context_synchronize());
        code = own->lost != ACRE_CUDA_SUCCESS ? own->lost : code;
        acre_cuda_leave(own, &mode);
    }
    own->lost = ACRE_CUDA_SUCCESS; // told now
    return finish(own, 0, code, error);
}

// Bytes of the host go through the storage's stream, behind the copies made before. cuMemcpyHtoD
// and its like would go to the default stream, which no capture in the process allows.
static acre_cuda_result begin_bytes(acre_cuda *own, int *mode) {
    acre_cuda_result code = acre_cuda_enter(own, mode);
    if (code != ACRE_CUDA_SUCCESS) {
        return code;
    }
    code = acre_cuda_check_capture(own, own->stream);
    if (code == ACRE_CUDA_SUCCESS) {
        code = acre_cuda_gather_end(own);
    }
    if (code != ACRE_CUDA_SUCCESS) {
        acre_cuda_leave(own, mode);
    }
    return code;
}

// `code` is what the copy said.
static acre_cuda_result end_bytes(acre_cuda *own, int *mode, acre_cuda_result code) {
    if (code == ACRE_CUDA_SUCCESS) {
        code = acre_cuda_call(own, stream_synchronize(own->stream));
    }
    acre_cuda_leave(own, mode);
    return code;
}

acre_status acre_cuda_write(void *context, const acre_resource *target, const void *bytes,
                            acre_error *error) {
    acre_cuda *own = context;
    int mode;
    acre_cuda_result code = begin_bytes(own, &mode);
    if (code == ACRE_CUDA_SUCCESS) {
        code =
            acre_cuda_call(own, copy_in(target->as.cuda, bytes, (size_t)target->size, own->stream));
        code = end_bytes(own, &mode, code);
    }
    return finish(own, target->size, code, error);
}

acre_status acre_cuda_read(void *context, const acre_resource *source, void *bytes,
                           acre_error *error) {
    acre_cuda *own = context;
    int mode;
    acre_cuda_result code = begin_bytes(own, &mode);
    if (code == ACRE_CUDA_SUCCESS) {
        code = acre_cuda_call(own,
                              copy_out(bytes, source->as.cuda, (size_t)source->size, own->stream));
        code = end_bytes(own, &mode, code);
    }
    return finish(own, source->size, code, error);
}
