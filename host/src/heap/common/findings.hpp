// What Heap::check() found: sentences, of each kind no more than a reader can use.
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
    /// One broken invariant. `kind` is a name for those like it, in the plural.
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
    // A kernel that wrote over the metadata damages much of the same kind.
    static constexpr std::size_t kept = 10;

    std::vector<std::string> sentences_;
    std::map<std::string, std::size_t> counts_;
};

} // namespace kma
