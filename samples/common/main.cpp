// Prints exceptions as error lines.
#include "common/main.hpp"

#include <cstdio>
#include <cstdlib>
#include <exception>

#include "kma/opencl.hpp"

namespace samples {

int run_main(const char *name, const std::function<bool()> &program)
{
    try {
        return program() ? EXIT_SUCCESS : EXIT_FAILURE;
    } catch (const cl::Error &error) {
        std::fflush(stdout);
        std::fprintf(stderr, "%s: OpenCL's %s failed with error %d\n", name, error.what(),
                     error.err());
    } catch (const std::exception &error) {
        std::fflush(stdout);
        std::fprintf(stderr, "%s: %s\n", name, error.what());
    }
    return EXIT_FAILURE;
}

} // namespace samples
