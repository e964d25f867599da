// Misuse of the host library on tests/native's devices; writes the message to the error output.
// With "large", which is no misuse, nothing is thrown.
#include <cstdio>
#include <filesystem>
#include <string>
#include <vector>

#include "kma/kma.hpp"
#include "native_opencl.hpp"

namespace {

// Heaps with more bytes than the device promises for a buffer, made in every way.
void use_large(const kma::Device &device)
{
    const std::string path = "large.kma";
    for (const kma::HeapKind kind : kma::heap_kinds) {
        kma::Heap heap(device, 2 * native::promised_buffer,
                       {.kind = kind, .max_bytes = native::largest_buffer});
        heap.grow(3 * native::promised_buffer);
        heap.save(path);
        kma::Heap loaded = kma::Heap::load(device, path);
        std::filesystem::remove(path);
        if (const auto wrong = loaded.check(); !wrong.empty())
            throw kma::Error(wrong.front());
    }
}

void misuse(const std::string &what)
{
    const std::vector<cl::Device> all = kma::Device::list_all(); // the second has no compiler
    const cl::Context context(all);
    const kma::Device device(cl::CommandQueue(context, all.at(what == "compiler" ? 1 : 0)));
    if (what == "large") {
        use_large(device);
    } else if (what == "size") {
        kma::Heap(device, 2 * native::largest_buffer);
    } else if (what == "kernel") { // built for the context's other device
        cl::Program program(context, std::string());
        program.build(all.at(1), "");
        cl::Kernel kernel(program, "kma_superblock_reset_kernel");
        kma::Heap(device, native::promised_buffer / 2).set_arg(kernel, 0);
    }
}

} // namespace

int main(int argc, char **argv)
{
    setenv("KMA_SELFTEST", "off", 1); // no flavour here has its kernels
    try {
        misuse(argc == 2 ? argv[1] : "");
        std::fprintf(stderr, "(nothing was thrown)");
    } catch (const kma::Error &error) {
        std::fprintf(stderr, "%s", error.what());
    } catch (const cl::Error &error) {
        std::fprintf(stderr, "%s failed with error %d", error.what(), error.err());
    }
    return 0;
}
