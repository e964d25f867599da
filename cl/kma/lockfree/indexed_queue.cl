// A lock-free first-in first-out queue of the integers 0 … capacity-1: Michael & Scott's queue over
// {index, tag} words (Spliet, thesis 5.1.2 and 6.1.1; Michael & Scott, PODC 1996). It needs no
// allocator.
//
// An item is the number of something that one work-item owns: a superblock, a slot. Each item is in
// the queue at most once. The work-item that dequeues an item owns it, and may pass it on; the
// owner may enqueue it again.
//
//           head {node,tag}                     tail {node,tag}
//                |                                   |
//             +--v---+ next  +------+ next  +--------v+
//             |dummy |------>|item 7|------>| item 2  |---> KMA_QUEUE_END
//             +------+       +------+       +---------+
//
// There is one node more than items, and the first node is a dummy: the queue can run empty and
// give out every item. (The thesis always keeps one superblock back.) Dequeueing item 7 makes its
// node the new dummy. The old dummy leaves with the item, and carries it when it comes back:
// carrier[item] is the node that the item's owner owns.
//
// Invariants, at rest:
//
// - tail is the last node of the list that begins at head;
// - the queue holds (nodes in the list) - 1 items;
// - every node is in the list, or is carrier[i] of exactly one item i outside.
//
// During operations tail is the last node or one that the list reaches from head: head never passes
// tail.
//
// Tags: a work-item that slept while its node went out and came back must fail its
// compare-and-swap. Every write to a word raises its tag. The compare-and-swap is fooled only if
// exactly 2^KMA_QUEUE_TAG_BITS writes, or a multiple, hit the word between its load and its
// compare-and-swap.
//
// Progress: every retry means that another work-item's compare-and-swap succeeded. A work-item that
// stops for ever costs the item that it holds. A half-done enqueue is finished by the next
// work-item.
#ifndef KMA_LOCKFREE_INDEXED_QUEUE_CL
#define KMA_LOCKFREE_INDEXED_QUEUE_CL

#include "kma/platform/memory.cl"

// Index in the low bits, tag in the high ones. Tags of 64-bit words repeat after 2^32 writes to one
// word, of 32-bit words after 2^16.
#if KMA_HAS_ATOMIC64
typedef ulong kma_queue_word;
typedef kma_atomic_u64 kma_queue_atomic;
#define KMA_QUEUE_INDEX_BITS 32
#define kma_queue_load kma_load_u64
#define kma_queue_store kma_store_u64
#define kma_queue_cas kma_cas_u64
#else
typedef uint kma_queue_word;
typedef kma_atomic_u32 kma_queue_atomic;
#define KMA_QUEUE_INDEX_BITS 16
#define kma_queue_load kma_load_u32
#define kma_queue_store kma_store_u32
#define kma_queue_cas kma_cas_u32
#endif
// Fewer only in the test that shows what a repeated tag does.
#ifndef KMA_QUEUE_TAG_BITS
#define KMA_QUEUE_TAG_BITS (8 * sizeof(kma_queue_word) - KMA_QUEUE_INDEX_BITS)
KMA_STATIC_ASSERT(KMA_QUEUE_TAG_BITS >= 16, queue_has_at_least_16_tag_bits);
#endif
KMA_STATIC_ASSERT(KMA_QUEUE_INDEX_BITS + KMA_QUEUE_TAG_BITS <= 8 * sizeof(kma_queue_word),
                  queue_word_fits);

#define KMA_QUEUE_END ((uint)(((kma_queue_word)1 << (KMA_QUEUE_INDEX_BITS - 1)) * 2 - 1)) // no node
// no item
#define KMA_QUEUE_EMPTY 0xffffffffu
// items; one node more
#define KMA_QUEUE_MAX_CAPACITY (KMA_QUEUE_END - 1)

typedef struct kma_queue_node {
    kma_queue_atomic next;   // {next node or KMA_QUEUE_END, tag}
    kma_atomic_u32 item;     // the item, while the node is in the list after the dummy
    // of the item with this node's number: the node that its owner owns. Only the owner accesses
    // it.
    KMA_PLAIN(uint) carrier;
} kma_queue_node;

// The nodes follow the struct in memory, capacity + 1 of them. Head and tail have cache lines of
// their own.
typedef struct kma_queue {
    kma_queue_atomic head;
    uchar pad_head[128 - sizeof(kma_queue_atomic)];
    kma_queue_atomic tail;
    uchar pad_tail[128 - sizeof(kma_queue_atomic)];
    uint capacity;
    uint pad_capacity[31];
} kma_queue;

static inline kma_queue_word kma_queue_pack(uint index, kma_queue_word tag)
{
    const kma_queue_word tag_mask = (((kma_queue_word)1 << (KMA_QUEUE_TAG_BITS - 1)) * 2) - 1;
    return (kma_queue_word)index | ((tag & tag_mask) << KMA_QUEUE_INDEX_BITS);
}

static inline uint kma_queue_index(kma_queue_word word)
{
    return (uint)word & KMA_QUEUE_END;
}

static inline kma_queue_word kma_queue_tag(kma_queue_word word)
{
    return word >> KMA_QUEUE_INDEX_BITS;
}

static inline global kma_queue_node *kma_queue_nodes(global kma_queue *queue)
{
    return (global kma_queue_node *)(queue + 1);
}

static inline global kma_queue_atomic *kma_queue_next(global kma_queue *queue, uint node)
{
    return &kma_queue_nodes(queue)[node].next;
}

// Makes a queue that holds items 0 … items-1 in that order; the caller owns the others. `first_tag`
// is where tags begin (0; a test begins near the wrap). Called by all work-items of one launch that
// nothing else overlaps.
static inline void kma_queue_init(global kma_queue *queue, uint capacity, uint items,
                                  uint first_tag, size_t me, size_t work_items)
{
    global kma_queue_node *nodes = kma_queue_nodes(queue);
    for (size_t i = me; i <= capacity; i += work_items) {
        // linked also beyond `items`: for kma_queue_extend
        const uint next = i != items ? (uint)i + 1 : KMA_QUEUE_END;
        kma_queue_store(&nodes[i].next, kma_queue_pack(next, first_tag), KMA_RELAXED);
        kma_store_u32(&nodes[i].item, (uint)i - 1, KMA_RELAXED); // node 0 is the dummy
        // of item i; read only while i is outside
        nodes[i].carrier = (uint)i + 1;
    }
    if (me == 0) {
        queue->capacity = capacity;
        kma_queue_store(&queue->head, kma_queue_pack(0, first_tag), KMA_RELAXED);
        kma_queue_store(&queue->tail, kma_queue_pack(items, first_tag), KMA_RELAXED);
    }
}

// Puts `item` (< capacity), which the caller owns, at the end. Releases: pairs with its dequeue.
static inline KMA_OUTLINE void kma_queue_enqueue(global kma_queue *queue, uint item)
{
    global kma_queue_node *nodes = kma_queue_nodes(queue);
    const uint node = nodes[item].carrier;
    global kma_queue_atomic *const my_next = kma_queue_next(queue, node);
    const kma_queue_word old_next = kma_queue_load(my_next, KMA_RELAXED);
    kma_store_u32(&nodes[node].item, item, KMA_RELAXED);
    // Release: a work-item that loaded this node as the tail of an earlier stay and reads this END
    // must see, below, that the tail has moved on.
    kma_queue_store(my_next, kma_queue_pack(KMA_QUEUE_END, kma_queue_tag(old_next) + 1),
                    KMA_RELEASE);
    // Each further round saw another work-item link a node or move the tail.
    for (;;) {
        const kma_queue_word tail = kma_queue_load(&queue->tail, KMA_ACQUIRE);
        global kma_queue_atomic *const last_next = kma_queue_next(queue, kma_queue_index(tail));
        const kma_queue_word next = kma_queue_load(last_next, KMA_ACQUIRE);
        // Still the tail after `next` was loaded: `next` belongs to this stay of the node in the
        // list. The acquire keeps this load after that one. Without it, a node that left could be
        // linked to.
        if (kma_queue_load(&queue->tail, KMA_RELAXED) != tail)
            continue;
        if (kma_queue_index(next) != KMA_QUEUE_END) { // the tail lags: move it
            kma_queue_cas(&queue->tail, tail,
                          kma_queue_pack(kma_queue_index(next), kma_queue_tag(tail) + 1),
                          KMA_RELEASE);
            continue;
        }
        // Release: publishes the node's words and the caller's uses of the item.
        if (kma_queue_cas(last_next, next, kma_queue_pack(node, kma_queue_tag(next) + 1),
                          KMA_RELEASE) == next) {
            kma_queue_cas(&queue->tail, tail, kma_queue_pack(node, kma_queue_tag(tail) + 1),
                          KMA_RELEASE);
            return;
        }
    }
}

// Puts items `items` … more-1 at the end. None of them has been in the queue since kma_queue_init,
// and all before them have: their nodes are linked already. Called by one work-item at rest: no
// work-item holds an old word, and tags may restart.
static inline void kma_queue_extend(global kma_queue *queue, uint items, uint more)
{
    if (more <= items)
        return;
    const uint last = kma_queue_index(kma_queue_load(&queue->tail, KMA_RELAXED));
    kma_queue_store(kma_queue_next(queue, more), kma_queue_pack(KMA_QUEUE_END, 0), KMA_RELAXED);
    kma_queue_store(kma_queue_next(queue, last), kma_queue_pack(items + 1, 0), KMA_RELAXED);
    kma_queue_store(&queue->tail, kma_queue_pack(more, 0), KMA_RELAXED);
}

// Takes the first item; the caller owns it. KMA_QUEUE_EMPTY if there was none at some moment of the
// call. Acquires.
static inline KMA_OUTLINE uint kma_queue_dequeue(global kma_queue *queue)
{
    global kma_queue_node *nodes = kma_queue_nodes(queue);
    // Each further round saw another work-item move head or tail.
    for (;;) {
        const kma_queue_word head = kma_queue_load(&queue->head, KMA_ACQUIRE);
        const kma_queue_word tail = kma_queue_load(&queue->tail, KMA_ACQUIRE);
        // Acquire: pairs with the release that linked the node: its item can be read.
        const kma_queue_word next =
            kma_queue_load(kma_queue_next(queue, kma_queue_index(head)), KMA_ACQUIRE);
        // Still the head after tail and next were loaded: the three belong together.
        if (kma_queue_load(&queue->head, KMA_RELAXED) != head)
            continue;
        if (kma_queue_index(next) == KMA_QUEUE_END)
            return KMA_QUEUE_EMPTY;
        // the tail lags: move it, since head must not pass it
        if (kma_queue_index(head) == kma_queue_index(tail)) {
            kma_queue_cas(&queue->tail, tail,
                          kma_queue_pack(kma_queue_index(next), kma_queue_tag(tail) + 1),
                          KMA_RELEASE);
            continue;
        }
        // Loaded before the compare-and-swap; its release keeps the load there. Later the node is
        // the dummy, and its next owner may write. If the node was recycled meanwhile, the
        // compare-and-swap fails.
        const uint item = kma_load_u32(&nodes[kma_queue_index(next)].item, KMA_RELAXED);
        if (kma_queue_cas(&queue->head, head,
                          kma_queue_pack(kma_queue_index(next), kma_queue_tag(head) + 1),
                          KMA_RELEASE) == head) {
            nodes[item].carrier = kma_queue_index(head);
            return item;
        }
    }
}

#endif
