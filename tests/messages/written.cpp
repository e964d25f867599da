// A scan of the sources for what they say when something is wrong. It knows no more C++ than literals, comments and
// brackets: an expression's string literals are the message's words, whatever else is added or given to say() is a
// variable part of it.
#include "written.hpp"

#include <algorithm>
#include <fstream>
#include <iterator>
#include <optional>
#include <regex>
#include <stdexcept>

#include "rows.hpp"

namespace messages {
namespace {

namespace fs = std::filesystem;

struct File {
    std::string name; // from the root
    std::string text; // comments blanked out, so that positions stay

    std::string where(std::size_t at) const
    {
        return name + ":" + std::to_string(1 + std::count(text.begin(), text.begin() + static_cast<long>(at), '\n'));
    }
};

std::string read(const fs::path &path)
{
    std::ifstream file(path, std::ios::binary);
    if (!file)
        throw std::runtime_error("cannot read " + path.string());
    return {std::istreambuf_iterator<char>(file), {}};
}

// The end of the literal that begins at `at`, behind its quote.
std::size_t end_of_literal(const std::string &text, std::size_t at)
{
    for (std::size_t i = at + 1; i < text.size(); i++) {
        if (text[i] == '\\')
            i++;
        else if (text[i] == text[at])
            return i + 1;
    }
    return text.size();
}

// Digit separators are no quotes.
bool begins_literal(const std::string &text, std::size_t at)
{
    return text[at] == '"' ||
           (text[at] == '\'' && (at == 0 || !std::isalnum(static_cast<unsigned char>(text[at - 1]))));
}

void blank_comments(std::string &text)
{
    for (std::size_t i = 0; i < text.size();) {
        if (begins_literal(text, i)) {
            i = end_of_literal(text, i);
        } else if (text.compare(i, 2, "//") == 0 || text.compare(i, 2, "/*") == 0) {
            const bool line = text[i + 1] == '/';
            const std::size_t end = line ? text.find('\n', i) : text.find("*/", i + 2);
            for (; i < std::min(end, text.size()); i++)
                if (text[i] != '\n')
                    text[i] = ' ';
        } else {
            i++;
        }
    }
}

std::vector<File> files(const fs::path &root, const std::string &folder)
{
    std::vector<fs::path> paths;
    if (fs::exists(root / folder))
        for (const auto &entry : fs::recursive_directory_iterator(root / folder))
            if (const auto end = entry.path().extension(); end == ".cpp" || end == ".hpp" || end == ".cl")
                paths.push_back(entry.path());
    std::ranges::sort(paths);
    std::vector<File> all;
    for (const fs::path &path : paths) {
        all.push_back({path.lexically_relative(root).string(), read(path)});
        blank_comments(all.back().text);
    }
    return all;
}

// The parts of `text` from `at` on that `separator` parts outside of brackets and literals; ends at the bracket, brace
// or semicolon that closes what `at` is in. `end`: where that is.
std::vector<std::string> split(const std::string &text, std::size_t at, char separator, std::size_t *end = nullptr)
{
    std::vector<std::string> parts = {""};
    int depth = 0;
    while (at < text.size()) {
        const char c = text[at];
        if (begins_literal(text, at)) {
            const std::size_t next = end_of_literal(text, at);
            parts.back() += text.substr(at, next - at);
            at = next;
            continue;
        }
        depth += c == '(' || c == '[' || c == '{' ? 1 : c == ')' || c == ']' || c == '}' ? -1 : 0;
        if (depth < 0 || (depth == 0 && c == ';'))
            break;
        if (depth == 0 && c == separator)
            parts.emplace_back();
        else
            parts.back() += c;
        at++;
    }
    if (end)
        *end = at;
    return parts;
}

std::string trimmed(const std::string &text)
{
    const std::size_t begin = text.find_first_not_of(" \t\n");
    return begin == std::string::npos ? "" : text.substr(begin, text.find_last_not_of(" \t\n") - begin + 1);
}

// The text of an expression that is string literals only.
std::optional<std::string> literal(const std::string &expression)
{
    std::string text;
    for (std::size_t at = 0; at < expression.size();) {
        if (std::isspace(static_cast<unsigned char>(expression[at]))) {
            at++;
            continue;
        }
        if (expression[at] != '"')
            return {};
        const std::size_t end = end_of_literal(expression, at);
        for (std::size_t i = at + 1; i + 1 < end; i++)
            if (expression[i] != '\\')
                text += expression[i];
            else if (expression[++i] == 'n')
                text += anything; // where a line ends does not matter
            else
                text += expression[i];
        at = end;
    }
    return text;
}

// Adjacent variable parts are one.
std::string merged(std::string message)
{
    const std::string twice = std::string(anything) + anything;
    for (std::size_t at; (at = message.find(twice)) != std::string::npos;)
        message.erase(at, std::string(anything).size());
    return message;
}

std::string spoken(const std::vector<std::string> &arguments);

// What an expression says: say(…), a sum, or a literal.
std::string spoken(const std::string &expression)
{
    const std::string text = trimmed(expression);
    for (const std::string call : {"say(", "std::string("})
        if (text.starts_with(call)) {
            std::size_t end = 0;
            const std::vector<std::string> arguments = split(text, call.size(), ',', &end);
            if (end + 1 == text.size())
                return spoken(arguments);
        }
    const std::vector<std::string> terms = split(text, 0, '+');
    if (terms.size() > 1)
        return spoken(terms);
    return literal(text).value_or(anything);
}

std::string spoken(const std::vector<std::string> &arguments)
{
    std::string message;
    for (const std::string &argument : arguments)
        message += spoken(argument);
    return merged(message);
}

class Scan {
public:
    explicit Scan(fs::path root) : root_(std::move(root)) {}

    // throw Error(…), throw kma::Error(…), throw BuildError(…).
    void throws(const std::string &folder, const std::string &chapter)
    {
        static const std::regex any("\\bthrow\\b");
        static const std::regex ours("^throw (kma::)?(Build)?Error\\(");
        static const std::regex others("^throw(;| cl::Error\\(|\\(\\))"); // passed on, OpenCL's own
        for (const File &file : files(root_, folder))
            each(file, any, [&](std::size_t at) {
                const std::string rest = file.text.substr(at, 100);
                std::smatch match;
                if (std::regex_search(rest, match, ours))
                    add(chapter, spoken(split(file.text, at + match.length(), ',')), file, at);
                else if (!std::regex_search(rest, others))
                    fail(file, at, "a throw that this scan cannot read");
            });
    }

    // Calls of a function that makes messages of its arguments, those before `skip` excepted.
    void calls(const std::vector<File> &in, const std::string &function, const std::string &before, std::size_t skip,
               const std::string &chapter)
    {
        const std::regex call("[.>_ \n(]" + function + "\\(");
        for (const File &file : in)
            each(file, call, [&](std::size_t at) {
                std::vector<std::string> arguments = split(file.text, file.text.find('(', at + 1) + 1, ',');
                if (arguments.front().find("const ") != std::string::npos || arguments.size() <= skip)
                    return; // its declaration
                arguments.erase(arguments.begin(), arguments.begin() + static_cast<long>(skip));
                add(chapter, before + spoken(arguments), file, at);
            });
    }

    // Texts that a function returns, between `before` and `behind`. The throw beside it that has them adds nothing.
    void returns(const std::string &folder, const std::string &head, const std::string &before,
                 const std::string &behind, const std::string &chapter)
    {
        for (const File &file : files(root_, folder)) {
            const std::size_t at = file.text.find(head);
            if (at == std::string::npos || file.text[file.text.find_first_of("{;", at)] == ';')
                continue;
            std::erase_if(found_, [&](const Written &thrown) {
                return thrown.where.starts_with(file.name + ":") && thrown.message == before + anything + behind;
            });
            const std::size_t end = file.text.find("\n}", at);
            static const std::regex word("\\breturn\\b");
            each(file, word, [&](std::size_t found) {
                if (found < at || found > end)
                    return;
                const std::string says = spoken(split(file.text, found + 6, ','));
                if (says != anything) // an empty text, a variable
                    add(chapter, before + says + behind, file, found);
            });
        }
    }

    // What a regular expression's first group is; … for the parts that `variable` matches.
    void lines(const std::vector<File> &in, const std::string &pattern, const std::string &variable,
               const std::string &chapter)
    {
        const std::regex wanted(pattern);
        const std::regex parts(variable);
        for (const File &file : in)
            for (std::sregex_iterator match(file.text.begin(), file.text.end(), wanted), end; match != end; ++match)
                add(chapter, merged(std::regex_replace(match->str(1), parts, anything)), file,
                    static_cast<std::size_t>(match->position()));
    }

    // What CMake stops with: message(FATAL_ERROR "…" …) in the lists and scripts of `folder` and below, as far as they
    // contain `word`; of the root, "", in its own list only.
    void refusals(const std::string &folder, const std::string &word)
    {
        static const std::regex call("FATAL_ERROR((\\s*\"(\\\\.|[^\"\\\\])*\")+)");
        static const std::regex variable("\\$\\{[^}]*\\}");
        std::vector<fs::path> lists;
        if (folder.empty())
            lists.push_back(root_ / "CMakeLists.txt");
        else
            for (const auto &entry : fs::recursive_directory_iterator(root_ / folder))
                if (entry.path().filename() == "CMakeLists.txt" || entry.path().extension() == ".cmake")
                    lists.push_back(entry.path());
        for (const fs::path &list : lists) {
            const File file = plain(list.lexically_relative(root_).string());
            for (std::sregex_iterator match(file.text.begin(), file.text.end(), call), end; match != end; ++match)
                if (const std::string says = literal(match->str(1)).value(); says.find(word) != std::string::npos)
                    add("CMake and quickstart", merged(std::regex_replace(says, variable, anything)), file,
                        static_cast<std::size_t>(match->position()));
        }
    }

    File plain(const std::string &name) const { return {name, read(root_ / name)}; }
    std::vector<File> all(const std::string &folder) const { return files(root_, folder); }

    std::vector<Written> take()
    {
        for (const Written &one : found_)
            if (one.message == anything)
                throw std::runtime_error(one.where + ": a message without words of its own");
        return std::move(found_);
    }

private:
    template <class Action> void each(const File &file, const std::regex &what, Action action) const
    {
        for (std::sregex_iterator match(file.text.begin(), file.text.end(), what), end; match != end; ++match)
            action(static_cast<std::size_t>(match->position()));
    }

    void add(const std::string &chapter, const std::string &message, const File &file, std::size_t at)
    {
        found_.push_back({chapter, message, file.where(at)});
    }

    [[noreturn]] static void fail(const File &file, std::size_t at, const std::string &what)
    {
        throw std::runtime_error(file.where(at) + ": " + what);
    }

    fs::path root_;
    std::vector<Written> found_;
};

} // namespace

std::vector<Written> written(const fs::path &root)
{
    Scan scan(root);
    const std::string host = "The host library", compilers = "Compilers", check = "Heap::check()", world_check = "World::check()";
    scan.throws("host/src", host);
    scan.calls(scan.all("host/src"), "refuse", "cannot load a heap from …: ", 0, host);
    scan.returns("host/src", "std::string obstacle(", "kma cannot run on …: ", "; choose another device", host);
    scan.returns("host/src", "std::string refusal_of(", "", "", host);

    for (const char *function : {"const char *explain(", "const char *explain_object("})
        scan.returns("host/src", function, "", "", "Kernels");

    std::vector<File> of_heaps, of_worlds;
    std::ranges::partition_copy(scan.all("host/src"), std::back_inserter(of_worlds), std::back_inserter(of_heaps),
                                [](const File &file) { return file.name.starts_with("host/src/world_"); });
    scan.calls(of_heaps, "findings_?\\.add", "", 1, check);
    scan.calls(of_worlds, "findings_?\\.add", "", 1, world_check);
    for (const std::string &chapter : {check, world_check})
        scan.lines({scan.plain("host/src/heap/common/findings.hpp")}, "say\\(\"(there are .*)\\)\\);", "\", .*?, \"|\", .*$", chapter);

    for (const char *folder : {"cl", "host/include"})
        scan.lines(scan.all(folder), "#error \"(.*)\"", "x{100}", compilers);
    scan.lines({scan.plain("host/src/device/emit.cpp")}, "#error \\\\\"(.*)\\\\\"", "x{100}", compilers); // in quotes there
    scan.lines({scan.plain("host/src/device/source.cpp")}, "#error \\\\\"((?:.|\\n)*?)\\\\\"", "\"?,\\s*name,\\s*\"?", compilers);
    scan.lines({scan.plain("host/src/objects/schema_text.cpp")}, "#error \"(.*)\"", "\\$\\w+\\$", compilers); // in a template
    scan.lines(scan.all("cl"), "\\b(the_bump_heap_has_\\w+)", "x{100}", compilers);
    scan.lines(scan.all("cl"), "\\b(for_kma_\\w+_include_\\w+)", "bump|superblock|scatter|slab", compilers);
    scan.lines(scan.all("cl"), "\\b(kma_assert_##name)", "##name", compilers);

    scan.throws("samples", "The samples");
    for (const char *folder : {"bench", "tools"})
        scan.throws(folder, "The kma tool");
    for (const char *folder : {"bench", "cmake", "host", "samples", "tools"})
        scan.refusals(folder, "");
    scan.refusals("", "");
    scan.refusals("tests", ": install "); // the others are for those who write tests
    scan.lines({scan.plain("quickstart")}, "echo \"(.*)\" >&2", "\\$[\\w*]+", "CMake and quickstart");
    return scan.take();
}

} // namespace messages
