// Sections 3 and 13, threads: a manager is used by one, its handles by any. Label: threads; to be
// run under a race detector as well.
#include <pthread.h>
#include <stdatomic.h>

#include "support.h"

enum {
    WORKERS = 4
};

static void start(pthread_t *thread, void *(*run)(void *), void *context) {
    assert_int_equal(pthread_create(thread, NULL, run, context), 0);
}

static void join(pthread_t thread) {
    assert_int_equal(pthread_join(thread, NULL), 0);
}

typedef struct batch {
    acre_handle **handles;
    size_t count;
} batch;

static void *release_batch(void *context) {
    batch *b = context;
    for (size_t i = 0; i < b->count; i++) {
        acre_handle_release(b->handles[i]);
    }
    return NULL;
}

static void release_elsewhere(acre_handle **handles, size_t count) {
    batch b = {handles, count};
    pthread_t thread;
    start(&thread, release_batch, &b);
    join(thread);
}

// ---- order ---------------------------------------------------------------------------------

typedef struct freed {
    uint64_t sizes[64];
    size_t count;
} freed;

static void note_free(void *context, const acre_event *event) {
    freed *f = context;
    assert_int_equal(event->kind, ACRE_EVENT_FREE);
    assert_true(f->count < COUNT_OF(f->sizes));
    f->sizes[f->count++] = event->size;
}

static void releases_take_effect_at_the_next_operation_in_the_order_pushed(void **state) {
    (void)state;
    freed f = {.count = 0};
    acre_manager_options options = plain_options(128 * MIB, 32);
    options.event = note_free;
    options.event_context = &f;
    options.event_mask = ACRE_EVENT_FREE;
    rig r = rig_on(simulated_device(), &options);
    acre_handle *h[64];
    acre_handle *shuffled[64];
    for (uint64_t i = 0; i < 64; i++) {
        h[i] = take(r.manager, 100 + i);
    }
    for (size_t i = 0; i < 64; i++) {
        shuffled[i] = h[(i * 29) % 64];
    }
    release_elsewhere(shuffled, 64);
    assert_int_equal(f.count, 0); // nothing happens outside the manager's thread
    assert_int_equal(usage_of(r.manager).allocations, 0);
    assert_int_equal(f.count, 64);
    for (size_t i = 0; i < 64; i++) {
        assert_int_equal(f.sizes[i], 100 + (i * 29) % 64);
    }
    rig_close(&r);
}

static void placement_is_the_same_whichever_thread_released(void **state) {
    (void)state;
    const acre_layout_kind kinds[] = {ACRE_LAYOUT_SUB_SLICES, ACRE_LAYOUT_EXCLUSIVE_PAGES};
    for (size_t k = 0; k < 2; k++) {
        static acre_place places[2][400];
        for (int elsewhere = 0; elsewhere < 2; elsewhere++) {
            rig r = rig_preset(128 * MIB, 32, kinds[k]);
            acre_handle *h[100];
            acre_handle *leaving[50];
            for (uint64_t round = 0; round < 4; round++) {
                for (uint64_t i = 0; i < 100; i++) {
                    if (round == 0 || i % 2 == round % 2) {
                        h[i] = take(r.manager, (i * 7919 + round * 100) % 200000);
                    }
                    places[elsewhere][round * 100 + i] = place_of(r.manager, h[i]);
                }
                for (size_t i = 0; i < 50; i++) { // the half that the next round asks for anew
                    leaving[i] = h[((i * 37) % 50) * 2 + (round + 1) % 2];
                }
                if (elsewhere) {
                    release_elsewhere(leaving, 50);
                } else {
                    drop_all(r.manager, leaving, 50);
                }
            }
            check(r.manager);
            for (size_t i = 0; i < 50; i++) {
                acre_manager_release(r.manager, h[i * 2 + 1]);
            }
            rig_close(&r);
        }
        for (size_t i = 0; i < 400; i++) {
            assert_true(same_place(places[0][i], places[1][i]));
        }
    }
}

// ---- many threads --------------------------------------------------------------------------

// Handles on their way from the manager's thread to the workers.
typedef struct queue {
    pthread_mutex_t lock;
    pthread_cond_t changed;
    acre_handle *handles[1024];
    size_t count;
    bool closed;
} queue;

static void *consume(void *context) {
    queue *q = context;
    for (;;) {
        pthread_mutex_lock(&q->lock);
        while (q->count == 0 && !q->closed) {
            pthread_cond_wait(&q->changed, &q->lock);
        }
        acre_handle *handle = q->count > 0 ? q->handles[--q->count] : NULL;
        pthread_cond_signal(&q->changed);
        pthread_mutex_unlock(&q->lock);
        if (handle == NULL) {
            return NULL;
        }
        acre_binding *use = acre_handle_binding(handle);
        acre_handle *other = acre_handle_retain(handle);
        acre_handle_release(handle);
        (void)acre_handle_can_mut(other);
        acre_handle_release(other);
        acre_binding_release(acre_binding_retain(use));
        acre_binding_release(use);
    }
}

static void one_thread_reserves_while_others_release(void **state) {
    (void)state;
    acre_pool_options pools[] = {sliced_pool(64 * KIB, 4 * KIB, ACRE_UNSET),
                                 exclusive_pool(16 * KIB), direct_pool(ACRE_UNSET)};
    rig r = rig_pools(pools, 3);
    static queue q;
    memset(&q, 0, sizeof(q));
    pthread_mutex_init(&q.lock, NULL);
    pthread_cond_init(&q.changed, NULL);
    pthread_t threads[WORKERS];
    for (size_t i = 0; i < WORKERS; i++) {
        start(&threads[i], consume, &q);
    }
    for (uint64_t i = 0; i < 20000; i++) {
        acre_handle *handle = take(r.manager, (i * 7919) % (20 * KIB));
        pthread_mutex_lock(&q.lock);
        while (q.count == COUNT_OF(q.handles)) {
            pthread_cond_wait(&q.changed, &q.lock);
        }
        q.handles[q.count++] = handle;
        pthread_cond_broadcast(&q.changed);
        pthread_mutex_unlock(&q.lock);
        if (i % 1000 == 0) {
            check(r.manager);
        }
        if (i % 5000 == 0) {
            acre_manager_cleanup(r.manager, ACRE_CLEANUP_EXPLICIT);
        }
    }
    pthread_mutex_lock(&q.lock);
    q.closed = true;
    pthread_cond_broadcast(&q.changed);
    pthread_mutex_unlock(&q.lock);
    for (size_t i = 0; i < WORKERS; i++) {
        join(threads[i]);
    }
    assert_int_equal(usage_of(r.manager).allocations, 0);
    assert_int_equal(usage_of(r.manager).in_use, 0);
    acre_manager_cleanup(r.manager, ACRE_CLEANUP_EXPLICIT);
    assert_int_equal(usage_of(r.manager).reserved, 0);
    pthread_mutex_destroy(&q.lock);
    pthread_cond_destroy(&q.changed);
    rig_close(&r);
}

static void *retain_and_release(void *context) {
    acre_handle *handle = context;
    for (int i = 0; i < 10000; i++) {
        acre_handle *other = acre_handle_retain(handle);
        acre_binding *use = acre_handle_binding(other);
        acre_handle_release(other);
        acre_binding_release(use);
    }
    acre_handle_release(handle); // this thread's own reference
    return NULL;
}

static void owners_on_many_threads_are_counted(void **state) {
    (void)state;
    acre_pool_options pool = sliced_pool(MIB, ACRE_UNSET, ACRE_UNSET);
    rig r = rig_pools(&pool, 1);
    acre_handle *a = take(r.manager, 1000);
    pthread_t threads[WORKERS];
    for (size_t i = 0; i < WORKERS; i++) {
        start(&threads[i], retain_and_release, acre_handle_retain(a));
    }
    for (size_t i = 0; i < WORKERS; i++) {
        join(threads[i]);
    }
    assert_int_equal(usage_of(r.manager).allocations, 1);
    assert_true(acre_handle_can_mut(a));
    acre_manager_release(r.manager, a);
    assert_int_equal(usage_of(r.manager).allocations, 0);
    rig_close(&r);
}

typedef struct shared {
    pthread_barrier_t all_here;
    acre_handle *handles[500];
} shared;

static void *release_all(void *context) {
    shared *s = context;
    pthread_barrier_wait(&s->all_here);
    for (size_t i = 0; i < COUNT_OF(s->handles); i++) {
        acre_handle_release(s->handles[i]);
    }
    return NULL;
}

// Four threads and the manager's own hold a reference each and let go together: it is freed once.
static void the_last_of_many_owners_frees_once(void **state) {
    (void)state;
    acre_pool_options pool = sliced_pool(MIB, ACRE_UNSET, ACRE_UNSET);
    rig r = rig_pools(&pool, 1);
    static shared s;
    pthread_barrier_init(&s.all_here, NULL, WORKERS + 1);
    for (size_t i = 0; i < COUNT_OF(s.handles); i++) {
        s.handles[i] = take(r.manager, 64);
        for (size_t k = 0; k < WORKERS; k++) {
            (void)acre_handle_retain(s.handles[i]);
        }
    }
    pthread_t threads[WORKERS];
    for (size_t i = 0; i < WORKERS; i++) {
        start(&threads[i], release_all, &s);
    }
    pthread_barrier_wait(&s.all_here);
    for (size_t i = 0; i < COUNT_OF(s.handles); i++) {
        acre_manager_release(r.manager, s.handles[i]);
    }
    for (size_t i = 0; i < WORKERS; i++) {
        join(threads[i]);
    }
    assert_int_equal(usage_of(r.manager).allocations, 0);
    assert_int_equal(pool_of(r.manager, 0).free_slices, 1);
    pthread_barrier_destroy(&s.all_here);
    rig_close(&r);
}

// The manager goes while the other threads are letting go: every handle stays a valid object.
static void a_manager_may_go_while_other_threads_release_its_handles(void **state) {
    (void)state;
    for (int round = 0; round < 20; round++) {
        host_probe *probe = host_probe_create();
        acre_host_hooks hooks = host_probe_hooks(probe);
        acre_manager_options options = plain_options(128 * MIB, 32);
        options.hooks = &hooks;
        rig r = rig_on(simulated_device(), &options);
        static shared s;
        pthread_barrier_init(&s.all_here, NULL, WORKERS + 1);
        for (size_t i = 0; i < COUNT_OF(s.handles); i++) {
            s.handles[i] = take(r.manager, 1000 + i);
            for (size_t k = 1; k < WORKERS; k++) {
                (void)acre_handle_retain(s.handles[i]);
            }
        }
        pthread_t threads[WORKERS];
        for (size_t i = 0; i < WORKERS; i++) {
            start(&threads[i], release_all, &s);
        }
        pthread_barrier_wait(&s.all_here);
        acre_manager_destroy(r.manager);
        assert_int_equal(stats_of(r.storage).bytes_allocated, 0);
        for (size_t i = 0; i < WORKERS; i++) {
            join(threads[i]);
        }
        acre_storage_destroy(r.storage);
        pthread_barrier_destroy(&s.all_here);
        host_probe_destroy(probe); // the last handle gave the last block back
    }
}

// ---- managers on threads of their own ------------------------------------------------------

typedef struct lane {
    _Atomic(acre_handle *) slots[64]; // filled by one lane, emptied by the other
    struct lane *other;
    bool sound;
} lane;

static void *drive(void *context) {
    lane *own = context;
    acre_storage *storage = NULL;
    acre_manager *manager = NULL;
    acre_manager_options options = plain_options(128 * MIB, 32);
    if (acre_storage_simulated_create(NULL, NULL, &storage, NULL) != ACRE_OK ||
        acre_manager_create(storage, &options, &manager, NULL) != ACRE_OK) {
        return NULL;
    }
    bool sound = true;
    for (uint64_t i = 0; i < 20000; i++) {
        acre_handle *handle = NULL;
        sound =
            acre_manager_reserve(manager, (i * 7919) % 50000, &handle, NULL) == ACRE_OK && sound;
        acre_handle *mine = atomic_exchange(&own->slots[i % 64], handle);
        acre_manager_release(manager, mine);
        acre_handle *foreign = atomic_exchange(&own->other->slots[(i * 13) % 64], NULL);
        acre_manager_release(manager, foreign); // of the other manager: the slow way
    }
    acre_error error = ACRE_ERROR_INIT;
    own->sound = acre_manager_check(manager, &error) == ACRE_OK && sound;
    acre_manager_destroy(manager); // handles in the slots outlive it
    acre_storage_destroy(storage);
    return NULL;
}

static void managers_on_their_own_threads_release_each_others_handles(void **state) {
    (void)state;
    static lane lanes[2];
    memset(lanes, 0, sizeof(lanes));
    lanes[0].other = &lanes[1];
    lanes[1].other = &lanes[0];
    pthread_t threads[2];
    for (size_t i = 0; i < 2; i++) {
        start(&threads[i], drive, &lanes[i]);
    }
    for (size_t i = 0; i < 2; i++) {
        join(threads[i]);
        assert_true(lanes[i].sound);
        for (size_t k = 0; k < 64; k++) {
            acre_handle_release(atomic_exchange(&lanes[1 - i].slots[k], NULL));
        }
    }
    for (size_t k = 0; k < 64; k++) {
        acre_handle_release(atomic_exchange(&lanes[0].slots[k], NULL));
        acre_handle_release(atomic_exchange(&lanes[1].slots[k], NULL));
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(releases_take_effect_at_the_next_operation_in_the_order_pushed),
        cmocka_unit_test(placement_is_the_same_whichever_thread_released),
        cmocka_unit_test(one_thread_reserves_while_others_release),
        cmocka_unit_test(owners_on_many_threads_are_counted),
        cmocka_unit_test(the_last_of_many_owners_frees_once),
        cmocka_unit_test(a_manager_may_go_while_other_threads_release_its_handles),
        cmocka_unit_test(managers_on_their_own_threads_release_each_others_handles),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
