// Traffic with the object store: schema and steps.
#include <algorithm>

#include "network.hpp"
#include "simulation/world_game.hpp"

namespace traffic {

const std::vector<kma::Source> &kernels();

namespace {

class Objects : public samples::WorldGame, public samples::StateOf<Spots> {
public:
    Objects(const kma::Device &device, const Rules &rules, const Network &network,
            const samples::Setting &setting)
        : WorldGame(device, schema(), kernels(), "traffic.cl", enough(device, network, setting),
                    rules.defines(), setting)
    {
        const auto count = static_cast<cl_uint>(network.streets.size());
        const cl::Buffer plans = samples::copy_of(device, network.streets),
                         cells = samples::words(device, network.cells(), 0),
                         streets = samples::words(device, count, 0);
        world().parallel_new("Cell", network.cells(), "cell_init",
                             samples::copy_of(device, network.is_sink), cells);
        world().parallel_new("Street", count, "street_init", plans, streets);
        run("connect", count, quiet(), count, plans, cells, streets);
        std::vector<cl_uint2> places;
        for (const cl_uint cell : network.sources)
            places.push_back({{cell, network.street_of[cell]}});
        if (!places.empty())
            world().parallel_new("Source", static_cast<cl_uint>(places.size()), "source_init",
                                 samples::copy_of(device, places), cells, streets);
        cells_ = samples::read<cl_uint>(device, cells, network.cells());
    }
    void step(std::uint32_t number) override
    {
        world().parallel_do("Source", "source_make", cl_uint{number});
        world().parallel_do("Vehicle", "vehicle_drive", cl_uint{number});
    }
    samples::Numbers numbers() override
    {
        const auto speeds = world().snapshot("Vehicle", {"speed"}).column<cl_uchar>("speed");
        return numbers_of(speeds.size(),
                          static_cast<std::uint64_t>(std::count(speeds.begin(), speeds.end(), 0)),
                          world().count("Cell"));
    }
    Spots state() override
    {
        std::vector<std::uint32_t> number_of(1 + *std::max_element(cells_.begin(), cells_.end()));
        for (std::uint32_t i = 0; i < cells_.size(); i++)
            number_of[cells_[i]] = i;
        const kma::WorldSnapshot all = world().snapshot("Vehicle", {"cell", "speed", "luck"});
        const auto cells = all.column<cl_uint>("cell"), lucks = all.column<cl_uint>("luck");
        const auto speeds = all.column<cl_uchar>("speed");
        Spots spots(cells_.size());
        for (std::size_t i = 0; i < all.size(); i++)
            spots[number_of.at(cells[i])] = {lucks[i], speeds[i], true};
        return spots;
    }

private:
    static kma::Schema schema()
    {
        kma::Schema schema;
        schema.add("Cell", {"Cell next", "uint taken[2]", "uchar is_sink"});
        schema.add("Street", {"Cell first", "Street exits[3]", "uchar exit_count", "uchar limit",
                              "uchar turn", "uchar turns"});
        schema.add("Source", {"Cell cell", "Street street", "uint number"});
        schema.add("Vehicle", {"Cell cell", "Street street", "uint luck", "uchar speed"});
        // a block has 64 cells or vehicles, and 64 sources
        schema.block_bytes(64 * 13);
        schema.parallel_new("Cell", "cell_init",
                            quiet());
        schema.parallel_new("Street", "street_init", quiet());
        schema.parallel_new(
            "Source", "source_init",
            quiet());
        schema.do_all("Source", "source_make", changing({"Vehicle"}));
        schema.do_all("Vehicle", "vehicle_drive", changing({"Vehicle"}));
        return schema;
    }
    // Provides space for a vehicle in each cell. Usually vehicles are far fewer; this leaves space
    // for half-empty blocks.
    static std::uint64_t enough(const kma::Device &device, const Network &network,
                                const samples::Setting &setting)
    {
        return kma::World::bytes_for(device, schema(),
                                     {{"Cell", network.cells()},
                                      {"Street", network.streets.size()},
                                      {"Source", network.sources.size()},
                                      {"Vehicle", network.cells()},
                                      {"Vehicle", strided}},
                                     setting.build_options);
    }

    std::vector<cl_uint> cells_; // references to cells, by cell number
};

} // namespace

std::unique_ptr<samples::Game> play_objects(const kma::Device &device, const Rules &rules,
                                            const Network &network, const samples::Setting &setting)
{
    return std::make_unique<Objects>(device, rules, network, setting);
}

} // namespace traffic
