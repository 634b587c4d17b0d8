// Back ends that are not what they should be, settings that make no sense, and texts that do not
// fit.
#define _POSIX_C_SOURCE 200809L // mkstemp

#include "attack/attack.h"

#include "base/host.h"

#include <unistd.h>

// ---- back ends -----------------------------------------------------------------------------

typedef struct back_end {
    acre_status status; // of alloc
    uint64_t alignment;
    uint64_t bytes;
    int ended;
} back_end;

static acre_status give(void *context, uint64_t size, uint64_t *id, acre_error *error) {
    back_end *own = context;
    error->native_code = 42;
    if (own->status == ACRE_OK) {
        own->bytes += size;
        *id = UINT64_MAX;
    }
    return own->status;
}

static void take(void *context, uint64_t id) {
    (void)context;
    assert_true(id == UINT64_MAX);
}

static void flush(void *context) {
    (void)context;
}

static acre_status name(void *context, uint64_t id, uint64_t offset, uint64_t size,
                        acre_resource *resource, acre_error *error) {
    (void)context, (void)id, (void)offset, (void)resource;
    error->native_code = (int64_t)size;
    return ACRE_BACKEND_ERROR;
}

static uint64_t alignment(void *context) {
    return ((back_end *)context)->alignment;
}

static uint64_t bytes(void *context) {
    return ((back_end *)context)->bytes;
}

static void finish(void *context) {
    ((back_end *)context)->ended++;
}

static acre_storage_ops operations(void) {
    acre_storage_ops ops = ACRE_STORAGE_OPS_INIT;
    ops.alloc = give;
    ops.dealloc = take;
    ops.flush = flush;
    ops.resource = name;
    ops.alignment = alignment;
    ops.bytes_allocated = bytes;
    ops.destroy = finish;
    return ops;
}

static void a_back_end_that_lacks_something_is_refused_and_stays_the_callers(void **state) {
    (void)state;
    back_end own = {ACRE_OK, 256, 0, 0};
    acre_storage *storage = NULL;
    acre_error error = ACRE_ERROR_INIT;
    for (int lacking = 0; lacking < 7; lacking++) {
        acre_storage_ops ops = operations();
        ops.alloc = lacking == 0 ? NULL : ops.alloc;
        ops.dealloc = lacking == 1 ? NULL : ops.dealloc;
        ops.flush = lacking == 2 ? NULL : ops.flush;
        ops.resource = lacking == 3 ? NULL : ops.resource;
        ops.alignment = lacking == 4 ? NULL : ops.alignment;
        ops.bytes_allocated = lacking == 5 ? NULL : ops.bytes_allocated;
        ops.version += lacking == 6;
        assert_int_equal(lacking == 6 ? ACRE_UNSUPPORTED : ACRE_INVALID_ARGUMENT,
                         acre_storage_create("x", &ops, &own, NULL, &storage, &error));
        assert_true(error.detail[0] != '\0');
    }
    acre_storage_ops ops = operations();
    own.alignment = 0;
    assert_int_equal(ACRE_INVALID_ARGUMENT,
                     acre_storage_create("x", &ops, &own, NULL, &storage, &error));
    assert_int_equal(ACRE_INVALID_ARGUMENT,
                     acre_storage_create("x", NULL, &own, NULL, &storage, &error));
    assert_null(storage);
    assert_int_equal(0, own.ended);
}

static void what_a_back_end_says_is_handed_on_with_its_own_code(void **state) {
    (void)state;
    back_end own = {ACRE_BACKEND_ERROR, 1, 0, 0};
    acre_storage_ops ops = operations();
    bench at;
    assert_int_equal(ACRE_OK, acre_storage_create(NULL, &ops, &own, NULL, &at.storage, NULL));
    at.manager = make_manager(at.storage, NULL);
    acre_error error = ACRE_ERROR_INIT;
    acre_handle *handle = NULL;
    assert_int_equal(ACRE_BACKEND_ERROR, acre_manager_reserve(at.manager, 10, &handle, &error));
    assert_int_equal(42, error.native_code);
    assert_int_equal(10, error.size);
    own.status = ACRE_OUT_OF_MEMORY;
    assert_int_equal(ACRE_OUT_OF_MEMORY, acre_manager_reserve(at.manager, 10, &handle, &error));
    assert_int_equal(42, error.native_code);
    own.status = ACRE_OK;
    assert_int_equal(ACRE_OK, acre_manager_reserve(at.manager, 10, &handle, &error));
    acre_resource resource = ACRE_RESOURCE_INIT;
    assert_int_equal(ACRE_BACKEND_ERROR,
                     acre_manager_resolve(at.manager, handle, 2, 3, &resource, &error));
    assert_int_equal(5, error.native_code);
    acre_manager_release(at.manager, handle);
    end(&at);
    assert_int_equal(1, own.ended);
}

static void a_host_storage_refuses_what_the_machine_cannot_map(void **state) {
    (void)state;
    acre_host_storage_params params = ACRE_HOST_STORAGE_PARAMS_INIT;
    acre_pool_options pool = ACRE_DIRECT_POOL;
    acre_layout layout = list_of(&pool, 1);
    acre_manager_options options = ACRE_MANAGER_OPTIONS_INIT;
    acre_error error = ACRE_ERROR_INIT;
    acre_handle *handle = NULL;
    bench at;
    params.alignment = 3;
    assert_int_equal(ACRE_INVALID_ARGUMENT,
                     acre_storage_host_create(&params, NULL, &at.storage, NULL));
    params.alignment = UINT64_C(1) << 63;
    params.total_memory = params.largest_allocation = UINT64_MAX;
    options.layout = &layout;
    options.alignment = 256;
    assert_int_equal(ACRE_OK, acre_storage_host_create(&params, NULL, &at.storage, NULL));
    at.manager = make_manager(at.storage, &options);
    const uint64_t sizes[] = {1, UINT64_C(1) << 62, UINT64_MAX - 300};
    for (size_t i = 0; i < 3; i++) {
        assert_int_equal(ACRE_OUT_OF_MEMORY,
                         acre_manager_reserve(at.manager, sizes[i], &handle, &error));
        assert_true(error.native_code != 0 && error.native_text[0] != '\0');
    }
    end(&at);
}

// ---- settings ------------------------------------------------------------------------------

static void a_wrong_setting_names_its_key_and_changes_nothing(void **state) {
    (void)state;
    const char *const wrong[][2] = {
        {"log_level", "log_level"},
        {"log_level:", "log_level"},
        {"log_level:Full", "log_level"},
        {"log_level:basic:full", "log_level"},
        {"log_level=full", "log_level=full"},
        {":full", "key"},
        {"persistent_memory:enforced,log_level:loud", "log_level"},
        {"persistent_memory:enforced,colour:red", "colour"},
        {"pools:5", "pools"},
        {"layout:direct", "layout"},
        {"log_target:", "log_target"},
    };
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        acre_config config = ACRE_CONFIG_INIT;
        acre_error error = ACRE_ERROR_INIT;
        assert_int_equal(ACRE_INVALID_ARGUMENT, acre_config_parse(&config, wrong[i][0], &error));
        assert_non_null(strstr(error.detail, wrong[i][1]));
        assert_int_equal(ACRE_PERSISTENT_ENABLED, config.persistent_memory);
        assert_int_equal(ACRE_LOG_DISABLED, config.log_level);
        assert_string_equal("", config.log_target);
    }
    char path[400];
    memset(path, 'x', sizeof path);
    memcpy(path, "log_target:", 11);
    path[sizeof path - 1] = '\0';
    acre_config config = ACRE_CONFIG_INIT;
    assert_int_equal(ACRE_INVALID_ARGUMENT, acre_config_parse(&config, path, NULL));
    assert_int_equal(ACRE_OK, acre_config_parse(&config, ",, log_level : full ,", NULL));
    assert_int_equal(ACRE_LOG_FULL, config.log_level);
    assert_int_equal(ACRE_IO_ERROR, acre_config_read_file(&config, "/", NULL));
    assert_int_equal(ACRE_IO_ERROR, acre_config_read_file(&config, "/no/such/file", NULL));
}

static void a_file_that_is_not_text_is_refused_by_line(void **state) {
    (void)state;
    static const struct {
        char bytes[64];
        size_t length;
        const char *line; // NULL = it is right
    } files[] = {
        {"log_level:full\nrubbish\n", 23, ":2:"},   {"log_level:full\n\0rubbish\n", 24, ":2:"},
        {"log_level:full\0rubbish\n\n", 24, ":1:"}, {"\0\0\0\0\nlog_level:full\n", 20, ":1:"},
        {"# \xff\xfe\nlog_level:full", 19, NULL},
    };
    char path[] = "acre-attack-XXXXXX";
    int descriptor = mkstemp(path);
    assert_true(descriptor >= 0);
    FILE *file = fdopen(descriptor, "w+");
    assert_non_null(file);
    for (size_t i = 0; i < sizeof files / sizeof files[0]; i++) {
        acre_config config = ACRE_CONFIG_INIT;
        acre_error error = ACRE_ERROR_INIT;
        rewind(file);
        assert_int_equal(0, ftruncate(descriptor, 0));
        assert_int_equal(files[i].length, fwrite(files[i].bytes, 1, files[i].length, file));
        assert_int_equal(0, fflush(file));
        bool right = files[i].line == NULL;
        assert_int_equal(right ? ACRE_OK : ACRE_INVALID_ARGUMENT,
                         acre_config_read_file(&config, path, &error));
        assert_int_equal(right ? ACRE_LOG_FULL : ACRE_LOG_DISABLED, config.log_level);
        assert_true(right || strstr(error.detail, files[i].line) != NULL);
    }
    fclose(file);
    remove(path);
}

static void a_log_that_cannot_be_opened_is_an_error_of_creation(void **state) {
    (void)state;
    acre_config config = ACRE_CONFIG_INIT;
    acre_manager_options options = ACRE_MANAGER_OPTIONS_INIT;
    acre_manager *manager = NULL;
    bench at = make(NULL);
    assert_int_equal(ACRE_OK,
                     acre_config_parse(&config, "log_level:full,log_target:/no/such/log", NULL));
    options.config = &config;
    assert_int_equal(ACRE_IO_ERROR, acre_manager_create(at.storage, &options, &manager, NULL));
    assert_null(manager);
    end(&at);
}

// ---- texts ---------------------------------------------------------------------------------

static void texts_never_pass_the_end_of_their_buffer(void **state) {
    (void)state;
    acre_manager_options options = ACRE_MANAGER_OPTIONS_INIT;
    options.name = "a \"name\" with \\, \n and a tail that is far too long for the 63 bytes of it";
    bench at = make(&options);
    for (int format = -1; format < 4; format++) {
        size_t length = acre_manager_report_write(at.manager, (acre_report_format)format, NULL, 0);
        char *text = malloc(length + 2);
        assert_non_null(text);
        for (size_t capacity = 1; capacity <= length + 1;
             capacity += capacity > 64 && capacity + 128 < length ? 61 : 1) {
            text[capacity] = '#';
            assert_int_equal(length, acre_manager_report_write(
                                         at.manager, (acre_report_format)format, text, capacity));
            assert_int_equal(capacity - 1, strlen(text));
            assert_int_equal('#', text[capacity]);
        }
        if (format > 0 && format < 3) {
            assert_non_null(strstr(text, "a \\\"name\\\" with \\\\, "));
        }
        free(text);
    }
    acre_error error = ACRE_ERROR_INIT;
    acre_handle *handle = NULL;
    assert_int_equal(ACRE_BUFFER_TOO_BIG,
                     acre_manager_reserve(at.manager, UINT64_MAX, &handle, &error));
    size_t length = acre_error_format(&error, NULL, 0);
    for (size_t capacity = 1; capacity <= length + 1; capacity++) {
        char text[512];
        assert_true(capacity < sizeof text);
        text[capacity] = '#';
        assert_int_equal(length, acre_error_format(&error, text, capacity));
        assert_int_equal(capacity - 1, strlen(text));
        assert_int_equal('#', text[capacity]);
    }
    assert_true(acre_error_format(NULL, NULL, 0) > 0);
    end(&at);
}

static void a_list_of_the_largest_takes_any_capacity(void **state) {
    (void)state;
    bench at = make(NULL);
    acre_handle *handles[3] = {NULL, NULL, NULL};
    acre_allocation_info infos[4];
    assert_int_equal(0, acre_manager_largest(at.manager, NULL, sizeof(acre_allocation_info), 0));
    for (uint64_t i = 0; i < 3; i++) {
        assert_int_equal(ACRE_OK, acre_manager_reserve(at.manager, 10 + i, &handles[i], NULL));
    }
    assert_int_equal(0, acre_manager_largest(at.manager, NULL, sizeof(acre_allocation_info), 0));
    for (size_t capacity = 1; capacity < 5; capacity++) {
        assert_int_equal(
            capacity < 3 ? capacity : 3,
            acre_manager_largest(at.manager, infos, sizeof(acre_allocation_info), capacity));
        assert_int_equal(12, infos[0].size);
    }
    size_t count = 0;
    assert_int_equal(
        ACRE_INVALID_ARGUMENT,
        acre_manager_measured_pools(at.manager, NULL, sizeof(acre_pool_options), 0, &count, NULL));
    assert_true(count > 0);
    for (size_t i = 0; i < 3; i++) {
        acre_manager_release(at.manager, handles[i]);
    }
    end(&at);
}

// ---- host memory ---------------------------------------------------------------------------

static void *no_memory(void *context, size_t size, size_t align) {
    (void)context, (void)size, (void)align;
    return NULL;
}

static void no_free(void *context, void *memory, size_t size, size_t align) {
    (void)context, (void)memory, (void)size, (void)align;
}

static void an_array_that_cannot_double_any_more_is_refused(void **state) {
    (void)state;
    acre_host_hooks hooks = ACRE_HOST_HOOKS_INIT;
    hooks.alloc = no_memory;
    hooks.free = no_free;
    acre_host host;
    acre_error error = ACRE_ERROR_INIT;
    assert_int_equal(ACRE_OK, acre_host_init(&host, &hooks, &error));
    void *array = NULL;
    uint32_t capacity = UINT32_C(1) << 31;
    assert_false(acre_host_grow(&host, &array, 1, capacity, capacity + 1, &capacity));
    assert_int_equal(UINT32_C(1) << 31, capacity);
}

static void *strict_alloc(void *context, size_t size, size_t align) {
    *(size_t *)context += size;
    return size % align == 0 && (align & (align - 1)) == 0 ? aligned_alloc(align, size) : NULL;
}

static void strict_free(void *context, void *memory, size_t size, size_t align) {
    assert_int_equal(0, size % align);
    *(size_t *)context -= size;
    free(memory);
}

static void hooks_may_be_made_of_aligned_alloc(void **state) {
    (void)state;
    size_t held = 0;
    acre_host_hooks hooks = ACRE_HOST_HOOKS_INIT;
    acre_manager_options options = ACRE_MANAGER_OPTIONS_INIT;
    acre_handle *handles[3] = {NULL, NULL, NULL};
    hooks.alloc = strict_alloc;
    hooks.free = strict_free;
    hooks.context = &held;
    options.hooks = &hooks;
    bench at = {NULL, NULL};
    assert_int_equal(ACRE_OK, acre_storage_host_create(NULL, &hooks, &at.storage, NULL));
    at.manager = make_manager(at.storage, &options);
    assert_int_equal(ACRE_OK, acre_manager_reserve(at.manager, 1000, &handles[0], NULL));
    assert_int_equal(ACRE_OK, acre_handle_create(&hooks, &handles[1], NULL));
    assert_int_equal(ACRE_OK, acre_manager_bind(at.manager, handles[0], handles[1], 1, NULL));
    assert_int_equal(ACRE_OK, acre_manager_set_mode(at.manager, ACRE_MODE_PERSISTENT, NULL));
    assert_int_equal(ACRE_OK, acre_manager_reserve(at.manager, 1000, &handles[2], NULL));
    for (int i = 0; i < 3; i++) {
        acre_handle_release(handles[i]);
    }
    end(&at);
    assert_int_equal(0, held);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_back_end_that_lacks_something_is_refused_and_stays_the_callers),
        cmocka_unit_test(what_a_back_end_says_is_handed_on_with_its_own_code),
        cmocka_unit_test(a_host_storage_refuses_what_the_machine_cannot_map),
        cmocka_unit_test(a_wrong_setting_names_its_key_and_changes_nothing),
        cmocka_unit_test(a_file_that_is_not_text_is_refused_by_line),
        cmocka_unit_test(a_log_that_cannot_be_opened_is_an_error_of_creation),
        cmocka_unit_test(texts_never_pass_the_end_of_their_buffer),
        cmocka_unit_test(a_list_of_the_largest_takes_any_capacity),
        cmocka_unit_test(an_array_that_cannot_double_any_more_is_refused),
        cmocka_unit_test(hooks_may_be_made_of_aligned_alloc),
    };
    return cmocka_run_group_tests_name("attack_texts", tests, NULL, NULL);
}
