// Bodies with the object store: schema and steps.
#include <algorithm>

#include "simulation/world_game.hpp"
#include "space.hpp"

namespace collision {

const std::vector<kma::Source> &kernels();

namespace {

class Objects : public samples::WorldGame, public samples::StateOf<Bodies> {
public:
    Objects(const kma::Device &device, const Space &space, const samples::Setting &setting)
        : WorldGame(device, schema(), kernels(), "collision.cl",
                    kma::World::bytes_for(device, schema(),
                                          {{"Body", space.bodies}, {"Body", strided}},
                                          setting.build_options),
                    space.defines(), setting)
    {
        world().parallel_new("Body", space.bodies, "body_init");
    }
    void step(std::uint32_t) override
    {
        world().parallel_do("Body", "body_look");
        world().parallel_do("Body", "body_merge_and_move");
        world().parallel_do("Body", "body_end");
    }
    samples::Numbers numbers() override { return {{"bodies", world().count("Body")}}; }
    Bodies state() override
    {
        const kma::WorldSnapshot all =
            world().snapshot("Body", {"number", "mass", "place", "velocity"});
        const auto number = all.column<cl_uint>("number");
        const auto mass = all.column<float>("mass");
        const auto place = all.column<cl_float2>("place"),
                   velocity = all.column<cl_float2>("velocity");
        Bodies bodies;
        for (std::size_t i = 0; i < all.size(); i++)
            bodies.push_back({number[i], mass[i], place[i].s[0], place[i].s[1], velocity[i].s[0],
                              velocity[i].s[1]});
        std::sort(bodies.begin(), bodies.end(),
                  [](const Body &one, const Body &other) { return one.number < other.number; });
        return bodies;
    }

private:
    static kma::Schema schema()
    {
        kma::Schema schema;
        schema.add("Body", {"float2 place", "float2 velocity", "float mass", "uint number",
                            "Body heavier", "Body lighter", "uchar ends"});
        schema.parallel_new("Body", "body_init");
        schema.do_all("Body", "body_look", looping({"Body"}));
        schema.do_all("Body", "body_merge_and_move", quiet());
        schema.do_all("Body", "body_end", changing({"Body"}));
        return schema;
    }
};

} // namespace

std::unique_ptr<samples::Game> play_objects(const kma::Device &device, const Space &space,
                                            const samples::Setting &setting)
{
    return std::make_unique<Objects>(device, space, setting);
}

} // namespace collision
