// Includes replaced by texts: how user and kma sources become one translation unit.
#include "kma/source.hpp"

#include <fstream>
#include <iterator>
#include <optional>
#include <string_view>

#include "kma/error.hpp"

namespace kma {
namespace {

// More nested includes than any sane program has: an include that includes itself outside its guard's reach.
constexpr int max_depth = 64;

// Whether a block comment is open at the end of `line`, given whether one is at its start.
bool in_comment_after(std::string_view line, bool in_comment)
{
    bool in_string = false;
    for (std::size_t i = 0; i < line.size(); i++) {
        const std::string_view two = line.substr(i, 2);
        if (in_comment) {
            if (two == "*/") {
                in_comment = false;
                i++;
            }
        } else if (in_string) {
            if (line[i] == '\\')
                i++;
            else if (line[i] == '"')
                in_string = false;
        } else if (two == "//") {
            break;
        } else if (two == "/*") {
            in_comment = true;
            i++;
        } else if (line[i] == '"') {
            in_string = true;
        }
    }
    return in_comment;
}

// NAME of a line `#include "NAME"`.
std::optional<std::string> included_name(std::string_view line)
{
    const auto skip_blanks = [&] { line.remove_prefix(std::min(line.find_first_not_of(" \t"), line.size())); };
    const auto skip = [&](std::string_view word) {
        if (!line.starts_with(word))
            return false;
        line.remove_prefix(word.size());
        return true;
    };
    skip_blanks();
    if (!skip("#"))
        return {};
    skip_blanks();
    if (!skip("include"))
        return {};
    skip_blanks();
    if (!skip("\""))
        return {};
    const std::size_t end = line.find('"');
    if (end == std::string_view::npos)
        return {};
    return std::string(line.substr(0, end));
}

const Source *find(const std::vector<Source> &in, const std::string &name)
{
    for (const Source &source : in)
        if (source.name == name)
            return &source;
    return nullptr;
}

class Expander {
public:
    explicit Expander(const std::vector<Source> &headers) : headers_(headers) {}

    void add(const Source &source, int depth)
    {
        if (depth > max_depth)
            throw Error("\"" + source.name + "\" includes itself without end: put include guards around its #include lines");
        begin(source.name, 1);
        bool in_comment = false;
        int number = 0;
        for (std::size_t at = 0; at < source.text.size();) {
            const std::size_t end = std::min(source.text.find('\n', at), source.text.size());
            const std::string_view line = std::string_view(source.text).substr(at, end - at);
            at = end + 1;
            number++;
            const Source *included = in_comment ? nullptr : resolve(line, source.name, number);
            if (included) {
                add(*included, depth + 1);
                begin(source.name, number + 1);
            } else {
                text_.append(line);
                text_ += '\n';
            }
            in_comment = in_comment_after(line, in_comment);
        }
    }

    std::string take() { return std::move(text_); }

private:
    void begin(const std::string &name, int line)
    {
        std::string quoted;
        for (const char c : name) {
            if (c == '"' || c == '\\')
                quoted += '\\';
            quoted += c;
        }
        text_ += "#line " + std::to_string(line) + " \"" + quoted + "\"\n";
    }

    const Source *resolve(std::string_view line, const std::string &from, int number) const
    {
        const auto name = included_name(line);
        if (!name)
            return nullptr;
        if (const Source *header = find(headers_, *name))
            return header;
        const Source *ours = find(sources(), *name);
        if (!ours && name->starts_with("kma/"))
            throw Error(from + ":" + std::to_string(number) + ": kma has no file \"" + *name +
                        "\"; include \"kma/kma.cl\" for everything");
        return ours;
    }

    const std::vector<Source> &headers_;
    std::string text_;
};

} // namespace

Source Source::from_file(const std::filesystem::path &path)
{
    std::ifstream file(path, std::ios::binary);
    if (!file)
        throw Error("cannot read the OpenCL source " + path.string());
    return {path.string(), std::string(std::istreambuf_iterator<char>(file), {})};
}

std::string expand(const std::vector<Source> &units, const std::vector<Source> &headers)
{
    Expander expander(headers);
    for (const Source &unit : units)
        expander.add(unit, 0);
    return expander.take();
}

} // namespace kma
