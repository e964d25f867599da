// Plays a model, and prints the results.
#include "simulation/simulation.hpp"

#include <algorithm>
#include <chrono>
#include <cinttypes>
#include <cstdio>
#include <fstream>
#include <nlohmann/json.hpp>

#include "common/main.hpp"
#include "common/png.hpp"
#include "simulation/options.hpp"

namespace samples {
namespace {

using Clock = std::chrono::steady_clock;

double milliseconds_since(Clock::time_point begin)
{
    return std::chrono::duration<double, std::milli>(Clock::now() - begin).count();
}

std::string in_words(const Numbers &numbers)
{
    std::string text;
    for (const auto &[name, value] : numbers)
        text += (text.empty() ? "" : ", ") + std::to_string(value) + " " + name;
    return text;
}

// Records the numbers after each step: writes them to the curve's file, and keeps the maximum of
// each.
class Record {
public:
    Record(Model &model, const SimulationOptions &options) : model_(model), options_(options)
    {
        if (!options.frames.empty())
            std::filesystem::create_directories(options.frames);
    }
    bool is_due(std::uint32_t step) const { return !options_.curve.empty() || draws(step); }
    void after(std::uint32_t step, Game &game)
    {
        if (!options_.curve.empty())
            write_numbers(step, game);
        if (draws(step))
            model_.draw(game, frame_path(options_.frames, step));
    }
    const Numbers &most() const { return most_; }

private:
    bool draws(std::uint32_t step) const
    {
        return !options_.frames.empty() && step % options_.frame_steps == 0;
    }
    void write_numbers(std::uint32_t step, Game &game)
    {
        const Numbers numbers = game.numbers();
        if (!curve_.is_open()) {
            most_ = numbers;
            curve_.open(options_.curve);
            curve_ << "step";
            for (const auto &[name, value] : numbers)
                curve_ << ',' << name;
            curve_ << ",fragmentation,refused\n";
        }
        curve_ << step;
        for (std::size_t i = 0; i < numbers.size(); i++) {
            curve_ << ',' << numbers[i].second;
            most_[i].second = std::max(most_[i].second, numbers[i].second);
        }
        curve_ << ',' << game.fragmentation() << ',' << game.refused() << std::endl;
        if (!curve_)
            throw kma::Error("cannot write the numbers to " + options_.curve +
                             ": does its folder exist, and is there room?");
    }

    Model &model_;
    const SimulationOptions &options_;
    std::ofstream curve_;
    Numbers most_;
};

// A model, its game, and the results so far.
class Play {
public:
    Play(Model &model, const SimulationOptions &options)
        : model_(model), options_(options), device_(kma::Device::select(options.device)),
          record_(model, options)
    {
    }

    bool run()
    {
        size_ = model_.size();
        std::printf("device:  %s\nsize:    %s\n", device_.name().c_str(), size_.c_str());
        std::fflush(stdout);
        game_ = model_.play(device_, options_.setting);
        if (!model_.goes_on_when_full() || options_.stop_when_full)
            refuse_if_full("at the beginning");
        record_.after(0, *game_);
        std::printf("at first: %s\n", in_words(game_->numbers()).c_str());
        std::fflush(stdout);
        if (options_.steps == 0)
            compare();
        game_->times();
        while (steps_ < options_.steps && !game_->is_over())
            step();
        all_in();
        print_times();
        return verdict();
    }

private:
    void step()
    {
        const Clock::time_point begin = Clock::now();
        game_->step(steps_++);
        const bool is_last = steps_ == options_.steps || game_->is_over();
        wall_ += milliseconds_since(begin);
        if (options_.stop_when_full) {
            all_in(); // before is_over(), which waits
            refuse_if_full("after step " + std::to_string(steps_));
        }
        const bool compares =
            steps_ == options_.verify_steps || (options_.verify_steps > steps_ && is_last);
        if (!compares && !record_.is_due(steps_))
            return;
        all_in();
        record_.after(steps_, *game_);
        if (compares)
            compare();
        game_->times(); // discards the times of kernels that only read
    }
    // Waits for the queue, and adds up the times.
    void all_in()
    {
        const Clock::time_point begin = Clock::now();
        times_.add(game_->times());
        wall_ += milliseconds_since(begin);
    }
    void refuse_if_full(const std::string &when)
    {
        if (const std::uint64_t refused = game_->refused(); refused != 0)
            throw kma::Error(when + " " + std::to_string(refused) +
                             " objects were not created for want of memory; give more by --bytes");
    }
    void compare()
    {
        if (options_.verify_steps == 0 || game_->refused() != 0)
            return; // a state that lacks objects cannot match the host's
        const Clock::time_point begin = Clock::now();
        model_.compare(*game_, steps_, verdict_);
        compared_ = true;
        std::printf("host:    %.3f ms for %" PRIu32 " steps\n", milliseconds_since(begin), steps_);
    }
    double changing() const
    {
        const std::vector<std::string> names = game_->changing_kernels();
        double sum = 0;
        for (const auto &[name, time] : times_.kernels)
            sum += std::find(names.begin(), names.end(), name) != names.end() ? time : 0;
        return sum;
    }
    void print_times() const
    {
        const double steps = std::max(steps_, 1u);
        std::printf("time:    %.4f ms a step; of it kernels %.4f, of these enumeration %.4f, and "
                    "%.4f those that create or delete\n",
                    wall_ / steps, times_.total() / steps, times_.enumeration() / steps,
                    changing() / steps);
        times_.print(steps);
    }
    bool verdict()
    {
        const Numbers numbers = game_->numbers();
        const std::uint64_t refused = game_->refused();
        if (!record_.most().empty())
            std::printf("most:    %s\n", in_words(record_.most()).c_str());
        std::printf("at last: %s; %" PRIu64
                    " not created for want of memory; %.1f %% of slots in blocks empty; %" PRIu64
                    " bytes\n",
                    in_words(numbers).c_str(), refused, 100 * game_->fragmentation(),
                    game_->bytes());
        for (const std::string &fault : game_->faults())
            verdict_.differ(fault);
        verdict_.report(model_.name().c_str());
        if (!model_.goes_on_when_full())
            refuse_if_full("in the end");
        const char *verified = !verdict_.verified()         ? "no"
                               : options_.verify_steps == 0 ? "not asked"
                               : compared_ && refused == 0  ? "yes"
                                                            : "not possible";
        write_json(numbers, refused, verified);
        std::printf("%s: version=%s", model_.name().c_str(), options_.setting.version.c_str());
        for (const auto &[name, value] : numbers)
            std::printf(" %s=%" PRIu64, name.c_str(), value);
        std::printf(" steps=%" PRIu32 " verified=%s\n", steps_, verified);
        return verdict_.verified();
    }
    void write_json(const Numbers &numbers, std::uint64_t refused,
                    const std::string &verified) const
    {
        if (options_.json.empty())
            return;
        const double steps = std::max(steps_, 1u);
        nlohmann::json kernels, counts, most;
        for (const auto &[name, time] : times_.kernels)
            kernels[name] = time / steps;
        for (const auto &[name, value] : numbers)
            counts[name] = value;
        for (const auto &[name, value] : record_.most())
            most[name] = value;
        std::ofstream file(options_.json);
        file << nlohmann::json{{"program", model_.name()},
                               {"version", options_.setting.version},
                               {"device", device_.name()},
                               {"driver", device_.device().getInfo<CL_DRIVER_VERSION>()},
                               {"size", size_},
                               {"steps", steps_},
                               {"wall_ms", wall_ / steps},
                               {"kernels_ms", times_.total() / steps},
                               {"enumeration_ms", times_.enumeration() / steps},
                               {"changing_ms", changing() / steps},
                               {"kernels", kernels},
                               {"numbers", counts},
                               {"most", most},
                               {"refused", refused},
                               {"bytes", game_->bytes()},
                               {"verified", verified}}
                    .dump(1)
             << std::endl;
        if (!file)
            throw kma::Error("cannot write the figures to " + options_.json +
                             ": does its folder exist, and is there room?");
    }

    Model &model_;
    const SimulationOptions &options_;
    kma::Device device_;
    Record record_;
    std::string size_;
    std::unique_ptr<Game> game_;
    std::uint32_t steps_ = 0; // steps taken so far
    Times times_;
    double wall_ = 0;
    bool compared_ = false;
    Differences verdict_;
};

} // namespace

int run_simulation(Model &model, int argc, char **argv)
{
    SimulationOptions options;
    if (const auto ended = parse_simulation(model, argc, argv, options))
        return *ended;
    return run_main(model.name().c_str(), [&] { return Play(model, options).run(); });
}

} // namespace samples
