// Wa-Tor with the object store: its schema, and its steps.
#include <algorithm>

#include "common/launch.hpp"
#include "ocean.hpp"

namespace wator {

const std::vector<kma::Source> &kernels();

namespace {

class Objects : public Game {
public:
    Objects(const kma::Device &device, const Rules &rules, std::uint64_t bytes, const std::string &build_options, bool debug)
        : device_(device), rules_(rules),
          world_(device, schema(), {samples::source_named(kernels(), "wator.cl")}, bytes != 0 ? bytes : enough(device, rules), options(rules, build_options, debug)),
          agents_(samples::words(device, rules.cells())), requests_(samples::words(device, rules.cells()))
    {
        world_.run("populate", std::min<std::uint32_t>(rules.cells(), 1u << 18), {}, agents_, requests_);
    }
    const char *name() const override { return "objects"; }
    void step(std::uint32_t number) override
    {
        const kma::DoAllOptions none = {std::vector<std::string>{}, std::vector<std::string>{}};
        const cl_uint phase = 2 * number + 1;
        world_.parallel_do("Fish", "fish_ask", phase, agents_, requests_);
        world_.run("choose", rules_.cells(), none, phase, agents_, requests_);
        world_.parallel_do("Fish", "fish_move", agents_);
        world_.parallel_do("Shark", "shark_ask", phase + 1, agents_, requests_);
        world_.run("choose", rules_.cells(), none, phase + 1, agents_, requests_);
        world_.parallel_do("Shark", "shark_move", agents_);
    }
    Population population() override
    {
        const kma::WorldStats now = world_.stats();
        return {now.classes[0].objects, now.classes[1].objects};
    }
    Grid grid() override
    {
        Grid grid(rules_.cells());
        for (const char *cls : {"Fish", "Shark"}) {
            const bool sharks = cls == std::string("Shark");
            const kma::WorldSnapshot all = world_.snapshot(cls);
            const auto cells = all.column<cl_uint>("cell");
            const auto ages = all.column<cl_uchar>("age");
            const auto energies = sharks ? all.column<cl_uchar>("energy") : std::vector<cl_uchar>(all.size());
            for (std::size_t i = 0; i < all.size(); i++)
                grid.at(cells[i]) = {sharks ? Who::shark : Who::fish, ages[i], energies[i]};
        }
        return grid;
    }
    std::uint64_t unborn() override { return world_.error_count(kma::ErrorCode::out_of_memory); }
    double fragmentation() override { return world_.stats().fragmentation(); }
    std::vector<std::string> faults() override
    {
        std::vector<std::string> found = world_.check();
        for (const kma::ErrorCode code : {kma::ErrorCode::double_free, kma::ErrorCode::invalid_free, kma::ErrorCode::damaged})
            if (world_.error_count(code) != 0)
                found.push_back(world_.error_text());
        return found;
    }
    samples::Times times() override { return clock_.read(device_); }

private:
    static kma::Schema schema()
    {
        kma::Schema schema;
        schema.add_abstract("Agent", {"uint cell", "uint target", "uchar age"});
        schema.add("Fish", {}, "Agent").add("Shark", {"uchar energy"}, "Agent");
        schema.block_bytes(64 * 10); // so that a block has 64 sharks, as it has 64 fish
        const std::vector<std::string> none;
        schema.do_all("Fish", "fish_ask", "uint phase, global const Agent *agents, global uint *requests", {none, none});
        schema.do_all("Fish", "fish_move", "global Agent *agents", {{{"Fish"}}, none});
        schema.do_all("Shark", "shark_ask", "uint phase, global const Agent *agents, global uint *requests", {none, none});
        schema.do_all("Shark", "shark_move", "global Agent *agents", {{{"Agent"}}, none});
        return schema;
    }
    static std::uint64_t enough(const kma::Device &device, const Rules &rules)
    {
        return kma::World::bytes_for(device, schema(), {{"Fish", rules.cells()}, {"Shark", rules.cells()}, {"Fish", 1u << 18}});
    }
    kma::WorldOptions options(const Rules &rules, const std::string &build_options, bool debug)
    {
        kma::WorldOptions made;
        made.program = samples::build_with(kernels(), rules.defines() + " " + build_options);
        made.program.debug = debug ? 1 : 0;
        made.launched = [this](const std::string &kernel, const cl::Event &event) { clock_.note(kernel, event); };
        return made;
    }

    kma::Device device_;
    Rules rules_;
    samples::KernelClock clock_;
    kma::World world_;
    cl::Buffer agents_, requests_;
};

} // namespace

std::unique_ptr<Game> play_objects(const kma::Device &device, const Rules &rules, std::uint64_t bytes, const std::string &build_options, bool debug)
{
    return std::make_unique<Objects>(device, rules, bytes, build_options, debug);
}

} // namespace wator
