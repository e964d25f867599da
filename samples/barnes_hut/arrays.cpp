// The version by hand: its buffers and steps.
#include <algorithm>

#include "simulation/plain_game.hpp"
#include "space.hpp"

namespace barnes_hut {

const std::vector<kma::Source> &kernels();

namespace {

constexpr std::uint64_t bytes_of_cell = 4 * (4 + 1 + 4 + 10); // in all arrays

class Arrays : public samples::PlainGame, public samples::StateOf<State> {
public:
    Arrays(const kma::Device &device, const Space &space, const samples::Setting &setting)
        : PlainGame(device, kernels(), "arrays.cl",
                    space.defines() + " -DCELLS=" + std::to_string(cells_for(space, setting)) + "u",
                    setting),
          space_(space), cells_count_(cells_for(space, setting)), root_(space.bodies + 1),
          centre_(samples::words(device, 4 * nodes())),
          velocity_(samples::words(device, std::size_t{4} * space.bodies)),
          reach_(samples::words(device, nodes())), nodes_(samples::words(device, 4 * nodes())),
          cells_(samples::words(device, 10 * cells_count_ + 2))
    {
        program().run("arrays_init", space.bodies, centre_, velocity_, reach_, nodes_, cells_);
        plant();
    }
    void step(std::uint32_t) override
    {
        program().run("arrays_attract", space_.bodies, centre_, velocity_, reach_, nodes_);
        program().run("arrays_move", space_.bodies, centre_, velocity_, nodes_, cells_);
        plant();
    }
    samples::Numbers numbers() override
    {
        const auto cells = read<cl_uint>(cells_, 10 * cells_count_ + 2);
        std::uint64_t in_tree = 0;
        for (std::size_t i = 0; i < std::min<std::size_t>(cells[10 * cells_count_], cells_count_);
             i++)
            in_tree += cells[8 * cells_count_ + i] != 0;
        return {{"bodies", space_.bodies}, {"cells", in_tree}};
    }
    State state() override
    {
        Reader reader = {root_,
                         read<cl_float4>(centre_, nodes()),
                         read<cl_uint>(nodes_, 3 * nodes()),
                         read<cl_uint>(cells_, 9 * cells_count_),
                         {}};
        const auto velocity = read<cl_float4>(velocity_, space_.bodies);
        for (std::uint32_t i = 0; i < space_.bodies; i++) {
            const cl_float4 &centre = reader.centre[i + 1], &v = velocity[i];
            reader.state.bodies.push_back({i,
                                           centre.s[3],
                                           {centre.s[0], centre.s[1], centre.s[2]},
                                           {v.s[0], v.s[1], v.s[2]}});
        }
        reader.visit(root_, 0, {});
        reader.state.lost =
            static_cast<std::uint32_t>(numbers()[1].second - reader.state.cells.size());
        sort(reader.state);
        return reader.state;
    }
    std::uint64_t refused() override { return read<cl_uint>(cells_, 10 * cells_count_ + 2).back(); }

private:
    struct Reader {
        std::uint32_t root;
        std::vector<cl_float4> centre;
        std::vector<cl_uint> nodes, cells;
        State state;
        void visit(std::uint32_t node, std::uint32_t level, std::array<std::uint32_t, 3> corner)
        {
            const std::size_t all = centre.size(), at = node - root, count = all - root;
            const cl_float4 &sum = centre[node];
            Cell cell = {level, corner,   cells[8 * count + at],
                         {},    sum.s[3], {sum.s[0], sum.s[1], sum.s[2]}};
            for (std::uint32_t octant = 0; octant < 8; octant++) {
                const cl_uint child = cells[8 * at + octant];
                for (cl_uint body = child < root ? child : 0; body != 0 && cell.own.size() < all;
                     body = nodes[2 * all + body])
                    cell.own.push_back(body - 1);
                if (child >= root && level < 32)
                    visit(child, level + 1,
                          {2 * corner[0] + octant % 2, 2 * corner[1] + octant / 2 % 2,
                           2 * corner[2] + octant / 4});
            }
            state.cells.push_back(cell);
        }
    };
    // Returns the number of cells: one per body, and a spare one for each work-item that inserts;
    // at least one.
    static std::size_t cells_for(const Space &space, const samples::Setting &setting)
    {
        return setting.bytes ? std::clamp<std::size_t>(*setting.bytes / bytes_of_cell, 1, 1u << 26)
                             : space.bodies + (1u << 18);
    }
    std::size_t nodes() const { return root_ + cells_count_; }
    void plant()
    {
        program().run("arrays_insert", space_.bodies, centre_, reach_, nodes_, cells_);
        program().run("arrays_thread", std::min<std::uint32_t>(space_.bodies, program().strided()),
                      nodes_, cells_);
        program().run("arrays_sum_up", space_.bodies, centre_, nodes_, cells_);
    }
    std::vector<cl::Buffer> buffers() override
    {
        return {centre_, velocity_, reach_, nodes_, cells_};
    }

    Space space_;
    std::size_t cells_count_;
    std::uint32_t root_;
    cl::Buffer centre_, velocity_, reach_, nodes_, cells_;
};

} // namespace

std::unique_ptr<samples::Game> play_arrays(const kma::Device &device, const Space &space,
                                           const samples::Setting &setting)
{
    return std::make_unique<Arrays>(device, space, setting);
}

} // namespace barnes_hut
