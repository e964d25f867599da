// Catch2, whichever of its versions 2 and 3 is installed, and what they do not agree in.
#pragma once

#include <string>

#if __has_include(<catch2/catch_all.hpp>)
#include <catch2/catch_all.hpp>
#define KMA_CATCH_CONTAINS Catch::Matchers::ContainsSubstring
#else
#include <catch2/catch.hpp>
#define KMA_CATCH_CONTAINS Catch::Matchers::Contains
#endif

/// Matches a text that contains `part`.
inline auto contains(const std::string &part)
{
    return KMA_CATCH_CONTAINS(part);
}

/// The message of the E that `action` throws; "no error" if it throws nothing.
template <class E, class Action> std::string message_of(const Action &action)
{
    try {
        action();
    } catch (const E &error) {
        return error.what();
    }
    return "no error";
}
