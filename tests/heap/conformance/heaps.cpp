#include "heaps.hpp"

#include <algorithm>
#include <cstdlib>
#include <iomanip>
#include <sstream>

#include "catch.hpp"
#include "participation.hpp"
#include "slab_model.hpp"

namespace conformance {
namespace {

constexpr const char *ability_names[abilities] = {"reuse of freed memory", "knowledge of blocks",
                                                  "list of living blocks", "one block of the whole heap"};

template <std::uint64_t page_bytes> std::unique_ptr<Model> model_of_pages(const Room &room, int debug)
{
    return std::make_unique<PageModel>(room, debug, page_bytes);
}

template <std::uint64_t page_bytes> HeapType scatter_type()
{
    return {.kind = kma::HeapKind::scatter,
            .page_bytes = page_bytes == usual_page ? 0 : page_bytes,
            .exemptions = {{Ability::whole_heap, always, "requests above one region are refused"}},
            .block_bytes = [](std::uint64_t bytes, int debug) { return page_bytes_of(bytes, debug, page_bytes); },
            .model = model_of_pages<page_bytes>};
}

std::vector<HeapType> make_types()
{
    return {
        {.kind = kma::HeapKind::bump,
         .exemptions = {{Ability::reuse, always, "memory comes back by Heap::reset() only"},
                        {Ability::know_blocks, 1, "without KMA_DEBUG nothing is stored with a block"},
                        {Ability::list_blocks, 1, "without KMA_DEBUG Heap::leaks() does not know which blocks live"}},
         .largest_alignment = std::uint64_t{1} << 31,
         .block_bytes = BumpModel::block_bytes,
         .may_give_more = false,
         .has_widths = true,
         .lists_asked_from = 1,
         .own_debug = 1,
         .model = [](const Room &room, int debug) -> std::unique_ptr<Model> {
             return std::make_unique<BumpModel>(room, debug);
         }},
        {.kind = kma::HeapKind::superblock,
         .exemptions = {{Ability::whole_heap, always, "requests above one superblock are refused"}},
         .block_bytes = superblock_bytes_of,
         .has_widths = true,
         .model = model_of_pages<0>},
        scatter_type<usual_page>(),
        {.kind = kma::HeapKind::slab,
         .block_bytes = SlabModel::block_bytes,
         .together = 32,
         .model = [](const Room &room, int debug) -> std::unique_ptr<Model> {
             return std::make_unique<SlabModel>(room, debug, test::path().lanes_met);
         }}};
}

const Exemption *exemption(const HeapType &type, Ability ability, int debug)
{
    for (const Exemption &one : type.exemptions)
        if (one.ability == ability && debug < one.below_debug)
            return &one;
    return nullptr;
}

// Those of them that this run is for.
std::vector<HeapType> asked_of(std::vector<HeapType> types)
{
    std::erase_if(types, [](const HeapType &type) { return !test::heap_is_asked(type.kind); });
    return types;
}

} // namespace

const std::vector<HeapType> &heap_types()
{
    static const std::vector<HeapType> types = asked_of(make_types());
    return types;
}

const std::vector<HeapType> &other_types()
{
    // Only pages of 16 KiB have 1,024 chunks, which are 32 words of a bitmap.
    static const std::vector<HeapType> types = asked_of({scatter_type<16384>()});
    return types;
}

std::string exemption_table()
{
    std::ostringstream table;
    table << "exemptions of the heap kinds:\n" << std::left;
    for (const HeapType &type : heap_types())
        for (std::size_t i = 0; i < abilities; i++) {
            const Exemption *one = exemption(type, static_cast<Ability>(i), 0);
            const char *verdict = !one ? "yes" : one->below_debug == always ? "exempt" : "with KMA_DEBUG";
            table << "  " << std::setw(12) << type.name() << ' ' << std::setw(28) << ability_names[i] << ' '
                  << std::setw(one ? 15 : 0) << verdict << (one ? one->reason : "") << '\n';
        }
    return table.str();
}

bool Subject::can(Ability ability) const
{
    return exemption(*type, ability, debug) == nullptr;
}

std::string Subject::name() const
{
    const std::string pages = type->page_bytes ? ", pages of " + std::to_string(type->page_bytes) + " bytes" : "";
    return std::string(type->name()) + pages + ", " + flavour.name +
           (debug ? ", KMA_DEBUG " + std::to_string(debug) : "");
}

kma::HeapOptions Subject::options(std::uint64_t superblock_bytes, std::uint64_t max_bytes) const
{
    const std::uint64_t bytes = superblock_bytes != 0 ? superblock(superblock_bytes) : 0;
    return {.kind = type->kind,
            .debug = debug,
            .superblock = {bytes},
            .scatter = {.region_bytes = bytes, .page_bytes = type->page_bytes},
            .build_options = flavour.options,
            .max_bytes = max_bytes};
}

kma::Heap Subject::heap(std::uint64_t payload, std::uint64_t superblock_bytes, std::uint64_t max_bytes) const
{
    const kma::HeapOptions made = options(superblock_bytes, max_bytes);
    return {test::device(), kma::Heap::bytes_for(made, payload), made};
}

kma::Program Subject::program(const std::string &file, const std::string &more_options) const
{
    return test::program(file, {.options = flavour.options + " " + more_options, .heap = type->kind, .debug = debug});
}

bool thorough()
{
    return test::scaled(100) >= 200;
}

std::vector<Subject> subjects(Breadth breadth, const std::vector<Ability> &needs)
{
    const std::string test_name = Catch::getResultCapture().getCurrentTestName();
    std::vector<Subject> all;
    const auto add = [&](const Subject &subject) {
        for (const Ability need : needs)
            if (const Exemption *one = exemption(*subject.type, need, subject.debug)) {
                note({test_name, subject.type->kind, subject.debug != 0, one->reason});
                return;
            }
        note({test_name, subject.type->kind, subject.debug != 0, ""});
        all.push_back(subject);
    };
    for (const HeapType &type : heap_types()) {
        test::Flavours flavours = test::heap_flavours(); // those that differ in the width of atomics only come first
        std::size_t widths = test::widths().size();
        if (!type.has_widths) {
            flavours.erase(flavours.begin() + 1, flavours.begin() + static_cast<std::ptrdiff_t>(widths));
            widths = 1;
        }
        if (breadth == Breadth::guards) {
            const std::size_t last = (thorough() ? flavours.size() : widths) - 1;
            for (std::size_t i = 0; i <= last; i++)
                for (const int debug : {3, 2})
                    if (thorough() || i == (debug == 3 ? 0 : last))
                        add({&type, flavours[i], debug});
            continue;
        }
        const bool is_one = breadth == Breadth::fast || test::first_flavour_only();
        const std::size_t fast = is_one ? 1 : breadth == Breadth::widths ? widths : flavours.size();
        for (std::size_t i = 0; i < fast; i++)
            add({&type, flavours[i], 0});
        if (breadth != Breadth::all || test::first_flavour_only())
            continue;
        add({&type, flavours.front(), 3});
        if (type.own_debug != 0 && !thorough())
            add({&type, flavours.front(), type.own_debug});
        if (thorough())
            for (std::size_t i = 0; i < flavours.size(); i++)
                for (const int debug : {1, 2, 3})
                    if (i != 0 || debug != 3)
                        add({&type, flavours[i], debug});
    }
    if (all.empty() && heap_types().size() > 1)
        FAIL("every kind is exempt from this test: it tests nothing");
    return all;
}

std::vector<Subject> core_subjects(Breadth breadth, const std::vector<Ability> &needs)
{
    std::vector<Subject> all = subjects(breadth, needs);
    for (const HeapType &type : other_types())
        if (std::ranges::none_of(needs, [&](Ability need) { return exemption(type, need, 0) != nullptr; }))
            all.push_back({&type, test::heap_flavours()[0], 0});
    return all;
}

} // namespace conformance
