// Wa-Tor with the object store: schema and steps.
#include <algorithm>

#include "ocean.hpp"
#include "simulation/world_game.hpp"

namespace wator {

const std::vector<kma::Source> &kernels();

namespace {

class Objects : public samples::WorldGame, public samples::StateOf<Grid> {
public:
    Objects(const kma::Device &device, const Rules &rules, const samples::Setting &setting)
        : WorldGame(device, schema(), kernels(), "wator.cl", enough(device, rules, setting),
                    rules.defines(), setting),
          rules_(rules), agents_(samples::words(device, rules.cells())),
          requests_(samples::words(device, rules.fours(), 0)),
          root_(world().root(agents_, "Agent"))
    {
        run("populate", std::min<std::uint32_t>(rules.cells(), strided), changing({"Agent"}),
            agents_);
    }
    void step(std::uint32_t number) override
    {
        const cl_uint phase = 2 * number + 1;
        world().parallel_do("Fish", "fish_ask", phase, agents_, requests_);
        run("choose", rules_.fours(), quiet(), phase, agents_, requests_);
        world().parallel_do("Fish", "fish_move", agents_);
        world().parallel_do("Shark", "shark_ask", phase + 1, agents_, requests_);
        run("choose", rules_.fours(), quiet(), phase + 1, agents_, requests_);
        world().parallel_do("Shark", "shark_move", agents_);
    }
    samples::Numbers numbers() override
    {
        const kma::WorldStats now = world().stats();
        return {{"fish", now.classes[0].objects}, {"sharks", now.classes[1].objects}};
    }
    Grid state() override
    {
        Grid grid(rules_.cells());
        for (const char *cls : {"Fish", "Shark"}) {
            const bool sharks = cls == std::string("Shark");
            const kma::WorldSnapshot all = world().snapshot(cls);
            const auto cells = all.column<cl_uint>("cell");
            const auto ages = all.column<cl_uchar>("age");
            const auto energies =
                sharks ? all.column<cl_uchar>("energy") : std::vector<cl_uchar>(all.size());
            for (std::size_t i = 0; i < all.size(); i++)
                grid.at(cells[i]) = {sharks ? Kind::shark : Kind::fish, ages[i], energies[i]};
        }
        return grid;
    }

private:
    static kma::Schema schema()
    {
        kma::Schema schema;
        schema.add_abstract("Agent", {"uint cell", "uint target", "uchar age"});
        schema.add("Fish", {}, "Agent").add("Shark", {"uchar energy"}, "Agent");
        schema.block_bytes(64 * 10); // a block has 64 sharks, and 64 fish
        schema.do_all("Fish", "fish_ask", quiet());
        schema.do_all("Fish", "fish_move", changing({"Fish"}));
        schema.do_all("Shark", "shark_ask", quiet());
        schema.do_all("Shark", "shark_move", changing({"Agent"}));
        return schema;
    }
    static std::uint64_t enough(const kma::Device &device, const Rules &rules,
                                const samples::Setting &setting)
    {
        return kma::World::bytes_for(
            device, schema(),
            {{"Fish", rules.cells()}, {"Shark", rules.cells()}, {"Fish", strided}},
            setting.build_options);
    }
    std::vector<cl::Buffer> buffers() override { return {agents_, requests_}; }

    Rules rules_;
    cl::Buffer agents_, requests_;
    kma::WorldRoot root_;
};

} // namespace

std::unique_ptr<samples::Game> play_objects(const kma::Device &device, const Rules &rules,
                                            const samples::Setting &setting)
{
    return std::make_unique<Objects>(device, rules, setting);
}

} // namespace wator
