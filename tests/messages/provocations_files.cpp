// Heaps on disk that cannot be written or read.
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <sstream>

#include "heap_support.hpp"
#include "heap/common/file.hpp"
#include "provocations.hpp"

namespace messages {
namespace {

namespace fs = std::filesystem;
using kma::Heap;
using test::device;

const fs::path path = fs::path(KMA_SCRATCH_DIR) / "messages.kma";

// A heap's file as it should be.
const std::string &whole()
{
    static const std::string bytes = [] {
        Heap(device(), 1 << 20, test::superblocks(4096)).save(path);
        std::ifstream file(path, std::ios::binary);
        return std::string(std::istreambuf_iterator<char>(file), {});
    }();
    return bytes;
}

void load(const std::string &bytes)
{
    std::ofstream(path, std::ios::binary) << bytes;
    Heap::load(device(), path);
}

// The whole file with another number in one place of it; file.cpp has the head's fields.
Provocation changed(const std::string &what, std::size_t at, std::uint32_t value)
{
    return thrown(what, [=] {
        std::string bytes = whole();
        std::memcpy(bytes.data() + at, &value, sizeof value);
        load(bytes);
    });
}

constexpr std::size_t version = 8, atomic64 = 24, superblock_bytes = 48, ranges = 56, first_range = 64, contents = 80;

} // namespace

std::vector<Provocation> file_provocations()
{
    return {
        thrown("saves into a folder that is not there",
               [] { Heap(device(), 1 << 20).save(fs::path(KMA_SCRATCH_DIR) / "no such folder" / "heap.kma"); }),
        thrown("saves in a folder's place",
               [] {
                   const fs::path folder = fs::path(KMA_SCRATCH_DIR) / "folder.kma";
                   fs::create_directories(folder / "within");
                   Heap(device(), 1 << 20).save(folder);
               }),
        thrown("saves to a link that leads to itself",
               [] {
                   const fs::path loop = fs::path(KMA_SCRATCH_DIR) / "loop.kma";
                   fs::remove(loop);
                   fs::create_symlink("loop.kma", loop);
                   Heap(device(), 1 << 20).save(loop);
               }),
        thrown("loads a file that is not there", [] { Heap::load(device(), "no such file.kma"); }),
        thrown("loads something else", [] { load(std::string(1000, 'x')); }),
        thrown("loads the first bytes", [] { load(whole().substr(0, 30)); }),
        thrown("loads all but the last byte", [] { load(whole().substr(0, whole().size() - 1)); }),
        thrown("loads one byte more", [] { load(whole() + "x"); }),
        thrown("loads a file that another program shortens at that moment",
               [] {
                   std::istringstream shorter(whole().substr(0, whole().size() - 1));
                   kma::load_heap(device(), shorter, whole().size(), "heap.kma", kma::Storage::buffer, {});
               }),
        changed("loads a file of a later version", version, 9),
        thrown("loads a file of the other width of atomics",
               [] {
                   std::string bytes = whole();
                   bytes[atomic64] ^= 1;
                   load(bytes);
               }),
        changed("loads a heap that cannot be", superblock_bytes, 1234),
        changed("loads a list of ranges that is damaged", ranges, 1 << 30),
        changed("loads a range that is damaged", first_range + 8, 2 << 20),
        changed("loads a heap that is damaged", contents, 1),
    };
}

} // namespace messages
