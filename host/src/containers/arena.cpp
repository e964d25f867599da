// Arenas on the host: launches the kernels that make, measure, clear and destroy them.
#include "kma/arena.hpp"

#include <algorithm>

#include "containers/container_kernels.hpp"
#include "kma/error.hpp"
#include "heap/common/layout.hpp"
#include "support/say.hpp"

namespace kma {
namespace {

using container_kernels::read_one;
using container_kernels::run;

constexpr std::uint32_t longest_possible = 1u << KMA_ARENA_MOST_SHIFT;

const ArenaOptions &checked(const ArenaOptions &options)
{
    const std::uint32_t longest = std::max(options.least_chunk_bytes, options.most_chunk_bytes);
    if (longest > longest_possible)
        throw Error(say("an arena's chunks cannot have ", longest, " bytes: it must be ",
                        longest_possible, " or fewer"));
    return options;
}

// The default limit of a chunk's bytes. A scatter heap claims the pages of a chunk one by one: with
// a longer chunk, lanes that wait for it would give up before it is there.
std::uint32_t longest_usual(const Heap &heap)
{
    return heap.options().kind == HeapKind::scatter ? 1u << 20 : longest_possible;
}

} // namespace

Arena::Arena(const Device &device, const Heap &heap, const ArenaOptions &options)
    : device_(device),
      program_((checked(options),
                container_kernels::build(device, heap, "(kernels of arenas)", "containers/arena_kernels.cl")))
{
    const std::uint32_t usual =
        static_cast<std::uint32_t>(container_kernels::longest_block(heap, longest_usual(heap)));
    const cl::Buffer made(device_.context(), CL_MEM_READ_WRITE, sizeof(Ref));
    cl::Kernel maker = program_.kernel("kma_arena_new_kernel");
    heap.set_arg(maker, 0);
    maker.setArg(1, options.least_chunk_bytes);
    maker.setArg(2, options.most_chunk_bytes != 0 ? options.most_chunk_bytes : usual);
    maker.setArg(3, cl_ulong{options.room});
    maker.setArg(4, made);
    run(device_, maker, 1);
    ref_ = read_one<Ref>(device_, made);
    if (ref_ == 0 && options.room != 0)
        throw Error(
            say("the heap has no memory for an arena with room for ", options.room,
                " bytes in one piece; make the heap larger, or ArenaOptions::room smaller"));
    if (ref_ == 0)
        throw Error("the heap has no memory for an arena; make it larger");
}

cl::Kernel Arena::kernel(const char *name, const Heap &heap) const
{
    cl::Kernel made = program_.kernel(name);
    heap.set_arg(made, 0);
    made.setArg(1, ref_);
    return made;
}

std::uint64_t Arena::bytes(const Heap &heap) const
{
    const cl::Buffer told(device_.context(), CL_MEM_READ_WRITE, sizeof(cl_ulong));
    cl::Kernel counter = kernel("kma_arena_bytes_kernel", heap);
    counter.setArg(2, told);
    run(device_, counter, 1);
    return read_one<cl_ulong>(device_, told);
}

void Arena::end(const Heap &heap, bool keep) const
{
    cl::Kernel clearing = kernel("kma_arena_clear_kernel", heap);
    clearing.setArg(2, cl_uint{keep});
    run(device_, clearing, 1);
}

} // namespace kma
