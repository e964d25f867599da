// What containers are tried on: every kind of heap, and the default one in all flavours.
#pragma once

#include <string>
#include <vector>

#include "support.hpp"

namespace test {

struct Subject {
    kma::HeapKind kind;
    std::string options;
    int debug;

    /// As users have it.
    bool is_usual() const { return options.empty() && debug == 0; }

    kma::HeapOptions heap_options() const
    {
        kma::HeapOptions made;
        made.kind = kind;
        made.debug = debug;
        made.build_options = options;
        return made;
    }
    /// A kernel file of this folder, for such a heap.
    kma::Program program(const std::string &file, const std::string &more = {}) const
    {
        kma::ProgramOptions made;
        made.heap = kind;
        made.debug = debug;
        made.options = options + more;
        return test::program(file, made);
    }
};

/// Each kind as users have it; and the default one in all flavours, and with its checks.
inline std::vector<Subject> subjects()
{
    std::vector<Subject> all;
    for (const kma::HeapKind kind : kma::heap_kinds)
        if (heap_is_asked(kind))
            all.push_back({kind, "", 0});
    if (first_flavour_only() || !heap_is_asked(kma::default_heap_kind))
        return all;
    for (const Flavour &flavour : heap_flavours())
        if (!flavour.options.empty())
            all.push_back({kma::default_heap_kind, flavour.options, 0});
    all.push_back({kma::default_heap_kind, "", 2});
    return all;
}

/// For containers to which the kind of heap is nothing but malloc: each kind as users have it, and where lanes meet, whose
/// compilers take longest, the default one.
inline std::vector<Subject> few_subjects()
{
    std::vector<Subject> all = subjects();
    std::erase_if(all, [](const Subject &one) {
        return !one.is_usual() || (path().lanes_met > 1 && one.kind != kma::default_heap_kind);
    });
    return all;
}

} // namespace test
