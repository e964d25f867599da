// The three versions on the device.
#include <algorithm>

#include "bodies.hpp"
#include "simulation/plain_game.hpp"
#include "simulation/world_game.hpp"

namespace nbody {

const std::vector<kma::Source> &kernels();

namespace {

class Objects : public samples::WorldGame, public samples::StateOf<Bodies> {
public:
    Objects(const kma::Device &device, const Space &space, const samples::Setting &setting)
        : WorldGame(device, schema(), kernels(), "bodies.cl",
                    kma::World::bytes_for(device, schema(),
                                          {{"Body", space.bodies}, {"Body", strided}},
                                          setting.build_options),
                    space.defines(), setting)
    {
        world().parallel_new("Body", space.bodies, "body_init");
    }
    void step(std::uint32_t) override
    {
        world().parallel_do("Body", "body_attract");
        world().parallel_do("Body", "body_move");
    }
    samples::Numbers numbers() override { return {{"bodies", world().count("Body")}}; }
    Bodies state() override
    {
        const kma::WorldSnapshot all = world().snapshot("Body");
        const auto x = all.column<float>("x"), y = all.column<float>("y"),
                   vx = all.column<float>("vx"), vy = all.column<float>("vy"),
                   mass = all.column<float>("mass");
        Bodies bodies;
        for (std::size_t i = 0; i < all.size(); i++)
            bodies.push_back({x[i], y[i], vx[i], vy[i], mass[i]});
        return bodies;
    }

private:
    static kma::Schema schema()
    {
        kma::Schema schema;
        schema.add("Body", {"float x", "float y", "float vx", "float vy", "float fx", "float fy",
                            "float mass"});
        schema.parallel_new("Body", "body_init");
        schema.do_all("Body", "body_attract", looping({"Body"}));
        schema.do_all("Body", "body_move", quiet());
        return schema;
    }
};

class Arrays : public samples::PlainGame, public samples::StateOf<Bodies> {
public:
    Arrays(const kma::Device &device, const Space &space, const samples::Setting &setting)
        : PlainGame(device, kernels(), "plain.cl", space.defines(), setting), space_(space),
          fields_(samples::words(device, std::size_t{7} * space.bodies))
    {
        program().run("arrays_init", space.bodies, fields_);
    }
    void step(std::uint32_t) override
    {
        program().run("arrays_attract", space_.bodies, fields_);
        program().run("arrays_move", space_.bodies, fields_);
    }
    samples::Numbers numbers() override { return {{"bodies", space_.bodies}}; }
    Bodies state() override
    {
        const std::size_t n = space_.bodies;
        const auto fields = read<float>(fields_, 7 * n);
        Bodies bodies;
        for (std::size_t i = 0; i < n; i++)
            bodies.push_back({fields[i], fields[n + i], fields[2 * n + i], fields[3 * n + i],
                              fields[6 * n + i]});
        return bodies;
    }

private:
    std::vector<cl::Buffer> buffers() override { return {fields_}; }

    Space space_;
    cl::Buffer fields_;
};

class Pointers : public samples::PlainGame, public samples::StateOf<Bodies> {
public:
    Pointers(const kma::Device &device, const Space &space, const samples::Setting &setting)
        : PlainGame(device, kernels(), "plain.cl", space.defines(), setting), space_(space),
          heap_(device, setting.bytes.value_or(enough(space))),
          bodies_(samples::words(device, space.bodies))
    {
        program().run("pointers_init", space.bodies, heap_, bodies_);
    }
    void step(std::uint32_t) override
    {
        program().run("pointers_attract", space_.bodies, heap_, bodies_);
        program().run("pointers_move", space_.bodies, heap_, bodies_);
    }
    samples::Numbers numbers() override { return {{"bodies", space_.bodies - refused()}}; }
    Bodies state() override
    {
        struct Block { // of plain.cl
            float x, y, vx, vy, fx, fy, mass;
        };
        const kma::Snapshot snapshot = heap_.snapshot();
        Bodies bodies;
        for (const kma::Ref ref : refs())
            if (const Block *block = snapshot.deref<Block>(ref))
                bodies.push_back({block->x, block->y, block->vx, block->vy, block->mass});
        return bodies;
    }
    std::uint64_t refused() override
    {
        const std::vector<kma::Ref> all = refs();
        return static_cast<std::uint64_t>(std::count(all.begin(), all.end(), 0u));
    }
    std::vector<std::string> faults() override { return heap_.check(); }
    std::uint64_t bytes() override { return PlainGame::bytes() + heap_.bytes(); }

private:
    static std::uint64_t enough(const Space &space)
    {
        return kma::Heap::bytes_for({}, {{32, space.bodies}});
    }
    std::vector<kma::Ref> refs() const { return read<kma::Ref>(bodies_, space_.bodies); }
    std::vector<cl::Buffer> buffers() override { return {bodies_}; }

    Space space_;
    kma::Heap heap_;
    cl::Buffer bodies_;
};

} // namespace

std::unique_ptr<samples::Game> play_objects(const kma::Device &device, const Space &space,
                                            const samples::Setting &setting)
{
    return std::make_unique<Objects>(device, space, setting);
}

std::unique_ptr<samples::Game> play_arrays(const kma::Device &device, const Space &space,
                                           const samples::Setting &setting)
{
    return std::make_unique<Arrays>(device, space, setting);
}

std::unique_ptr<samples::Game> play_pointers(const kma::Device &device, const Space &space,
                                             const samples::Setting &setting)
{
    return std::make_unique<Pointers>(device, space, setting);
}

} // namespace nbody
