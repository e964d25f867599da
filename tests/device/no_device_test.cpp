// Where there is no device that kma can use, the error says why: it has each of the arguments.
#include <cstdio>
#include <string>

#include "kma/kma.hpp"

int main(int count, char **texts)
{
    if (!kma::Device::list().empty()) {
        std::puts("there is a device, so this tests nothing: set OCL_ICD_VENDORS to a folder without working drivers");
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
            for (int i = 1; i < count; i++)
                if (what.find(texts[i]) == std::string::npos) {
                    std::printf("it does not say \"%s\"\n", texts[i]);
                    return 1;
                }
        }
    }
    return 0;
}
