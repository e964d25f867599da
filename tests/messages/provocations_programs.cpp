// What programs around the library say: CMake, quickstart, the samples.
#include <algorithm>
#include <array>
#include <cstdio>
#include <memory>
#include <sstream>
#include <stdexcept>

#include "heap_support.hpp"
#include "common/plain_program.hpp"
#include "device_graph.hpp"
#include "edges.hpp"
#include "inputs.hpp"
#include "matcher.hpp"
#include "provocations.hpp"

namespace messages {
namespace {

Provocation command(const std::string &what, const std::string &line)
{
    return {what, [=] { return std::vector{output_of(line)}; }};
}

// One build folder for all, so that the compiler is looked at once; each leaves out something else.
Provocation configured(const std::string &what, const std::string &options, const std::string &environment = {})
{
    return command(what, "env " + environment +
                             " " KMA_CONFIGURE " -B " KMA_SCRATCH_DIR
                             "/configured -UOpenCL_* -UKMA_* -UCMAKE_DISABLE_* -DKMA_BUILD_SAMPLES=ON "
                             "-DKMA_BUILD_TESTS=ON -DKMA_BUILD_TOOLS=ON " KMA_PYTHON_OPTION " " +
                             options + " 2>&1");
}

// One of the simulations; what it says of errors.
std::string simulation(const std::string &line)
{
    return KMA_SAMPLES "/" + line + " 2>&1 1>/dev/null";
}

// The game of life with such a file.
std::string life(const std::string &pattern)
{
    const std::string file = KMA_SCRATCH_DIR "/pattern.rle";
    return "printf '" + pattern + "\\n' > " + file + " && " + simulation("game_of_life --pattern " + file);
}

// quickstart on a system of our own making: the programs it finds, and what the system says it is.
Provocation quickstart(const std::string &what, const std::string &system)
{
    const std::string folder = KMA_SCRATCH_DIR "/quickstart_" + system;
    return command(what, "mkdir -p " + folder + " && cd " + folder +
                             " && ln -sf \"$(command -v dirname)\" dirname"
                             " && printf '#!/bin/sh\\necho 1000\\n' >id && printf '#!/bin/sh\\n' >dpkg-query"
                             " && chmod +x id dpkg-query && printf 'ID=" +
                             system +
                             "\\nVERSION_ID=12\\n' >os-release"
                             " && sed 's|/etc/os-release|./os-release|' " KMA_ROOT "/quickstart >copy"
                             " && env PATH=" +
                             folder + " \"$(command -v bash)\" ./copy 2>&1 1>/dev/null");
}

Provocation edges(const std::string &what, const std::string &text)
{
    return thrown(what, [=] { graph::parse_edges(text, "edges.txt"); });
}

graph::DeviceGraph small_graph(const graph::Edges &edges)
{
    return {test::device(), edges, 1 << 20, {}};
}

} // namespace

std::string output_of(const std::string &command)
{
    const std::unique_ptr<std::FILE, int (*)(std::FILE *)> pipe(popen(command.c_str(), "r"), pclose);
    if (!pipe)
        throw std::runtime_error("cannot run " + command);
    std::string text;
    std::array<char, 4096> chunk;
    while (const std::size_t got = std::fread(chunk.data(), 1, chunk.size(), pipe.get()))
        text.append(chunk.data(), got);
    std::istringstream words(text);
    std::string joined;
    for (std::string word; words >> word;)
        joined += (joined.empty() ? "" : " ") + word;
    return joined;
}

std::vector<Provocation> build_provocations()
{
    return {
        configured("has no OpenCL", "-DOpenCL_LIBRARY= -DOpenCL_INCLUDE_DIR="),
        configured("has no C++ bindings", "-DKMA_CLHPP_INCLUDE_DIR="),
        configured("has no CLI11", "-DCMAKE_DISABLE_FIND_PACKAGE_CLI11=ON"),
        configured("has no libpng", "-DCMAKE_DISABLE_FIND_PACKAGE_PNG=ON"),
        configured("has no Catch2", "-DCMAKE_DISABLE_FIND_PACKAGE_Catch2=ON"),
        configured("has no Relacy", "-DKMA_RELACY_INCLUDE_DIR="),
        configured("has no clang", "-DKMA_CLANG="),
        configured("has no libasan", "-DKMA_HAS_asan=OFF"),
        configured("builds the fuzzers with gcc", "-DKMA_BUILD_FUZZERS=ON -DCMAKE_CXX_COMPILER=g++"),
        configured("has no Python with pyopencl", "-DKMA_PYOPENCL_PYTHON=", "PYTHONHOME=/nowhere"),
        configured("has no pkg-config", "-DKMA_PKG_CONFIG="),
        configured("has no JSON library for figures", "-DCMAKE_DISABLE_FIND_PACKAGE_nlohmann_json=ON -DKMA_BUILD_TESTS=OFF"),
        configured("has no JSON library for the tool",
                   "-DCMAKE_DISABLE_FIND_PACKAGE_nlohmann_json=ON -DKMA_BUILD_TESTS=OFF -DKMA_BUILD_SAMPLES=OFF"),
        command("has no doxygen", KMA_CMAKE " -D DOXYGEN= -P " KMA_ROOT "/tests/docs/reference.cmake 2>&1"),
        command("has no oclgrind", KMA_CMAKE " -D OCLGRIND= -D LOG=" KMA_SCRATCH_DIR "/none.log -P " KMA_ROOT
                                             "/tests/oclgrind/run.cmake 2>&1"),
        command("mistypes what quickstart shall do", KMA_ROOT "/quickstart tests 2>&1"),
        quickstart("runs quickstart without root", "debian"),
        quickstart("runs quickstart on another system, without compiler", "plan9"),
    };
}

std::vector<Provocation> samples_provocations()
{
    return {
        edges("gives an empty file", ""),
        edges("gives a file of comments", "# none\n"),
        edges("leaves out the second node", "1\n"),
        edges("gives three numbers", "1 2 3\n"),
        edges("gives a word", "1 two\n"),
        edges("gives a negative number", "1 -2\n"),
        edges("gives a number of 33 bits", "1 4294967296\n"),
        thrown("names a folder", [] { graph::read_edges(KMA_SCRATCH_DIR); }),
        thrown("names a file that is not there", [] { graph::read_edges("no such file.txt"); }),
        thrown("names a file that gives no bytes", [] { graph::read_edges("/proc/self/mem"); }),
        command("begins at a node that is not there", KMA_GRAPH " --limit 10 --from 4000000000 2>&1 1>/dev/null"),
        command("makes the heap too small", KMA_GRAPH " --limit 100000 --heap-bytes 1M 2>&1 1>/dev/null"),
        command("makes the heap impossibly small", KMA_GRAPH " --limit 100 --heap-bytes 1 2>&1 1>/dev/null"),
        command("makes groups too large",
                KMA_GRAPH " --limit 10 --work-items 100000000 --work-group 100000000 2>&1 1>/dev/null"),
        thrown("searches a graph of three nodes that should have two",
               [] {
                   graph::DeviceGraph graph = small_graph({{1, 2}, {2, 3}});
                   graph.build({1, 1}, false);
                   graph.levels(1, {1, 2}, 1);
               }),
        command("makes weights too large", KMA_SHORTEST_PATHS " --most-weight 4294967295 2>&1 1>/dev/null"),
        command("leaves garbage where it is", KMA_SYMBOLIC " --no-collector --rounds 10 2>&1 1>/dev/null"),
        command("makes another heap too small", KMA_SHORTEST_PATHS " --limit 100000 --heap-bytes 1M 2>&1 1>/dev/null"),
        command("makes another heap impossibly small", KMA_SHORTEST_PATHS " --limit 100 --heap-bytes 1 2>&1 1>/dev/null"),
        thrown("leaves a parenthesis open", [] { automaton::compile({"a(b"}); }),
        thrown("verifies an expression that is none", [] { automaton::expected({}, {"("}, automaton::Automaton{}); }),
        thrown("gives a line of 5,000 characters",
               [] { automaton::parse_inputs(std::string(5000, 'a'), "names.txt", 1); }),
        thrown("gives more inputs and states than memory",
               [] {
                   automaton::Inputs inputs;
                   inputs.starts.resize(1 << 20);
                   automaton::match(test::device(), {}, inputs, {std::vector<automaton::State>(2000), {}});
               }),
        command("writes the numbers of an ocean into a folder that is not there",
                simulation("wator --width 3 --height 3 --steps 0 --curve 'no such folder/numbers.csv'")),
        command("writes the figures of an ocean into a folder that is not there",
                simulation("wator --width 3 --height 3 --steps 0 --json 'no such folder/figures.json'")),
        command("has a folder where a picture shall be",
                "mkdir -p " KMA_SCRATCH_DIR "/frames/step-00000.png && " +
                    simulation("wator --width 3 --height 3 --steps 0 --frames " KMA_SCRATCH_DIR "/frames")),
        command("makes the world too small for fish", simulation("wator --width 64 --height 64 --steps 9 --bytes 140K --stop-when-full")),
        command("makes the heap too small for bodies", simulation("nbody --version pointers --steps 0 --bodies 20000 --bytes 256K")),
        command("makes bodies too heavy", simulation("collision --bodies 300000")),
        command("searches from a node that the graph has not", simulation("bfs --from libc6")),
        command("has more guns than room", simulation("game_of_life --pattern guns --guns 25")),
        command("has streets without end", simulation("traffic --columns 4096 --rows 4096")),
        command("plays a pattern of other rules", life("x = 3, y = 1, rule = B36/S23\\nbob!")),
        command("plays a pattern that has a line's end in the wrong format", life("bob$2bo$3o!")),
        command("plays a pattern that does not live", life("x = 3, y = 1\\n3b!")),
        command("plays a pattern that is too large", life("x = 4, y = 1\\n4o!") + " --width 2"),
        thrown("runs a sample that was built without one of its files", [] { samples::source_named({}, "wator.cl"); }),
    };
}

std::vector<Provocation> tool_provocations()
{
    const std::string alone = "cd " KMA_SCRATCH_DIR " && cp " KMA_TOOL " kma_alone && ./kma_alone";
    return {
        command("takes the tool out of its installation", alone + " cl-dir 2>&1 1>/dev/null"),
        command("writes to a full disk", KMA_TOOL " emit 2>&1 1>/dev/full"),
        command("writes into a folder that is not there", KMA_TOOL " emit -o 'no such folder/kma.cl' 2>&1"),
        command("replaces a file that is not there", KMA_TOOL " bench --replace kma/heap/none.cl=x 2>&1"),
        command("replaces by a file that is not there", KMA_TOOL " bench --replace 'kma/heap/bump.cl=no such file' 2>&1"),
        command("asks for a case that is not there", KMA_TOOL " check 'no such case' 2>&1 1>/dev/null"),
    };
}

} // namespace messages
