// The table of heap kinds: what each can do, what it is exempt from and why, and how its books add up. A new heap joins
// the suite by one entry in heaps.cpp; no test names a kind.
#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "kma/kma.hpp"
#include "model.hpp"
#include "support.hpp"

namespace conformance {

/// What not every heap can do.
enum class Ability {
    reuse,       ///< freed memory is handed out again without a reset
    know_blocks, ///< usable_size and realloc; double and invalid frees are reported
    list_blocks, ///< Heap::leaks()
    whole_heap,  ///< one request may have all the memory that the heap has
};
inline constexpr std::size_t abilities = 4;

struct Exemption {
    Ability ability;
    int below_debug; ///< holds for KMA_DEBUG less than this
    const char *reason;
};
inline constexpr int always = 1000;

struct HeapType {
    kma::HeapKind kind;
    std::uint64_t page_bytes = 0; ///< ScatterOptions::page_bytes
    std::vector<Exemption> exemptions = {};
    std::uint64_t largest_alignment = 4096;
    /// What a request takes from the heap's room; 0 for none.
    std::uint64_t (*block_bytes)(std::uint64_t bytes, int debug);
    /// Whether a request may get a larger block than block_bytes, where no other is left, or in company.
    bool may_give_more = true;
    /// The most blocks that lie in memory which serves other sizes only when all of them are free, where a block of a
    /// superblock has one of its own in other heaps.
    std::size_t together = 1;
    /// Whether its code differs where there are 64-bit atomics. If not (lint.py's one_width), one of the two is tested.
    bool has_widths = false;
    /// From this KMA_DEBUG on, Heap::leaks() tells what was asked for, not what was taken.
    int lists_asked_from = 2;
    /// A KMA_DEBUG below 3 with code of its own, which Breadth::all has too; 0: none.
    int own_debug = 0;
    /// The heap's rules for a lone caller, on the host.
    std::unique_ptr<Model> (*model)(const Room &room, int debug);

    const char *name() const { return kma::name_of(kind); }
};

/// All of them.
const std::vector<HeapType> &heap_types();

/// Kinds with options that are not the default and change how memory is split: for core_subjects().
const std::vector<HeapType> &other_types();

/// What each is exempt from and why, as lines for people.
std::string exemption_table();

/// What a test runs with: a kind of heap in a flavour of the device code.
struct Subject {
    const HeapType *type;
    test::Flavour flavour;
    int debug;

    bool can(Ability ability) const;
    /// Whether this is the default: no debug level, no build options.
    bool is_first() const { return debug == 0 && flavour.name == test::heap_flavours()[0].name; }
    std::string name() const;

    std::uint64_t block_bytes(std::uint64_t bytes) const { return type->block_bytes(bytes, debug); }
    std::uint64_t listed_bytes(std::uint64_t bytes) const
    {
        return debug >= type->lists_asked_from ? bytes : block_bytes(bytes);
    }
    /// Of what a block takes, the bytes that are not its owner's: the smallest has 16 of its own.
    std::uint64_t bytes_around() const { return block_bytes(1) - 16; }
    /// The largest request that superblocks of this size serve.
    std::uint64_t largest(std::uint64_t superblock_bytes) const { return superblock_bytes - bytes_around(); }
    /// Whether blocks have red zones and freed ones poison.
    bool guarded() const { return debug >= 2; }

    /// A superblock of so many bytes, or of as few as this heap can have.
    std::uint64_t superblock(std::uint64_t bytes) const { return std::max(bytes, type->page_bytes); }

    /// Of heap(). A superblock_bytes of 0 is the heap's own choice.
    kma::HeapOptions options(std::uint64_t superblock_bytes, std::uint64_t max_bytes = 0) const;

    /// A heap with room for `payload` bytes of blocks. For heaps of superblocks these are its superblocks, of
    /// superblock(superblock_bytes). `max_bytes` as in HeapOptions.
    kma::Heap heap(std::uint64_t payload, std::uint64_t superblock_bytes = 4096, std::uint64_t max_bytes = 0) const;

    /// A kernel file of this folder in this flavour, where kma_malloc and so on are the kind's.
    kma::Program program(const std::string &file, const std::string &more_options = {}) const;
};

/// Which flavours of device code: only what users get first; also 32-bit atomics; or single lanes and KMA_DEBUG too
/// (3, which has all that 2 has, and a kind's own_debug). Guards: KMA_DEBUG 2 and 3 only. Where the first flavour is
/// enough, fast is all there is, but for the guards.
enum class Breadth { fast, widths, all, guards };

/// Whether this run takes its time (KMA_TEST_SCALE of 2 or more): then all combinations, not a choice of them.
bool thorough();

/// The subjects that can do all that a test `needs`. All are noted (participation.hpp), those that cannot with the
/// table's reason. Fails the test if none can, although the table has a kind that should (bump alone is exempt from a
/// lot).
std::vector<Subject> subjects(Breadth breadth, const std::vector<Ability> &needs = {});

/// The same, and other_types() in the flavour that users get: for cases of how memory is split and goes from size to
/// size.
std::vector<Subject> core_subjects(Breadth breadth, const std::vector<Ability> &needs = {});

} // namespace conformance
