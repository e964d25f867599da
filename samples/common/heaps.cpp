// Chooses heap sizes, and explains heaps that are too small.
#include "common/heaps.hpp"

#include <algorithm>

namespace samples {

std::uint64_t largest_heap(const kma::Device &device)
{
    constexpr std::uint64_t reach = (kma::ref_unit << 32) - 2 * kma::ref_unit;
    return std::min(device.max_buffer_bytes(), reach);
}

// A larger heap costs nothing, and gives small inputs large superblocks. When thousands of
// work-items allocate at once, they soon use up a superblock of a few hundred blocks.
std::uint64_t usual_heap_bytes(const kma::Device &device, std::uint64_t enough)
{
    constexpr std::uint64_t generous = 256 << 20;
    const std::uint64_t largest = largest_heap(device);
    return std::clamp(enough, std::min(generous, largest / 4), largest);
}

std::string remedy(const kma::Device &device, std::uint64_t enough)
{
    const std::uint64_t largest = largest_heap(device);
    if (enough <= largest)
        return "--heap-bytes " + std::to_string(enough) + " would do";
    return std::to_string(enough) + " bytes would do, but this device's largest heap has " +
           std::to_string(largest);
}

void throw_too_small(const kma::Device &device, const kma::Heap &heap, std::uint64_t enough,
                     const std::string &why)
{
    throw kma::Error("the heap of " + std::to_string(heap.bytes()) + " bytes is too small: " + why +
                     "; " + remedy(device, enough) + "\n" + errors_of(heap));
}

std::string errors_of(const kma::Heap &heap)
{
    std::string text = heap.error_text();
    if (!text.empty() && text.back() == '\n')
        text.pop_back();
    return text;
}

std::string faults_of(const kma::Heap &heap)
{
    for (std::uint32_t code = 0; code < kma::error_codes; code++)
        if (const auto error = static_cast<kma::ErrorCode>(code);
            error != kma::ErrorCode::out_of_memory && heap.error_count(error) != 0)
            return errors_of(heap);
    return "";
}

} // namespace samples
