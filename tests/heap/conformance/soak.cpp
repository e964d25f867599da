#include "soak.hpp"

#include <algorithm>
#include <numeric>

#include "blocks.hpp"

using namespace test;

namespace conformance {
namespace {

struct Slot { // of soak.cl
    cl_uint ref = 0, bytes = 0, key = 0, pad = 0;
};

std::vector<Slot> empty_slots(std::size_t count, std::uint32_t seed)
{
    std::vector<Slot> slots(count);
    for (std::size_t i = 0; i < count; i++)
        slots[i].key = mix32(static_cast<std::uint32_t>(i) ^ seed);
    return slots;
}

std::vector<cl_uint> numbers(std::size_t first, std::size_t count)
{
    std::vector<cl_uint> all(count);
    std::iota(all.begin(), all.end(), static_cast<cl_uint>(first));
    return all;
}

class Soak {
public:
    Soak(const Subject &subject, const SoakOptions &options)
        : subject_(subject), options_(options), in_hand_(options.work_items * options.per_item),
          boxes_(std::max<std::size_t>(options.work_items / 16, 1)),
          heap_(subject.heap(std::max(options.bytes_per_slot * in_hand_, std::uint64_t{1} << 20),
                             options.superblock_bytes)),
          program_(subject.program("soak.cl")), slots_(empty_slots(in_hand_ + boxes_, options.seed)),
          held_(numbers(0, in_hand_)), mail_(numbers(in_hand_, boxes_)), results_(options.work_items, Counts{})
    {
    }

    SoakResult run(const std::function<void(std::uint64_t)> &progress)
    {
        const bool reuses = subject_.can(Ability::reuse);
        for (std::uint32_t launched = 0; result_.pairs < options_.pairs && result_.wrong == 0; launched++) {
            // Without reuse a heap is full after a few rounds.
            const cl_uint rounds = reuses ? 256 : options_.per_item;
            const std::uint64_t before = result_.pairs;
            launch("soak", {options_.work_items, options_.work_group}, results_, heap_, slots_, held_, mail_,
                   static_cast<cl_uint>(boxes_), cl_uint{options_.per_item}, rounds, cl_uint{options_.largest},
                   cl_uint{options_.seed + 0x9e3779b9u * launched}, results_);
            if (!reuses) {
                drain();
                heap_.reset();
            }
            progress(result_.pairs);
            if (result_.pairs == before && launched > 100) {
                result_.findings.emplace_back("a launch neither served nor freed a block");
                break;
            }
        }
        drain();
        look_at_rest();
        return result_;
    }

private:
    template <class... Args>
    void launch(const char *name, Shape shape, const Array<Counts> &results, const Args &...args)
    {
        result_.kernel_seconds += static_cast<double>(nanoseconds(test::launch(program_, name, shape, args...))) * 1e-9;
        result_.launches++;
        const Counts count = sum(results);
        served_ += count.served;
        result_.refused += count.refused;
        result_.pairs += count.freed;
        result_.wrong += count.wrong;
    }

    void drain()
    {
        const std::size_t work_items = (slots_.size() + 63) / 64 * 64;
        const Array<Counts> drained(work_items, Counts{});
        launch("soak_drain", {work_items, 64}, drained, heap_, slots_, static_cast<cl_uint>(slots_.size()), drained);
    }

    void look_at_rest()
    {
        std::vector<std::string> &findings = result_.findings;
        if (served_ != result_.pairs)
            findings.push_back(std::to_string(served_) + " blocks were served, but " + std::to_string(result_.pairs) +
                               " freed");
        constexpr std::uint64_t most_counted = std::uint64_t{1} << 31; // see HeapStats::errors
        if (result_.refused < most_counted && count_of(heap_, kma::ErrorCode::out_of_memory) != result_.refused)
            findings.push_back("the error log does not count the " + std::to_string(result_.refused) +
                               " requests that got NULL");
        for (const kma::ErrorRecord &record : heap_.errors())
            if (record.code != kma::ErrorCode::out_of_memory) {
                findings.push_back(std::string("the error log has: ") + kma::explain(record.code));
                break;
            }
        if (heap_.stats().used != 0 && subject_.can(Ability::reuse))
            findings.push_back(std::to_string(heap_.stats().used) + " bytes are in use though all blocks were freed");
        for (std::string &finding : heap_.check())
            findings.push_back(std::move(finding));
    }

    const Subject &subject_;
    const SoakOptions &options_;
    std::size_t in_hand_; // slots of work-items
    std::size_t boxes_;   // slots in the mail
    kma::Heap heap_;
    kma::Program program_;
    Array<Slot> slots_;
    Array<cl_uint> held_;
    Array<cl_uint> mail_;
    Array<Counts> results_;
    std::uint64_t served_ = 0;
    SoakResult result_;
};

} // namespace

Counts sum(const Array<Counts> &results)
{
    Counts all{};
    for (const Counts &one : results.read()) {
        all.served += one.served;
        all.refused += one.refused;
        all.freed += one.freed;
        all.wrong += one.wrong;
    }
    return all;
}

SoakResult soak(const Subject &subject, const SoakOptions &options, const std::function<void(std::uint64_t)> &progress)
{
    return Soak(subject, options).run(progress);
}

} // namespace conformance
