// Section 6, page updates on every layout, in every mode, inside and outside a capture scope:
// forbidden changes nothing at all, add-only gives nothing back and renumbers nothing.
#include "support.h"

typedef struct setting {
    acre_layout_kind layout; // explicit: one direct pool with a watermark
    acre_relocation_policy policy;
    acre_persistent_memory persistent;
    acre_mode mode;
    bool captures;
} setting;

// What lives where.
typedef struct map {
    acre_slice_info live[64];
    size_t count;
} map;

static void draw(void *context, const acre_slice_info *slice) {
    map *drawn = context;
    if (slice->live) {
        assert_true(drawn->count < COUNT_OF(drawn->live));
        drawn->live[drawn->count++] = *slice;
    }
}

static map map_of(acre_manager *manager) {
    map drawn = {.count = 0};
    acre_manager_visit_slices(manager, draw, &drawn);
    return drawn;
}

static bool is_in(const map *drawn, const acre_slice_info *wanted) {
    for (size_t i = 0; i < drawn->count; i++) {
        const acre_slice_info *one = &drawn->live[i];
        if (one->page == wanted->page && one->offset == wanted->offset &&
            one->requested == wanted->requested && one->page_size == wanted->page_size) {
            return true;
        }
    }
    return false;
}

// A manager with something to do as soon as pages may change: idle pages that are due, dedicated
// memory that was freed, pages of sizes outgrown with and without live slices, a soft limit passed.
typedef struct scene {
    rig r;
    acre_capture *scope;
    acre_handle *live[8];
    size_t count;
} scene;

static void keep(scene *s, acre_handle *handle) {
    s->live[s->count++] = handle;
}

static scene scene_of(const setting *chosen) {
    acre_pool_options direct = direct_pool(MIB);
    acre_layout layout = chosen->layout == ACRE_LAYOUT_EXPLICIT ? explicit_layout(&direct, 1)
                                                                : ACRE_LAYOUT_INIT(chosen->layout);
    acre_config config = ACRE_CONFIG_INIT;
    config.persistent_memory = chosen->persistent;
    acre_manager_options options = plain_options(128 * MIB, 32);
    options.layout = &layout;
    options.config = &config;
    options.relocation = chosen->policy;
    scene s = {.r = rig_on(limited_device(GIB, 128 * MIB), &options)};
    acre_manager *manager = s.r.manager;
    keep(&s, take(manager, 300 * KIB));
    keep(&s, take(manager, 5 * MIB));
    acre_handle *freed[] = {take(manager, 4096), take(manager, 9 * MIB)};
    set_mode(manager, ACRE_MODE_PERSISTENT);
    keep(&s, take(manager, MIB));
    acre_handle *weight = take(manager, 2 * MIB);
    set_mode(manager, ACRE_MODE_DEDICATED);
    keep(&s, take(manager, MIB));
    acre_handle *dedicated = take(manager, 2 * MIB);
    set_mode(manager, ACRE_MODE_AUTO); // closes the innermost window, then the other
    set_mode(manager, ACRE_MODE_AUTO);
    set_mode(manager, chosen->mode);
    assert_int_equal(acre_manager_get_mode(manager), chosen->mode);
    if (chosen->captures) {
        assert_ok(acre_manager_capture_create(manager, &s.scope, NULL));
        assert_ok(acre_capture_begin(s.scope, NULL));
        keep(&s, take(manager, 300 * KIB));
    }
    drop_all(manager, freed, COUNT_OF(freed));
    drop_all(manager, (acre_handle *[]){weight, dedicated}, 2);
    acre_manager_set_limits(manager, MIB, 0);
    return s;
}

static void end_scene(scene *s) {
    drop_all(s->r.manager, s->live, s->count);
    acre_capture_destroy(s->scope);
    rig_close(&s->r);
}

static void forbidden_changes_nothing(const setting *chosen) {
    scene s = scene_of(chosen);
    acre_manager *manager = s.r.manager;
    const uint64_t sizes[] = {40 * MIB, 128 * MIB, GIB};
    snapshot before = snapshot_of(manager);
    map drawn = map_of(manager);
    acre_storage_stats device = stats_of(s.r.storage);
    for (size_t i = 0; i < COUNT_OF(sizes); i++) {
        (void)refuse_with(manager, sizes[i], 0, ACRE_PAGES_FORBIDDEN, ACRE_PAGE_UPDATE_FORBIDDEN);
        snapshot after = snapshot_of(manager);
        assert_unchanged(&before, &after);
        map redrawn = map_of(manager);
        assert_int_equal(redrawn.count, drawn.count);
        for (size_t k = 0; k < drawn.count; k++) {
            assert_true(is_in(&redrawn, &drawn.live[k]));
        }
    }
    // One that is served takes room held, and no page comes or goes.
    acre_handle *served = NULL;
    acre_reservation wanted = ACRE_RESERVATION_INIT(MIB);
    wanted.page_update = ACRE_PAGES_FORBIDDEN;
    if (acre_manager_reserve_with(manager, &wanted, &served, NULL) == ACRE_OK) {
        acre_manager_release(manager, served);
    }
    acre_storage_stats now = stats_of(s.r.storage);
    assert_int_equal(now.allocs, device.allocs);
    assert_int_equal(now.deallocs, device.deallocs);
    assert_int_equal(now.copies, device.copies);
    assert_int_equal(usage_of(manager).reserved, before.report.usage.reserved);
    end_scene(&s);
}

static void add_only_gives_nothing_back_and_renumbers_nothing(const setting *chosen) {
    scene s = scene_of(chosen);
    acre_manager *manager = s.r.manager;
    map drawn = map_of(manager);
    acre_storage_stats device = stats_of(s.r.storage);
    const uint64_t sizes[] = {100, 70 * KIB, MIB, 7 * MIB, 20 * MIB, 60 * MIB, 128 * MIB};
    acre_handle *taken[2 * COUNT_OF(sizes)];
    for (size_t i = 0; i < COUNT_OF(taken); i++) {
        taken[i] = take_with(manager, sizes[i % COUNT_OF(sizes)], 0, ACRE_PAGES_ADD_ONLY);
    }
    for (int i = 0; i < 6; i++) { // until the device has no more
        acre_handle *more = NULL;
        acre_reservation wanted = ACRE_RESERVATION_INIT(128 * MIB);
        wanted.page_update = ACRE_PAGES_ADD_ONLY;
        if (acre_manager_reserve_with(manager, &wanted, &more, NULL) != ACRE_OK) {
            break;
        }
        acre_manager_release(manager, more);
    }
    acre_storage_stats now = stats_of(s.r.storage);
    assert_int_equal(now.deallocs, device.deallocs);
    assert_int_equal(now.copies, device.copies);
    map redrawn = map_of(manager);
    for (size_t i = 0; i < drawn.count; i++) {
        assert_true(is_in(&redrawn, &drawn.live[i]));
    }
    drop_all(manager, taken, COUNT_OF(taken));
    end_scene(&s);
}

static void everywhere(void (*holds)(const setting *chosen)) {
    const acre_layout_kind layouts[] = {ACRE_LAYOUT_SUB_SLICES, ACRE_LAYOUT_EXCLUSIVE_PAGES,
                                        ACRE_LAYOUT_ADAPTIVE, ACRE_LAYOUT_EXPLICIT};
    const acre_mode modes[] = {ACRE_MODE_AUTO, ACRE_MODE_PERSISTENT, ACRE_MODE_DEDICATED};
    const acre_persistent_memory settings[] = {ACRE_PERSISTENT_ENABLED, ACRE_PERSISTENT_SIZE_MATCH};
    const acre_relocation_policy policies[] = {ACRE_RELOCATION_NONE, ACRE_RELOCATION_ON_NEED,
                                               ACRE_RELOCATION_COMPACT};
    setting chosen = {.captures = false};
    for (int captures = 0; captures < 2; captures++) {
        chosen.captures = captures == 1;
        for (size_t l = 0; l < COUNT_OF(layouts); l++) {
            chosen.layout = layouts[l];
            for (size_t m = 0; m < COUNT_OF(modes); m++) {
                chosen.mode = modes[m];
                for (size_t p = 0; p < COUNT_OF(settings); p++) {
                    chosen.persistent = settings[p];
                    for (size_t r = 0; r < COUNT_OF(policies); r++) {
                        chosen.policy = policies[r];
                        holds(&chosen);
                    }
                }
            }
        }
    }
}

static void forbidden_changes_nothing_on_any_pool_in_any_mode(void **state) {
    (void)state;
    everywhere(forbidden_changes_nothing);
}

static void add_only_gives_nothing_back_on_any_pool_in_any_mode(void **state) {
    (void)state;
    everywhere(add_only_gives_nothing_back_and_renumbers_nothing);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(forbidden_changes_nothing_on_any_pool_in_any_mode),
        cmocka_unit_test(add_only_gives_nothing_back_on_any_pool_in_any_mode),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
