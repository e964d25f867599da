#include "options.hpp"

#include <algorithm>

namespace tool {

std::vector<std::string> heap_names()
{
    std::vector<std::string> names;
    for (const kma::HeapKind kind : kma::heap_kinds)
        names.emplace_back(name_of(kind));
    return names;
}

kma::HeapKind kind_named(const std::string &name)
{
    return *std::ranges::find_if(kma::heap_kinds,
                                 [&](kma::HeapKind kind) { return name == name_of(kind); });
}

std::vector<kma::HeapKind> kinds_of(const Options &options)
{
    std::vector<kma::HeapKind> kinds(std::begin(kma::heap_kinds), std::end(kma::heap_kinds));
    if (!options.heaps.empty()) {
        kinds.clear();
        std::ranges::transform(options.heaps, std::back_inserter(kinds), kind_named);
    }
    return kinds;
}

void describe_soak(CLI::App *soaks, Options &options)
{
    soaks
        ->add_option("--pairs", options.soak.pairs,
                     "How many blocks to take, verify and free, on each heap")
        ->check(CLI::Range(std::uint64_t{1}, std::uint64_t{1} << 50))
        ->capture_default_str();
    soaks->add_option("--heap", options.heaps, "Which kinds, with commas between (default: all)")
        ->delimiter(',')
        ->check(CLI::IsMember(heap_names()));
    soaks->add_option("--work-items", options.soak.work_items, "Rounded up to whole work-groups")
        ->check(CLI::Range(1, 1 << 22))
        ->capture_default_str();
    soaks->add_option("--work-group", options.soak.work_group, "Work-items in a group")
        ->check(CLI::Range(1, 1024))
        ->capture_default_str();
    soaks
        ->add_option("--largest", options.soak.largest,
                     "Bytes of the largest blocks; most have up to 96")
        ->check(CLI::Range(1, 1 << 16))
        ->capture_default_str();
    soaks
        ->add_option("--room", options.soak.bytes_per_slot,
                     "Bytes of the heap per slot; below 100 it runs full, which is slow")
        ->check(CLI::Range(16, 1 << 16))
        ->capture_default_str();
    soaks->add_option("--debug", options.debug, "KMA_DEBUG of heap and kernels")
        ->capture_default_str();
    soaks->add_option("--seed", options.soak.seed, "Of all random choices")->capture_default_str();
}

void describe_bench(CLI::App *benches, Options &options)
{
    benches->add_option("--heap", options.heaps, "Which kinds, with commas between (default: all)")
        ->delimiter(',')
        ->check(CLI::IsMember(heap_names()));
    benches
        ->add_option("--suite", options.bench.suites,
                     "Which suites, with commas between (default: all)")
        ->delimiter(',')
        ->check(CLI::IsMember(bench::suite_names()));
    benches->add_flag("--quick", options.bench.quick,
                      "Fewer lines and rounds: under two minutes on two cores");
    benches
        ->add_option("--heap-bytes", options.bench.heap_bytes,
                     "Bytes of the heap (default: 8 GiB on a GPU, 256 MiB on a CPU)")
        ->check(CLI::Range(std::uint64_t{4} << 20, std::uint64_t{1} << 36));
    benches->add_option("--json", options.json_file,
                        "Write the figures to this file, for bench/report; - for standard output");
    benches->add_option("--csv", options.csv_file, "The same as a table with commas");
    benches
        ->add_option("--replace", options.replaced,
                     "NAME=FILE: measure with FILE in the place of kma's NAME, such as "
                     "kma/heap/bump.cl; the heap's "
                     "layout must stay")
        ->allow_extra_args(false);
}

} // namespace tool
