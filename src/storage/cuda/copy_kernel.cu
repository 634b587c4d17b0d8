// Copies many pieces of device memory in one launch. A copy of the driver's costs 3.3 us however
// small it is, in which an H200 copies 7 MiB: allocations that move are mostly smaller.
//
// The pieces come as a parameter, without memory of their own. They are cut into chunks, numbered
// through, one for each block, so that all multiprocessors have the same to do whatever the sizes.
// Chunks of 16 to 64 KiB, blocks of 256 to 1024 threads, 2 to 8 loads before the first store, fewer
// blocks than chunks, and other cache hints were tried; this is the fastest by 1 to 5 %.
//
// copy_kernel.h holds what nvcc makes of this, lowered to what every driver and device takes:
//   nvcc -ptx -arch=sm_75 -O3, then .version 6.4 and .target sm_50
typedef unsigned long long u64;

enum { PIECES = 120, CHUNK = 32768 };

struct piece {
    u64 target, source, size; // addresses are multiples of 16
};

struct pieces {
    unsigned count;
    unsigned first[PIECES + 1]; // chunk of each piece, and behind the last the number of all
    piece list[PIECES];
};

extern "C" __global__ void acre_copy_pieces(const __grid_constant__ pieces p) {
    unsigned chunk = blockIdx.x;
    unsigned low = 0, high = p.count; // the piece that has the chunk is in [low, high)
    while (high - low > 1) {
        unsigned middle = (low + high) / 2;
        if (p.first[middle] <= chunk)
            low = middle;
        else
            high = middle;
    }
    u64 offset = (u64)(chunk - p.first[low]) * CHUNK;
    u64 left = p.list[low].size - offset;
    unsigned size = left < CHUNK ? (unsigned)left : CHUNK;
    char *to = (char *)(p.list[low].target + offset);
    const char *from = (const char *)(p.list[low].source + offset);
    unsigned at = threadIdx.x * 16;
    const unsigned step = blockDim.x * 16;
    for (; at + 3 * step + 16 <= size; at += 4 * step) {
        uint4 a = __ldcs((const uint4 *)(from + at));
        uint4 b = __ldcs((const uint4 *)(from + at + step));
        uint4 c = __ldcs((const uint4 *)(from + at + 2 * step));
        uint4 d = __ldcs((const uint4 *)(from + at + 3 * step));
        __stcs((uint4 *)(to + at), a);
        __stcs((uint4 *)(to + at + step), b);
        __stcs((uint4 *)(to + at + 2 * step), c);
        __stcs((uint4 *)(to + at + 3 * step), d);
    }
#pragma unroll 1
    for (; at + 16 <= size; at += step)
        __stcs((uint4 *)(to + at), __ldcs((const uint4 *)(from + at)));
#pragma unroll 1
    for (; at < size; at++) // one thread's, since the rest is less than 16 bytes
        to[at] = from[at];
}
