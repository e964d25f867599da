// What containers are tested on: every kind of heap, and the default kind in all flavours.
#pragma once

#include <string>
#include <vector>

#include "catch.hpp"
#include "support.hpp"

namespace test {

struct Subject {
    kma::HeapKind kind = kma::default_heap_kind;
    std::string options = {};
    int debug = 0;

    /// Whether the heap is as users have it.
    bool is_usual() const { return options.empty() && debug == 0; }
    std::string name() const
    {
        return kma::name_of(kind) + std::string(" ") + options + " debug " + std::to_string(debug);
    }
    kma::Heap heap(std::uint64_t bytes) const
    {
        return {device(), bytes, {.kind = kind, .debug = debug, .build_options = options}};
    }
    /// A kernel file of this folder, for such a heap.
    kma::Program program(const std::string &file, const std::string &more = {}) const
    {
        return test::program(file, {.options = options + more, .heap = kind, .debug = debug});
    }
    /// Checks how many blocks the heap has, where it knows.
    void check_blocks(const kma::Heap &heap, std::uint64_t blocks) const
    {
        if (kind != kma::HeapKind::bump)
            CHECK(heap.stats().blocks == blocks);
    }
    /// Checks that the heap is sound, without errors, and has so many blocks.
    void check(const kma::Heap &heap, std::uint64_t blocks) const
    {
        check_blocks(heap, blocks);
        CHECK(heap.check().empty());
        CHECK(heap.error_text() == "");
    }
};

/// Each kind as users have it; and the default one in all flavours, and with its checks.
inline std::vector<Subject> subjects()
{
    std::vector<Subject> all;
    for (const kma::HeapKind kind : kma::heap_kinds)
        if (heap_is_asked(kind))
            all.push_back({kind});
    if (first_flavour_only() || !heap_is_asked(kma::default_heap_kind))
        return all;
    for (const Flavour &flavour : heap_flavours())
        if (!flavour.options.empty())
            all.push_back({.options = flavour.options});
    all.push_back({.debug = 2});
    return all;
}

/// For containers to which the kind of heap is nothing but malloc: each kind as users have it, but
/// the default one alone on devices with several lanes, whose compilers take longest.
inline std::vector<Subject> few_subjects()
{
    std::vector<Subject> all = subjects();
    std::erase_if(all, [](const Subject &one) {
        return !one.is_usual() || (path().lanes_met > 1 && one.kind != kma::default_heap_kind);
    });
    return all;
}

} // namespace test
