// The host's own graph: sorted arrays, with nothing in common with the device's tree and lists.
#include "reference.hpp"

#include <algorithm>
#include <numeric>

namespace graph {

Reference::Reference(const Edges &edges)
{
    keys_.reserve(2 * edges.size());
    keys_.insert(keys_.end(), edges.sources.begin(), edges.sources.end());
    keys_.insert(keys_.end(), edges.sinks.begin(), edges.sinks.end());
    std::sort(keys_.begin(), keys_.end());
    keys_.erase(std::unique(keys_.begin(), keys_.end()), keys_.end());
    keys_.shrink_to_fit();

    // A counting sort by source: counts each node's edges, computes where its sinks begin, then
    // places the sinks.
    std::vector<std::uint32_t> sources(edges.size());
    first_.assign(nodes() + 1, 0);
    for (std::size_t i = 0; i < edges.size(); i++) {
        sources[i] = static_cast<std::uint32_t>(index_of(edges.sources[i]));
        first_[sources[i] + 1]++;
    }
    std::partial_sum(first_.begin(), first_.end(), first_.begin());
    std::vector<std::size_t> next(first_.begin(), first_.end() - 1);
    sinks_.resize(edges.size());
    in_degrees_.assign(nodes(), 0);
    for (std::size_t i = 0; i < edges.size(); i++) {
        const auto sink = static_cast<std::uint32_t>(index_of(edges.sinks[i]));
        sinks_[next[sources[i]]++] = sink;
        in_degrees_[sink]++;
    }
    const auto at = [this](std::size_t i) {
        return sinks_.begin() + static_cast<std::ptrdiff_t>(i);
    };
    for (std::size_t node = 0; node < nodes(); node++)
        std::sort(at(first_[node]), at(first_[node + 1]));
}

std::size_t Reference::index_of(std::uint32_t key) const
{
    const auto found = std::lower_bound(keys_.begin(), keys_.end(), key);
    return found != keys_.end() && *found == key ? static_cast<std::size_t>(found - keys_.begin())
                                                 : nodes();
}

std::span<const std::uint32_t> Reference::sinks(std::size_t node) const
{
    return std::span(sinks_).subspan(first_[node], first_[node + 1] - first_[node]);
}

std::vector<std::uint32_t> Reference::levels(std::uint32_t from) const
{
    std::vector<std::uint32_t> levels(nodes(), unreached);
    std::vector<std::size_t> queue; // nodes before `i` are done
    if (const std::size_t start = index_of(from); start != nodes()) {
        levels[start] = 0;
        queue.push_back(start);
    }
    for (std::size_t i = 0; i < queue.size(); i++)
        for (const std::uint32_t sink : sinks(queue[i]))
            if (levels[sink] == unreached) {
                levels[sink] = levels[queue[i]] + 1;
                queue.push_back(sink);
            }
    return levels;
}

} // namespace graph
