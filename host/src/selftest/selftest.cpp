// Runs the selftest's kernels (cl/kma/selftest/kernels.cl); selftest/judge.hpp judges the results.
#include "kma/selftest.hpp"

#include <algorithm>

#include "heap/common/memory.hpp"
#include "support/say.hpp"
#include "selftest/judge.hpp"

namespace kma {
namespace {

using Verdict = SelftestResult::Verdict;

constexpr std::size_t work_group = 64;

// Work-items of the kernels with contention. PoCL gives each thread at least 32 work-groups: these
// occupy two threads.
constexpr std::size_t crowd = 4096;

class Run {
public:
    Run(const Device &device, const ProgramOptions &options)
        : device_(device),
          program_(device,
                   {{"(kernels of the selftest)", "#include \"kma/selftest/kernels.cl\"\n"}},
                   options)
    {
    }

    SelftestResult words_of_32() const { return judge_words<cl_uint>(); }

    SelftestResult words_of_64() const
    {
        const std::string kernels = program_.program().getInfo<CL_PROGRAM_KERNEL_NAMES>();
        if (kernels.find("kma_selftest_kernel_u64") == std::string::npos)
            return {"64-bit atomics", Verdict::not_applicable,
                    "the program is built for 32-bit atomics: the device has no others, or "
                    "-DKMA_HAS_ATOMIC64=0 was among the options"};
        return judge_words<cl_ulong>();
    }

    std::vector<SelftestResult> messages() const
    {
        constexpr cl_uint rounds = 3 * KMA_SELFTEST_WAYS;
        constexpr std::size_t letters = crowd * rounds;
        static_assert(letters < 65536);
        std::vector<layout::kma_selftest_post> posts;
        const auto flags_seen = [&] {
            return std::ranges::any_of(
                posts, [](const auto &post) { return post.seen[KMA_SELFTEST_BY_FLAG] != 0; });
        };
        // Seeing a flag in time is a matter of chance: tried with near and far neighbours.
        for (const cl_uint step : {1u, 5u, 11u}) {
            const cl::Buffer seen = buffer(std::vector<layout::kma_selftest_post>(crowd));
            launch("kma_selftest_messages_kernel", crowd,
                   buffer(std::vector<layout::kma_selftest_letter>(letters)),
                   buffer(std::vector<cl_uint>(letters)),
                   buffer(std::vector<cl_uint>(KMA_SELFTEST_WAYS)), seen, rounds, step);
            posts = read<layout::kma_selftest_post>(seen, crowd);
            if (flags_seen())
                break;
        }
        return selftest_judge::judge_messages(posts);
    }

    std::vector<SelftestResult> lanes() const
    {
        constexpr std::size_t work_items = 512;
        constexpr std::size_t most = KMA_SELFTEST_VISITS;
        const cl::Buffer sights =
            buffer(std::vector<layout::kma_selftest_sight>(work_items * most));
        const cl::Buffer visits = buffer(std::vector<cl_uint>(work_items));
        launch("kma_selftest_lanes_kernel", work_items, sights, visits);
        const auto places = selftest_judge::examine_lanes(
            read<layout::kma_selftest_sight>(sights, work_items * most),
            read<cl_uint>(visits, work_items), {most, work_group, flow_of, [](std::uint32_t place) {
                                                    return place % 2 || place == 6 ? 20u : 0u;
                                                }});
        return selftest_judge::judge_lanes(places, 2);
    }

    SelftestResult svm() const
    {
        if (!device_.has_svm())
            return {"shared virtual memory", Verdict::not_applicable,
                    "the device has no coarse-grained shared virtual memory"};
        using selftest_judge::Node;
        constexpr std::uint32_t count = 256;
        const HeapMemory memory(device_, 2 * count * sizeof(Node), Storage::svm);
        const auto begin = reinterpret_cast<cl_ulong>(memory.svm());
        std::vector<Node> list(2 * count);
        // Visits the nodes in steps of 17, which has no common factor with their number.
        cl_ulong sum = 0;
        for (std::uint32_t i = 0; i < count; i++) {
            Node &node = list[i * 17 % count];
            node.value = selftest_judge::mix32(i);
            node.next = i + 1 == count ? 0 : begin + (i + 1) * 17 % count * sizeof(Node);
            sum += node.value;
        }
        memory.write(device_.queue(), 0, memory.bytes(), list.data());
        const cl::Buffer heads = buffer(std::vector<cl_ulong>{begin, 0});
        const cl::Buffer out = buffer(std::vector<cl_ulong>(3));
        cl::Kernel kernel = program_.kernel("kma_selftest_svm_kernel");
        memory.set_arg(kernel, 0);
        launch_with(kernel, 1, 1, heads, count, out);
        const auto told = read<cl_ulong>(out, 3);
        void *mapped = memory.map(device_.queue(), 0, memory.bytes());
        const SelftestResult result = selftest_judge::judge_svm({static_cast<const Node *>(mapped),
                                                                 count, read<cl_ulong>(heads, 2)[1],
                                                                 told[0], sum, told[1], told[2]});
        memory.unmap(device_.queue(), mapped);
        return result;
    }

private:
    // The places that work-item `me` must pass in kma_selftest_lanes_kernel.
    static std::vector<std::uint32_t> flow_of(std::uint32_t me)
    {
        std::vector<std::uint32_t> places = {0, 1, me % 2 ? 2u : 3u};
        if (me % 5 == 0)
            places.push_back(4);
        if (me % 5 >= 2)
            places.push_back(5);
        for (std::uint32_t i = 0; i < 6 && !((me + i) % 2 == 0 && i == me % 7); i++)
            if ((me + i) % 2 == 0)
                places.push_back(6);
        return places;
    }

    template <class Word> SelftestResult judge_words() const
    {
        selftest_judge::Words words{
            8 * sizeof(Word), selftest_judge::first_words(8 * sizeof(Word), crowd), {}, {}};
        const cl::Buffer shared =
            buffer(std::vector<Word>(words.before.begin(), words.before.end()));
        const cl::Buffer sights = buffer(std::vector<layout::kma_selftest_word>(crowd));
        launch(sizeof(Word) == 8 ? "kma_selftest_kernel_u64" : "kma_selftest_kernel_u32", crowd,
               shared, sights);
        const std::vector<Word> after = read<Word>(shared, words.before.size());
        words.after.assign(after.begin(), after.end());
        words.sights = read<layout::kma_selftest_word>(sights, crowd);
        return selftest_judge::judge_words(words);
    }

    template <class T> cl::Buffer buffer(std::vector<T> values) const
    {
        return {device_.context(), CL_MEM_READ_WRITE | CL_MEM_COPY_HOST_PTR,
                values.size() * sizeof(T), values.data()};
    }

    template <class T> std::vector<T> read(const cl::Buffer &buffer, std::size_t count) const
    {
        std::vector<T> values(count);
        device_.queue().enqueueReadBuffer(buffer, CL_TRUE, 0, count * sizeof(T), values.data());
        return values;
    }

    template <class... Arguments>
    void launch(const char *name, std::size_t work_items, const Arguments &...arguments) const
    {
        cl::Kernel kernel = program_.kernel(name);
        launch_with(kernel, 0, work_items, arguments...);
    }

    // Sets the arguments from index `first` on, runs the kernel, and waits for it.
    template <class... Arguments>
    void launch_with(cl::Kernel &kernel, cl_uint first, std::size_t work_items,
                     const Arguments &...arguments) const
    {
        (kernel.setArg(first++, arguments), ...);
        device_.queue().enqueueNDRangeKernel(kernel, cl::NullRange, cl::NDRange(work_items),
                                             cl::NDRange(std::min(work_items, work_group)));
        device_.queue().finish();
    }

    const Device &device_;
    Program program_;
};

} // namespace

const char *name_of(SelftestResult::Verdict verdict)
{
    switch (verdict) {
    case Verdict::passed:
        return "passed";
    case Verdict::failed:
        return "failed";
    case Verdict::not_applicable:
        return "not applicable";
    }
    return "of no known verdict";
}

std::vector<SelftestResult> selftest(const Device &device, const ProgramOptions &options)
{
    const Run run(device, options);
    std::vector<SelftestResult> results = {run.words_of_32(), run.words_of_64()};
    for (const auto &several : {run.messages(), run.lanes()})
        results.insert(results.end(), several.begin(), several.end());
    results.push_back(run.svm());
    return results;
}

} // namespace kma
