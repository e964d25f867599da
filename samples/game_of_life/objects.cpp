// The game of life with the object store: schema and steps.
#include <algorithm>

#include "life.hpp"
#include "simulation/world_game.hpp"

namespace game_of_life {

const std::vector<kma::Source> &kernels();

namespace {

class Objects : public samples::WorldGame, public samples::StateOf<Board> {
public:
    Objects(const kma::Device &device, const Rules &rules, const Cells &live,
            const samples::Setting &setting)
        : WorldGame(device, schema(), kernels(), "life.cl", enough(device, rules, live, setting),
                    rules.defines(), setting),
          rules_(rules), cells_(samples::words(device, (rules.cells() + 3) / 4, 0))
    {
        if (live.empty())
            return;
        world().parallel_new("Alive", static_cast<std::uint32_t>(live.size()), "alive_place",
                             samples::copy_of(device, live), cells_);
        world().parallel_do("Alive", "alive_appear", cells_);
    }
    void step(std::uint32_t) override
    {
        world().parallel_do("Agent", "agent_count", cells_);
        world().parallel_do("Agent", "agent_change", cells_);
    }
    samples::Numbers numbers() override
    {
        const kma::WorldStats now = world().stats();
        return {{"alive", now.classes[0].objects}, {"candidates", now.classes[1].objects}};
    }
    Board state() override
    {
        Board board(rules_.cells());
        for (const Kind kind : {Kind::candidate, Kind::alive})
            for (const cl_uint cell :
                 world()
                     .snapshot(kind == Kind::alive ? "Alive" : "Candidate", {"cell"})
                     .column<cl_uint>("cell"))
                board.at(cell) = kind;
        return board;
    }

private:
    static kma::Schema schema()
    {
        kma::Schema schema;
        schema.add_abstract("Agent", {"uint cell", "uchar neighbours"});
        schema.add("Alive", {}, "Agent").add("Candidate", {}, "Agent");
        schema.parallel_new("Alive", "alive_place", quiet());
        schema.do_all("Alive", "alive_appear",
                      changing({"Candidate"}));
        schema.do_all("Agent", "agent_count", quiet());
        schema.do_all("Agent", "agent_change", changing({"Agent"}));
        return schema;
    }
    // Provides blocks for agents in all cells, each block half empty, but for no more than 2^23
    // agents or 32 per first live cell: an enumeration scans all blocks, and of a large grid mostly
    // a small part is alive.
    static std::uint64_t enough(const kma::Device &device, const Rules &rules, const Cells &live,
                                const samples::Setting &setting)
    {
        const std::uint64_t most = std::min<std::uint64_t>(
            rules.cells(), std::max<std::uint64_t>(1u << 23, 32 * live.size()));
        return kma::World::bytes_for(device, schema(), {{"Agent", 2 * most}, {"Agent", strided}},
                                     setting.build_options);
    }
    std::vector<cl::Buffer> buffers() override { return {cells_}; }

    Rules rules_;
    cl::Buffer cells_;
};

} // namespace

std::unique_ptr<samples::Game> play_objects(const kma::Device &device, const Rules &rules,
                                            const samples::Setting &setting)
{
    return std::make_unique<Objects>(device, rules, first_cells(rules), setting);
}

} // namespace game_of_life
