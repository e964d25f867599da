// The sugarscape with the object store: schema and steps.
#include <algorithm>

#include "land.hpp"
#include "simulation/world_game.hpp"

namespace sugarscape {

const std::vector<kma::Source> &kernels();

namespace {

class Objects : public samples::WorldGame, public samples::StateOf<Grid> {
public:
    Objects(const kma::Device &device, const Rules &rules, const samples::Setting &setting)
        : WorldGame(device, schema(), kernels(), "sugarscape.cl", enough(device, rules, setting),
                    rules.defines(), setting),
          rules_(rules), capacities_(samples::copy_of(device, rules.capacities())),
          cells_(samples::bytes(device, 2ull * rules.cells())),
          before_(samples::bytes(device, 2ull * rules.cells())),
          requests_(samples::words(device, rules.cells())),
          fathers_(samples::words(device, rules.cells()))
    {
        run("populate", std::min<std::uint32_t>(rules.cells(), strided), changing({"Agent"}),
            capacities_, cells_);
    }
    void step(std::uint32_t number) override
    {
        const cl_uint step = number + 1;
        std::swap(cells_, before_);
        run("grow", rules_.cells(), quiet(), capacities_, before_, cells_, requests_);
        world().parallel_do("Agent", "agent_ask", step, cells_, requests_, fathers_);
        world().parallel_do("Agent", "agent_act", step, cells_, requests_, fathers_);
    }
    samples::Numbers numbers() override
    {
        const kma::WorldStats now = world().stats();
        return {{"males", now.classes[0].objects}, {"females", now.classes[1].objects}};
    }
    Grid state() override
    {
        Grid grid;
        for (const cl_ushort word : samples::read<cl_ushort>(device(), cells_, rules_.cells()))
            grid.push_back({.sugar = static_cast<std::uint16_t>(word & sugar_bits)});
        for (const auto &[cls, sex] :
             {std::pair{"Male", Sex::male}, std::pair{"Female", Sex::female}}) {
            const kma::WorldSnapshot all = world().snapshot(cls);
            const auto cells = all.column<cl_uint>("cell"), genes = all.column<cl_uint>("genes"),
                       wealth = all.column<cl_uint>("wealth");
            const auto ages = all.column<cl_uchar>("age");
            for (std::size_t i = 0; i < all.size(); i++)
                grid.at(cells[i]) =
                    inhabited(grid.at(cells[i]).sugar, sex, ages[i], wealth[i], genes[i]);
        }
        return grid;
    }

private:
    static kma::Schema schema()
    {
        kma::Schema schema;
        schema.add_abstract("Agent",
                            {"uint cell", "uint genes", "uint wealth", "uchar age", "uchar wish"});
        schema.add("Male", {}, "Agent").add("Female", {}, "Agent");
        const std::string parameters = "uint step, global ushort *cells, global kma_atomic_u32 "
                                       "*requests, global uint *fathers";
        schema.do_all("Agent", "agent_ask", quiet())
            .do_all("Agent", "agent_act", changing({"Agent"}));
        return schema;
    }
    static std::uint64_t enough(const kma::Device &device, const Rules &rules,
                                const samples::Setting &setting)
    {
        return kma::World::bytes_for(
            device, schema(),
            {{"Male", rules.cells()}, {"Female", rules.cells()}, {"Agent", 2ull * strided}},
            setting.build_options);
    }
    std::vector<cl::Buffer> buffers() override
    {
        return {capacities_, cells_, before_, requests_, fathers_};
    }

    Rules rules_;
    cl::Buffer capacities_, cells_, before_, requests_, fathers_;
};

} // namespace

std::unique_ptr<samples::Game> play_objects(const kma::Device &device, const Rules &rules,
                                            const samples::Setting &setting)
{
    return std::make_unique<Objects>(device, rules, setting);
}

} // namespace sugarscape
