#include "heaps.hpp"

#include <iomanip>
#include <sstream>

#include "catch.hpp"
#include "participation.hpp"

namespace conformance {
namespace {

constexpr const char *ability_names[abilities] = {"reuse of freed memory", "knowledge of blocks",
                                                  "list of living blocks", "one block of the whole heap"};

std::vector<HeapType> make_types()
{
    std::vector<HeapType> types;
    types.push_back({
        .kind = kma::HeapKind::bump,
        .exemptions = {{Ability::reuse, always, "memory comes back by Heap::reset() only"},
                       {Ability::know_blocks, 1, "without KMA_DEBUG nothing is stored with a block"},
                       {Ability::list_blocks, 1, "without KMA_DEBUG Heap::leaks() does not know which blocks live"}},
        .largest_alignment = std::uint64_t{1} << 31,
        .block_bytes = BumpModel::block_bytes,
        .may_give_more = false,
        .lists_asked_from = 1,
        .model = [](const Room &room, int debug) -> std::unique_ptr<Model> {
            return std::make_unique<BumpModel>(room, debug);
        },
    });
    types.push_back({
        .kind = kma::HeapKind::superblock,
        .exemptions = {{Ability::whole_heap, always, "requests above one superblock are refused"}},
        .largest_alignment = 4096,
        .block_bytes = SuperblockModel::block_bytes,
        .may_give_more = false,
        .lists_asked_from = 2,
        .model = [](const Room &room, int debug) -> std::unique_ptr<Model> {
            return std::make_unique<SuperblockModel>(room, debug);
        },
    });
    types.push_back({
        .kind = kma::HeapKind::scatter,
        .exemptions = {{Ability::whole_heap, always, "requests above one super block are refused"}},
        .largest_alignment = 4096,
        .block_bytes = ScatterModel::block_bytes,
        .may_give_more = true,
        .lists_asked_from = 2,
        .model = [](const Room &room, int debug) -> std::unique_ptr<Model> {
            return std::make_unique<ScatterModel>(room, debug);
        },
    });
    return types;
}

const Exemption *exemption(const HeapType &type, Ability ability, int debug)
{
    for (const Exemption &one : type.exemptions)
        if (one.ability == ability && debug < one.below_debug)
            return &one;
    return nullptr;
}

} // namespace

const std::vector<HeapType> &heap_types()
{
    static const std::vector<HeapType> types = make_types();
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
    return std::string(type->name()) + ", " + flavour.name + (debug ? ", KMA_DEBUG " + std::to_string(debug) : "");
}

kma::Heap Subject::heap(std::uint64_t payload, std::uint64_t superblock_bytes, std::uint64_t max_bytes) const
{
    kma::HeapOptions options;
    options.kind = type->kind;
    options.debug = debug;
    options.superblock_bytes = superblock_bytes;
    options.build_options = flavour.options;
    options.max_bytes = max_bytes;
    return {test::device(), kma::Heap::bytes_for(options, payload), options};
}

kma::Program Subject::program(const std::string &file, const std::string &more_options) const
{
    kma::ProgramOptions build;
    build.options = flavour.options + " " + more_options;
    build.heap = type->kind;
    build.debug = debug;
    return test::program(file, build);
}

bool thorough()
{
    return test::scaled(100) >= 200;
}

std::vector<Subject> subjects(Breadth breadth, const std::vector<Ability> &needs)
{
    static const test::Flavours flavours = test::heap_flavours();
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
        if (breadth == Breadth::guards) {
            const std::size_t last = (thorough() ? flavours.size() : test::widths().size()) - 1;
            for (std::size_t i = 0; i <= last; i++)
                for (const int debug : {3, 2})
                    if (thorough() || i == (debug == 3 ? 0 : last))
                        add({&type, flavours[i], debug});
            continue;
        }
        const std::size_t fast = breadth == Breadth::fast     ? 1
                                 : breadth == Breadth::widths ? test::widths().size() // the first of the flavours
                                                              : flavours.size();
        for (std::size_t i = 0; i < fast; i++)
            add({&type, flavours[i], 0});
        if (breadth != Breadth::all)
            continue;
        add({&type, flavours.front(), 3});
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

} // namespace conformance
