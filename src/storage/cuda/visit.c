#include "storage/cuda/cuda.h"

acre_cuda_result acre_cuda_enter(acre_cuda *own, int *capture_mode) {
    acre_cuda_result code = acre_cuda_call(own, context_push(own->context));
    if (code != ACRE_CUDA_SUCCESS) {
        return code;
    }
    *capture_mode = ACRE_CUDA_CAPTURE_MODE_RELAXED;
    code = acre_cuda_call(own, capture_mode_exchange(capture_mode));
    if (code != ACRE_CUDA_SUCCESS) {
        acre_cuda_context left;
        (void)own->api.context_pop(&left);
    }
    return code;
}

void acre_cuda_leave(acre_cuda *own, int *capture_mode) {
    acre_cuda_context left;
    (void)own->api.capture_mode_exchange(capture_mode);
    (void)own->api.context_pop(&left);
}

acre_cuda_result acre_cuda_check_capture(acre_cuda *own, acre_cuda_stream stream) {
    int status = ACRE_CUDA_CAPTURE_STATUS_NONE;
    acre_cuda_result code = acre_cuda_call(own, stream_is_capturing(stream, &status));
    if (code != ACRE_CUDA_SUCCESS) {
        return code;
    }
    return status == ACRE_CUDA_CAPTURE_STATUS_NONE ? ACRE_CUDA_SUCCESS
                                                   : ACRE_CUDA_STREAM_CAPTURE_UNSUPPORTED;
}
