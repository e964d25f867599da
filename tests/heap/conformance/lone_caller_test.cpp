// A lone caller gets a block whenever one fits, and NULL only when none does: one work-item does what a random script
// says, and the host's model of the heap foretells every result.
#include <algorithm>
#include <random>

#include "blocks.hpp"
#include "catch.hpp"

using namespace conformance;
using namespace test;

namespace {

constexpr std::uint64_t heap_bytes = 12 * 4096; // in superblocks
constexpr cl_uint slots = 3200;                 // more than the blocks of 16 bytes

struct Script {
    std::vector<cl_uint> slots;
    std::vector<cl_uint> sizes; ///< 0: free
};

// Phases that fill, empty and thin the heap, so that full, partly free and empty superblocks of all classes lie about.
class Writer {
public:
    // Requests up to `most` bytes, some near to a superblock.
    Writer(std::uint32_t seed, std::uint64_t superblock_bytes, std::uint64_t most)
        : random_(seed), superblock_bytes_(static_cast<cl_uint>(superblock_bytes)), most_(static_cast<cl_uint>(most))
    {
        for (cl_uint slot = 0; slot < slots; slot++)
            empty_.push_back(slot);
    }

    Script write(std::size_t operations)
    {
        while (script_.slots.size() < operations)
            switch (below(6)) {
            case 0: // blocks of a few sizes
                for (std::uint32_t n = below(200), first = below(8); n > 0; n--)
                    take(size(first + below(3)));
                break;
            case 1: // some go
                for (std::size_t n = below(100) * asked_.size() / 100; n > 0; n--)
                    give(below(asked_.size()));
                break;
            case 2: { // one size, likely beyond the end of memory
                const cl_uint bytes = size(below(8));
                for (std::uint64_t n = heap_bytes / bytes / 2 + 3; n > 0; n--)
                    take(bytes);
                break;
            }
            case 3: { // one in a few stays, so that hardly a superblock is empty
                const std::size_t keep = 2 + below(90);
                for (std::size_t i = asked_.size(); i-- > 0;)
                    if (i % keep != 0)
                        give(i);
                break;
            }
            case 4:
                while (below(2) == 0 && !asked_.empty()) // now and then all
                    for (std::size_t i = asked_.size(); i-- > 0;)
                        give(i);
                break;
            default: // to and fro where it stands
                for (std::uint32_t n = below(150); n > 0; n--) {
                    take(size(below(11)));
                    give(below(asked_.size()));
                }
            }
        return script_;
    }

private:
    std::uint32_t below(std::size_t n) { return n == 0 ? 0 : static_cast<std::uint32_t>(random_() % n); }

    cl_uint size(std::uint32_t which)
    {
        const cl_uint whole = superblock_bytes_;
        const cl_uint sizes[] = {16, 48, 64, 80, 200, 500, 1000, whole / 2, whole * 3 / 4 - 72, whole};
        return std::min(which < std::size(sizes) ? sizes[which] : 1 + below(whole), most_);
    }

    void take(cl_uint bytes)
    {
        if (empty_.empty())
            return;
        std::swap(empty_[below(empty_.size())], empty_.back());
        script_.slots.push_back(empty_.back());
        script_.sizes.push_back(bytes);
        asked_.push_back(empty_.back());
        empty_.pop_back();
    }

    void give(std::size_t i)
    {
        if (asked_.empty())
            return;
        script_.slots.push_back(asked_[i]);
        script_.sizes.push_back(0);
        empty_.push_back(asked_[i]);
        asked_[i] = asked_.back();
        asked_.pop_back();
    }

    std::mt19937 random_;
    cl_uint superblock_bytes_;
    cl_uint most_; // bytes of the largest request
    Script script_;
    std::vector<cl_uint> empty_, asked_; // slots; those asked for may have got NULL
};

// What is wrong with the results, first deviation only; empty if nothing is. `known`: of how many requests the model
// knew whether they fit.
std::string compare(const Script &script, const std::vector<cl_uint> &results, Model &model, std::size_t &known)
{
    std::vector<cl_uint> held(slots, 0);
    for (std::size_t i = 0; i < script.slots.size(); i++) {
        cl_uint &ref = held[script.slots[i]];
        const std::string where =
            "operation " + std::to_string(i) + ", " + std::to_string(script.sizes[i]) + " bytes: ";
        if (script.sizes[i] == 0) {
            if (ref != 0)
                model.give(ref);
            ref = 0;
            continue;
        }
        const Verdict fits = model.fits(script.sizes[i]);
        ref = results[i];
        if (fits == (ref != 0 ? Verdict::no : Verdict::yes))
            return where + (ref == 0 ? "NULL, but a block fits" : "a block, but there is no room for one");
        known += fits != Verdict::maybe ? 1 : 0;
        if (ref != 0)
            if (const auto fault = model.take(ref, script.sizes[i]))
                return where + *fault;
    }
    return {};
}

void check_scripts(const Subject &subject, std::uint64_t superblock_bytes)
{
    std::size_t refused = 0, served = 0;
    for (std::uint32_t seed = 1; seed <= scaled(8); seed++) {
        INFO(subject.name() << ", superblocks of " << superblock_bytes << ", seed " << seed);
        const kma::Heap heap = subject.heap(heap_bytes, superblock_bytes);
        const Room room{blocks_range(heap).begin * std::uint64_t{kma::ref_unit}, heap.stats().capacity,
                        superblock_bytes};
        const std::unique_ptr<Model> model = subject.type->model(room, subject.debug);
        const Script script =
            Writer(seed, superblock_bytes, subject.largest(superblock_bytes)).write(scaled(5000, 600));
        const auto operations = static_cast<cl_uint>(script.slots.size());
        const Array<cl_uint> refs(slots, 0), held(slots, 0), results(operations, 0), wrong(1, 0);
        launch(subject.program("script.cl"), "script", {1, 1}, heap, Array<cl_uint>(script.slots),
               Array<cl_uint>(script.sizes), operations, refs, held, results, wrong);
        CHECK(wrong.read()[0] == 0);
        std::size_t known = 0;
        REQUIRE(compare(script, results.read(), *model, known) == "");
        CHECK(outside(heap.stats().used, model->used()) == "");
        const std::vector<cl_uint> sizes = held.read();
        check_books(subject, heap, refs.read(), {sizes.begin(), sizes.end()});
        const std::uint64_t asked = operations - std::ranges::count(script.sizes, cl_uint{0});
        const std::uint64_t null = count_of(heap, kma::ErrorCode::out_of_memory);
        CHECK(known > 0);
        if (!subject.guarded()) // else the model does not know what is in quarantine
            CHECK(known == asked);
        refused += null;
        served += asked - null;
        CHECK(std::ranges::count_if(results.read(), [](cl_uint ref) { return ref != 0; }) ==
              static_cast<std::ptrdiff_t>(asked - null));
    }
    CHECK(served > 0);
    CHECK(refused > 0); // else no script came to the end of memory
}

} // namespace

TEST_CASE("a lone caller gets a block whenever one fits, else NULL")
{
    for (const Subject &subject : core_subjects(Breadth::all)) {
        const std::uint64_t smallest = subject.superblock(4096);
        check_scripts(subject, smallest);
        if (subject.is_first() && smallest < 16384) // in some heaps four pages, and blocks of several of them
            check_scripts(subject, 16384);
    }
}
