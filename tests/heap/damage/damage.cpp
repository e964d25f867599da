#include "damage.hpp"

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <sstream>
#include <stdexcept>

#include "heap/common/driver.hpp"
#include "heap/common/file.hpp"
#include "native_opencl.hpp"
#include "support.hpp"
#include "support/say.hpp"

const kma::Device &test::device()
{
    static const kma::Device selected = kma::Device::select(native::device_name);
    return selected;
}

namespace kma {
static void set_arg(cl::Kernel &kernel, cl_uint index, const HeapDriver &heap)
{
    heap.memory().set_arg(kernel, index);
}
} // namespace kma

namespace damage {
namespace {

using test::Array;
using test::device;

void require(bool kept, const std::string &promise)
{
    if (!kept)
        throw std::logic_error(promise);
}

void require_none(const std::vector<std::string> &findings, const std::string &promise)
{
    require(findings.empty(), promise + (findings.empty() ? "" : "; but: " + findings.front()));
}

// Whether the action threw kma::Error, which it may. (No other exception: that ends the program.)
template <class Action> bool refuses(Action action)
{
    try {
        action();
    } catch (const kma::Error &) {
        return true;
    }
    return false;
}

kma::HeapOptions options_of(kma::HeapKind kind, int debug, bool atomic64)
{
    const char *const width = atomic64 ? "" : "-DKMA_HAS_ATOMIC64=0";
    return {.kind = kind, .debug = debug, .superblock = {4096}, .build_options = width};
}

// Kernels of native_kernels.cpp on a heap, by one work-item.
template <class AnyHeap> class Kernels {
public:
    Kernels(const AnyHeap &heap, const kma::Program &program) : heap_(heap), program_(program) {}

    std::vector<kma::Ref> allocate(const std::vector<cl_ulong> &sizes) const
    {
        return run("allocate", sizes, std::vector<kma::Ref>(sizes.size()));
    }
    std::vector<kma::Ref> realloc(const std::vector<kma::Ref> &refs, const std::vector<cl_ulong> &sizes) const
    {
        return run("realloc", sizes, refs);
    }
    void free(const std::vector<kma::Ref> &refs) const
    {
        launch("free", Array(refs), static_cast<cl_uint>(refs.size()));
    }

private:
    template <class... Args> void launch(const std::string &what, const Args &...args) const
    {
        const std::string name = std::string("native_") + kma::name_of(heap_.options().kind) + "_" + what;
        const cl::Kernel kernel = test::kernel_with(program_, name, heap_, args...);
        device().queue().enqueueNDRangeKernel(kernel, cl::NullRange, cl::NDRange(1));
    }
    std::vector<kma::Ref> run(const std::string &what, const std::vector<cl_ulong> &sizes,
                              const std::vector<kma::Ref> &refs) const
    {
        const Array<kma::Ref> out(refs);
        launch(what, Array(sizes), out, static_cast<cl_uint>(refs.size()));
        return out.read();
    }

    const AnyHeap &heap_;
    const kma::Program &program_;
};

void apply(std::span<const Patch> patches, std::vector<std::byte> &bytes)
{
    const std::size_t words = bytes.size() / 4;
    for (const Patch &patch : patches) {
        std::byte *const at = bytes.data() + patch.word % words * 4;
        std::uint32_t word;
        std::memcpy(&word, at, sizeof word);
        word = patch.sets ? patch.value : word ^ patch.value;
        std::memcpy(at, &word, sizeof word);
    }
}

} // namespace

Patient::Patient(kma::HeapKind kind, int debug, bool atomic64)
    : name_(kma::say(kma::name_of(kind), " heap, ", atomic64 ? "64" : "32", "-bit atomics, KMA_DEBUG ", debug)),
      heap_(device(), kma::Heap::bytes_for(options_of(kind, debug, atomic64), 20 * 4096),
            options_of(kind, debug, atomic64)),
      kernels_(device(), {{"native", ""}}, {.options = heap_.options().build_options, .debug = debug})
{
    const Kernels kernels(heap_, kernels_);
    std::vector<cl_ulong> sizes;
    for (cl_ulong i = 0; i < 300; i++)
        sizes.push_back(i % 3 == 0 ? 60 : i % 7 == 0 ? 300 : 120);
    const std::vector<kma::Ref> refs = kernels.allocate(sizes);
    std::vector<kma::Ref> some;
    for (std::size_t i = 0; i < 200; i++)
        if (i % 5 == 0 || (i >= 60 && i < 140))
            some.push_back(refs[i]);
    kernels.free(some);
    // One of them too large for all heaps, two for some; in a scatter heap those are runs of pages.
    kernels.allocate({100, 1000, 10000, 16, 4096, cl_ulong{1} << 40, 24, 5000});
    for (std::size_t i = 0; i < refs.size(); i++)
        if (refs[i] != 0 && std::ranges::find(some, refs[i]) == some.end())
            living_.push_back(refs[i]);
    first_ = *std::find_if(refs.rbegin(), refs.rend(), [](kma::Ref ref) { return ref != 0; });
    image_ = read();
    metadata_words_ = heap_words() - static_cast<std::uint32_t>(heap_.stats().capacity / 4);
    require_none(heap_.check(), "a heap that nobody damaged is sound");

    const auto path = std::filesystem::temp_directory_path() / kma::say("kma_damage_", std::size_t(this), ".kma");
    heap_.save(path);
    std::ifstream in(path, std::ios::binary);
    const std::string text{std::istreambuf_iterator<char>(in), {}};
    std::filesystem::remove(path);
    file_.resize(text.size());
    std::memcpy(file_.data(), text.data(), text.size());
}

std::vector<std::byte> Patient::read() const
{
    std::vector<std::byte> bytes(heap_.buffer().getInfo<CL_MEM_SIZE>());
    device().queue().enqueueReadBuffer(heap_.buffer(), CL_TRUE, 0, bytes.size(), bytes.data());
    return bytes;
}

void Patient::damage_heap(std::span<const Patch> patches)
{
    std::vector<std::byte> damaged = image_;
    apply(patches, damaged);
    device().queue().enqueueWriteBuffer(heap_.buffer(), CL_TRUE, 0, damaged.size(), damaged.data());
    const bool sound = heap_.check().empty();
    found += sound ? 0 : 1;
    // Header, plan and a scatter heap's table of sizes.
    using namespace kma::layout;
    const std::size_t constants = kind() == kma::HeapKind::scatter ? offsetof(kma_scatter, active)
                                                                   : offsetof(kma_slab, cursors);
    ask_all(sound, std::memcmp(damaged.data(), image_.data(), constants) == 0);
    require(std::memcmp(read().data(), damaged.data(), damaged.size()) == 0, "looking at a heap changes nothing in it");
    if (sound)
        use();
    // A reset relies on the constants alone: if these are right, it mends all but the log.
    if (refuses([&] { heap_.stats(); }))
        return;
    heap_.reset();
    heap_.clear_errors();
    require_none(heap_.check(), "a reset mends what is not constant");
    mended += sound ? 0 : 1;
}

// Everything but check(): `sound` is what that says. `readable`: the constants are undamaged.
void Patient::ask_all(bool sound, bool readable)
{
    std::uint64_t blocks = 0;
    const bool no_stats = refuses([&] {
        blocks = heap_.stats().blocks;
        kma::to_text(heap_.stats());
    });
    const bool no_errors = refuses([&] {
        for (const kma::ErrorRecord &record : heap_.errors())
            kma::explain(record.code);
        heap_.error_text();
    });
    std::uint64_t leaked = 0;
    const bool no_leaks = refuses([&] {
        const kma::LeakReport report = heap_.leaks(1000);
        leaked = report.blocks;
        kma::to_text(report);
    });
    const bool no_snapshot = refuses([&] { walk_list(heap_.snapshot()); });
    require(!sound || (!no_stats && !no_errors && !no_snapshot), "a heap that check() finds sound can be looked at");
    require(!no_stats || (no_errors && no_snapshot), "where stats() refuses, all that reads does");
    if (kind() == kma::HeapKind::bump) // reading relies on its head, too
        return;
    require(!sound || (!no_leaks && leaked == blocks), "leaks() and stats() agree in a sound heap");
    const bool refused = no_stats || no_errors || no_leaks || no_snapshot;
    require(!readable || !refused, "damage behind the constants hides nothing");
}

// What check() finds sound must serve, and be sound afterwards.
void Patient::use()
{
    const Kernels kernels(heap_, kernels_);
    kernels.free(kernels.allocate({60, 120, 300, 16, 60, 4096, 24, 120, 9000}));
    require_none(heap_.check(), "a heap that check() finds sound is so after use");
}

// What was loaded must serve as well, whatever has become of its blocks.
void Patient::use(const kma::HeapDriver &heap) const
{
    const Kernels kernels(heap, kernels_);
    const auto half = static_cast<std::ptrdiff_t>(living_.size() / 2);
    std::vector<kma::Ref> first(living_.begin(), living_.begin() + half), rest(living_.begin() + half, living_.end());
    if (heap.options().kind != kma::HeapKind::bump || heap.options().debug != 0) {
        std::vector<cl_ulong> sizes;
        for (cl_ulong i = 0; i < first.size(); i++)
            sizes.push_back(i % 3 * 100 + 20);
        first = kernels.realloc(first, sizes);
    }
    kernels.free(rest);
    // More than the quarantine holds, so that all leaves it that is there.
    kernels.free(kernels.allocate(std::vector<cl_ulong>(KMA_QUARANTINE, 16)));
    kernels.free(kernels.allocate({60, 120, 300, 4096, 9000, 20000}));
    kernels.free(first);
    heap.stats();
}

// As a user would: from ref to ref until one is null, leads nowhere, or all have been seen.
void Patient::walk_list(const kma::Snapshot &snapshot) const
{
    kma::Ref at = first_;
    for (std::uint32_t step = 0; step < heap_words() && at != 0; step++) {
        struct Item {
            kma::Ref next;
            std::uint32_t number;
        };
        const Item *item = nullptr;
        if (refuses([&] { item = snapshot.deref<Item>(at); }))
            return;
        at = item->next;
    }
    refuses([&] { snapshot.bytes(at, std::uint64_t{at} << 8); });
}

void Patient::damage_file(std::span<const Patch> patches, std::int64_t cut)
{
    cut %= 1 << 20;
    std::vector<std::byte> damaged = file_;
    apply(patches, damaged);
    damaged.resize(static_cast<std::size_t>(std::max<std::int64_t>(0, std::int64_t(damaged.size()) - cut)));
    std::istringstream in(std::string(reinterpret_cast<const char *>(damaged.data()), damaged.size()));
    const bool refused = refuses([&] {
        const auto loaded = kma::load_heap(device(), in, damaged.size(), "the file", kma::Storage::buffer,
                                           heap_.options().build_options);
        loaded->check(); // written-over guards stay in a file, to be looked at
        require_none(loaded->check_books(), "a heap that was loaded is sound");
        use(*loaded);
        require_none(loaded->check_books(), "a heap that was loaded is sound after use");
    });
    found += refused ? 1 : 0;
    require(refused || cut == 0, "a file of another length is refused");
    require(!refused || !patches.empty() || cut != 0, "a file that nobody damaged is loaded");
}

std::uint32_t Patient::quarantine_word(std::uint32_t place) const
{
    kma::layout::kma_heap_header header;
    std::memcpy(&header, image_.data(), sizeof header);
    std::uint64_t ranges;
    std::memcpy(&ranges, file_.data() + 56, sizeof ranges);
    const std::size_t begin = 64 + 16 * ranges; // of the first one's bytes
    const std::size_t at = offsetof(kma::layout::kma_guard, quarantine.refs) + 4 * place;
    return header.guard == 0 ? 0 : static_cast<std::uint32_t>((begin + header.guard * KMA_UNIT + at) / 4);
}

std::vector<Patient> patients()
{
    setenv("KMA_SELFTEST", "off", 1); // its kernels are none of the heaps'
    std::vector<Patient> all;
    for (const kma::HeapKind kind : kma::heap_kinds)
        for (const native::Flavour &flavour : native::flavours())
            all.emplace_back(kind, flavour.debug, flavour.atomic64);
    return all;
}

} // namespace damage
