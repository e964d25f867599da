// A game's world, its kernels' times and its errors.
#include "simulation/world_game.hpp"

#include <algorithm>

namespace samples {
namespace {

bool changes(const kma::DoAllOptions &options)
{
    return !options.changes || !options.changes->empty();
}

kma::WorldOptions world_options(KernelClock &clock, const std::vector<kma::Source> &sources,
                                const std::string &defines, const Setting &setting)
{
    kma::WorldOptions made;
    made.program = build_with(sources, defines + " " + setting.build_options);
    made.program.debug = setting.debug ? 1 : 0;
    made.launched = [&clock](const std::string &kernel, const cl::Event &event) {
        clock.note(kernel, event);
    };
    return made;
}

} // namespace

WorldGame::WorldGame(const kma::Device &device, const kma::Schema &schema,
                     const std::vector<kma::Source> &sources, const std::string &file,
                     std::uint64_t bytes, const std::string &defines, const Setting &setting)
    : device_(device),
      world_(device, schema, {source_named(sources, file)}, setting.bytes.value_or(bytes),
             world_options(clock_, sources, defines, setting)),
      has_references_(setting.defragment_when < 1)
{
    if (setting.defragment_when < 1)
        world_.defragment_when(setting.defragment_when);
    for (const kma::Schema::Launch &launch : schema.launches())
        if (launch.is_new || changes(launch.options))
            changing_.push_back(launch.kernel_name());
}

std::vector<std::string> WorldGame::faults()
{
    std::vector<std::string> found = world_.check(has_references_);
    std::uint64_t errors = 0;
    for (const kma::ErrorCode code :
         {kma::ErrorCode::double_free, kma::ErrorCode::invalid_free, kma::ErrorCode::damaged})
        errors += world_.error_count(code);
    if (errors != 0)
        found.push_back(world_.error_text());
    return found;
}

std::uint64_t WorldGame::bytes()
{
    return bytes_of(buffers()) + bytes_of({world_.buffer()});
}

void WorldGame::note(const std::string &kernel, const kma::DoAllOptions &options)
{
    if (changes(options) &&
        std::find(changing_.begin(), changing_.end(), kernel) == changing_.end())
        changing_.push_back(kernel);
}

} // namespace samples
