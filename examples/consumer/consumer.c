// A runtime in small: three buffers on a simulated device of 8 GiB, what a kernel would be given
// for each, and a report. A real runtime brings a storage of its own (acre_storage_create) and
// changes nothing else.
#include <acre/acre.h>

#include <stdio.h>
#include <stdlib.h>

#define MIB (UINT64_C(1) << 20)
#define GIB (UINT64_C(1) << 30)

#define BUFFERS 3

// Ends the program when a call failed. The sentence has the sizes and what to do next.
static void check(acre_status status, const acre_error *error) {
    if (status == ACRE_OK) {
        return;
    }
    char text[512];
    acre_error_format(error, text, sizeof text);
    fprintf(stderr, "consumer: %s: %s\n", acre_status_name(status), text);
    exit(EXIT_FAILURE);
}

static void print_report(acre_manager *manager) {
    const size_t length = acre_manager_report_write(manager, ACRE_REPORT_TEXT, NULL, 0);
    char *text = malloc(length + 1);
    if (text == NULL) {
        fprintf(stderr, "consumer: no memory for the report\n");
        exit(EXIT_FAILURE);
    }
    acre_manager_report_write(manager, ACRE_REPORT_TEXT, text, length + 1);
    fputs(text, stdout);
    free(text);
}

int main(void) {
    acre_error error = ACRE_ERROR_INIT;

    // The storage is the device.
    acre_simulated_storage_params device = ACRE_SIMULATED_STORAGE_PARAMS_INIT;
    device.total_memory = 8 * GIB;
    acre_storage *storage = NULL;
    check(acre_storage_simulated_create(&device, NULL, &storage, &error), &error);

    // The manager carves the storage's pages.
    acre_manager_options options = ACRE_MANAGER_OPTIONS_INIT;
    options.name = "consumer";
    options.largest_page = 1 * GIB;
    acre_manager *manager = NULL;
    check(acre_manager_create(storage, &options, &manager, &error), &error);

    const uint64_t sizes[BUFFERS] = {100, 3 * MIB, 48 * MIB};
    acre_handle *buffers[BUFFERS] = {NULL};
    for (size_t i = 0; i < BUFFERS; i++) {
        check(acre_manager_reserve(manager, sizes[i], &buffers[i], &error), &error);

        acre_resource resource = ACRE_RESOURCE_INIT;
        check(acre_manager_resolve(manager, buffers[i], 0, 0, &resource, &error), &error);
        printf("buffer %zu: %llu bytes, page %llu at %llu\n", i, (unsigned long long)resource.size,
               (unsigned long long)resource.as.simulated.page,
               (unsigned long long)resource.as.simulated.offset);
    }

    print_report(manager);

    for (size_t i = 0; i < BUFFERS; i++) {
        acre_manager_release(manager, buffers[i]);
    }

    acre_report report = ACRE_REPORT_INIT;
    acre_manager_report(manager, &report);
    printf("acre %s: %llu bytes in use at the end\n", acre_version(),
           (unsigned long long)report.usage.in_use);

    acre_manager_destroy(manager);
    acre_storage_destroy(storage);
    return report.usage.in_use == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
