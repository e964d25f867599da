// Messages of programs around the library: CMake, quickstart, the tool and the samples.
#include "catalogue.hpp"
#include "catch.hpp"
#include "common/plain_program.hpp"
#include "device_graph.hpp"
#include "edges.hpp"
#include "inputs.hpp"
#include "matcher.hpp"

using messages::Section;

TEST_CASE("messages: CMake, quickstart, the tool and the samples in C and Python", "[messages]")
{
    for (const char *heading : {"CMake and quickstart", "The kma tool", "In C and Python"}) {
        Section section(heading, true);
        section.runs_commands();
    }
}

TEST_CASE("messages: samples", "[messages]")
{
    Section section("The samples", true);
    section.runs_commands();
    for (const char *text :
         {"", "# none\n", "1\n", "1 2 3\n", "1 two\n", "1 -2\n", "1 4294967296\n"})
        PROVOKE(graph::parse_edges(text, "edges.txt"));
    for (const char *path : {KMA_SCRATCH_DIR, "no such file.txt", "/proc/self/mem"})
        PROVOKE(graph::read_edges(path));
    section.throws([] {
        graph::DeviceGraph graph(test::device(), {{1, 2}, {2, 3}}, 1 << 20, {});
        graph.build({1, 1}, false);
        graph.levels(1, {1, 2}, 1); // as if it had two nodes
    });
    PROVOKE(automaton::compile({"a(b"}));
    PROVOKE(automaton::expected({}, {"("}, automaton::Automaton{}));
    PROVOKE(automaton::parse_inputs(std::string(5000, 'a'), "names.txt", 1));
    section.throws([] {
        automaton::Inputs inputs;
        inputs.starts.resize(1 << 20);
        automaton::match(test::device(), {}, inputs, {std::vector<automaton::State>(2000), {}});
    });
    PROVOKE(samples::source_named({}, "wator.cl"));
}
