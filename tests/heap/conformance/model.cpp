#include "model.hpp"

#include <algorithm>

namespace conformance {

std::string outside(std::uint64_t number, Range range)
{
    if (range.least <= number && number <= range.most)
        return "";
    const std::string least = std::to_string(range.least), most = std::to_string(range.most);
    return std::to_string(number) + " and not " + (range.least == range.most ? most : least + " to " + most);
}

namespace {

Verdict verdict(bool fits)
{
    return fits ? Verdict::yes : Verdict::no;
}

} // namespace

std::uint64_t guard_front(int debug)
{
    return debug >= 2 ? 48 : 0;
}

std::uint64_t guarded(std::uint64_t bytes, int debug)
{
    return debug < 2 || bytes == 0 ? bytes : guard_front(debug) + (bytes + 15) / 16 * 16 + 16;
}

// With KMA_DEBUG 1 a unit of the heap's own is in front of each block.
std::uint64_t BumpModel::block_bytes(std::uint64_t bytes, int debug)
{
    return bytes == 0 ? 0 : (guarded(bytes, debug) + 15) / 16 * 16 + (debug == 1 ? 16 : 0);
}

Verdict BumpModel::fits(std::uint64_t bytes) const
{
    return verdict(block_bytes(bytes, debug_) <= room_.capacity - used_);
}

std::optional<std::string> BumpModel::take(kma::Ref ref, std::uint64_t bytes)
{
    const std::uint64_t expected = room_.begin + used_ + (debug_ == 1 ? 16 : guard_front(debug_));
    if (ref * kma::ref_unit != expected)
        return "a block at " + std::to_string(ref * kma::ref_unit) + " and not behind the last one, at " +
               std::to_string(expected);
    used_ += block_bytes(bytes, debug_);
    return {};
}

Range BumpModel::count_when_full(std::uint64_t bytes) const
{
    return exactly(room_.capacity / block_bytes(bytes, debug_));
}

std::uint64_t SuperblockModel::block_bytes(std::uint64_t asked, int debug)
{
    const std::uint64_t bytes = guarded(asked, debug);
    if (bytes <= 64)
        return (bytes + 15) / 16 * 16;
    std::uint64_t power = 64; // power < bytes <= 2 * power
    while (2 * power < bytes)
        power *= 2;
    const std::uint64_t step = power / 4;
    return (bytes + step - 1) / step * step;
}

Verdict SuperblockModel::fits(std::uint64_t bytes) const
{
    return verdict(has_room(block_bytes(bytes, debug_), true));
}

// Whether there is a block of a class or, with `of_larger`, of a larger one.
bool SuperblockModel::has_room(std::uint64_t size, bool of_larger) const
{
    return size <= room_.superblock_bytes && std::ranges::any_of(superblocks_, [&](const Superblock &superblock) {
               return superblock.blocks.empty() ||
                      ((superblock.class_bytes == size || (of_larger && superblock.class_bytes > size)) &&
                       superblock.blocks.size() < room_.superblock_bytes / superblock.class_bytes);
           });
}

std::optional<std::size_t> SuperblockModel::index_of(std::uint64_t offset) const
{
    const auto behind = std::ranges::upper_bound(room_.superblocks, offset);
    if (behind == room_.superblocks.begin() || offset >= *(behind - 1) + room_.superblock_bytes)
        return {};
    return static_cast<std::size_t>(behind - room_.superblocks.begin()) - 1;
}

std::optional<std::string> SuperblockModel::take(kma::Ref ref, std::uint64_t bytes)
{
    const std::uint64_t offset = ref * kma::ref_unit - guard_front(debug_), wanted = block_bytes(bytes, debug_);
    const std::string block = "a block of " + std::to_string(wanted) + " at " + std::to_string(offset);
    const auto index = index_of(offset);
    if (!index)
        return block + " in no superblock";
    Superblock &superblock = superblocks_[*index];
    const std::uint64_t within = offset - room_.superblocks[*index];
    const std::uint64_t size = superblock.blocks.empty() ? wanted : superblock.class_bytes;
    if (within + size > room_.superblock_bytes)
        return block + " that leaves its superblock";
    if (size < wanted || (size > wanted && has_room(wanted, false)))
        return block + " in a superblock of class " + std::to_string(size);
    if (within % size != 0)
        return block + " that is no block of its superblock";
    const auto next = superblock.blocks.lower_bound(offset);
    const bool overlaps = (next != superblock.blocks.end() && next->first < offset + size) ||
                          (next != superblock.blocks.begin() && std::prev(next)->first + size > offset);
    if (overlaps)
        return block + " that overlaps another";
    superblock.class_bytes = size;
    superblock.blocks.emplace(offset, size);
    return {};
}

void SuperblockModel::give(kma::Ref ref)
{
    const std::uint64_t offset = ref * kma::ref_unit - guard_front(debug_);
    if (const auto index = index_of(offset))
        superblocks_[*index].blocks.erase(offset);
}

Range SuperblockModel::count_when_full(std::uint64_t bytes) const
{
    return exactly(superblocks_.size() * (room_.superblock_bytes / block_bytes(bytes, debug_)));
}

Range SuperblockModel::used() const
{
    std::uint64_t sum = 0;
    for (const Superblock &superblock : superblocks_)
        sum += superblock.blocks.size() * superblock.class_bytes;
    return exactly(sum);
}

std::uint64_t ScatterModel::block_bytes(std::uint64_t asked, int debug, std::uint64_t page_bytes)
{
    const std::uint64_t bytes = guarded(asked, debug);
    if (bytes <= page_bytes / 8)
        return SuperblockModel::block_bytes(bytes, 0);
    if (bytes > page_bytes)
        return (bytes + page_bytes - 1) / page_bytes * page_bytes;
    std::uint64_t chunks = 7;
    while (page_bytes / chunks / 16 * 16 < bytes)
        chunks--;
    return page_bytes / chunks / 16 * 16;
}

std::size_t ScatterModel::super_end(std::size_t page) const
{
    return std::min((page / super_pages_ + 1) * super_pages_, pages_.size());
}

Verdict ScatterModel::fits(std::uint64_t bytes) const
{
    const std::uint64_t size = block_bytes(bytes, debug_, page_bytes_);
    std::size_t run = 0; // free pages in a row
    for (std::size_t page = 0; page < pages_.size(); page++) {
        run = is_free(page) ? run + 1 : 0;
        if (run * page_bytes_ >= size)
            return Verdict::yes;
        if (page + 1 == super_end(page))
            run = 0;
        const Page &at = pages_[page];
        if (!at.blocks.empty() && at.chunk <= page_bytes_ && at.chunk >= size &&
            at.blocks.size() < page_bytes_ / at.chunk)
            return Verdict::yes;
    }
    return Verdict::no;
}

std::optional<std::string> ScatterModel::take(kma::Ref ref, std::uint64_t bytes)
{
    const std::uint64_t offset = ref * kma::ref_unit - guard_front(debug_),
                        size = block_bytes(bytes, debug_, page_bytes_);
    const std::string block = "a block of " + std::to_string(size) + " at " + std::to_string(offset);
    const std::uint64_t begin = room_.superblocks.front();
    const std::uint64_t number = (offset - begin) / page_bytes_, within = (offset - begin) % page_bytes_;
    if (offset < begin || number >= pages_.size())
        return block + " in no page";
    Page &page = pages_[static_cast<std::size_t>(number)];
    if (page.in_run)
        return block + " in a run of pages";
    if (is_free(number))
        page.chunk = size;
    else if (page.chunk < size || page.chunk > page_bytes_)
        return block + " in a page of " + std::to_string(page.chunk);
    if (page.chunk > page_bytes_) {
        const std::uint64_t behind = number + size / page_bytes_;
        if (within != 0 || behind > super_end(number))
            return block + " that leaves its super block";
        for (std::uint64_t i = number + 1; i < behind; i++) {
            if (!is_free(i))
                return block + " that overlaps another";
            pages_[i].in_run = true;
        }
    } else if (within % page.chunk != 0 || within + page.chunk > page_bytes_) {
        return block + " that is no chunk of its page";
    }
    if (!page.blocks.insert(within).second)
        return block + " that is taken";
    return {};
}

void ScatterModel::give(kma::Ref ref)
{
    const std::uint64_t at = ref * kma::ref_unit - guard_front(debug_) - room_.superblocks.front();
    Page &page = pages_[static_cast<std::size_t>(at / page_bytes_)];
    page.blocks.erase(at % page_bytes_);
    for (std::uint64_t i = 1; i < page.chunk / page_bytes_; i++)
        pages_[static_cast<std::size_t>(at / page_bytes_ + i)].in_run = false;
}

Range ScatterModel::count_when_full(std::uint64_t bytes) const
{
    const std::uint64_t size = block_bytes(bytes, debug_, page_bytes_);
    if (size <= page_bytes_)
        return exactly(pages_.size() * (page_bytes_ / size));
    std::uint64_t count = 0;
    for (std::size_t page = 0; page < pages_.size(); page = super_end(page))
        count += (super_end(page) - page) * page_bytes_ / size;
    return exactly(count);
}

Range ScatterModel::used() const
{
    std::uint64_t sum = 0;
    for (const Page &page : pages_)
        sum += page.blocks.size() * page.chunk;
    return exactly(sum);
}

} // namespace conformance
