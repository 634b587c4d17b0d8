// Section 10: any thread may hold, print and release failures. Label: threads; to be run under a
// race detector as well.
#include <pthread.h>
#include <stdatomic.h>

#include "support.h"

enum {
    WORKERS = 4,
    ROUNDS = 200
};

typedef struct worker {
    acre_failure *failure; // a reference of the worker's own
    acre_host_hooks hooks;
    bool right;
} worker;

// Reads all that the failure says, makes others from it and lets everything go.
static void *use_failure(void *context) {
    worker *own = context;
    own->right = true;
    for (int i = 0; i < 50; i++) {
        acre_failure *kept = acre_failure_retain(acre_failure_get_cause(own->failure, 0));
        acre_failure *causes[] = {kept, own->failure};
        acre_failure_params params = {sizeof params, "seen elsewhere", i, causes, 2};
        acre_failure *made = NULL;
        own->right =
            acre_failure_create(&params, &own->hooks, &made, NULL) == ACRE_OK && own->right;
        acre_failure_release(kept);
        char text[256];
        acre_failure_format(made, text, sizeof text);
        own->right = strstr(text, "[3] top (code 2), because of [2]") != NULL && own->right;
        acre_failure_release(made);
    }
    acre_failure_release(own->failure);
    return NULL;
}

static acre_failure *make(const acre_host_hooks *hooks, const char *message, int64_t code,
                          acre_failure *cause) {
    acre_failure_params params = {sizeof params, message, code, &cause, cause == NULL ? 0 : 1};
    acre_failure *failure = NULL;
    assert_ok(acre_failure_create(&params, hooks, &failure, NULL));
    return failure;
}

static void the_last_of_many_holders_frees_a_failure_and_its_causes_once(void **state) {
    (void)state;
    host_probe *probe = host_probe_create(); // says so when a block comes back twice
    acre_host_hooks hooks = host_probe_hooks(probe);
    for (int round = 0; round < ROUNDS; round++) {
        acre_failure *bottom = make(&hooks, "bottom", 1, NULL);
        acre_failure *top = make(&hooks, "top", 2, bottom);
        acre_failure_release(bottom);
        worker workers[WORKERS];
        pthread_t threads[WORKERS];
        for (size_t i = 0; i < WORKERS; i++) {
            workers[i] = (worker){acre_failure_retain(top), hooks, false};
        }
        for (size_t i = 0; i < WORKERS; i++) {
            assert_int_equal(pthread_create(&threads[i], NULL, use_failure, &workers[i]), 0);
        }
        acre_failure_release(top);
        for (size_t i = 0; i < WORKERS; i++) {
            assert_int_equal(pthread_join(threads[i], NULL), 0);
            assert_true(workers[i].right);
        }
        assert_int_equal(host_probe_blocks(probe), 0);
    }
    host_probe_destroy(probe);
}

static void *let_go(void *context) {
    acre_failure_release(context);
    return NULL;
}

static void a_claim_and_other_threads_may_let_a_failure_go_at_the_same_time(void **state) {
    (void)state;
    host_probe *probe = host_probe_create();
    acre_host_hooks hooks = host_probe_hooks(probe);
    acre_pool_options pool = sliced_pool(MIB, ACRE_UNSET, ACRE_UNSET);
    rig r = rig_pools(&pool, 1);
    acre_handle *handle = take(r.manager, 1000);
    for (int round = 0; round < ROUNDS; round++) {
        acre_failure *failure = make(&hooks, "failure", 1, NULL);
        assert_ok(acre_manager_taint(r.manager, handle, 0, 1000, failure, NULL));
        assert_ok(acre_manager_written(r.manager, handle, 300, 600, NULL));
        pthread_t thread;
        assert_int_equal(pthread_create(&thread, NULL, let_go, failure), 0);
        assert_ok(acre_manager_written(r.manager, handle, 0, 1000, NULL));
        assert_int_equal(pthread_join(thread, NULL), 0);
        assert_int_equal(host_probe_blocks(probe), 0);
    }
    acre_manager_release(r.manager, handle);
    rig_close(&r);
    host_probe_destroy(probe);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_last_of_many_holders_frees_a_failure_and_its_causes_once),
        cmocka_unit_test(a_claim_and_other_threads_may_let_a_failure_go_at_the_same_time),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
