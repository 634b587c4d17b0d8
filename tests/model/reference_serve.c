// How the model serves a request: who accepts it, what fits, what grows, what fails.
#include "model/reference.h"

// ---- serving -------------------------------------------------------------------------------

static uint64_t growth(const model_pool *pool, uint64_t padded) {
    if (pool->options.kind == ACRE_POOL_ADAPTIVE) {
        return pool->page_size;
    }
    if (pool->options.kind != ACRE_POOL_SLICED ||
        (pool->options.exact_large_slices && padded > pool->page_size / 4)) {
        return padded;
    }
    return pool->page_size;
}

static bool is_full(const model_pool *pool, uint64_t padded) {
    uint64_t cap = pool->options.max_pool_size;
    if (pool->options.kind == ACRE_POOL_ADAPTIVE) {
        return false; // what is too large makes it grow
    }
    return padded > pool->page_size ||
           (cap != ACRE_UNSET && model_sum(pool->usage.reserved, growth(pool, padded)) > cap);
}

// The free pages with the least sequence go until the new one stays within the watermark.
static void reclaim(reference *ref, uint32_t pool, uint64_t padded) {
    bool returned = false;
    while (model_sum(ref->pools[pool].usage.reserved, padded) >
           ref->pools[pool].options.reclaim_at) {
        int oldest = -1;
        for (int i = 0; i < ref->page_end; i++) {
            const model_page *page = &ref->pages[i];
            if (page->used && page->pool == pool && page->live == 0 && page->guards == 0 &&
                (oldest < 0 || page->sequence < ref->pages[oldest].sequence)) {
                oldest = i;
            }
        }
        if (oldest < 0) {
            break;
        }
        reference_return_page(ref, oldest);
        returned = true;
    }
    if (returned) {
        reference_flush(ref);
    }
}

static acre_status grow(reference *ref, uint32_t index, bool allow, model_outcome *outcome) {
    model_pool *pool = &ref->pools[index];
    uint64_t padded = outcome->padded;
    bool outgrown = pool->options.kind == ACRE_POOL_ADAPTIVE && padded > pool->page_size;
    uint64_t size =
        outgrown ? reference_arena_page(ref, pool, outcome->size) : growth(pool, padded);
    if (is_full(pool, padded)) {
        return ACRE_POOL_CAPACITY_EXCEEDED;
    }
    if (allow && model_sum(ref->reserved, size) > ref->soft_limit) {
        reference_give_back(ref);
    }
    if (allow && pool->options.reclaim_at != ACRE_UNSET) {
        reclaim(ref, index, padded);
    }
    if (outgrown) {
        return reference_arena_grow(ref, index, size, &outcome->new_page);
    }
    acre_status status = reference_add_page(ref, index, size, &outcome->new_page);
    if (status == ACRE_OUT_OF_MEMORY && pool->options.exact_large_slices && size != padded) {
        status = reference_add_page(ref, index, padded, &outcome->new_page);
    }
    return status;
}

static acre_status serve_from(reference *ref, uint32_t pool, const model_request *request,
                              model_outcome *outcome) {
    bool forbidden = request->update == ACRE_PAGES_FORBIDDEN;
    outcome->pool = pool;
    if (request->size > ref->largest_page) {
        return forbidden ? ACRE_PAGE_UPDATE_FORBIDDEN : ACRE_BUFFER_TOO_BIG;
    }
    if ((pool != MODEL_DEDICATED || forbidden) &&
        reference_room(ref, pool, outcome->padded, outcome->step) != 0) {
        return ACRE_OK;
    }
    return forbidden ? ACRE_PAGE_UPDATE_FORBIDDEN
                     : grow(ref, pool, request->update == ACRE_PAGES_ALLOW, outcome);
}

static acre_status serve_from_layout(reference *ref, const model_request *request,
                                     model_outcome *outcome) {
    uint32_t refusals = 0;
    acre_status status = ACRE_BUFFER_TOO_BIG;
    for (uint32_t i = 0; i < ref->pool_count; i++) {
        if (!reference_accepts(ref, i, request->size)) {
            continue;
        }
        outcome->pool = i;
        if (reference_room(ref, i, outcome->padded, outcome->step) != 0) {
            return ACRE_OK;
        }
        if (request->update == ACRE_PAGES_FORBIDDEN) {
            if (is_full(&ref->pools[i], outcome->padded)) {
                continue; // an allowed request would spill
            }
            break;
        }
        status = grow(ref, i, request->update == ACRE_PAGES_ALLOW, outcome);
        if (status == ACRE_OK) {
            return status;
        }
        refusals++;
        if (status == ACRE_POOL_CAPACITY_EXCEEDED && refusals == 1) {
            outcome->capacity = ref->pools[i].options.max_pool_size;
            outcome->in_use = ref->pools[i].usage.in_use;
        } else if (status == ACRE_POOL_CAPACITY_EXCEEDED) {
            outcome->cause_capacity = ref->pools[i].options.max_pool_size;
        }
        if (status != ACRE_POOL_CAPACITY_EXCEEDED) {
            break;
        }
    }
    if (request->update == ACRE_PAGES_FORBIDDEN) {
        return ACRE_PAGE_UPDATE_FORBIDDEN;
    }
    if (refusals > 1) { // the first refusal, because of the last
        outcome->cause = status;
        status = ACRE_POOL_CAPACITY_EXCEEDED;
    }
    return status;
}

static bool persistent_has(const reference *ref, uint64_t padded) {
    for (int i = 0; i < ref->page_end; i++) {
        if (ref->pages[i].used && ref->pages[i].pool == MODEL_PERSISTENT &&
            ref->pages[i].size == padded) {
            return true;
        }
    }
    return false;
}

static acre_status serve(reference *ref, const model_request *request, model_outcome *outcome) {
    acre_mode mode = reference_mode(ref);
    outcome->cause = ACRE_OK;
    outcome->capacity = outcome->in_use = outcome->cause_capacity = 0;
    outcome->new_page = -1;
    uint32_t fixed = mode == ACRE_MODE_DEDICATED ? MODEL_DEDICATED : MODEL_PERSISTENT;
    if (request->size == 0) {
        outcome->pool = mode == ACRE_MODE_AUTO ? 0 : fixed;
        return ACRE_OK;
    }
    if (mode != ACRE_MODE_AUTO) {
        return serve_from(ref, fixed, request, outcome);
    }
    if (ref->setting == ACRE_PERSISTENT_SIZE_MATCH && request->size <= ref->largest_page &&
        persistent_has(ref, outcome->padded)) {
        acre_status status = serve_from(ref, MODEL_PERSISTENT, request, outcome);
        if (status != ACRE_PAGE_UPDATE_FORBIDDEN) {
            return status;
        }
    }
    return serve_from_layout(ref, request, outcome);
}

static bool out_of_memory(const model_outcome *outcome) {
    return outcome->status == ACRE_OUT_OF_MEMORY || outcome->cause == ACRE_OUT_OF_MEMORY;
}

// The least common multiple, or UINT64_MAX: no offset but 0 is a multiple of that.
static uint64_t common_step(uint64_t a, uint64_t b) {
    if (a == 0 || b == 0) {
        return 0; // no alignments
    }
    for (uint64_t divisor = a < b ? a : b; divisor > 1; divisor--) {
        if (a % divisor == 0 && b % divisor == 0) {
            return a / divisor > UINT64_MAX / b ? UINT64_MAX : a / divisor * b;
        }
    }
    return a > UINT64_MAX / b ? UINT64_MAX : a * b;
}

model_outcome reference_reserve(reference *ref, const model_request *request) {
    bool allow = request->update == ACRE_PAGES_ALLOW;
    model_outcome outcome = {.new_page = -1};
    if (request->alignment > 1 && request->alignment > ref->device.alignment) {
        outcome.status = ACRE_UNSUPPORTED;
        return outcome;
    }
    outcome.step = common_step(ref->alignment, request->alignment == 0 ? 1 : request->alignment);
    outcome.size = request->size;
    outcome.padded =
        request->size > ref->largest_page ? 0 : model_round_up(request->size, ref->alignment);
    if (allow) {
        reference_periodic(ref);
    }
    ref->reservations += request->update != ACRE_PAGES_FORBIDDEN;
    outcome.status = serve(ref, request, &outcome);
    if (out_of_memory(&outcome) && allow && reference_give_back(ref)) {
        outcome.status = serve(ref, request, &outcome);
    }
    if (out_of_memory(&outcome) && ref->out_of_memory != NULL) {
        ref->calls_back++;
        if (ref->out_of_memory(ref->out_of_memory_context)) {
            if (allow) {
                reference_give_back(ref);
            }
            outcome.status = serve(ref, request, &outcome);
        }
    }
    if (outcome.status != ACRE_OK) {
        ref->recent.valid = false; // no longer the latest operation
    }
    return outcome;
}

// ---- places --------------------------------------------------------------------------------

// => the page of the model that the library names so; the one just added has no name yet.
static int page_of(const reference *ref, const model_outcome *outcome, const acre_place *place) {
    if (outcome->new_page >= 0) {
        return outcome->new_page;
    }
    for (int i = 0; i < ref->page_end; i++) {
        if (ref->pages[i].used && ref->pages[i].name == place->page) {
            return i;
        }
    }
    return -1;
}

static bool is_named(const reference *ref, uint32_t name) {
    for (int i = 0; i < ref->page_end; i++) {
        if (ref->pages[i].used && ref->pages[i].name == name) {
            return true;
        }
    }
    return false;
}

// => what is wrong with a place in a page that the model knows, before it is taken
static const char *judge(const reference *ref, const model_outcome *outcome, int index,
                         const acre_place *place, uint64_t run) {
    const model_page *page = &ref->pages[index];
    bool cuts = model_cuts(&ref->pools[outcome->pool]);
    if (page->pool != outcome->pool) {
        return "the page is another pool's";
    }
    if (page->guards > 0) {
        return "the page is guarded";
    }
    if (place->offset % outcome->step != 0) {
        return "the offset is off an alignment";
    }
    if (place->offset > page->size || run > page->size - place->offset) {
        return "the run leaves its page";
    }
    for (int at = page->first; at >= 0; at = ref->allocations[at].next) {
        const model_allocation *other = &ref->allocations[at];
        if (place->offset < other->offset + other->run && other->offset < place->offset + run) {
            return "two live runs overlap";
        }
    }
    if (!cuts && outcome->new_page < 0 &&
        page->size != reference_room(ref, outcome->pool, outcome->padded, outcome->step)) {
        return "the page is not the smallest free one that fits";
    }
    const model_recent *recent = &ref->recent;
    if (cuts && recent->valid && recent->pool == outcome->pool && recent->size == outcome->padded &&
        recent->offset % outcome->step == 0 &&
        (recent->page != index || recent->offset != place->offset)) {
        return "a freed slice asked for again at once did not come back at its place";
    }
    return NULL;
}

const char *reference_place(reference *ref, const model_request *request,
                            const model_outcome *outcome, const acre_place *place,
                            int *allocation) {
    model_pool *pool = &ref->pools[outcome->pool];
    uint64_t padding = outcome->padded - request->size;
    int page = -1;
    uint64_t run = 0;
    if (place->pool_index != model_pool_index(ref, outcome->pool)) {
        return "another pool than the first that accepts it";
    }
    if (place->size != request->size || place->padding != padding) {
        return "size or padding is off";
    }
    if (request->size != 0) {
        if (outcome->new_page >= 0 && is_named(ref, place->page)) {
            return "a page was added but not used";
        }
        page = page_of(ref, outcome, place);
        if (page < 0) {
            return "the page is unknown: it came unforeseen";
        }
        run = model_cuts(pool) ? outcome->padded : ref->pages[page].size;
        const char *wrong = judge(ref, outcome, page, place, run);
        if (wrong != NULL) {
            return wrong;
        }
        ref->pages[page].name = place->page;
    }
    int index = reference_new_allocation(ref);
    ref->allocations[index] = (model_allocation){.used = true,
                                                 .pool = outcome->pool,
                                                 .page = page,
                                                 .next = -1,
                                                 .offset = place->offset,
                                                 .size = request->size,
                                                 .run = run,
                                                 .padding = padding,
                                                 .step = outcome->step,
                                                 .tag = request->tag};
    if (page >= 0) {
        reference_link(ref, index);
    }
    pool->usage.allocations++;
    pool->usage.in_use += request->size;
    pool->usage.padding += padding;
    if (request->size > pool->largest_alloc) {
        pool->largest_alloc = request->size;
    }
    ref->recent.valid = false;
    *allocation = index;
    return NULL;
}
