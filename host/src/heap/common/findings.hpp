// The findings of Heap::check(): sentences, a limited number of each kind.
#pragma once

#include <cstddef>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "support/say.hpp"

namespace kma {

class Findings {
public:
    /// Adds a broken invariant. `kind` names such invariants, in the plural.
    template <class... Parts> void add(const std::string &kind, const Parts &...sentence)
    {
        if (counts_[kind]++ < kept)
            sentences_.push_back(say(sentence...));
    }

    bool empty() const noexcept { return sentences_.empty(); }
    const std::string &first() const { return sentences_.front(); }

    std::vector<std::string> take()
    {
        for (const auto &[kind, count] : counts_)
            if (count > kept)
                sentences_.push_back(say("there are ", count - kept, " more ", kind));
        return std::move(sentences_);
    }

private:
    // Overwritten metadata break the same invariant many times.
    static constexpr std::size_t kept = 10;

    std::vector<std::string> sentences_;
    std::map<std::string, std::size_t> counts_;
};

} // namespace kma
