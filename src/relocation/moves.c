#include "relocation/moves.h"

#include "base/error.h"
#include "base/os.h"
#include "base/structs.h"
#include "pool/pool.h"
#include "relocation/plan.h"

acre_move *acre_moves_add(acre_moves *moves) {
    if (!acre_host_grow(moves->host, &moves->list, sizeof *moves->list, moves->count,
                        moves->count + 1, &moves->capacity)) {
        return NULL;
    }
    acre_move *move = &moves->list[moves->count++];
    *move = (acre_move){NULL, 0, 0, 0, false};
    return move;
}

void acre_moves_free(acre_moves *moves) {
    acre_host_free(moves->host, moves->list, moves->capacity * sizeof *moves->list,
                   _Alignof(max_align_t));
    moves->list = NULL;
    moves->count = moves->capacity = moves->copied = 0;
}

static bool larger(const void *left, const void *right) {
    const acre_move *a = left;
    const acre_move *b = right;
    return a->size != b->size ? a->size > b->size : a->source < b->source;
}

void acre_moves_sort(acre_moves *moves, uint32_t first) {
    acre_relocation_sort(moves->list + first, moves->count - first, sizeof *moves->list, larger);
}

// ---- queues --------------------------------------------------------------------------------

static acre_status storage_wait(void *context, acre_error *error) {
    return acre_storage_wait(context, error);
}

static acre_status storage_copy(void *context, const acre_resource *source,
                                const acre_resource *target, uint64_t size, acre_error *error) {
    (void)size; // that of both resources
    return acre_storage_copy(context, source, target, error);
}

acre_status acre_queue_read(acre_copy_queue *own, const acre_copy_queue *theirs,
                            acre_storage *storage, acre_error *error) {
    *own = ACRE_COPY_QUEUE_INIT;
    if (theirs == NULL) {
        if (storage->ops.copy == NULL) {
            return acre_error_set(error, ACRE_UNSUPPORTED,
                                  "storage %s cannot copy: a relocation needs the caller's queue",
                                  storage->name);
        }
        own->context = storage;
        own->wait_device = storage_wait;
        own->copy = storage_copy;
        own->wait_copies = storage_wait;
        return ACRE_OK;
    }
    if (!acre_struct_read(own, sizeof *own, theirs)) {
        return acre_error_set(error, ACRE_UNSUPPORTED,
                              "the copy queue has operations this version does not know");
    }
    const char *missing = own->wait_device == NULL   ? "wait_device"
                          : own->copy == NULL        ? "copy"
                          : own->wait_copies == NULL ? "wait_copies"
                                                     : NULL;
    return missing == NULL ? ACRE_OK
                           : acre_error_set(error, ACRE_INVALID_ARGUMENT,
                                            "the copy queue lacks the operation %s", missing);
}

// ---- copies --------------------------------------------------------------------------------

static acre_page *page_of(const acre_heap *heap, uint32_t slice) {
    return acre_page_at(heap, acre_slice_page(acre_heap_slice(heap, slice)));
}

// A source that was never resolved under a dry run has no bytes.
static bool has_bytes(const acre_heap *heap, const acre_move *move) {
    return page_of(heap, move->source)->mapped;
}

static acre_status name_bytes(const acre_heap *heap, uint32_t slice, uint64_t size,
                              acre_resource *resource, acre_error *error) {
    *resource = ACRE_RESOURCE_INIT;
    return acre_storage_resource(heap->storage, page_of(heap, slice)->id,
                                 acre_heap_slice(heap, slice)->offset, size, resource, error);
}

// The source may have got its bytes since the plan was made; then the target gets memory, too.
static acre_status map_target(const acre_heap *heap, const acre_move *move, acre_error *error) {
    acre_page *page = page_of(heap, move->target);
    return page->mapped ? ACRE_OK : acre_pool_map_page(page->pool, page, error);
}

static acre_status copy_one(const acre_heap *heap, const acre_move *move,
                            const acre_copy_queue *queue, acre_error *error) {
    acre_resource source;
    acre_resource target;
    acre_status status = map_target(heap, move, error);
    if (status == ACRE_OK) {
        status = name_bytes(heap, move->source, move->size, &source, error);
    }
    if (status == ACRE_OK) {
        status = name_bytes(heap, move->target, move->size, &target, error);
    }
    if (status != ACRE_OK) {
        return status;
    }
    acre_error_refuse(error, ACRE_OK, move->size);
    return error->status = queue->copy(queue->context, &source, &target, move->size, error);
}

static acre_status wait_with(acre_status (*wait)(void *context, acre_error *error), void *context,
                             acre_error *error) {
    acre_error_refuse(error, ACRE_OK, 0);
    return error->status = wait(context, error);
}

acre_status acre_moves_copy(acre_moves *moves, const acre_heap *heap, const acre_copy_queue *queue,
                            uint64_t deadline, acre_error *error) {
    bool any = false;
    acre_status status = ACRE_OK;
    for (uint32_t i = 0; i < moves->count && status == ACRE_OK; i++) {
        if (i > 0 && deadline != UINT64_MAX && acre_os_clock() >= deadline) {
            break;
        }
        acre_move *move = &moves->list[i];
        move->bytes = has_bytes(heap, move);
        if (move->bytes) {
            if (!any) {
                status = wait_with(queue->wait_device, queue->context, error);
                any = status == ACRE_OK;
            }
            if (status == ACRE_OK) {
                status = copy_one(heap, move, queue, error);
            }
        }
        moves->copied = i + 1;
    }
    if (any) { // also behind a failure: what was begun still reads and writes
        acre_error later = ACRE_ERROR_INIT; // a queue may hand it to a public function
        acre_status waited =
            wait_with(queue->wait_copies, queue->context, status == ACRE_OK ? error : &later);
        status = status == ACRE_OK ? waited : status;
    }
    moves->copied = status == ACRE_OK ? moves->copied : 0;
    return status;
}
