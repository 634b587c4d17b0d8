#include "carve/free_index.h"

#include <assert.h>
#include <string.h>

void acre_free_index_init(acre_free_index *index, acre_host *host, acre_slab *slices) {
    memset(index, 0, sizeof *index);
    index->slices = slices;
    index->host = host;
}

void acre_free_index_destroy(acre_free_index *index) {
    for (uint32_t e = 0; e < 64; e++) {
        acre_host_free(index->host, index->rows[e], sizeof *index->rows[e], 64);
        index->rows[e] = NULL;
    }
}

bool acre_free_index_prepare(acre_free_index *index, uint64_t smallest, uint64_t largest) {
    for (uint32_t e = acre_log2(smallest); e <= acre_log2(largest); e++) {
        if (index->rows[e] == NULL) {
            index->rows[e] = acre_host_alloc_zeroed(index->host, sizeof(acre_octave), 64);
            if (index->rows[e] == NULL) {
                return false;
            }
        }
    }
    return true;
}

// The class of a size within its octave: the six bits below the highest.
static inline uint32_t class_of(uint64_t size, uint32_t e) {
    return (uint32_t)(e >= 6 ? size >> (e - 6) : size << (6 - e)) & 63u;
}

// The bits that order sizes within a class, from the top of the word down. A class of an octave
// below 2^7 has a single size and no such bits.
static inline uint64_t path_of(uint64_t size, uint32_t e) {
    return e > 6 ? size << (64 - (e - 6)) : 0;
}

static inline acre_slice *slice_at(const acre_free_index *index, uint32_t name) {
    return acre_slice_at(index->slices, name);
}

void acre_free_index_add(acre_free_index *index, uint32_t name) {
    acre_slice *slice = slice_at(index, name);
    uint64_t size = slice->size;
    uint32_t e = acre_log2(size);
    uint32_t m = class_of(size, e);
    acre_octave *row = index->rows[e];
    index->count++;
    index->bytes += size;
    acre_slice_set_state(slice, ACRE_SLICE_FREE);
    slice->free.child[0] = slice->free.child[1] = 0;
    slice->free.parent = 0;
    slice->free.prev = slice->next = name;

    uint32_t at = row->roots[m];
    if (at == 0) {
        row->roots[m] = name;
        row->classes |= UINT64_C(1) << m;
        index->octaves |= UINT64_C(1) << e;
        return;
    }
    for (uint64_t path = path_of(size, e);; path <<= 1) {
        acre_slice *node = slice_at(index, at);
        if (node->size == size) { // join the ring behind the node
            slice->free.parent = ACRE_NOT_IN_TRIE;
            slice->free.prev = at;
            slice->next = node->next;
            slice_at(index, node->next)->free.prev = name;
            node->next = name;
            return;
        }
        uint32_t *child = &node->free.child[path >> 63];
        if (*child == 0) {
            *child = name;
            slice->free.parent = at;
            return;
        }
        at = *child;
    }
}

// Puts `by` (0 = nothing) into the trie where `slice` hangs.
static void replace_in_parent(acre_free_index *index, const acre_slice *slice, uint32_t name,
                              uint32_t by) {
    if (slice->free.parent != 0) {
        acre_slice *parent = slice_at(index, slice->free.parent);
        parent->free.child[parent->free.child[1] == name] = by;
    } else {
        uint32_t e = acre_log2(slice->size);
        uint32_t m = class_of(slice->size, e);
        acre_octave *row = index->rows[e];
        row->roots[m] = by;
        if (by == 0) {
            row->classes &= ~(UINT64_C(1) << m);
            if (row->classes == 0) {
                index->octaves &= ~(UINT64_C(1) << e);
            }
        }
    }
    if (by != 0) {
        slice_at(index, by)->free.parent = slice->free.parent;
    }
}

// Gives `by` the children of `slice`.
static void adopt_children(acre_free_index *index, const acre_slice *slice, uint32_t by) {
    acre_slice *heir = slice_at(index, by);
    for (uint32_t side = 0; side < 2; side++) {
        uint32_t child = slice->free.child[side];
        heir->free.child[side] = child;
        if (child != 0) {
            slice_at(index, child)->free.parent = by;
        }
    }
}

// => some leaf below `slice`, which has a child. Any node below may stand for `slice`, since it has
// all the bits of the path.
static uint32_t leaf_below(const acre_free_index *index, const acre_slice *slice) {
    for (;;) {
        uint32_t child = slice->free.child[0] != 0 ? slice->free.child[0] : slice->free.child[1];
        const acre_slice *below = slice_at(index, child);
        if ((below->free.child[0] | below->free.child[1]) == 0) {
            return child;
        }
        slice = below;
    }
}

void acre_free_index_remove(acre_free_index *index, uint32_t name) {
    acre_slice *slice = slice_at(index, name);
    index->count--;
    index->bytes -= slice->size;
    uint32_t next = slice->next;
    if (next != name) { // others of the same size: leave the ring
        uint32_t prev = slice->free.prev;
        slice_at(index, prev)->next = next;
        slice_at(index, next)->free.prev = prev;
        if (slice->free.parent != ACRE_NOT_IN_TRIE) { // the oldest: the next older takes over
            adopt_children(index, slice, prev);
            replace_in_parent(index, slice, name, prev);
        }
        return;
    }
    if ((slice->free.child[0] | slice->free.child[1]) == 0) {
        replace_in_parent(index, slice, name, 0);
        return;
    }
    uint32_t leaf = leaf_below(index, slice);
    replace_in_parent(index, slice_at(index, leaf), leaf, 0);
    adopt_children(index, slice, leaf);
    replace_in_parent(index, slice, name, leaf);
}

// => the least size at or below a node: it lies on the path that always takes the smaller side.
static uint32_t least_below(const acre_free_index *index, uint32_t name) {
    uint32_t best = name;
    uint64_t best_size = slice_at(index, name)->size;
    for (;;) {
        const acre_slice *node = slice_at(index, name);
        name = node->free.child[0] != 0 ? node->free.child[0] : node->free.child[1];
        if (name == 0) {
            return best;
        }
        uint64_t size = slice_at(index, name)->size;
        if (size < best_size) {
            best_size = size;
            best = name;
        }
    }
}

// => the smallest run of at least `size` in the trie of the size's own class; 0 = none.
static uint32_t find_in_class(const acre_free_index *index, uint32_t root, uint64_t size,
                              uint32_t e) {
    uint32_t best = 0;
    uint64_t best_size = UINT64_MAX;
    uint32_t larger = 0; // the last branch to larger sizes that was not taken
    uint64_t path = path_of(size, e);
    for (uint32_t at = root; at != 0; path <<= 1) {
        const acre_slice *node = slice_at(index, at);
        if (node->size >= size && node->size < best_size) {
            best = at;
            best_size = node->size;
            if (best_size == size) {
                return best;
            }
        }
        if (path >> 63 == 0 && node->free.child[1] != 0) {
            larger = node->free.child[1];
        }
        at = node->free.child[path >> 63];
    }
    if (larger != 0) {
        uint32_t least = least_below(index, larger);
        if (slice_at(index, least)->size < best_size) {
            best = least;
        }
    }
    return best;
}

// => the root of the first class after (e, m) that holds a run; 0 = none.
static inline uint32_t next_class(const acre_free_index *index, uint32_t e, uint32_t m) {
    if (index->octaves >> e & 1) {
        uint64_t classes = index->rows[e]->classes & ~UINT64_C(1) << m;
        if (classes != 0) {
            return index->rows[e]->roots[acre_lowest_bit(classes)];
        }
    }
    uint64_t octaves = index->octaves & ~UINT64_C(1) << e;
    if (octaves == 0) {
        return 0;
    }
    const acre_octave *row = index->rows[acre_lowest_bit(octaves)];
    return row->roots[acre_lowest_bit(row->classes)];
}

// The newest of a node's ring; the node itself is the oldest.
static inline uint32_t newest(const acre_free_index *index, uint32_t node) {
    return node == 0 ? 0 : slice_at(index, node)->next;
}

uint32_t acre_free_index_find(const acre_free_index *index, uint64_t size) {
    uint32_t e = acre_log2(size);
    uint32_t m = class_of(size, e);
    if (index->octaves >> e & 1) {
        uint32_t root = index->rows[e]->roots[m];
        uint32_t found = root == 0 ? 0 : find_in_class(index, root, size, e);
        if (found != 0) {
            return newest(index, found);
        }
    }
    uint32_t root = next_class(index, e, m);
    return root == 0 ? 0 : newest(index, least_below(index, root));
}

uint32_t acre_free_index_find_exact(const acre_free_index *index, uint64_t size) {
    uint32_t e = acre_log2(size);
    if ((index->octaves >> e & 1) == 0) {
        return 0;
    }
    uint32_t at = index->rows[e]->roots[class_of(size, e)];
    for (uint64_t path = path_of(size, e); at != 0; path <<= 1) {
        const acre_slice *node = slice_at(index, at);
        if (node->size == size) {
            return newest(index, at);
        }
        at = node->free.child[path >> 63];
    }
    return 0;
}

uint64_t acre_free_index_largest(const acre_free_index *index) {
    if (index->octaves == 0) {
        return 0;
    }
    const acre_octave *row = index->rows[acre_log2(index->octaves)];
    uint32_t at = row->roots[acre_log2(row->classes)];
    uint64_t largest = 0;
    while (at != 0) {
        const acre_slice *node = slice_at(index, at);
        largest = acre_max(largest, node->size);
        at = node->free.child[1] != 0 ? node->free.child[1] : node->free.child[0];
    }
    return largest;
}

// ---- checking ------------------------------------------------------------------------------

// Counts the ring of a node. => false when it holds anything but free runs of the node's size.
static bool check_ring(const acre_free_index *index, uint32_t name, uint64_t *count) {
    const acre_slice *node = slice_at(index, name);
    uint32_t at = name;
    do {
        const acre_slice *slice = slice_at(index, at);
        if (acre_slice_state_of(slice) != ACRE_SLICE_FREE || slice->size != node->size ||
            slice_at(index, slice->next)->free.prev != at ||
            (at != name && slice->free.parent != ACRE_NOT_IN_TRIE)) {
            return false;
        }
        (*count)++;
        at = slice->next;
    } while (at != name && *count <= index->count);
    return at == name;
}

// Checks the trie at a node. `fixed` bits from the highest of its sizes on are those of `sample`.
// The recursion is as deep as the trie, which is at most as deep as a class has bits: 57.
static bool check_trie(const acre_free_index *index, uint32_t name, uint32_t parent,
                       uint64_t sample, uint32_t fixed, uint64_t *count, uint64_t *bytes) {
    if (name == 0) {
        return true;
    }
    const acre_slice *node = slice_at(index, name);
    uint32_t e = acre_log2(sample);
    uint32_t shift = e + 1 > fixed ? e + 1 - fixed : 0;
    uint64_t before = *count;
    if (node->size == 0 || acre_log2(node->size) != e || node->size >> shift != sample >> shift ||
        node->free.parent != parent || !check_ring(index, name, count)) {
        return false;
    }
    *bytes += node->size * (*count - before);
    for (uint32_t side = 0; side < 2; side++) {
        if (node->free.child[side] != 0 && shift == 0) {
            return false;
        }
        uint64_t bit = shift == 0 ? 0 : UINT64_C(1) << (shift - 1);
        uint64_t below = side == 0 ? sample & ~bit : sample | bit;
        if (!check_trie(index, node->free.child[side], name, below, fixed + 1, count, bytes)) {
            return false;
        }
    }
    return true;
}

bool acre_free_index_check(const acre_free_index *index) {
    uint64_t count = 0;
    uint64_t bytes = 0;
    for (uint32_t e = 0; e < 64; e++) {
        const acre_octave *row = index->rows[e];
        bool holds = row != NULL && row->classes != 0;
        if (holds != ((index->octaves >> e & 1) != 0)) {
            return false;
        }
        for (uint32_t m = 0; row != NULL && m < 64; m++) {
            uint32_t root = row->roots[m];
            if ((root != 0) != ((row->classes >> m & 1) != 0)) {
                return false;
            }
            if (root == 0) {
                continue;
            }
            uint64_t size = slice_at(index, root)->size;
            if (class_of(size, acre_log2(size)) != m || acre_log2(size) != e ||
                !check_trie(index, root, 0, size, 7, &count, &bytes)) {
                return false;
            }
        }
    }
    return count == index->count && bytes == index->bytes;
}
