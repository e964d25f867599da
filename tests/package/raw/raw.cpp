// A program without the host library: raw CL_DIR FILE builds FILE with -I CL_DIR, on the first device whose platform or
// device has $KMA_DEVICE in its name, and runs its kernels. It ends with 0 if every block held its work-item's number.
#define CL_HPP_ENABLE_EXCEPTIONS
#define CL_HPP_TARGET_OPENCL_VERSION 300
#define CL_HPP_MINIMUM_OPENCL_VERSION 110
#include <CL/opencl.hpp>

#include <cstdlib>
#include <fstream>
#include <iostream>
#include <iterator>
#include <stdexcept>
#include <string>
#include <vector>

namespace {

cl::Device find_device()
{
    const char *variable = std::getenv("KMA_DEVICE");
    const std::string wanted = variable ? variable : "";
    std::vector<cl::Platform> platforms;
    cl::Platform::get(&platforms);
    for (const cl::Platform &platform : platforms) {
        std::vector<cl::Device> devices;
        platform.getDevices(CL_DEVICE_TYPE_ALL, &devices);
        for (const cl::Device &device : devices) {
            const std::string name = platform.getInfo<CL_PLATFORM_NAME>() + " / " + device.getInfo<CL_DEVICE_NAME>();
            if (name.find(wanted) != std::string::npos)
                return device;
        }
    }
    throw std::runtime_error("no OpenCL device has \"" + wanted + "\" in its name");
}

cl::Program build(const cl::Context &context, const std::string &folder, const std::string &path)
{
    std::ifstream file(path);
    if (!file)
        throw std::runtime_error("cannot open " + path);
    cl::Program program(context, std::string(std::istreambuf_iterator<char>(file), {}));
    program.build(("-I " + folder).c_str());
    return program;
}

cl_uint run(const cl::Device &device, const std::string &folder, const std::string &path)
{
    constexpr cl_uint count = 3000;
    constexpr cl_ulong bytes = 1 << 20;
    constexpr cl_uint cursors = 0; // the usual number
    const cl::Context context(device);
    cl::CommandQueue queue(context, device);
    const cl::Program program = build(context, folder, path);
    const cl::Buffer heap(context, CL_MEM_READ_WRITE, bytes);
    const cl::Buffer refs(context, CL_MEM_READ_WRITE, count * sizeof(cl_uint));
    const cl::Buffer result(context, CL_MEM_READ_WRITE, count * sizeof(cl_uint));

    cl::KernelFunctor<cl::Buffer, cl_ulong, cl_uint>(program, "kma_slab_init_kernel")(
        cl::EnqueueArgs(queue, cl::NDRange(64), cl::NDRange(64)), heap, bytes, cursors);
    cl::KernelFunctor<cl::Buffer, cl::Buffer>(program, "fill")(cl::EnqueueArgs(queue, cl::NDRange(count)), heap, refs);
    cl::KernelFunctor<cl::Buffer, cl::Buffer, cl::Buffer>(program, "read_back")(
        cl::EnqueueArgs(queue, cl::NDRange(count)), heap, refs, result);

    std::vector<cl_uint> numbers(count);
    queue.enqueueReadBuffer(result, CL_TRUE, 0, count * sizeof(cl_uint), numbers.data());
    cl_uint right = 0;
    for (cl_uint i = 0; i < count; ++i)
        right += numbers[i] == i;
    std::cout << "raw: " << right << " of " << count << " blocks hold their number\n";
    return count - right;
}

} // namespace

int main(int argc, char **argv)
{
    try {
        if (argc != 3)
            throw std::runtime_error("usage: raw CL_DIR FILE");
        return run(find_device(), argv[1], argv[2]) == 0 ? 0 : 1;
    } catch (const cl::BuildError &error) {
        for (const auto &[device, log] : error.getBuildLog())
            std::cerr << log << '\n';
        std::cerr << "raw: " << argv[2] << " does not build\n";
    } catch (const cl::Error &error) {
        std::cerr << "raw: " << error.what() << " gave " << error.err() << '\n';
    } catch (const std::exception &error) {
        std::cerr << "raw: " << error.what() << '\n';
    }
    return 1;
}
