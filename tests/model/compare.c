// Whether the manager's runs, reports and counters are those of the model.
#include "model/world.h"

#include <inttypes.h>

typedef struct visit {
    const model_world *world;
    uint64_t live, pieces, pages;
    uint64_t end;  // of the run before, in the same page
    uint32_t page; // of the run before
    uint32_t pool_index;
    uint64_t page_size;
    bool any;
} visit;

static void see_page(visit *seen, const acre_slice_info *run) {
    const model_world *world = seen->world;
    WORLD_REQUIRE(world, !seen->any || seen->end == seen->page_size,
                  "the runs of page %" PRIu32 " end before it does", seen->page);
    seen->any = true;
    seen->page = run->page;
    seen->pool_index = run->pool_index;
    seen->page_size = run->page_size;
    seen->end = 0;
    seen->pages++;
    for (int i = 0; i < world->ref.page_end; i++) {
        const model_page *page = &world->ref.pages[i];
        if (page->used && page->name == run->page) {
            WORLD_REQUIRE(world,
                          page->size == run->page_size &&
                              page->pool == model_pool_of_index(&world->ref, run->pool_index),
                          "page %" PRIu32 " has another size or pool", run->page);
            return;
        }
    }
    world_fail(world, "page %" PRIu32 " of pool %d should not be held", run->page,
               (int)run->pool_index);
}

static void see_live(const model_world *world, const acre_slice_info *run) {
    for (int i = 0; i < world->ref.allocation_end; i++) {
        const model_allocation *allocation = &world->ref.allocations[i];
        if (allocation->used && allocation->page >= 0 && allocation->offset == run->offset &&
            world->ref.pages[allocation->page].name == run->page) {
            WORLD_REQUIRE(world,
                          allocation->run == run->size && allocation->size == run->requested &&
                              allocation->tag == run->tag,
                          "the run at %" PRIu64 " of page %" PRIu32 " is another's", run->offset,
                          run->page);
            return;
        }
    }
    world_fail(world, "the run at %" PRIu64 " of page %" PRIu32 " should be free", run->offset,
               run->page);
}

static void see(void *context, const acre_slice_info *run) {
    visit *seen = context;
    if (!seen->any || run->page != seen->page) {
        see_page(seen, run);
    }
    WORLD_REQUIRE(seen->world, run->offset == seen->end && run->size > 0,
                  "the runs of page %" PRIu32 " do not tile it", run->page);
    seen->end += run->size;
    if (run->live) {
        seen->live++;
        see_live(seen->world, run);
    } else {
        seen->pieces++;
    }
}

void world_compare_runs(model_world *world) {
    const reference *ref = &world->ref;
    visit seen = {.world = world};
    acre_manager_visit_slices(world->manager, see, &seen);
    uint64_t live = 0;
    uint64_t pages = 0;
    uint64_t pieces = 0;
    for (int i = 0; i < ref->allocation_end; i++) {
        live += ref->allocations[i].used && ref->allocations[i].page >= 0;
    }
    for (uint32_t pool = 0; pool < MODEL_POOLS; pool++) {
        if (ref->pools[pool].pages > 0) {
            uint64_t some, bytes, largest;
            reference_free_room(ref, pool, true, &some, &bytes, &largest);
            pieces += some;
            pages += ref->pools[pool].pages;
        }
    }
    WORLD_REQUIRE(world, live == seen.live && pages == seen.pages && pieces == seen.pieces,
                  "%" PRIu64 " live runs, %" PRIu64 " pages, %" PRIu64
                  " free pieces instead of %" PRIu64 ", %" PRIu64 ", %" PRIu64,
                  seen.live, seen.pages, seen.pieces, live, pages, pieces);
    WORLD_REQUIRE(world, !seen.any || seen.end == seen.page_size, "the last page ends early");
}

void world_compare_events(const model_world *world) {
    const reference *ref = &world->ref;
    WORLD_REQUIRE(world,
                  world->pages_added == ref->pages_added && world->bytes_added == ref->bytes_added,
                  "%" PRIu64 " pages of %" PRIu64 " bytes came so far, not %" PRIu64 " of %" PRIu64,
                  world->pages_added, world->bytes_added, ref->pages_added, ref->bytes_added);
    WORLD_REQUIRE(world,
                  world->pages_returned == ref->pages_returned &&
                      world->bytes_returned == ref->bytes_returned,
                  "%" PRIu64 " pages of %" PRIu64 " bytes went so far, not %" PRIu64 " of %" PRIu64,
                  world->pages_returned, world->bytes_returned, ref->pages_returned,
                  ref->bytes_returned);
    WORLD_REQUIRE(world, world->calls_back == ref->calls_back,
                  "the out-of-memory callback was called %" PRIu64 " times, not %" PRIu64,
                  world->calls_back, ref->calls_back);
    WORLD_REQUIRE(world,
                  world->reserves == world->reserves_foretold &&
                      world->refusals == world->refusals_foretold,
                  "a reservation was not told to the listener");
}

static bool same_usage(const acre_usage *a, const acre_usage *b) {
    return a->allocations == b->allocations && a->in_use == b->in_use && a->padding == b->padding &&
           a->reserved == b->reserved;
}

static void compare_pool(model_world *world, uint32_t pool, acre_usage *sum, uint64_t *pages) {
    const model_pool *expected = &world->ref.pools[pool];
    acre_pool_report report = ACRE_POOL_REPORT_INIT;
    acre_status status = acre_manager_pool_report(
        world->manager, model_pool_index(&world->ref, pool), &report, NULL);
    WORLD_REQUIRE(world, status == ACRE_OK, "no report of pool %" PRIu32, pool);
    WORLD_REQUIRE(world,
                  report.kind == expected->options.kind &&
                      report.page_size == expected->page_size &&
                      report.max_pool_size == expected->options.max_pool_size &&
                      report.dealloc_period == expected->options.dealloc_period &&
                      report.reclaim_at == expected->options.reclaim_at,
                  "pool %" PRIu32 " has another shape", pool);
    WORLD_REQUIRE(world, same_usage(&report.usage, &expected->usage),
                  "pool %" PRIu32 ": %" PRIu64 " allocations, in use %" PRIu64 ", padding %" PRIu64
                  ", reserved %" PRIu64 " instead of %" PRIu64 ", %" PRIu64 ", %" PRIu64
                  ", %" PRIu64,
                  pool, report.usage.allocations, report.usage.in_use, report.usage.padding,
                  report.usage.reserved, expected->usage.allocations, expected->usage.in_use,
                  expected->usage.padding, expected->usage.reserved);
    WORLD_REQUIRE(world,
                  report.pages == expected->pages && report.pages_peak == expected->pages_peak &&
                      report.bytes_peak == expected->bytes_peak &&
                      report.largest_alloc == expected->largest_alloc,
                  "pool %" PRIu32 ": pages or marks are off", pool);
    WORLD_REQUIRE(world, report.pages_unmapped == reference_unmapped(&world->ref, pool),
                  "pool %" PRIu32 ": %" PRIu64 " pages without memory, not %" PRIu64, pool,
                  report.pages_unmapped, reference_unmapped(&world->ref, pool));
    uint64_t outdated = 0;
    for (uint32_t i = 0; i < world->ref.outdated_count; i++) {
        outdated += world->ref.pools[world->ref.outdated[i]].pages;
    }
    outdated = expected->options.kind == ACRE_POOL_ADAPTIVE ? outdated : 0;
    WORLD_REQUIRE(world, report.outdated_pages == outdated,
                  "pool %" PRIu32 ": %" PRIu64 " outdated pages, not %" PRIu64, pool,
                  report.outdated_pages, outdated);
    uint64_t pieces, bytes, largest;
    reference_free_room(&world->ref, pool, false, &pieces, &bytes, &largest);
    WORLD_REQUIRE(world, report.free_slices == pieces && report.largest_free == largest,
                  "pool %" PRIu32 ": %" PRIu64 " free pieces up to %" PRIu64 " instead of %" PRIu64
                  " up to %" PRIu64,
                  pool, report.free_slices, report.largest_free, pieces, largest);
    sum->allocations += report.usage.allocations;
    sum->in_use += report.usage.in_use;
    sum->padding += report.usage.padding;
    sum->reserved += report.usage.reserved;
    *pages += report.pages;
}

void world_compare_reports(model_world *world) {
    const reference *ref = &world->ref;
    acre_report report = ACRE_REPORT_INIT;
    acre_usage sum = {0, 0, 0, 0};
    uint64_t pages = 0;
    for (uint32_t pool = 0; pool < ref->pool_count; pool++) {
        compare_pool(world, pool, &sum, &pages);
    }
    for (uint32_t i = 0; i < ref->outdated_count; i++) {
        compare_pool(world, ref->outdated[i], &sum, &pages);
    }
    compare_pool(world, MODEL_PERSISTENT, &sum, &pages);
    compare_pool(world, MODEL_DEDICATED, &sum, &pages);
    acre_manager_report(world->manager, &report);
    WORLD_REQUIRE(world, same_usage(&report.usage, &sum) && report.pages == pages,
                  "the manager's report is not the sum of its pools'");
    WORLD_REQUIRE(
        world,
        report.reservations == ref->reservations &&
            report.pool_count == ref->pool_count + ref->outdated_count &&
            report.bytes_allocated == ref->device.held && report.largest_page == ref->largest_page,
        "%" PRIu64 " reservations and %" PRIu64 " device bytes instead of %" PRIu64 " and %" PRIu64,
        report.reservations, report.bytes_allocated, ref->reservations, ref->device.held);
    acre_storage_stats stats = ACRE_STORAGE_STATS_INIT;
    acre_storage_stats_get(world->storage, &stats);
    WORLD_REQUIRE(world,
                  stats.allocs == ref->device.allocs && stats.refused == ref->device.refused &&
                      stats.deallocs == ref->device.deallocs &&
                      acre_storage_simulated_calls(world->storage, ACRE_SIMULATED_ALLOC) ==
                          ref->device.calls,
                  "the device was asked more or less often than it should");
    WORLD_REQUIRE(world, world->frees == world->frees_foretold,
                  "%" PRIu64 " frees were told, not %" PRIu64, world->frees, world->frees_foretold);
    char text[256];
    acre_report_format format = (acre_report_format)dice_below(&world->watcher, 3);
    WORLD_REQUIRE(world, acre_manager_report_write(world->manager, format, text, sizeof text) > 0,
                  "the report is empty");
}

void world_check(model_world *world) {
    acre_error error = ACRE_ERROR_INIT;
    acre_status status = acre_manager_check(world->manager, &error);
    WORLD_REQUIRE(world, status == ACRE_OK, "the validator says: %s", error.detail);
}
