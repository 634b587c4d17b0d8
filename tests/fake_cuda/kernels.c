// Kernels of the fake driver: the one that the storage copies with, done at once by the host. What
// it is given is checked as the device would read it.
#include "state.h"

#include <string.h>

enum {
    PIECES = 120,
    CHUNK = 32768,
    NO_BINARY_FOR_GPU = 209,
    NOT_FOUND = 500,
};

// The parameter of the kernel, by the layout of copy_kernel.cu.
typedef struct pieces {
    uint32_t count;
    uint32_t first[PIECES + 1];
    struct {
        uint64_t target, source, size;
    } list[PIECES];
} pieces;

int cuModuleLoadData(void **module, const void *image) {
    BEGIN();
    (void)need_context(__func__);
    if (strstr(image, ".entry acre_copy_pieces(") == NULL) {
        misuse(__func__, "an image that has not the kernel in it");
    }
    if (fake_cuda()->no_kernels) {
        return NO_BINARY_FOR_GPU;
    }
    *module = object_create(OBJECT_MODULE);
    return 0;
}

int cuModuleUnload(void *module) {
    BEGIN();
    object *unloaded = object_find(OBJECT_MODULE, module);
    if (unloaded == NULL) {
        misuse(__func__, "no module, or one that was unloaded");
    }
    object_destroy(unloaded);
    return 0;
}

int cuModuleGetFunction(void **function, void *module, const char *name) {
    BEGIN();
    if (object_find(OBJECT_MODULE, module) == NULL) {
        misuse(__func__, "no module, or one that was unloaded");
    }
    *function = module;
    return strcmp(name, "acre_copy_pieces") == 0 ? 0 : NOT_FOUND;
}

static void copy_pieces(const char *function, const pieces *given) {
    if (given->count == 0 || given->count > PIECES || given->first[0] != 0) {
        misuse(function, "pieces that the kernel cannot count");
    }
    for (uint32_t i = 0; i < given->count; i++) {
        uint64_t target = given->list[i].target;
        uint64_t source = given->list[i].source;
        uint64_t size = given->list[i].size;
        if (given->first[i + 1] - given->first[i] != (size + CHUNK - 1) / CHUNK) {
            misuse(function, "a piece that has not the chunks of its size");
        }
        if (target % 16 != 0 || source % 16 != 0) {
            misuse(function, "a piece that the kernel cannot load by 16 bytes");
        }
        need_bytes(function, target, size);
        need_bytes(function, source, size);
        memcpy((void *)(uintptr_t)target, (const void *)(uintptr_t)source, size);
    }
}

int cuLaunchKernel(void *function, unsigned grid_x, unsigned grid_y, unsigned grid_z,
                   unsigned block_x, unsigned block_y, unsigned block_z, unsigned shared_bytes,
                   void *stream, void **parameters, void **extra) {
    BEGIN();
    if (object_find(OBJECT_MODULE, function) == NULL) {
        misuse(__func__, "a kernel of no module, or of one that was unloaded");
    }
    const pieces *given = parameters[0];
    if (grid_x != given->first[given->count] || grid_y != 1 || grid_z != 1 || block_x == 0 ||
        block_x > 1024 || block_y != 1 || block_z != 1 || shared_bytes != 0 || extra != NULL) {
        misuse(__func__, "a grid that the kernel is not made for");
    }
    if (!is_captured(need_stream(__func__, stream))) {
        copy_pieces(__func__, given);
    }
    return 0;
}
