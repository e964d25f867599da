// Bounds of an arena's chunk lengths. Shared with the host library, as heap/common/header.cl is.
#ifndef KMA_CONTAINERS_ARENA_LAYOUT_CL
#define KMA_CONTAINERS_ARENA_LAYOUT_CL

#define KMA_ARENA_LEAST_SHIFT 8u  // log2 of the bytes of the shortest chunk
#define KMA_ARENA_MOST_SHIFT  24u // log2 of the bytes of the longest

// Returns the bytes of a chunk: `bytes` rounded up to a power of two within these bounds.
static inline uint kma_arena_chunk_bytes(uint bytes)
{
    const uint least = 1u << KMA_ARENA_LEAST_SHIFT;
    return bytes > least ? 1u << min(kma_highest_bit(bytes - 1) + 1, KMA_ARENA_MOST_SHIFT) : least;
}

#endif
