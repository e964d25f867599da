// The heaps that a sample can run on, and how large they are.
#pragma once

#include <cstdint>
#include <string>

#include "kma/kma.hpp"

namespace samples {

/// A heap kind by its name on the command line.
struct HeapChoice {
    const char *name;
    kma::HeapKind kind;
};

/// All of them, the default first.
inline constexpr HeapChoice heap_choices[] = {
    {"slab", kma::HeapKind::slab},
    {"superblock", kma::HeapKind::superblock},
    {"scatter", kma::HeapKind::scatter},
    {"bump", kma::HeapKind::bump},
};

/// What a heap may have at most: the device's largest buffer, and as far as a ref reaches.
std::uint64_t largest_heap(const kma::Device &device);

/// The size of a heap for which `enough` bytes suffice, where nobody asks for another.
std::uint64_t usual_heap_bytes(const kma::Device &device, std::uint64_t enough);

/// What to do about a heap that is too small, where `enough` bytes suffice, as the end of a
/// message.
std::string remedy(const kma::Device &device, std::uint64_t enough);

/// Throws kma::Error that the heap is too small: why that showed, and what to do.
[[noreturn]] void throw_too_small(const kma::Device &device, const kma::Heap &heap,
                                  std::uint64_t enough, const std::string &why);

/// What `make` returns, which makes a heap of `bytes` and what shall be in it. What it throws where
/// more bytes are needed says how many.
template <class Make>
auto made_in(const kma::Device &device, std::uint64_t bytes, std::uint64_t enough, Make make)
{
    try {
        return make();
    } catch (const kma::BuildError &) {
        throw;
    } catch (const kma::Error &error) {
        if (bytes >= enough)
            throw;
        throw kma::Error(std::string(error.what()) + "; for this input " + remedy(device, enough));
    }
}

/// The heap's error log without the last line's end.
std::string errors_of(const kma::Heap &heap);

/// The same, empty if nothing but memory was lacking: an array list asks for some ahead, and does
/// without.
std::string faults_of(const kma::Heap &heap);

} // namespace samples
