// Judges the results of the selftest's kernels. Pure functions of these results: each message has a
// test.
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

/// Results of kma_selftest_kernel_u32 or …_u64: the words before and after, and what each work-item
/// observed.
struct Words {
    unsigned bits; ///< 32 or 64
    std::vector<std::uint64_t> before, after;
    std::vector<layout::kma_selftest_word> sights;
};

/// The initial words of the kernel.
std::vector<std::uint64_t> first_words(unsigned bits, std::uint32_t work_items);
SelftestResult judge_words(const Words &words);

/// "messages" and "messages in lane groups", of kma_selftest_messages_kernel.
std::vector<SelftestResult> judge_messages(const std::vector<layout::kma_selftest_post> &posts);

/// The control flow of the work-items of a kernel that calls kma_selftest_look.
struct LaneFlow {
    std::size_t most_visits; ///< as given to kma_selftest_look
    std::size_t work_group;
    /// the places that a work-item must pass, in order
    std::function<std::vector<std::uint32_t>(std::uint32_t work_item)> places;
    std::function<std::uint32_t(std::uint32_t place)> spread;
};

/// What the lanes observed at one place of the flow.
struct LanePlace {
    std::string fault;      ///< the first fault; empty if there is none
    std::size_t groups = 0; ///< number of lane groups
    std::size_t widest = 0; ///< lanes of the largest group
};

/// Judges the lanes, by place. The device decides which lanes are together; all other results must
/// agree with that.
std::map<std::uint32_t, LanePlace>
examine_lanes(const std::vector<layout::kma_selftest_sight> &sights,
              const std::vector<std::uint32_t> &visits, const LaneFlow &flow);

/// "lanes together", for places below `first_apart`, and "lanes apart", for the others.
std::vector<SelftestResult> judge_lanes(const std::map<std::uint32_t, LanePlace> &places,
                                        std::uint32_t first_apart);

/// As kma_selftest_node of selftest/kernels.cl.
struct Node {
    std::uint64_t next; ///< address of the next node
    std::uint64_t value;
};

/// Results of kma_selftest_svm_kernel.
struct SharedList {
    const Node *nodes;               ///< 2 * count nodes, in shared memory
    std::uint32_t count;             ///< nodes of each list
    std::uint64_t head;              ///< address of the first node of the device's list
    std::uint64_t address;           ///< address of the nodes on the device
    std::uint64_t sum, sum_followed; ///< sum over the host's list, and the device's result
    std::uint64_t followed;          ///< nodes that the device followed
};

/// Follows the device's list by its addresses, which must be valid in this process.
SelftestResult judge_svm(const SharedList &list);

} // namespace selftest_judge
} // namespace kma
