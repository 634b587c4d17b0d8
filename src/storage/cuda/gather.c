// Many copies in one launch. A relocation moves allocations of all sizes; a call of the driver for
// each would take longer than the copies (copy_kernel.cu). So they are gathered until one launch
// has as many as it takes, or somebody waits for them.
#include "storage/cuda/cuda.h"

#include <assert.h>
#include <stddef.h>

#include "storage/cuda/copy_kernel.h"

// What the kernel reads them by.
static_assert(offsetof(acre_cuda_pieces, list) == 488 && sizeof(acre_cuda_pieces) == 3368,
              "as in copy_kernel.cu");

enum {
    THREADS = 512,
};

// From here on a copy of the driver's own takes much longer than its call.
static const uint64_t large = UINT64_C(256) << 20;

// Loads the kernel when the first copy comes. A device that does not take it loses speed alone.
static bool has_kernel(acre_cuda *own) {
    if (own->kernel_state == ACRE_CUDA_KERNEL_UNTRIED) {
        own->kernel_state = ACRE_CUDA_KERNEL_NONE;
        if (acre_cuda_call(own, module_load(&own->module, copy_kernel)) == ACRE_CUDA_SUCCESS) {
            if (acre_cuda_call(own, module_function(&own->copy_kernel, own->module,
                                                    "acre_copy_pieces")) == ACRE_CUDA_SUCCESS) {
                own->kernel_state = ACRE_CUDA_KERNEL_READY;
            } else {
                (void)acre_cuda_call(own, module_unload(own->module));
                own->module = NULL;
            }
        }
    }
    return own->kernel_state == ACRE_CUDA_KERNEL_READY;
}

acre_cuda_result acre_cuda_gather_end(acre_cuda *own) {
    acre_cuda_pieces *pieces = &own->pieces;
    if (pieces->count == 0) {
        return ACRE_CUDA_SUCCESS;
    }
    void *parameters[] = {pieces};
    acre_cuda_result code = acre_cuda_check_capture(own, own->stream);
    if (code == ACRE_CUDA_SUCCESS) {
        code = acre_cuda_call(own, launch(own->copy_kernel, pieces->first[pieces->count], 1, 1,
                                          THREADS, 1, 1, 0, own->stream, parameters, NULL));
    }
    pieces->count = 0; // also when it failed: whoever waits is told, and asks for all of them again
    if (code != ACRE_CUDA_SUCCESS) {
        own->lost = code; // another may have met it: a page that goes back, an event
    }
    return code;
}

static bool suits_kernel(uint64_t target, uint64_t source, uint64_t size) {
    return size < large && (target | source) % 16 == 0;
}

static void add(acre_cuda_pieces *pieces, uint64_t target, uint64_t source, uint64_t size) {
    uint32_t at = pieces->count++;
    if (at == 0) {
        pieces->first[0] = 0;
    }
    pieces->list[at].target = target;
    pieces->list[at].source = source;
    pieces->list[at].size = size;
    pieces->first[at + 1] =
        pieces->first[at] + (uint32_t)((size + ACRE_CUDA_CHUNK - 1) / ACRE_CUDA_CHUNK);
}

bool acre_cuda_gather(acre_cuda *own, uint64_t target, uint64_t source, uint64_t size) {
    bool gathered = own->kernel_state == ACRE_CUDA_KERNEL_READY &&
                    own->pieces.count < ACRE_CUDA_PIECES && suits_kernel(target, source, size);
    if (gathered) {
        add(&own->pieces, target, source, size);
    }
    return gathered;
}

acre_cuda_result acre_cuda_gather_or_copy(acre_cuda *own, uint64_t target, uint64_t source,
                                          uint64_t size) {
    if (suits_kernel(target, source, size) && has_kernel(own)) {
        acre_cuda_result code =
            own->pieces.count == ACRE_CUDA_PIECES ? acre_cuda_gather_end(own) : ACRE_CUDA_SUCCESS;
        if (code == ACRE_CUDA_SUCCESS) {
            add(&own->pieces, target, source, size);
        }
        return code;
    }
    acre_cuda_result code = acre_cuda_check_capture(own, own->stream);
    return code != ACRE_CUDA_SUCCESS
               ? code
               : acre_cuda_call(own, copy(target, source, (size_t)size, own->stream));
}
