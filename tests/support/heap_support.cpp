// Kernels that allocate, and that damage what the allocator knows.
#include "heap_support.hpp"

#include <algorithm>
#include <cstdio>
#include <map>

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
    for (uint i = 0; i < KEPT; i++)
        mine[i] = 0;
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
    *result = 0;
    for (global item *at = kma_deref(heap, first); at; at = kma_deref(heap, at->next))
        *result += at->number;
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
    global kma_queue *queue = kma_superblock_queue(heap);
    switch (what) {
    case 0: kma_fetch_or_u32(&kma_superblock_bitmap(heap, a)[b / 32], 1u << (b % 32), KMA_RELAXED); break;
    case 1: kma_fetch_and_u32(&kma_superblock_bitmap(heap, a)[b / 32], ~(1u << (b % 32)), KMA_RELAXED); break;
    case 2: kma_fetch_or_u32(&kma_superblock_set(heap, a)[b / 32], 1u << (b % 32), KMA_RELAXED); break;
    case 3: kma_fetch_and_u32(&kma_superblock_set(heap, a)[b / 32], ~(1u << (b % 32)), KMA_RELAXED); break;
    case 4: kma_superblock_offer_store(&heap->classes[a].offer, kma_superblock_offer_pack(heap, kma_superblock_offer_of(b, c)), KMA_RELAXED); break;
    case 5: kma_queue_store(kma_queue_next(queue, a), kma_queue_pack(b & KMA_QUEUE_END, 7), KMA_RELAXED); break;
    case 6: kma_queue_store(&queue->head, kma_queue_pack(b & KMA_QUEUE_END, 7), KMA_RELAXED); break;
    case 7: kma_queue_store(&queue->tail, kma_queue_pack(b & KMA_QUEUE_END, 7), KMA_RELAXED); break;
    }
}
)";

// Where flip() and damage() find a number.
const std::map<std::string, cl_uint> places = {
    {"credit", 0},          // of superblock a
    {"content", 1},         // of superblock a
    {"bitmap", 2},          // of superblock a
    {"set", 3},             // of class a
    {"set count", 4},       // of class a
    {"slots", 5},           // of class a
    {"offer word", 6},      // of class a
    {"next word", 7},       // of node a
    {"item", 8},            // of node a
    {"carrier", 9},         // of superblock a
    {"head word", 10},      // a is 0
    {"tail word", 11},      // a is 0
    {"queue capacity", 12}, // a is 0
    {"moves", 13},          // a is 0
    {"plan", 14},           // its word a
    {"helpers", 15},        // of class a
    {"header", 16},         // its word a
};

// What damage() does otherwise than by writing b there.
const std::map<std::string, cl_uint> damages = {
    {"set bit", 0},         // b of superblock a's bitmap
    {"clear bit", 1},       // b of superblock a's bitmap
    {"put in set", 2},      // of class a: superblock b, not counted
    {"take out of set", 3}, // of class a: superblock b, not counted
    {"offer", 4},           // of class a: superblock b, c drawn
    {"next", 5},            // of node a: b
    {"head", 6},            // b
    {"tail", 7},            // b
};

kma::Program build(const kma::HeapOptions &heap)
{
    kma::ProgramOptions options;
    options.heap = heap.kind;
    options.debug = heap.debug;
    options.options = heap.build_options;
    return kma::Program(device(), {{"heap_support.cl", text}}, options);
}

template <class T> cl::Buffer copy_of(const std::vector<T> &values)
{
    cl::Buffer buffer(device().context(), CL_MEM_READ_WRITE, values.size() * sizeof(T));
    device().queue().enqueueWriteBuffer(buffer, CL_TRUE, 0, values.size() * sizeof(T), values.data());
    return buffer;
}

template <class T> std::vector<T> read(const cl::Buffer &buffer)
{
    std::vector<T> values(buffer.getInfo<CL_MEM_SIZE>() / sizeof(T));
    device().queue().enqueueReadBuffer(buffer, CL_TRUE, 0, values.size() * sizeof(T), values.data());
    return values;
}

} // namespace

const std::vector<std::string> widths = {"", "-DKMA_HAS_ATOMIC64=0"};

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
    kma::HeapOptions options;
    options.kind = kma::HeapKind::superblock;
    options.superblock_bytes = superblock_bytes;
    options.build_options = build_options;
    return options;
}

Kernels::Kernels(const kma::Heap &heap) : heap_(heap), program_(build(heap.options())) {}

cl::Kernel Kernels::kernel(const std::string &name) const
{
    cl::Kernel made = program_.kernel(name);
    heap_.set_arg(made, 0);
    return made;
}

// In groups of one size: PoCL compiles a kernel once more for each.
void Kernels::run(const cl::Kernel &kernel, std::size_t work_items) const
{
    constexpr std::size_t group = 64;
    const std::size_t all = work_items == 1 ? 1 : (work_items + group - 1) / group * group;
    device().queue().enqueueNDRangeKernel(kernel, cl::NullRange, cl::NDRange(all), cl::NDRange(std::min(all, group)));
    device().queue().finish();
}

std::vector<kma::Ref> Kernels::allocate(const std::vector<cl_ulong> &sizes, bool in_order) const
{
    cl::Kernel made = kernel("allocate");
    const cl::Buffer in = copy_of(sizes);
    const cl::Buffer out(device().context(), CL_MEM_READ_WRITE, sizes.size() * sizeof(cl_uint));
    made.setArg(1, in);
    made.setArg(2, out);
    made.setArg(3, static_cast<cl_uint>(in_order ? sizes.size() : 1));
    made.setArg(4, static_cast<cl_uint>(sizes.size()));
    run(made, in_order ? 1 : sizes.size());
    return read<kma::Ref>(out);
}

std::vector<kma::Ref> Kernels::allocate(std::size_t count, cl_ulong size, bool in_order) const
{
    return allocate(std::vector<cl_ulong>(count, size), in_order);
}

void Kernels::free(const std::vector<kma::Ref> &refs) const
{
    cl::Kernel made = kernel("give");
    const cl::Buffer in = copy_of(refs);
    made.setArg(1, in);
    made.setArg(2, static_cast<cl_uint>(refs.size()));
    run(made, refs.size());
}

Kernels::Kept Kernels::churn(std::size_t work_items, cl_uint seed, cl_uint largest) const
{
    constexpr std::size_t kept = 3;
    cl::Kernel made = kernel("churn");
    const cl::Buffer refs = copy_of(std::vector<kma::Ref>(work_items * kept));
    const cl::Buffer sizes = copy_of(std::vector<cl_ulong>(work_items * kept));
    made.setArg(1, seed);
    made.setArg(2, largest);
    made.setArg(3, refs);
    made.setArg(4, sizes);
    made.setArg(5, static_cast<cl_uint>(work_items));
    run(made, work_items);
    return {read<kma::Ref>(refs), read<cl_ulong>(sizes)};
}

kma::Ref Kernels::push(kma::Ref first, cl_uint count) const
{
    cl::Kernel made = kernel("push");
    const cl::Buffer out(device().context(), CL_MEM_READ_WRITE, sizeof(cl_uint));
    made.setArg(1, first);
    made.setArg(2, count);
    made.setArg(3, out);
    run(made, 1);
    return read<kma::Ref>(out)[0];
}

cl_uint Kernels::sum(kma::Ref first) const
{
    cl::Kernel made = kernel("sum");
    const cl::Buffer out(device().context(), CL_MEM_READ_WRITE, sizeof(cl_uint));
    made.setArg(1, first);
    made.setArg(2, out);
    run(made, 1);
    return read<cl_uint>(out)[0];
}

void Kernels::damage(const std::string &what, cl_uint a, cl_uint b, cl_uint c) const
{
    const auto place = places.find(what);
    cl::Kernel made = kernel(place != places.end() ? "store" : "damage");
    made.setArg(1, place != places.end() ? place->second : damages.at(what));
    made.setArg(2, a);
    made.setArg(3, b);
    if (place == places.end())
        made.setArg(4, c);
    run(made, 1);
}

void Kernels::flip(const std::string &what, cl_uint a, cl_uint bit) const
{
    cl::Kernel made = kernel("flip");
    made.setArg(1, places.at(what));
    made.setArg(2, a);
    made.setArg(3, bit);
    run(made, 1);
}

std::uint64_t bytes_for_superblocks(std::uint64_t count, std::uint64_t max_bytes)
{
    kma::HeapOptions options = superblocks(4096);
    options.max_bytes = max_bytes;
    return kma::Heap::bytes_for(options, count * 4096);
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

} // namespace test
