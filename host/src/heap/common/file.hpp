// Heaps on disk.
#pragma once

#include <cstdint>
#include <filesystem>
#include <iosfwd>
#include <memory>
#include <string>

#include "heap/common/driver.hpp"

namespace kma {

/// As Heap::save.
void save_heap(const HeapDriver &heap, const std::filesystem::path &path);

/// As Heap::load.
std::unique_ptr<HeapDriver> load_heap(const Device &device, const std::filesystem::path &path,
                                      Storage storage, const std::string &build_options);

/// As above, from a stream of `bytes` bytes, named `name` in errors.
std::unique_ptr<HeapDriver> load_heap(const Device &device, std::istream &from, std::uint64_t bytes,
                                      const std::string &name, Storage storage,
                                      const std::string &build_options);

} // namespace kma
