// Embedded sources, and how includes become one text.
#include <filesystem>
#include <fstream>
#include <map>
#include <set>
#include <sstream>

#include "catch.hpp"
#include "kma/kma.hpp"

using kma::expand;
using kma::Source;

namespace {

std::vector<std::string> lines_of(const std::string &text)
{
    std::istringstream in(text);
    std::vector<std::string> lines;
    for (std::string line; std::getline(in, line);)
        lines.push_back(line);
    return lines;
}

// "NAME:LINE" of each line of an expanded text that holds `mark`, by the #line directives before it.
std::vector<std::string> origins(const std::string &text, const std::string &mark)
{
    std::vector<std::string> found;
    std::string name;
    int number = 0;
    for (const std::string &line : lines_of(text)) {
        if (line.starts_with("#line ")) {
            const std::size_t quote = line.find('"');
            number = std::stoi(line.substr(6));
            name = line.substr(quote + 1, line.rfind('"') - quote - 1);
            continue;
        }
        if (line.find(mark) != std::string::npos)
            found.push_back(name + ":" + std::to_string(number));
        number++;
    }
    return found;
}

using Names = std::vector<std::string>;

using Set = std::set<std::string>;

const std::string kma_cl = "#include \"kma/kma.cl\"\n";

// An expanded unit "a.cl".
std::string expanded(const std::string &text, const std::vector<Source> &headers = {}, const std::string &options = {})
{
    return expand({{"a.cl", text}}, headers, options);
}

std::size_t count_of(const std::string &text, const std::string &part)
{
    std::size_t count = 0;
    for (std::size_t at = 0; (at = text.find(part, at)) != std::string::npos; at += part.size())
        count++;
    return count;
}

// The kinds of heaps with functions in the text that this unit gives.
Set kinds_in(const std::string &unit, const std::string &options = {}, const std::vector<Source> &headers = {})
{
    const std::string text = expanded(unit, headers, options);
    Set found;
    for (const kma::HeapKind kind : kma::heap_kinds) {
        const std::string name = kma::name_of(kind);
        const std::size_t count = count_of(text, "kma_" + name + "_aligned_alloc(global kma_" + name + " *heap");
        CHECK(count <= 1);
        if (count != 0)
            found.insert(name);
    }
    return found;
}

} // namespace

TEST_CASE("the embedded sources are the files in cl/", "[source]")
{
    std::map<std::string, std::string> files;
    for (const auto &entry : std::filesystem::recursive_directory_iterator(KMA_CL_DIR))
        if (entry.is_regular_file()) {
            std::ifstream in(entry.path(), std::ios::binary);
            files[std::filesystem::relative(entry.path(), KMA_CL_DIR).generic_string()] =
                std::string(std::istreambuf_iterator<char>(in), {});
        }
    REQUIRE(files.size() > 10);
    CHECK(kma::sources().size() == files.size());
    for (const Source &source : kma::sources()) {
        INFO(source.name);
        REQUIRE(files.contains(source.name));
        CHECK((source.text == files[source.name])); // in parentheses: not to print both
    }
}

TEST_CASE("a text without includes stays, with its name in front", "[source]")
{
    CHECK(expand({{"a.cl", "one\ntwo\n"}}) == "#line 1 \"a.cl\"\none\ntwo\n");
    CHECK(expand({{"a.cl", "one\ntwo"}}) == "#line 1 \"a.cl\"\none\ntwo\n"); // the next unit begins a line
    CHECK(expand({{"a.cl", "one"}, {"b.cl", "two"}}) == "#line 1 \"a.cl\"\none\n#line 1 \"b.cl\"\ntwo\n");
    CHECK(expand({{"a.cl", ""}}) == "#line 1 \"a.cl\"\n");
    CHECK(expand({{"a \"b\"\\c.cl", ""}}) == "#line 1 \"a \\\"b\\\"\\\\c.cl\"\n");
}

TEST_CASE("names and lines are right after nested includes", "[source]")
{
    const std::vector<Source> headers = {{"outer.h", "MARK\n#include \"inner.h\"\nMARK\n"}, {"inner.h", "\n\nMARK"}};
    const std::string text =
        expand({{"unit.cl", "MARK\n#include \"outer.h\"\nMARK\n\n#include \"inner.h\"\nMARK\n"}}, headers);
    CHECK(origins(text, "MARK") ==
          Names{"unit.cl:1", "outer.h:1", "inner.h:3", "outer.h:3", "unit.cl:3", "inner.h:3", "unit.cl:6"});
    CHECK(text.find("#include") == std::string::npos);
}

TEST_CASE("kma's files are found at any depth", "[source]")
{
    const std::string text = expanded(kma_cl + "WHERE\n");
    CHECK(origins(text, "WHERE") == Names{"a.cl:2"});
    REQUIRE(origins(text, "#define kma_heap KMA_OF_HEAP()").size() == 1);
    CHECK(origins(text, "#define kma_heap KMA_OF_HEAP()")[0].starts_with("kma/kma.cl:"));
    CHECK(origins(text, "typedef struct kma_heap_header {")[0].starts_with("kma/heap/common/header.cl:"));
    CHECK(text.find("#include \"kma") == text.find(kma_cl + "//")); // only in kma.cl's comment
}

TEST_CASE("kma's files come once, unless the first may be hidden by a condition", "[source]")
{
    const std::string mark = "#define KMA_PLATFORM_BITS_CL", include = "#include \"kma/platform/bits.cl\"\n";
    CHECK(count_of(expand({{"a.cl", include + include}, {"b.cl", include}}), mark) == 1);
    CHECK(count_of(expanded("#if 0\n" + include + "#endif\n" + include), mark) == 2);
    CHECK(count_of(expanded("#ifdef A\n" + include + "#else\n" + include + "#endif\n"), mark) == 2);
    // A condition at the start of a unit is no guard, which would hide that the compiler sees what follows it.
    CHECK(count_of(expanded("#ifndef WIDTH\n#define WIDTH 4\n#endif\n" + include + include), mark) == 1);
}

TEST_CASE("includes in comments and other includes stay, those after comments and strings are found", "[source]")
{
    const std::vector<Source> headers = {{"h.h", "HEADER\n"}};
    for (const std::string text : {
             "// #include \"h.h\"\n",
             "/* #include \"h.h\" */\n",
             "/*\n#include \"h.h\"\n*/\n",
             "int a; /* from here\n#include \"h.h\"\n to here */ int b;\n",
             "x = \"/*\"; /* a comment, which a string did not begin\n#include \"h.h\"\n*/\n",
             "char c = '\"'; /*\n#include \"h.h\"\n*/\n",
             "#include <h.h>\n",
             "#include \"another.h\"\n",
             "#include NAME\n",
             "#include \"h.h\n",
             "#includes\n",
             "#pragma once \"h.h\"\n",
         })
        CHECK(expanded(text, headers) == "#line 1 \"a.cl\"\n" + text);
    for (const std::string before :
         {"/* comment */\n", "// a line comment opens nothing: /*\n", "x = \"/*\";\n", "x = \"a quote \\\" and /*\";\n",
          "/* two\nlines */\n", "/**/\n", "int a = b //* c */\n;\n"})
        CHECK(origins(expanded(before + "#include \"h.h\"\n", headers), "HEADER") == Names{"h.h:1"});
    for (const std::string directive : {"#include \"h.h\"", "  #include \"h.h\"", "#  include   \"h.h\"",
                                        "#include\"h.h\"", "#include \"h.h\" // why", "\t#\tinclude\t\"h.h\""})
        CHECK(origins(expanded(directive, headers), "HEADER") == Names{"h.h:1"});
}

TEST_CASE("files with CRLF are as good", "[source]")
{
    const std::vector<Source> headers = {{"h.h", "HEADER\r\n"}};
    const std::string text = expand({{"a.cl", "MARK\r\n/*\r\n*/\r\n#include \"h.h\"\r\nMARK\r\n"}}, headers);
    CHECK(origins(text, "HEADER") == Names{"h.h:1"});
    CHECK(origins(text, "MARK") == Names{"a.cl:1", "a.cl:5"});
}

TEST_CASE("a byte order mark in front of a unit or a header is left out", "[source]")
{
    const std::string mark = "\xef\xbb\xbf", guarded = "#ifndef H\n#define H\nHEADER\n#endif\n",
                      include = "#include \"h.h\"\n";
    const std::vector<Source> headers = {{"h.h", mark + guarded}}, plain = {{"h.h", guarded}};
    const std::string text = expand({{"a.cl", mark + include + include}, {"b.cl", mark + "MARK\n"}}, headers);
    CHECK(text == expand({{"a.cl", include + include}, {"b.cl", "MARK\n"}}, plain));
    CHECK(origins(text, "HEADER") == Names{"h.h:3"});
    CHECK(expand({{"a.cl", "x = \"" + mark + "\";\n"}}) == "#line 1 \"a.cl\"\nx = \"" + mark + "\";\n");
}

TEST_CASE("macros of the user's that have names of kma's are hidden from its files, and no others", "[source]")
{
    const std::string unit = "#define key 3\n  # define first(x) x\n#define free mine\n/*\n#define bit 1\n*/\n#include "
                             "\"kma/kma.cl\"\nBEHIND_KMA\n";
    const std::string options =
        "-DWIDTH=4 -D size=5 -Dn=100 -DKMA_DEBUG=1 -Dmin=fmin -Dcl_khr_fp64 -Iwith-Dash -Drank(x)=x -D";
    const std::string text = expanded(unit, {}, options);
    std::vector<std::string> pushed, popped;
    bool is_open = false;
    for (const std::string &line : lines_of(text)) {
        if (line.starts_with("#pragma push_macro"))
            pushed.push_back(line.substr(sizeof "#pragma push_macro"));
        if (line.starts_with("#pragma pop_macro"))
            popped.push_back(line.substr(sizeof "#pragma pop_macro"));
        if (line.starts_with("#pragma p"))
            is_open = line.starts_with("#pragma push");
        CHECK((is_open || !line.starts_with("#line 1 \"kma/")));
        CHECK((!is_open || line != "BEHIND_KMA"));
    }
    CHECK(pushed == Names{"\"free\")", "\"key\")", "\"n\")", "\"size\")"});
    CHECK(popped == pushed);
    CHECK(origins(text, "BEHIND_KMA") == Names{"a.cl:8"});
    CHECK(expanded(kma_cl).find("push_macro") == std::string::npos);
    CHECK(expand({{"a.cl", "kernel void f() {}\n"}}, {}, "-Dn=100").find("push_macro") == std::string::npos);
}

TEST_CASE("kma.cl brings the kind of heap that KMA_HEAP names, and files of kinds bring further ones", "[source]")
{
    const std::string define = "#define KMA_HEAP ", bump = "#include \"kma/heap/bump.cl\"\n",
                      slab = "#include \"kma/heap/slab.cl\"\n";
    CHECK(kinds_in(kma_cl) == Set{"slab"});
    for (const kma::HeapKind kind : kma::heap_kinds) {
        const std::string name = kma::name_of(kind);
        CHECK(kinds_in(kma_cl, "-DKMA_HEAP=" + name) == Set{name});
        CHECK(kinds_in(kma_cl, "-cl-std=CL3.0 -D KMA_HEAP=" + name + " -DN=1") == Set{name});
        CHECK(kinds_in(define + name + " // mine\n" + kma_cl) == Set{name});
        const Source header = {"my.h", "#ifndef MY_H\n#define MY_H\n" + define + name + "\n#endif\n"};
        CHECK(kinds_in("#include \"my.h\"\n" + kma_cl, {}, {header}) == Set{name});
    }
    CHECK(kinds_in("#include \"kma/containers/list.cl\"\n" + kma_cl, "-DKMA_HEAP=bump") == Set{"bump"});
    CHECK(kinds_in(kma_cl + bump) == Set{"bump", "slab"});
    CHECK(kinds_in(bump + kma_cl) == Set{"bump", "slab"});
    CHECK(kinds_in(slab + kma_cl + slab) == Set{"slab"});
    CHECK(kinds_in(kma_cl + slab + bump, "-DKMA_HEAP=scatter") == Set{"bump", "scatter", "slab"});
    CHECK(count_of(expanded(kma_cl + bump), "typedef struct kma_heap_header {") == 1); // what they share comes once

    // Where a condition or the compiler decides what KMA_HEAP is, all kinds come that it may be.
    CHECK(kinds_in("#ifdef SMALL\n" + define + "bump\n#endif\n" + kma_cl) == Set{"bump", "slab"});
    CHECK(kinds_in("#ifndef KMA_HEAP\n" + define + "bump\n#endif\n" + kma_cl, "-DKMA_HEAP=bump") == Set{"bump"});
    const Set all = {"bump", "scatter", "slab", "superblock"};
    for (const std::string &first : {define + "OTHER\n", std::string("#include \"of_the_compiler.h\"\n"),
                                     std::string("#include <of_the_compiler.h>\n")})
        CHECK(kinds_in(first + kma_cl) == all);
}

TEST_CASE("a user's header goes before kma's file of the same name", "[source]")
{
    const std::string text = expanded(kma_cl, {{"kma/kma.cl", "MINE\n"}});
    CHECK(origins(text, "MINE") == Names{"kma/kma.cl:1"});
    CHECK(text.find("kma_bump") == std::string::npos);
}

TEST_CASE("a kma file that does not exist is an error with its place, and so are includes that never end", "[source]")
{
    CHECK_THAT(message_of<kma::Error>([] { expand({{"dir/a.cl", "\n\n#include \"kma/heap.cl\"\n"}}); }),
               contains("dir/a.cl:3") && contains("\"kma/heap.cl\"") && contains("kma/kma.cl"));
    const std::vector<Source> headers = {{"a.h", "#include \"b.h\"\n"},
                                         {"b.h", "#include \"a.h\"\n#include \"a.h\"\n"}};
    CHECK_THAT(message_of<kma::Error>([&] { expanded("#include \"a.h\"\n", headers); }), contains("without end"));
}

TEST_CASE("headers with guards may include each other, and come once", "[source]")
{
    const std::vector<Source> headers = {{"a.h", "// a\n#ifndef A\n#define A\n#include \"b.h\"\nint a;\n#endif\n"},
                                         {"b.h", "#ifndef B\n#define B\n#include \"a.h\"\nint b;\n#endif\n"}};
    const std::string text = expanded("#include \"a.h\"\n#include \"b.h\"\n", headers);
    CHECK(count_of(text, "int a;") == 1);
    CHECK(count_of(text, "int b;") == 1);
    // Inside a condition the compiler may not have seen the first copy.
    CHECK(count_of(expanded("#ifdef X\n#include \"b.h\"\n#endif\n#include \"b.h\"\n", headers), "int b;") > 1);
}

TEST_CASE("a source is read from a file as it is", "[source]")
{
    const std::filesystem::path path = std::filesystem::path(KMA_SCRATCH_DIR) / "source_test.cl";
    const std::string bytes("a\r\n\0b\xff", 6);
    std::ofstream(path, std::ios::binary) << bytes;
    const Source source = Source::from_file(path);
    CHECK(source.name == path.string());
    CHECK(source.text == bytes);
    std::filesystem::remove(path);
    CHECK_THAT(message_of<kma::Error>([&] { Source::from_file(path); }), contains(path.string()));
}
