#include "base/slab.h"

#include <assert.h>
#include <string.h>

void acre_slab_init(acre_slab *slab, acre_host *host, void *owner, size_t record_size) {
    assert(record_size % 16 == 0 && record_size >= 16 && record_size <= 1024);
    memset(slab, 0, sizeof *slab);
    slab->host = host;
    slab->owner = owner;
    slab->record_units = (uint32_t)(record_size / 16);
}

void acre_slab_destroy(acre_slab *slab) {
    for (uint32_t i = 0; i < slab->chunk_count; i++) {
        acre_host_free(slab->host, acre_slab_chunk_at(slab, i), ACRE_SLAB_CHUNK_SIZE,
                       ACRE_SLAB_CHUNK_SIZE);
    }
    acre_host_free(slab->host, slab->bases, slab->chunk_capacity * sizeof *slab->bases,
                   _Alignof(max_align_t));
    slab->bases = NULL;
    slab->chunk_count = slab->chunk_capacity = 0;
}

// Records never used stay on offer: those of the old chunk go to the free list, newest last, so
// that names are still taken in address order.
static void keep_fresh(acre_slab *slab) {
    while (slab->fresh_end != slab->fresh) {
        slab->fresh_end -= slab->record_units;
        *acre_slab_link(slab, slab->fresh_end) = slab->free_head;
        slab->free_head = slab->fresh_end;
    }
}

bool acre_slab_add_chunk(acre_slab *slab) {
    if (slab->chunk_count >= UINT32_C(1) << 18) { // names keep their two highest bits for marks
        return false;
    }
    if (!acre_host_grow(slab->host, &slab->bases, sizeof *slab->bases, slab->chunk_count,
                        slab->chunk_count + 1, &slab->chunk_capacity)) {
        return false;
    }
    acre_slab_chunk *chunk =
        acre_host_alloc(slab->host, ACRE_SLAB_CHUNK_SIZE, ACRE_SLAB_CHUNK_SIZE);
    if (chunk == NULL) {
        return false;
    }
    keep_fresh(slab);
    chunk->owner = slab->owner;
    chunk->side = NULL;
    chunk->base = slab->chunk_count << 12;
    slab->bases[slab->chunk_count] =
        (uintptr_t)chunk - (uintptr_t)slab->chunk_count * ACRE_SLAB_CHUNK_SIZE;
    slab->chunk_count++;
    // The header keeps every name of a record above its chunk's base, so that none is 0.
    uint32_t records = (uint32_t)((ACRE_SLAB_CHUNK_SIZE - sizeof *chunk) / 16) / slab->record_units;
    slab->fresh = chunk->base + (uint32_t)(sizeof *chunk / 16);
    slab->fresh_end = slab->fresh + records * slab->record_units;
    slab->capacity += records;
    return true;
}

bool acre_slab_prepare_more(acre_slab *slab, uint32_t count) {
    if (acre_slab_add_chunk(slab)) {
        return true;
    }
    for (uint32_t name = slab->free_head; name != 0; name = *acre_slab_link(slab, name)) {
        if (--count == 0) {
            return true;
        }
    }
    return count <= (slab->fresh_end - slab->fresh) / slab->record_units;
}

uint64_t acre_slab_live(const acre_slab *slab) {
    uint64_t live = slab->capacity - (slab->fresh_end - slab->fresh) / slab->record_units;
    for (uint32_t name = slab->free_head; name != 0; name = *acre_slab_link(slab, name)) {
        live--;
    }
    return live;
}
