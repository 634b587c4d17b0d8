// Releases on other threads while the owner reserves.
//
//   owner     ---- batch ---> queue ---- batch ---> releasing threads (1 or 2)
//             reserve 4 KiB each            acre_handle_release each
//
// Threads without work sleep, so that the processor time of the program over its pairs is what a
// pair costs; its inverse is the rate per core, whether or not the cores are shared with others.
// Each thread stays on a core, the next one round: threads that wake each other are otherwise put
// on the same one, where they never meet. With 0 threads the owner releases each batch itself.
#include "loops.h"
#include "managers.h"
#include "race.h"

#include <pthread.h>
#include <sched.h>

#define BATCH   4000u // what waking a thread costs counts little in so many
#define BATCHES 4u    // at most so many wait, so that the manager's books stay small
#define ROUNDS  75u   // batches of a pass
#define TEAMS   3u

typedef struct queue {
    pthread_mutex_t lock;
    pthread_cond_t changed;
    acre_handle *handles[BATCHES][BATCH];
    unsigned full[BATCHES]; // indices of batches to release, a stack
    unsigned empty[BATCHES];
    unsigned full_count;
    unsigned empty_count;
    bool over;
} queue;

static void release_batch(acre_handle **batch) {
    for (uint32_t i = 0; i < BATCH; i++) {
        acre_handle_release(batch[i]);
    }
}

static void *run_releasing(void *context) {
    queue *work = context;
    pthread_mutex_lock(&work->lock);
    while (work->full_count > 0 || !work->over) {
        if (work->full_count == 0) {
            pthread_cond_wait(&work->changed, &work->lock);
            continue;
        }
        unsigned batch = work->full[--work->full_count];
        pthread_mutex_unlock(&work->lock);
        release_batch(work->handles[batch]);
        pthread_mutex_lock(&work->lock);
        work->empty[work->empty_count++] = batch;
        pthread_cond_broadcast(&work->changed);
    }
    pthread_mutex_unlock(&work->lock);
    return NULL;
}

static void reserve_batch(acre_manager *manager, acre_handle **batch) {
    for (uint32_t i = 0; i < BATCH; i++) {
        batch[i] = NULL;
        if (acre_manager_reserve(manager, 4096, &batch[i], NULL) != ACRE_OK) {
            bench_fail("threads: a request was refused");
        }
    }
}

static void run_owner(acre_manager *manager, queue *work) {
    for (uint32_t round = 0; round < ROUNDS; round++) {
        pthread_mutex_lock(&work->lock);
        while (work->empty_count == 0) {
            pthread_cond_wait(&work->changed, &work->lock);
        }
        unsigned batch = work->empty[--work->empty_count];
        pthread_mutex_unlock(&work->lock);
        reserve_batch(manager, work->handles[batch]);
        pthread_mutex_lock(&work->lock);
        work->full[work->full_count++] = batch;
        pthread_cond_broadcast(&work->changed);
        pthread_mutex_unlock(&work->lock);
    }
    pthread_mutex_lock(&work->lock);
    work->over = true;
    pthread_cond_broadcast(&work->changed);
    pthread_mutex_unlock(&work->lock);
}

// The cores that the program may use.
typedef struct cores {
    cpu_set_t all;
    size_t numbers[CPU_SETSIZE];
    unsigned count;
} cores;

static void find_cores(cores *found) {
    CPU_ZERO(&found->all);
    found->count = 0;
    if (sched_getaffinity(0, sizeof found->all, &found->all) != 0) {
        return; // then nobody is kept anywhere
    }
    for (size_t i = 0; i < CPU_SETSIZE; i++) {
        if (CPU_ISSET(i, &found->all)) {
            found->numbers[found->count++] = i;
        }
    }
}

static void keep_on(const cores *known, pthread_t thread, unsigned number) {
    if (known->count > 0) {
        cpu_set_t one;
        CPU_ZERO(&one);
        CPU_SET(known->numbers[number % known->count], &one);
        pthread_setaffinity_np(thread, sizeof one, &one);
    }
}

typedef struct cost {
    double cpu_ns;  // of a pair, all threads together
    double wall_ns; // of a pair
} cost;

static cost run_pass(acre_manager *manager, queue *work, const cores *known, unsigned threads) {
    pthread_t team[TEAMS];
    double start = bench_now();
    double cpu = bench_process_now();
    work->over = false;
    for (unsigned i = 0; i < threads; i++) {
        if (pthread_create(&team[i], NULL, run_releasing, work) != 0) {
            bench_fail("threads: no thread");
        }
        keep_on(known, team[i], i + 1);
    }
    if (threads == 0) {
        for (uint32_t round = 0; round < ROUNDS; round++) {
            reserve_batch(manager, work->handles[0]);
            release_batch(work->handles[0]);
        }
    } else {
        run_owner(manager, work);
    }
    for (unsigned i = 0; i < threads; i++) {
        pthread_join(team[i], NULL);
    }
    double pairs = (double)ROUNDS * BATCH;
    return (cost){(bench_process_now() - cpu) / pairs, (bench_now() - start) / pairs};
}

static bool wanted(const bench *run, const char *const (*names)[TEAMS]) {
    for (unsigned i = 0; i < 3 * TEAMS; i++) {
        if (names[i / TEAMS][i % TEAMS] != NULL && bench_wants(run, names[i / TEAMS][i % TEAMS])) {
            return true;
        }
    }
    return false;
}

void bench_threads(bench *run) {
    static const char *const names[3][TEAMS] = {
        {"threads.0.acre.ns", "threads.1.acre.ns", "threads.2.acre.ns"},
        {"threads.0.acre.rate", "threads.1.acre.rate", "threads.2.acre.rate"},
        {NULL, "threads.1.acre.percent", "threads.2.acre.percent"}};
    if (!wanted(run, names)) {
        return;
    }
    bench_progress(run, "threads", "0-2");
    static queue work = {.lock = PTHREAD_MUTEX_INITIALIZER, .changed = PTHREAD_COND_INITIALIZER};
    for (unsigned i = 0; i < BATCHES; i++) {
        work.empty[work.empty_count++] = i;
    }
    static cores known;
    find_cores(&known);
    keep_on(&known, pthread_self(), 0);
    bench_manager *on = bench_manager_open_sliced(BENCH_PAGE);
    bench_series series[3][TEAMS] = {0};
    for (int i = -1; i < run->options.repetitions; i++) { // one more, to warm up
        double before = 0;
        for (unsigned threads = 0; threads < TEAMS; threads++) {
            cost took = run_pass(on->manager, &work, &known, threads);
            if (i >= 0) {
                bench_series_add(&series[0][threads], took.cpu_ns);
                bench_series_add(&series[1][threads], 1e9 / took.wall_ns);
                bench_series_add(&series[2][threads], 100 * before / took.cpu_ns);
            }
            before = took.cpu_ns;
        }
    }
    for (unsigned threads = 0; threads < TEAMS; threads++) {
        bench_figure_add(run, names[0][threads], &series[0][threads], "ns");
        bench_figure_add(run, names[1][threads], &series[1][threads], "pairs/s");
        if (threads > 0) {
            bench_figure_add(run, names[2][threads], &series[2][threads], "percent");
        }
    }
    bench_manager_close(on);
    if (known.count > 0) {
        pthread_setaffinity_np(pthread_self(), sizeof known.all, &known.all);
    }
}
