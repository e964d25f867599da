// The selftest: checks that a device computes what kma relies on. host/src/selftest/ runs these
// kernels and judges their results. No kernel waits, and every loop is bounded, whatever the device
// does wrong.
#ifndef KMA_SELFTEST_KERNELS_CL
#define KMA_SELFTEST_KERNELS_CL

#include "kma/selftest/lanes.cl"
#include "kma/selftest/layout.cl"
#include "kma/selftest/messages.cl"
#include "kma/platform/memory.cl"

#define KMA_WORD u32
#define KMA_WORD_TYPE uint
#include "kma/selftest/word.cl"
#undef KMA_WORD
#undef KMA_WORD_TYPE

#if KMA_HAS_ATOMIC64
#define KMA_WORD u64
#define KMA_WORD_TYPE ulong
#include "kma/selftest/word.cl"
#undef KMA_WORD
#undef KMA_WORD_TYPE
#endif

// All work-items pass places 0 and 1 together. The host's flow_of() is the same control flow
// (host/src/selftest/selftest.cpp).
kernel void kma_selftest_lanes_kernel(global kma_selftest_sight *sights, global uint *visits_made)
{
    const uint me = (uint)get_global_id(0);
    uint visits = 0;
    kma_selftest_look(sights, KMA_SELFTEST_VISITS, &visits, 0, 0);
    kma_selftest_look(sights, KMA_SELFTEST_VISITS, &visits, 1, 20);
    if (me & 1)
        kma_selftest_look(sights, KMA_SELFTEST_VISITS, &visits, 2, 0);
    else
        kma_selftest_look(sights, KMA_SELFTEST_VISITS, &visits, 3, 20);
    switch (me % 5) { // not by 4: oclgrind 21.10 takes the wrong case of a switch over two bits
    case 0:
        kma_selftest_look(sights, KMA_SELFTEST_VISITS, &visits, 4, 0);
        break;
    case 1:
        break;
    default:
        kma_selftest_look(sights, KMA_SELFTEST_VISITS, &visits, 5, 20);
    }
    for (uint i = 0; i < 6; i++) {
        if (((me + i) & 1) != 0)
            continue;
        if (i == me % 7)
            break;
        kma_selftest_look(sights, KMA_SELFTEST_VISITS, &visits, 6, 20);
    }
    visits_made[me] = visits;
}

// A node of a list that is linked by addresses, which the host or an earlier kernel wrote.
typedef struct kma_selftest_node {
    ulong next; // an address
    ulong value;
} kma_selftest_node;

// One work-item.
// 1. Follows the list of `count` nodes from head[0] on and adds up its values. Does not follow an
//    address outside the nodes.
// 2. Links the `count` nodes after these into a second list, from the last to the first, and stores
//    its start in head[1].
// 3. out[0]: the address of the nodes; out[1]: the sum; out[2]: the nodes followed.
kernel void kma_selftest_svm_kernel(global kma_selftest_node *nodes, global ulong *head, uint count,
                                    global ulong *out)
{
    const ulong begin = (ulong)nodes;
    const ulong end = (ulong)(nodes + count);
    ulong at = head[0];
    ulong sum = 0;
    uint followed = 0;
    for (; followed < count && at >= begin && at < end; followed++) {
        sum += ((global kma_selftest_node *)at)->value;
        at = ((global kma_selftest_node *)at)->next;
    }
    for (uint i = count; i < 2 * count; i++) {
        nodes[i].next = i == count ? 0 : (ulong)(nodes + i - 1);
        nodes[i].value = kma_mix32(i);
    }
    head[1] = (ulong)(nodes + 2 * count - 1);
    out[0] = begin;
    out[1] = sum;
    out[2] = followed;
}

#endif
