// Array lists on the host: launches the kernels that make, count, clear and copy them, and reads
// lists in snapshots.
#include "kma/array_list.hpp"

#include <algorithm>

#include "containers/array_list_sizes.hpp"
#include "containers/container_kernels.hpp"
#include "kma/error.hpp"
#include "heap/common/layout.hpp"
#include "support/say.hpp"

namespace kma {

ArrayList::ArrayList(const Heap &heap, Known list)
    : HeapResident(heap, "(kernels of array lists)", "containers/array_list_kernels.cl",
                   list.ref)
{
}

ArrayList::ArrayList(const Heap &heap, std::uint32_t object_bytes, const ArrayListOptions &options)
    : ArrayList((array_list_sizes::check(object_bytes, options), heap), Known{0})
{
    const std::uint32_t each = array_list_sizes::objects(object_bytes, options),
                        room = std::max(options.room, 1u);
    const cl::Buffer made = output(sizeof(Ref));
    cl::Kernel maker = kernel("kma_array_list_new_kernel");
    maker.setArg(1, object_bytes);
    maker.setArg(2, options.align);
    maker.setArg(3, each);
    maker.setArg(4, array_list_sizes::most(heap, object_bytes, options));
    maker.setArg(5, room);
    maker.setArg(6, made);
    run(maker);
    if (!adopt(made))
        throw Error(say(
            "the heap has no memory for an array list of ", room, " objects of ", object_bytes,
            " bytes in blocks of ", each, " objects, ", std::uint64_t{each} * object_bytes,
            " bytes each; make the heap larger, or ArrayListOptions::objects_per_block smaller"));
}

std::vector<BlockDemand> ArrayList::blocks_for(std::uint64_t objects, std::uint32_t object_bytes,
                                               const ArrayListOptions &options)
{
    array_list_sizes::check(object_bytes, options);
    return array_list_sizes::blocks(objects, object_bytes, options);
}

ArrayList ArrayList::at(const Heap &heap, Ref list)
{
    if (list == 0)
        throw Error("there is no array list at ref 0: kma_array_list_new gives that where the heap "
                    "has no memory");
    return ArrayList(heap, Known{list});
}

std::vector<std::uint32_t> ArrayList::counts() const
{
    std::vector<std::uint32_t> counts(2);
    const cl::Buffer buffer = output(sizeof counts[0] * counts.size());
    cl::Kernel counter = kernel("kma_array_list_size_kernel");
    counter.setArg(2, buffer);
    run(counter);
    fetch(buffer, counts.data(), sizeof counts[0] * counts.size());
    return counts;
}

void ArrayList::end(bool keep) const
{
    cl::Kernel clearing = kernel("kma_array_list_clear_kernel");
    clearing.setArg(2, cl_uint{keep});
    run(clearing);
}

void ArrayList::copy(std::uint32_t first, std::uint32_t count, void *to,
                     std::size_t object_bytes) const
{
    const layout::kma_array_list list =
        heap().map(ref(), sizeof(layout::kma_array_list)).as<layout::kma_array_list>().front();
    if (object_bytes != list.object_bytes)
        throw Error(say("the array list has objects of ", list.object_bytes,
                        " bytes, and was read as if they had ", object_bytes));
    if (first > list.size.word || count > list.size.word - first)
        throw Error(say("objects ", first, " to ", std::uint64_t{first} + count - 1,
                        " were asked for of an array list that has ", list.size.word));
    if (count == 0)
        return;
    const std::size_t bytes = std::size_t{count} * object_bytes;
    const cl::Buffer objects = output(bytes);
    cl::Kernel copier = kernel("kma_array_list_copy_kernel");
    copier.setArg(2, first);
    copier.setArg(3, count);
    copier.setArg(4, objects);
    run(copier, std::min<std::size_t>((std::size_t{count} / 64 + 1) * 64, 65536));
    fetch(objects, to, bytes);
}

ArrayListView::ArrayListView(const Snapshot &snapshot, Ref list) : snapshot_(&snapshot), list_(list)
{
    const auto *there = snapshot.deref<layout::kma_array_list>(list);
    if (!there || there->object_bytes == 0 || there->shift > KMA_ARRAY_LIST_MOST_SHIFT ||
        there->doublings > KMA_ARRAY_LIST_MOST_SHIFT - there->shift)
        throw Error(say("there is no array list at ref ", list));
    size_ = there->size.word;
    object_bytes_ = there->object_bytes;
    shift_ = there->shift;
    doublings_ = there->doublings;
}

std::span<const std::byte> ArrayListView::find(std::uint32_t index, std::size_t object_bytes) const
{
    if (object_bytes != object_bytes_)
        throw Error(say("the array list has objects of ", object_bytes_,
                        " bytes, and was read as if they had ", object_bytes));
    if (index >= size_)
        throw Error(say("object ", index, " was asked for of an array list that has ", size_));
    const layout::kma_array_list_spot spot = layout::kma_array_list_find(shift_, doublings_, index);
    const auto *list = snapshot_->deref<layout::kma_array_list>(list_);
    // the page's number, which is out of range if the size is damaged
    const std::uint32_t number = spot.block >> KMA_ARRAY_LIST_PAGE_SHIFT;
    const auto *page = snapshot_->deref<layout::kma_array_list_page>(
        number < KMA_ARRAY_LIST_ENTRIES ? list->pages[number].word : 0);
    const auto *entries = number == 0 ? list->own : page ? page->entries : nullptr;
    const Ref ref = entries ? entries[spot.block % KMA_ARRAY_LIST_ENTRIES].word : 0;
    if (ref == 0)
        throw Error(say("the array list at ref ", list_, " has no block for object ", index,
                        ": it is damaged"));
    const std::uint64_t last = std::min<std::uint64_t>(std::uint64_t{1} << spot.shift,
                                                       spot.within + std::uint64_t{size_ - index});
    return snapshot_->bytes(ref, last * object_bytes_)
        .subspan(std::size_t{spot.within} * object_bytes_);
}

} // namespace kma
