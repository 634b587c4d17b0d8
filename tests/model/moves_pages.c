// What a plan of a relocation did to pages: the model takes over what only the library can decide,
// and judges it by what the device says.
#include "model/moves.h"

#include <inttypes.h>

int world_handle_of(const model_world *world, int allocation) {
    for (int i = 0; i < MODEL_HANDLES; i++) {
        const model_handle *handle = &world->handles[i];
        if (handle->used && handle->state == MODEL_BOUND && handle->allocation == allocation) {
            return i;
        }
    }
    world_fail(world, "an allocation has no handle");
}

// ---- pages ---------------------------------------------------------------------------------

typedef struct page_search {
    model_world *world;
    uint64_t added;
} page_search;

// A page that the model does not know was added for a target.
static void learn_page(void *context, const acre_slice_info *run) {
    page_search *search = context;
    reference *ref = &search->world->ref;
    for (int i = 0; i < ref->page_end; i++) {
        if (ref->pages[i].used && ref->pages[i].name == run->page) {
            return;
        }
    }
    uint32_t arena = reference_arena(ref);
    WORLD_REQUIRE(search->world,
                  run->pool_index == arena && run->page_size == ref->pools[arena].page_size,
                  "a relocation added a page of %" PRIu64 " bytes", run->page_size);
    ref->pages[reference_hold_page(ref, arena, run->page_size)].name = run->page;
    ref->device.held += ref->dry_runs == 0 ? run->page_size : 0;
    ref->device.allocs += ref->dry_runs == 0;
    search->added++;
}

uint64_t world_learn_pages(model_world *world) {
    page_search search = {world, 0};
    acre_manager_visit_slices(world->manager, learn_page, &search);
    return search.added;
}

// ---- device --------------------------------------------------------------------------------

// A page of the current size that may have got memory for a target.
static bool is_lazy(const reference *ref, int page) {
    return ref->pages[page].used && ref->pages[page].pool == reference_arena(ref) &&
           !ref->pages[page].mapped && ref->pages[page].guards == 0;
}

uint64_t world_lazy_pages(const model_world *world) {
    uint64_t lazy = 0;
    for (int i = 0; i < world->ref.page_end; i++) {
        lazy += is_lazy(&world->ref, i);
    }
    return lazy;
}

static acre_storage_stats stats_of(const model_world *world) {
    acre_storage_stats stats = ACRE_STORAGE_STATS_INIT;
    acre_storage_stats_get(world->storage, &stats);
    return stats;
}

bool world_learn_device(model_world *world) {
    model_device *device = &world->ref.device;
    acre_storage_stats stats = stats_of(world);
    uint64_t calls = acre_storage_simulated_calls(world->storage, ACRE_SIMULATED_ALLOC);
    WORLD_REQUIRE(world, stats.refused >= device->refused && calls == stats.allocs + stats.refused,
                  "the device's counters do not add up");
    device->calls = calls;
    device->refused = stats.refused;
    if (stats.allocs == device->allocs) {
        WORLD_REQUIRE(world,
                      stats.bytes_allocated == device->held &&
                          (device->total == 0 || device->held <= device->total),
                      "a relocation holds other bytes than it should");
        return true;
    }
    WORLD_REQUIRE(world,
                  stats.allocs > device->allocs &&
                      stats.allocs - device->allocs <= world_lazy_pages(world),
                  "a relocation took %" PRIu64 " pages from the device, not %" PRIu64, stats.allocs,
                  device->allocs);
    return false;
}

// Resolving what lives on a page tells whether it has memory: then the device is not called.
// => whether it had
static bool ask_page(model_world *world, int page) {
    reference *ref = &world->ref;
    int allocation = ref->pages[page].first;
    const model_handle *handle = &world->handles[world_handle_of(world, allocation)];
    uint64_t calls = ref->device.calls;
    acre_resource resource = ACRE_RESOURCE_INIT;
    acre_status status = acre_manager_resolve(world->manager, handle->real, 0, 0, &resource, NULL);
    bool had = acre_storage_simulated_calls(world->storage, ACRE_SIMULATED_ALLOC) == calls;
    ref->pages[page].mapped = had;
    acre_status expected = reference_resolve(ref, allocation);
    WORLD_REQUIRE(world, status == expected, "a resolve says %s, not %s", acre_status_name(status),
                  acre_status_name(expected));
    return had;
}

// Pages where something lives are asked. The others all have the same size: a cleanup returns
// them, so that only their number matters.
void world_find_memory(model_world *world) {
    reference *ref = &world->ref;
    for (int i = 0; i < MODEL_USES; i++) { // what only they hold has no handle to ask with
        world_end_use(world, i);
    }
    uint64_t unknown = stats_of(world).allocs - ref->device.allocs;
    ref->device.allocs += unknown;
    ref->device.held += unknown * ref->pools[reference_arena(ref)].page_size;
    for (int i = 0; i < ref->page_end; i++) {
        if (is_lazy(ref, i) && ref->pages[i].live > 0) {
            unknown -= ask_page(world, i);
        }
    }
    for (int i = 0; i < ref->page_end && unknown > 0; i++) {
        if (is_lazy(ref, i) && ref->pages[i].live == 0) {
            ref->pages[i].mapped = true;
            unknown--;
        }
    }
    WORLD_REQUIRE(world, unknown == 0, "a relocation put memory behind pages without targets");
    world_clean(world, ACRE_CLEANUP_EXPLICIT);
}
