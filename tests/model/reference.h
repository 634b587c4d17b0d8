// A naive model of a manager: what sections 2 to 10 and 15 of the contract say, in plain arrays and
// loops over everything. It shares no code with the library.
//
// It foretells each operation: status, pool, whether a page comes and how large, which pages go.
// Only where in a sliced pool a request lands it does not foretell (best fit is the library's
// matter); that place it takes over and judges: inside free room of the right pool, aligned. The
// same goes for the moves that a relocation plans.
//
//   reference_reserve   the outcome, before the library is asked
//   reference_place     the place that the library chose => what is wrong with it
#ifndef ACRE_TESTS_MODEL_REFERENCE_H
#define ACRE_TESTS_MODEL_REFERENCE_H

#include <acre/acre.h>

#define MODEL_LAYOUT_POOLS 32u
#define MODEL_PERSISTENT   32u
#define MODEL_DEDICATED    33u
#define MODEL_OUTDATED     34u // from here on: pools of page sizes that an arena grew out of
#define MODEL_PAGE_SIZES   64u
#define MODEL_POOLS        (MODEL_OUTDATED + MODEL_PAGE_SIZES)
#define MODEL_PAGES        2048
#define MODEL_ALLOCATIONS  2048
#define MODEL_WINDOWS      64
#define MODEL_CLAIMS       256

typedef struct model_page {
    bool used;
    uint32_t pool;
    uint32_t name; // the library's
    uint64_t size;
    uint64_t sequence;
    uint32_t live;
    uint32_t found_free; // times in a row
    uint32_t guards;
    bool overdue; // a look found it free but guarded: it counts anew once the guards are gone
    bool mapped;  // has device memory; else it was added in a dry run and not resolved since
    int first;    // allocation with the least offset, -1 = none; they are linked by next
} model_page;

typedef struct model_allocation {
    bool used;
    uint32_t pool;
    int page; // -1 = zero-sized
    int next;
    uint64_t offset;
    uint64_t size;
    uint64_t run; // bytes it blocks: the padded size, or the whole page
    uint64_t padding;
    uint64_t step; // the offset is a multiple of it
    bool target;   // room that a plan holds for a move
    bool bound;    // has a binding in flight; kept for relocations alone
    uint64_t cursor;
    uint32_t tag;
} model_allocation;

typedef struct model_pool {
    acre_pool_options options; // rounded
    uint64_t page_size;        // sliced: shrunk by the cap; adaptive: of the current pages
    uint64_t smallest_page;    // adaptive
    uint64_t next_check;
    acre_usage usage;
    uint64_t pages, pages_peak, bytes_peak;
    uint64_t largest_alloc;
} model_pool;

typedef struct model_device {
    uint64_t total, largest, alignment;
    bool deferred_frees;
    uint64_t held, deferred; // bytes
    uint64_t calls, fail_at;
    bool and_after;
    uint64_t allocs, refused, deallocs;
} model_device;

typedef struct model_request {
    uint64_t size;
    uint64_t alignment;
    acre_page_update update;
    uint32_t tag;
} model_request;

typedef struct model_outcome {
    acre_status status;
    acre_status cause;
    uint64_t capacity, in_use, cause_capacity; // of POOL_CAPACITY_EXCEEDED
    uint64_t size, padded, step;
    uint32_t pool;
    int new_page; // -1 = room that was held
} model_outcome;

// A move of a relocation's plan.
typedef struct model_move {
    int allocation;
    int from, to;    // pages
    int target;      // the allocation that holds its room
    uint64_t offset; // in `to`
    bool bytes;      // there are bytes to copy: the source has memory
} model_move;

// What the need of a relocation is judged by.
typedef struct model_shape {
    uint64_t current_pages, outdated_pools, outdated_pages, outdated_guarded;
} model_shape;

// Bytes of an allocation that a failure claims.
typedef struct model_claim {
    int allocation;
    int failure; // its number, from 1 on
    uint64_t start, end;
} model_claim;

typedef struct model_recent {
    bool valid;
    uint32_t pool;
    int page;
    uint64_t offset, size;
} model_recent;

typedef struct reference {
    model_device device;
    uint64_t alignment, largest_page;
    uint64_t soft_limit, hard_limit; // UINT64_MAX = none
    acre_persistent_memory setting;
    acre_mode base_mode;
    acre_mode windows[MODEL_WINDOWS];
    uint32_t window_count;
    uint32_t dry_runs, real_runs; // open
    uint64_t reservations, reserved, sequence;
    uint32_t pool_count;
    model_pool pools[MODEL_POOLS];
    uint32_t outdated[MODEL_PAGE_SIZES]; // pools, the first left behind first
    uint32_t outdated_count;
    bool in_vain; // the last relocation moved nothing
    model_shape vain_shape;
    model_page pages[MODEL_PAGES];
    int page_end; // no page in use from here on
    model_allocation allocations[MODEL_ALLOCATIONS];
    int allocation_end;
    model_recent recent;              // the sliced run that the latest operation freed
    model_claim claims[MODEL_CLAIMS]; // in no order, of live allocations, none overlapping
    uint32_t claim_count;
    uint64_t pages_added, pages_returned, bytes_added, bytes_returned;
    uint64_t calls_back;
    bool (*out_of_memory)(void *context); // NULL = no callback
    void *out_of_memory_context;
} reference;

// The sum of a and b, or UINT64_MAX.
uint64_t model_sum(uint64_t a, uint64_t b);
uint64_t model_round_up(uint64_t size, uint64_t alignment);

// Fills in the fixed pools. Device, alignment, largest page, limits and setting were set.
void reference_init(reference *ref);

// New dynamic pools, from a caller's list of options or from those of a preset.
void reference_set_layout(reference *ref, const acre_pool_options *options, uint32_t count,
                          bool listed);

model_outcome reference_reserve(reference *ref, const model_request *request);

// Takes over the place of a served request. => NULL, or what is wrong with it.
const char *reference_place(reference *ref, const model_request *request,
                            const model_outcome *outcome, const acre_place *place, int *allocation);

void reference_free(reference *ref, int index);
void reference_cleanup(reference *ref, acre_cleanup cleanup);
acre_status reference_install(reference *ref, const acre_pool_options *options, uint32_t count,
                              uint64_t *in_use);
acre_mode reference_mode(const reference *ref);
void reference_set_mode(reference *ref, acre_mode mode);

// Live allocations in the layout's pools.
uint64_t reference_dynamic_live(const reference *ref);

// Pieces of free room of a pool: how many, of how many bytes, the largest. What guards withhold is
// no free room to a report; a walk over all runs sees it.
void reference_free_room(const reference *ref, uint32_t pool, bool withheld, uint64_t *pieces,
                         uint64_t *bytes, uint64_t *largest);

uint64_t reference_unmapped(const reference *ref, uint32_t pool); // pages

// One guard more, or less, on a page.
void reference_guard(reference *ref, int index);
void reference_unguard(reference *ref, int index);

// What the first use of an allocation's bytes says: a page without memory gets it, whole.
acre_status reference_resolve(reference *ref, int index);

acre_launch_mode reference_launch_mode(const reference *ref);

// ---- relocation ----------------------------------------------------------------------------

uint32_t reference_arena(const reference *ref); // the adaptive pool; MODEL_POOLS = none
model_shape reference_shape(const reference *ref);
acre_relocation_need reference_relocation_need(const reference *ref);

// A relocation ended.
void reference_remember(reference *ref, bool moved_nothing);

// Whether a page may be emptied, as far as guards and bindings go.
bool reference_may_empty(const reference *ref, int page);

// Makes a move of what the library planned. => NULL, or what is wrong with it: `made` are the moves
// before it, `inside`: it may go elsewhere on its own page, `compact`: it may leave current pages.
const char *reference_judge_move(const reference *ref, const acre_relocation_move *planned,
                                 const model_move *made, uint32_t count, bool compact, bool inside,
                                 model_move *move);

// Holds the room of a move: it counts as live.
void reference_place_target(reference *ref, model_move *move);

// The allocation takes the place of its target.
void reference_move(reference *ref, const model_move *move);

// ---- claims of failures --------------------------------------------------------------------

// [start, end) is claimed by a failure in place of others; by none for 0.
void reference_claim(reference *ref, int allocation, uint64_t start, uint64_t end, int failure);

// => the failure that claims the first claimed byte of [start, end); 0 = none
int reference_claimer(const reference *ref, int allocation, uint64_t start, uint64_t end);

void reference_forget_claims(reference *ref, int allocation);
bool reference_is_claimed_by(const reference *ref, int failure); // any byte

// As in reports, and back.
uint32_t model_pool_index(const reference *ref, uint32_t pool);
uint32_t model_pool_of_index(const reference *ref, uint32_t index);

// ---- between its files ---------------------------------------------------------------------

model_pool model_plain_pool(acre_pool_kind kind);

// Whether a pool carves its pages.
static inline bool model_cuts(const model_pool *pool) {
    return pool->options.kind == ACRE_POOL_SLICED || pool->options.kind == ACRE_POOL_ADAPTIVE;
}

void reference_flush(reference *ref);
void reference_return_page(reference *ref, int index);
uint64_t reference_return_free(reference *ref, uint32_t pool); // => how many pages went
acre_status reference_add_page(reference *ref, uint32_t pool, uint64_t size, int *added);

// The two halves of it: whether limit and device give a page, and what counts it.
bool reference_page_is_given(reference *ref, uint64_t size);
int reference_hold_page(reference *ref, uint32_t pool, uint64_t size);

// Free pages of every pool go, flushed. => whether the device has more room now
bool reference_give_back(reference *ref);

// What is due goes: freed dedicated memory, and pages found free five times in a row.
void reference_periodic(reference *ref);

// Whether a pool's rule accepts a size.
bool reference_accepts(const reference *ref, uint32_t pool, uint64_t size);

// reference_room.c: bytes of the page that serves: for exclusive pools the smallest free one; 0 =
// none fits.
uint64_t reference_room(const reference *ref, uint32_t pool, uint64_t padded, uint64_t step);

// => the index of a new allocation, which the caller fills in
int reference_new_allocation(reference *ref);
void reference_trim(reference *ref); // after one ended

// Puts an allocation into the list of its page, by offset, and takes it out.
void reference_link(reference *ref, int index);
void reference_unlink(reference *ref, int index);

// ---- reference_arena.c: the adaptive pool and what it grew out of ---------------------------

// Shapes a pool that was set up from the options of an adaptive one.
void reference_arena_init(const reference *ref, model_pool *pool);

// The page that a request needs which outgrew those of the pool.
uint64_t reference_arena_page(const reference *ref, const model_pool *pool, uint64_t size);

// A page of a new size; with it the pool goes over to that size.
acre_status reference_arena_grow(reference *ref, uint32_t pool, uint64_t size, int *added);

// Free pages of outdated pools go, and pools without pages. => how many pages
uint64_t reference_arena_drain(reference *ref);

#endif
