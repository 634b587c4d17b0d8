#include "storage/cuda/api.h"

#include "base/error.h"
#include "storage/library.h"

#include <stddef.h>
#include <stdio.h>
#include <string.h>

// The first driver with CUDA 12.0.
#define ADVICE "install NVIDIA's driver, 525.60 or newer"

static const acre_library_function by_name[] = {
    {"cuInit", offsetof(acre_cuda_api, init)},
    {"cuDriverGetVersion", offsetof(acre_cuda_api, driver_version)},
    {"cuGetErrorName", offsetof(acre_cuda_api, error_name)},
    {"cuGetErrorString", offsetof(acre_cuda_api, error_text)},
};

static const acre_library_function by_version[] = {
#define ACRE_CUDA_ENTRY(name, driver_name, parameters) {driver_name, offsetof(acre_cuda_api, name)},
    ACRE_CUDA_FUNCTIONS(ACRE_CUDA_ENTRY)
#undef ACRE_CUDA_ENTRY
};

acre_status acre_cuda_refused(const acre_cuda_api *api, uint64_t size, acre_cuda_result code,
                              acre_error *error) {
    const char *name = NULL;
    const char *text = NULL;
    char both[sizeof error->native_text];
    // A driver does not know the codes of a later one.
    if (api->error_name(code, &name) != ACRE_CUDA_SUCCESS || name == NULL) {
        name = "an error this driver has no name for";
    }
    if (api->error_text(code, &text) != ACRE_CUDA_SUCCESS || text == NULL) {
        text = "";
    }
    snprintf(both, sizeof both, "%.60s%s%s", name, *text == '\0' ? "" : ": ", text);
    return acre_error_native(
        error, code == ACRE_CUDA_OUT_OF_MEMORY ? ACRE_OUT_OF_MEMORY : ACRE_BACKEND_ERROR, size,
        code, both);
}

// The same as UNSUPPORTED, with what to do about it.
static acre_status unsupported(const acre_cuda_api *api, acre_cuda_result code, const char *advice,
                               acre_error *error) {
    (void)acre_cuda_refused(api, 0, code, error);
    error->status = ACRE_UNSUPPORTED;
    snprintf(error->detail, sizeof error->detail, "%s", advice);
    return ACRE_UNSUPPORTED;
}

static acre_status start(const acre_cuda_api *api, acre_error *error) {
    acre_cuda_result code = api->init(0);
    switch (code) {
    case ACRE_CUDA_SUCCESS:
        return ACRE_OK;
    case ACRE_CUDA_STUB_LIBRARY:
        return unsupported(api, code,
                           "the CUDA driver found is the toolkit's stub, to link with: take it off "
                           "the library path, and " ADVICE,
                           error);
    case ACRE_CUDA_NO_DEVICE:
        return unsupported(api, code,
                           "the CUDA driver finds no device: look at nvidia-smi and at "
                           "CUDA_VISIBLE_DEVICES",
                           error);
    default:
        return acre_cuda_refused(api, 0, code, error);
    }
}

static acre_status check_version(const acre_cuda_api *api, acre_error *error) {
    int version = 0;
    acre_cuda_result code = api->driver_version(&version);
    if (code != ACRE_CUDA_SUCCESS) {
        return acre_cuda_refused(api, 0, code, error);
    }
    if (version < ACRE_CUDA_VERSION) {
        return acre_error_set(error, ACRE_UNSUPPORTED,
                              "the driver knows CUDA %d.%d, and 12.0 is needed: " ADVICE,
                              version / 1000, version % 1000 / 10);
    }
    return ACRE_OK;
}

static acre_status find_functions(void *library, acre_cuda_api *api, acre_error *error) {
    const acre_library_function versioned = {"cuGetProcAddress_v2",
                                             offsetof(acre_cuda_api, function)};
    acre_status status = acre_library_functions(library, &versioned, 1, api, ADVICE, error);
    if (status != ACRE_OK) {
        return status;
    }
    for (size_t i = 0; i < sizeof by_version / sizeof by_version[0]; i++) {
        void *address = NULL;
        int found = 0;
        acre_cuda_result code =
            api->function(by_version[i].name, &address, ACRE_CUDA_VERSION, 0, &found);
        if (code != ACRE_CUDA_SUCCESS || address == NULL) {
            return acre_error_set(error, ACRE_UNSUPPORTED, "the driver lacks %s: " ADVICE,
                                  by_version[i].name);
        }
        memcpy((char *)api + by_version[i].offset, &address, sizeof address);
    }
    return ACRE_OK;
}

acre_status acre_cuda_open(const char *path, acre_cuda_api *api, acre_error *error) {
    void *library = NULL;
    acre_status status =
        acre_library_open(path == NULL ? "libcuda.so.1" : path, ADVICE, &library, error);
    if (status == ACRE_OK) {
        status = acre_library_functions(library, by_name, sizeof by_name / sizeof by_name[0], api,
                                        ADVICE, error);
    }
    if (status == ACRE_OK) {
        status = start(api, error);
    }
    if (status == ACRE_OK) {
        status = check_version(api, error);
    }
    return status == ACRE_OK ? find_functions(library, api, error) : status;
}
