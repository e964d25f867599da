// Builds OpenCL C files, named on the command line, on the device of KMA_DEVICE, and makes each of their kernels.
#include <algorithm>
#include <iostream>
#include <sstream>

#include <kma/kma.hpp>

int main(int argc, char **argv)
try {
    const kma::Device device = kma::Device::select();
    for (int i = 1; i < argc; i++) {
        kma::ProgramOptions options;
        options.options = "-Werror";
        const kma::Program program(device, {kma::Source::from_file(argv[i])}, options);
        std::string names = program.program().getInfo<CL_PROGRAM_KERNEL_NAMES>();
        std::ranges::replace(names, ';', ' ');
        std::istringstream words(names);
        for (std::string name; words >> name;)
            program.kernel(name);
        std::cout << argv[i] << ": " << names << '\n';
    }
    std::cout << argc - 1 << " files built on " << device.name() << '\n';
    return argc > 1 ? 0 : 1;
} catch (const kma::Error &error) {
    std::cerr << error.what() << '\n';
    return 1;
}
