#include "base/slab.h"

#include <assert.h>
#include <string.h>

void acre_slab_init(acre_slab *slab, acre_host *host, void *owner, size_t record_size,
                    size_t link_offset) {
    assert(record_size % 8 == 0 && record_size <= 1024 && link_offset + 4 <= record_size);
    memset(slab, 0, sizeof *slab);
    slab->host = host;
    slab->owner = owner;
    slab->record_size = (uint32_t)record_size;
    slab->link_offset = (uint32_t)link_offset;
    slab->per_chunk = (uint32_t)((ACRE_SLAB_CHUNK_SIZE - sizeof(acre_slab_chunk)) / record_size);
    slab->shift = acre_log2(slab->per_chunk - 1) + 1;
}

void acre_slab_destroy(acre_slab *slab) {
    for (uint32_t i = 0; i < slab->chunk_count; i++) {
        acre_host_free(slab->host, slab->chunks[i], ACRE_SLAB_CHUNK_SIZE, ACRE_SLAB_CHUNK_SIZE);
    }
    acre_host_free(slab->host, slab->chunks, slab->chunk_capacity * sizeof *slab->chunks,
                   _Alignof(max_align_t));
    slab->chunks = NULL;
    slab->chunk_count = slab->chunk_capacity = 0;
}

// Records never used stay on offer: those of the old chunk go to the free list, newest last, so
// that names are still taken in address order.
static void keep_fresh(acre_slab *slab) {
    while (slab->fresh_count > 0) {
        slab->fresh_count--;
        *acre_slab_link(slab, slab->fresh + slab->fresh_count) = slab->free_head;
        slab->free_head = slab->fresh + slab->fresh_count;
        slab->free_count++;
    }
}

bool acre_slab_add_chunk(acre_slab *slab) {
    if (slab->chunk_count >= UINT32_MAX >> slab->shift) {
        return false;
    }
    if (!acre_host_grow(slab->host, &slab->chunks, sizeof *slab->chunks, slab->chunk_count,
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
    chunk->base = slab->chunk_count << slab->shift;
    slab->chunks[slab->chunk_count] = chunk;
    // Name 0 means no record, so slot 0 of the first chunk stays out of use.
    uint32_t first = slab->chunk_count == 0 ? 1 : 0;
    slab->fresh = chunk->base + first;
    slab->fresh_count = slab->per_chunk - first;
    slab->chunk_count++;
    return true;
}
