// The options of the command line, and the description of commands with many options.
#pragma once

#include <CLI/CLI.hpp>
#include <string>
#include <vector>

#include "battery.hpp"
#include "soak.hpp"

namespace tool {

struct Options {
    std::string command; ///< the whole command line
    std::string device;
    std::vector<std::string> cases;
    std::string build_options;
    std::string output = "-";
    std::string heap = name_of(kma::default_heap_kind);
    std::vector<std::string> heaps; ///< empty: all
    conformance::SoakOptions soak;
    bench::Options bench;
    std::vector<std::string> replaced; ///< "NAME=FILE"
    std::string json_file, csv_file;   ///< empty: none
    int debug = 0;
    double scale = 1;
    bool json = false;
};

std::vector<std::string> heap_names();
kma::HeapKind kind_named(const std::string &name);
/// Of Options::heaps; all kinds if that is empty.
std::vector<kma::HeapKind> kinds_of(const Options &options);

void describe_soak(CLI::App *soaks, Options &options);
void describe_bench(CLI::App *benches, Options &options);

} // namespace tool
