// The soak in short; `kma soak` has it at length.
#include "catch.hpp"
#include "soak.hpp"

using namespace conformance;
using namespace test;

TEST_CASE("a soak: blocks go from hand to hand, and each is whole when it is freed")
{
    for (const Subject &subject : subjects(Breadth::widths)) {
        INFO(subject.name());
        SoakOptions options;
        const Shape shape = in_groups(std::min<std::size_t>(scaled(32), 512) * 64, 64);
        options.work_items = shape.work_items;
        options.work_group = shape.work_group;
        options.pairs = options.work_items * 64;
        options.superblock_bytes = 4096;
        options.bytes_per_slot = 64;
        const SoakResult result = soak(subject, options);
        CHECK(result.pairs >= options.pairs);
        CHECK(result.wrong == 0);
        for (const std::string &finding : result.findings)
            FAIL_CHECK(finding);
    }
}
