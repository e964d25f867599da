// The three versions on a device.
#include "bodies.hpp"

namespace nbody {

const std::vector<kma::Source> &kernels();

namespace {

class Objects : public Game {
public:
    Objects(const kma::Device &device, const Space &space, std::uint64_t bytes)
        : device_(device),
          world_(device, schema(), {samples::source_named(kernels(), "bodies.cl")},
                 bytes != 0 ? bytes : kma::World::bytes_for(device, schema(), {{"Body", space.bodies}, {"Body", 1u << 18}}), options(space))
    {
        world_.parallel_new("Body", space.bodies, "body_init");
    }
    void step() override
    {
        world_.parallel_do("Body", "body_attract");
        world_.parallel_do("Body", "body_move");
    }
    std::vector<Body> bodies() override
    {
        const kma::WorldSnapshot all = world_.snapshot("Body");
        const auto x = all.column<float>("x"), y = all.column<float>("y"), vx = all.column<float>("vx"), vy = all.column<float>("vy"), mass = all.column<float>("mass");
        std::vector<Body> bodies;
        for (std::size_t i = 0; i < all.size(); i++)
            bodies.push_back({x[i], y[i], vx[i], vy[i], mass[i]});
        return bodies;
    }
    std::vector<std::string> faults() override
    {
        std::vector<std::string> found = world_.check();
        if (const std::string errors = world_.error_text(); !errors.empty())
            found.push_back(errors);
        return found;
    }
    samples::Times times() override { return clock_.read(device_); }

private:
    static kma::Schema schema()
    {
        kma::Schema schema;
        schema.add("Body", {"float x", "float y", "float vx", "float vy", "float fx", "float fy", "float mass"});
        schema.parallel_new("Body", "body_init");
        const std::vector<std::string> none;
        schema.do_all("Body", "body_attract", "", {none, {{"Body"}}});
        schema.do_all("Body", "body_move", "", {none, none});
        return schema;
    }
    kma::WorldOptions options(const Space &space)
    {
        kma::WorldOptions made;
        made.program = samples::build_with(kernels(), space.defines());
        made.launched = [this](const std::string &kernel, const cl::Event &event) { clock_.note(kernel, event); };
        return made;
    }

    kma::Device device_;
    samples::KernelClock clock_;
    kma::World world_;
};

class Arrays : public Game {
public:
    Arrays(const kma::Device &device, const Space &space)
        : device_(device), space_(space), program_(device, kernels(), "plain.cl", space.defines()),
          fields_(device.context(), CL_MEM_READ_WRITE, std::uint64_t{28} * space.bodies)
    {
        program_.run("arrays_init", space.bodies, fields_);
    }
    void step() override
    {
        program_.run("arrays_attract", space_.bodies, fields_);
        program_.run("arrays_move", space_.bodies, fields_);
    }
    std::vector<Body> bodies() override
    {
        const std::size_t n = space_.bodies;
        std::vector<float> fields(7 * n);
        device_.queue().enqueueReadBuffer(fields_, CL_TRUE, 0, sizeof fields[0] * fields.size(), fields.data());
        std::vector<Body> bodies;
        for (std::size_t i = 0; i < n; i++)
            bodies.push_back({fields[i], fields[n + i], fields[2 * n + i], fields[3 * n + i], fields[6 * n + i]});
        return bodies;
    }
    samples::Times times() override { return program_.times(); }

private:
    kma::Device device_;
    Space space_;
    samples::PlainProgram program_;
    cl::Buffer fields_;
};

class Pointers : public Game {
public:
    Pointers(const kma::Device &device, const Space &space, std::uint64_t bytes)
        : device_(device), space_(space), program_(device, kernels(), "plain.cl", space.defines()),
          heap_(device, bytes != 0 ? bytes : enough(space)),
          bodies_(device.context(), CL_MEM_READ_WRITE, std::uint64_t{4} * space.bodies)
    {
        program_.run("pointers_init", space.bodies, heap_, bodies_);
        for (const kma::Ref ref : refs())
            if (ref == 0)
                throw kma::Error("the heap of " + std::to_string(heap_.bytes()) + " bytes has no room for all bodies; --bytes " +
                                 std::to_string(enough(space)) + " would do");
    }
    void step() override
    {
        program_.run("pointers_attract", space_.bodies, heap_, bodies_);
        program_.run("pointers_move", space_.bodies, heap_, bodies_);
    }
    std::vector<Body> bodies() override
    {
        struct Block { // of plain.cl
            float x, y, vx, vy, fx, fy, mass;
        };
        const kma::Snapshot snapshot = heap_.snapshot();
        std::vector<Body> bodies;
        for (const kma::Ref ref : refs()) {
            const Block *block = snapshot.deref<Block>(ref);
            bodies.push_back({block->x, block->y, block->vx, block->vy, block->mass});
        }
        return bodies;
    }
    std::vector<std::string> faults() override { return heap_.check(); }
    samples::Times times() override { return program_.times(); }

private:
    static std::uint64_t enough(const Space &space) { return kma::Heap::bytes_for({}, {{32, space.bodies}}); }
    std::vector<kma::Ref> refs() const
    {
        std::vector<kma::Ref> refs(space_.bodies);
        device_.queue().enqueueReadBuffer(bodies_, CL_TRUE, 0, sizeof refs[0] * refs.size(), refs.data());
        return refs;
    }

    kma::Device device_;
    Space space_;
    samples::PlainProgram program_;
    kma::Heap heap_;
    cl::Buffer bodies_;
};

} // namespace

std::unique_ptr<Game> play_objects(const kma::Device &device, const Space &space, std::uint64_t bytes)
{
    return std::make_unique<Objects>(device, space, bytes);
}

std::unique_ptr<Game> play_arrays(const kma::Device &device, const Space &space)
{
    return std::make_unique<Arrays>(device, space);
}

std::unique_ptr<Game> play_pointers(const kma::Device &device, const Space &space, std::uint64_t bytes)
{
    return std::make_unique<Pointers>(device, space, bytes);
}

} // namespace nbody
