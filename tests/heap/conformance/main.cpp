// The conformance suite by itself: Catch2's command line, and then what the tests told beside.
#include <cstdio>

#include "catch_run.hpp"
#include "heaps.hpp"
#include "participation.hpp"

int main(int argc, char **argv)
{
    const int result = run_catch(argc, argv);
    if (conformance::participations().empty()) // --list-tests, or a filter that nothing matches
        return result;
    for (const std::string &remark : conformance::remarks())
        std::printf("%s\n", remark.c_str());
    std::printf("work-groups of");
    for (const std::size_t size : test::groups_launched)
        std::printf(" %zu", size);
    std::printf(" work-items\n");
    const kma::CodePath path = test::path();
    std::printf("paths: %s, %s, %d-bit atomics\n%s", describe(path.memory), describe(path.lanes),
                path.atomic64 ? 64 : 32, conformance::exemption_table().c_str());
    for (const conformance::Participation &one : conformance::participations())
        if (!one.exempt_because.empty())
            std::printf("exempt: %s%s from \"%s\": %s\n", kma::name_of(one.kind), one.debug ? " with KMA_DEBUG" : "",
                        one.test.c_str(), one.exempt_because.c_str());
    return result;
}
