// What differs between operating systems. The only file, with os.c, that a port touches.
#ifndef ACRE_BASE_OS_H
#define ACRE_BASE_OS_H

#include <stdbool.h>
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

// Files without a name (memfd), whose bytes can be mapped at addresses that were reserved before,
// and elsewhere later. => 0 or an errno; sizes and offsets are multiples of the file's page.
//
// `page` receives the bytes of one page of it: the system's, or with `huge` its huge page.
int acre_os_file_open(bool huge, int *file, uint64_t *page);
void acre_os_file_close(int file);
int acre_os_file_resize(int file, uint64_t size);
// Gives the memory behind those bytes back; they read as 0 from then on.
int acre_os_file_discard(int file, uint64_t offset, uint64_t size);

// Addresses that nobody else gets and nothing is behind, from a multiple of `alignment` (a power of
// two, a page at least) on. NULL = none; errno says why.
void *acre_os_addresses_reserve(uint64_t size, uint64_t alignment);
void acre_os_addresses_release(void *addresses, uint64_t size);
// Puts bytes of a file behind reserved addresses, or nothing again.
int acre_os_addresses_map(void *addresses, uint64_t size, int file, uint64_t offset);
int acre_os_addresses_clear(void *addresses, uint64_t size);

// A shared library of the system, which stays loaded for as long as the process lives: drivers do
// not survive being unloaded. NULL when it is not to be had; `why` receives the system's sentence.
void *acre_os_library(const char *name, char *why, size_t capacity);
// The address of a function or variable in it; NULL = it has none of that name.
void *acre_os_symbol(void *library, const char *name);

// Bytes of a page of the system.
uint64_t acre_os_page_size(void);

// Nanoseconds of a clock that only goes forward.
uint64_t acre_os_clock(void);

// Bytes of physical memory; 0 = unknown.
uint64_t acre_os_physical_memory(void);

#endif
