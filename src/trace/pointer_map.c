#include "pointer_map.h"

#include "detail.h"

enum {
    FIRST_CAPACITY = 256
};

// Pointers are multiples of an alignment or small numbers: the product's upper bits mix both.
static size_t home(const acre_pointer_map *map, uint64_t pointer) {
    uint64_t mixed = pointer * UINT64_C(0x9e3779b97f4a7c15);
    return (size_t)(mixed >> 32 ^ mixed) & (map->capacity - 1);
}

acre_pointer_entry *acre_pointer_map_find(const acre_pointer_map *map, uint64_t pointer) {
    if (map->capacity == 0)
        return NULL;
    for (size_t i = home(map, pointer);; i = (i + 1) & (map->capacity - 1)) {
        acre_pointer_entry *entry = &map->entries[i];
        if (entry->pointer == pointer)
            return entry;
        if (entry->pointer == 0)
            return NULL;
    }
}

static void place(acre_pointer_map *map, acre_pointer_entry added) {
    size_t i = home(map, added.pointer);
    while (map->entries[i].pointer != 0)
        i = (i + 1) & (map->capacity - 1);
    map->entries[i] = added;
    map->count++;
}

static bool grow(acre_pointer_map *map, const acre_host_hooks *hooks) {
    acre_pointer_map old = *map;
    size_t capacity = old.capacity ? old.capacity * 2 : FIRST_CAPACITY;
    acre_pointer_entry *entries = acre_trace_alloc(hooks, capacity * sizeof(*entries));
    if (!entries)
        return false;
    for (size_t i = 0; i < capacity; i++)
        entries[i] = (acre_pointer_entry){0};
    *map = (acre_pointer_map){.entries = entries, .capacity = capacity};
    for (size_t i = 0; i < old.capacity; i++) {
        if (old.entries[i].pointer != 0)
            place(map, old.entries[i]);
    }
    acre_pointer_map_free(&old, hooks);
    return true;
}

bool acre_pointer_map_add(acre_pointer_map *map, const acre_host_hooks *hooks, uint64_t pointer,
                          uint64_t slot) {
    if (map->count * 2 >= map->capacity && !grow(map, hooks))
        return false;
    place(map, (acre_pointer_entry){pointer, slot});
    return true;
}

// Every entry must be reached from its home without passing an empty place, so what follows the
// hole moves up into it as far as its home allows.
void acre_pointer_map_remove(acre_pointer_map *map, acre_pointer_entry *entry) {
    size_t mask = map->capacity - 1;
    size_t hole = (size_t)(entry - map->entries);
    for (size_t i = (hole + 1) & mask; map->entries[i].pointer != 0; i = (i + 1) & mask) {
        size_t from_home = (i - home(map, map->entries[i].pointer)) & mask;
        size_t from_hole = (i - hole) & mask;
        if (from_home >= from_hole) {
            map->entries[hole] = map->entries[i];
            hole = i;
        }
    }
    map->entries[hole] = (acre_pointer_entry){0};
    map->count--;
}

void acre_pointer_map_free(acre_pointer_map *map, const acre_host_hooks *hooks) {
    acre_trace_free(hooks, map->entries, map->capacity * sizeof(*map->entries));
    *map = (acre_pointer_map){0};
}
