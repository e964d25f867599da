// What callers do wrong, one call at a time: the exact result, record and message, and that nothing else happens.
#include <algorithm>
#include <map>
#include <span>
#include <sstream>

#include "blocks.hpp"
#include "catch.hpp"
#include "misuse_cases.hpp"

using namespace conformance;
using namespace test;
using kma::ErrorCode;

namespace {

constexpr std::uint64_t payload = 8 * small_superblock;
constexpr std::size_t at_once = 8; // calls in one launch: the log keeps so many records of each code

// Which work-item makes the call; misuse.cl has it so.
constexpr cl_ulong culprit(std::size_t call)
{
    return 8 * call + 5;
}

kma::Program misuse_program(const Subject &subject)
{
    return subject.program("misuse.cl", subject.can(Ability::know_blocks) ? "-DKMA_KNOWS_BLOCKS" : "");
}

// The calls in parts of at_once.
template <class Action> void for_parts(const std::vector<Misuse> &misuses, Action action)
{
    for (std::size_t i = 0; i < misuses.size(); i += at_once)
        action(std::span(misuses).subspan(i, std::min(at_once, misuses.size() - i)));
}

std::string names_of(std::span<const Misuse> misuses)
{
    std::string names;
    for (const Misuse &misuse : misuses)
        names += "; " + misuse.what + " with " + misuse.pointer.what;
    return names.substr(2);
}

// A heap with six blocks of 64 bytes, one of which was freed; a second heap with a block; and a buffer.
struct Scene {
    explicit Scene(const Subject &which)
        : subject(which), program(misuse_program(which)), heap(which.heap(payload, small_superblock)),
          other(which.heap(payload, small_superblock)), blocks(which, heap, std::vector<cl_ulong>(6, 64)),
          others(which, other, {64}), foreign(4096, 0xab)
    {
        blocks.take();
        others.take();
        freed = blocks.refs()[4];
        blocks.give({4});
        REQUIRE(heap.error_text() == "");
    }

    // The calls' results; on this heap, or on whatever else the kernel takes for one.
    std::vector<cl_ulong> call(std::span<const Misuse> misuses, const cl::Buffer &on, bool without_heap = false) const
    {
        struct Case { // as misuse.cl has it
            cl_ulong call, base, offset, a, b;
        };
        std::vector<Case> cases;
        for (const Misuse &one : misuses)
            cases.push_back({static_cast<cl_ulong>(one.call), static_cast<cl_ulong>(one.pointer.base),
                             one.pointer.offset, one.a, one.b});
        const Array<cl_ulong> results(misuses.size(), 0xdead);
        cl::Kernel kernel = program.kernel("misuse");
        kernel.setArg(0, on); // not Heap::set_arg, which refuses what is refused here by the device
        set_arg(kernel, 1, other);
        set_arg(kernel, 2, foreign);
        const Array<Case> in(cases);
        set_arg(kernel, 3, in);
        kernel.setArg(4, static_cast<cl_uint>(misuses.size()));
        kernel.setArg(5, static_cast<cl_uint>(without_heap));
        set_arg(kernel, 6, results);
        device().queue().enqueueNDRangeKernel(kernel, cl::NullRange, cl::NDRange(64), cl::NDRange(64));
        return results.read();
    }

    WrongPointer living() const { return {"a living block", Base::heap, blocks.refs()[0] * kma::ref_unit}; }

    // That the blocks of both heaps, what is in them, and the buffer are as they were.
    void check_untouched() const
    {
        CHECK(blocks.wrong_bytes() == 0);
        check_books(blocks);
        CHECK(others.wrong_bytes() == 0);
        check_books(others);
        CHECK(other.error_text() == "");
        CHECK(foreign.read() == std::vector<cl_uchar>(4096, 0xab));
    }

    const Subject &subject;
    kma::Program program;
    kma::Heap heap, other;
    Blocks blocks, others;
    Array<cl_uchar> foreign;
    cl_uint freed;
};

// Where a record of a wrong pointer says that it leads: its unit, or nothing outside of the heap's buffer.
cl_uint recorded_ref(const Misuse &misuse, std::uint64_t heap_bytes)
{
    const bool is_in_heap = misuse.pointer.base == Base::heap && misuse.pointer.offset < heap_bytes;
    if (misuse.code != ErrorCode::invalid_free && misuse.code != ErrorCode::double_free)
        return 0;
    return is_in_heap ? static_cast<cl_uint>(misuse.pointer.offset / kma::ref_unit) : 0;
}

// Lines in an order that does not depend on who came first.
std::string sorted_lines(const std::string &text)
{
    std::vector<std::string> lines;
    std::istringstream in(text);
    for (std::string line; std::getline(in, line);)
        lines.push_back(line);
    std::ranges::sort(lines);
    std::string sorted;
    for (const std::string &line : lines)
        sorted += line + "\n";
    return sorted;
}

// As Heap::error_text() has it, the lines sorted.
std::string text_of(const std::vector<kma::ErrorRecord> &records, const kma::HeapStats &stats)
{
    if (records.empty())
        return "";
    std::map<ErrorCode, int> counts;
    std::string text = std::to_string(stats.used) + " of " + std::to_string(stats.capacity) +
                       " bytes are handed out; the first of each kind:\n";
    for (const kma::ErrorRecord &record : records) {
        const std::string what = kma::explain(record.code);
        counts[record.code]++;
        text += "  " + what.substr(0, what.find(':')) + ": work-item " + std::to_string(record.work_item) +
                (record.ref != 0 ? ", ref " + std::to_string(record.ref) : "") +
                (record.size != 0 ? ", size " + std::to_string(record.size) : "") + "\n";
    }
    for (const auto &[code, count] : counts)
        text += std::to_string(count) + " x " + kma::explain(code) + "\n";
    return sorted_lines(text);
}

// One record for each call that should leave one, with exactly this, and no other.
void check_records(std::span<const Misuse> misuses, const kma::Heap &heap)
{
    const std::vector<kma::ErrorRecord> records = heap.errors();
    const kma::HeapStats stats = heap.stats();
    std::size_t expected = 0;
    for (std::size_t i = 0; i < misuses.size(); i++) {
        const Misuse &misuse = misuses[i];
        const auto record = std::ranges::find(records, culprit(i), &kma::ErrorRecord::work_item);
        INFO(misuse.what << " with " << misuse.pointer.what);
        if (!misuse.code) {
            CHECK(record == records.end());
            continue;
        }
        expected++;
        REQUIRE(record != records.end());
        if (misuse.call == MisuseCall::free && misuse.pointer.is_free_memory)
            CHECK((record->code == ErrorCode::invalid_free || record->code == ErrorCode::double_free));
        else
            CHECK(record->code == *misuse.code);
        CHECK(record->ref == recorded_ref(misuse, stats.bytes));
        if (record->code == ErrorCode::double_free) // a heap that keeps sizes may tell the block's
            CHECK((record->size == 0 || record->size == 64));
        else
            CHECK(record->size == misuse.size);
    }
    CHECK(records.size() == expected);
    CHECK(sorted_lines(heap.error_text()) == text_of(records, stats));
}

void check_misuses(Scene &scene, const std::vector<Misuse> &misuses)
{
    const bool simulated = scaled(100) < 100; // then all is looked over once, at the end
    for_parts(misuses, [&](std::span<const Misuse> part) {
        INFO(scene.subject.name() << ": " << names_of(part));
        CHECK(scene.call(part, scene.heap.buffer()) == std::vector<cl_ulong>(part.size(), 0));
        check_records(part, scene.heap);
        scene.heap.clear_errors();
        if (!simulated)
            scene.check_untouched();
    });
    scene.check_untouched();
    scene.blocks.give_all(1);
    check_empty(scene.subject, scene.heap);
}

} // namespace

TEST_CASE("a pointer that is no living block is reported and nothing else happens")
{
    for (const Subject &subject : subjects(Breadth::all, {Ability::know_blocks})) {
        Scene scene(subject);
        const auto pointers = wrong_pointers(scene.heap, scene.blocks, scene.freed, scene.others.refs()[0]);
        REQUIRE(pointers.size() >= 25);
        check_misuses(scene, pointer_misuses(pointers));
    }
}

TEST_CASE("sizes and alignments that cannot be are reported and nothing else happens")
{
    for (const Subject &subject : subjects(Breadth::all)) {
        Scene scene(subject);
        check_misuses(scene, number_misuses(subject, scene.living(), 64));
    }
}

TEST_CASE("wild refs become pointers and back, and frees of them are reported")
{
    for (const Subject &subject : subjects(Breadth::all)) {
        Scene scene(subject);
        const UnitRange range = blocks_range(scene.heap);
        INFO(subject.name());
        std::vector<Misuse> derefs, refs_of, frees;
        std::vector<cl_ulong> refs, offsets;
        for (const cl_ulong ref : {cl_ulong{0}, cl_ulong{1}, cl_ulong{range.begin} - 1, cl_ulong{range.limit},
                                   cl_ulong{range.limit} + 1, cl_ulong{1} << 31, cl_ulong{0xffffffff}}) {
            const WrongPointer there = {"ref", ref == 0 ? Base::nothing : Base::heap, ref * kma::ref_unit};
            refs.push_back(ref);
            offsets.push_back(ref * kma::ref_unit);
            derefs.push_back({"deref", MisuseCall::deref, {}, ref, 0, {}, 0});
            refs_of.push_back({"ref_of", MisuseCall::ref_of, there, 0, 0, {}, 0});
            if (ref != 0)
                frees.push_back({"free", MisuseCall::free_deref, there, ref, 0, ErrorCode::invalid_free, 0});
        }
        CHECK(scene.call(derefs, scene.heap.buffer()) == offsets);
        CHECK(scene.call(refs_of, scene.heap.buffer()) == refs);
        if (subject.can(Ability::know_blocks)) {
            scene.call(frees, scene.heap.buffer());
            check_records(frees, scene.heap);
        }
        scene.heap.clear_errors();
        scene.check_untouched();
    }
}

TEST_CASE("with KMA_DEBUG a heap that is none gives NULL, and nothing is written")
{
    for (const Subject &subject : subjects(Breadth::all)) {
        if (subject.debug == 0)
            continue; // a broken contract there; see docs/device-api.md
        const Scene scene(subject);
        std::vector<cl_uint> whole(scene.heap.stats().bytes / 4);
        device().queue().enqueueReadBuffer(scene.heap.buffer(), CL_TRUE, 0, whole.size() * 4, whole.data());
        const auto with = [&](std::size_t word, cl_uint value) {
            std::vector<cl_uint> changed = whole;
            changed[word] = value;
            return changed;
        };
        std::vector<cl_uint> random(whole.size());
        for (std::size_t i = 0; i < random.size(); i++)
            random[i] = mix32(static_cast<std::uint32_t>(i) + 1);
        const std::pair<std::string, std::vector<cl_uint>> buffers[] = {
            {"zeros", std::vector<cl_uint>(whole.size(), 0)},
            {"ones", std::vector<cl_uint>(whole.size(), ~0u)},
            {"random numbers", random},
            {"a zero and no more", {0}}, // the first word must be enough
            {"a heap with another magic number", with(0, whole[0] + 1)},
            {"a heap of an older layout", with(1, whole[1] - 1)},
            {"a heap of a newer layout", with(1, whole[1] + 1)},
            {"the first two words of a heap of another layout", {whole[0], whole[1] + 1}},
        };
        for_parts(all_calls(subject, scene.living()), [&](std::span<const Misuse> part) {
            const std::vector<cl_ulong> nothing(part.size(), 0);
            INFO(subject.name() << ": " << names_of(part));
            CHECK(scene.call(part, scene.heap.buffer(), true) == nothing);
            for (const auto &[name, words] : buffers) {
                INFO("on " << name);
                const Array<cl_uint> buffer(words);
                CHECK(scene.call(part, buffer.buffer()) == nothing);
                CHECK(buffer.read() == words);
            }
        });
        CHECK(scene.heap.error_text() == "");
        scene.check_untouched();
    }
}

TEST_CASE("with KMA_DEBUG a heap of another kind or flavour gives NULL and one record")
{
    for (const Subject &subject : subjects(Breadth::all)) {
        if (subject.debug == 0)
            continue;
        const Scene scene(subject);
        std::vector<Subject> others = {{subject.type, subject.flavour, 0}};
        for (const HeapType &type : heap_types())
            if (type.kind != subject.type->kind)
                others.push_back({&type, subject.flavour, subject.debug});
        for (const Subject &wrong : others) {
            kma::Heap heap = wrong.heap(payload, small_superblock);
            Blocks blocks(wrong, heap, std::vector<cl_ulong>(3, 64));
            blocks.take();
            const WrongPointer living = {"a living block", Base::heap, blocks.refs()[0] * kma::ref_unit};
            std::vector<Misuse> misuses = all_calls(subject, living);
            for (Misuse &misuse : misuses)
                // NULL is nobody's block, and no heap need be asked.
                if (misuse.pointer.base != Base::nothing ||
                    (misuse.call != MisuseCall::free && misuse.call != MisuseCall::usable_size)) {
                    misuse.code = ErrorCode::bad_heap;
                    misuse.size = static_cast<cl_ulong>(wrong.debug);
                }
            for_parts(misuses, [&](std::span<const Misuse> part) {
                INFO(subject.name() << ": " << names_of(part) << " on " << wrong.name());
                CHECK(scene.call(part, heap.buffer()) == std::vector<cl_ulong>(part.size(), 0));
                check_records(part, heap);
                heap.clear_errors();
            });
            CHECK(blocks.wrong_bytes() == 0);
            check_books(blocks);
        }
    }
}
