// What callers do wrong, one call at a time: the exact result, record and message, and that nothing else happens.
#include <algorithm>
#include <span>
#include <optional>
#include <set>

#include "blocks.hpp"
#include "catch.hpp"

using namespace conformance;
using namespace test;
using kma::ErrorCode;

namespace {

// The calls and bases of misuse.cl.
// clang-format off
enum class MisuseCall : cl_ulong
{ malloc, calloc, aligned_alloc, realloc_sized, free, realloc, usable_size, ref_of, deref, free_deref };
// clang-format on
enum class Base : cl_ulong { nothing, heap, other_heap, foreign_buffer, private_variable, local_variable };

// A pointer that is no living block's start.
struct WrongPointer {
    std::string what;
    Base base = Base::nothing;
    cl_ulong offset = 0;
    // Memory that is free: no heap need know whether a block was there before.
    bool is_free_memory = false;
    // A block that was handed out and freed.
    bool is_freed_block = false;
};

// One call that returns NULL or 0 and changes nothing.
struct Misuse {
    std::string what;
    MisuseCall call;
    WrongPointer pointer;
    cl_ulong a = 0, b = 0;
    std::optional<kma::ErrorCode> code; // of the record that it leaves; none: it is no error
    cl_ulong size = 0;                  // in the record
};

constexpr cl_ulong unit = kma::ref_unit;
constexpr cl_ulong top = ~cl_ulong{0};

// Of `blocks` in `heap`, one of which was freed, when a heap of the same size has a block too.
std::vector<WrongPointer> wrong_pointers(const kma::Heap &heap, const Blocks &blocks, cl_uint freed_ref,
                                         cl_uint others_ref)
{
    const std::vector<cl_uint> refs = blocks.refs();
    const cl_ulong first = refs[0] * unit, second = refs[1] * unit;
    const cl_ulong last = *std::ranges::max_element(refs) * unit;
    const cl_ulong bytes = heap.stats().bytes;
    const UnitRange range = blocks_range(heap);
    return {
        {"a freed block", Base::heap, freed_ref * unit, false, true},
        {"the second unit of a block", Base::heap, first + unit},
        {"the last unit of a block", Base::heap, first + 3 * unit},
        {"the unit in front of a block", Base::heap, second - unit},
        {"a block and 8 bytes", Base::heap, first + 8},
        {"a block and a byte", Base::heap, first + 1},
        {"a block and 15 bytes", Base::heap, second + 15},
        {"what was never handed out", Base::heap, last + 64, true},
        {"what was never handed out, at an odd place", Base::heap, last + 72},
        {"the heap's last unit", Base::heap, (range.limit - cl_ulong{1}) * unit, true},
        {"the heap's limit", Base::heap, range.limit * unit},
        {"the heap's end", Base::heap, (bytes + unit - 1) / unit * unit},
        {"what is above the heap", Base::heap, bytes + (1 << 20)},
        {"a block and 2^36 bytes", Base::heap, first + (cl_ulong{1} << 36)},
        {"a block and 2^63 bytes", Base::heap, first + (cl_ulong{1} << 63)},
        {"the heap itself", Base::heap, 0},
        {"the heap's head", Base::heap, unit},
        {"the middle of the metadata", Base::heap, range.begin / 2 * unit},
        {"the last unit of the metadata", Base::heap, (range.begin - cl_ulong{1}) * unit},
        {"what is below the heap", Base::heap, top - 63},
        {"what is far below the heap", Base::heap, top - (cl_ulong{1} << 40) + 1},
        {"another heap's block", Base::other_heap, others_ref * unit},
        {"another buffer", Base::foreign_buffer, 0},
        {"a private variable", Base::private_variable, 0},
        {"a local variable", Base::local_variable, 0},
        {"the address 16", Base::nothing, unit},
        {"the largest address", Base::nothing, top},
        {"the last unit of all addresses", Base::nothing, top - unit + 1},
    };
}

// What is wrong with each of these pointers, for heaps that know their blocks.
std::vector<Misuse> pointer_misuses(const std::vector<WrongPointer> &pointers)
{
    std::vector<Misuse> all;
    for (const WrongPointer &pointer : pointers) {
        const std::optional<ErrorCode> of_free =
            pointer.is_freed_block ? ErrorCode::double_free : ErrorCode::invalid_free;
        const std::optional<ErrorCode> invalid = ErrorCode::invalid_free;
        all.insert(all.end(), {{"free", MisuseCall::free, pointer, 0, 0, of_free, 0},
                               {"realloc to more", MisuseCall::realloc, pointer, 200, 0, invalid, 200},
                               {"realloc to less", MisuseCall::realloc, pointer, 1, 0, invalid, 1},
                               {"realloc to 0", MisuseCall::realloc, pointer, 0, 0, invalid, 0},
                               {"realloc to 2^64 - 1", MisuseCall::realloc, pointer, top, 0, invalid, top},
                               {"realloc_sized", MisuseCall::realloc_sized, pointer, 64, 200, invalid, 200},
                               {"usable_size", MisuseCall::usable_size, pointer, 0, 0, {}, 0}});
    }
    return all;
}

// Sizes and alignments; `living` is where a block of `old_bytes` is.
std::vector<Misuse> number_misuses(const Subject &subject, const WrongPointer &living, cl_ulong old_bytes)
{
    const std::optional<ErrorCode> too_large = ErrorCode::too_large;
    const WrongPointer null = {"NULL"};
    std::vector<Misuse> all;
    for (const cl_ulong bytes :
         {(cl_ulong{1} << 32) - 1, cl_ulong{1} << 32, (cl_ulong{1} << 32) + 1, (cl_ulong{1} << 36) - 16,
          cl_ulong{1} << 36, (cl_ulong{1} << 36) + 16, cl_ulong{1} << 63, top - 16, top - 15, top - 14, top}) {
        const std::string of = " of " + std::to_string(bytes);
        all.insert(all.end(),
                   {{"malloc" + of, MisuseCall::malloc, null, bytes, 0, too_large, bytes},
                    {"calloc once" + of, MisuseCall::calloc, null, 1, bytes, too_large, bytes},
                    {"calloc of bytes" + of, MisuseCall::calloc, null, bytes, 1, too_large, bytes},
                    {"aligned_alloc" + of, MisuseCall::aligned_alloc, null, 16, bytes, too_large, bytes},
                    {"realloc_sized of nothing" + of, MisuseCall::realloc_sized, null, 0, bytes, too_large, bytes},
                    {"realloc_sized" + of, MisuseCall::realloc_sized, living, old_bytes, bytes, too_large, bytes}});
        if (subject.can(Ability::know_blocks))
            all.push_back({"realloc" + of, MisuseCall::realloc, living, bytes, 0, too_large, bytes});
    }
    // Products of which 64 bits keep 0, 2, 4, 16 or the most; the record has the largest number.
    const std::pair<cl_ulong, cl_ulong> products[] = {{cl_ulong{1} << 32, cl_ulong{1} << 32},
                                                      {(cl_ulong{1} << 63) + 1, 2},
                                                      {2, (cl_ulong{1} << 63) + 2},
                                                      {(cl_ulong{1} << 60) + 1, 16},
                                                      {(cl_ulong{1} << 32) + 1, top - 3},
                                                      {top, top},
                                                      {3, top / 3 + 1}};
    for (const auto &[count, size] : products)
        all.push_back({"calloc of " + std::to_string(count) + " times " + std::to_string(size), MisuseCall::calloc,
                       null, count, size, too_large, top});
    for (const cl_ulong align :
         {cl_ulong{0}, cl_ulong{3}, cl_ulong{17}, cl_ulong{24}, subject.type->largest_alignment + 1,
          subject.type->largest_alignment * 2, cl_ulong{1} << 63, top}) {
        const std::string of = " to " + std::to_string(align);
        all.push_back(
            {"aligned_alloc" + of, MisuseCall::aligned_alloc, null, align, 32, ErrorCode::bad_alignment, align});
        all.push_back({"aligned_alloc of 0 bytes" + of, MisuseCall::aligned_alloc, null, align, 0, {}, 0});
    }
    for (const MisuseCall call : {MisuseCall::malloc, MisuseCall::calloc, MisuseCall::realloc_sized, MisuseCall::free})
        all.push_back({"nothing for nothing", call, null, 0, 0, {}, 0});
    for (const auto &[a, b] : {std::pair(cl_ulong{0}, cl_ulong{8}), {8, 0}})
        all.push_back({"calloc of nothing", MisuseCall::calloc, null, a, b, {}, 0});
    for (const cl_ulong align : {64, 8192})
        all.push_back({"aligned_alloc of nothing", MisuseCall::aligned_alloc, null, align, 0, {}, 0});
    if (subject.can(Ability::know_blocks))
        for (const MisuseCall call : {MisuseCall::realloc, MisuseCall::usable_size})
            all.push_back({"nothing for NULL", call, null, 0, 0, {}, 0});
    return all;
}

// Every call there is, with numbers that a heap could serve, and `living`.
std::vector<Misuse> all_calls(const Subject &subject, const WrongPointer &living)
{
    const WrongPointer null = {"NULL"};
    std::vector<Misuse> all = {{"malloc", MisuseCall::malloc, null, 64, 0, {}, 0},
                               {"malloc of 0", MisuseCall::malloc, null, 0, 0, {}, 0},
                               {"calloc", MisuseCall::calloc, null, 4, 16, {}, 0},
                               {"calloc beyond 2^64", MisuseCall::calloc, null, top, 2, {}, 0},
                               {"aligned_alloc", MisuseCall::aligned_alloc, null, 64, 64, {}, 0},
                               {"aligned_alloc to 3", MisuseCall::aligned_alloc, null, 3, 64, {}, 0},
                               {"realloc_sized", MisuseCall::realloc_sized, living, 64, 200, {}, 0},
                               {"realloc_sized of NULL", MisuseCall::realloc_sized, null, 0, 200, {}, 0},
                               {"free", MisuseCall::free, living, 0, 0, {}, 0},
                               {"free of NULL", MisuseCall::free, null, 0, 0, {}, 0}};
    if (subject.can(Ability::know_blocks))
        for (const WrongPointer &pointer : {living, null})
            all.insert(all.end(), {{"realloc", MisuseCall::realloc, pointer, 200, 0, {}, 0},
                                   {"realloc to 0", MisuseCall::realloc, pointer, 0, 0, {}, 0},
                                   {"usable_size", MisuseCall::usable_size, pointer, 0, 0, {}, 0}});
    return all;
}

constexpr std::uint64_t payload = 8 * small_superblock;
constexpr std::size_t at_once = 8; // calls in one launch: the log keeps so many records of each code

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

    // The calls' results; on this heap, or on whatever else the kernel takes for one, which Heap::set_arg would refuse.
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
        launch(program, "misuse", {64, 64}, on, other, foreign, Array(cases), static_cast<cl_uint>(misuses.size()),
               static_cast<cl_uint>(without_heap), results);
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

// Heap::error_text() has a line for each record, one for each code, and a head.
void check_text(const kma::Heap &heap, const std::vector<kma::ErrorRecord> &records)
{
    const std::string text = heap.error_text();
    std::set<std::string> lines;
    for (const kma::ErrorRecord &record : records) {
        const std::string what = kma::explain(record.code);
        lines.insert("  " + what.substr(0, what.find(':')) + ": work-item " + std::to_string(record.work_item) +
                     (record.ref != 0 ? ", ref " + std::to_string(record.ref) : "") +
                     (record.size != 0 ? ", size " + std::to_string(record.size) : "") + "\n");
        lines.insert(std::to_string(std::ranges::count(records, record.code, &kma::ErrorRecord::code)) + " x " + what +
                     "\n");
        lines.insert(std::to_string(heap.stats().used) + " of " + std::to_string(heap.stats().capacity) +
                     " bytes are handed out; the first of each kind:\n");
    }
    for (const std::string &line : lines)
        CHECK_THAT(text, contains(line));
    CHECK(std::ranges::count(text, '\n') == static_cast<std::ptrdiff_t>(lines.size()));
}

// One record for each call that should leave one, with exactly this, and no other.
void check_records(std::span<const Misuse> misuses, const kma::Heap &heap)
{
    const std::vector<kma::ErrorRecord> records = heap.errors();
    std::size_t expected = 0;
    for (std::size_t i = 0; i < misuses.size(); i++) {
        const Misuse &misuse = misuses[i];
        const std::uint64_t culprit = 8 * i + 5; // in misuse.cl
        const auto record = std::ranges::find(records, culprit, &kma::ErrorRecord::work_item);
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
        CHECK(record->ref == recorded_ref(misuse, heap.bytes()));
        if (record->code == ErrorCode::double_free) // a heap that keeps sizes may tell the block's
            CHECK((record->size == 0 || record->size == 64));
        else
            CHECK(record->size == misuse.size);
    }
    CHECK(records.size() == expected);
    check_text(heap, records);
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

TEST_CASE("a pointer that is no living block is reported and nothing else happens", "[long]")
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
        std::vector<cl_uint> whole(scene.heap.stats().bytes / 4), random(whole.size());
        device().queue().enqueueReadBuffer(scene.heap.buffer(), CL_TRUE, 0, whole.size() * 4, whole.data());
        const auto with = [&](std::size_t word, cl_uint value) {
            std::vector<cl_uint> changed = whole;
            changed[word] = value;
            return changed;
        };
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
                // NULL is no block, and no heap need be asked.
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
