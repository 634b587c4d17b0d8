// Figures of the CUDA storage on a real card, as lines "figure <name> <number> <unit>". With the
// path of a driver as its argument it takes that one and small sizes: to see that it works.
#include "support.h"

#include "base/os.h"
#include "storage/cuda/api.h"
#include "storage/storage.h"

enum {
    ROUNDS = 5,
    COPY_ROUNDS = 15,
};

static const char *library;
static acre_cuda_api driver;

static void need(acre_status status, const acre_error *error) {
    if (status != ACRE_OK) {
        char text[512];
        (void)acre_error_format(error, text, sizeof text);
        fprintf(stderr, "%s\n", text);
        exit(status == ACRE_UNSUPPORTED ? 77 : 1);
    }
}

static void figure(const char *name, double number, const char *unit) {
    printf("figure %s %.2f %s\n", name, number, unit);
    (void)fflush(stdout);
}

static acre_storage *make_storage(acre_cuda_memory memory) {
    acre_cuda_storage_params params = ACRE_CUDA_STORAGE_PARAMS_INIT;
    acre_error error = ACRE_ERROR_INIT;
    acre_storage *storage = NULL;
    params.library = library;
    params.memory = memory;
    need(acre_storage_cuda_create(&params, NULL, &storage, &error), &error);
    return storage;
}

static double since(uint64_t start, uint64_t times) {
    return (double)(acre_os_clock() - start) / (double)times;
}

// ---- copies ----------------------------------------------------------------------------------

static void wait_for(acre_storage *storage) {
    acre_error error = ACRE_ERROR_INIT;
    need(acre_storage_wait(storage, &error), &error);
}

typedef enum copy_way {
    BY_STORAGE = 0, // as a relocation does
    BY_CALLS = 1,   // one call of the driver for each slice
    PLAIN = 2,      // one for all
    WAYS = 3,
} copy_way;

static void driver_copy(uint64_t target, uint64_t source, uint64_t size, void *stream) {
    if (driver.copy(target, source, size, stream) != 0) {
        fprintf(stderr, "a copy of the driver's failed\n");
        exit(1);
    }
}

static void storage_copy(acre_storage *storage, uint64_t target, uint64_t source, uint64_t size) {
    acre_error error = ACRE_ERROR_INIT;
    acre_resource from = ACRE_RESOURCE_INIT;
    acre_resource to = ACRE_RESOURCE_INIT;
    from.kind = to.kind = ACRE_RESOURCE_CUDA;
    from.size = to.size = size;
    from.as.cuda = source;
    to.as.cuda = target;
    need(acre_storage_copy(storage, &from, &to, &error), &error);
}

static uint64_t address_of(acre_storage *storage, uint64_t page) {
    acre_error error = ACRE_ERROR_INIT;
    acre_resource resource = ACRE_RESOURCE_INIT;
    need(acre_storage_resource(storage, page, 0, 1, &resource, &error), &error);
    return resource.as.cuda;
}

// All slices, each to a place far from the next one's. => nanoseconds.
static double copy_once(acre_storage *storage, const uint64_t *pages, uint64_t slices,
                        uint64_t slice, copy_way way) {
    acre_error error = ACRE_ERROR_INIT;
    acre_cuda_objects objects = ACRE_CUDA_OBJECTS_INIT;
    acre_cuda_context left = NULL;
    need(acre_storage_cuda_objects(storage, &objects, &error), &error);
    uint64_t source = address_of(storage, pages[0]);
    uint64_t target = address_of(storage, pages[1]);
    (void)driver.context_push(objects.context);
    wait_for(storage);
    uint64_t start = acre_os_clock();
    for (uint64_t i = 0; i < slices && way != PLAIN; i++) {
        uint64_t to = target + i * 7919 % slices * slice;
        if (way == BY_STORAGE) {
            storage_copy(storage, to, source + i * slice, slice);
        } else {
            driver_copy(to, source + i * slice, slice, objects.stream);
        }
    }
    if (way == PLAIN) {
        driver_copy(target, source, slices * slice, objects.stream);
    }
    wait_for(storage);
    double took = since(start, 1);
    (void)driver.context_pop(&left);
    return took;
}

static void copies(uint64_t bytes, uint64_t smallest) {
    acre_storage *storage = make_storage(ACRE_CUDA_PLAIN);
    acre_error error = ACRE_ERROR_INIT;
    uint64_t pages[2];
    for (size_t i = 0; i < 2; i++) {
        need(acre_storage_alloc(storage, bytes, &pages[i], &error), &error);
    }
    for (uint64_t slice = smallest; slice <= bytes / 4; slice *= 4) {
        double best[WAYS] = {1e30, 1e30, 1e30};
        for (int way = 0; way < WAYS; way++) {
            // A card that idles is slow at first.
            (void)copy_once(storage, pages, bytes / slice, slice, (copy_way)way);
            for (int round = 0; round < COPY_ROUNDS; round++) {
                double took = copy_once(storage, pages, bytes / slice, slice, (copy_way)way);
                best[way] = took < best[way] ? took : best[way];
            }
        }
        char name[64];
        const char *ways[WAYS] = {"storage", "driver_calls", "plain"};
        for (int way = 0; way < WAYS; way++) {
            (void)snprintf(name, sizeof name, "copy_%lluk_%s", (unsigned long long)(slice / KIB),
                           ways[way]);
            figure(name, (double)bytes / best[way], "GB/s");
        }
        (void)snprintf(name, sizeof name, "copy_%lluk_of_plain", (unsigned long long)(slice / KIB));
        figure(name, 100 * best[PLAIN] / best[BY_STORAGE], "percent");
    }
    acre_storage_dealloc(storage, pages[0]);
    acre_storage_dealloc(storage, pages[1]);
    acre_storage_destroy(storage);
}

// A relocation as a whole: an arena that grew, with `count` allocations of 1 to 8 units on pages
// that are outdated. The plan and its commit take their time, too.
static void relocation(uint64_t count, uint64_t unit) {
    acre_storage *storage = make_storage(ACRE_CUDA_PLAIN);
    acre_error error = ACRE_ERROR_INIT;
    acre_layout layout = ACRE_LAYOUT_INIT(ACRE_LAYOUT_ADAPTIVE);
    acre_manager_options options = ACRE_MANAGER_OPTIONS_INIT;
    options.layout = &layout;
    acre_relocation_options wanted = ACRE_RELOCATION_OPTIONS_INIT;
    wanted.room = ACRE_RELOCATION_ROOM_MAY_ADD;
    acre_relocation_report report = ACRE_RELOCATION_REPORT_INIT;
    double best = 1e30;
    acre_handle **handles = calloc(count + 1, sizeof *handles);
    for (int round = 0; round < ROUNDS && handles != NULL; round++) {
        acre_manager *manager = NULL;
        need(acre_manager_create(storage, &options, &manager, &error), &error);
        for (uint64_t i = 0; i < count; i++) {
            need(acre_manager_reserve(manager, (1 + i * 5 % 8) * unit, &handles[i], &error),
                 &error);
        }
        need(acre_manager_reserve(manager, count * unit * 5, &handles[count], &error), &error);
        wait_for(storage);
        acre_relocation *plan = NULL;
        need(acre_manager_relocation_plan(manager, &wanted, &plan, &error), &error);
        uint64_t start = acre_os_clock();
        need(acre_relocation_copy(plan, NULL, &error), &error);
        double took = since(start, 1);
        need(acre_relocation_commit(plan, &report, &error), &error);
        acre_relocation_destroy(plan);
        best = took < best ? took : best;
        for (uint64_t i = 0; i <= count; i++) {
            acre_manager_release(manager, handles[i]);
        }
        acre_manager_destroy(manager);
    }
    free(handles);
    figure("relocation_moves", (double)report.moves, "moves");
    figure("relocation_bytes", (double)report.bytes, "bytes");
    figure("relocation_copies", (double)report.bytes / best, "GB/s");
    acre_storage_destroy(storage);
}

// ---- warm reservations -----------------------------------------------------------------------

static double warm(acre_storage *storage) {
    enum {
        TIMES = 1000000
    };
    acre_error error = ACRE_ERROR_INIT;
    acre_manager_options options = ACRE_MANAGER_OPTIONS_INIT;
    acre_manager *manager = NULL;
    acre_handle *handle = NULL;
    options.largest_page = 256 * MIB;
    need(acre_manager_create(storage, &options, &manager, &error), &error);
    need(acre_manager_reserve(manager, 3 * MIB, &handle, &error), &error);
    acre_manager_release(manager, handle);
    double best = 1e30;
    for (int round = 0; round < ROUNDS; round++) {
        uint64_t start = acre_os_clock();
        for (int i = 0; i < TIMES; i++) {
            need(acre_manager_reserve(manager, 3 * MIB, &handle, &error), &error);
            acre_manager_release(manager, handle);
        }
        double took = since(start, TIMES);
        best = took < best ? took : best;
    }
    acre_manager_destroy(manager);
    acre_storage_destroy(storage);
    return best;
}

// ---- growth and remapping ----------------------------------------------------------------------

enum {
    MEMORIES = 128
};

static void growth(acre_storage *storage, uint64_t count) {
    acre_error error = ACRE_ERROR_INIT;
    uint64_t granule = storage->ops.granularity(storage->context);
    uint64_t memories[MEMORIES];
    uint64_t range = 0;
    char name[64];
    need(acre_storage_range_reserve(storage, 2 * count * granule, &range, &error), &error);
    uint64_t start = acre_os_clock();
    for (uint64_t i = 0; i < count; i++) {
        need(acre_storage_memory_create(storage, granule, &memories[i], &error), &error);
    }
    (void)snprintf(name, sizeof name, "growth_%d_create", (int)count);
    figure(name, since(start, 1) / 1000, "us");
    uint64_t calls = acre_storage_calls(storage);
    start = acre_os_clock();
    need(acre_storage_map(storage, range, 0, memories, count, &error), &error);
    (void)snprintf(name, sizeof name, "growth_%d_map", (int)count);
    figure(name, since(start, 1) / 1000, "us");
    // Two calls are the way there, and each memory is one.
    (void)snprintf(name, sizeof name, "growth_%d_access_calls", (int)count);
    figure(name, (double)(acre_storage_calls(storage) - calls - 2 - count), "calls");

    double best = 1e30;
    for (uint64_t round = 0; round < 2 * ROUNDS; round++) {
        uint64_t here = round % 2 * count * granule;
        uint64_t there = (round + 1) % 2 * count * granule;
        start = acre_os_clock();
        need(acre_storage_unmap(storage, range, here, count * granule, &error), &error);
        need(acre_storage_map(storage, range, there, memories, count, &error), &error);
        double took = since(start, 1);
        best = took < best ? took : best;
    }
    (void)snprintf(name, sizeof name, "remap_%d_run", (int)count);
    figure(name, best / 1000, "us");
    (void)snprintf(name, sizeof name, "remap_%d_granule", (int)count);
    figure(name, best / 1000 / (double)count, "us");

    need(acre_storage_unmap(storage, range, 0, count * granule, &error), &error);
    for (uint64_t i = 0; i < count; i++) {
        acre_storage_memory_destroy(storage, memories[i]);
    }
    storage->ops.range_release(storage->context, range);
}

// ---- single operations -------------------------------------------------------------------------

static void pages(acre_cuda_memory memory, const char *way, uint64_t size) {
    enum {
        TIMES = 50
    };
    acre_storage *storage = make_storage(memory);
    acre_error error = ACRE_ERROR_INIT;
    char name[64];
    uint64_t page = 0;
    double alloc = 0;
    double dealloc = 0;
    for (int i = -1; i < TIMES; i++) { // the first one is warm-up
        uint64_t start = acre_os_clock();
        need(acre_storage_alloc(storage, size, &page, &error), &error);
        uint64_t between = acre_os_clock();
        acre_storage_dealloc(storage, page);
        uint64_t end = acre_os_clock();
        alloc += i < 0 ? 0 : (double)(between - start);
        dealloc += i < 0 ? 0 : (double)(end - between);
    }
    (void)snprintf(name, sizeof name, "page_%s_%d_mib_alloc", way, (int)(size / MIB));
    figure(name, alloc / TIMES / 1000, "us");
    (void)snprintf(name, sizeof name, "page_%s_%d_mib_dealloc", way, (int)(size / MIB));
    figure(name, dealloc / TIMES / 1000, "us");
    acre_storage_flush(storage);
    acre_storage_destroy(storage);
}

static void calls(void) {
    enum {
        TIMES = 20000
    };
    acre_storage *storage = make_storage(ACRE_CUDA_PLAIN);
    acre_storage_ops *ops = &storage->ops;
    acre_error error = ACRE_ERROR_INIT;
    acre_cuda_objects objects = ACRE_CUDA_OBJECTS_INIT;
    need(acre_storage_cuda_objects(storage, &objects, &error), &error);
    uint64_t stream = (uint64_t)(uintptr_t)objects.stream;
    uint64_t id = 0;
    uint64_t event = 0;
    uint64_t start = acre_os_clock();
    for (int i = 0; i < TIMES; i++) {
        need(ops->stream_id(storage->context, stream, &id, &error), &error);
    }
    figure("call_stream_id", since(start, TIMES), "ns");
    start = acre_os_clock();
    for (int i = 0; i < TIMES; i++) {
        bool done = false;
        need(ops->event_record(storage->context, stream, &event, &error), &error);
        need(ops->event_done(storage->context, event, &done, &error), &error);
        ops->event_destroy(storage->context, event);
    }
    figure("call_event_record_and_done", since(start, TIMES), "ns");
    start = acre_os_clock();
    for (int i = 0; i < TIMES / 10; i++) {
        wait_for(storage);
    }
    figure("call_wait_idle", since(start, TIMES / 10), "ns");
    acre_storage_destroy(storage);
}

int main(int count, char **arguments) {
    acre_error error = ACRE_ERROR_INIT;
    library = count > 1 ? arguments[1] : NULL;
    need(acre_cuda_open(library, &driver, &error), &error);
    // One storage more keeps the context, which takes long to make.
    acre_storage *keeper = make_storage(ACRE_CUDA_PLAIN);
    copies(library == NULL ? GIB : 16 * MIB, library == NULL ? 64 * KIB : MIB);
    relocation(library == NULL ? 512 : 16, 256 * KIB);
    acre_storage *simulated = NULL;
    need(acre_storage_simulated_create(NULL, NULL, &simulated, &error), &error);
    figure("warm_cuda", warm(make_storage(ACRE_CUDA_PLAIN)), "ns");
    figure("warm_simulated", warm(simulated), "ns");
    if (acre_storage_can_map(keeper)) {
        growth(keeper, 1);
        growth(keeper, 16);
        growth(keeper, MEMORIES);
        pages(ACRE_CUDA_VIRTUAL, "virtual", 64 * MIB);
    }
    pages(ACRE_CUDA_PLAIN, "plain", 64 * MIB);
    pages(ACRE_CUDA_STREAM_ORDERED, "ordered", 64 * MIB);
    calls();
    acre_storage_destroy(keeper);
    return 0;
}
