// The main function of Catch2's version 2; version 3 brings its own in a library.
#define CATCH_CONFIG_MAIN
#include "catch.hpp"
