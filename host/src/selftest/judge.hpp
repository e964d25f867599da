// What the selftest makes of what its kernels left: functions of these results alone, so that each
// sentence has a test.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "kma/selftest.hpp"

namespace kma {
namespace layout {
using uint = std::uint32_t;
using ulong = std::uint64_t;
#include "kma/selftest/layout.cl"
} // namespace layout

namespace selftest_judge {

/// The device's kma_mix32.
constexpr std::uint32_t mix32(std::uint32_t x) noexcept
{
    x ^= x >> 16;
    x *= 0x7feb352du;
    x ^= x >> 15;
    x *= 0x846ca68bu;
    return x ^ x >> 16;
}

/// A kma_selftest_kernel_u32 or …_u64: the words before and after, and each work-item's sight.
struct Words {
    unsigned bits; ///< 32 or 64
    std::vector<std::uint64_t> before, after;
    std::vector<layout::kma_selftest_word> sights;
};

/// The words that the kernel starts from.
std::vector<std::uint64_t> first_words(unsigned bits, std::uint32_t work_items);
SelftestResult judge_words(const Words &words);

/// "messages" and "messages in lane groups", of kma_selftest_messages_kernel.
std::vector<SelftestResult> judge_messages(const std::vector<layout::kma_selftest_post> &posts);

/// How the work-items of a kernel that calls kma_selftest_look went.
struct LaneFlow {
    std::size_t most_visits; ///< as given to kma_selftest_look
    std::size_t work_group;
    /// that it should pass, in order
    std::function<std::vector<std::uint32_t>(std::uint32_t work_item)> places;
    std::function<std::uint32_t(std::uint32_t place)> spread;
};

/// What the lanes at one place of the flow saw.
struct LanePlace {
    std::string fault;      ///< the first thing that was wrong; empty if all was right
    std::size_t groups = 0; ///< of lanes that were together
    std::size_t widest = 0; ///< lanes of the largest
};

/// By place. Who was together is the device's affair; that all the rest fits it is judged here.
std::map<std::uint32_t, LanePlace>
examine_lanes(const std::vector<layout::kma_selftest_sight> &sights,
              const std::vector<std::uint32_t> &visits, const LaneFlow &flow);

/// "lanes together", of the places below `first_apart`, and "lanes apart", of the others.
std::vector<SelftestResult> judge_lanes(const std::map<std::uint32_t, LanePlace> &places,
                                        std::uint32_t first_apart);

/// As kma_selftest_node of selftest/kernels.cl.
struct Node {
    std::uint64_t next; ///< an address
    std::uint64_t value;
};

/// What kma_selftest_svm_kernel left.
struct SharedList {
    const Node *nodes;               ///< 2 * count, in shared memory
    std::uint32_t count;             ///< of either list
    std::uint64_t head;              ///< of the device's list: an address
    std::uint64_t address;           ///< of the nodes, on the device
    std::uint64_t sum, sum_followed; ///< of the host's list, and what the device added up
    std::uint64_t followed;          ///< nodes
};

/// Follows the device's list by its addresses; they must be this process's.
SelftestResult judge_svm(const SharedList &list);

} // namespace selftest_judge
} // namespace kma
