// What differs between operating systems. The only file, with os.c, that a port touches.
#ifndef ACRE_BASE_OS_H
#define ACRE_BASE_OS_H

#include <stddef.h>
#include <stdint.h>

// Before a variable that each thread has its own of.
#define ACRE_THREAD_LOCAL _Thread_local

// Heap memory of this process; alignment is a power of two. NULL when there is none.
void *acre_os_alloc(size_t size, size_t alignment);
void acre_os_free(void *memory);

// Zeroed pages straight from the system, which cost memory once touched; the address is a
// multiple of the system's page size. NULL when there are none.
void *acre_os_map(uint64_t size);
void acre_os_unmap(void *memory, uint64_t size);

// Bytes of a page of the system.
uint64_t acre_os_page_size(void);

// Nanoseconds of a clock that only goes forward.
uint64_t acre_os_clock(void);

// Bytes of physical memory; 0 = unknown.
uint64_t acre_os_physical_memory(void);

#endif
