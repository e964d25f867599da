// A test executable's main function.
#include "catch_run.hpp"

int main(int argc, char **argv)
{
    return run_catch(argc, argv);
}
