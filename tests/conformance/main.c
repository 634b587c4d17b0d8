// The conformance suite: what every storage keeps to, over every way that a back end has to make
// pages.
//
// usage: test_conformance NAME
//
// A back end that is not on this machine is skipped, unless the environment variable
// ACRE_REQUIRE_DEVICES names it: then that is a failure.
#include "suite.h"

static const subject_list *const lists[] = {
    &own_subjects,  &simulated_subjects, &host_subjects,   &host_virtual_subjects,
    &cuda_subjects, &fake_cuda_subjects, &opencl_subjects, &vulkan_subjects,
};

static const part *const parts[] = {
    &pages_part,   &bytes_part,  &relocation_part, &lazy_part,
    &mapping_part, &events_part, &limits_part,     &failures_part,
};

enum {
    TESTS_MOST = 128
};

static int run_subject(const subject *about) {
    struct CMUnitTest tests[TESTS_MOST];
    size_t count = 0;
    for (size_t p = 0; p < COUNT_OF(parts); p++) {
        const part *of = parts[p];
        if ((of->maps && !about->maps) || (of->events && !about->events) ||
            (of->fails && about->lost_code == 0)) {
            continue;
        }
        assert_true(count + of->count <= TESTS_MOST);
        for (size_t i = 0; i < of->count; i++) {
            tests[count] = of->tests[i];
            tests[count].initial_state = (void *)(uintptr_t)about;
            count++;
        }
    }
    return _cmocka_run_group_tests(about->name, tests, count, NULL, NULL);
}

// Whether a word of ACRE_REQUIRE_DEVICES is the name.
static bool is_required(const char *name) {
    const char *words = getenv("ACRE_REQUIRE_DEVICES");
    size_t length = strlen(name);
    while (words != NULL && *words != '\0') {
        size_t word = strcspn(words, " ");
        if (word == length && strncmp(words, name, length) == 0) {
            return true;
        }
        words += word + (words[word] == ' ');
    }
    return false;
}

// A way to make pages that the device lacks is passed over, but not the first: that is the back
// end.
static int run_list(const subject_list *list) {
    int failed = 0;
    for (size_t i = 0; i < list->count; i++) {
        const subject *about = &list->subjects[i];
        acre_error error = ACRE_ERROR_INIT;
        acre_storage *storage = about->create(TOTAL, LARGEST, &error);
        if (storage == NULL) {
            char text[512];
            (void)acre_error_format(&error, text, sizeof text);
            fprintf(stderr, "%s: %s\n", about->name, text);
            if (error.status != ACRE_UNSUPPORTED || (i == 0 && is_required(list->name))) {
                return 1;
            }
            if (i == 0) {
                return 77;
            }
            continue;
        }
        // It stays until the end, so that the driver does: some do not survive being loaded anew
        // for each test.
        if (about->alone) {
            acre_storage_destroy(storage);
        }
        failed += run_subject(about) != 0;
        if (!about->alone) {
            acre_storage_destroy(storage);
        }
    }
    return failed;
}

int main(int count, char **arguments) {
    for (size_t i = 0; i < COUNT_OF(lists) && count == 2; i++) {
        if (strcmp(lists[i]->name, arguments[1]) == 0) {
            return run_list(lists[i]);
        }
    }
    fprintf(stderr, "usage: test_conformance NAME, which is one of:");
    for (size_t i = 0; i < COUNT_OF(lists); i++) {
        fprintf(stderr, " %s", lists[i]->name);
    }
    fputc('\n', stderr);
    return 2;
}
