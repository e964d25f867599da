// Wa-Tor with structures in a slab heap.
#include "common/launch.hpp"
#include "ocean.hpp"

namespace wator {

const std::vector<kma::Source> &kernels();

namespace {

class Pointers : public Game {
public:
    Pointers(const kma::Device &device, const Rules &rules, std::uint64_t bytes)
        : device_(device), rules_(rules),
          program_(device, kernels(), "pointers.cl", rules.defines()), heap_(device, bytes != 0 ? bytes : enough(rules)), cells_(samples::words(device, rules.cells())),
          requests_(samples::words(device, rules.cells())), lists_{samples::words(device, 2 * rules.cells()), samples::words(device, 2 * rules.cells())}, people_(samples::words(device, 3)), before_(samples::words(device, 1))
    {
        const std::vector<cl_uint> zeroes(3);
        device_.queue().enqueueWriteBuffer(people_, CL_TRUE, 0, sizeof zeroes[0] * zeroes.size(), zeroes.data());
        program_.run("populate", rules.cells(), heap_, cells_, requests_, lists_[0], people_);
    }
    const char *name() const override { return "pointers"; }
    void step(std::uint32_t number) override
    {
        for (cl_uint is_shark = 0; is_shark < 2; is_shark++) {
            const cl_uint phase = 2 * number + 1 + is_shark;
            program_.run("note", 1, people_, before_);
            program_.run("ask_all", program_.strided(), heap_, is_shark, phase, before_, cells_, requests_, lists_[0]);
            program_.run("choose", rules_.cells(), heap_, phase, cells_, requests_);
            program_.run("move_all", program_.strided(), heap_, is_shark, before_, cells_, lists_[0], people_);
        }
        program_.run("bury", program_.strided(), heap_, lists_[0], lists_[1], people_);
        program_.run("go_on", 1, people_);
        std::swap(lists_[0], lists_[1]);
    }
    Population population() override { return population_of(grid()); }
    Grid grid() override
    {
        struct Agent { // of pointers.cl
            cl_uint cell, target, is_shark;
            cl_uchar age, energy, pad[2];
        };
        std::vector<cl_uint> people(3);
        device_.queue().enqueueReadBuffer(people_, CL_TRUE, 0, sizeof people[0] * people.size(), people.data());
        unborn_ = people[2];
        std::vector<kma::Ref> list(people[0]);
        if (!list.empty())
            device_.queue().enqueueReadBuffer(lists_[0], CL_TRUE, 0, sizeof list[0] * list.size(), list.data());
        const kma::Snapshot snapshot = heap_.snapshot();
        Grid grid(rules_.cells());
        for (const kma::Ref ref : list) {
            const Agent *agent = snapshot.deref<Agent>(ref);
            grid.at(agent->cell) = {agent->is_shark ? Who::shark : Who::fish, agent->age, agent->is_shark ? agent->energy : std::uint8_t{0}};
        }
        return grid;
    }
    std::uint64_t unborn() override
    {
        grid();
        return unborn_;
    }
    std::vector<std::string> faults() override { return heap_.check(); }

    samples::Times times() override { return program_.times(); }

private:
    static std::uint64_t enough(const Rules &rules) { return kma::Heap::bytes_for({}, {{16, 2ull * rules.cells()}}); }

    kma::Device device_;
    Rules rules_;
    samples::PlainProgram program_;
    kma::Heap heap_;
    cl::Buffer cells_, requests_, lists_[2], people_, before_;
    std::uint64_t unborn_ = 0;
};

} // namespace

std::unique_ptr<Game> play_pointers(const kma::Device &device, const Rules &rules, std::uint64_t bytes)
{
    return std::make_unique<Pointers>(device, rules, bytes);
}

} // namespace wator
