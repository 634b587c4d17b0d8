// What Acre grew out of, as a model to compare with: a pool of pages, each with a list of its
// slices in the order of their offsets.
//
//   reserve   page by page: free neighbours of the whole page are merged, which builds its list
//             anew if there are any; then the first slice that is free and large enough is taken.
//             If it is larger, what is left becomes a slice, and the list is built anew.
//             No page has room: a page is added.
//   release   counts a reference down. The slice is free when only the list refers to its handle.
//   handle    a host allocation of its own with a reference count and where its slice stands,
//             which every building of a list writes anew.
//
// So each request costs as much as there are slices in the pages that it looks at.
#ifndef ACRE_BENCH_MODEL_H
#define ACRE_BENCH_MODEL_H

#include <stdbool.h>
#include <stdint.h>

typedef struct model_pool model_pool;
typedef struct model_handle model_handle;

// NULL when there is no host memory.
model_pool *model_create(uint64_t page_size, uint64_t alignment);
// Every handle was released.
void model_destroy(model_pool *pool);

// NULL when no page has room and none may be added, or there is no host memory.
model_handle *model_reserve(model_pool *pool, uint64_t size, bool may_add);
// What model_reserve does while nothing was ever released, without building lists: then only the
// last slice of a page is free, and the list just gets longer.
model_handle *model_append(model_pool *pool, uint64_t size);
void model_release(model_handle *handle);

// Where the allocation is; its end counts the padding.
void model_place(const model_pool *pool, const model_handle *handle, uint64_t *page,
                 uint64_t *offset, uint64_t *end);

#endif
