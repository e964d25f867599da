// `kma cl-dir`, and the output of `kma emit`.
#include "files.hpp"

#include <fstream>
#include <iostream>

#include "kma/error.hpp"

namespace tool {

// Found relative to the program: an installed tree is relocatable, and the build tree has the same
// layout.
std::filesystem::path cl_dir()
{
    const std::filesystem::path program = std::filesystem::read_symlink("/proc/self/exe");
    const std::filesystem::path folder = program.parent_path() / KMA_CLDIR_FROM_BIN;
    if (!std::filesystem::exists(folder / "kma/kma.cl"))
        throw kma::Error("kma's .cl files are not in " + folder.lexically_normal().string() +
                         ", where this program (" + program.string() +
                         ") expects them: install kma as a whole");
    return std::filesystem::canonical(folder);
}

void write_text(const std::string &path, const std::string &text)
{
    if (path == "-") {
        std::cout << text << std::flush;
        if (!std::cout)
            throw kma::Error("cannot write to standard output");
        return;
    }
    std::ofstream file(path, std::ios::binary);
    file << text << std::flush;
    if (!file)
        throw kma::Error("cannot write " + path + ": does its folder exist, and is there room?");
}

} // namespace tool
