#define CATCH_CONFIG_RUNNER // version 2 is headers, and compiled here; version 3 is a library
#include "catch_run.hpp"
#include "catch.hpp"

int run_catch(int argc, const char *const *argv)
{
    return Catch::Session().run(argc, argv);
}
