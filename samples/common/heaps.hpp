// The heap kinds that a sample can run on, and their sizes.
#pragma once

#include <cstdint>
#include <string>

#include "kma/kma.hpp"

namespace samples {

/// A heap kind and its name on the command line.
struct HeapChoice {
    const char *name;
    kma::HeapKind kind;
};

/// All heap kinds, the default first.
inline constexpr HeapChoice heap_choices[] = {
    {"slab", kma::HeapKind::slab},
    {"superblock", kma::HeapKind::superblock},
    {"scatter", kma::HeapKind::scatter},
    {"bump", kma::HeapKind::bump},
};

/// Returns the largest possible heap: limited by the device's largest buffer and by the range of a
/// ref.
std::uint64_t largest_heap(const kma::Device &device);

/// Returns the default size of a heap for which `enough` bytes suffice.
std::uint64_t usual_heap_bytes(const kma::Device &device, std::uint64_t enough);

/// Returns the end of an error message: how to give a heap the `enough` bytes that suffice.
std::string remedy(const kma::Device &device, std::uint64_t enough);

/// Throws kma::Error that the heap is too small: how that showed, and how to fix it.
[[noreturn]] void throw_too_small(const kma::Device &device, const kma::Heap &heap,
                                  std::uint64_t enough, const std::string &why);

/// Returns what `make` returns; `make` creates a heap of `bytes` and its contents. If `make` throws
/// and `bytes` is below `enough`, the message is extended by the size that suffices.
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

/// Returns the heap's error log without the final newline.
std::string errors_of(const kma::Heap &heap);

/// Returns the error log, or an empty text if the log has nothing but out-of-memory errors: an
/// array list also requests blocks ahead of need, and works without them.
std::string faults_of(const kma::Heap &heap);

} // namespace samples
