// A program on OpenCL whose device memory Acre manages: the steps that a runtime makes, once each.
//
//   cc opencl.c -lacre -lOpenCL
//
// Exits with 77 when there is no OpenCL device.
#define CL_TARGET_OPENCL_VERSION 120
#include <CL/cl.h>

#include <acre/acre.h>

#include <stdio.h>

#define NO_DEVICE 77
#define WORDS     75000
#define BYTES     (WORDS * UINT64_C(4))

static int fail(const char *what, const acre_error *error) {
    char text[512];
    acre_error_format(error, text, sizeof text); // sizes, the driver's code and words, what to do
    fprintf(stderr, "opencl: %s: %s\n", what, text);
    return 1;
}

static int fail_cl(const char *what, cl_int code) {
    fprintf(stderr, "opencl: %s: OpenCL says %d\n", what, (int)code);
    return 1;
}

// ---- a kernel ------------------------------------------------------------------------------

static cl_int build(const acre_opencl_objects *device, cl_program *program, cl_kernel *kernel) {
    const char *source = "kernel void add(global uint *words, uint value) {"
                         "    words[get_global_id(0)] += value;"
                         "}";
    cl_device_id id = device->device;
    cl_int code;
    *program = clCreateProgramWithSource(device->context, 1, &source, NULL, &code);
    if (code == CL_SUCCESS) {
        code = clBuildProgram(*program, 1, &id, "", NULL, NULL);
    }
    if (code == CL_SUCCESS) {
        *kernel = clCreateKernel(*program, "add", &code);
    }
    return code;
}

// Launches the kernel on what a handle holds. What it holds may be a part of a larger buffer: the
// kernel gets a sub-buffer over exactly those bytes. (A kernel that takes an offset into the buffer
// beside it needs none; with shared virtual memory the resource is a pointer.)
static int launch(acre_manager *manager, acre_storage *storage, const acre_handle *handle,
                  cl_kernel kernel, cl_uint value) {
    acre_error error = ACRE_ERROR_INIT;
    acre_resource resource = ACRE_RESOURCE_INIT;
    acre_opencl_objects device = ACRE_OPENCL_OBJECTS_INIT;
    void *buffer = NULL;
    if (acre_storage_opencl_objects(storage, &device, &error) != ACRE_OK ||
        acre_manager_resolve(manager, handle, 0, 0, &resource, &error) != ACRE_OK ||
        acre_storage_opencl_sub_buffer(storage, &resource, &buffer, &error) != ACRE_OK) {
        return fail("naming the memory", &error);
    }
    printf("%llu bytes from byte %llu of a buffer on\n", (unsigned long long)resource.size,
           (unsigned long long)resource.as.opencl.offset);
    cl_mem argument = buffer;
    size_t words = (size_t)resource.size / sizeof(cl_uint);
    cl_int code = clSetKernelArg(kernel, 0, sizeof argument, &argument);
    if (code == CL_SUCCESS) {
        code = clSetKernelArg(kernel, 1, sizeof value, &value);
    }
    if (code == CL_SUCCESS) {
        code = clEnqueueNDRangeKernel(device.queue, kernel, 1, NULL, &words, NULL, 0, NULL, NULL);
    }
    clReleaseMemObject(argument); // the kernel that was launched keeps it until it ends
    return code == CL_SUCCESS ? 0 : fail_cl("launching", code);
}

// ---- memory ----------------------------------------------------------------------------------

static int write_words(acre_manager *manager, acre_storage *storage, const acre_handle *handle) {
    static cl_uint words[WORDS];
    for (cl_uint i = 0; i < WORDS; i++) {
        words[i] = i;
    }
    acre_error error = ACRE_ERROR_INIT;
    acre_resource resource = ACRE_RESOURCE_INIT;
    if (acre_manager_resolve(manager, handle, 0, 0, &resource, &error) != ACRE_OK ||
        acre_storage_write(storage, &resource, words, &error) != ACRE_OK) {
        return fail("writing", &error);
    }
    return 0;
}

// Reading waits for the queue, so that it sees what the kernels left.
static int check_words(acre_manager *manager, acre_storage *storage, const acre_handle *handle,
                       cl_uint added) {
    static cl_uint words[WORDS];
    acre_error error = ACRE_ERROR_INIT;
    acre_resource resource = ACRE_RESOURCE_INIT;
    if (acre_manager_resolve(manager, handle, 0, 0, &resource, &error) != ACRE_OK ||
        acre_storage_read(storage, &resource, words, &error) != ACRE_OK) {
        return fail("reading", &error);
    }
    for (cl_uint i = 0; i < WORDS; i++) {
        if (words[i] != i + added) {
            fprintf(stderr, "opencl: word %u is %u, not %u\n", i, words[i], i + added);
            return 1;
        }
    }
    return 0;
}

// Moves what keeps outdated pages alive, so that these go back to the device. Handles stay; what
// was resolved before is resolved anew.
static int relocate(acre_manager *manager) {
    acre_error error = ACRE_ERROR_INIT;
    acre_relocation_options options = ACRE_RELOCATION_OPTIONS_INIT;
    acre_relocation_report report = ACRE_RELOCATION_REPORT_INIT;
    options.room = ACRE_RELOCATION_ROOM_MAY_ADD;
    if (acre_manager_relocate(manager, &options, &report, &error) != ACRE_OK) {
        return fail("relocating", &error);
    }
    printf("%llu allocations moved, %llu bytes of pages went back\n",
           (unsigned long long)report.moves, (unsigned long long)report.bytes_returned);
    return 0;
}

// ---- the program -----------------------------------------------------------------------------

static int run(acre_manager *manager, acre_storage *storage, cl_kernel kernel) {
    acre_error error = ACRE_ERROR_INIT;
    acre_handle *first = NULL;
    acre_handle *weights = NULL;
    acre_handle *large = NULL;
    if (acre_manager_reserve(manager, BYTES, &first, &error) != ACRE_OK ||
        acre_manager_reserve(manager, BYTES, &weights, &error) != ACRE_OK) {
        return fail("reserving", &error);
    }
    acre_manager_release(manager, first);
    int outcome = write_words(manager, storage, weights);
    if (outcome == 0) {
        outcome = launch(manager, storage, weights, kernel, 5);
    }
    // A request that needs a larger page: the one that the weights are on is outdated from now on.
    if (outcome == 0 && acre_manager_reserve(manager, 9000000, &large, &error) != ACRE_OK) {
        outcome = fail("reserving", &error);
    }
    if (outcome == 0) {
        outcome = relocate(manager);
    }
    if (outcome == 0) {
        outcome = launch(manager, storage, weights, kernel, 6);
    }
    if (outcome == 0) {
        outcome = check_words(manager, storage, weights, 5 + 6);
    }
    static char text[8192];
    acre_manager_report_write(manager, ACRE_REPORT_TEXT, text, sizeof text);
    fputs(text, stdout);
    acre_manager_release(manager, large);
    acre_manager_release(manager, weights);
    return outcome;
}

static int run_on(acre_storage *storage) {
    acre_error error = ACRE_ERROR_INIT;
    acre_opencl_objects device = ACRE_OPENCL_OBJECTS_INIT;
    acre_manager *manager = NULL;
    cl_program program = NULL;
    cl_kernel kernel = NULL;
    if (acre_storage_opencl_objects(storage, &device, &error) != ACRE_OK ||
        acre_manager_create(storage, NULL, &manager, &error) != ACRE_OK) {
        return fail("making a manager", &error);
    }
    cl_int code = build(&device, &program, &kernel);
    int outcome = code == CL_SUCCESS ? run(manager, storage, kernel) : fail_cl("building", code);
    if (kernel != NULL) {
        clReleaseKernel(kernel);
    }
    if (program != NULL) {
        clReleaseProgram(program);
    }
    acre_manager_destroy(manager);
    return outcome;
}

int main(void) {
    acre_error error = ACRE_ERROR_INIT;
    acre_storage *storage = NULL;
    acre_status status = acre_storage_opencl_create(NULL, NULL, &storage, &error);
    if (status != ACRE_OK) {
        int outcome = fail("there is no device to use", &error);
        return status == ACRE_UNSUPPORTED ? NO_DEVICE : outcome;
    }
    int outcome = run_on(storage);
    acre_storage_destroy(storage);
    return outcome;
}
