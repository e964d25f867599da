// A game whose objects live in a kma::World.
#pragma once

#include <string>
#include <vector>

#include "common/launch.hpp"
#include "simulation/simulation.hpp"

namespace samples {

/// What a world's games need beside their steps. A derived class gives schema, kernels and steps,
/// and runs kernels of its own by run().
class WorldGame : public Game {
public:
    /// With the source `file` of `sources`, which may include the others. `bytes`: enough, unless
    /// the setting says otherwise.
    WorldGame(const kma::Device &device, const kma::Schema &schema,
              const std::vector<kma::Source> &sources, const std::string &file, std::uint64_t bytes,
              const std::string &defines, const Setting &setting);

    Times times() override { return clock_.read(device_); }
    std::uint64_t refused() override { return world_.error_count(kma::ErrorCode::out_of_memory); }
    double fragmentation() override { return world_.stats().fragmentation(); }
    std::vector<std::string> faults() override;
    std::vector<std::string> changing_kernels() override { return changing_; }
    /// Of the world and of buffers().
    std::uint64_t bytes() override;

protected:
    kma::World &world() { return world_; }
    const kma::Device &device() const { return device_; }
    /// The game's own buffers, for bytes().
    virtual std::vector<cl::Buffer> buffers() { return {}; }
    /// A kernel of the program's own.
    template <class... Arguments>
    void run(const std::string &kernel, std::uint64_t items, const kma::DoAllOptions &options,
             const Arguments &...arguments)
    {
        note(kernel, options);
        world_.run(kernel, items, options, arguments...);
    }
    /// Of a do-all, or of a kernel: it neither creates nor deletes, and loops over no class.
    static kma::DoAllOptions quiet()
    {
        return {std::vector<std::string>{}, std::vector<std::string>{}};
    }
    /// It creates or deletes objects of these classes, and loops over none.
    static kma::DoAllOptions changing(std::vector<std::string> classes)
    {
        return {std::move(classes), std::vector<std::string>{}};
    }
    /// It loops over these, and creates and deletes none.
    static kma::DoAllOptions looping(std::vector<std::string> classes)
    {
        return {std::vector<std::string>{}, std::move(classes)};
    }
    /// A work-item for each of many things, in a loop that strides: as many as the device runs at a
    /// time.
    static constexpr std::uint32_t strided = 1u << 18;

private:
    void note(const std::string &kernel, const kma::DoAllOptions &options);

    kma::Device device_;
    KernelClock clock_;
    std::vector<std::string> changing_;
    kma::World world_;
    bool has_references_; ///< whether what refers to objects that may move is looked at in the end
};

} // namespace samples
