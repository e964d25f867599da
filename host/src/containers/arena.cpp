// Arenas on the host: launches the kernels that make, measure, clear and destroy them.
#include "kma/arena.hpp"

#include <algorithm>

#include "containers/container_kernels.hpp"
#include "kma/error.hpp"
#include "heap/common/layout.hpp"
#include "support/say.hpp"

namespace kma {
namespace {

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

Arena::Arena(const Heap &heap, const ArenaOptions &options)
    : HeapResident((checked(options), heap), "(kernels of arenas)", "containers/arena_kernels.cl")
{
    const std::uint32_t usual =
        static_cast<std::uint32_t>(container_kernels::longest_block(heap, longest_usual(heap)));
    const cl::Buffer made = output(sizeof(Ref));
    cl::Kernel maker = kernel("kma_arena_new_kernel");
    maker.setArg(1, options.least_chunk_bytes);
    maker.setArg(2, options.most_chunk_bytes != 0 ? options.most_chunk_bytes : usual);
    maker.setArg(3, cl_ulong{options.room});
    maker.setArg(4, made);
    run(maker);
    if (adopt(made))
        return;
    if (options.room != 0)
        throw Error(
            say("the heap has no memory for an arena with room for ", options.room,
                " bytes in one piece; make the heap larger, or ArenaOptions::room smaller"));
    throw Error("the heap has no memory for an arena; make it larger");
}

std::uint64_t Arena::bytes() const
{
    const cl::Buffer told = output(sizeof(cl_ulong));
    cl::Kernel counter = kernel("kma_arena_bytes_kernel");
    counter.setArg(2, told);
    run(counter);
    return result<cl_ulong>(told);
}

void Arena::end(bool keep) const
{
    cl::Kernel clearing = kernel("kma_arena_clear_kernel");
    clearing.setArg(2, cl_uint{keep});
    run(clearing);
}

} // namespace kma
