// Making and ending the manager of a script: a random device, alignment, layout and settings.
#define _POSIX_C_SOURCE 200809L // posix_memalign

#include "model/world.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// cmocka wants these before it.
#include <setjmp.h>

#include <cmocka.h>

void world_fail(const model_world *world, const char *format, ...) {
    char text[512];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    print_error("%s, operation %" PRIu64 " of the %s run: %s\n", world->family->test,
                world->operation, world->watched ? "watched" : "bare", text);
    print_error("again: ACRE_MODEL_SEED=0x%" PRIx64 " ACRE_MODEL_OPERATIONS=1 test_model %s\n",
                world->seed, world->family->test);
    fail();
    abort(); // not reached: fail() leaves the test
}

void *world_count_alloc(void *context, size_t size, size_t alignment) {
    void *memory = NULL;
    if (posix_memalign(&memory, alignment < sizeof memory ? sizeof memory : alignment, size) != 0) {
        return NULL;
    }
    *(int64_t *)context += (int64_t)size;
    return memory;
}

void world_count_free(void *context, void *memory, size_t size, size_t alignment) {
    (void)alignment;
    *(int64_t *)context -= (int64_t)size;
    free(memory);
}

static void listen(void *context, const acre_event *event) {
    model_world *world = context;
    switch (event->kind) {
    case ACRE_EVENT_PAGE_ADD:
        world->pages_added++;
        world->bytes_added += event->size;
        break;
    case ACRE_EVENT_PAGE_RETURN:
        world->pages_returned++;
        world->bytes_returned += event->size;
        break;
    case ACRE_EVENT_RESERVE:
        world->reserves++;
        break;
    case ACRE_EVENT_REFUSE:
        world->refusals++;
        break;
    case ACRE_EVENT_FREE:
        world->frees++;
        break;
    }
}

// ---- layouts -------------------------------------------------------------------------------

static acre_pool_options sliced(model_world *world) {
    model_dice *dice = &world->dice;
    uint64_t largest = world->ref.largest_page;
    uint64_t page = DICE_PICK(dice, 500, 512, 1000, 1024, 4096, 10000, 65536, 1 << 20);
    page = page > largest ? 1 + dice_below(dice, largest) : page;
    acre_pool_options options = ACRE_SLICED_POOL(page);
    if (dice_chance(dice, 50)) {
        options.max_slice_size = DICE_PICK(dice, page / 2, page, page / 16, page * 2, 0);
    }
    if (dice_chance(dice, 45)) {
        options.max_pool_size = DICE_PICK(dice, page, page * 2, page * 3 + 5, page * 8, page / 2,
                                          world->ref.alignment - 1, 0);
    }
    options.strict = dice_chance(dice, 30);
    options.exact_large_slices = dice_chance(dice, 40);
    return options;
}

static acre_pool_options exclusive(model_world *world) {
    model_dice *dice = &world->dice;
    uint64_t largest = world->ref.largest_page;
    acre_pool_options options =
        ACRE_EXCLUSIVE_POOL(DICE_PICK(dice, 0, 700, 5000, largest / 2, largest, ACRE_UNSET));
    if (dice_chance(dice, 45)) {
        options.max_pool_size = DICE_PICK(dice, 0, 2000, 20000, largest, largest * 4);
    }
    return options;
}

// A layout has one at most.
static void put_adaptive(model_world *world, acre_pool_options *pools, uint32_t count) {
    model_dice *dice = &world->dice;
    if (dice_chance(dice, world->family->layout == ACRE_LAYOUT_ADAPTIVE ? 80 : 20)) {
        pools[dice_below(dice, count)] = ACRE_ADAPTIVE_POOL(
            DICE_PICK(dice, ACRE_UNSET, 1, 4096, 1 << 20, 3 << 20, UINT64_C(1) << 40));
    }
}

uint32_t world_random_pools(model_world *world, acre_pool_options *pools, uint32_t capacity) {
    model_dice *dice = &world->dice;
    uint32_t count = 1 + (uint32_t)dice_below(dice, capacity);
    for (uint32_t i = 0; i < count; i++) {
        uint64_t kind = dice_below(dice, 10);
        if (kind < 5) {
            pools[i] = sliced(world);
        } else if (kind < 8) {
            pools[i] = exclusive(world);
        } else {
            pools[i] = ACRE_DIRECT_POOL;
            if (dice_chance(dice, 50)) {
                pools[i].reclaim_at = DICE_PICK(dice, 0, 12 * world->ref.alignment,
                                                40 * world->ref.alignment, 50000, 1 << 20);
            }
            continue;
        }
        if (dice_chance(dice, 40)) {
            pools[i].dealloc_period = DICE_PICK(dice, 0, 3, 5, 25, 100, UINT64_MAX - 1);
        }
    }
    put_adaptive(world, pools, count);
    return count;
}

// The pools of a preset, as the library made them: its numbers are another test's matter.
static uint32_t read_pools(model_world *world, acre_pool_options *pools) {
    size_t count = 0;
    acre_status status = acre_manager_measured_pools(
        world->manager, pools, sizeof(acre_pool_options), MODEL_LAYOUT_POOLS, &count, NULL);
    WORLD_REQUIRE(world, status == ACRE_OK, "the preset has too many pools");
    for (size_t i = 0; i < count; i++) {
        pools[i].max_pool_size = ACRE_UNSET;
        pools[i].measured = false;
    }
    return (uint32_t)count;
}

// ---- opening -------------------------------------------------------------------------------

static void make_device(model_world *world) {
    model_dice *dice = &world->dice;
    model_device *device = &world->ref.device;
    bool tight = world->family->tight;
    acre_simulated_storage_params params = ACRE_SIMULATED_STORAGE_PARAMS_INIT;
    params.alignment = DICE_PICK(dice, 1, 64, 256, 600, 4096, 1 << 21);
    params.deferred_frees = tight && dice_chance(dice, 50);
    uint64_t scale = world_scale(world);
    if (tight && dice_chance(dice, 70)) {
        params.total_memory = scale * DICE_PICK(dice, 4000, 30000, 200000, 1 << 20);
    }
    if (tight && dice_chance(dice, 40)) {
        params.largest_allocation = scale * DICE_PICK(dice, 100, 512, 3000, 65536);
    }
    device->alignment = params.alignment;
    device->total = params.total_memory;
    device->largest = params.largest_allocation;
    device->deferred_frees = params.deferred_frees;
    acre_status status =
        acre_storage_simulated_create(&params, &world->hooks, &world->storage, NULL);
    WORLD_REQUIRE(world, status == ACRE_OK, "no storage");
}

static void make_settings(model_world *world, acre_manager_options *options, acre_config *config) {
    model_dice *dice = &world->dice;
    reference *ref = &world->ref;
    bool preset = world->family->layout != ACRE_LAYOUT_EXPLICIT;
    ref->alignment = DICE_PICK(dice, 1, 10, 32, 50, 256);
    uint64_t largest = preset && dice_chance(dice, 70)
                           ? DICE_PICK(dice, 128 << 20, 100000000, 1 << 30)
                           : DICE_PICK(dice, 1000, 20000, 1 << 20, (1 << 20) + 77, 8 << 20);
    world->creeping = world->family->layout == ACRE_LAYOUT_ADAPTIVE && dice_chance(dice, 25);
    largest = world->creeping ? 1 << 30 : largest;
    ref->largest_page = largest - largest % ref->alignment;
    ref->soft_limit = ref->hard_limit = UINT64_MAX;
    if (world->family->tight && dice_chance(dice, 40)) {
        ref->soft_limit = world_scale(world) * DICE_PICK(dice, 1, 5000, 100000);
        options->soft_limit = ref->soft_limit;
    }
    if (world->family->tight && dice_chance(dice, 40)) {
        ref->hard_limit = world_scale(world) * DICE_PICK(dice, 1, 5000, 100000, 1 << 20);
        options->hard_limit = ref->hard_limit;
    }
    if (world->family->modes) {
        config->persistent_memory = (acre_persistent_memory)dice_below(dice, 4);
        options->base_mode = (acre_mode)(dice_chance(dice, 60) ? 0 : dice_below(dice, 3));
    }
    ref->setting = config->persistent_memory;
    ref->base_mode = options->base_mode;
    options->alignment = ref->alignment;
    options->largest_page = largest;
    options->config = config;
    options->hooks = &world->hooks;
    options->event = listen;
    options->event_context = world;
    if (world->family->tight && dice_chance(dice, 50)) {
        ref->out_of_memory = world_help;
        ref->out_of_memory_context = world;
        options->out_of_memory = world_help_real;
        options->out_of_memory_context = world;
    }
}

static void make_foreign(model_world *world) {
    acre_status status =
        acre_storage_simulated_create(NULL, &world->hooks, &world->other_storage, NULL);
    if (status == ACRE_OK) {
        acre_manager_options options = ACRE_MANAGER_OPTIONS_INIT;
        acre_config config = ACRE_CONFIG_INIT;
        options.config = &config;
        options.hooks = &world->hooks;
        status = acre_manager_create(world->other_storage, &options, &world->other, NULL);
    }
    if (status == ACRE_OK) {
        status = acre_manager_reserve(world->other, 1000, &world->foreign, NULL);
    }
    WORLD_REQUIRE(world, status == ACRE_OK, "no second manager");
}

void world_open(model_world *world, const model_family *family, uint64_t seed, bool watched,
                model_note *notes) {
    memset(world, 0, sizeof *world);
    while (acre_dry_run_is_open()) { // a script that failed left it
        acre_dry_run_end();
    }
    world->family = family;
    world->seed = seed;
    world->watched = watched;
    world->dice.state = seed;
    world->watcher.state = ~seed + watched;
    world->notes = notes;
    world->hooks = ACRE_HOST_HOOKS_INIT;
    world->hooks.alloc = world_count_alloc;
    world->hooks.free = world_count_free;
    world->hooks.context = &world->host_bytes;
    make_device(world);
    acre_manager_options options = ACRE_MANAGER_OPTIONS_INIT;
    acre_config config = ACRE_CONFIG_INIT;
    make_settings(world, &options, &config);
    reference_init(&world->ref);
    acre_pool_options pools[MODEL_LAYOUT_POOLS];
    acre_layout layout = ACRE_LAYOUT_INIT(family->layout);
    if (family->layout == ACRE_LAYOUT_EXPLICIT) {
        layout.pools = pools;
        layout.pool_count = world_random_pools(world, pools, 6);
    }
    options.layout = &layout;
    acre_error error = ACRE_ERROR_INIT;
    acre_status status = acre_manager_create(world->storage, &options, &world->manager, &error);
    WORLD_REQUIRE(world, status == ACRE_OK, "no manager: %s", error.detail);
    uint32_t count = family->layout == ACRE_LAYOUT_EXPLICIT ? (uint32_t)layout.pool_count
                                                            : read_pools(world, pools);
    reference_set_layout(&world->ref, pools, count, family->layout == ACRE_LAYOUT_EXPLICIT);
    make_foreign(world);
    world->guarding = dice_chance(&world->dice, 50);
    world->dry = dice_chance(&world->dice, 50);
    world->claiming = dice_chance(&world->dice, 50);
    world->tiny = dice_chance(&world->dice, 25);
    world->wanted_live = (uint32_t)DICE_PICK(&world->dice, 6, 30, 120);
    bool adaptive = family->layout == ACRE_LAYOUT_ADAPTIVE;
    for (int i = 0; i < MODEL_SIZES; i++) {
        uint64_t bits = adaptive ? 12 + dice_below(&world->dice, 15) : dice_below(&world->dice, 21);
        world->sizes[i] = 1 + dice_below(&world->dice, UINT64_C(1) << bits);
    }
    if (world->creeping) {
        world->tiny = false;
        world->wanted_live = 300;
    }
}

// ---- closing -------------------------------------------------------------------------------

static void let_all_go(model_world *world, bool told) {
    for (int i = 0; i < MODEL_USES; i++) {
        if (world->uses[i].used && told) {
            world_end_use(world, i);
        } else if (world->uses[i].used) {
            acre_binding_release(world->uses[i].resource.binding);
        }
    }
    for (int i = 0; i < MODEL_HANDLES; i++) {
        while (world->handles[i].used && world->handles[i].owners > 0) {
            acre_handle *real = world->handles[i].real;
            if (told) {
                world_drop_owner(world, i);
            } else {
                world->handles[i].owners--;
            }
            acre_handle_release(real);
        }
    }
}

// Half of the managers go while allocations live; the handles are let go afterwards.
void world_close(model_world *world) {
    if (world->plan == NULL && reference_arena(&world->ref) != MODEL_POOLS) {
        world_relocate(world); // it may be left open
    }
    bool empty_first = dice_chance(&world->dice, 50);
    if (empty_first) {
        world_close_plan(world, true);
        let_all_go(world, true);
        world_drop_guards(world);
        acre_manager_cleanup(world->manager, ACRE_CLEANUP_EXPLICIT);
        reference_cleanup(&world->ref, ACRE_CLEANUP_EXPLICIT);
        world_compare_events(world);
        world_compare_reports(world);
        world_check(world);
        WORLD_REQUIRE(world, world->ref.reserved == 0 && world->live == 0,
                      "memory is left after everything went");
    }
    acre_manager_destroy(world->manager);
    acre_storage_stats stats = ACRE_STORAGE_STATS_INIT;
    acre_storage_stats_get(world->storage, &stats);
    WORLD_REQUIRE(world, stats.bytes_allocated == 0 && stats.allocs == stats.deallocs,
                  "the device keeps %" PRIu64 " bytes of a manager that is gone",
                  stats.bytes_allocated);
    acre_storage_destroy(world->storage);
    world_close_plan(world, false);
    if (!empty_first) {
        for (int i = 0; i < MODEL_HANDLES; i++) {
            uint64_t cursor;
            WORLD_REQUIRE(world,
                          !model_handle_is_ours(&world->handles[i]) ||
                              acre_manager_get_cursor(world->other, world->handles[i].real, &cursor,
                                                      NULL) == ACRE_NOT_FOUND,
                          "a handle of a manager that is gone has a cursor");
        }
        let_all_go(world, false);
        world_drop_guards(world); // whose pages are gone
    }
    world_release_failures(world);
    world_close_runs(world);
    acre_handle_release(world->foreign);
    acre_manager_destroy(world->other);
    acre_storage_destroy(world->other_storage);
    WORLD_REQUIRE(world, world->host_bytes == 0, "%" PRId64 " bytes of host memory were not freed",
                  world->host_bytes);
}
