// Damage to heaps' images and files, and what must hold whatever is damaged. The same for the test with its random
// flips and for libFuzzer.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "kma/kma.hpp"

namespace kma {
class HeapDriver;
}

namespace damage {

/// What is done to a 32-bit word of an image, or of a file.
struct Patch {
    std::uint32_t word;  ///< its number, modulo those that there are
    std::uint32_t value; ///< see `sets`
    bool sets;           ///< the word becomes `value`; else the bits of `value` are turned round
};

/// A lively heap with superblocks or pages in every state, errors in its log, and a list through its blocks.
class Patient {
public:
    Patient(kma::HeapKind kind, int debug, bool atomic64);

    /// Puts the heap back as it was, damages it, and asks it all that it can be asked. Throws std::logic_error with
    /// what was promised and not kept.
    void damage_heap(std::span<const Patch> patches);
    /// The same with its file, `cut` bytes shorter (negative: longer), which is then loaded, and the heap used.
    void damage_file(std::span<const Patch> patches, std::int64_t cut);

    /// Words in front of the blocks, where damage matters; and of the whole heap, and of the file.
    std::uint32_t metadata_words() const { return metadata_words_; }
    std::uint32_t heap_words() const { return static_cast<std::uint32_t>(image_.size() / 4); }
    std::uint32_t file_words() const { return static_cast<std::uint32_t>(file_.size() / 4); }

    /// Of the file, the word of a place of the quarantine; 0 if the heap has none. (Its first range has all of it.)
    std::uint32_t quarantine_word(std::uint32_t place) const;

    kma::Ref living() const { return living_.back(); } ///< a block
    const std::string &name() const { return name_; }
    kma::HeapKind kind() const { return heap_.options().kind; }

    /// How often damage_heap and damage_file found something, and how often a reset mended that.
    std::uint64_t found = 0, mended = 0;

private:
    std::vector<std::byte> read() const;
    void ask_all(bool sound, bool readable);
    void use();
    void use(const kma::HeapDriver &heap) const;
    void walk_list(const kma::Snapshot &snapshot) const;

    std::string name_;
    kma::Heap heap_;
    kma::Program kernels_;
    kma::Ref first_ = 0;
    std::vector<kma::Ref> living_; // blocks
    std::vector<std::byte> image_, file_;
    std::uint32_t metadata_words_ = 0;
};

/// One for each kind of heap in each flavour that the program is linked with.
std::vector<Patient> patients();

} // namespace damage
