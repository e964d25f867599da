// The names that kma's device files have for themselves, for tests in which a user's macros have them, too.
#pragma once

#include <algorithm>
#include <set>
#include <string>

#include "kma/kma.hpp"

/// Every word in small letters in cl/, comments too, except key words, OpenCL's functions and the heaps' kinds.
inline std::set<std::string> own_names()
{
    std::set<std::string> names, others = {
        "auto", "bool", "break", "char", "const", "constant", "continue", "default", "defined", "do", "double", "else", "enum", "extern", "false",
        "float", "for", "global", "half", "if", "inline", "int", "kernel", "local", "long", "private", "restrict", "return", "short", "signed",
        "size_t", "sizeof", "static", "struct", "switch", "true", "typedef", "uchar", "uint", "ulong", "union", "unsigned", "ushort", "void",
        "volatile", "while", "case", "register", "bump", "scatter", "slab", "superblock"};
    const auto is_small = [](char c) { return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_'; };
    const auto is_capital = [](char c) { return c >= 'A' && c <= 'Z'; };
    for (const kma::Source &source : kma::sources())
        for (std::size_t at = 0, end = 0; at < source.text.size(); at = end + 1) {
            const auto from = [&](std::size_t i) { return i < source.text.size() ? source.text[i] : ' '; };
            for (end = at; is_small(from(end)) || is_capital(from(end)); end++)
                ;
            const std::string word = source.text.substr(at, end - at);
            if (from(end) == '(')
                others.insert(word);
            else if (!word.empty() && word[0] >= 'a' && word[0] <= 'z' && std::none_of(word.begin(), word.end(), is_capital))
                names.insert(word);
        }
    std::erase_if(names, [&](const std::string &name) { return others.contains(name) || name.starts_with("kma_") || name.starts_with("cl_") || name.starts_with("memory_"); });
    return names;
}

/// Lines that make each of these names something that does not compile.
inline std::string macros_of(const std::set<std::string> &names)
{
    std::string text;
    for (const std::string &name : names)
        text += "#define " + name + " @\n";
    return text;
}
