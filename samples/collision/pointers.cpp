// Bodies as structures in a slab heap, on the host's side.
#include <algorithm>

#include "simulation/plain_game.hpp"
#include "space.hpp"

namespace collision {

const std::vector<kma::Source> &kernels();

namespace {

class Pointers : public samples::PlainGame, public samples::StateOf<Bodies> {
public:
    Pointers(const kma::Device &device, const Space &space, const samples::Setting &setting)
        : PlainGame(device, kernels(), "pointers.cl", space.defines(), setting), space_(space),
          heap_(device,
                setting.bytes.value_or(kma::Heap::bytes_for({}, {{sizeof(Block), space.bodies}}))),
          now_(device, space), next_(device, space)
    {
        program().run("pointers_init", space.bodies, heap_, now_.bodies, now_.alive);
    }
    void step(std::uint32_t) override
    {
        program().run("pointers_look", space_.bodies, heap_, now_.bodies, now_.alive);
        program().run("pointers_merge_and_move", space_.bodies, heap_, now_.bodies, now_.alive,
                      next_.alive);
        program().run("pointers_end", space_.bodies, heap_, now_.bodies, now_.alive, next_.bodies,
                      next_.alive);
        std::swap(now_, next_);
    }
    samples::Numbers numbers() override { return {{"bodies", refs().size() - refused()}}; }
    Bodies state() override
    {
        const kma::Snapshot snapshot = heap_.snapshot();
        Bodies bodies;
        for (const kma::Ref ref : refs())
            if (const Block *block = snapshot.deref<Block>(ref))
                bodies.push_back(
                    {block->number, block->mass, block->x, block->y, block->vx, block->vy});
        std::sort(bodies.begin(), bodies.end(),
                  [](const Body &one, const Body &other) { return one.number < other.number; });
        return bodies;
    }
    std::uint64_t refused() override
    {
        const std::vector<kma::Ref> all = refs();
        return static_cast<std::uint64_t>(std::count(all.begin(), all.end(), 0u));
    }
    std::vector<std::string> faults() override { return heap_.check(); }
    std::vector<std::string> changing_kernels() override
    {
        return {"pointers_init", "pointers_end"};
    }
    std::uint64_t bytes() override { return PlainGame::bytes() + heap_.bytes(); }

private:
    struct Block { // of pointers.cl
        float x, y, vx, vy, mass;
        std::uint32_t number;
        kma::Ref heavier, lighter;
        std::uint32_t ends, padding;
    };
    struct List {
        List(const kma::Device &device, const Space &space)
            : bodies(samples::words(device, space.bodies)), alive(samples::words(device, 1))
        {
        }
        cl::Buffer bodies, alive;
    };
    std::vector<kma::Ref> refs() const
    {
        return read<kma::Ref>(now_.bodies, read<cl_uint>(now_.alive, 1).front());
    }
    std::vector<cl::Buffer> buffers() override
    {
        return {now_.bodies, now_.alive, next_.bodies, next_.alive};
    }

    Space space_;
    kma::Heap heap_;
    List now_, next_;
};

} // namespace

std::unique_ptr<samples::Game> play_pointers(const kma::Device &device, const Space &space,
                                             const samples::Setting &setting)
{
    return std::make_unique<Pointers>(device, space, setting);
}

} // namespace collision
