#define _DEFAULT_SOURCE // MAP_ANONYMOUS, MAP_NORESERVE

#include "base/os.h"

#include <stdlib.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

void *acre_os_alloc(size_t size, size_t alignment) {
    void *memory = NULL;
    if (alignment < sizeof(void *)) {
        alignment = sizeof(void *);
    }
    return posix_memalign(&memory, alignment, size) == 0 ? memory : NULL;
}

void acre_os_free(void *memory) {
    free(memory);
}

void *acre_os_map(uint64_t size) {
    if (size > SIZE_MAX) {
        return NULL;
    }
    void *memory = mmap(NULL, (size_t)size, PROT_READ | PROT_WRITE,
                        MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    return memory == MAP_FAILED ? NULL : memory;
}

void acre_os_unmap(void *memory, uint64_t size) {
    munmap(memory, (size_t)size);
}

uint64_t acre_os_page_size(void) {
    long size = sysconf(_SC_PAGESIZE);
    return size > 0 ? (uint64_t)size : 4096;
}

uint64_t acre_os_physical_memory(void) {
    long pages = sysconf(_SC_PHYS_PAGES);
    return pages > 0 ? (uint64_t)pages * acre_os_page_size() : 0;
}

uint64_t acre_os_clock(void) {
    struct timespec time;
    (void)clock_gettime(CLOCK_MONOTONIC, &time);
    return (uint64_t)time.tv_sec * 1000000000 + (uint64_t)time.tv_nsec;
}
