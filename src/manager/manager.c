// Managers: creation, destruction, limits.
#include "manager/manager.h"

#include "base/error.h"
#include "base/structs.h"

#include <string.h>

static acre_status read_options(acre_manager_options *own, const acre_manager_options *options,
                                acre_error *error) {
    if (options != NULL && !acre_struct_read(own, sizeof *own, options)) {
        return acre_error_set(error, ACRE_UNSUPPORTED,
                              "the manager has options this version does not know");
    }
    if ((unsigned)own->base_mode > ACRE_MODE_DEDICATED) {
        return acre_error_set(error, ACRE_INVALID_ARGUMENT, "no such base_mode: %d",
                              (int)own->base_mode);
    }
    return ACRE_OK;
}

// Relocations of a policy go through the storage's own queue.
static acre_status check_policy(const acre_storage *storage, const acre_manager_options *options,
                                acre_error *error) {
    if ((unsigned)options->relocation > ACRE_RELOCATION_COMPACT) {
        return acre_error_set(error, ACRE_INVALID_ARGUMENT, "no such relocation policy: %d",
                              (int)options->relocation);
    }
    if (options->relocation != ACRE_RELOCATION_NONE && storage->ops.copy == NULL) {
        return acre_error_set(error, ACRE_UNSUPPORTED,
                              "storage %s cannot copy, which a relocation policy needs",
                              storage->name);
    }
    return ACRE_OK;
}

static acre_status read_config(acre_config *config, const acre_config *given, acre_error *error) {
    if (given == NULL) {
        return acre_config_read_environment(config, error);
    }
    if (!acre_struct_read(config, sizeof *config, given)) {
        return acre_error_set(error, ACRE_UNSUPPORTED,
                              "the configuration has fields this version does not know");
    }
    if ((unsigned)config->persistent_memory > ACRE_PERSISTENT_ENFORCED ||
        (unsigned)config->log_level > ACRE_LOG_FULL) {
        return acre_error_set(error, ACRE_INVALID_ARGUMENT,
                              "the configuration's persistent_memory or log_level is out of range");
    }
    config->log_target[sizeof config->log_target - 1] = '\0';
    return ACRE_OK;
}

// Alignment, largest page and total memory, from the options or the device.
static void measure_device(acre_manager *manager, const acre_manager_options *options) {
    acre_heap *heap = &manager->heap;
    const acre_storage_limits *limits = &heap->storage->limits;
    heap->alignment = options->alignment;
    if (heap->alignment == 0) {
        heap->alignment =
            limits->slice_alignment != 0 ? limits->slice_alignment : heap->storage->alignment;
    }
    heap->alignment_mask = acre_is_power_of_two(heap->alignment) ? heap->alignment - 1 : 0;
    manager->total_memory =
        options->total_memory != 0 ? options->total_memory : limits->total_memory;
    uint64_t largest = options->largest_page;
    if (largest == 0) {
        largest = limits->largest_allocation;
    }
    if (largest == 0) {
        largest = manager->total_memory;
    }
    if (largest == 0) {
        largest = UINT64_C(1) << 47; // unknown: as large as an address space
    }
    heap->largest_page = acre_max(acre_round_down(largest, heap->alignment), heap->alignment);
}

static void init_fixed_pools(acre_manager *manager) {
    acre_error ignored; // exact pools without options have nothing to refuse
    acre_pool_options options =
        ACRE_POOL_OPTIONS_INIT(ACRE_POOL_PERSISTENT, ACRE_UNSET, ACRE_UNSET);
    (void)!acre_pool_init(&manager->persistent, &manager->heap, ACRE_POOL_INDEX_PERSISTENT,
                          &options, &ignored);
    options.kind = ACRE_POOL_DEDICATED;
    (void)!acre_pool_init(&manager->dedicated, &manager->heap, ACRE_POOL_INDEX_DEDICATED, &options,
                          &ignored);
    manager->dedicated.returns_at_once = true;
    manager->persistent_sizes.host = acre_manager_host(manager);
    if (manager->config.persistent_memory == ACRE_PERSISTENT_SIZE_MATCH) {
        manager->persistent.sizes = &manager->persistent_sizes;
    }
}

static void init(acre_manager *manager, acre_storage *storage,
                 const acre_manager_options *options) {
    acre_heap *heap = &manager->heap;
    heap->host = acre_manager_host(manager);
    heap->storage = storage;
    heap->hard_limit = options->hard_limit == 0 ? UINT64_MAX : options->hard_limit;
    acre_slab_init(&heap->slices, heap->host, manager, sizeof(acre_slice));
    acre_slab_init(&heap->pages, heap->host, manager, sizeof(acre_page));
    measure_device(manager, options);
    manager->soft_limit = options->soft_limit == 0 ? UINT64_MAX : options->soft_limit;
    manager->out_of_memory = options->out_of_memory;
    manager->out_of_memory_context = options->out_of_memory_context;
    manager->event_mask = options->event_mask == 0 ? UINT32_MAX : options->event_mask;
    manager->event = options->event;
    manager->event_context = options->event_context;
    if (manager->event != NULL &&
        (manager->event_mask & (ACRE_EVENT_PAGE_ADD | ACRE_EVENT_PAGE_RETURN)) != 0) {
        heap->event = options->event;
        heap->event_mask = manager->event_mask;
        heap->event_context = options->event_context;
    }
    manager->told =
        acre_log_wants(&manager->log, ACRE_LOG_FULL) ||
        (manager->event != NULL &&
         (manager->event_mask & (ACRE_EVENT_RESERVE | ACRE_EVENT_REFUSE | ACRE_EVENT_FREE)) != 0);
    init_fixed_pools(manager);
    manager->relocation_policy = options->relocation;
    manager->base_mode = options->base_mode;
    if (manager->base_mode == ACRE_MODE_AUTO &&
        manager->config.persistent_memory == ACRE_PERSISTENT_ENFORCED) {
        manager->base_mode = ACRE_MODE_PERSISTENT;
    }
    acre_manager_apply_mode(manager);
}

static acre_status create(acre_storage *storage, const acre_manager_options *options,
                          acre_manager **manager, acre_error *error) {
    acre_manager_options own = ACRE_MANAGER_OPTIONS_INIT;
    acre_config config = ACRE_CONFIG_INIT;
    acre_host host;
    if (storage == NULL) {
        return acre_error_set(error, ACRE_INVALID_ARGUMENT, "the manager needs a storage");
    }
    acre_status status = read_options(&own, options, error);
    if (status == ACRE_OK) {
        status = check_policy(storage, &own, error);
    }
    if (status == ACRE_OK) {
        status = read_config(&config, own.config, error);
    }
    if (status == ACRE_OK) {
        status = acre_host_init(&host, own.hooks, error);
    }
    if (status != ACRE_OK) {
        return status;
    }
    acre_home *home = acre_home_create(&host);
    if (home == NULL) {
        return acre_error_refuse(error, ACRE_OUT_OF_HOST_MEMORY, sizeof *home);
    }
    acre_manager *made = acre_host_alloc_zeroed(&home->host, sizeof *made, _Alignof(acre_manager));
    if (made == NULL) {
        acre_home_close(home);
        return acre_error_refuse(error, ACRE_OUT_OF_HOST_MEMORY, sizeof *made);
    }
    made->home = home;
    made->config = config;
    status = acre_log_open(&made->log, &config, own.name, own.log, own.log_context, error);
    if (status == ACRE_OK) {
        init(made, storage, &own);
        acre_pool_set set;
        status = acre_layout_build(made, own.layout, &set, error);
        if (status == ACRE_OK) {
            acre_layout_adopt(made, &set);
            *manager = made;
            return ACRE_OK;
        }
    }
    acre_manager_destroy(made);
    return status;
}

acre_status acre_manager_create(acre_storage *storage, const acre_manager_options *options,
                                acre_manager **manager, acre_error *error) {
    acre_error local;
    acre_error *detail = acre_error_open(error, &local);
    return acre_error_close(error, detail, create(storage, options, manager, detail));
}

void acre_manager_destroy(acre_manager *manager) {
    if (manager == NULL) {
        return;
    }
    acre_home *home = manager->home;
    acre_heap *heap = &manager->heap;
    if (heap->storage != NULL) { // creation came that far
        acre_relocation_leave_all(manager);
        acre_manager_take_pending(manager);
        acre_manager_clear_all_claims(manager);
        acre_capture_leave_all(manager);
        acre_layout_unbuild(manager, &manager->layout);
        acre_pool_destroy(&manager->persistent);
        acre_pool_destroy(&manager->dedicated);
        acre_size_counts_destroy(&manager->persistent_sizes);
        acre_storage_flush(heap->storage);
        acre_slab_destroy(&heap->slices);
        acre_slab_destroy(&heap->pages);
    }
    acre_host_free(&home->host, manager->windows, manager->window_capacity, _Alignof(max_align_t));
    acre_log_close(&manager->log);
    acre_host_free(&home->host, manager, sizeof *manager, _Alignof(acre_manager));
    acre_home_close(home);
}

void acre_manager_set_limits(acre_manager *manager, uint64_t soft_limit, uint64_t hard_limit) {
    acre_manager_take_pending(manager);
    manager->soft_limit = soft_limit == 0 ? UINT64_MAX : soft_limit;
    manager->heap.hard_limit = hard_limit == 0 ? UINT64_MAX : hard_limit;
}
