// Slabs: fixed-size records with 32-bit names, in chunks of 64 KiB.
//
//   chunk:  | header | record | record | ...          aligned to its size, so that a record's
//                                                     address leads to the header
//   name:   chunk number << 12 | place in the chunk in units of 16 bytes; 0 is no record
//
// Names are half the size of pointers, and records are small so that many share a cache line's
// neighbourhood: at 100,000 live allocations every step to another record is a cache miss.
// Records are taken newest-freed first, then in address order; memory that no record was taken
// from is never touched. Chunks live as long as the slab.
#ifndef ACRE_BASE_SLAB_H
#define ACRE_BASE_SLAB_H

#include "base/bits.h"
#include "base/host.h"

#define ACRE_SLAB_CHUNK_SIZE ((size_t)64 * 1024)

typedef struct acre_slab_chunk {
    void *owner;     // whoever the slab belongs to
    uint32_t base;   // name of the chunk's first 16 bytes
    uint32_t unused; // keeps the records' alignment
    void *side; // what the owner keeps beside the chunk, and frees before the slab; NULL = nothing
    uint64_t padding[5];
} acre_slab_chunk;

typedef struct acre_slab {
    // By number: a chunk's address less its number times the size of one. Names are added to it as
    // they are, without the number being taken off first; every operation does so several times.
    uintptr_t *bases;
    uint32_t free_head; // freed records, newest first; 0 = only fresh ones are left
    uint32_t fresh;     // name of the next record never used
    uint32_t record_units;
    uint32_t fresh_end; // name behind the last fresh record
    uint64_t capacity;  // records of all chunks
    uint32_t chunk_count;
    uint32_t chunk_capacity;
    acre_host *host;
    void *owner;
} acre_slab;

// An empty slab. record_size is a multiple of 16 and at most 1 KiB. A record that is not in use
// keeps the next one's name in its bytes 12 to 15.
void acre_slab_init(acre_slab *slab, acre_host *host, void *owner, size_t record_size);

// Frees all chunks, whatever is in use.
void acre_slab_destroy(acre_slab *slab);

// Adds a chunk. => false when the hook has no memory or every name is taken.
bool acre_slab_add_chunk(acre_slab *slab);

// Whether `count` records were never used: what acre_slab_prepare leaves behind, unless the hook
// has no memory. Freed ones are not counted, so that taking and giving need not.
static inline bool acre_slab_is_prepared(const acre_slab *slab, uint32_t count) {
    return slab->fresh_end - slab->fresh >= count * slab->record_units;
}

// The rest of acre_slab_prepare.
bool acre_slab_prepare_more(acre_slab *slab, uint32_t count);

// Makes sure that the next `count` calls of acre_slab_take succeed. => false: no host memory.
static inline bool acre_slab_prepare(acre_slab *slab, uint32_t count) {
    return acre_likely(acre_slab_is_prepared(slab, count)) || acre_slab_prepare_more(slab, count);
}

// The record behind a name.
static inline void *acre_slab_at(const acre_slab *slab, uint32_t name) {
    return (void *)(slab->bases[name >> 12] + ((uintptr_t)name << 4));
}

static inline acre_slab_chunk *acre_slab_chunk_at(const acre_slab *slab, uint32_t number) {
    return (acre_slab_chunk *)(slab->bases[number] + (uintptr_t)number * ACRE_SLAB_CHUNK_SIZE);
}

static inline uint32_t *acre_slab_link(const acre_slab *slab, uint32_t name) {
    return (uint32_t *)acre_slab_at(slab, name) + 3;
}

// => the name of a record whose content is whatever it was; acre_slab_prepare came before.
static inline uint32_t acre_slab_take(acre_slab *slab) {
    uint32_t name = slab->free_head;
    if (acre_likely(name != 0)) {
        slab->free_head = *acre_slab_link(slab, name);
    } else {
        name = slab->fresh;
        slab->fresh += slab->record_units;
    }
    return name;
}

// Gives back a record whose address is known.
static inline void acre_slab_give_record(acre_slab *slab, uint32_t name, void *record) {
    ((uint32_t *)record)[3] = slab->free_head;
    slab->free_head = name;
}

static inline void acre_slab_give(acre_slab *slab, uint32_t name) {
    acre_slab_give_record(slab, name, acre_slab_at(slab, name));
}

// Records in use. Cost: one pass over those that are not.
uint64_t acre_slab_live(const acre_slab *slab);

// The header of the chunk that a record lies in.
static inline acre_slab_chunk *acre_slab_chunk_of(const void *record) {
    return (acre_slab_chunk *)((uintptr_t)record & ~(uintptr_t)(ACRE_SLAB_CHUNK_SIZE - 1));
}

static inline uint32_t acre_slab_name(const void *record) {
    uint32_t place = (uint32_t)((uintptr_t)record & (ACRE_SLAB_CHUNK_SIZE - 1)) >> 4;
    return acre_slab_chunk_of(record)->base | place;
}

#endif
