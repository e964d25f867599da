// Heaps on disk: a head, the saved ranges of the heap, and their bytes.
//
//   | FileHead | ByteRange … (head.ranges) | bytes of the first | bytes of the second | … |
//
// Metadata outside of all ranges are as the init kernel leaves them; blocks outside are free.
#include "heap/common/file.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstddef>
#include <fstream>
#include <istream>
#include <utility>
#include <vector>

#include "kma/error.hpp"

namespace kma {
namespace {

// "kmaheap\n" on the disk of a little-endian machine
constexpr std::uint64_t file_magic = 0x0a70616568616d6b;
// incremented when this struct, or the data after it, change
constexpr std::uint32_t file_version = 2;

struct FileHead {
    std::uint64_t magic;
    std::uint32_t version;
    std::uint32_t layout; // KMA_HEAP_LAYOUT
    std::uint32_t kind;
    std::uint32_t debug;
    std::uint32_t atomic64;
    std::uint32_t page_bytes; // of a scatter heap; 0: the default
    std::uint64_t bytes;      // of the heap
    std::uint64_t max_bytes;  // 0: it does not grow
    std::uint64_t superblock_bytes;
    std::uint64_t ranges;
};
static_assert(sizeof(FileHead) == 64 && sizeof(ByteRange) == 16);

// Bytes that are copied through host memory at a time.
constexpr std::uint64_t chunk_bytes = std::uint64_t{16} << 20;

// Calls move(offset in the heap, bytes, buffer) for all ranges in order, in pieces of chunk_bytes.
template <class Move> void for_chunks(const std::vector<ByteRange> &ranges, Move move)
{
    std::vector<char> chunk;
    for (const ByteRange &range : ranges)
        for (std::uint64_t done = 0; done < range.bytes; done += chunk.size()) {
            chunk.resize(std::min(range.bytes - done, chunk_bytes));
            move(range.offset + done, chunk);
        }
}

std::vector<ByteRange> ranges_of(const HeapDriver &heap)
{
    std::vector<ByteRange> ranges = heap.metadata();
    for (const ByteRange &range : heap.used())
        append(ranges, range);
    return ranges;
}

void write(const HeapDriver &heap, std::ofstream &file)
{
    const std::vector<ByteRange> ranges = ranges_of(heap);
    const layout::kma_heap_header header = heap.header();
    const FileHead head = {.magic = file_magic,
                           .version = file_version,
                           .layout = header.layout,
                           .kind = header.kind,
                           .debug = header.debug,
                           .atomic64 = header.atomic64,
                           .page_bytes =
                               static_cast<std::uint32_t>(heap.options().scatter.page_bytes),
                           .bytes = header.bytes,
                           .max_bytes = heap.options().max_bytes,
                           .superblock_bytes = largest_request(heap.options()),
                           .ranges = ranges.size()};
    const auto put = [&](const void *data, std::uint64_t bytes) {
        file.write(static_cast<const char *>(data), static_cast<std::streamsize>(bytes));
    };
    put(&head, sizeof head);
    put(ranges.data(), ranges.size() * sizeof ranges[0]);
    for_chunks(ranges, [&](std::uint64_t offset, std::vector<char> &chunk) {
        heap.memory().read(heap.device().queue(), offset, chunk.size(), chunk.data());
        put(chunk.data(), chunk.size());
    });
}

// Reads a file from its start; reports damage as Error.
class Reader {
public:
    Reader(std::istream &file, std::uint64_t bytes, std::string name)
        : name_(std::move(name)), file_(file), bytes_(bytes)
    {
    }

    template <class... Parts> [[noreturn]] void refuse(const Parts &...why) const
    {
        throw Error(say("cannot load a heap from ", name_, ": ", why...));
    }

    void get(void *to, std::uint64_t bytes)
    {
        if (!file_.read(static_cast<char *>(to), static_cast<std::streamsize>(bytes)))
            refuse(
                "the file cannot be read to its end; did another program write to it meanwhile?");
    }

    FileHead head();
    std::vector<ByteRange> ranges(const FileHead &head);

private:
    std::string name_;
    std::istream &file_;
    std::uint64_t bytes_;
};

FileHead Reader::head()
{
    FileHead head{};
    if (bytes_ >= sizeof head.magic)
        get(&head.magic, sizeof head.magic);
    if (head.magic != file_magic)
        refuse("it is no file that Heap::save wrote on a machine of this byte order; give one that "
               "is");
    if (bytes_ < sizeof head)
        refuse("it is truncated: it has ", bytes_, " bytes, and the head alone ", sizeof head,
               "; copy or save it again");
    get(&head.version, sizeof head - offsetof(FileHead, version));
    if (head.version != file_version || head.layout != KMA_HEAP_LAYOUT)
        refuse("another version of kma wrote it: file version ", head.version, " and heap layout ",
               head.layout, ", this one reads ", file_version, " and ", KMA_HEAP_LAYOUT,
               "; load it with that version");
    return head;
}

// Reads the ranges. Throws Error unless they are ascending and within the heap, and the file has
// just their bytes.
std::vector<ByteRange> Reader::ranges(const FileHead &head)
{
    if (head.ranges > (bytes_ - sizeof head) / sizeof(ByteRange))
        refuse("it is truncated: its list of ", head.ranges, " ranges does not fit into ", bytes_,
               " bytes; copy or save it again");
    std::vector<ByteRange> ranges(head.ranges);
    get(ranges.data(), ranges.size() * sizeof(ByteRange));
    std::uint64_t end = 0;
    std::uint64_t should_be = sizeof head + ranges.size() * sizeof(ByteRange);
    for (const ByteRange &range : ranges) {
        if (range.offset < end || range.offset > head.bytes ||
            range.bytes > head.bytes - range.offset)
            refuse("it is damaged: bytes ", range.offset, " and ", range.bytes,
                   " more are not a part, behind the one before, of a heap of ", head.bytes,
                   "; copy or save it again");
        end = range.offset + range.bytes;
        should_be += range.bytes;
    }
    if (bytes_ < should_be)
        refuse("it is truncated: it has ", bytes_, " bytes, should be ", should_be,
               "; copy or save it again");
    if (bytes_ > should_be)
        refuse("it is damaged: it has ", bytes_, " bytes, should be ", should_be,
               "; copy or save it again");
    return ranges;
}

// Makes an empty heap with the file's sizes and options. Errors name the file.
std::unique_ptr<HeapDriver> make_for(const Reader &file, const Device &device, std::uint64_t bytes,
                                     const HeapOptions &options)
{
    try {
        return make_heap(device, bytes, options);
    } catch (const BuildError &) {
        throw; // due to the caller's build options
    } catch (const Error &error) {
        file.refuse(error.what());
    }
}

// The file that opening `path` would write to: follows symbolic links.
std::filesystem::path target_of(std::filesystem::path path)
{
    constexpr int most_links = 40; // the limit of Linux
    std::error_code error;
    for (int links = 0; links < most_links && std::filesystem::is_symlink(path, error); links++)
        path = path.parent_path() / std::filesystem::read_symlink(path, error);
    return path;
}

// Creates a file with this mode, less the umask, and an unused name; returns an empty name if the
// folder permits none.
std::filesystem::path new_file_in(const std::filesystem::path &folder, mode_t mode)
{
    for (unsigned n = 0;; n++) { // ends at a name that no concurrent save uses
        const std::filesystem::path path = folder / say(".kma-unfinished-", n);
        const int file = ::open(path.c_str(), O_CREAT | O_EXCL | O_WRONLY | O_CLOEXEC, mode);
        if (file >= 0) {
            ::close(file);
            return path;
        }
        if (errno != EEXIST)
            return {};
    }
}

// Copies the mode of another file, and its owner as far as permitted.
void keep_access(const std::filesystem::path &path, const struct stat &other,
                 std::error_code &error)
{
    [[maybe_unused]] const int owned = ::chown(path.c_str(), other.st_uid, other.st_gid);
    std::filesystem::permissions(path, static_cast<std::filesystem::perms>(other.st_mode & 0777),
                                 error);
}

const char *width_of(bool atomic64)
{
    return atomic64 ? "with 64-bit atomics" : "without 64-bit atomics";
}

} // namespace

void save_heap(const HeapDriver &heap, const std::filesystem::path &path)
{
    heap.require_sound();
    const std::filesystem::path target = target_of(path);
    struct stat before {};
    const bool replaces = ::stat(target.c_str(), &before) == 0;
    if (!replaces && errno != ENOENT)
        throw Error(say("cannot write the heap to ", path.string(), ": ",
                        std::generic_category().message(errno)));
    if (replaces && !S_ISREG(before.st_mode))
        throw Error(
            say("cannot write the heap to ", path.string(),
                ": it is no plain file; give the name of one, or a name that is not taken"));
    std::error_code error;
    // In the same folder: the file system can then replace the old file atomically.
    const std::filesystem::path unfinished =
        new_file_in(target.parent_path(), replaces ? 0600 : 0666);
    try {
        std::ofstream file(unfinished, std::ios::binary | std::ios::trunc);
        write(heap, file);
        file.close();
        if (!file)
            throw Error(say("cannot write the heap to ", path.string(),
                            ": is there such a folder, may this program write to it, and is the "
                            "disk not full?"));
        if (replaces)
            keep_access(unfinished, before, error);
        if (!error)
            std::filesystem::rename(unfinished, target, error);
        if (error)
            throw Error(say("cannot write the heap to ", path.string(), ": ", error.message()));
    } catch (...) { // removes the incomplete file, and rethrows
        std::filesystem::remove(unfinished, error);
        throw;
    }
}

std::unique_ptr<HeapDriver> load_heap(const Device &device, const std::filesystem::path &path,
                                      Storage storage, const std::string &build_options)
{
    std::error_code error;
    std::ifstream file;
    if (std::filesystem::is_regular_file(path, error)) // opening a pipe could block forever
        file.open(path, std::ios::binary);
    const std::uint64_t bytes = std::filesystem::file_size(path, error);
    if (!file.is_open() || error)
        throw Error(say("cannot read the heap file ", path.string(),
                        ": is there such a plain file, and may this program read it?"));
    return load_heap(device, file, bytes, path.string(), storage, build_options);
}

std::unique_ptr<HeapDriver> load_heap(const Device &device, std::istream &from, std::uint64_t bytes,
                                      const std::string &name, Storage storage,
                                      const std::string &build_options)
{
    Reader file(from, bytes, name);
    const FileHead head = file.head();
    const std::vector<ByteRange> ranges = file.ranges(head);
    HeapOptions options;
    options.kind = static_cast<HeapKind>(head.kind);
    options.storage = storage;
    options.debug = static_cast<int>(head.debug);
    (options.kind == HeapKind::scatter ? options.scatter.region_bytes : options.superblock.bytes) =
        head.superblock_bytes;
    options.build_options = build_options;
    options.max_bytes = head.max_bytes;
    options.scatter.page_bytes = head.page_bytes;
    std::unique_ptr<HeapDriver> heap = make_for(file, device, head.bytes, options);
    if (const bool atomic64 = heap->header().atomic64 != 0;
        heap->depends_on_width() && atomic64 != (head.atomic64 != 0))
        file.refuse("it was saved ", width_of(head.atomic64 != 0), ", and the kernels of ",
                    device.name(), " are built ", width_of(atomic64),
                    "; build heap and programs with -DKMA_HAS_ATOMIC64=", head.atomic64 ? 1 : 0,
                    " if the device can, or save it from a heap that was built so");
    for_chunks(ranges, [&](std::uint64_t offset, std::vector<char> &chunk) {
        file.get(chunk.data(), chunk.size());
        heap->memory().write(device.queue(), offset, chunk.size(), chunk.data());
    });
    heap->adopt_plan();
    if (const std::vector<std::string> wrong = heap->check_books(); !wrong.empty())
        file.refuse("it is damaged: ", wrong.front(), "; copy or save it again");
    return heap;
}

} // namespace kma
