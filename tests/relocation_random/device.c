#include "relocation_random/device.h"

#include "support.h"

#define PAGE_ALIGNMENT 4096

struct device_block {
    device_block *next; // once it is dead
    unsigned char *bytes;
    uint64_t size;
};

static bool refuses(device *d, device_call call, acre_error *error) {
    device_fuse *fuse = &d->fuses[call];
    if (fuse->nth == 0 || --fuse->nth > 0) {
        return false;
    }
    fuse->nth = fuse->after ? 1 : 0;
    d->blown++;
    error->native_code = -1;
    return true;
}

static acre_status device_alloc(void *context, uint64_t size, uint64_t *id, acre_error *error) {
    device *d = context;
    if (refuses(d, DEVICE_ALLOC, error)) {
        d->refused++;
        return d->blown % 4 == 0 ? ACRE_BACKEND_ERROR : ACRE_OUT_OF_MEMORY;
    }
    if (d->total > 0 && size > d->total - d->bytes) {
        d->refused++;
        return ACRE_OUT_OF_MEMORY;
    }
    device_block *made = malloc(sizeof *made);
    assert_non_null(made);
    *made = (device_block){.size = size};
    made->bytes = aligned_alloc(PAGE_ALIGNMENT, round_up(size, PAGE_ALIGNMENT));
    assert_non_null(made->bytes);
    d->bytes += size;
    d->allocs++;
    *id = (uintptr_t)made;
    return ACRE_OK;
}

static device_block *block_of(uint64_t id) {
    return (device_block *)(uintptr_t)id; // NOLINT(performance-no-int-to-ptr)
}

static void give_back(device *d, device_block *block) {
    d->bytes -= block->size;
    free(block->bytes);
    free(block);
}

static void device_dealloc(void *context, uint64_t id) {
    device *d = context;
    device_block *block = block_of(id);
    d->deallocs++;
    for (uint64_t at = 0; at < block->size; at += 4096) {
        block->bytes[at] = 0; // no pattern survives here
    }
    if (d->deferred) {
        block->next = d->dead;
        d->dead = block;
    } else {
        give_back(d, block);
    }
}

static void device_flush(void *context) {
    device *d = context;
    while (d->dead != NULL) {
        device_block *next = d->dead->next;
        give_back(d, d->dead);
        d->dead = next;
    }
}

static acre_status device_resource(void *context, uint64_t id, uint64_t offset, uint64_t size,
                                   acre_resource *resource, acre_error *error) {
    device *d = context;
    if (refuses(d, DEVICE_RESOURCE, error)) {
        return ACRE_BACKEND_ERROR;
    }
    const device_block *block = block_of(id);
    assert_true(size > 0 && size <= block->size && offset <= block->size - size);
    resource->kind = ACRE_RESOURCE_HOST;
    resource->size = size;
    resource->as.host = block->bytes + offset;
    return ACRE_OK;
}

// One that is refused may have been half made.
static acre_status device_copy(void *context, const acre_resource *source,
                               const acre_resource *target, acre_error *error) {
    device *d = context;
    const char *from = source->as.host;
    char *to = target->as.host;
    assert_int_equal(source->size, target->size);
    assert_true(from + source->size <= to || to + target->size <= from);
    bool refused = refuses(d, DEVICE_COPY, error);
    memcpy(to, from, refused ? source->size / 2 : source->size);
    d->copies += !refused;
    return refused ? ACRE_BACKEND_ERROR : ACRE_OK;
}

static acre_status device_wait(void *context, acre_error *error) {
    return refuses(context, DEVICE_WAIT, error) ? ACRE_BACKEND_ERROR : ACRE_OK;
}

static uint64_t device_alignment(void *context) {
    (void)context;
    return PAGE_ALIGNMENT;
}

static uint64_t device_bytes(void *context) {
    const device *d = context;
    return d->bytes;
}

static void device_limits(void *context, acre_storage_limits *limits) {
    const device *d = context;
    limits->total_memory = d->total;
}

acre_storage *device_storage(device *d) {
    acre_storage_ops ops = ACRE_STORAGE_OPS_INIT;
    ops.alloc = device_alloc;
    ops.dealloc = device_dealloc;
    ops.flush = device_flush;
    ops.resource = device_resource;
    ops.alignment = device_alignment;
    ops.bytes_allocated = device_bytes;
    ops.limits = device_limits;
    ops.copy = device_copy;
    ops.wait = device_wait;
    acre_storage *storage = NULL;
    assert_ok(acre_storage_create("refusing", &ops, d, NULL, &storage, NULL));
    return storage;
}

void device_disarm(device *d) {
    memset(d->fuses, 0, sizeof d->fuses);
    d->blown = 0;
}

void device_compare(const device *d, const acre_storage *storage) {
    acre_storage_stats stats = stats_of(storage);
    assert_int_equal(stats.allocs, d->allocs);
    assert_int_equal(stats.refused, d->refused);
    assert_int_equal(stats.deallocs, d->deallocs);
    assert_int_equal(stats.bytes_allocated, d->bytes);
    assert_int_equal(stats.copies, d->copies);
}
