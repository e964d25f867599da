// Where there is no OpenCL driver, the error says what to install.
#include <cstdio>
#include <string>

#include "kma/kma.hpp"

int main()
{
    if (!kma::Device::list().empty()) {
        std::puts("there is a device, so this tests nothing: set OCL_ICD_VENDORS to an empty folder");
        return 1;
    }
    for (const char *wanted : {"", "anything"}) {
        try {
            kma::Device::select(wanted);
            std::puts("select() returned");
            return 1;
        } catch (const kma::Error &error) {
            const std::string what = error.what();
            std::puts(what.c_str());
            if (what.find("no OpenCL device found") == std::string::npos ||
                what.find("pocl-opencl-icd") == std::string::npos)
                return 1;
        }
    }
    return 0;
}
