#define _GNU_SOURCE // MAP_ANONYMOUS, MAP_NORESERVE; memfd_create, fallocate

#include "base/os.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/stat.h>
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

// ---- files without a name, and addresses apart from memory ---------------------------------

int acre_os_file_open(bool huge, int *file, uint64_t *page) {
    *file = memfd_create("acre", MFD_CLOEXEC | (huge ? MFD_HUGETLB : 0));
    if (*file < 0) {
        return errno;
    }
    struct stat facts;
    *page = acre_os_page_size();
    if (huge && fstat(*file, &facts) == 0) {
        *page = (uint64_t)facts.st_blksize; // of a file on huge pages, their size
    }
    return 0;
}

void acre_os_file_close(int file) {
    (void)close(file);
}

int acre_os_file_resize(int file, uint64_t size) {
    return size > INT64_MAX ? EFBIG : ftruncate(file, (off_t)size) == 0 ? 0 : errno;
}

int acre_os_file_discard(int file, uint64_t offset, uint64_t size) {
    int result;
    do {
        result =
            fallocate(file, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, (off_t)offset, (off_t)size);
    } while (result != 0 && errno == EINTR);
    return result == 0 ? 0 : errno;
}

void *acre_os_addresses_reserve(uint64_t size, uint64_t alignment) {
    uint64_t slack = alignment > acre_os_page_size() ? alignment : 0;
    if (size > SIZE_MAX - slack) {
        errno = ENOMEM;
        return NULL;
    }
    char *base = mmap(NULL, (size_t)(size + slack), PROT_NONE,
                      MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (base == MAP_FAILED) {
        return NULL;
    }
    // What is not needed on both sides goes back.
    uint64_t skip = slack == 0 ? 0 : (slack - (uintptr_t)base % slack) % slack;
    if (skip > 0) {
        (void)munmap(base, (size_t)skip);
    }
    if (slack > skip) {
        (void)munmap(base + skip + size, (size_t)(slack - skip));
    }
    return base + skip;
}

void acre_os_addresses_release(void *addresses, uint64_t size) {
    (void)munmap(addresses, (size_t)size);
}

int acre_os_addresses_map(void *addresses, uint64_t size, int file, uint64_t offset) {
    void *mapped = mmap(addresses, (size_t)size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED,
                        file, (off_t)offset);
    return mapped == MAP_FAILED ? errno : 0;
}

int acre_os_addresses_clear(void *addresses, uint64_t size) {
    void *mapped = mmap(addresses, (size_t)size, PROT_NONE,
                        MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED, -1, 0);
    return mapped == MAP_FAILED ? errno : 0;
}

// ---- the rest ------------------------------------------------------------------------------

void *acre_os_library(const char *name, char *why, size_t capacity) {
    void *library = dlopen(name, RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);
    if (library == NULL) {
        const char *said = dlerror();
        snprintf(why, capacity, "%s", said == NULL ? "" : said);
    }
    return library;
}

void *acre_os_symbol(void *library, const char *name) {
    return dlsym(library, name);
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
