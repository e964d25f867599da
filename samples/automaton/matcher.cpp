// Runs rounds until no input waits for a character.
#include "matcher.hpp"

#include <algorithm>
#include <map>
#include <string>

#include "common/launch.hpp"

namespace automaton {

/// automaton.cl, embedded by the build.
const std::vector<kma::Source> &kernels();

namespace {

struct DeviceState { // automaton_state of automaton.cl
    cl_uint characters[8];
    cl_uint first_follower, end_of_followers;
    cl_uint accepts;
};
static_assert(sizeof(DeviceState) == 44);

struct Item { // automaton_item of automaton.cl
    cl_uint input, state;
};
static_assert(sizeof(Item) == 8);

// The automaton as the kernels take it.
struct Tables {
    std::vector<DeviceState> states;
    std::vector<cl_uint> followers;

    explicit Tables(const Automaton &automaton)
    {
        for (const State &state : automaton.states) {
            DeviceState row = {};
            for (std::size_t c = 0; c < state.characters.size(); c++)
                row.characters[c / 32] |= cl_uint{state.characters[c]} << c % 32;
            row.first_follower = static_cast<cl_uint>(followers.size());
            followers.insert(followers.end(), state.followers.begin(), state.followers.end());
            row.end_of_followers = static_cast<cl_uint>(followers.size());
            row.accepts = state.accepts;
            states.push_back(row);
        }
    }
};

constexpr std::uint32_t short_block = 512, long_block = 8192; // items: 4 KiB, 64 KiB

kma::ArrayListOptions list_options()
{
    kma::ArrayListOptions options;
    options.align = alignof(Item);
    options.objects_per_block = short_block;
    options.most_objects_per_block = long_block;
    return options;
}

// The device's side of a run.
class Matcher {
public:
    Matcher(const kma::Device &device, const samples::DeviceOptions &options, const Inputs &inputs,
            const Automaton &automaton, std::uint64_t heap_bytes)
        : device_(device), options_(options), inputs_(inputs), automaton_(automaton),
          heap_(device, heap_bytes, samples::heap_options(options)),
          program_(heap_.program(kernels())),
          work_(heap_, sizeof(Item), list_options()),
          found_(heap_, sizeof(Item), list_options())
    {
    }

    Run run(std::uint64_t enough)
    {
        const Tables tables(automaton_);
        const cl::Buffer states = samples::copy_of(device_, tables.states),
                         starts = samples::copy_of(device_, inputs_.starts),
                         followers = samples::copy_of(device_, tables.followers),
                         text = samples::copy_of(device_, inputs_.text.c_str(),
                                                 inputs_.text.size() + 1), // never empty
            reached =
                samples::words(device_, std::size_t{inputs_.size()} * tables.states.size(), 0),
                         lost = samples::words(device_, 1, 0);
        const auto kernel = [&](const char *name) {
            cl::Kernel made = program_.kernel(name);
            heap_.set_arg(made, 0);
            work_.set_arg(made, 1);
            found_.set_arg(made, 2);
            made.setArg(3, states);
            made.setArg(4, followers);
            made.setArg(5, static_cast<cl_uint>(tables.states.size()));
            made.setArg(6, reached);
            made.setArg(7, lost);
            made.setArg(8, text);
            made.setArg(9, starts);
            return made;
        };
        Run result{};
        const auto launch = [&](cl::Kernel &kernel, cl_uint last_argument,
                                std::uint32_t work_items) {
            kernel.setArg(10, last_argument);
            result.milliseconds +=
                samples::run(device_, kernel, samples::whole_groups(work_items, work_group()));
            if (const cl_uint count = read(lost); count != 0)
                samples::throw_too_small(device_, heap_, enough,
                                         std::to_string(count) + " items of round " +
                                             std::to_string(result.found.items.size()) +
                                             " did not fit");
        };
        cl::Kernel start = kernel("automaton_start"), round = kernel("automaton_round");
        launch(start, inputs_.size(), inputs_.size());
        // Ends: each round reads one character of every input, so there is at most one round more
        // than the longest input has characters.
        for (std::uint32_t items = work_.turn(); items != 0; items = work_.turn()) {
            const auto number = static_cast<cl_uint>(result.found.items.size());
            result.found.items.push_back(items);
            launch(round, number, items);
        }
        result.found.matches = read_matches();
        result.heap = heap_.stats();
        result.heap_faults = samples::faults_of(heap_);
        return result;
    }

private:
    std::uint32_t work_group() const
    {
        return options_.work_group.value_or(samples::usual_work_group(device_));
    }

    cl_uint read(const cl::Buffer &word) const
    {
        cl_uint value = 0;
        device_.queue().enqueueReadBuffer(word, CL_TRUE, 0, sizeof value, &value);
        return value;
    }

    std::vector<Match> read_matches() const
    {
        std::map<cl_uint, std::uint32_t> expressions; // by the state in which they end
        for (std::uint32_t i = 0; i < automaton_.accepting.size(); i++)
            expressions[automaton_.accepting[i]] = i;
        std::vector<Match> matches;
        for (const Item &item : found_.read<Item>())
            matches.push_back({item.input, expressions.at(item.state)});
        std::sort(matches.begin(), matches.end());
        return matches;
    }

    const kma::Device &device_;
    const samples::DeviceOptions &options_;
    const Inputs &inputs_;
    const Automaton &automaton_;
    kma::Heap heap_;
    kma::Program program_;
    kma::WorkQueue work_;
    kma::ArrayList found_;
};

} // namespace

std::uint64_t sufficient_heap_bytes(const kma::HeapOptions &heap, std::uint64_t inputs,
                                    const Automaton &automaton)
{
    std::vector<kma::BlockDemand> blocks =
        kma::WorkQueue::blocks_for(inputs * automaton.states.size(), sizeof(Item), list_options());
    const std::vector<kma::BlockDemand> found = kma::ArrayList::blocks_for(
        inputs * automaton.accepting.size(), sizeof(Item), list_options());
    blocks.insert(blocks.end(), found.begin(), found.end());
    return kma::Heap::bytes_for(heap, blocks);
}

Run match(const kma::Device &device, const samples::DeviceOptions &options, const Inputs &inputs,
          const Automaton &automaton)
{
    const std::uint64_t pairs = std::uint64_t{inputs.size()} * automaton.states.size();
    if (pairs * sizeof(cl_uint) > device.max_buffer_bytes() || pairs > std::uint64_t{1} << 30)
        throw kma::Error(std::to_string(inputs.size()) + " inputs with " +
                         std::to_string(automaton.states.size()) +
                         " states are too many for this device; --limit takes fewer inputs");
    const std::uint64_t enough =
        sufficient_heap_bytes(samples::heap_options(options), inputs.size(), automaton);
    const std::uint64_t bytes =
        options.heap_bytes.value_or(samples::usual_heap_bytes(device, enough));
    return samples::made_in(device, bytes, enough,
                            [&] { return Matcher(device, options, inputs, automaton, bytes); })
        .run(enough);
}

} // namespace automaton
