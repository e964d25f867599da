// An arena: memory of many small blocks that are all freed at once, in memory of any heap. For
// whole data structures, which end as a whole (Spliet, thesis 3.3): a tree that is built anew each
// step, a graph, what a round of work needs. A heap has as many arenas as one likes, of the host's
// and of work-items'.
//
//   #include "kma/containers/arena.cl"
//
//   kernel void build(global kma_heap *heap, kma_ref nodes)
//   {
//       global kma_arena *arena = kma_arena_at(heap, nodes);
//       global node *n = (global node *)kma_arena_alloc(heap, arena, sizeof(node));
//       …
//   }
//
//   void *kma_arena_alloc        (heap, arena, bytes)         memory until the arena is cleared; NULL, and a record, without
//   void *kma_arena_aligned_alloc(heap, arena, align, bytes)  the same, at a multiple of `align`
//   ulong kma_arena_bytes        (heap, arena)                what it has of the heap
//   bool  kma_arena_room         (heap, arena, bytes)         memory for so much in one piece
//   void  kma_arena_clear        (heap, arena)                frees all its memory
//   void  kma_arena_delete       (heap, arena)                and the arena
//   kma_ref kma_arena_new        (heap, least, most)          an empty arena, which is in the heap, too
//
// In memory:
//
//   arena: chunks -> chunk -> chunk -> …    two lists (list.cl), the newest first, of blocks of the heap
//          large  -> chunk -> chunk -> …
//
//   chunk: block | block | … | not used yet | header      its list's ref leads to the header
//
// The newest of `chunks` is filled: who adds n units to `taken` owns them if the sum is not beyond
// KMA_ARENA_FULL, the same number in each chunk. With the header at the end he knows where they are
// without a look at how long the chunk is. If it is beyond, the chunk is full for ever: `taken` is
// set to that number, so that it never wraps, however many come. Nothing is taken back there, since
// what is behind may be another's by then. The chunk that follows is twice as long until it is long
// enough, so that a small arena takes little memory and a crowd does not wait for hundreds of
// chunks, or as long as what a crowd wants; as short as the first if the heap has no such, and in
// the end as long as what is wanted. A request of more than a quarter of `most`, or 64 KiB, has a
// chunk of its own, in `large`. What is lost at the end of a full chunk is less than was wanted
// there: less than a quarter of `most`, of the first ones perhaps most; and what is left of one
// that `room` covers.
//
// Who finds the chunk full brings the next one. One of a crowd does so at a time (`bringing`,
// lockfree/turn.cl), and nobody waits for him: one who is stopped for ever costs a chunk that he
// has not put into the list yet, and counts for ever among those for whom chunks are made long.
// `lacking` is what all want who look for the next chunk: it is long enough for them, so that it is
// not full again at once. Who brings one because he has looked for too long brings it for himself
// alone, as others may at the same time. Where several bring chunks, who comes later frees his own
// if the other's will do, which he sees by the compare-and-swap that puts his own on top of the
// chunk that he has looked into. (Of a bump heap it is lost.)
//
// Orders: a chunk is put into the list by a release, and found by an acquire, so who cuts a block
// out of it has its header, and the heap's memory after all that was done to it before. The first
// look may find an older chunk, which will do or is full, and then one looks again; and on NVIDIA
// it does not acquire (settled.cl says why that suffices for `taken` and for what the caller
// writes): so who must know how long a chunk is acquires. `taken` orders nothing. Who gets the turn
// to bring sees the chunk that the one before brought, and looks into it first.
#ifndef KMA_CONTAINERS_ARENA_CL
#define KMA_CONTAINERS_ARENA_CL

#include "kma/kma.cl"
#include "kma/containers/arena_layout.cl"
#include "kma/containers/list.cl"
#include "kma/heap/common/blocks.cl"
#include "kma/heap/common/error_log.cl"
#include "kma/lockfree/turn.cl"
#include "kma/platform/settled.cl"

// The most units that are taken at a time: so many by each of all work-items that run together, up
// to 786,432, do not make `taken` or `lacking` wrap.
#ifndef KMA_ARENA_MOST_TAKEN
#define KMA_ARENA_MOST_TAKEN 4096u
#endif
// `taken` of a full chunk, so the most units of one; three times as much may be added
#define KMA_ARENA_FULL (1u << 30)

// Memory as a T. (The tests' host shim makes a C++ object of it.)
#ifndef KMA_OBJECT_AT
#define KMA_OBJECT_AT(T, memory) ((global T *)(memory))
#endif

typedef struct kma_arena {
    kma_list chunks; // the newest is filled
    kma_list large;  // of one block each
    kma_atomic_u32 bringing; // turns to put a chunk into `chunks`
    kma_atomic_u32 lacking;  // units that those want who look for a chunk
    KMA_PLAIN(uint) least;   // units of the shortest chunk
    KMA_PLAIN(uint) most;    // and of the longest, but for those of kma_arena_room
} kma_arena;

typedef struct kma_arena_chunk {
    kma_list_node node;     // first
    // KMA_ARENA_FULL less the units that are left; more for moments when it is full
    kma_atomic_u32 taken;
    KMA_PLAIN(uint) units;  // of the whole chunk, of which the header has the last
    KMA_PLAIN(uint) unused; // 16 bytes all in all
} kma_arena_chunk;

#define KMA_ARENA_HEADER (((uint)sizeof(kma_arena_chunk) + KMA_UNIT - 1) / KMA_UNIT) // units

// The arena that a ref of kma_arena_new leads to.
static inline global kma_arena *kma_arena_at(global kma_heap *heap, kma_ref ref)
{
    return (global kma_arena *)kma_deref(heap, ref);
}

// Nobody is about to bring a chunk, nor any more who was stopped for ever.
static inline void kma_arena_forget(global kma_arena *arena)
{
    kma_store_u32(&arena->bringing, 0, KMA_RELAXED);
    kma_store_u32(&arena->lacking, 0, KMA_RELAXED);
}

// An empty arena. Its first chunk has `least` bytes, each further one twice as many until they have
// `most`, or as many as a crowd wants, up to `most` (both rounded up to a power of two from 256
// bytes to 16 MiB; `most` not above `least`: all have as many); the heap must have room for such.
// KMA_NULL, and a record, if there is no room for the arena; it has no chunk yet. To be passed on
// by a release.
static inline kma_ref kma_arena_new(global kma_heap *heap, uint least, uint most)
{
    global kma_arena *arena = KMA_NEW(heap, kma_arena);
    if (!arena)
        return KMA_NULL;
    kma_list_init(&arena->chunks);
    kma_list_init(&arena->large);
    kma_arena_forget(arena);
    arena->least = kma_arena_chunk_bytes(least) / KMA_UNIT;
    arena->most = kma_arena_chunk_bytes(max(least, most)) / KMA_UNIT;
    return kma_ref_of(heap, arena);
}

// The most units that are taken of a chunk at a time.
static inline uint kma_arena_limit(global kma_arena *arena)
{
    return min(arena->most / 4, KMA_ARENA_MOST_TAKEN);
}

// Makes a chunk of `units` of memory, of which the caller has the first `taken`.
static inline global kma_arena_chunk *kma_arena_open(global void *memory, uint units, uint taken)
{
    const uint blocks = units - KMA_ARENA_HEADER;
    global kma_arena_chunk *chunk =
        KMA_OBJECT_AT(kma_arena_chunk, (global uchar *)memory + (size_t)blocks * KMA_UNIT);
    chunk->units = units;
    kma_store_u32(&chunk->taken, KMA_ARENA_FULL - blocks + taken, KMA_RELAXED);
    return chunk;
}

// The memory of which kma_arena_open made it.
static inline global void *kma_arena_start(global kma_arena_chunk *chunk)
{
    return (global uchar *)chunk - (size_t)(chunk->units - KMA_ARENA_HEADER) * KMA_UNIT;
}

// `n` units, at least 1, of a chunk that may be NULL; KMA_NULL if it has not so many. One that
// never had so many is left as it is, for others. (No need to look at the length for what fits into
// the first ones: shorter ones are full from the start.)
static inline kma_ref kma_arena_cut(global kma_heap *heap, global kma_arena *arena,
                                    global kma_arena_chunk *chunk, uint n)
{
    if (!chunk || (n + KMA_ARENA_HEADER > arena->least && n + KMA_ARENA_HEADER > chunk->units))
        return KMA_NULL;
    const uint at = kma_fetch_add_u32(&chunk->taken, n, KMA_RELAXED);
    if (at + n <= KMA_ARENA_FULL)
        return kma_ref_of(heap, chunk) - (KMA_ARENA_FULL - at);
    kma_store_u32(&chunk->taken, KMA_ARENA_FULL, KMA_RELAXED);
    return KMA_NULL;
}

static inline global kma_arena_chunk *kma_arena_newest(global kma_heap *heap,
                                                       global kma_arena *arena)
{
    return (global kma_arena_chunk *)kma_list_first(heap, &arena->chunks);
}

// That, or an older one: for who wants `n` units, of whom alone kma_arena_cut asks more than
// `taken`, for which the first look would not do.
static inline global kma_arena_chunk *kma_arena_newest_so_far(global kma_heap *heap,
                                                              global kma_arena *arena, uint n)
{
    if (n + KMA_ARENA_HEADER > arena->least)
        return kma_arena_newest(heap, arena);
    return (global kma_arena_chunk *)kma_deref(heap, kma_load_older_u32(&arena->chunks.first));
}

// Units of the shortest chunk that has `n` behind its header, no longer than the longest.
static inline uint kma_arena_length(global kma_arena *arena, uint n)
{
    const uint most = arena->most;
    uint units = arena->least;
    while (units < most && units - KMA_ARENA_HEADER < n) // up to the longest
        units *= 2;
    return units;
}

// Memory for the next chunk, behind `before`, where the caller wants `n` units, and with others
// `wanted`. If the heap has none so long, one twice as long as that before, or as short as the
// first ones, or for `n` alone. *units: its length. Four lengths at most; one call of malloc, since
// some compilers copy them into the caller.
static inline global void *kma_arena_reserve(global kma_heap *heap, global kma_arena *arena,
                                             global kma_arena_chunk *before, uint n, uint wanted,
                                             uint *units)
{
    const uint least = kma_arena_length(arena, n);
    const uint doubled = max(before ? min(before->units * 2, (uint)arena->most) : 0, least);
    *units = max(doubled, kma_arena_length(arena, wanted));
    global void *memory = (global void *)0;
    for (bool again = true; again;) { // each time shorter
        memory = kma_malloc(heap, (size_t)*units * KMA_UNIT);
        const uint shorter = *units > doubled ? doubled
                             : *units > least ? least
                                              : n + KMA_ARENA_HEADER;
        again = !memory && shorter < *units;
        *units = again ? shorter : *units;
    }
    return memory;
}

// `n` units of the next chunk, which he puts into the list on top of `full`, the one that he has
// looked into; or of one that is there by then: so none is hidden behind another that has so much.
// KMA_NULL if there is no memory.
static inline KMA_COLD kma_ref kma_arena_bring(global kma_heap *heap, global kma_arena *arena,
                                               global kma_arena_chunk *full, uint n, uint wanted)
{
    uint units;
    global void *memory = kma_arena_reserve(heap, arena, full, n, wanted, &units);
    global kma_arena_chunk *mine =
        memory ? kma_arena_open(memory, units, n) : (global kma_arena_chunk *)0;
    kma_ref theirs = KMA_NULL;
    // Ends: once, or again for each chunk that others put there and that has not so much.
    for (bool again = true; again;) {
        if (mine &&
            kma_list_push_on(heap, &arena->chunks, (global kma_list_node *)full, &mine->node))
            return kma_ref_of(heap, memory);
        full = kma_arena_newest(heap, arena);
        theirs = kma_arena_cut(heap, arena, full, n);
        again = mine && theirs == KMA_NULL;
    }
    kma_free(heap, memory);
    return theirs;
}

// `n` units for one who found too few in the newest chunk, `full` or NULL: of another's chunk, for
// which he looks so often since the last one came, or of his own.
static inline KMA_COLD kma_ref kma_arena_take_more(global kma_heap *heap, global kma_arena *arena,
                                                   global kma_arena_chunk *full, uint n,
                                                   uint patience)
{
    bool is_my_turn = false;
    kma_ref ref = KMA_NULL;
    kma_fetch_add_u32(&arena->lacking, n, KMA_RELAXED);
    // Ends: looks begin anew only with a chunk more, of which there is a number.
    for (uint looks = 0; looks < patience && !is_my_turn && ref == KMA_NULL; looks++) {
        kma_turn_pause(looks);
        is_my_turn = kma_turn_take(&arena->bringing);
        global kma_arena_chunk *newest = kma_arena_newest(heap, arena);
        if (newest != full) {
            ref = kma_arena_cut(heap, arena, newest, n);
            full = newest;
            looks = 0;
        }
    }
    if (ref == KMA_NULL) {
        // Who joins brings for himself: he may be one of many, whose patience ends at the same
        // time.
        const uint wanted = is_my_turn ? kma_load_u32(&arena->lacking, KMA_RELAXED) : n;
        if (!is_my_turn)
            kma_turn_join(&arena->bringing);
        is_my_turn = true;
        ref = kma_arena_bring(heap, arena, full, n, wanted);
    }
    kma_fetch_add_u32(&arena->lacking, 0u - n, KMA_RELAXED);
    if (is_my_turn)
        kma_turn_end(&arena->bringing);
    return ref;
}

// `n` units, at least 1 and at most kma_arena_limit; KMA_NULL if there is no memory.
static inline kma_ref kma_arena_take(global kma_heap *heap, global kma_arena *arena, uint n)
{
    global kma_arena_chunk *newest = kma_arena_newest_so_far(heap, arena, n);
    const kma_ref ref = kma_arena_cut(heap, arena, newest, n);
    return ref != KMA_NULL ? ref : kma_arena_take_more(heap, arena, newest, n, KMA_TURN_PATIENCE);
}

// How often each of some lanes looks that do so one after the other: long enough for a chunk, some
// 60 µs on GPUs, and less than who is alone. It counts only where one is stopped: else the first
// one's chunk is there for the next.
static inline uint kma_arena_part_of_patience(uint lanes)
{
    return 1 + KMA_TURN_PATIENCE / min(lanes, 4u);
}

// The same for lanes of a group who each want their own: together they want too much at a time, or
// they are of several arenas. Who finds the chunk full brings the next one alone, and then the next
// lane looks: where lanes run in lockstep, he could not while they look for it.
static inline kma_ref kma_arena_take_each(global kma_heap *heap, global kma_arena *arena,
                                          kma_lanes group, uint n)
{
    global kma_arena_chunk *newest = kma_arena_newest_so_far(heap, arena, n);
    kma_ref ref = kma_arena_cut(heap, arena, newest, n);
    const uint lanes = kma_lanes_count(group), mine = kma_lane_rank(group);
    for (uint turn = 0; turn < lanes; turn++)
        if (turn == mine && ref == KMA_NULL)
            ref = kma_arena_take_more(heap, arena, newest, n, kma_arena_part_of_patience(lanes));
    return ref;
}

// The same for lanes that come together, whose `n` differ, and may be 0, for any ref: all at once
// if a chunk may have so many, and if there is no room each alone.
static inline kma_ref kma_arena_take_together(global kma_heap *heap, global kma_arena *arena,
                                              uint n)
{
    const kma_lanes active = kma_lanes_active();
    const kma_lanes group = kma_lanes_alike(active, (ulong)arena);
    kma_ref ref = KMA_NULL;
    bool is_served = n == 0; // or cannot be
    if (kma_lane_in(group)) { // the others are of another arena than the leader's
        const kma_scan sums = kma_lanes_scan(group, n);
        const bool fits = sums.total != 0 && sums.total <= kma_arena_limit(arena);
        is_served = is_served || sums.total == n; // the only one who wants something
        if (fits && kma_lane_leads(group))
            ref = kma_arena_take(heap, arena, sums.total);
        ref = kma_lanes_first(group, ref);
        kma_lanes_sync(group); // what the leader acquired, all need
        ref += ref != KMA_NULL ? sums.before : 0;
    }
    return ref != KMA_NULL || is_served ? ref : kma_arena_take_each(heap, arena, active, n);
}

// A block with a chunk of its own; `align` is the heap's to check.
static inline KMA_COLD global void *
kma_arena_alloc_large(global kma_heap *heap, global kma_arena *arena, size_t align, size_t bytes)
{
    const size_t more = (size_t)KMA_ARENA_HEADER * KMA_UNIT + KMA_UNIT - 1;
    // the latter no heap can serve
    const size_t both =
        bytes <= ~(size_t)0 - more ? (bytes + more) / KMA_UNIT * KMA_UNIT : ~(size_t)0;
    global void *memory = kma_aligned_alloc(heap, align, both);
    if (!memory)
        return (global void *)0;
    const uint units = (uint)(both / KMA_UNIT);
    kma_list_push(heap, &arena->large,
                  &kma_arena_open(memory, units, units - KMA_ARENA_HEADER)->node);
    return memory;
}

// `bytes` of memory at a multiple of `align`, a power of two (below 16: of 16), until the arena is
// cleared; contents undefined. Takes up to align - 16 bytes more. NULL for 0 bytes; NULL, and the
// heap's record, if there is no memory. Any work-item, converged or not; lanes that come together
// are served together. A load and an add that waits for it.
static inline global void *kma_arena_aligned_alloc(global kma_heap *heap, global kma_arena *arena,
                                                   size_t align, size_t bytes)
{
    const size_t around = align > KMA_UNIT ? align - KMA_UNIT : 0;
    const size_t limit = (size_t)kma_arena_limit(arena) * KMA_UNIT;
    const bool is_small =
        around <= limit && bytes <= limit - around && kma_can_align(heap, align, ~(size_t)0);
    const uint units = is_small ? (uint)((bytes + around + KMA_UNIT - 1) / KMA_UNIT) : 0;
    const kma_ref ref = kma_arena_take_together(heap, arena, bytes != 0 ? units : 0);
    if (bytes == 0)
        return (global void *)0;
    if (!is_small)
        return kma_arena_alloc_large(heap, arena, align, bytes);
    const uint align_units = (uint)around / KMA_UNIT + 1;
    // NULL, if there was no memory
    return kma_deref(heap, (ref + align_units - 1) & ~(align_units - 1));
}

// kma_arena_aligned_alloc to 16 bytes.
static inline global void *kma_arena_alloc(global kma_heap *heap, global kma_arena *arena,
                                           size_t bytes)
{
    return kma_arena_aligned_alloc(heap, arena, KMA_UNIT, bytes);
}

// Sees to it that the newest chunk has `bytes` for blocks, by one more if it has not: whether it
// has. What others take meanwhile is taken off it. So a crowd that begins need not wait for chunks
// that become longer one by one. At most 16 GiB at a time. Any work-item; what the chunk before has
// left is not used any more.
static inline bool kma_arena_room(global kma_heap *heap, global kma_arena *arena, ulong bytes)
{
    if (bytes > (ulong)KMA_ARENA_FULL * KMA_UNIT) {
        kma_report(&heap->header, KMA_ERROR_TOO_LARGE, KMA_NULL, bytes);
        return false;
    }
    const uint wanted = (uint)((bytes + KMA_UNIT - 1) / KMA_UNIT);
    const uint units = max(wanted + KMA_ARENA_HEADER, (uint)arena->least);
    global void *memory = (global void *)0;
    global kma_arena_chunk *mine = (global kma_arena_chunk *)0;
    // again with memory, and for each chunk that others put there meanwhile
    for (bool is_there = false; !is_there;) {
        global kma_arena_chunk *newest = kma_arena_newest(heap, arena);
        const uint taken = newest ? kma_load_u32(&newest->taken, KMA_RELAXED) : KMA_ARENA_FULL + 1;
        if (taken <= KMA_ARENA_FULL && KMA_ARENA_FULL - taken >= wanted) {
            kma_free(heap, memory); // NULL, or what is not needed after all
            is_there = true;
        } else if (mine) {
            is_there =
                kma_list_push_on(heap, &arena->chunks, (global kma_list_node *)newest, &mine->node);
        } else {
            memory = kma_malloc(heap, (size_t)units * KMA_UNIT);
            if (!memory)
                return false;
            mine = kma_arena_open(memory, units, 0);
        }
    }
    return true;
}

// ------ all at once ------------------------------------------------------------------------------

static inline ulong kma_arena_list_bytes(global kma_heap *heap, global kma_list *list)
{
    ulong units = 0;
    // the list's end
    for (global kma_list_node *at = kma_list_first(heap, list); at; at = kma_list_next(heap, at))
        units += ((global kma_arena_chunk *)at)->units;
    return units * KMA_UNIT;
}

// How many bytes of the heap the arena's chunks have: more than was asked for. Any work-item; a
// step for each chunk.
static inline ulong kma_arena_bytes(global kma_heap *heap, global kma_arena *arena)
{
    return kma_arena_list_bytes(heap, &arena->chunks) + kma_arena_list_bytes(heap, &arena->large);
}

static inline void kma_arena_free_list(global kma_heap *heap, global kma_list *list)
{
    global kma_list_node *at = kma_list_take_all(heap, list);
    while (at) { // a chunk less each time
        global kma_list_node *next = kma_list_next(heap, at);
        kma_free(heap, kma_arena_start((global kma_arena_chunk *)at));
        at = next;
    }
}

// Frees all that was taken of the arena; it begins anew. One work-item, while nobody else uses it:
// between two kernels, or behind the barrier of the work-group whose arena it is.
static inline void kma_arena_clear(global kma_heap *heap, global kma_arena *arena)
{
    kma_arena_free_list(heap, &arena->chunks);
    kma_arena_free_list(heap, &arena->large);
    kma_arena_forget(arena);
}

// kma_arena_clear, and the arena itself.
static inline void kma_arena_delete(global kma_heap *heap, global kma_arena *arena)
{
    kma_arena_clear(heap, arena);
    kma_free(heap, arena);
}

#endif
