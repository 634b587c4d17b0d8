// The program starts once more when a library could not be loaded for want of room.
#ifndef ACRE_BENCH_START_H
#define ACRE_BENCH_START_H

// Keeps the arguments for bench_start_again.
void bench_start_remember(char **arguments);

// Debian's jemalloc keeps 3 KiB a thread in the static thread-local block, of which glibc leaves
// 512 B to libraries loaded later, unless the environment asked for more when the program began.
// Starts the program anew with that; returns when it did so before or cannot.
void bench_start_again(void);

#endif
