// Misuse of the host library that takes devices of which tests cannot rely to find any: the one named does it, and the
// message is written without an end of line. On tests/native's OpenCL. "large" is no misuse: nothing is thrown.
#include <cstdio>
#include <filesystem>
#include <string>
#include <vector>

#include "kma/kma.hpp"
#include "native_opencl.hpp"

namespace {

// The native platform's devices: the one that has all that is needed, and the one without a compiler.
std::vector<cl::Device> devices()
{
    return kma::Device::list_all();
}

kma::Device device_of(const cl::Context &context, const cl::Device &device)
{
    return kma::Device(cl::CommandQueue(context, device));
}

// A heap with more bytes than the device promises for a buffer, and all that makes one.
void use_large(const kma::Device &device)
{
    const std::string path = "large.kma";
    for (const kma::HeapKind kind : kma::heap_kinds) {
        kma::Heap heap(device, 2 * native::promised_buffer, {.kind = kind, .max_bytes = native::largest_buffer});
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
    const std::vector<cl::Device> all = devices();
    const cl::Context context(all);
    if (what == "compiler") {
        device_of(context, all.at(1));
    } else if (what == "large") {
        use_large(device_of(context, all.at(0)));
    } else if (what == "size") {
        kma::Heap(device_of(context, all.at(0)), 2 * native::largest_buffer);
    } else if (what == "kernel") { // of the same context, but for its other device
        cl::Program program(context, std::string());
        program.build(all.at(1), "");
        cl::Kernel kernel(program, "kma_superblock_reset_kernel");
        kma::Heap(device_of(context, all.at(0)), native::promised_buffer / 2).set_arg(kernel, 0);
    }
}

} // namespace

int main(int argc, char **argv)
{
    setenv("KMA_SELFTEST", "off", 1); // its kernels are none of the heaps'
    try {
        misuse(argc == 2 ? argv[1] : "");
        std::printf("(nothing was thrown)");
    } catch (const kma::Error &error) {
        std::printf("%s", error.what());
    } catch (const cl::Error &error) {
        std::printf("%s failed with error %d", error.what(), error.err());
    }
    return 0;
}
