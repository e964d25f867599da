// The sizes of array lists, from ArrayListOptions.
#include "containers/array_list_sizes.hpp"

#include <algorithm>
#include <bit>

#include "containers/container_kernels.hpp"
#include "kma/error.hpp"
#include "heap/common/layout.hpp"
#include "support/say.hpp"

namespace kma::array_list_sizes {
namespace {

constexpr std::uint32_t usual_block_bytes = 4096;
constexpr std::uint32_t most_objects = 1u << KMA_ARRAY_LIST_MOST_SHIFT;
constexpr std::uint64_t most_blocks = KMA_ARRAY_LIST_ENTRIES * KMA_ARRAY_LIST_ENTRIES;
constexpr std::uint64_t longest_block_of_all = 1 << 20;
// blocks allocated ahead: KMA_ARRAY_LIST_EXTRA by each of two work-items at the same time
constexpr std::uint64_t ahead = 16;

std::uint32_t most_of(std::uint64_t longest_bytes, std::uint32_t object_bytes,
                      const ArrayListOptions &options)
{
    if (options.most_objects_per_block != 0)
        return std::bit_ceil(options.most_objects_per_block);
    if (options.objects_per_block != 0)
        return std::bit_ceil(options.objects_per_block);
    return static_cast<std::uint32_t>(
        std::bit_floor(std::max<std::uint64_t>(longest_bytes / object_bytes, 1)));
}

} // namespace

void check(std::uint32_t object_bytes, const ArrayListOptions &options)
{
    if (object_bytes == 0)
        throw Error(
            "an array list of objects of 0 bytes is impossible; give the size of one object");
    if (!std::has_single_bit(options.align) || options.align > 4096)
        throw Error(say("an array list's objects cannot be aligned to ", options.align,
                        " bytes: it must be a power of two from 1 to 4096"));
    if (std::max({options.objects_per_block, options.most_objects_per_block, options.room}) >
        most_objects)
        throw Error(
            say("an array list has at most ", most_objects, " objects; make several lists"));
}

std::uint32_t objects(std::uint32_t object_bytes, const ArrayListOptions &options)
{
    if (options.objects_per_block != 0)
        return std::bit_ceil(options.objects_per_block);
    return std::bit_floor(std::max(usual_block_bytes / object_bytes, 1u));
}

std::uint32_t most(const Heap &heap, std::uint32_t object_bytes, const ArrayListOptions &options)
{
    return most_of(container_kernels::longest_block(heap, longest_block_of_all), object_bytes,
                   options);
}

std::vector<BlockDemand> blocks(std::uint64_t objects, std::uint32_t object_bytes,
                                const ArrayListOptions &options)
{
    objects = std::max<std::uint64_t>(objects, options.room);
    if (objects > most_objects)
        throw Error(
            say("an array list has at most ", most_objects, " objects; make several lists"));
    // extra bytes for the alignment in some heaps
    const std::uint64_t aligned = options.align > 16 ? options.align - 16 : 0;
    const std::uint64_t longest = most_of(longest_block_of_all, object_bytes, options);
    std::uint64_t size = array_list_sizes::objects(object_bytes, options), room = 0, number = 0;
    std::vector<BlockDemand> all = {{sizeof(layout::kma_array_list), 1}};
    // ends at the longest blocks; counts all shorter ones, even if few objects do not need them
    for (; size < longest; size *= 2, room += size / 2, number++)
        all.push_back({size * object_bytes + aligned, 1});
    const std::uint64_t rest = (objects - std::min(objects, room) + size - 1) / size;
    if (number + rest > most_blocks)
        throw Error(say(
            "an array list has at most ", most_blocks, " blocks, too few for ", objects,
            " objects; make ArrayListOptions::objects_per_block or most_objects_per_block larger"));
    all.push_back({size * object_bytes + aligned, rest + ahead});
    all.push_back({sizeof(layout::kma_array_list_page),
                   (number + rest + ahead) / KMA_ARRAY_LIST_ENTRIES + 1});
    return all;
}

} // namespace kma::array_list_sizes
