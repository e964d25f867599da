// Texts that compilers and programs read are the same in a program that has set a locale of its own.
#include <locale>
#include <memory>

#include "catch.hpp"
#include "heap_support.hpp"
#include "support/say.hpp"

namespace {

// Numbers as in German, without a locale of the system's.
class German : public std::numpunct<char> {
protected:
    char do_decimal_point() const override { return ','; }
    char do_thousands_sep() const override { return '.'; }
    std::string do_grouping() const override { return "\3"; }
};

class InGerman {
public:
    InGerman() : before_(std::locale::global(std::locale(std::locale::classic(), new German))) {}
    ~InGerman() { std::locale::global(before_); }

private:
    std::locale before_;
};

std::vector<std::string> texts()
{
    kma::Schema schema;
    schema.add("Cell", {"uint value", "float16 path[1000]"})
        .add("Wall", {"uchar height[123456]"}, "Cell")
        .do_all("Cell", "grow");
    std::vector<std::string> all = {schema.accessors(), schema.kernels(), kma::say(1234567, " ", 0.5)};
    for (const kma::HeapKind kind : kma::heap_kinds)
        all.push_back(kma::emit(kind));
    const kma::Heap heap(test::device(), 1 << 20);
    all.push_back(kma::to_text(heap.stats()));
    all.push_back(message_of<kma::Error>([] { kma::Heap(test::device(), 5000); }));
    all.push_back(message_of<kma::Error>([] { kma::Schema().block_bytes(1 << 25); }));
    all.push_back(kma::Device::select(test::device().name()).name());
    return all;
}

} // namespace

TEST_CASE("texts do not depend on the program's locale", "[locale]")
{
    const std::vector<std::string> before = texts();
    const InGerman in_german;
    const std::vector<std::string> after = texts();
    REQUIRE(after.size() == before.size());
    for (std::size_t i = 0; i < before.size(); i++)
        CHECK((after[i] == before[i])); // in parentheses: not to print both
}
