// Relocations in the model: when one is needed, which moves are legal, what they do.
#include "model/reference.h"

uint32_t reference_arena(const reference *ref) {
    for (uint32_t i = 0; i < ref->pool_count; i++) {
        if (ref->pools[i].options.kind == ACRE_POOL_ADAPTIVE) {
            return i;
        }
    }
    return MODEL_POOLS;
}

// ---- need ----------------------------------------------------------------------------------

model_shape reference_shape(const reference *ref) {
    model_shape shape = {ref->pools[reference_arena(ref)].pages, ref->outdated_count, 0, 0};
    for (int i = 0; i < ref->page_end; i++) {
        const model_page *page = &ref->pages[i];
        bool outdated = page->used && page->pool >= MODEL_OUTDATED;
        shape.outdated_pages += outdated;
        shape.outdated_guarded += outdated && page->guards > 0;
    }
    return shape;
}

static bool same_shape(const model_shape *a, const model_shape *b) {
    return a->current_pages == b->current_pages && a->outdated_pools == b->outdated_pools &&
           a->outdated_pages == b->outdated_pages && a->outdated_guarded == b->outdated_guarded;
}

acre_relocation_need reference_relocation_need(const reference *ref) {
    uint32_t arena = reference_arena(ref);
    if (arena == MODEL_POOLS || ref->outdated_count == 0) {
        return ACRE_RELOCATION_NOT_NEEDED;
    }
    model_shape shape = reference_shape(ref);
    if (ref->in_vain && same_shape(&shape, &ref->vain_shape)) {
        return ACRE_RELOCATION_NOT_NEEDED;
    }
    if (ref->outdated_count + 1 == MODEL_PAGE_SIZES) {
        return ACRE_RELOCATION_ARENA_FULL;
    }
    uint64_t page = ref->pools[arena].page_size; // held + page > total - page
    bool is_short = ref->device.total != 0 && ref->device.held + 2 * page > ref->device.total;
    return is_short ? ACRE_RELOCATION_SHORT_OF_ROOM : ACRE_RELOCATION_NOT_NEEDED;
}

void reference_remember(reference *ref, bool moved_nothing) {
    ref->in_vain = moved_nothing;
    if (moved_nothing) {
        ref->vain_shape = reference_shape(ref);
    }
}

// ---- moves ---------------------------------------------------------------------------------

bool reference_may_empty(const reference *ref, int index) {
    const model_page *page = &ref->pages[index];
    bool bound = false;
    for (int at = page->first; at >= 0; at = ref->allocations[at].next) {
        bound = bound || ref->allocations[at].bound;
    }
    return page->guards == 0 && !bound;
}

static int page_named(const reference *ref, uint32_t name) {
    for (int i = 0; i < ref->page_end; i++) {
        if (ref->pages[i].used && ref->pages[i].name == name) {
            return i;
        }
    }
    return -1;
}

static int allocation_at(const reference *ref, int page, uint64_t offset) {
    for (int at = ref->pages[page].first; at >= 0; at = ref->allocations[at].next) {
        if (ref->allocations[at].offset == offset) {
            return at;
        }
    }
    return -1;
}

static bool overlap(uint64_t a, uint64_t a_size, uint64_t b, uint64_t b_size) {
    return a < b + b_size && b < a + a_size;
}

static const char *judge_target(const reference *ref, const model_move *move,
                                const model_move *made, uint32_t count) {
    const model_allocation *moved = &ref->allocations[move->allocation];
    const model_page *page = &ref->pages[move->to];
    if (page->pool != reference_arena(ref)) {
        return "its target is not in the current pool";
    }
    if (page->guards > 0) {
        return "its target is on a guarded page";
    }
    if (move->offset > page->size || moved->run > page->size - move->offset) {
        return "its target leaves the page";
    }
    if (move->offset % moved->step != 0) {
        return "its target is off an alignment";
    }
    for (int at = page->first; at >= 0; at = ref->allocations[at].next) {
        const model_allocation *other = &ref->allocations[at];
        if (overlap(move->offset, moved->run, other->offset, other->run)) {
            return "its target is not free";
        }
    }
    for (uint32_t i = 0; i < count; i++) {
        if (made[i].to == move->to && overlap(move->offset, moved->run, made[i].offset,
                                              ref->allocations[made[i].allocation].run)) {
            return "its target is another move's";
        }
    }
    return NULL;
}

const char *reference_judge_move(const reference *ref, const acre_relocation_move *planned,
                                 const model_move *made, uint32_t count, bool compact, bool inside,
                                 model_move *move) {
    *move = (model_move){.allocation = -1,
                         .from = page_named(ref, planned->from_page),
                         .to = page_named(ref, planned->to_page),
                         .offset = planned->to_offset};
    if (move->from < 0 || move->to < 0) {
        return "it is from or to an unknown page";
    }
    move->allocation = allocation_at(ref, move->from, planned->from_offset);
    if (move->allocation < 0) {
        return "nothing lives where it is from";
    }
    move->bytes = ref->pages[move->from].mapped;
    uint32_t source = ref->pages[move->from].pool;
    if (planned->size != ref->allocations[move->allocation].size) {
        return "it copies another number of bytes";
    }
    if (source < MODEL_OUTDATED && (!compact || source != reference_arena(ref))) {
        return "it leaves a page that is not outdated";
    }
    if (!reference_may_empty(ref, move->from)) {
        return "it leaves a page with a guard or a binding";
    }
    for (uint32_t i = 0; i < count; i++) {
        if (made[i].allocation == move->allocation) {
            return "it moves what moved already";
        }
        if (!inside && (made[i].to == move->from || made[i].from == move->to)) {
            return "it goes to a page that is emptied";
        }
    }
    if (move->from == move->to && !inside) {
        return "it stays on its page";
    }
    return judge_target(ref, move, made, count);
}

void reference_place_target(reference *ref, model_move *move) {
    model_allocation placed = ref->allocations[move->allocation];
    move->target = reference_new_allocation(ref);
    placed.pool = ref->pages[move->to].pool;
    placed.page = move->to;
    placed.offset = move->offset;
    placed.tag = 0;
    placed.target = placed.bound = true;
    ref->allocations[move->target] = placed;
    reference_link(ref, move->target);
    acre_usage *usage = &ref->pools[placed.pool].usage;
    usage->allocations++;
    usage->in_use += placed.size;
    usage->padding += placed.padding;
}

void reference_move(reference *ref, const model_move *move) {
    model_allocation *moved = &ref->allocations[move->allocation];
    model_allocation *target = &ref->allocations[move->target];
    acre_usage *before = &ref->pools[moved->pool].usage; // where it goes, the target counted
    before->allocations--;
    before->in_use -= moved->size;
    before->padding -= moved->padding;
    reference_unlink(ref, move->allocation);
    reference_unlink(ref, move->target);
    moved->pool = target->pool;
    moved->page = target->page;
    moved->offset = target->offset;
    reference_link(ref, move->allocation);
    target->used = false;
    reference_trim(ref);
    model_pool *after = &ref->pools[moved->pool];
    if (moved->size > after->largest_alloc) {
        after->largest_alloc = moved->size;
    }
}
