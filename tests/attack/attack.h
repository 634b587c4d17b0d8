// What the tests of bad input share.
#ifndef ACRE_TESTS_ATTACK_H
#define ACRE_TESTS_ATTACK_H

#include <acre/acre.h>

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define MIB (UINT64_C(1) << 20)

typedef struct bench {
    acre_storage *storage;
    acre_manager *manager;
} bench;

static inline acre_manager *make_manager(acre_storage *storage, const acre_manager_options *given) {
    acre_manager_options options = ACRE_MANAGER_OPTIONS_INIT;
    acre_config config = ACRE_CONFIG_INIT;
    if (given != NULL) {
        options = *given;
    }
    if (options.config == NULL) {
        options.config = &config;
    }
    acre_manager *manager = NULL;
    acre_error error = ACRE_ERROR_INIT;
    acre_status status = acre_manager_create(storage, &options, &manager, &error);
    if (status != ACRE_OK) {
        fail_msg("%s: %s", acre_status_name(status), error.detail);
    }
    return manager;
}

static inline bench make(const acre_manager_options *options) {
    bench made = {NULL, NULL};
    assert_int_equal(ACRE_OK, acre_storage_simulated_create(NULL, NULL, &made.storage, NULL));
    made.manager = make_manager(made.storage, options);
    return made;
}

static inline void end(bench *at) {
    assert_int_equal(ACRE_OK, acre_manager_check(at->manager, NULL));
    acre_manager_destroy(at->manager);
    acre_storage_destroy(at->storage);
}

// The manager serves as if nothing had happened.
static inline void assert_usable(acre_manager *manager) {
    acre_handle *handle = NULL;
    acre_place place = ACRE_PLACE_INIT;
    assert_int_equal(ACRE_OK, acre_manager_check(manager, NULL));
    assert_int_equal(ACRE_OK, acre_manager_reserve(manager, 1000, &handle, NULL));
    assert_int_equal(ACRE_OK, acre_manager_get_place(manager, handle, &place, NULL));
    assert_int_equal(1000, place.size);
    acre_manager_release(manager, handle);
}

static inline acre_layout list_of(const acre_pool_options *pools, size_t count) {
    acre_layout layout = ACRE_LAYOUT_INIT(ACRE_LAYOUT_EXPLICIT);
    layout.pools = pools;
    layout.pool_count = count;
    return layout;
}

#endif
