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

std::uint64_t superblock_bytes_of(std::uint64_t asked, int debug)
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

std::uint64_t page_bytes_of(std::uint64_t asked, int debug, std::uint64_t page_bytes)
{
    const std::uint64_t bytes = guarded(asked, debug);
    if (bytes <= page_bytes / 8)
        return superblock_bytes_of(bytes, 0);
    if (bytes > page_bytes)
        return (bytes + page_bytes - 1) / page_bytes * page_bytes;
    std::uint64_t chunks = 7;
    while (page_bytes / chunks / 16 * 16 < bytes)
        chunks--;
    return page_bytes / chunks / 16 * 16;
}

PageModel::PageModel(const Room &room, int debug, std::uint64_t page_bytes)
    : room_(room), debug_(debug), is_superblock_(page_bytes == 0),
      page_bytes_(page_bytes != 0 ? page_bytes : room.superblock_bytes),
      region_pages_(std::max(room.superblock_bytes / page_bytes_, std::uint64_t{1})),
      pages_(room.capacity / page_bytes_)
{
}

std::uint64_t PageModel::size_of(std::uint64_t bytes) const
{
    return is_superblock_ ? superblock_bytes_of(bytes, debug_) : page_bytes_of(bytes, debug_, page_bytes_);
}

std::size_t PageModel::region_end(std::size_t page) const
{
    return std::min((page / region_pages_ + 1) * region_pages_, pages_.size());
}

Verdict PageModel::fits(std::uint64_t bytes) const
{
    return verdict(has_room(size_of(bytes), true));
}

// Whether there is a block of a size or, with `of_larger`, of a larger one.
bool PageModel::has_room(std::uint64_t size, bool of_larger) const
{
    std::size_t run = 0; // free pages in a row
    for (std::size_t page = 0; page < pages_.size(); page++) {
        run = is_free(page) ? run + 1 : 0;
        if (run * page_bytes_ >= size)
            return true;
        if (page + 1 == region_end(page))
            run = 0;
        const Page &at = pages_[page];
        if (!at.blocks.empty() && at.chunk <= page_bytes_ && (of_larger ? at.chunk >= size : at.chunk == size) &&
            at.blocks.size() < page_bytes_ / at.chunk)
            return true;
    }
    return false;
}

std::optional<std::string> PageModel::take(kma::Ref ref, std::uint64_t bytes)
{
    const std::uint64_t offset = ref * kma::ref_unit - guard_front(debug_), size = size_of(bytes);
    const std::string block = "a block of " + std::to_string(size) + " at " + std::to_string(offset);
    const std::uint64_t number = (offset - room_.begin) / page_bytes_, within = (offset - room_.begin) % page_bytes_;
    if (offset < room_.begin || number >= pages_.size())
        return block + " in no page";
    Page &page = pages_[number];
    if (page.in_run)
        return block + " in a run of pages";
    if (is_free(number))
        page.chunk = size;
    else if (page.chunk < size || page.chunk > page_bytes_ ||
             (is_superblock_ && page.chunk > size && has_room(size, false)))
        return block + " in a page of " + std::to_string(page.chunk);
    if (page.chunk > page_bytes_) {
        const std::uint64_t behind = number + size / page_bytes_;
        if (within != 0 || behind > region_end(number))
            return block + " that leaves its region";
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

void PageModel::give(kma::Ref ref)
{
    const std::uint64_t at = ref * kma::ref_unit - guard_front(debug_) - room_.begin;
    Page &page = pages_[at / page_bytes_];
    page.blocks.erase(at % page_bytes_);
    for (std::uint64_t i = 1; i < page.chunk / page_bytes_; i++)
        pages_[at / page_bytes_ + i].in_run = false;
}

Range PageModel::count_when_full(std::uint64_t bytes) const
{
    const std::uint64_t size = size_of(bytes);
    if (size <= page_bytes_)
        return exactly(pages_.size() * (page_bytes_ / size));
    std::uint64_t count = 0;
    for (std::size_t page = 0; page < pages_.size(); page = region_end(page))
        count += (region_end(page) - page) * page_bytes_ / size;
    return exactly(count);
}

Range PageModel::used() const
{
    std::uint64_t sum = 0;
    for (const Page &page : pages_)
        sum += page.blocks.size() * page.chunk;
    return exactly(sum);
}

} // namespace conformance
