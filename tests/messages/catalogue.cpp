#include "catalogue.hpp"

#include <cctype>
#include <cstdio>
#include <fstream>
#include <set>

#include "catch.hpp"

namespace messages {
namespace {

constexpr std::string_view anything = "…";

// Rows that no test provokes.
const std::set<std::string> unprovoked = {
    // It stands around what is wrong with a line, which has rows of its own.
    "…:…: …",
    // They take files of 8 and 4 GiB.
    "…: more than … edges; --limit takes the first ones",
    "…: more than 4 GiB of text; --limit takes the first lines",
    // The files come with the sources.
    "the default input … is missing; give a file of edges as argument",
    "the default input … is missing; give a file by --names",
};

// What a command writes, with one blank between words: CMake breaks its lines.
std::string output_of(const std::string &command)
{
    std::FILE *const pipe = popen(command.c_str(), "r");
    REQUIRE(pipe);
    std::string text;
    for (int c; (c = std::fgetc(pipe)) != EOF;)
        if (!std::isspace(c))
            text += static_cast<char>(c);
        else if (!text.empty() && text.back() != ' ')
            text += ' ';
    pclose(pipe);
    return text.substr(0, text.find_last_not_of(' ') + 1);
}

} // namespace

bool matches(const std::string &text, const std::string &message)
{
    std::size_t at = 0, begin = 0;
    for (std::size_t next; (next = message.find(anything, begin)) != std::string::npos;
         begin = next + anything.size()) {
        const std::string piece = message.substr(begin, next - begin);
        const std::size_t found = text.find(piece, at);
        if (found == std::string::npos || (begin == 0 && found != 0))
            return false;
        at = found + piece.size();
    }
    const std::string end = message.substr(begin);
    return begin == 0 ? text == message : text.size() >= at + end.size() && text.ends_with(end);
}

Section::Section(const std::string &heading, bool within) : heading_(heading), within_(within)
{
    std::ifstream page(KMA_ROOT "/docs/messages.md");
    std::string line, chapter, section;
    for (int number = 1; std::getline(page, line); number++) {
        if (line.starts_with("## "))
            chapter = section = line.substr(3);
        else if (line.starts_with("### "))
            section = line.substr(4);
        else if (line.starts_with("| `") && (heading == chapter || heading == section))
            rows_.push_back({line.substr(3, line.find("` | ") - 3), number, false});
    }
}

Section::~Section()
{
    for (const Row &row : rows_)
        if (row.is_provoked == unprovoked.contains(row.message))
            FAIL_CHECK("docs/messages.md:" << row.line << (row.is_provoked ? ": is" : ": is not")
                                           << " provoked: " << row.message);
}

void Section::says(const Texts &texts, Where where)
{
    if (texts.empty())
        FAIL_CHECK(where.file_name() << ":" << where.line() << ": no message");
    for (const std::string &text : texts) {
        Row *best = nullptr; // the longest row that matches
        for (Row &row : rows_)
            if (matches(text, within_ ? "…" + row.message + "…" : row.message) &&
                (!best || row.message.size() > best->message.size()))
                best = &row;
        if (best)
            best->is_provoked = true;
        else
            FAIL_CHECK(where.file_name() << ":" << where.line() << ": \"" << heading_
                                         << "\" has no row for: " << text);
    }
}

void Section::throws(const std::function<void()> &action, Where where)
{
    std::string text = "(nothing was thrown)";
    try {
        action();
    } catch (const kma::Error &error) {
        text = error.what();
    } catch (const cl::Error &error) {
        text = std::string("OpenCL's ") + error.what() + " failed with error " +
               std::to_string(error.err());
    }
    says({text}, where);
}

void Section::runs_commands()
{
    std::ifstream file(KMA_SCRATCH_DIR "/commands.sh");
    std::string head = "cd " KMA_SCRATCH_DIR "\n", heading;
    for (std::string line; std::getline(file, line);)
        if (line.starts_with("## "))
            heading = line.substr(3);
        else if (heading.empty())
            head += line + "\n";
        else if (heading == heading_ && !line.empty()) {
            INFO(line);
            says({output_of(head + "(" + line + ") 2>&1 >/dev/null")});
        }
}

Damage::Damage(cl::Buffer memory, std::function<Texts()> check)
    : memory_(std::move(memory)), check_(std::move(check)), before_(memory_.getInfo<CL_MEM_SIZE>())
{
    test::device().queue().enqueueReadBuffer(memory_, CL_TRUE, 0, before_.size(), before_.data());
}

Texts Damage::found()
{
    Texts texts = check_();
    test::device().queue().enqueueWriteBuffer(memory_, CL_TRUE, 0, before_.size(), before_.data());
    return texts;
}

} // namespace messages

TEST_CASE("a message is matched whole, and … is anything", "[messages]")
{
    for (const auto &[text, message] :
         {std::pair{"a 5 b", "a … b"}, {"a 1 b 2 b", "a … b"}, {"1: 2", "…: …"}, {"abb", "ab…b"}})
        CHECK(messages::matches(text, message));
    for (const auto &[text, message] : {std::pair{"a b", "a … b"},
                                        {"xa 5 b", "a … b"},
                                        {"a 5 bx", "a … b"},
                                        {"1 2", "…: …"},
                                        {"ab", "ab…b"},
                                        {"a 5 b", "a 5 c"}})
        CHECK_FALSE(messages::matches(text, message));
}
