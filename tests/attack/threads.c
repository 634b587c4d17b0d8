// Handles let go on other threads while the manager works, and while it is destroyed.
#define _POSIX_C_SOURCE 200809L // posix_memalign

#include "attack/attack.h"

#include <pthread.h>
#include <stdatomic.h>

#define THREADS 4
#define HANDLES 2500

typedef struct letting_go {
    acre_handle *handles[HANDLES];
    acre_binding *bindings[HANDLES];
} letting_go;

static pthread_barrier_t start; // all threads and the manager's begin together

static void *let_go(void *context) {
    letting_go *mine = context;
    pthread_barrier_wait(&start);
    for (int i = 0; i < HANDLES; i++) {
        acre_handle_release(acre_handle_retain(mine->handles[i]));
        acre_handle_release(mine->handles[i]);
        acre_binding_release(mine->bindings[i]);
    }
    return NULL;
}

static void fill(acre_manager *manager, letting_go *mine, const acre_host_hooks *hooks) {
    for (uint32_t i = 0; i < HANDLES; i++) {
        acre_reservation reservation = ACRE_RESERVATION_INIT(i * 7);
        acre_handle **handle = &mine->handles[i];
        reservation.tag = 123456789;
        assert_int_equal(ACRE_OK, acre_manager_reserve_with(manager, &reservation, handle, NULL));
        if (i % 5 == 0) {
            acre_handle *bound = NULL;
            assert_int_equal(ACRE_OK, acre_handle_create(hooks, &bound, NULL));
            assert_int_equal(ACRE_OK, acre_manager_bind(manager, *handle, bound, i, NULL));
            acre_manager_release(manager, *handle);
            *handle = bound;
        }
        mine->bindings[i] = i % 3 == 0 ? acre_handle_binding(*handle) : NULL;
    }
}

static void see_tag(void *context, const acre_slice_info *run) {
    uint64_t *wrong = context;
    *wrong += run->live && run->tag != 123456789;
}

static void tags_and_books_stay_right_while_other_threads_let_go(void **state) {
    (void)state;
    static letting_go mine[THREADS];
    pthread_t threads[THREADS];
    bench at = make(NULL);
    for (int round = 0; round < 8; round++) {
        uint64_t wrong = 0;
        for (int t = 0; t < THREADS; t++) {
            fill(at.manager, &mine[t], NULL);
        }
        for (int t = 0; t < THREADS; t++) {
            assert_int_equal(0, pthread_create(&threads[t], NULL, let_go, &mine[t]));
        }
        pthread_barrier_wait(&start);
        for (int i = 0; i < 6; i++) {
            acre_allocation_info largest[3];
            acre_handle *handle = NULL;
            acre_reservation reservation = ACRE_RESERVATION_INIT(100);
            reservation.tag = 123456789;
            acre_manager_visit_slices(at.manager, see_tag, &wrong);
            size_t count =
                acre_manager_largest(at.manager, largest, sizeof(acre_allocation_info), 3);
            for (size_t l = 0; l < count; l++) {
                wrong += largest[l].tag != 123456789;
            }
            assert_int_equal(ACRE_OK,
                             acre_manager_reserve_with(at.manager, &reservation, &handle, NULL));
            assert_int_equal(ACRE_OK, acre_manager_check(at.manager, NULL));
            acre_manager_release(at.manager, handle);
        }
        for (int t = 0; t < THREADS; t++) {
            assert_int_equal(0, pthread_join(threads[t], NULL));
        }
        acre_report report = ACRE_REPORT_INIT;
        acre_manager_report(at.manager, &report);
        assert_int_equal(0, wrong);
        assert_int_equal(0, report.usage.allocations);
    }
    end(&at);
}

static void *count_alloc(void *context, size_t size, size_t alignment) {
    void *memory = NULL;
    atomic_fetch_add((atomic_long *)context, 1);
    return posix_memalign(&memory, alignment < 8 ? 8 : alignment, size) == 0 ? memory : NULL;
}

static void count_free(void *context, void *memory, size_t size, size_t alignment) {
    (void)size, (void)alignment;
    atomic_fetch_sub((atomic_long *)context, 1);
    free(memory);
}

static void what_is_let_go_while_the_manager_is_destroyed_is_freed_once(void **state) {
    (void)state;
    static letting_go mine[THREADS];
    static atomic_long blocks;
    pthread_t threads[THREADS];
    acre_host_hooks hooks = ACRE_HOST_HOOKS_INIT;
    acre_manager_options options = ACRE_MANAGER_OPTIONS_INIT;
    hooks.alloc = count_alloc;
    hooks.free = count_free;
    hooks.context = &blocks;
    options.hooks = &hooks;
    for (int round = 0; round < 12; round++) {
        bench at = make(&options);
        for (int t = 0; t < THREADS; t++) {
            fill(at.manager, &mine[t], &hooks);
        }
        for (int t = 0; t < THREADS; t++) {
            assert_int_equal(0, pthread_create(&threads[t], NULL, let_go, &mine[t]));
        }
        pthread_barrier_wait(&start);
        acre_manager_destroy(at.manager);
        for (int t = 0; t < THREADS; t++) {
            assert_int_equal(0, pthread_join(threads[t], NULL));
        }
        acre_storage_stats stats = ACRE_STORAGE_STATS_INIT;
        acre_storage_stats_get(at.storage, &stats);
        assert_int_equal(0, stats.bytes_allocated);
        acre_storage_destroy(at.storage);
        assert_int_equal(0, atomic_load(&blocks));
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(tags_and_books_stay_right_while_other_threads_let_go),
        cmocka_unit_test(what_is_let_go_while_the_manager_is_destroyed_is_freed_once),
    };
    pthread_barrier_init(&start, NULL, THREADS + 1);
    int failed = cmocka_run_group_tests_name("attack_threads", tests, NULL, NULL);
    pthread_barrier_destroy(&start);
    return failed;
}
