#include "support.hpp"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <stdexcept>

namespace test {

/// The .cl files of the executable's folder, embedded by the build.
const std::vector<kma::Source> &kernels();

const kma::Device &device()
{
    // Never destroyed: at exit, Oclgrind is unloaded before the program's static objects are
    // destroyed.
    static const kma::Device &selected = []() -> const kma::Device & {
        const auto *device = new kma::Device(kma::Device::select());
        std::fprintf(stderr, "device: %s, %s\n", device->name().c_str(), device->language_option().c_str());
        return *device;
    }();
    return selected;
}

std::size_t scaled(std::size_t count, std::size_t least)
{
    static const double scale = [] {
        const char *text = std::getenv("KMA_TEST_SCALE");
        const double value = text ? std::atof(text) : 1.0;
        if (value <= 0)
            throw std::invalid_argument("KMA_TEST_SCALE must be a number above 0");
        return value;
    }();
    return std::max(least, static_cast<std::size_t>(static_cast<double>(count) * scale));
}

kma::Source program_source(const std::string &file)
{
    for (const kma::Source &source : kernels())
        if (source.name == file)
            return source;
    throw std::invalid_argument("no kernel file " + file);
}

kma::Program program(const std::string &file, const std::string &options, int debug)
{
    kma::ProgramOptions build;
    build.options = options;
    build.debug = debug;
    return program(file, build);
}

kma::Program program(const std::string &file, kma::ProgramOptions build)
{
    std::vector<kma::Source> units;
    for (const kma::Source &source : kernels())
        (source.name == file ? units : build.headers).push_back(source);
    if (units.empty())
        throw std::invalid_argument("no kernel file " + file);
    return {device(), units, build};
}

kma::CodePath path(const std::string &options)
{
    kma::ProgramOptions build;
    build.options = options;
    return kma::code_path(device(), build);
}

Flavours flavours()
{
    Flavours all = widths();
    if (device().language_option() != "-cl-std=CL1.2")
        for (const Flavour &width : widths())
            all.push_back({"OpenCL C 1.2, " + width.name, "-cl-std=CL1.2 " + width.options, width.atomic64});
    // NVIDIA: the path for GPUs without memory orders also runs on GPUs with them.
    if (device().target_options().find("KMA_NV_ARCH") != std::string::npos)
        all.push_back({"before Volta", "-DKMA_NV_ARCH=60", path().atomic64});
    if (path().lanes != kma::LanesPath::single)
        all.push_back({single_lanes_name, "-DKMA_LANES=1", path().atomic64});
    return all;
}

Flavours widths()
{
    Flavours all = {{"32-bit atomics", "-DKMA_HAS_ATOMIC64=0", false}};
    if (path().atomic64)
        all.insert(all.begin(), {"64-bit atomics", "", true});
    return all;
}

Flavours heap_flavours()
{
    Flavours all = widths();
    if (path().lanes != kma::LanesPath::single)
        all.push_back({single_lanes_name, "-DKMA_LANES=1", path().atomic64});
    return all;
}

bool first_flavour_only()
{
    const char *asked = std::getenv("KMA_TEST_FLAVOURS");
    if (asked && asked != std::string("first"))
        throw std::invalid_argument("KMA_TEST_FLAVOURS must be first, or not be set");
    return asked != nullptr;
}

bool heap_is_asked(kma::HeapKind kind)
{
    const char *asked = std::getenv("KMA_TEST_HEAP");
    if (!asked)
        return true;
    const auto has_that_name = [&](kma::HeapKind one) { return kma::name_of(one) == std::string(asked); };
    if (std::none_of(std::begin(kma::heap_kinds), std::end(kma::heap_kinds), has_that_name))
        throw std::invalid_argument("KMA_TEST_HEAP must be a kind of heap, such as slab, or not be set");
    return has_that_name(kind);
}

std::size_t group(std::size_t usual)
{
    static const std::size_t asked = [] {
        const char *text = std::getenv("KMA_TEST_GROUP");
        const int value = text ? std::atoi(text) : 0;
        if (text && (value <= 0 || value > 256))
            throw std::invalid_argument("KMA_TEST_GROUP must be a number from 1 to 256");
        return static_cast<std::size_t>(value);
    }();
    return asked != 0 ? asked : usual;
}

Shape in_groups(std::size_t work_items, std::size_t usual)
{
    const std::size_t size = group(usual);
    return {(work_items + size - 1) / size * size, size};
}

const std::vector<std::size_t> &group_sizes()
{
    static const std::vector<std::size_t> sizes = group(0) != 0           ? std::vector{group(0)}
                                                  : path().lanes_met == 1 ? std::vector<std::size_t>{1, 37, 256}
                                                                          : std::vector<std::size_t>{1, 7, 37, 64, 256};
    return sizes;
}

std::uint32_t mix32(std::uint32_t x)
{
    x ^= x >> 16;
    x *= 0x7feb352du;
    x ^= x >> 15;
    x *= 0x846ca68bu;
    x ^= x >> 16;
    return x;
}

} // namespace test
