// registers: what a kernel with malloc or free in it takes of a processor, where the driver tells: NVIDIA's in the log
// of a build with -cl-nv-verbose.
#include <regex>

#include "suites.hpp"

namespace bench {

void registers(Bench &bench)
{
    const std::string log = bench.build_log();
    static const std::regex entry("Compiling entry function '(\\w+)'[^']*'[^']*'[^]*?(\\d+) bytes stack frame[^]*?"
                                  "Used (\\d+) registers");
    bool any = false;
    for (std::sregex_iterator match(log.begin(), log.end(), entry), end; match != end; ++match) {
        const std::string kernel = match->str(1);
        if (kernel != "empty" && kernel != "allocate" && kernel != "release" && kernel != "pairs")
            continue;
        any = true;
        for (const auto &[metric, unit, group] : {std::tuple{"registers", "registers", 3}, {"stack", "bytes", 2}}) {
            const double number = std::stod(match->str(static_cast<std::size_t>(group)));
            bench.add({.suite = "registers",
                       .heap = {},
                       .parameters = {{"kernel", kernel}},
                       .metric = metric,
                       .unit = unit,
                       .figure = {number, number, number, 0}});
        }
    }
    if (!any)
        bench.note("registers", "this driver does not tell (NVIDIA's does, unless it took the program from its cache)");
}

} // namespace bench
