// Which slot a live pointer has: open addressing, sized by what lives, not by the trace.
#ifndef ACRE_TRACE_POINTER_MAP_H
#define ACRE_TRACE_POINTER_MAP_H

#include <acre/host.h>

typedef struct acre_pointer_entry {
    uint64_t pointer; // 0 = empty: (nil) is never in the map
    uint64_t slot;
} acre_pointer_entry;

typedef struct acre_pointer_map {
    acre_pointer_entry *entries;
    size_t capacity; // a power of two, or 0
    size_t count;    // at most half of capacity
} acre_pointer_map;

// The entry of `pointer`, or NULL.
acre_pointer_entry *acre_pointer_map_find(const acre_pointer_map *map, uint64_t pointer);

// Adds a pointer that is not in the map. => False, and nothing changed, without memory.
bool acre_pointer_map_add(acre_pointer_map *map, const acre_host_hooks *hooks, uint64_t pointer,
                          uint64_t slot);

// Takes out an entry that find returned. Other entries may move.
void acre_pointer_map_remove(acre_pointer_map *map, acre_pointer_entry *entry);

void acre_pointer_map_free(acre_pointer_map *map, const acre_host_hooks *hooks);

#endif
