// Host hooks that remember every block, so that a test can say "all came back, as they were asked
// for", and that fail on demand.
#include "support.h"

#include <pthread.h>

typedef struct block {
    void *memory;
    size_t size;
    size_t alignment;
} block;

struct host_probe {
    pthread_mutex_t lock;
    block *blocks;
    size_t count;
    size_t room;
    uint64_t calls;
    uint64_t bytes;
    uint64_t fail_in; // calls until the scripted failure; 0 = none
    bool fail_after;
    bool failed;
    bool mismatch; // a block came back that was not given, or with another size or alignment
};

static bool fails_now(host_probe *probe) {
    probe->calls++;
    if (probe->fail_in == 0) {
        return false;
    }
    if (probe->fail_in > 1) {
        probe->fail_in--;
        return false;
    }
    if (!probe->fail_after) {
        probe->fail_in = 0;
    }
    probe->failed = true;
    return true;
}

static void *probe_alloc(void *context, size_t size, size_t alignment) {
    host_probe *probe = context;
    pthread_mutex_lock(&probe->lock);
    void *memory = NULL;
    if (!fails_now(probe)) {
        size_t least = alignment < sizeof(void *) ? sizeof(void *) : alignment;
        if (posix_memalign(&memory, least, size > 0 ? size : 1) != 0) {
            memory = NULL;
        }
    }
    if (memory != NULL) {
        memset(memory, 0xa5, size);
        if (probe->count == probe->room) {
            probe->room = probe->room == 0 ? 64 : probe->room * 2;
            probe->blocks = realloc(probe->blocks, probe->room * sizeof(block));
            if (probe->blocks == NULL) {
                abort();
            }
        }
        probe->blocks[probe->count++] = (block){memory, size, alignment};
        probe->bytes += size;
    }
    pthread_mutex_unlock(&probe->lock);
    return memory;
}

static void probe_free(void *context, void *memory, size_t size, size_t alignment) {
    host_probe *probe = context;
    pthread_mutex_lock(&probe->lock);
    size_t i = probe->count;
    while (i > 0 && probe->blocks[i - 1].memory != memory) {
        i--;
    }
    if (i == 0) {
        probe->mismatch = memory != NULL || probe->mismatch;
    } else {
        block *found = &probe->blocks[i - 1];
        if (found->size != size || found->alignment != alignment) {
            probe->mismatch = true;
        }
        probe->bytes -= found->size;
        *found = probe->blocks[--probe->count];
        free(memory);
    }
    pthread_mutex_unlock(&probe->lock);
}

host_probe *host_probe_create(void) {
    host_probe *probe = calloc(1, sizeof(*probe));
    assert_non_null(probe);
    pthread_mutex_init(&probe->lock, NULL);
    return probe;
}

acre_host_hooks host_probe_hooks(host_probe *probe) {
    acre_host_hooks hooks = ACRE_HOST_HOOKS_INIT;
    hooks.alloc = probe_alloc;
    hooks.free = probe_free;
    hooks.context = probe;
    return hooks;
}

void host_probe_fail(host_probe *probe, uint64_t nth, bool and_after) {
    probe->fail_in = nth;
    probe->fail_after = and_after;
    probe->failed = false;
}

bool host_probe_failed(const host_probe *probe) {
    return probe->failed;
}

uint64_t host_probe_calls(const host_probe *probe) {
    return probe->calls;
}

uint64_t host_probe_blocks(const host_probe *probe) {
    return probe->count;
}

uint64_t host_probe_bytes(const host_probe *probe) {
    return probe->bytes;
}

void host_probe_destroy(host_probe *probe) {
    assert_false(probe->mismatch);
    assert_int_equal(probe->count, 0);
    assert_int_equal(probe->bytes, 0);
    pthread_mutex_destroy(&probe->lock);
    free(probe->blocks);
    free(probe);
}
