// What a script asks for: sizes it likes, sizes at the limits of pools, odd alignments.
#include "model/world.h"

// A size at or beside a limit of some pool.
static uint64_t size_at_a_limit(model_world *world) {
    model_dice *dice = &world->dice;
    const model_pool *pool = &world->ref.pools[dice_below(dice, world->ref.pool_count)];
    const acre_pool_options *options = &pool->options;
    uint64_t limit = 0;
    switch (options->kind) {
    case ACRE_POOL_SLICED:
        limit = DICE_PICK(dice, options->page_size, options->page_size - options->page_size / 5,
                          options->max_slice_size, pool->page_size, pool->page_size / 4);
        break;
    case ACRE_POOL_EXCLUSIVE:
        limit = options->max_alloc_size;
        break;
    case ACRE_POOL_ADAPTIVE:
        limit = dice_chance(dice, 80) ? pool->page_size : world->ref.largest_page;
        break;
    default:
        limit = world->ref.largest_page;
        break;
    }
    uint64_t change = dice_below(dice, 3);
    return dice_chance(dice, 50) ? limit + change : limit - (limit < change ? limit : change);
}

// A little more than a page of the adaptive pool, so that it grows in small steps.
static uint64_t size_beyond_the_pages(model_world *world) {
    uint64_t beyond = 1 + dice_below(&world->dice, UINT64_C(1) << 20);
    for (uint32_t i = 0; i < world->ref.pool_count; i++) {
        if (world->ref.pools[i].options.kind == ACRE_POOL_ADAPTIVE) {
            beyond += world->ref.pools[i].page_size;
        }
    }
    return beyond;
}

static uint64_t random_size(model_world *world) {
    model_dice *dice = &world->dice;
    uint64_t largest = world->ref.largest_page;
    if (world->tiny && dice_chance(dice, 90)) {
        return 1 + dice_below(dice, 8 * world->ref.alignment);
    }
    if (world->creeping) {
        return dice_chance(dice, 30) ? size_beyond_the_pages(world)
                                     : 1 + dice_below(dice, UINT64_C(2) << 20);
    }
    switch (dice_below(dice, 16)) {
    case 0:
        return 0;
    case 1:
        return size_at_a_limit(world);
    case 2:
        return size_at_a_limit(world);
    case 3:
        return dice_chance(dice, 70) ? 1 + dice_below(dice, largest)
                                     : DICE_PICK(dice, largest, largest + 1, UINT64_MAX,
                                                 UINT64_C(1) << 63, UINT64_MAX - 255);
    case 4:
    case 5:
        return 1 + dice_below(dice, UINT64_C(1) << (1 + dice_below(dice, 20)));
    case 6:
    case 7:
    case 8:
        return 1 + dice_below(dice, 8 * world->ref.alignment);
    default:
        return world->sizes[dice_below(dice, MODEL_SIZES)];
    }
}

model_request world_random_request(model_world *world) {
    model_dice *dice = &world->dice;
    model_request request = {.size = random_size(world)};
    if (world->ask_again && dice_chance(dice, 40)) {
        request = world->again;
    }
    world->ask_again = false;
    request.tag = (uint32_t)dice_below(dice, 10);
    uint64_t chance = dice_below(dice, 100);
    request.update = chance < 70   ? ACRE_PAGES_ALLOW
                     : chance < 87 ? ACRE_PAGES_ADD_ONLY
                                   : ACRE_PAGES_FORBIDDEN;
    if (dice_chance(dice, 25)) {
        request.alignment = DICE_PICK(dice, 1, 2, 3, 7, 10, 16, 48, 64, 100, 256, 300, 512, 4096,
                                      world->ref.device.alignment);
        if (dice_chance(dice, 3)) {
            request.alignment =
                DICE_PICK(dice, world->ref.device.alignment + 1, UINT64_C(1) << 63, UINT64_MAX);
        }
    }
    return request;
}
