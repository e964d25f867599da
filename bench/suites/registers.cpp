// registers: the registers of a kernel with malloc or free, as NVIDIA's driver reports them in the
// log of a build with -cl-nv-verbose.
#include <algorithm>
#include <regex>
#include <sstream>

#include "suites.hpp"

namespace bench {
namespace {

const std::vector<std::string> told = {"empty", "allocate", "release", "pairs"};

void add(Bench &bench, const std::string &kernel, const char *metric, const char *unit,
         const std::string &digits)
{
    const double number = std::stod(digits);
    bench.add({.suite = "registers",
               .heap = {},
               .parameters = {{"kernel", kernel}},
               .metric = metric,
               .unit = unit,
               .figure = {number, number, number, 0}});
}

} // namespace

void registers(Bench &bench)
{
    static const std::regex entry("Compiling entry function '(\\w+)'");
    static const std::regex stack("(\\d+) bytes stack frame");
    static const std::regex used("Used (\\d+) registers");
    std::istringstream log(bench.build_log());
    std::string kernel, bytes;
    bool any = false;
    for (std::string line; std::getline(log, line);) {
        std::smatch match;
        if (std::regex_search(line, match, entry)) {
            kernel = match.str(1);
            bytes.clear();
        } else if (bytes.empty() && std::regex_search(line, match, stack)) {
            bytes = match.str(1); // the kernel's own; those of called functions follow
        } else if (std::regex_search(line, match, used) &&
                   std::ranges::find(told, kernel) != told.end()) {
            any = true;
            add(bench, kernel, "registers", "registers", match.str(1));
            if (!bytes.empty())
                add(bench, kernel, "stack", "bytes", bytes);
        }
    }
    if (!any)
        bench.note(
            "registers",
            "this driver does not tell (NVIDIA's does, unless it took the program from its cache)");
}

} // namespace bench
