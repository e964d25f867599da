#include "battery.hpp"

#include <algorithm>
#include <sstream>

#include "suites.hpp"

namespace bench {
namespace {

template <class T> bool chosen(const std::vector<T> &wanted, const T &one)
{
    return wanted.empty() || std::ranges::find(wanted, one) != wanted.end();
}

// 8 GiB on a GPU, as in other allocators' papers; less if the device has no such buffer.
std::uint64_t default_heap_bytes(const kma::Device &device, std::vector<Note> &notes)
{
    if (!(device.device().getInfo<CL_DEVICE_TYPE>() & CL_DEVICE_TYPE_GPU))
        return std::uint64_t{256} << 20;
    std::uint64_t bytes = std::uint64_t{8} << 30;
    const std::uint64_t memory = device.device().getInfo<CL_DEVICE_GLOBAL_MEM_SIZE>();
    while (bytes > std::min(device.max_buffer_bytes(), memory / 3))
        bytes /= 2;
    if (bytes < std::uint64_t{8} << 30)
        notes.push_back({.suite = "all suites",
                         .subject = {},
                         .line = {},
                         .sentence = "the heap has " + std::to_string(bytes >> 20) +
                                     " MiB: the device has no room for 8 GiB"});
    return bytes;
}

} // namespace

bool Report::passed() const
{
    return std::ranges::all_of(rows, [](const Row &row) { return row.verified.value_or(true); });
}

std::string in_words(const Parameters &parameters)
{
    std::ostringstream text;
    for (const Parameter &one : parameters) {
        text << (&one == &parameters.front() ? "" : " ") << one.name << '=';
        std::visit([&](const auto &value) { text << value; }, one.value);
    }
    return text.str();
}

std::string in_words(const Note &note)
{
    return note.suite + (note.subject.empty() ? "" : ", ") + note.subject + ": " +
           in_words(note.line) + (note.line.empty() ? "" : " ") + note.sentence;
}

std::vector<std::string> suite_names()
{
    std::vector<std::string> names;
    for (const Suite &suite : all_suites)
        names.emplace_back(suite.name);
    return names;
}

Report run(const kma::Device &device, const Options &options,
           const std::function<void(const std::string &)> &progress)
{
    Report report;
    report.quick = options.quick;
    report.heap_bytes =
        options.heap_bytes != 0 ? options.heap_bytes : default_heap_bytes(device, report.notes);
    bool first = true;
    for (const conformance::HeapType &type : conformance::heap_types()) {
        if (!chosen(options.heaps, type.kind))
            continue;
        Bench bench(device, type, options, report, progress);
        for (const Suite &suite : all_suites)
            if (chosen(options.suites, std::string(suite.name)) && (first || !suite.once)) {
                bench.empty_kernel(suite.name);
                suite.run(bench);
            }
        first = false;
    }
    std::vector<double> empty;
    for (const Row &row : report.rows)
        if (row.metric == "empty_kernel")
            empty.push_back(row.figure.median);
    if (!empty.empty())
        report.empty_kernel_ms = statistics(empty).median;
    return report;
}

} // namespace bench
