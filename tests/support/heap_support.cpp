// Kernels that allocate, and that damage a superblock heap's metadata.
#include "heap_support.hpp"

#include <algorithm>
#include <cstdio>

namespace test {
namespace {

const char *text = R"(#include "kma/kma.cl"
#include "kma/heap/superblock.cl"
kernel void allocate(global kma_heap *heap, global const ulong *sizes, global uint *refs, uint each, uint count)
{
    const size_t first = get_global_id(0) * each;
    for (size_t i = first; i < min(first + each, (size_t)count); i++)
        refs[i] = kma_ref_of(heap, kma_malloc(heap, sizes[i]));
}
kernel void give(global kma_heap *heap, global const uint *refs, uint count)
{
    if (get_global_id(0) < count)
        kma_free(heap, kma_deref(heap, refs[get_global_id(0)]));
}
#define KEPT 3
kernel void churn(global kma_heap *heap, uint seed, uint largest, global uint *refs, global ulong *sizes, uint count)
{
    if (get_global_id(0) >= count)
        return;
    global uint *mine = refs + get_global_id(0) * KEPT;
    global ulong *bytes = sizes + get_global_id(0) * KEPT;
    uint random = kma_mix32(seed + (uint)get_global_id(0));
    for (uint round = 0; round < 20; round++) {
        random = kma_mix32(random + 1);
        const uint i = random % KEPT;
        kma_free(heap, kma_deref(heap, mine[i]));
        random = kma_mix32(random + 1);
        bytes[i] = random % 4 == 0 ? 0 : 1 + random / 4 % (random % 3 == 0 ? largest : 100);
        mine[i] = kma_ref_of(heap, kma_malloc(heap, bytes[i]));
    }
}
typedef struct item {
    kma_ref next;
    uint number;
} item;
kernel void push(global kma_heap *heap, uint first, uint count, global uint *result)
{
    for (uint i = 0; i < count; i++) {
        global item *next = kma_deref(heap, first);
        global item *mine = KMA_NEW(heap, item);
        if (!mine)
            break;
        mine->next = first;
        mine->number = next ? next->number + 1 : 0;
        first = kma_ref_of(heap, mine);
    }
    *result = first;
}
kernel void sum(global kma_heap *heap, uint first, global uint *result)
{
    for (global item *at = kma_deref(heap, first); at; at = kma_deref(heap, at->next))
        *result += at->number;
}
kernel void address(global kma_heap *heap, uint ref, global ulong *result)
{
    *result = (ulong)kma_deref(heap, ref);
}
static global void *place(global kma_superblock *heap, uint what, uint a)
{
    switch (what) {
    case 0: return &kma_superblock_state_of(heap, a)->credit;
    case 1: return &kma_superblock_state_of(heap, a)->content;
    case 2: return kma_superblock_bitmap(heap, a);
    case 3: return kma_superblock_set(heap, a);
    case 4: return &heap->classes[a].partial.count;
    case 5: return &heap->classes[a].slots;
    case 6: return &heap->classes[a].offer;
    case 7: return &kma_queue_nodes(kma_superblock_queue(heap))[a].next;
    case 8: return &kma_queue_nodes(kma_superblock_queue(heap))[a].item;
    case 9: return &kma_queue_nodes(kma_superblock_queue(heap))[a].carrier;
    case 10: return &kma_superblock_queue(heap)->head;
    case 11: return &kma_superblock_queue(heap)->tail;
    case 12: return &kma_superblock_queue(heap)->capacity;
    case 13: return &heap->moves;
    case 14: return (global uint *)&heap->plan + a;
    case 15: return &heap->classes[a].helpers;
    default: return (global uint *)heap + a;
    }
}
kernel void flip(global kma_superblock *heap, uint what, uint a, uint bit)
{
    ((global uint *)place(heap, what, a))[bit / 32] ^= 1u << (bit % 32);
}
kernel void store(global kma_superblock *heap, uint what, uint a, uint b)
{
    *(global uint *)place(heap, what, a) = b;
}
kernel void damage(global kma_superblock *heap, uint what, uint a, uint b, uint c)
{
    global uint *word = (global uint *)place(heap, what < 2 ? 2 : 3, a) + b / 32;
    const uint bit = 1u << (b % 32);
    if (what < 4)
        *word = what % 2 == 0 ? *word | bit : *word & ~bit;
    else if (what == 4)
        kma_superblock_offer_store(&heap->classes[a].offer,
                                   kma_superblock_offer_pack(heap, kma_superblock_offer_of(b, c)), KMA_RELAXED);
    else
        kma_queue_store((global kma_queue_atomic *)place(heap, what == 5 ? 7 : what + 4, a),
                        kma_queue_pack(b & KMA_QUEUE_END, 7), KMA_RELAXED);
}
)";

// What flip() changes, and damage() sets to b, in the order of place(). Of superblock a: credit, content, bitmap. Of
// class a: set, set count, slots, offer word, helpers. Of node a: next word, item, carrier. Word a: plan, header.
const std::vector<std::string> places = {"credit",         "content",   "bitmap", "set",     "set count", "slots",
                                         "offer word",     "next word", "item",   "carrier", "head word", "tail word",
                                         "queue capacity", "moves",     "plan",   "helpers", "header"};

// What else damage() does: bit b of superblock a's bitmap; superblock b of class a's set, not counted; class a's offer,
// of which c are drawn, of superblock b; node a, the head and the tail lead to node b.
const std::vector<std::string> damages = {"set bit", "clear bit", "put in set", "take out of set",
                                          "offer",   "next",      "head",       "tail"};

// Its number; the list's length if it is not there.
cl_uint number_of(const std::string &what, const std::vector<std::string> &all)
{
    return static_cast<cl_uint>(std::ranges::find(all, what) - all.begin());
}

} // namespace

const std::vector<std::string> atomic_widths = {"", "-DKMA_HAS_ATOMIC64=0"};

const kma::Device &device()
{
    // Never destroyed: at exit, some drivers are gone before the program's static objects.
    static const kma::Device &selected = []() -> const kma::Device & {
        const auto *device = new kma::Device(kma::Device::select());
        std::printf("device: %s, %s\n", device->name().c_str(), device->language_option().c_str());
        return *device;
    }();
    return selected;
}

std::vector<kma::Storage> storages()
{
    if (device().has_svm())
        return {kma::Storage::buffer, kma::Storage::svm};
    return {kma::Storage::buffer};
}

kma::HeapOptions superblocks(std::uint64_t superblock_bytes, const std::string &build_options)
{
    return {.kind = kma::HeapKind::superblock, .superblock = {superblock_bytes}, .build_options = build_options};
}

kma::HeapOptions slabs(kma::Storage storage, int debug, std::uint64_t max_bytes)
{
    return {.kind = kma::HeapKind::slab, .storage = storage, .debug = debug, .max_bytes = max_bytes};
}

std::uint64_t bytes_for_superblocks(std::uint64_t count, std::uint64_t max_bytes)
{
    kma::HeapOptions options = superblocks(4096);
    options.max_bytes = max_bytes;
    return kma::Heap::bytes_for(options, count * 4096);
}

std::string findings(const kma::Heap &heap)
{
    std::string text;
    for (const std::string &sentence : heap.check())
        text += sentence + "\n";
    return text;
}

std::vector<cl_uint> image_of(const kma::Heap &heap)
{
    std::vector<cl_uint> words(heap.bytes() / sizeof(cl_uint));
    device().queue().enqueueReadBuffer(heap.buffer(), CL_TRUE, 0, words.size() * sizeof(cl_uint), words.data());
    return words;
}

void write_words(const kma::Heap &heap, const std::vector<cl_uint> &words, std::size_t first)
{
    device().queue().enqueueWriteBuffer(heap.buffer(), CL_TRUE, first * sizeof(cl_uint), words.size() * sizeof(cl_uint),
                                        words.data());
}

Kernels::Kernels(const kma::Heap &heap) : heap_(heap), program_(heap.program({{"heap_support.cl", text}})) {}

// In groups of one size: PoCL compiles a kernel again for each size.
template <class... Args> void Kernels::run(const char *name, std::size_t work_items, const Args &...args) const
{
    const std::size_t group = work_items == 1 ? 1 : 64;
    launch(program_, name, {(work_items + group - 1) / group * group, group}, heap_, args...);
}

template <class T, class... Args> T Kernels::run_for(const char *name, const Args &...args) const
{
    const Array<T> result(1, 0);
    run(name, 1, args..., result);
    return result.read()[0];
}

std::vector<kma::Ref> Kernels::allocate(const std::vector<cl_ulong> &sizes, bool in_order) const
{
    const Array<kma::Ref> refs(sizes.size(), 0);
    const auto count = static_cast<cl_uint>(sizes.size());
    run("allocate", in_order ? 1 : count, Array(sizes), refs, in_order ? count : 1, count);
    return refs.read();
}

std::vector<kma::Ref> Kernels::allocate(std::size_t count, cl_ulong size, bool in_order) const
{
    return allocate(std::vector<cl_ulong>(count, size), in_order);
}

void Kernels::free(const std::vector<kma::Ref> &refs) const
{
    run("give", refs.size(), Array(refs), static_cast<cl_uint>(refs.size()));
}

Kernels::Kept Kernels::churn(std::size_t work_items, cl_uint seed, cl_uint largest) const
{
    constexpr std::size_t kept = 3;
    const Array<kma::Ref> refs(work_items * kept, 0);
    const Array<cl_ulong> sizes(work_items * kept, 0);
    run("churn", work_items, seed, largest, refs, sizes, static_cast<cl_uint>(work_items));
    return {refs.read(), sizes.read()};
}

kma::Ref Kernels::push(kma::Ref first, cl_uint count) const
{
    return run_for<kma::Ref>("push", first, count);
}

cl_uint Kernels::sum(kma::Ref first) const
{
    return run_for<cl_uint>("sum", first);
}

cl_ulong Kernels::address(kma::Ref ref) const
{
    return run_for<cl_ulong>("address", ref);
}

void Kernels::damage(const std::string &what, cl_uint a, cl_uint b, cl_uint c) const
{
    if (const cl_uint number = number_of(what, places); number != places.size())
        run("store", 1, number, a, b);
    else
        run("damage", 1, number_of(what, damages), a, b, c);
}

void Kernels::flip(const std::string &what, cl_uint a, cl_uint bit) const
{
    run("flip", 1, number_of(what, places), a, bit);
}

Town::Town(const kma::HeapOptions &options, std::uint64_t built)
    : heap(device(), bytes_for_superblocks(built, options.max_bytes), options), kernels(heap)
{
    refs = kernels.allocate(70, 60, true);
    const std::vector<kma::Ref> freed = {refs[5], refs[40], refs[63]};
    kernels.free(freed);
    std::erase_if(refs, [&](kma::Ref ref) { return std::ranges::find(freed, ref) != freed.end(); });
    const std::vector<kma::Ref> more = kernels.allocate(33, 113, true);
    refs.insert(refs.end(), more.begin(), more.end());
}

Street::Street(const kma::HeapOptions &options)
    : heap(device(), kma::Heap::bytes_for(options, 16 * frame_bytes), options), kernels(heap)
{
    std::vector<cl_ulong> sizes(20, 60);
    sizes.insert(sizes.end(), {4096, 4000, 3900, 20000});
    refs = kernels.allocate(sizes, true);
    const std::vector<kma::Ref> freed = {refs[2], refs[9], refs[10], refs[17]};
    kernels.free(freed);
    std::erase_if(refs, [&](kma::Ref ref) { return std::ranges::find(freed, ref) != freed.end(); });
}

} // namespace test
